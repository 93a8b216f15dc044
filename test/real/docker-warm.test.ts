// Sandboxes that are made in advance: pods in them are as in others, each is of one pod, and nothing of them is left.

import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import type {SandboxSpec} from '../../actors/node/runtime/runtime-port.js';
import type {DockerRuntimeOptions} from '../../agent/docker-runtime.js';
import {labels} from '../../agent/docker/engine/names.js';
import type {PodNetwork} from '../../agent/pod-network/pod-network.js';
import {removeEverything} from '../../agent/docker/remove-everything.js';
import {startDockerd, type Dockerd} from '../../bench/rigs/servers/dockerd.js';
import {until} from '../../bench/rigs/servers/server.js';
import {valueOr} from '../../api/value-or.js';
import {systemClock} from '../../system/time/clock.js';
import {aSandbox} from '../agent/_sandbox.js';
import {dockerWorld} from '../agent/docker-world.js';
import {isThere} from '../agent/process-world.js';
import {driver} from '../agent/runtime-contract.js';
import {startDockerAgent} from './_docker-agents.js';
import {sharedDockerd} from './_dockerd.js';
import {infrasIn, spareIn, untilSpare} from './_warm-sandboxes.js';

const dockerd = sharedDockerd(test);

const few = {count: 2, fromStart: true};

function aNode(t: ExecutionContext, options: Partial<DockerRuntimeOptions> = {warm: few}, engine: Dockerd = dockerd()) {
	const world = dockerWorld(engine, clean => t.teardown(clean), options);
	const calls = driver(world);
	const ensure = (uid: string, rest: Partial<SandboxSpec> = {}) =>
		calls.value(calls.run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: aSandbox(uid, rest)}));
	const wasWarm = (uid: string): boolean => infrasIn(world.directory).get(uid)?.wasWarm === true;
	const spare = (count: number) => untilSpare(engine, world.directory, count);
	/** The Engine knows of one a moment before the agent does. */
	const warm = async (uid: string, rest: Partial<SandboxSpec> = {}) => {
		for (let tries = 0; tries < 5; tries++) {
			await spare(few.count);
			const sandbox = await ensure(uid, rest);
			if (wasWarm(uid)) return sandbox;
			await calls.remove(uid);
		}
		throw new Error(`${uid} got no sandbox that was made in advance`);
	};
	const infra = (uid: string) => infrasIn(world.directory).get(uid)?.id ?? '';
	return {world, engine, ...calls, ensure, wasWarm, spare, warm, infra};
}

type Node = ReturnType<typeof aNode>;

const pidOf = async ({docker}: Dockerd, id: string): Promise<number> => Number(await docker('inspect', '-f', '{{.State.Pid}}', id));

/** All that a program may know its name from, as its first instruction finds it. */
const names = ['sh', '-c', 'hostname; cat /etc/hostname; echo "$HOSTNAME"; cat /etc/hosts; ls -A /'];

/** What it found. */
async function seenIn({start, ends, told, log, value, aContainer}: Node, uid: string): Promise<string> {
	const before = told.length;
	await start(aContainer('runs', {uid, argv: names}));
	await ends(before + 1);
	const {data} = await value(log({uid, container: 'main'}));
	return Buffer.from(data, 'base64').toString();
}

const hostAliases = [
	{ip: '192.0.2.7', hostnames: ['db', 'db.example']},
	{ip: '2001:db8::7', hostnames: ['six']},
];

test.serial(
	'a program finds its name from its first instruction on, in each of 20 pods; in the files stands what stands in others',
	async t => {
		const node = aNode(t);
		const fresh = aNode(t, {});
		const {podIP} = await fresh.ensure('web-0', {hostAliases});
		const wanted = await seenIn(fresh, 'web-0');
		t.regex(wanted, /^web-0\nweb-0\nweb-0\n127\.0\.0\.1\tlocalhost\n[^]*\n192\.0\.2\.7\tdb\n192\.0\.2\.7\tdb\.example\n2001:db8::7\tsix\n/);
		const infras = new Set<string>();
		for (let count = 1; count <= 20; count++) {
			const uid = `web-${count}`;
			const sandbox = await node.warm(uid, {hostAliases});
			infras.add(node.infra(uid));
			const seen = await seenIn(node, uid);
			t.is(
				seen.replace(/^\.troupe-g(ate|o)\n/gm, ''),
				wanted.replaceAll('web-0', uid).replaceAll(`${podIP}\t`, `${sandbox.podIP}\t`),
				`${count}`,
			);
			await node.remove(uid);
		}
		t.is(infras.size, 20);
		await node.spare(few.count);
		t.is((await node.world.left()).length, few.count, 'nothing but what is ready for the next');
		t.deepEqual(node.world.warnings, []);
	},
);

