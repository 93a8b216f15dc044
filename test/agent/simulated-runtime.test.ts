import test from 'ava';
import {createSimulatedRuntime} from '../../agent/simulated-runtime.js';
import {createSimulatedHost, createSimulatedNetwork, type SimulatedHost} from '../../agent/simulated/host.js';
import type {SimulatedScript} from '../../agent/simulated/script.js';
import type {Runtime} from '../../actors/node/runtime/runtime-port.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {seededRandom} from '../../system/time/random.js';
import {lostSandboxContract} from './lost-sandbox-contract.js';
import {aContainer, driver, runtimeContract, type World} from './runtime-contract.js';
import {aSandbox} from './_sandbox.js';

/** A node in virtual time: time moves from timer to timer as long as something is waited for. */
function simulatedWorld(script?: SimulatedScript): World & {readonly host: SimulatedHost; readonly clock: ManualClock} {
	const clock = new ManualClock();
	const host = createSimulatedHost(clock);
	const make = (): Runtime => createSimulatedRuntime({clock, random: seededRandom(1), host, script});
	let runtime = make();
	return {
		clock,
		host,
		runtime: () => runtime,
		async settle(promise) {
			let settled = false;
			void promise.then(() => (settled = true));
			// Whoever waits together gets its turn before time moves.
			const turn = async (): Promise<void> => {
				for (let i = 0; i < 20; i++) await Promise.resolve();
			};
			for (await turn(); !settled && clock.fireNext();) await turn();
			return promise;
		},
		kill: ({uid, container}) => void host.crash(uid, container, 137),
		stopAgent: () => runtime.close(),
		startAgent() {
			runtime = make();
		},
		reboot() {
			host.reboot();
			return Promise.resolve();
		},
		gone: () => Promise.resolve(),
	};
}

runtimeContract(test, 'simulated', () => simulatedWorld());
lostSandboxContract(test, 'simulated', () => {
	const world = simulatedWorld();
	return {
		...world,
		loseSandbox(uid) {
			world.host.loseSandbox(uid);
			return Promise.resolve();
		},
	};
});

test('what an image runs by itself is pretended, too: a container needs no command', async t => {
	const {ensure, start, inspect, ends} = driver(simulatedWorld());
	await ensure('uid-1');
	const {id} = aContainer('runs');
	await start(aContainer('runs', {image: 'nginx', argv: []}));
	t.not((await inspect(id)).running, undefined);
	await start(aContainer('runs', {image: 'simulated/exit-7', argv: [], container: 'other'}));
	t.is((await ends(1))[0]?.exit.exitCode, 7);
});

test('a program ends when its image says so', async t => {
	const world = simulatedWorld();
	const {ensure, start, ends} = driver(world);
	await ensure('uid-1');
	const {startedAtMs} = await start(aContainer('runs', {image: 'simulated/exit-7-after-1500ms'}));
	const [end] = await ends(1);
	t.is(end?.exit.exitCode, 7);
	t.is(end?.exit.finishedAtMs, startedAtMs + 1_500);
});

test('a script decides which commands fail, how late they answer, and which never do', t => {
	const script: SimulatedScript = {
		treat: command => {
			if (command.type !== 'container.start') return {type: 'answers', afterMs: 0};
			if (command.spec.attempt === 0) return {type: 'fails', afterMs: 10, message: 'no space is left on the disk'};
			if (command.spec.attempt === 1) return {type: 'isSilent', acts: false};
			if (command.spec.attempt === 2) return {type: 'answers', afterMs: 25};
			return {type: 'isSilent', acts: true};
		},
	};
	const {clock, runtime, host} = simulatedWorld(script);
	const heard: string[] = [];
	runtime().run({type: 'sandbox.ensure', spec: aSandbox('uid-1', {name: 'p', hostname: 'p'})}, () => undefined);
	clock.advance(0);
	for (const attempt of [0, 1, 2]) {
		runtime().run({type: 'container.start', spec: aContainer('runs', {attempt})}, outcome =>
			heard.push(`${attempt} after ${clock.nowMs() - 1_700_000_000_000} ms: ${outcome.ok ? 'runs' : outcome.error.message}`),
		);
	}
	clock.advance(1_000);
	t.deepEqual(heard, ['0 after 10 ms: no space is left on the disk', '2 after 25 ms: runs']);
	host.crash('uid-1', 'main', 1);
	runtime().run({type: 'container.start', spec: aContainer('runs', {attempt: 3})}, () => heard.push('3'));
	clock.advance(1_000);
	t.is(heard.length, 2);
	t.is(host.find({uid: 'uid-1', container: 'main'})?.spec.attempt, 3);
	t.is(host.find({uid: 'uid-1', container: 'main'})?.exit, undefined);
});

