// As root: which user programs run as, and what that keeps from others.

import {existsSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {VolumeSpec} from '../../actors/node/runtime-port.js';
import type {ProcessRuntimeOptions} from '../../agent/process-runtime.js';
import {processWorld} from './process-world.js';
import {aContainer, driver} from './runtime-contract.js';

const asRoot = process.getuid?.() === 0 ? test : test.skip;

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
