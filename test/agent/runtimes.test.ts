import test, {type ExecutionContext} from 'ava';
import {joinRuntimes, type RuntimesOptions} from '../../agent/runtimes.js';
import {createSimulatedRuntime} from '../../agent/simulated-runtime.js';
import {createSimulatedHost, createSimulatedNetwork, type SimulatedHost} from '../../agent/simulated/host.js';
import type {SimulatedScript} from '../../agent/simulated/script.js';
import type {Runtime, RuntimeEvent, VolumeSpec} from '../../actors/node/runtime/runtime-port.js';
import type {RuntimeInfo} from '../../actors/protocol/runtime-info.js';
import type {RuntimeClass} from '../../api/runtime-class.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {seededRandom} from '../../system/time/random.js';
import {aContainer, driver, runtimeContract, type World} from './runtime-contract.js';
import {aSandbox} from './_sandbox.js';

type Side = {
	readonly host: SimulatedHost;
	info: Partial<RuntimeInfo>;
	script: SimulatedScript;
	tell: (event: RuntimeEvent) => void;
};

type Options = Pick<RuntimesOptions, 'isDockerOptional' | 'onDocker'> & {readonly without?: RuntimeClass};

/** A node of two simulated runtimes in virtual time; each says of itself what the test says. */
function joinedWorld({without, ...options}: Options = {}) {
	const clock = new ManualClock();
	const network = createSimulatedNetwork();
	const sideOf = (name: RuntimeClass): Side => ({
		host: createSimulatedHost(clock, network),
		info: {name, version: '1', classes: [name], features: [], conditions: []},
		script: {},
		tell: () => undefined,
	});
	const sides: Readonly<Record<RuntimeClass, Side>> = {process: sideOf('process'), docker: sideOf('docker')};
	const runtimeOf = (side: Side): Runtime => {
		const {host} = side;
		const script: SimulatedScript = {treat: (command, random) => side.script.treat?.(command, random) ?? {type: 'answers', afterMs: 0}};
		const runtime = createSimulatedRuntime({clock, random: seededRandom(1), host, script});
		return {...runtime, info: () => ({...runtime.info(), ...side.info}), onEvent: listener => void (side.tell = listener)};
	};
	const make = (): Runtime =>
		joinRuntimes({
			...options,
			runtimes: {
				...(without === 'process' ? {} : {process: runtimeOf(sides.process)}),
				...(without === 'docker' ? {} : {docker: runtimeOf(sides.docker)}),
			},
		});
	let runtime = make();
	const world: World = {
		runtime: () => runtime,
		async settle(promise) {
			let settled = false;
			void promise.then(() => (settled = true));
			const turn = async (): Promise<void> => {
				for (let i = 0; i < 20; i++) await Promise.resolve();
			};
			for (await turn(); !settled && clock.fireNext();) await turn();
			return promise;
		},
		kill: ({uid, container}) => void Object.values(sides).some(({host}) => host.crash(uid, container, 137)),
		stopAgent: () => runtime.close(),
		startAgent: () => void (runtime = make()),
		reboot() {
			for (const {host} of Object.values(sides)) host.reboot();
			return Promise.resolve();
		},
		gone: () => Promise.resolve(),
	};
	return {...world, sides, clock};
}

runtimeContract(test, 'two runtimes', () => joinedWorld());
runtimeContract(test, 'one of two runtimes', () => joinedWorld({without: 'docker'}));

/** A node with a pod of each class: `uid-1` of process, `uid-2` of docker, each with a container that runs. */
async function mixed(t: ExecutionContext, options: Options = {}) {
	const world = joinedWorld(options);
	const drive = driver(world);
	const {run, value, start} = drive;
	for (const [uid, runtimeClass] of [
		['uid-1', 'process'],
		['uid-2', 'docker'],
	] as const) {
		await value(run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: aSandbox(uid, {runtimeClass})}));
		await start(aContainer('runs', {uid}));
	}
	t.deepEqual([...world.sides.process.host.pods.keys()], ['uid-1']);
	t.deepEqual([...world.sides.docker.host.pods.keys()], ['uid-2']);
	return {world, ...drive};
}