test.serial(
	'so it is after a restart of a container, in one that is exclusive, in programs beside it, and with a dot in the name',
	async t => {
		const node = aNode(t);
		const {warm, start, stop, exec, hearAll, value, run, aContainer} = node;
		const said = async (uid: string, container = 'main'): Promise<string> => {
			const {session} = await value(exec({uid, container}, names));
			return (await hearAll(session)).stdout;
		};
		const {podIP} = await warm('a', {hostname: 'a.sub.example', shareProcessNamespace: true});
		for (const attempt of [0, 1]) {
			await start(aContainer('runs', {uid: 'a', attempt}));
			t.regex(await said('a'), new RegExp(`^(a.sub.example\n){3}127[^]*\n${podIP}\ta.sub.example a\n`));
			await stop({uid: 'a', container: 'main'}, 0);
		}
		await warm('b', {exclusive: true});
		await value(run<'lease.extend'>({type: 'lease.extend', uid: 'b', untilMs: systemClock.monotonicMs() + 60_000}));
		await start(aContainer('runs', {uid: 'b', exclusive: true}));
		t.regex(await said('b'), /^(b\n){3}127/);
		// What the pod says itself stays.
		await start(aContainer('runs', {uid: 'b', container: 'other', exclusive: true, env: [{name: 'HOSTNAME', value: 'mine'}]}));
		t.regex(await said('b', 'other'), /^b\nb\nmine\n127/);
	},
);

test.serial('a later agent takes up what runs in one, gives it its name, and removes what no pod had', async t => {
	const node = aNode(t);
	const {world, engine, warm, start, inspect, spare, restartAgent, remove, aContainer} = node;
	await warm('a');
	const running = await start(aContainer('runs', {uid: 'a'}));
	const before = await spare(few.count);
	await restartAgent(async () => {
		t.deepEqual(await spareIn(engine, world.directory), [], 'an agent that ends leaves none');
		t.is((await world.left()).length, 2);
	});
	t.deepEqual((await inspect({uid: 'a', container: 'main'})).running, running);
	for (const id of await spare(few.count)) t.false(before.includes(id));
	await start(aContainer('runs', {uid: 'a', container: 'second', argv: names}));
	await remove('a');
	await spare(few.count);
	t.is((await world.left()).length, few.count);
});

/** What is to be seen of a take, in the order in which it comes to be. */
const steps = ['asked', 'hosts written', 'host name written', 'record begun', 'record written', 'answered'] as const;

const holds = (file: string, text: string): boolean => valueOr('', () => readFileSync(file, 'utf8')).includes(text);

