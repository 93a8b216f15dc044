// The exit codes that scripts rely on, for every command there is: its first example, against a server that answers in each way.

import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {commands} from '../../cli/commands.js';
import {aPod} from '../server/cluster.js';
import {line} from '../../bench/rigs/command-line.js';
import {answer, failure, folder, openScript} from './_rig.js';

/** What an answer becomes. `diff` says 1 for differences, so its failures begin at 2. */
const table: readonly (readonly [http: number, reason: string, exitCode: number])[] = [
	[401, 'Unauthorized', 6],
	[403, 'Forbidden', 6],
	[404, 'NotFound', 3],
	[409, 'Conflict', 4],
	[422, 'Invalid', 1],
	[500, 'InternalError', 1],
	[503, 'ServiceUnavailable', 5],
];

/** Commands that answer without a cluster, whatever it says; and those that start or stop one. */
const alone = new Set(commands.filter(({flags}) => flags['kubeconfig'] === undefined).map(({name}) => name));

test('every command ends with the exit code of what went wrong', async t => {
	t.timeout(120_000);
	let [http, reason] = [200, ''];
	const {home} = await openScript(t, (_seen, response) => {
		const details = {name: 'thing', kind: 'things', causes: [{field: 'spec', message: 'is wrong', reason: 'FieldValueInvalid'}]};
		answer(response, http, failure(http, reason, `it is ${reason}`, details));
	});
	const dir = await folder(t);
	const file = path.join(dir, 'pod.yaml');
	await writeFile(file, JSON.stringify(aPod('a')));
	for (const {name, examples, failureExitCode = 0} of commands) {
		if (alone.has(name) || withoutAnswer.has(name)) continue;
		const args = samples[name] ?? wordsOf(examples[0] ?? '', file);
		for (const row of table) {
			[http, reason] = [row[0], row[1]];
			const ran = await line(args, {home, env: {EDITOR: 'true'}, input: JSON.stringify(aPod('a'))});
			t.is(ran.code, Math.max(row[2], failureExitCode), `${args.join(' ')} on ${http}: ${ran.out}${ran.err}`);
			t.regex(ran.err, /^(?:(?:note|warning): .*\n)*error: .*\n/, args.join(' '));
		}
	}
});

/** The words of an example as a shell hands them over, with a file that is there in the place of its own. */
const wordsOf = (example: string, file: string): readonly string[] =>
	example
		.replace(/^.*troupe /, '')
		.split(/ +/)
		.map((word, at, words) => (words[at - 1] === '-f' ? file : word.replace(/^'(.*)'$/, '$1')));

/** Commands whose answer is not only the server's. */
const withoutAnswer = new Set(['completion', 'explain', 'version', 'broker', 'backup', 'cp', 'exec', 'attach']);

/** Where the first example needs more than a server. */
const samples: {readonly [command: string]: readonly string[]} = {
	token: ['token', 'list'],
	execute: ['execute', 'default/hello', '{}'],
};

test('every command refuses an unknown flag, and a cluster that is not there, each with its own code', async t => {
	const dir = await folder(t);
	const file = path.join(dir, 'pod.yaml');
	await writeFile(file, JSON.stringify(aPod('a')));
	for (const {name, examples} of commands) {
		const wrong = await line([name, '--no-such-flag'], {home: dir});
		t.deepEqual([wrong.code, wrong.out], [2, ''], `${name}: ${wrong.err}`);
		t.regex(wrong.err, /^error: unknown flag "--no-such-flag"/);
		if (alone.has(name) || name === 'completion') continue;
		const [, ...rest] = samples[name] ?? wordsOf(examples[0] ?? '', file);
		const args = [name, '--kubeconfig', path.join(dir, 'none'), ...rest];
		const lost = await line(args, {home: dir, env: {EDITOR: 'true'}});
		t.is(lost.code, 5, `${args.join(' ')}: ${lost.out}${lost.err}`);
	}
});

test('words in the wrong order, of other tools, or with a slip get the right ones', async t => {
	const home = await folder(t);
	const cases: readonly (readonly [string, RegExp])[] = [
		['aply -f x', /^error: unknown command "aply"; did you mean "apply"\?\n$/],
		['updat -f x', /did you mean "update"\?/],
		['pods get', /^error: unknown command "pods": the command comes before the kind: troupe get pods\n$/],
		['pods', /: troupe get pods\n$/],
		['pod/web delete --now', /: troupe delete pod\/web --now\n$/],
		['pods,rs', /: troupe get pods,rs\n$/],
		['ps', /unknown command "ps"; there is: troupe get pods\n$/],
		['rm pod x', /there is: troupe delete\n$/],
		['gte pods', /did you mean "get"\?/],
		['restart web', /there is: troupe rollout restart deployment\/NAME; troupe retry POD/],
		['describe hello', /^error: unknown kind "hello"; before a name comes its kind, such as "pod hello"; there are namespaces, /],
		['events --for hello', /^error: "hello" must be KIND\/NAME, such as pod\/web\n$/],
		['get pods --show-labels', /troupe describe shows labels/],
		['constructor', /unknown command "constructor"/],
		['frobnicate', /troupe help lists them/],
		['get pods --namspace x', /unknown flag "--namspace"; did you mean "--namespace"\?/],
		['get pod web -n', /-n needs a value: -n NAME/],
		['get pods -z', /unknown flag "-z"; troupe help get lists those there are/],
		['get pds', /unknown kind "pds"; did you mean "pods"\?/],
		['get pods -o jsn', /got "jsn"; did you mean "json"\?/],
		['get pods -o jsonpath={.items[0]}', /--output jsonpath is not supported; there are wide, json, yaml, name: with -o json, jq/],
		['get pods -o=custom-columns=A:.b', /--output custom-columns is not supported/],
		['apply -k .', /unknown flag "-k"; kustomizations are not read/],
		['apply x.yaml', /as in: troupe apply -f x\.yaml/],
		['delete pod x --cascade=forground', /did you mean "foreground"\?/],
	];
	for (const [words, expected] of cases) {
		const {code, out, err} = await line(words.split(' '), {home});
		t.deepEqual([code, out], [2, ''], `${words}: ${err}`);
		t.regex(err, expected, words);
	}
});
