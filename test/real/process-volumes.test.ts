// What needs root and mount namespaces: volumes as the programs of the process runtime see them, and what is left of them on the host.

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	readdirSync,
	realpathSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {createInterface} from 'node:readline';
import test, {type ExecutionContext} from 'ava';
import type {ContainerSpec, VolumeSource, VolumeSpec} from '../../actors/node/runtime/runtime-port.js';
import type {NodeSecrets} from '../../actors/node/runtime/secrets-port.js';
import {succeeded} from '../../api/errors.js';
import {systemClock} from '../../system/time/clock.js';
import {isThere, processWorld, whenTrue} from '../agent/process-world.js';
import {aContainer, driver, mount} from '../agent/runtime-contract.js';
import {eventually, within} from '../../bench/rigs/cluster/waiting.js';

const encoded = (text: string): string => Buffer.from(text).toString('base64');

const secrets: NodeSecrets = {
	open: (_wanted, done) => done(succeeded({password: encoded('geheim')})),
	retain: (_keys, done) => done(succeeded(null)),
};

const scratch: VolumeSource = {type: 'emptyDir', inMemory: false, sizeLimitBytes: undefined};
const memory = (sizeLimitBytes: number): VolumeSource => ({type: 'emptyDir', inMemory: true, sizeLimitBytes});
const config = (text: string): VolumeSource => ({type: 'files', files: [{path: 'app.conf', mode: 0o644, data: encoded(text)}]});
const login: VolumeSource = {type: 'secret', ref: {secret: 's', version: '1', optional: false}, items: undefined, mode: 0o400};

/** On this host, what has to do with the folder. */
const mountsOf = (folder: string): readonly string[] =>
	readFileSync('/proc/self/mountinfo', 'utf8')
		.split('\n')
		.filter(line => line.includes(folder));

type Rest = Partial<ContainerSpec> & {readonly container?: string};

async function podOf(t: ExecutionContext, volumes: readonly VolumeSpec[], fsGroup?: number) {
	const world = processWorld(clean => t.teardown(clean), {
		secrets,
		hostPaths: {allowed: 'all', never: []},
		users: {first: 70_001, last: 70_001},
	});
	const calls = driver(world);
	await calls.ensure('uid-1');
	const make = (wanted: readonly VolumeSpec[]) =>
		calls.value(calls.run<'volumes.ensure'>({type: 'volumes.ensure', uid: 'uid-1', namespace: 'default', volumes: wanted, fsGroup}));
	await make(volumes);
	let count = 0;
	const written = async (container: string): Promise<string> =>
		Buffer.from((await calls.value(calls.log({uid: 'uid-1', container}))).data, 'base64').toString();
	const groups = fsGroup === undefined ? [] : [fsGroup];
	/** What a shell text writes, and its code unless that is 0. */
	const outputOf = async (text: string, rest: Rest = {}): Promise<string> => {
		const container = rest.container ?? `c${++count}`;
		const ended = calls.told.length + 1;
		await calls.start(aContainer('runs', {groups, ...rest, argv: ['sh', '-c', text], container}));
		await calls.ends(ended);
		const {exitCode} = calls.told.at(-1)?.exit ?? {};
		return (await written(container)) + (exitCode === 0 ? '' : `[${exitCode}]`);
	};
	const refusalOf = async (rest: Rest): Promise<string> => {
		const outcome = await calls.run<'container.start'>({
			type: 'container.start',
			spec: aContainer('runs', {container: 'refused', ...rest}),
		});
		return outcome.ok ? 'it started' : outcome.error.message;
	};
	return {...calls, world, make, written, outputOf, refusalOf};
}

test('a node of root says that it has volumes', async t => {
	const {world} = await podOf(t, []);
	t.true(world.runtime().info().features.includes('volumes'));
});

test('two containers share an emptyDir, which is there after a restart of one', async t => {
	const {outputOf} = await podOf(t, [{name: 's', source: scratch}]);
	t.is(await outputOf('echo hello >/shared/x/file', {mounts: [mount('s', '/shared/x')]}), '');
	t.is(await outputOf('cat /srv/file', {mounts: [mount('s', '/srv')]}), 'hello\n');
	t.false(existsSync('/shared'), 'nothing is made on the host');
	t.deepEqual(readdirSync('/srv'), []);
});

test('files of a ConfigMap change under a running program, all at once', async t => {
	const {make, start, written, stop} = await podOf(t, [{name: 'c', source: config('one')}]);
	const text = 'while :; do cat /etc/app/app.conf; echo; sleep 0.02; done';
	await start(aContainer('runs', {argv: ['sh', '-c', text], mounts: [mount('c', '/etc/app')]}));
	await eventually('the program reads it', async () => (await written('main')).includes('one\n'));
	await make([{name: 'c', source: config('two')}]);
	await eventually('the program reads the new one', async () => (await written('main')).includes('two\n'));
	await stop({uid: 'uid-1', container: 'main'}, 0);
	t.deepEqual([...new Set((await written('main')).split('\n').filter(Boolean))], ['one', 'two']);
});

