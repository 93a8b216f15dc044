// As root: which user programs run as, and what that keeps from others.

import {chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {VolumeSpec} from '../../actors/node/runtime/runtime-port.js';
import type {ProcessRuntimeOptions} from '../../agent/process-runtime.js';
import {succeeded} from '../../api/errors.js';
import {asRoot, isRoot, needing} from '../_needing.js';
import {processWorld, whenTrue} from './process-world.js';
import {aContainer, driver} from './runtime-contract.js';

const users = {first: 71_000, last: 71_003};

function nodeOf(t: ExecutionContext, options: Partial<ProcessRuntimeOptions> = {}) {
	const world = processWorld(clean => t.teardown(clean), {users, ...options});
	const calls = driver(world);
	/** What a program wrote that has ended. */
	const outputOf = async (uid: string, script: string, more: Parameters<typeof aContainer>[1] = {}): Promise<string> => {
		const {container = 'main'} = more;
		const ended = calls.told.length;
		await calls.start(aContainer('runs', {uid, argv: ['sh', '-c', script], ...more, container}));
		await calls.ends(ended + 1);
		return Buffer.from((await calls.value(calls.log({uid, container}))).data, 'base64').toString();
	};
	return {...calls, world, outputOf};
}

asRoot('pods of two controllers run as two users, those of one as one, and so does what comes after them', async t => {
	const {ensure, outputOf, remove, restartAgent} = nodeOf(t);
	await ensure('one', 'a/ReplicaSet/web');
	await ensure('two', 'b/ReplicaSet/web');
	await ensure('three', 'a/ReplicaSet/web');
	t.is(await outputOf('one', 'id -u; id -g; id -G'), '71000\n71000\n71000\n');
	t.is(await outputOf('two', 'id -u; id -g'), '71001\n71001\n');
	t.is(await outputOf('three', 'id -u'), '71000\n');
	t.is(await outputOf('two', 'id -u; id -g', {container: 'asks', runAsUser: 1234}), '1234\n1234\n');
	for (const uid of ['one', 'three']) await remove(uid);
	await restartAgent();
	await ensure('other', 'c/ReplicaSet/web');
	await ensure('next', 'a/ReplicaSet/web');
	t.is(await outputOf('other', 'id -u'), '71002\n');
	t.is(await outputOf('next', 'id -u'), '71000\n');
});

asRoot('a node without a user that is left says how it gets more, and makes the pod once one is', async t => {
	const {ensure, remove, outputOf} = nodeOf(t, {users: {first: 71_010, last: 71_010}});
	await ensure('one');
	await t.throwsAsync(ensure('two'), {message: /all 1 users from 71010 to 71010 are in use .*--pod-users FIRST-LAST/});
	await remove('one');
	await ensure('two');
	t.is(await outputOf('two', 'id -u'), '71010\n');
});

asRoot('a pod reads nothing of another’s processes, and signals none of them, though it sees them', async t => {
	const {ensure, start, outputOf} = nodeOf(t, {namespaces: null});
	await ensure('victim', 'a/Pod/victim');
	await ensure('attacker', 'b/Pod/attacker');
	const {pid} = await start(aContainer('runs', {uid: 'victim', env: [{name: 'TOKEN', value: 'geheim'}]}));
	const script = `cat /proc/${pid}/environ /proc/${pid}/fd/1; ls -L /proc/${pid}/root /proc/${pid}/cwd; kill -9 ${pid} && echo killed; true`;
	const seen = await outputOf('attacker', script);
	t.false(seen.includes('geheim') || seen.includes('killed') || seen.includes('etc'), seen);
	t.true(existsSync(`/proc/${pid}`));
});

asRoot('volumes and logs are the pod’s own', async t => {
	const {ensure, run, value, start, world} = nodeOf(t);
	await ensure('one', 'a/Pod/one');
	const file = {path: 'word', mode: 0o400, data: Buffer.from('geheim').toString('base64')};
	const make = (volumes: readonly VolumeSpec[], fsGroup?: number) =>
		run<'volumes.ensure'>({type: 'volumes.ensure', uid: 'one', namespace: 'default', volumes, fsGroup});
	await value(
		make([
			{name: 'scratch', source: {type: 'emptyDir', inMemory: false, sizeLimitBytes: undefined}},
			{name: 'files', source: {type: 'files', files: [file]}},
		]),
	);
	await value(make([{name: 'shared', source: {type: 'emptyDir', inMemory: false, sizeLimitBytes: undefined}}], 77));
	await start(aContainer('runs', {uid: 'one'}));
	const ownerOf = (...names: readonly string[]): string => {
		const {uid, gid, mode} = statSync(path.join(world.directory, 'one', ...names));
		return `${uid}:${gid} ${(mode & 0o7777).toString(8)}`;
	};
	t.is(ownerOf('.volumes/scratch/data'), '71000:71000 777');
	t.is(ownerOf('.volumes/files/data/word'), '71000:71000 400');
	t.is(ownerOf('.volumes/shared/data'), '71000:77 2777');
	t.is(ownerOf('main/0/log'), '71000:71000 600');
});

asRoot('a pod of a version that gave no users keeps the one it has', async t => {
	const {ensure, outputOf, restartAgent, world} = nodeOf(t);
	await ensure('old', 'a/Pod/old');
	await restartAgent(() => {
		const file = path.join(world.directory, 'old/pod.json');
		const {namespace, name, uid, podIP} = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
		writeFileSync(file, JSON.stringify({namespace, name, uid, podIP}));
		return Promise.resolve();
	});
	await ensure('old', 'a/Pod/old');
	t.is(await outputOf('old', 'id -u; id -g'), '65534\n65534\n');
});

/** A program of the node that makes root of whoever runs it. */
function rootsProgram(t: ExecutionContext): string {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-setuid-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	chmodSync(folder, 0o755);
	const file = path.join(folder, 'sleep');
	copyFileSync('/bin/sleep', file);
	chmodSync(file, 0o4755);
	return file;
}

const idsOf = (pid: number): string | undefined => /^Uid:\t(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];

asRoot('a program that is root by its file is none here, and what joins one that may be runs as the pod’s user', async t => {
	const {ensure, start, exec, act, value, hearAll, restartAgent} = nodeOf(t);
	const argv = [rootsProgram(t), 'infinity'];
	await ensure('one');
	const begin = async (container: string, allowPrivilegeEscalation: boolean): Promise<number> => {
		const {pid} = await start(aContainer('runs', {uid: 'one', container, argv, allowPrivilegeEscalation, groups: [77]}));
		await whenTrue(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith(argv[0] ?? ''));
		return pid;
	};
	t.is(idsOf(await begin('never', false)), '71000\t71000\t71000\t71000');
	t.is(idsOf(await begin('may', true)), '71000\t0\t0\t0');
	const seen = async (container: string): Promise<string> => {
		const script = 'id -u; id -G; grep NoNewPrivs /proc/self/status';
		return (await hearAll((await value(exec({uid: 'one', container}, ['sh', '-c', script]))).session)).stdout;
	};
	const isUser = async (container: string): Promise<boolean> =>
		(await value(act({uid: 'one', container}, {type: 'exec', argv: ['sh', '-c', 'test "$(id -u)" = 71000']}))).ok;
	for (const round of ['the agent that started it', 'a later one']) {
		t.is(await seen('never'), '71000\n71000 77\nNoNewPrivs:\t1\n', round);
		t.is(await seen('may'), '71000\n71000 77\nNoNewPrivs:\t0\n', round);
		t.true(await isUser('may'), round);
		await restartAgent();
	}
});

asRoot('what a version before has started is joined as the user it was started as', async t => {
	const {ensure, start, exec, value, hearAll, restartAgent, world} = nodeOf(t);
	await ensure('one');
	const {pid} = await start(aContainer('runs', {uid: 'one', argv: [rootsProgram(t), 'infinity'], allowPrivilegeEscalation: true}));
	await whenTrue(() => idsOf(pid)?.endsWith('0') === true);
	await restartAgent(() => {
		const file = path.join(world.directory, 'one/main/0/state');
		writeFileSync(file, readFileSync(file, 'latin1').replace(/^begins .*\n/m, ''));
		return Promise.resolve();
	});
	const {session} = await value(exec({uid: 'one', container: 'main'}, ['id', '-u']));
	t.is((await hearAll(session)).stdout, '71000\n');
});

test('no program gains rights by files unless the container says that it may, whoever it runs as', async t => {
	const {ensure, outputOf} = nodeOf(t);
	await ensure('one');
	const script = 'grep NoNewPrivs /proc/self/status';
	t.is(await outputOf('one', script), 'NoNewPrivs:\t1\n');
	t.is(await outputOf('one', script, {container: 'may', allowPrivilegeEscalation: true}), 'NoNewPrivs:\t0\n');
	if (process.getuid?.() !== 0) return;
	t.is(await outputOf('one', script, {container: 'root', runAsUser: 0}), 'NoNewPrivs:\t1\n');
});

const beginsIn = 'pwd; echo $HOME $PATH; echo mine >file; cat file; stat -c %a .';

test('a program begins in a folder of its pod, which is its HOME and goes with the pod', async t => {
	const {ensure, start, outputOf, inspect, remove, restartAgent, world} = nodeOf(t, {path: '/usr/bin:/bin'});
	await ensure('one');
	const lines = (await outputOf('one', beginsIn, {container: 'first'})).trim().split('\n');
	const [home = ''] = lines;
	t.true(home.startsWith(`${world.directory}-homes/one/`), home);
	t.deepEqual(lines.slice(1), [`${home} /usr/bin:/bin`, 'mine', '700']);
	t.is(await outputOf('one', 'cat file', {container: 'second'}), 'mine\n');
	t.regex(await outputOf('one', 'pwd; echo $HOME', {container: 'third', workingDir: '/usr'}), /^\/usr\n.*-homes\/one\/\d+\n$/);
	const env = [{name: 'HOME', value: '/tmp'}];
	const {beginning} = await start(aContainer('runs', {uid: 'one', container: 'fourth', env, groups: process.getuid?.() === 0 ? [77] : []}));
	t.like(beginning, {home: '/tmp', path: '/usr/bin:/bin', workingDir: home});
	await restartAgent();
	t.deepEqual((await inspect({uid: 'one', container: 'fourth'})).running?.beginning, beginning);
	const {lastExit} = await inspect({uid: 'one', container: 'third'});
	t.like(lastExit?.beginning, {uid: beginning?.uid, workingDir: '/usr', path: '/usr/bin:/bin'}, 'what has ended tells it as well');
	await remove('one');
	t.false(existsSync(path.dirname(home)));
});

asRoot('a pod’s folder is closed to others, and each user of a pod has one', async t => {
	const {ensure, outputOf} = nodeOf(t);
	await ensure('one');
	await ensure('two', 'b/Pod/two');
	const home = (await outputOf('one', beginsIn)).split('\n')[0] ?? '';
	t.regex(await outputOf('two', `cat ${home}/file || ls ${home}`), /Permission denied\n.*Permission denied\n$/);
	t.regex(await outputOf('one', beginsIn, {container: 'asks', runAsUser: 1234}), /-homes\/one\/1234\n/);
});

asRoot('folders of pods that went while no agent lived are removed', async t => {
	const {ensure, outputOf, restartAgent, world} = nodeOf(t);
	await ensure('one');
	await outputOf('one', 'true');
	const folder = `${world.directory}-homes/one`;
	t.true(existsSync(folder));
	await restartAgent(() => {
		rmSync(path.join(world.directory, 'one'), {recursive: true});
		return Promise.resolve();
	});
	await whenTrue(() => !existsSync(folder));
	t.false(existsSync(folder));
});

test('of what a Secret sets nothing is told', async t => {
	const {ensure, start} = nodeOf(t, {
		secrets: {
			open: (_ref, done) => done(succeeded({home: Buffer.from('geheim').toString('base64')})),
			retain: (_keys, done) => done(succeeded(null)),
		},
	});
	await ensure('one');
	const secret = {secret: 'login', version: '1', optional: false, key: 'home', otherwise: undefined};
	const {beginning} = await start(aContainer('runs', {uid: 'one', env: [{name: 'HOME', parts: [secret]}]}));
	t.is(beginning?.home, '<from a secret>');
});

/** Begins one after the other and says how many; a shell that cannot ends. */
const many = 'i=0; while [ $i -lt 40 ]; do sleep 1000 & i=$((i+1)); echo $i; done';

asRoot('the number of processes of a container is bounded by its user where nothing else bounds it, from the first moment', async t => {
	const {ensure, outputOf, world} = nodeOf(t, {processes: 20, controlGroups: null, users: {first: 71_100, last: 71_100}});
	const {conditions} = world.runtime().info();
	t.regex(
		conditions.find(({type}) => type === 'LimitsNotEnforced')?.message ?? '',
		/processes is bounded for all pods of a controller together/,
	);
	await ensure('one');
	const begun = (await outputOf('one', many)).split('\n').filter(line => /^\d+$/.test(line));
	t.true(begun.length > 10 && begun.length < 20, String(begun.length));
});

/** Whether root may bound numbers of processes here. */
const countsProcesses =
	isRoot &&
	(() => {
		const cleaning: (() => unknown)[] = [];
		const {conditions} = processWorld(clean => cleaning.push(clean))
			.runtime()
			.info();
		test.after.always(async () => {
			for (const clean of cleaning) await clean();
		});
		return !conditions.some(({type}) => type === 'LimitsNotEnforced');
	})();
const withCount = needing(countsProcesses, 'needs root and control groups that count processes');

withCount('one that asks for a user is bounded by a control group before it begins', async t => {
	const {ensure, outputOf} = nodeOf(t, {processes: 20});
	await ensure('one');
	for (const runAsUser of [0, 71_999]) {
		const begun = (await outputOf('one', many, {container: `as-${runAsUser}`, runAsUser})).split('\n').filter(line => /^\d+$/.test(line));
		t.true(begun.length > 10 && begun.length < 20, String(begun.length));
	}
});

withCount('what joins a container counts among its processes', async t => {
	const {ensure, start, exec, value, hearAll} = nodeOf(t, {processes: 20});
	await ensure('one');
	const {pid} = await start(aContainer('runs', {uid: 'one', argv: ['sh', '-c', '(sleep 1001 & sleep 1002 &) ; sleep 1003']}));
	const groupOf = (one: string): string => readFileSync(`/proc/${one}/cgroup`, 'latin1');
	await whenTrue(() => /pids.*one@main@0$/m.test(groupOf(String(pid))));
	const {session} = await value(exec({uid: 'one', container: 'main'}, ['sh', '-c', many]));
	const begun = (await hearAll(session)).stdout.split('\n').filter(line => /^\d+$/.test(line));
	t.true(begun.length > 5 && begun.length < 19, String(begun.length));
});
