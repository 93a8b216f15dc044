// Bad input, as bytes: whatever the door it comes to, it is refused with cause and place, it changes nothing, and it takes no long time
// and no large memory. Each door's tests walk this table: what the command line answers is here, what the API answers is in
// over-http.ts, and over MQTT all of it is dropped.

/** What a door must answer. */
type Refusal = {
	/** The message matches this. */
	readonly says: RegExp;
};

export type Case = {
	readonly name: string;
	/** What the file is called at the command line: JSON is read more strictly than YAML. */
	readonly file: string;
	readonly bytes: () => Uint8Array;
	readonly doors: {
		readonly cli?: Refusal & {readonly exitCode: 1 | 2};
	};
};

const text = (content: string) => (): Uint8Array => Buffer.from(content);

const pod = (fields: string): string => `apiVersion: v1\nkind: Pod\nmetadata: {name: corpus}\n${fields}\n`;
const fine = pod('spec: {containers: [{name: a, image: b, command: [c]}]}');

/** An alias that stands for nine of the one before, and so on: nine to the tenth power. */
const bomb = [
	'apiVersion: v1',
	'kind: ConfigMap',
	'metadata: {name: corpus}',
	'data:',
	'  a0: &a0 [x, x, x, x, x, x, x, x, x]',
	...Array.from({length: 9}, (_, at) => `  a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(', ')}]`),
].join('\n');

const yaml = (name: string, content: string, exitCode: 1 | 2, says: RegExp): Case => ({
	name,
	file: 'case.yaml',
	bytes: text(content),
	doors: {cli: {exitCode, says}},
});

const bytes = (name: string, content: () => Uint8Array, exitCode: 1 | 2, says: RegExp): Case => ({
	name,
	file: 'case.yaml',
	bytes: content,
	doors: {cli: {exitCode, says}},
});

const json = (name: string, content: string, exitCode: 1 | 2, says: RegExp): Case => ({
	name,
	file: 'case.json',
	bytes: text(content),
	doors: {cli: {exitCode, says}},
});