test('a Secret of mode 0400 is read by the user and the group of the pod and by nobody else', async t => {
	const {outputOf, world} = await podOf(t, [{name: 'k', source: login}], 2_000);
	const mounts = [mount('k', '/run/key')];
	t.is(await outputOf('cat /run/key/password', {mounts}), 'geheim');
	t.is(await outputOf('cat /run/key/password', {mounts, groups: []}), 'geheim');
	t.is(await outputOf('cat /run/key/password', {mounts, runAsUser: 1_234}), 'geheim');
	t.regex(await outputOf('cat /run/key/password', {mounts, runAsUser: 1_234, groups: []}), /Permission denied\n\[1\]$/);
	t.regex(await outputOf('echo x >/run/key/password', {mounts, runAsUser: 0}), /Read-only file system\n/);
	// Nor on the host, where it is in memory only.
	const place = path.join(world.directory, '.memory', 'uid-1', 'k', 'password');
	t.is(readFileSync(place, 'utf8'), 'geheim');
	t.regex(await outputOf(`cat ${place}`), /Permission denied\n\[1\]$/);
	t.is(mountsOf(world.directory).filter(line => line.includes(' tmpfs ')).length, 1);
});

test('an emptyDir in memory has its size and is seen by nobody else', async t => {
	const {outputOf, world, written, start, ends} = await podOf(t, [
		{name: 'm', source: memory(1_048_576)},
		{name: 's', source: scratch},
	]);
	t.regex(
		await outputOf('head -c 2000000 /dev/zero >/cache/x; wc -c </cache/x', {mounts: [mount('m', '/cache')]}),
		/No space left.*\n1048576\n$/s,
	);
	for (const [container, place] of [
		['private', '/new-place'],
		['shared', '/srv'],
	] as const) {
		await start(aContainer('runs', {container, argv: ['cat', '/proc/self/mountinfo'], mounts: [mount('s', place)]}));
	}
	await ends(3);
	for (const container of ['private', 'shared']) t.false((await written(container)).includes(`${world.directory}/.memory`), container);
});

test('a program sees its mounts wherever they are, and all else as it is', async t => {
	const {outputOf} = await podOf(t, [
		{name: 's', source: scratch},
		{name: 'c', source: config('text')},
	]);
	const mounts = [
		mount('s', '/a/b c'),
		mount('c', '/etc/one.conf', {subPath: 'app.conf'}),
		mount('s', '/usr/share/new-folder'),
		mount('s', '/home', {subPath: 'sub/folder'}),
		mount('c', '/a/b c/inner'),
	];
	const text = `cat /etc/one.conf "/a/b c/inner/app.conf"; echo; cat /etc/hostname; stat -c %a /tmp /etc /; echo x >/home/y; ls /usr/share/new-folder/sub/folder; ls -A / | wc -l; pwd`;
	const lines = (await outputOf(text, {mounts, workingDir: '/a/b c'})).split('\n');
	const entries = readdirSync('/').length + 1;
	t.deepEqual(lines, [
		'texttext',
		...readFileSync('/etc/hostname', 'utf8').trim().split('\n'),
		'1777',
		'755',
		'755',
		'y',
		String(entries),
		'/a/b c',
		'',
	]);
	for (const place of ['/a', '/etc/one.conf', '/usr/share/new-folder']) t.false(existsSync(place), place);
});

test('with a read-only root only volumes and what is the kernel’s take anything', async t => {
	const {outputOf} = await podOf(t, [{name: 's', source: scratch}]);
	const text = 'for file in /x /tmp/x /usr/x /var/tmp/x /data/x /dev/null; do (echo >$file) 2>/dev/null && echo $file; done';
	const given = {mounts: [mount('s', '/data')], readOnlyRoot: true, runAsUser: 0};
	t.is(await outputOf(text, given), '/data/x\n/dev/null\n');
	t.is(await outputOf(text, {...given, mounts: [], container: 'bare'}), '/dev/null\n');
});

test('what a program puts into a volume leads nobody out of it', async t => {
	const {outputOf, refusalOf} = await podOf(t, [{name: 's', source: scratch}]);
	await outputOf('ln -s /etc /data/out; ln -s /etc/shadow /data/file; ln -s /no /data/gone', {mounts: [mount('s', '/data')]});
	for (const subPath of ['out', 'out/ssl', 'file', 'gone/new', '../x'])
		t.regex(
			await refusalOf({mounts: [mount('s', '/data', {subPath})]}),
			/volume "s": subPath .* (leads out of the volume|lead down)/,
			subPath,
		);
	t.regex(await refusalOf({mounts: [mount('s', '/data'), mount('s', '/data/out/deep')]}), /a link in volume "s" is there/);
});