test('each pod is run by the runtime of its class, and the lists are one', async t => {
	const {world, list, stop, ends, remove, log} = await mixed(t);
	t.deepEqual(await list(), ['uid-1', 'uid-2']);
	t.true((await log({uid: 'uid-2', container: 'main'})).ok);
	t.is((await stop({uid: 'uid-2', container: 'main'}, 0))?.exitCode, 137);
	t.is((await ends(1))[0]?.id.uid, 'uid-2');
	await remove('uid-2');
	t.deepEqual(await list(), ['uid-1']);
	t.is(world.sides.docker.host.pods.size, 0);
});

test('the next agent finds each pod where it is, also for what is asked in one breath', async t => {
	const {world, restartAgent, inspect, stop, list} = await mixed(t);
	await restartAgent();
	const [running, exit] = await Promise.all([inspect({uid: 'uid-2', container: 'main'}), stop({uid: 'uid-2', container: 'main'}, 0)]);
	t.is(running.running?.attempt, 0);
	t.is(exit?.exitCode, 137);
	t.not((await inspect({uid: 'uid-1', container: 'main'})).running, undefined);
	await restartAgent();
	await driver(world).remove('uid-2');
	t.deepEqual(await list(), ['uid-1']);
});

test('where a runtime does not say what it has, nothing is taken for gone', async t => {
	const {world, restartAgent, run} = await mixed(t);
	await restartAgent();
	world.sides.docker.script = {
		treat: command =>
			command.type === 'sandbox.list' ? {type: 'fails', afterMs: 5, message: 'the disk does not answer'} : {type: 'answers', afterMs: 0},
	};
	for (const outcome of [
		await run({type: 'sandbox.remove', uid: 'uid-2'}),
		await run({type: 'sandbox.list'}),
		await run({type: 'container.inspect', id: {uid: 'uid-2', container: 'main'}}),
	])
		t.like(outcome, {ok: false, error: {code: 'ERR_RUNTIME', message: 'the disk does not answer'}});
	t.is(world.sides.docker.host.pods.size, 1);
});

test('a pod of a class that is not run here is refused, and one that runs never changes its class', async t => {
	const {run} = await mixed(t);
	const {ok, ...rest} = await run({type: 'sandbox.ensure', spec: aSandbox('uid-2')});
	t.false(ok);
	t.like(rest, {error: {message: 'the pod runs as class "docker" and cannot become "process"'}});
	const alone = driver(joinedWorld({without: 'docker'}));
	t.like(await alone.run({type: 'sandbox.ensure', spec: aSandbox('uid-3', {runtimeClass: 'docker'})}), {
		ok: false,
		error: {code: 'ERR_RUNTIME', message: 'the agent of this node runs no pods of class "docker" (--runtime)'},
	});
});

test('sessions go to the runtime that opened them, though both count from one', async t => {
	const {exec, value, hear, run} = await mixed(t);
	const sessions = await Promise.all(['uid-1', 'uid-2'].map(async uid => value(exec({uid, container: 'main'}, ['echo', uid]))));
	t.not(sessions[0]?.session, sessions[1]?.session);
	for (const [index, {session}] of sessions.entries()) {
		const {parts} = await value(hear(session));
		t.regex(Buffer.concat(parts.map(({data}) => Buffer.from(data, 'base64'))).toString(), new RegExp(`uid-${index + 1}`));
		t.true((await run({type: 'exec.close', session})).ok);
	}
	for (const session of ['exec-1', 'elsewhere/exec-1', '', '/'])
		t.like(await run({type: 'exec.read', session, maxBytes: 1, waitMs: 0}), {ok: false, error: {code: 'ERR_NOT_FOUND'}});
});

