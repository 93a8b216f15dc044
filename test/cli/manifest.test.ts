import {Readable} from 'node:stream';
import test from 'ava';
import {limits} from '../../api/limits.js';
import {faultText, placeText} from '../../cli/manifests/faults.js';
import {readManifests} from '../../cli/manifests/manifest-files.js';
import {parseManifest} from '../../cli/manifests/manifest.js';

const problemsOf = (text: string): readonly string[] => parseManifest('f.yaml', text).faults.map(faultText);
const valuesOf = (text: string): readonly unknown[] => parseManifest('f.yaml', text).documents.map(({value}) => value);

test('several documents are read in order, empty ones left out', t => {
	t.deepEqual(valuesOf('---\na: 1\n---\n# nothing\n---\n{"b": [true, null]}\n'), [{a: 1}, {b: [true, null]}]);
	t.deepEqual(valuesOf(''), []);
});

test('the items of a List are documents', t => {
	const {documents} = parseManifest('f.yaml', 'kind: List\nitems:\n- kind: A\n- kind: B\n  x: 1\n');
	t.deepEqual(
		documents.map(({value}) => value['kind']),
		['A', 'B'],
	);
	t.deepEqual(documents[1]?.locate('x'), {file: 'f.yaml', line: 5, column: 3});
});

test('file modes are octal as in YAML 1.1, and yes is a word as in 1.2', t => {
	t.deepEqual(valuesOf('mode: 0644\nnine: 09\nword: yes\ntext: "0644"\n'), [{mode: 420, nine: 9, word: 'yes', text: '0644'}]);
});

test('anchors, aliases and merge keys work within bounds', t => {
	t.deepEqual(valuesOf('a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n'), [{a: {b: 1}, c: {b: 1}, d: {b: 1, e: 2}}]);
});

const table: readonly (readonly [what: string, text: string, expected: readonly RegExp[]])[] = [
	['a key given twice', 'a: 1\nb: 2\na: 3\n', [/^f\.yaml:3:1: the key "a" is given twice, first in line 1, column 1$/]],
	['a tab as indentation', 'a:\n\tb: 1\n', [/^f\.yaml:2:1: tabs are not allowed as indentation$/]],
	['a bracket that is not closed', 'a: [1, 2\n', [/^f\.yaml:2:1: flow sequence .* end with a \]$/]],
	['two problems at once', 'a: 1\na: 2\nb: 1\nb: 2\n', [/^f\.yaml:2:1: /, /^f\.yaml:4:1: /]],
	['an unknown tag', 'a: !!js/function "x"\n', [/^f\.yaml:1:4: unresolved tag/]],
	['an alias without an anchor', 'a: *nope\n', [/^f\.yaml:1:4: there is no anchor "&nope" before this alias$/]],
	['text where an object should be', 'hello\n', [/^f\.yaml:1:1: must be an object with apiVersion and kind, got "hello"$/]],
	['a list where an object should be', '- 1\n', [/^f\.yaml:1:1: must be an object with apiVersion and kind, got a list$/]],
	['a number that JSON has not', 'a:\n  b: .inf\n', [/^f\.yaml:2:3: a\.b: must be a finite number/]],
	['a key that would change prototypes', 'a:\n  __proto__: {x: 1}\n', [/^f\.yaml:2:3: .*"__proto__" cannot be the name of a field/]],
	['an item of a List that is none', 'kind: List\nitems: [1]\n', [/^f\.yaml:2:9: items\[0\]: must be an object, got 1$/]],
	['a broken document after a fine one', 'a: 1\n---\nb: {\n', [/^f\.yaml:4:1: /]],
];

for (const [what, text, expected] of table) {
	test(`${what} is told with line and column`, t => {
		const problems = problemsOf(text);
		t.is(problems.length, expected.length, problems.join('\n'));
		expected.forEach((pattern, at) => t.regex(problems[at] ?? '', pattern));
	});
}

test('an alias bomb is refused quickly', t => {
	const bomb = [
		'a0: &a0 [x, x, x, x, x, x, x, x, x]',
		...Array.from({length: 9}, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`),
	];
	t.regex(problemsOf(bomb.join('\n'))[0] ?? '', /^f\.yaml:1:1: its aliases stand for too much/);
});

test('text nested without bounds is refused', t => {
	t.regex(problemsOf('['.repeat(100_000))[0] ?? '', /^f\.yaml:1:\d+: is nested deeper than 64 levels$/);
	t.regex(problemsOf('{"a":'.repeat(limits.objectDepth + 2) + '1' + '}'.repeat(limits.objectDepth + 2))[0] ?? '', /nested deeper than/);
});

test('a file that is too large is refused unread', t => {
	t.regex(problemsOf('#'.repeat(limits.manifestBytes + 1))[0] ?? '', /has more than \d+ bytes/);
});

test('a field is found at its key, a missing one at the nearest parent there is', t => {
	const text = 'kind: Pod\nspec:\n  containers:\n  - name: a\n    image: x\n  - name: b\nmetadata: {labels: {"a/b": c}}\n';
	const [document] = parseManifest('f.yaml', text).documents;
	const at = (path: string) => placeText(document?.locate(path) ?? {file: 'none'});
	t.is(at('spec.containers[0].image'), 'f.yaml:5:5');
	t.is(at('spec.containers[1].image'), 'f.yaml:6:5');
	t.is(at('spec.containers[7].image'), 'f.yaml:3:3');
	t.is(at('metadata.labels["a/b"]'), 'f.yaml:7:21');
	t.is(at('status'), 'f.yaml:1:1');
	t.is(at(''), 'f.yaml:1:1');
});

test('a field behind an alias is found where the anchor is', t => {
	const [document] = parseManifest('f.yaml', 'a: &x\n  b: 1\nc: *x\n').documents;
	t.deepEqual(document?.locate('c.b'), {file: 'f.yaml', line: 2, column: 3});
});

test('a file that does not end is not read to its end', async t => {
	const {faults} = await readManifests(['/dev/zero'], Readable.from([]));
	t.regex(faults.map(faultText).join(), /^\/dev\/zero: has more than \d+ bytes$/);
});