test.serial('an agent that is killed at any step of a take leaves nothing, and no sandbox to two pods', async t => {
	t.timeout(300_000);
	const {world, engine, remove, spare} = aNode(t);
	await world.stopAgent();
	let taken = 0;
	for (const [round, step] of Array.from({length: 2}, () => steps)
		.flat()
		.entries()) {
		const agent = startDockerAgent(t, engine, world.directory, {warm: few});
		const ready = await untilSpare(engine, world.directory, few.count);
		const first = `a-${round}`;
		const answered = agent.run({type: 'sandbox.ensure', spec: aSandbox(first)});
		void agent.run({type: 'sandbox.ensure', spec: aSandbox(`b-${round}`)});
		const folder = path.join(world.directory, first);
		const fileOf = (id: string, name: string): string => path.join(engine.folder, 'data/containers', id, name);
		const isSeen = {
			asked: () => true,
			'hosts written': () => ready.some(id => holds(fileOf(id, 'hosts'), first)),
			'host name written': () => ready.some(id => holds(fileOf(id, 'hostname'), first)),
			'record begun': () => existsSync(folder),
			'record written': () => existsSync(path.join(folder, 'sandbox.json')),
			answered: () => true,
		}[step];
		if (step === 'answered') t.true((await answered).ok);
		// The Engine knows of one a moment before the agent does, which may make a fresh one then.
		for (const untilMs = systemClock.monotonicMs() + 5_000; !isSeen() && systemClock.monotonicMs() < untilMs;) await nextTurn();
		await agent.kill();
		const infras = infrasIn(world.directory);
		t.is(new Set([...infras.values()].map(({id}) => id)).size, infras.size, step);
		if (step === 'record written' || step === 'answered') taken += infras.get(first)?.wasWarm === true ? 1 : 0;
	}
	t.true(taken > 0);
	world.startAgent();
	await spare(few.count);
	const infras = infrasIn(world.directory);
	const kept = new Set([...infras.values()].map(({id}) => id));
	t.deepEqual((await world.left()).filter(id => !kept.has(id)).length, few.count, 'what nobody had is gone');
	const {ensure} = driver(world);
	for (const [uid, {id, podIP}] of infras) {
		if (podIP === undefined) continue;
		t.is((await ensure(uid)).podIP, podIP);
		t.is(readFileSync((await dockerd().docker('inspect', '-f', '{{.HostnamePath}}', id)).trim(), 'utf8'), `${uid}\n`);
	}
	for (const uid of infras.keys()) await remove(uid);
	await spare(few.count);
	t.is((await world.left()).length, few.count);
});

test.serial('what a warm one cannot be is made anew: ports and namespaces of the host', async t => {
	const {ensure, wasWarm, spare, world} = aNode(t, {warm: few, allowPrivileged: true});
	const ready = await spare(few.count);
	await ensure('ports', {hostPorts: [{containerPort: 80, hostPort: 18_080, hostIP: undefined, protocol: 'TCP'}]});
	await ensure('network', {hostNetwork: true});
	await ensure('pid', {hostPID: true});
	await ensure('ipc', {hostIPC: true});
	for (const uid of ['ports', 'network', 'pid', 'ipc']) t.false(wasWarm(uid));
	t.deepEqual(await spare(few.count), ready);
	t.is((await world.left()).length, few.count + 4);
});

test.serial('none are made before the first pod, unless somebody asked for them; and none at all of 0', async t => {
	const quiet = aNode(t, {warm: {count: 2, fromStart: false}});
	const none = aNode(t, {warm: {count: 0, fromStart: true}});
	const asked = aNode(t);
	await asked.spare(few.count);
	t.deepEqual(await quiet.world.left(), []);
	await none.ensure('a');
	await quiet.ensure('a');
	await quiet.spare(2);
	t.is((await none.world.left()).length, 1);
});

/** Makes nothing in the kernel; `ensure` is what becomes of a pod's network. */
function aNetwork(ensure: PodNetwork['ensure']) {
	const free = new Set(['10.244.9.1', '10.244.9.2']);
	const network: PodNetwork = {
		isRouted: true,
		overlay: 'none',
		resolver: () => '169.254.1.1',
		isUsed: () => true,
		forwards: () => true,
		hostIP: undefined,
		adopt: () => undefined,
		begin: () => Promise.resolve(),
		take() {
			const [first = ''] = free;
			free.delete(first);
			return Promise.resolve(first);
		},
		free: address => void free.add(address),
		ensure,
		remove: () => Promise.resolve(),
		enter: () => [],
		fileOf: () => '',
		has: () => false,
		links: () => new Map(),
		learn: () => undefined,
		enforce: () => undefined,
		onProblem: () => undefined,
		close: () => undefined,
	};
	return {network, free};
}