export const cases: readonly Case[] = [
	bytes('a file of 100 MB', () => Buffer.alloc(100_000_000, '# '), 2, /^case\.yaml: has more than \d+ bytes$/),
	yaml('an alias bomb', bomb, 1, /^case\.yaml:1:1: its aliases stand for too much; /),
	yaml('merge keys that lead round', 'a: &a {<<: *a}\n', 1, /^case\.yaml:1:\d+: /),
	yaml('an alias of nothing', `${fine}x: *nope\n`, 1, /^case\.yaml:5:4: there is no anchor "&nope" before this alias$/),
	yaml('an anchor inside itself', 'a: &a [*a]\n', 1, /^case\.yaml:1:\d+: /),
	yaml('brackets nested 100 000 deep', '['.repeat(100_000), 1, /^case\.yaml:1:\d+: is nested deeper than 64 levels$/),
	yaml(
		'maps nested 1 000 deep',
		Array.from({length: 1_000}, (_, at) => `${' '.repeat(at)}a:\n`).join(''),
		1,
		/nested deeper than 64 levels/,
	),
	json('JSON nested 100 000 deep', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 1, /^case\.json:1:\d+: is nested deeper than 64/),
	yaml(
		'a million keys',
		`a:\n${Array.from({length: 400_000}, (_, at) => `  k${at}: 1\n`).join('')}`,
		1,
		/^case\.yaml:\d+:\d+: has more than \d+ parts/,
	),
	yaml('many small pieces', `[${'{},'.repeat(600_000)}]`, 1, /^case\.yaml:1:\d+: has more than \d+ parts/),
	yaml('many empty documents', '---\n'.repeat(20_000), 2, /^case\.yaml: there is no object in it$/),
	yaml(
		'the key __proto__',
		pod('spec: {__proto__: {a: 1}, containers: []}'),
		1,
		/^case\.yaml:4:8: .*"__proto__" cannot be the name of a field$/,
	),
	json('the key __proto__ in JSON', '{"apiVersion": "v1", "__proto__": {"kind": "Pod"}}', 1, /^case\.json:1:22: .*__proto__/),
	yaml(
		'a label constructor that is no text',
		pod('spec: {constructor: {prototype: {a: 1}}, containers: [{name: a, image: b, command: [c]}]}'),
		1,
		/^case\.yaml:4:8: spec\.constructor: unknown field/,
	),
	yaml('a key given twice', `${fine}kind: Pod\n`, 1, /^case\.yaml:5:1: the key "kind" is given twice, first in line 2, column 1$/),
	json(
		'a key given twice in JSON',
		'{"kind": "Pod",\n "kind": "Pod"}',
		1,
		/^case\.json:2:2: the key "kind" is given twice, first in line 1, column 2$/,
	),
	yaml('a tab as indentation', 'apiVersion: v1\nmetadata:\n\tname: a\n', 1, /^case\.yaml:3:1: tabs are not allowed as indentation$/),
	bytes('UTF-16, little end first', () => Buffer.from(`\uFEFF${fine}`, 'utf16le'), 2, /^case\.yaml: is text in UTF-16; save it as UTF-8$/),
	bytes('UTF-16, big end first', () => Buffer.from(`\uFEFF${fine}`, 'utf16le').swap16(), 2, /^case\.yaml: is text in UTF-16/),
	bytes('UTF-16 without a mark', () => Buffer.from(fine, 'utf16le'), 2, /^case\.yaml: is not text: /),
	bytes(
		'a picture',
		() => Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff, 0xfe]),
		2,
		/^case\.yaml: is not text in UTF-8$/,
	),
	bytes('a program', () => Buffer.from('\u007fELF\u0002\u0001\u0001\u0000\u0000\u0000'), 2, /^case\.yaml: is not text: /),
	bytes('a letter cut in half', () => Buffer.from([0x61, 0x3a, 0x20, 0xc3]), 2, /^case\.yaml: is not text in UTF-8$/),
	yaml('nothing', '', 2, /^case\.yaml: there is no object in it$/),
	yaml('blanks', ' \n\n  \n', 2, /^case\.yaml: there is no object in it$/),
	yaml('remarks alone', '# one\n# two\n', 2, /^case\.yaml: there is no object in it$/),
	json('nothing, called JSON', '', 2, /^case\.json: there is no object in it$/),
	json(
		'a comma too many',
		'{"apiVersion": "v1",\n "kind": "Pod",}',
		1,
		/^case\.json:2:16: is no JSON: found "}" where something else belongs$/,
	),
	json('a remark in JSON', '{"kind": "Pod" // a pod\n}', 1, /^case\.json:1:16: is no JSON: found "\/"/),
	json('JSON that ends too early', '{"kind": "Pod"', 1, /^case\.json:1:15: is no JSON: found the end/),
	yaml('a bracket that is not closed', 'kind: [a\n', 1, /^case\.yaml:2:1: /),
	yaml('a quote that is not closed', 'kind: "a\n', 1, /^case\.yaml:\d:\d+: /),
	yaml('an unknown tag', 'kind: !!js/function "x"\n', 1, /^case\.yaml:1:7: unresolved tag/),
	yaml('a text', 'hello\n', 1, /^case\.yaml:1:1: must be an object with apiVersion and kind, got "hello"$/),
	yaml('a number', '7\n', 1, /^case\.yaml:1:1: must be an object .*got 7$/),
	yaml('a list', '- 1\n', 1, /^case\.yaml:1:1: must be an object .*got a list$/),
	yaml('no kind', 'apiVersion: v1\n', 1, /^case\.yaml:1:1: kind: is required$/),
	yaml('an unknown kind', 'apiVersion: v1\nkind: Pood\n', 1, /^case\.yaml:2:1: kind: .*did you mean Pod\?$/),
	yaml('metadata that is no object', fine.replace('{name: corpus}', '[a]'), 1, /^case\.yaml:\d:1: metadata/),
	yaml('a name that is a number', fine.replace('corpus', '7'), 1, /^case\.yaml:3:12: metadata\.name: /),
	yaml('a number without end', pod('spec: {terminationGracePeriodSeconds: .inf}'), 1, /^case\.yaml:4:8: .*must be a finite number/),
	yaml('a number too large for any', pod('spec: {terminationGracePeriodSeconds: 1e999}'), 1, /^case\.yaml:4:8: .*must be a finite number/),
	yaml(
		'an item of a List that is none',
		'apiVersion: v1\nkind: List\nitems: [1]\n',
		1,
		/^case\.yaml:3:9: items\[0\]: must be an object, got 1$/,
	),
	yaml('a namespace that climbs', fine.replace('corpus', 'a, namespace: ..'), 1, /^case\.yaml:3:21: metadata\.namespace: must be /),
	yaml('a name that climbs', fine.replace('corpus', '../../x'), 1, /^case\.yaml:3:12: metadata\.name: /),
	yaml('a name of a million letters', fine.replace('corpus', 'a'.repeat(1_000_000)), 1, /^case\.yaml:3:12: metadata\.name: /),
];