test('a volume is not removed while a pod of either runtime has it', async t => {
	const {world, run, value, remove} = await mixed(t);
	const {process: one, docker: other} = world.sides;
	const volumes: readonly VolumeSpec[] = [{name: 'data', source: {type: 'local', volume: 'pv-1', path: '/simulated/volumes/pv-1'}}];
	one.host.localVolumes.add('pv-1');
	await value(run<'volumes.ensure'>({type: 'volumes.ensure', uid: 'uid-2', namespace: 'default', volumes, fsGroup: undefined}));
	t.like(await run({type: 'volume.remove', volume: 'pv-1'}), {
		ok: false,
		error: {code: 'ERR_RUNTIME', message: 'volume "pv-1" is still used by the pod with uid uid-2'},
	});
	t.deepEqual([one.host.localVolumes.has('pv-1'), other.host.localVolumes.has('pv-1')], [true, true]);
	await remove('uid-2');
	await value(run<'volume.remove'>({type: 'volume.remove', volume: 'pv-1'}));
	t.false(one.host.localVolumes.has('pv-1'));
});

const away = {type: 'DockerNotReady', reason: 'EngineGone', message: 'nothing listens at unix:///var/run/docker.sock'};
const shared = {type: 'SharedNetwork', reason: 'ProcessRuntime', message: 'pods share it'};

test('a node tells what both run, and of an Engine that goes and comes', t => {
	const events: RuntimeEvent[] = [];
	let answered = 0;
	const world = joinedWorld({onDocker: () => void answered++});
	const {process: one, docker: other} = world.sides;
	world.runtime().onEvent(event => void events.push(event));
	one.info = {...one.info, features: ['users', 'volumes'], conditions: [shared]};
	other.info = {...other.info, name: 'docker', version: '20.10.24', features: ['privileged', 'terminal'], conditions: [shared]};
	t.like(world.runtime().info(), {
		name: 'docker',
		version: '20.10.24',
		classes: ['process', 'docker'],
		features: ['users', 'volumes', 'privileged'],
		conditions: [shared],
	});
	other.info = {...other.info, classes: [], features: [], conditions: [away]};
	other.tell({type: 'infoChanged'});
	t.like(world.runtime().info(), {name: 'process', version: '1', classes: ['process'], conditions: [shared, away]});
	other.tell({type: 'sandboxLost', uid: 'uid-2', namespace: 'default', podName: 'web'});
	t.deepEqual(
		events.map(({type}) => type),
		['infoChanged', 'sandboxLost'],
	);
	t.is(answered, 1);
});

test('a node where nobody asked for Docker is silent about it until it was there, or a pod of it is', async t => {
	const events: RuntimeEvent[] = [];
	let answered = 0;
	const world = joinedWorld({isDockerOptional: true, onDocker: () => void answered++});
	const {docker} = world.sides;
	docker.info = {classes: [], features: [], conditions: [away]};
	world.startAgent();
	world.runtime().onEvent(event => void events.push(event));
	answered = 0;
	t.deepEqual(world.runtime().info().conditions, []);
	docker.info = {classes: ['docker'], features: [], conditions: []};
	docker.tell({type: 'infoChanged'});
	t.is(answered, 1);
	docker.info = {classes: [], features: [], conditions: [away]};
	t.deepEqual(world.runtime().info().conditions, [away]);

	docker.host.ensurePod(aSandbox('uid-9', {name: 'web'}));
	world.startAgent();
	world.runtime().onEvent(event => void events.push(event));
	t.deepEqual(world.runtime().info().conditions, []);
	events.length = 0;
	await driver(world).list();
	t.deepEqual(events, [{type: 'infoChanged'}]);
	t.deepEqual(world.runtime().info().conditions, [away]);
});

test('images are those of Docker', async t => {
	const {run, value} = await mixed(t);
	const {images} = await value(run<'image.list'>({type: 'image.list'}));
	t.deepEqual(images, []);
	t.like(await run({type: 'image.open', request: {action: 'load'}}), {ok: false, error: {code: 'ERR_BAD_REQUEST'}});
});

test('a runtime of nothing is a mistake of its maker', t => {
	t.throws(() => joinRuntimes({runtimes: {}}), {message: 'there is no runtime to join'});
});