test('a host without an agent goes on, and a container that nobody adopted is not told', async t => {
	const world = simulatedWorld();
	const {ensure, start, inspect, restartAgent, told} = driver(world);
	await ensure('uid-1');
	await start(aContainer('runs', {image: 'simulated/exit-4-after-100ms'}));
	await restartAgent(() => {
		world.clock.advance(100);
		return Promise.resolve();
	});
	t.is((await inspect({uid: 'uid-1', container: 'main'})).lastExit?.exitCode, 4);
	t.deepEqual(told, []);
});

test('10,000 pods on 1,000 nodes are light, have addresses of their own, and leave no timer', t => {
	const clock = new ManualClock();
	const network = createSimulatedNetwork();
	const random = seededRandom(1);
	const addresses = new Set<string>();
	let started = 0;
	const nodes = Array.from({length: 1_000}, () => createSimulatedRuntime({clock, random, host: createSimulatedHost(clock, network)}));
	for (const [index, node] of nodes.entries()) {
		for (let pod = 0; pod < 10; pod++) {
			const uid = `uid-${index}-${pod}`;
			node.run({type: 'sandbox.ensure', spec: aSandbox(uid, {name: uid})}, outcome => {
				if (outcome.ok) addresses.add(outcome.value.podIP);
			});
			node.run({type: 'container.start', spec: aContainer('runs', {uid})}, outcome => void (outcome.ok && started++));
		}
	}
	clock.advance(0);
	t.is(addresses.size, 10_000);
	t.is(started, 10_000);
	t.is(clock.nextAtMs(), undefined);
});

test('a pull takes as long as the script says, tells how far it is, and may fail', async t => {
	const world = simulatedWorld({
		pull: image => (image === 'absent' ? {ms: 10, problem: 'manifest unknown'} : {ms: 2_500, bytes: 1_000}),
	});
	const {run} = driver(world);
	const told: unknown[] = [];
	world.runtime().onEvent(event => told.push(event.type === 'pulling' ? [event.percent, event.bytes, event.totalBytes] : event));
	const ensure = (image: string, policy: 'Always' | 'IfNotPresent' | 'Never') => {
		const {id, namespace, podName} = aContainer('runs');
		return run<'image.ensure'>({type: 'image.ensure', id, namespace, podName, image, policy, secrets: []});
	};
	t.like(await ensure('web', 'Never'), {ok: false, error: {code: 'ERR_IMAGE_ABSENT'}});
	t.like(await ensure('absent', 'IfNotPresent'), {ok: false, error: {code: 'ERR_IMAGE_PULL', message: 'manifest unknown'}});
	const startedAtMs = world.clock.nowMs();
	const pulled = await ensure('web', 'IfNotPresent');
	t.deepEqual(pulled, {ok: true, value: {imageId: 'simulated:web', pulled: {ms: 2_500, bytes: 1_000}}});
	t.is(world.clock.nowMs() - startedAtMs, 2_500);
	t.deepEqual(told, [
		[40, 400, 1_000],
		[80, 800, 1_000],
	]);
	for (const policy of ['IfNotPresent', 'Never'] as const)
		t.deepEqual(await ensure('web', policy), {ok: true, value: {imageId: 'simulated:web'}});
	t.like(await ensure('web', 'Always'), {value: {pulled: {ms: 2_500}}});
	const listed = {id: 'simulated:web', names: ['web'], bytes: 1_000};
	t.like(await run<'image.list'>({type: 'image.list'}), {value: {images: [{...listed, inUse: false}]}});
	await driver(world).ensure('uid-1');
	const {imageId} = await driver(world).start(aContainer('runs', {image: 'web', imageId: 'simulated:web'}));
	t.is(imageId, 'simulated:web');
	t.like(await run<'image.list'>({type: 'image.list'}), {value: {images: [{...listed, inUse: true}]}});
});

test('an instance of a function starts, serves and is connected to like any program, and nothing else is one', async t => {
	const {ensure, start, act, run, value} = driver(simulatedWorld());
	await ensure('uid-1');
	await ensure('uid-2');
	const instance = {artifact: `sha256:${'0'.repeat(64)}`, runtime: 'python', concurrency: 1, timeoutMs: 1_000} as const;
	const {id} = aContainer('runs', {container: 'function'});
	await start(aContainer('runs', {container: 'function', argv: [], function: instance}));
	t.true((await value(act(id, {type: 'runnerListens'}))).ok);
	const open = (uid: string) => run<'forward.open'>({type: 'forward.open', request: {uid, port: 'function'}});
	t.true((await open('uid-1')).ok);
	await start(aContainer('runs', {uid: 'uid-2', container: 'function'}));
	const refused = await open('uid-2');
	t.is(refused.ok ? '' : refused.error.message, 'the pod with uid uid-2 is no instance of a function');
});
