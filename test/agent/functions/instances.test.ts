// Instances of functions as the process runtime runs them: started from an archive, ready when they serve, called over their socket.

import {chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {asRoot} from '../../_needing.js';
import {mount} from '../runtime-contract.js';
import {functionNode} from './_instance.js';

const languages = {
	python: {
		'func.py': 'import os\n\ndef main(params):\n    return {"sum": params["x"] + params["y"], "secret": os.environ.get("SECRET")}\n',
	},
	nodejs: {'func.mjs': 'export default ({x, y}) => ({sum: x + y, secret: process.env.SECRET ?? null});\n'},
} as const;
const {python} = languages;
const id = (uid: string) => ({uid, container: 'function'});

for (const language of ['python', 'nodejs'] as const) {
	test(`an instance of ${language} serves calls of this process and of sessions, with the environment of its pod`, async t => {
		const {serve, call, callBySession} = functionNode(t);
		await serve('uid-1', language, languages[language], {env: [{name: 'SECRET', value: 'told', isSecret: true}]});
		const {status, text} = await call('uid-1', {x: 1, y: 2});
		t.deepEqual([status, JSON.parse(text)], [200, {sum: 3, secret: 'told'}]);
		const {stdout, exitCode} = await callBySession('uid-1', {x: 3, y: 4});
		t.regex(stdout, /^HTTP\/1\.1 200 /);
		t.true(stdout.includes('"sum":7'), stdout);
		t.is(exitCode, 0);
	});

	test(`an instance of ${language} serves however long the path of its folder is`, async t => {
		const above = mkdtempSync(path.join(os.tmpdir(), 'troupe-homes-'));
		t.teardown(() => rmSync(above, {recursive: true, force: true}));
		const long = path.join(above, 'a'.repeat(200), 'b'.repeat(200));
		mkdirSync(long, {recursive: true});
		const {serve, call, world} = functionNode(t, {homes: path.join(long, 'homes')});
		// Made for this user alone, as folders for temporary files are.
		for (const folder of [above, path.dirname(long), long]) chmodSync(folder, 0o711);
		await serve('uid-1', language, languages[language]);
		t.is((await call('uid-1', {x: 1, y: 1})).status, 200);
		t.deepEqual(world.warnings, []);
	});

	test(`code of ${language} that cannot be loaded ends its container, which says why`, async t => {
		const {ensure, start, loaded, value, ends, archive, specOf} = functionNode(t);
		await ensure('uid-1');
		const files =
			language === 'python' ? {'func.py': 'import nothing_of_that_name\n'} : {'func.mjs': "import './nothing-of-that-name.mjs';\n"};
		await start(specOf('uid-1', await archive.add(files), language));
		const {ok, message} = await value(loaded('uid-1')).catch((error: Error) => ({ok: false, message: error.message}));
		t.false(ok);
		t.regex(message, /its runner ended before it took calls|not found/);
		const [end] = await ends(1);
		t.is(end?.exit.exitCode, 1);
		t.regex(end?.exit.lastLines ?? '', /nothing.of.that.name/);
	});

	test(`an instance of ${language} that is stopped answers what is under way`, async t => {
		const {serve, call, stop, exec, hearAll, value} = functionNode(t);
		const files =
			language === 'python'
				? {
						'func.py': 'import time\n\ndef main(params):\n    open("../begun", "w").close()\n    time.sleep(0.5)\n    return "done"\n',
					}
				: {
						'func.mjs':
							"import fs from 'node:fs';\nexport default async () => {\n  fs.writeFileSync('../begun', '');\n  await new Promise(done => setTimeout(done, 500));\n  return 'done';\n};\n",
					};
		await serve('uid-1', language, files);
		const answer = call('uid-1', null);
		await eventually('the call to begin', async () => {
			const {session} = await value(exec(id('uid-1'), ['sh', '-c', 'test -e "$HOME"/begun']));
			return (await hearAll(session)).exitCode === 0;
		});
		const exit = await stop(id('uid-1'), 20_000);
		t.is(exit?.exitCode, 0);
		t.is((await answer).text.trim(), '"done"');
	});
}

test('a later agent finds an instance as it was, and connects to it', async t => {
	const {serve, call, callBySession, restartAgent, inspect, loaded, value, fetched} = functionNode(t);
	const {pid} = await serve('uid-1', 'python', python);
	await restartAgent();
	t.is((await inspect(id('uid-1'))).running?.pid, pid);
	t.true((await value(loaded('uid-1'))).ok);
	t.is((await call('uid-1', {x: 1, y: 2})).status, 200);
	t.true((await callBySession('uid-1', {x: 1, y: 2})).stdout.includes('"sum":3'));
	t.is(fetched.length, 1);
});

test('the next attempt after a kill has the code that is there, and is ready only when it serves itself', async t => {
	const {serve, start, call, world, ends, loaded, value, run, fetched, specOf, exec, hearAll, restartAgent} = functionNode(t);
	const files = {
		'func.py': 'import os\nif os.path.exists("../go"):\n    open("../go").read()\n\ndef main(params):\n    return os.getpid()\n',
	};
	const running = await serve('uid-1', 'python', files);
	const inFolder = async (words: string): Promise<void> => {
		const {session} = await value(exec(id('uid-1'), ['sh', '-c', `cd "$HOME" && ${words}`]));
		t.is((await hearAll(session)).exitCode, 0);
	};
	await inFolder('mkfifo go');
	world.kill(id('uid-1'), running);
	await ends(1);
	await restartAgent();
	const [digest = ''] = fetched;
	await start(specOf('uid-1', digest, 'python', {attempt: 1}));
	const early = await run<'forward.open'>({type: 'forward.open', request: {uid: 'uid-1', port: 'function'}});
	t.is(early.ok ? '' : early.error.code, 'ERR_NOT_REACHABLE');
	await t.throwsAsync(world.runtime().connectFunction('uid-1'), {message: /it does not listen/});
	const ready = value(loaded('uid-1'));
	await inFolder('echo >go');
	t.deepEqual(await ready, {ok: true, message: ''});
	t.is((await call('uid-1', null)).status, 200);
	t.is(fetched.length, 1);
});

test('a start that is asked for twice is one start, also while its code is fetched', async t => {
	const {ensure, start, loaded, value, call, archive, specOf} = functionNode(t);
	await ensure('uid-1');
	const spec = specOf('uid-1', await archive.add(python), 'python');
	const [one, other] = await Promise.all([start(spec), start(spec)]);
	t.deepEqual(one, other);
	t.true((await value(loaded('uid-1'))).ok);
	t.deepEqual(await start(spec), one);
	t.is((await call('uid-1', {x: 1, y: 2})).status, 200);
});

test('code that was not made to its end is made anew, and goes with the pod', async t => {
	const {ensure, serve, call, world, remove} = functionNode(t);
	await ensure('uid-1');
	const homes = `${world.directory}-homes/uid-1`;
	const user = process.getuid?.() === 0 ? undefined : String(process.getuid?.());
	// The folder of the pod has the number of its user, which is not known before.
	const guess = user ?? '0';
	mkdirSync(path.join(homes, `${guess}.function.new`, 'function'), {recursive: true});
	writeFileSync(path.join(homes, `${guess}.function.new`, 'function/func.py'), 'half');
	await serve('uid-1', 'python', python, user === undefined ? {runAsUser: 0} : {});
	t.is((await call('uid-1', {x: 1, y: 2})).status, 200);
	t.false(existsSync(path.join(homes, `${guess}.function.new`)));
	await remove('uid-1');
	t.false(existsSync(homes));
});

test('a function that is not loaded in its time is told so', async t => {
	const {ensure, start, loaded, value, archive, specOf} = functionNode(t);
	await ensure('uid-1');
	await start(specOf('uid-1', await archive.add({'func.py': 'import time\ntime.sleep(60)\n'}), 'python'));
	t.deepEqual(await value(loaded('uid-1', 200)), {ok: false, message: 'the function was not loaded within 0.2 s'});
});

test('what is no instance has no runner, and a node without code starts none', async t => {
	const {ensure, start, run, loaded, aContainer, world} = functionNode(t, {artifacts: undefined});
	await ensure('uid-1');
	await start(aContainer('runs', {container: 'function'}));
	const codeOf = async (uid: string, relayedFor?: string): Promise<string> => {
		const outcome = await run<'forward.open'>({type: 'forward.open', request: {uid, port: 'function', relayedFor}});
		return outcome.ok ? 'ok' : `${outcome.error.code} ${outcome.error.message}`;
	};
	t.is(await codeOf('uid-1'), 'ERR_BAD_REQUEST the pod with uid uid-1 is no instance of a function');
	t.is(await codeOf('uid-1', 'other-node'), 'ERR_BAD_REQUEST the pod with uid uid-1 is no instance of a function');
	t.regex(await codeOf('uid-2'), /^ERR_NOT_FOUND/);
	t.regex(await codeOf('../uid-1'), /^ERR_BAD_REQUEST/);
	t.false((await loaded('uid-1')).ok);
	for (const uid of ['uid-1', 'uid-2', '../uid-1']) await t.throwsAsync(world.runtime().connectFunction(uid));
	await ensure('uid-3');
	const {specOf} = functionNode(t);
	const refused = await run<'container.start'>({type: 'container.start', spec: specOf('uid-3', `sha256:${'0'.repeat(64)}`, 'python')});
	t.is(refused.ok ? '' : refused.error.message, 'container "function" cannot start: this node cannot fetch functions');
});

test('an archive of another digest, or that cannot be had, starts nothing and leaves nothing', async t => {
	const {ensure, run, archive, specOf, world} = functionNode(t);
	await ensure('uid-1');
	const digest = await archive.add(python);
	const other = `sha256:${'0'.repeat(64)}`;
	const startOf = async (artifact: string): Promise<string> => {
		const outcome = await run<'container.start'>({type: 'container.start', spec: specOf('uid-1', artifact, 'python')});
		return outcome.ok ? 'ok' : `${outcome.error.code} ${outcome.error.message}`;
	};
	t.regex(await startOf(other), /^ERR_RUNTIME container "function" cannot start: .*does not exist/);
	copyFileSync(archive.fileOf(digest), archive.fileOf(other));
	t.regex(await startOf(other), /^ERR_RUNTIME container "function" cannot start: the archive has the digest/);
	writeFileSync(archive.fileOf(other), 'no archive');
	t.regex(await startOf(other), /^ERR_RUNTIME container "function" cannot start: this is no archive/);
	const homes = `${world.directory}-homes/uid-1`;
	t.deepEqual(
		readdirSync(homes).filter(name => name.includes('function')),
		[],
	);
	t.is(await startOf(digest), 'ok');
});

test('a pod that is removed while its code is fetched starts nothing', async t => {
	let fetch: (file: string) => void = () => undefined;
	const artifacts = {ensure: () => new Promise<string>(resolve => (fetch = resolve))};
	const {ensure, run, remove, archive, specOf, world} = functionNode(t, {artifacts});
	await ensure('uid-1');
	const digest = await archive.add(python);
	const started = run<'container.start'>({type: 'container.start', spec: specOf('uid-1', digest, 'python')});
	await eventually('the code to be fetched', () => existsSync(`${world.directory}-homes/uid-1`));
	await remove('uid-1');
	fetch(archive.fileOf(digest));
	const outcome = await started;
	t.is(outcome.ok ? '' : outcome.error.message, 'container "function" cannot start: its pod is being removed');
	t.false(existsSync(`${world.directory}-homes/uid-1`));
});

asRoot('an instance whose folder something is mounted over, or is read-only, is refused', async t => {
	const {ensure, run, archive, specOf, world, value} = functionNode(t);
	await ensure('uid-1');
	const digest = await archive.add(python);
	const source = {type: 'emptyDir', inMemory: false, sizeLimitBytes: undefined} as const;
	const volumes = [{name: 'over', source}];
	await value(run<'volumes.ensure'>({type: 'volumes.ensure', uid: 'uid-1', namespace: 'default', volumes, fsGroup: undefined}));
	const over = `${world.directory}-homes`;
	for (const rest of [{readOnlyRoot: true}, {mounts: [mount('over', over)]}]) {
		const outcome = await run<'container.start'>({type: 'container.start', spec: specOf('uid-1', digest, 'python', rest)});
		t.regex(outcome.ok ? '' : outcome.error.message, /needs its own folder/);
	}
});