test.serial('one that gets no network, or dies while it gets it, is replaced with the same address, and goes', async t => {
	const becomes: ((pid: number) => void | Promise<void>)[] = [
		() => {
			throw new Error('no cable');
		},
		pid => {
			process.kill(pid, 'SIGKILL');
			return until('it has ended', () => !isThere(pid));
		},
	];
	const {network, free} = aNetwork(async (_pod, of) => becomes.shift()?.(of?.pid ?? 0));
	const node = aNode(t, {warm: few, network});
	const {ensure, infra, wasWarm, spare, world, remove, engine} = node;
	const dead: string[] = [];
	for (const message of [/no cable/, /the infra container has ended/]) {
		await spare(few.count);
		await t.throwsAsync(ensure('a'), {message});
		t.true(wasWarm('a'));
		dead.push(infra('a'));
	}
	await spare(few.count);
	t.like(await ensure('a'), {podIP: '10.244.9.1', isRouted: true});
	t.true(wasWarm('a'));
	t.deepEqual([...free], ['10.244.9.2']);
	for (const id of dead) t.false((await world.left()).includes(id));
	t.is(new Set([...dead, infra('a')]).size, 3);
	t.is((await engine.docker('inspect', '-f', '{{json .NetworkSettings.Networks}}', infra('a'))).includes('"none"'), true);
	t.regex(await seenIn(node, 'a'), /^(a\n){3}127[^]*\n10\.244\.9\.1\ta\n/);
	await remove('a');
	t.is(free.size, 2);
	await spare(few.count);
	t.is((await world.left()).length, few.count);
});

test.serial('one that dies while it waits is replaced', async t => {
	const {engine, spare, warm, world} = aNode(t);
	const [first = '', second = ''] = await spare(few.count);
	for (const id of [first, second]) process.kill(await pidOf(engine, id), 'SIGKILL');
	const {podIP} = await warm('a');
	t.not(podIP, '');
	await until('others are ready', async () => {
		const ids = await spareIn(engine, world.directory);
		return ids.length === few.count && !ids.includes(first) && !ids.includes(second);
	});
	await until('what died is gone', async () => (await world.left()).length === few.count + 1);
});

test.serial('one whose files are not those of the Engine is not used', async t => {
	const node = aNode(t);
	const {engine, ensure, spare, wasWarm, world} = node;
	for (const id of await spare(few.count)) {
		const file = (await engine.docker('inspect', '-f', '{{.HostnamePath}}', id)).trim();
		await engine.docker('run', '--rm', '-v', `${file}:/f`, 'busybox', 'sh', '-c', 'echo other >/f');
	}
	await ensure('a');
	t.false(wasWarm('a'));
	t.regex(world.warnings.join('\n'), /made in advance cannot be used: what Docker's Engine calls its files of names is something else/);
	t.regex(await seenIn(node, 'a'), /^(a\n){3}127/);
});

for (const [how, liveRestore] of [
	['and its containers', false],
	['and not its containers', true],
] as const)
	test.serial(`an Engine is killed ${how}: what is ready afterwards can be used`, async t => {
		const engine = await startDockerd(t, {liveRestore});
		const node = aNode(t, {warm: few}, engine);
		const {world, warm, spare, start, aContainer} = node;
		await warm('a');
		await start(aContainer('runs', {uid: 'a'}));
		const before = await spare(few.count);
		await engine.kill();
		await engine.start();
		await until('the node is ready', () => world.runtime().info().conditions.length === 0, 60_000);
		if (!liveRestore) await until('the loss is told', () => world.events.some(({type}) => type === 'sandboxLost'));
		await until('others are ready', async () => {
			const ids = await spareIn(engine, world.directory);
			return ids.length === few.count && ids.every(id => before.includes(id) === liveRestore);
		});
		await warm('b');
		t.regex(await seenIn(node, 'b'), /^(b\n){3}127/);
		await until('nothing else is there', async () => (await world.left()).length <= few.count + 3);
	});

test.serial("without an agent they go with all that is the node's", async t => {
	const {world, warm, spare, start, aContainer, engine} = aNode(t);
	await world.stopAgent();
	const agent = startDockerAgent(t, engine, world.directory, {warm: few});
	await untilSpare(engine, world.directory, few.count);
	await agent.run({type: 'sandbox.ensure', spec: aSandbox('a')});
	await agent.run({type: 'container.start', spec: aContainer('runs', {uid: 'a'})});
	await spare(few.count);
	await agent.kill();
	t.is((await world.left()).length, few.count + 2);
	const address = {socketPath: engine.socketPath};
	t.is(await removeEverything(world.directory, {address, clock: systemClock, graceMs: 0}), 1);
	t.deepEqual(await world.left(), []);
	world.startAgent();
	await warm('b');
	await start(aContainer('runs', {uid: 'b'}));
	t.is((await engine.docker('ps', '-q', '--filter', `label=${labels.podUid}=b`)).trim().split('\n').length, 1);
});
