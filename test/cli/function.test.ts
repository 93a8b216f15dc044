// `troupe function`: a folder that is made works, and what is called leaves nothing behind.

import {mkdir, readdir, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {isAlive} from '../../cli/files/processes.js';
import {folder, start} from './_rig.js';

type Files = Readonly<Record<string, string>>;

/** A folder `f` with these files, and what runs `troupe function` beside it. */
async function functions(t: ExecutionContext, files: Files = {}) {
	const cwd = await folder(t);
	const scratch = path.join(cwd, 'tmp');
	await mkdir(scratch);
	await mkdir(path.join(cwd, 'f'));
	for (const [name, text] of Object.entries(files)) await writeFile(path.join(cwd, 'f', name), text);
	const run = async (words: readonly string[], input = '') => {
		const ran = await start(t, ['function', ...words], {home: cwd, cwd, input, env: {TMPDIR: scratch}}).ended;
		t.deepEqual(await readdir(scratch), [], 'nothing is left');
		return ran;
	};
	return {cwd, scratch, run};
}

const returning = (text: string): Files => ({'func.mjs': `export default async (params, request) => ${text};\n`});

test('function new makes a folder that works, and writes over none', async t => {
	const {cwd, run} = await functions(t);
	const made = await run(['new', 'hello', '--lang', 'nodejs']);
	t.is(made.code, 0);
	t.is(made.out, 'function "hello" is in hello/\n');
	t.regex(made.err, /troupe function run hello '\{"name": "Ada"\}'/);
	t.like(await run(['run', 'hello', '{"name": "Ada"}']), {code: 0, out: '{"greeting":"Hello, Ada!"}\n', err: ''});
	t.like(await run(['run', 'hello']), {code: 0, out: '{"greeting":"Hello, world!"}\n'});
	const again = await run(['new', 'hello']);
	t.is(again.code, 1);
	t.is(again.err, 'error: hello: is there already, and is not empty\n');
	t.deepEqual(await readdir(path.join(cwd, 'hello')), ['func.mjs']);
	t.like(await run(['new', 'python-one']), {code: 0});
	t.deepEqual(await readdir(path.join(cwd, 'python-one')), ['func.py']);
});

test('function takes no words that make no sense', async t => {
	const {run} = await functions(t, returning('params'));
	const wrong: readonly (readonly [readonly string[], RegExp])[] = [
		[[], /new or run\?/],
		[['rum'], /unknown verb "rum" of function; did you mean "run"\?/],
		[['new'], /takes one name/],
		[['new', 'a', 'b'], /takes one name/],
		[['new', '../up'], /"..\/up" cannot be the name of a function/],
		[['new', 'Big'], /"Big" cannot be the name of a function/],
		[['run'], /takes a folder/],
		[['run', 'f', '{x}'], /'\{x\}' is no JSON/],
		[['run', 'f', '{}', '--timeout', 'soon'], /--timeout must be a time up to 15 min/],
		[['run', 'f', '{}', '--timeout', '1h'], /--timeout must be a time up to 15 min/],
		[['run', 'f', '{}', '--env', '1=2'], /--env takes NAME=VALUE, got "1=2"/],
		[['run', 'f', '{}', '--lang', 'python'], /f: there is no func\.py in it/],
		[['run', 'nowhere'], /"nowhere" is no folder/],
		[['run', '.'], /\.: there is no func\.py or func\.mjs or func\.js in it/],
	];
	for (const [words, message] of wrong) {
		const {code, err, out} = await run(words);
		t.is(code, 2, words.join(' '));
		t.regex(err, message);
		t.is(out, '');
	}
});

test('function run gives params from stdin and an environment that is named', async t => {
	const {run} = await functions(t, returning('({params, env: Object.keys(process.env).sort(), A: process.env.A, cwd: process.cwd()})'));
	const {code, out} = await run(['run', 'f', '-', '--env', 'A=b=c', '--env', 'EMPTY='], '{"ü": [1]}');
	t.is(code, 0);
	const said = JSON.parse(out) as {readonly params: unknown; readonly env: readonly string[]; readonly A: string; readonly cwd: string};
	t.deepEqual(said.params, {ü: [1]});
	t.is(said.A, 'b=c');
	t.deepEqual(said.env, ['A', 'EMPTY', 'HOME', 'PATH']);
	t.regex(said.cwd, /tmp\/troupe-function-\w+\/code$/, 'a copy, as a cluster would have');
});

test('function run shows what is written beside the answer, and an answer that streams', async t => {
	const {run} = await functions(t, {
		'func.js': `module.exports = function* (params) { console.log('about ' + params.n); for (let i = 0; i < params.n; i++) yield {i}; };\n`,
	});
	t.like(await run(['run', 'f', '{"n": 3}']), {code: 0, out: '{"i":0}\n{"i":1}\n{"i":2}\n', err: '[local] about 3\n'});
});

test('function run tells why there is no answer', async t => {
	const {run} = await functions(t, {'func.mjs': `throw new Error('not today');\n`});
	const unloadable = await run(['run', 'f']);
	t.is(unloadable.code, 1);
	t.is(unloadable.out, '');
	t.regex(unloadable.err, /not today[^]*func\.mjs:1[^]*\nerror: the function cannot be loaded: its runner ended with exit code 1\n$/);

	const thrower = await functions(t, returning('params.no.such'));
	const thrown = await thrower.run(['run', 'f', '{}']);
	t.is(thrown.code, 1);
	t.regex(thrown.err, /func\.mjs:1:\d+[^]*\nerror: TypeError: Cannot read properties of undefined \(reading 'such'\)\n$/);

	const cut = await functions(t, {'func.js': `module.exports = function* () { yield 1; throw new Error('half way'); };\n`});
	const half = await cut.run(['run', 'f']);
	t.is(half.code, 1);
	t.regex(half.err, /half way[^]*error: the answer was cut off: the function failed before its end, or its time was over\n$/);

	const gone = await functions(t, returning(`process.kill(process.pid, 'SIGKILL')`));
	t.regex((await gone.run(['run', 'f'])).err, /^error: the runner ended with SIGKILL before it had answered\n$/);
});

test('function run ends what does not end, with all processes it began', async t => {
	const slow = await functions(t, returning('new Promise(() => setInterval(() => undefined, 1_000))'));
	const late = await slow.run(['run', 'f', '{}', '--timeout', '200ms']);
	t.is(late.code, 1);
	t.is(late.err, 'error: the call took longer than 200 ms\n');

	const code = [
		`import {spawn} from 'node:child_process';`,
		`export default () => { console.log(spawn('sleep', ['1000'], {stdio: 'inherit'}).pid); for (;;); };`,
	];
	const blocked = await functions(t, {'func.mjs': code.join('\n')});
	const killed = await blocked.run(['run', 'f', '{}', '--timeout', '200ms']);
	t.is(killed.code, 1);
	t.regex(killed.err, /error: the function did not answer within 0\.2 s, and was killed\n$/);
	const pid = Number(/^\[local\] (\d+)$/m.exec(killed.err)?.[1]);
	await eventually('it is gone', () => !isAlive(pid));
});

test('function run refuses what a cluster would not take', async t => {
	const {cwd, run} = await functions(t, returning('params'));
	await symlink('/etc/passwd', path.join(cwd, 'f', 'link'));
	const {code, err, out} = await run(['run', 'f']);
	t.is(code, 1);
	t.regex(err, /^error: .*link.*\n$/);
	t.is(out, '');
});

test('function run tells where the syntax is wrong, and what cannot be started', async t => {
	const {run} = await functions(t, {'func.mjs': 'export default () => {\n\treturn ];\n};\n'});
	const {code, err} = await run(['run', 'f']);
	t.is(code, 1);
	t.regex(err, /func\.mjs:2\n[^]*SyntaxError/);

	const python = await functions(t, {'func.py': ''});
	t.is(
		(await python.run(['run', 'f', '--env', 'PATH=/nowhere'])).err,
		'error: python3 cannot be started: there is no such program in PATH\n',
	);
	const never = await functions(t, {'func.mjs': 'await new Promise(() => undefined);\n'});
	t.regex(
		(await never.run(['run', 'f'])).err,
		/it waits for what never comes[^]*\nerror: the function cannot be loaded: its runner ended with exit code 1\n$/,
	);
});

const waits = `(console.log('pid', process.pid), new Promise(() => setInterval(() => undefined, 1_000)))`;

for (const [signal, exitCode] of [
	['SIGINT', 130],
	['SIGTERM', 143],
	['SIGHUP', 129],
] as const)
	test(`function run is called off by ${signal}, and leaves nothing`, async t => {
		const {cwd, scratch} = await functions(t, returning(waits));
		const started = start(t, ['function', 'run', 'f'], {home: cwd, cwd, env: {TMPDIR: scratch}});
		await started.notes('pid');
		started.kill(signal);
		t.is((await started.ended).code, exitCode);
		t.deepEqual(await readdir(scratch), []);
	});

test('function run leaves nothing when nobody reads its answer, and no process when it is killed', async t => {
	const {cwd, scratch} = await functions(t, {
		'func.mjs': `export default function* () { console.log('pid', process.pid); for (;;) yield 'x'.repeat(1_000); }\n`,
	});
	const unread = start(t, ['function', 'run', 'f'], {home: cwd, cwd, env: {TMPDIR: scratch}});
	unread.closeStdout();
	await unread.ended;
	t.deepEqual(await readdir(scratch), []);

	const waiting = await functions(t, returning(waits));
	const killed = start(t, ['function', 'run', 'f'], {home: waiting.cwd, cwd: waiting.cwd, env: {TMPDIR: waiting.scratch}});
	await killed.notes('pid');
	killed.kill('SIGKILL');
	const pid = Number(/pid (\d+)/.exec((await killed.ended).err)?.[1]);
	await eventually('its runner is gone', () => !isAlive(pid));
});

test('function run loses nothing of what a function writes', async t => {
	const {run} = await functions(t, returning(`{ for (let i = 0; i < 20_000; i++) process.stdout.write('x'.repeat(99) + '\\n'); }`));
	const {code, err} = await run(['run', 'f']);
	t.is(code, 0);
	t.is(err.split('\n').length - 1, 20_000);
});