/** Whether there was somebody to get it. */
function signalled(pid: number, name: NodeJS.Signals): boolean {
	try {
		return process.kill(pid, name);
	} catch {
		return false;
	}
}

/** A folder that gives way to a link again and again, as fast as can be. */
test('nor while it is exchanged all the time', async t => {
	const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'troupe-race-')));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	chmodSync(folder, 0o777);
	mkdirSync(path.join(folder, 'real'));
	symlinkSync('/etc', path.join(folder, 'link'));
	mkdirSync(path.join(folder, 'place'));
	const {start, run, ends, written, told} = await podOf(t, [{name: 'h', source: {type: 'hostPath', path: folder, check: ''}}]);
	const swap = 'while :; do mv -T place old; mv -T link place; mv -T place link; mv -T old place; done';
	// In a group of its own: the one of its moves that is under way ends with it.
	const swapper = spawn('sh', ['-c', swap], {cwd: folder, stdio: 'ignore', detached: true});
	const isEnded = (): boolean => !signalled(-(swapper.pid ?? 0), 'SIGKILL');
	t.teardown(() => void isEnded());
	await once(swapper, 'spawn');
	let begun = 0;
	for (let round = 0; round < 20; round++) {
		const container = `c${round}`;
		const spec = aContainer('runs', {container, argv: ['ls', '/data'], mounts: [mount('h', '/data', {subPath: 'place'})]});
		const outcome = await run<'container.start'>({type: 'container.start', spec});
		if (!outcome.ok) continue;
		await ends(++begun);
		t.is(await written(container), '', 'it saw another folder');
	}
	t.is(told.length, begun);
	await eventually('nothing is exchanged any more', isEnded);
	rmSync(path.join(folder, 'place'), {recursive: true, force: true});
	mkdirSync(path.join(folder, 'place'));
	await start(aContainer('runs', {container: 'last', mounts: [mount('h', '/data', {subPath: 'place'})]}));
});

test('a path of the host is mounted as it is, read-only where that is asked for', async t => {
	const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'troupe-host-')));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	chmodSync(folder, 0o777);
	writeFileSync(path.join(folder, 'there'), 'yes\n');
	const {outputOf, remove} = await podOf(t, [
		{name: 'h', source: {type: 'hostPath', path: folder, check: 'Directory'}},
		{name: 'f', source: {type: 'hostPath', path: path.join(folder, 'there'), check: 'File'}},
	]);
	t.is(
		await outputOf('cat /data/there /one-file; echo new >/data/new', {mounts: [mount('h', '/data'), mount('f', '/one-file')]}),
		'yes\nyes\n',
	);
	t.regex(await outputOf('echo x >/data/x', {mounts: [mount('h', '/data', {readOnly: true})]}), /Read-only file system\n\[2\]$/);
	await remove('uid-1');
	t.deepEqual(readdirSync(folder).sort(), ['new', 'there']);
});

test('a program that is not root gets no rights by what it mounts over the node’s files', async t => {
	const {outputOf} = await podOf(t, [{name: 's', source: scratch}]);
	const text = 'grep NoNewPrivs /proc/self/status; id -u; id -G';
	t.is(await outputOf(text, {mounts: [mount('s', '/etc/pam.d')], groups: [7]}), 'NoNewPrivs:\t1\n70001\n70001 7\n');
	const may = {groups: [7], allowPrivilegeEscalation: true};
	t.is(await outputOf(text, {...may, mounts: [mount('s', '/etc/pam.d')]}), 'NoNewPrivs:\t1\n70001\n70001 7\n');
	t.is(await outputOf(text, may), 'NoNewPrivs:\t0\n70001\n70001 7\n');
});

test('runAsNonRoot is refused for root, and so is a place that the program could not work in', async t => {
	const {refusalOf, outputOf} = await podOf(t, [{name: 's', source: scratch}]);
	t.regex(await refusalOf({runAsUser: 0, runAsNonRoot: true}), /runAsNonRoot is set and it would run as root/);
	t.is(await outputOf('id -u', {runAsNonRoot: true}), '70001\n');
	t.regex(await refusalOf({mounts: [mount('s', '/data')], workingDir: '/elsewhere'}), /working directory "\/elsewhere" does not exist/);
	t.regex(await refusalOf({mounts: [mount('s', '/data')], workingDir: '/data/none'}), /working directory "\/data\/none" cannot be entered/);
	t.regex(await refusalOf({mounts: [mount('none', '/data')]}), /volume "none": it is not there/);
	t.regex(await refusalOf({mounts: [mount('s', '/usr/bin')]}), /programs that start containers are there/);
});

test('a program of a volume runs, and one that joins it sees what it sees, with its rights', async t => {
	const {outputOf, start, exec, hearAll, value} = await podOf(t, [{name: 's', source: scratch}], 2_000);
	const mounts = [mount('s', '/opt/tools')];
	await outputOf('printf "#!/bin/sh\\nexec sleep infinity\\n" >/opt/tools/mine; chmod +x /opt/tools/mine', {mounts});
	await start(aContainer('runs', {argv: ['/opt/tools/mine'], mounts, groups: [2_000], workingDir: '/opt/tools'}));
	const main = {uid: 'uid-1', container: 'main'};
	const {session} = await value(exec(main, ['sh', '-c', 'pwd; ls; id -u; id -G; grep NoNew /proc/self/status']));
	t.deepEqual(await hearAll(session), {stdout: '/opt/tools\nmine\n70001\n70001 2000\nNoNewPrivs:\t1\n', stderr: '', exitCode: 0});
});

test('with a terminal and mounts both are there', async t => {
	const {outputOf} = await podOf(t, [{name: 's', source: scratch}]);
	const mounts = [mount('s', '/data')];
	t.is(await outputOf('test -t 0 && pwd; exit 3', {mounts, tty: true, workingDir: '/data'}), '/data\r\n[3]');
});

test('containers of an agent that was killed go on with their volumes, and deletion leaves nothing', async t => {
	const volumes: readonly VolumeSpec[] = [
		{name: 's', source: scratch},
		{name: 'm', source: memory(1_048_576)},
	];
	const {world, restartAgent, make, start, run, value, remove, inspect, written} = await podOf(t, volumes);
	const mounts = [mount('s', '/data'), mount('m', '/cache')];
	// What is started in the background leaves the process group.
	const text =
		'echo mine >/data/x; echo mine >/cache/x; while [ ! -e /data/go ]; do sleep 0.02; done; cat /data/x /cache/x; sleep infinity';
	await world.stopAgent();
	const agent = spawn(
		process.execPath,
		[
			path.join(import.meta.dirname, '../agent/agent-process.js'),
			world.directory,
			JSON.stringify([aContainer('runs', {argv: ['sh', '-c', text], mounts})]),
		],
		{
			stdio: ['ignore', 'pipe', 'inherit'],
		},
	);
	t.teardown(() => agent.kill('SIGKILL'));
	const [line] = (await within('a line of the agent', once(createInterface(agent.stdout), 'line'))) as [string];
	const {value: running} = JSON.parse(line) as {value: {pid: number}};
	agent.kill('SIGKILL');
	await within('the end of the agent', once(agent, 'exit'));
	world.startAgent();
	await restartAgent();
	await make(volumes);
	const main = {uid: 'uid-1', container: 'main'};
	t.is((await inspect(main)).running?.pid, running.pid);
	await start(aContainer('runs', {container: 'other', argv: ['sh', '-c', 'cat /data/x /cache/x >/data/go'], mounts}));
	await eventually('it reads its volumes', async () => (await written('main')) === 'mine\nmine\n');
	await remove('uid-1');
	await whenTrue(() => !isThere(running.pid));
	t.deepEqual(mountsOf(world.directory), []);
	t.deepEqual(readdirSync(world.directory), ['.stock', '.users']);
	const gone = await value(run<'container.inspect'>({type: 'container.inspect', id: main}));
	t.is(gone.running, undefined);
});

test('the watchdog of an exclusive pod finds a program with mounts and a terminal', async t => {
	const {run, value, start, ends} = await podOf(t, [{name: 's', source: scratch}]);
	const extend = (leftMs: number) =>
		value(run<'lease.extend'>({type: 'lease.extend', uid: 'uid-1', untilMs: systemClock.monotonicMs() + leftMs}));
	// Long enough to start both; what is called in earlier would not end it earlier.
	await extend(15_000);
	for (const tty of [false, true])
		await start(aContainer('runs', {container: `c${String(tty)}`, mounts: [mount('s', '/data')], tty, exclusive: true}));
	t.deepEqual(
		(await ends(2)).map(({exit}) => exit.exitCode),
		[137, 137],
	);
});

test('a folder too deep for a path is removed, too', async t => {
	const {outputOf, remove, world} = await podOf(t, [{name: 's', source: scratch}]);
	// Put together of parts, each of which a path can say.
	const text =
		'cd /data; part=$(printf "%0200d/" 1 2 3 4 5 6 7 8 9); mkdir -p "$part"; for name in a b c; do mkdir -p "$name/$part"; mv 0* "$name/$part"; mv "$name" "0$name"; done; find . | tail -n 1 | wc -c';
	t.true(Number(await outputOf(text, {mounts: [mount('s', '/data')]})) > 4_096);
	await remove('uid-1');
	t.deepEqual(readdirSync(world.directory), ['.stock', '.users']);
});
