// A node at the end of a slow wire that gets many large pods, beside one on a fast wire: what is under way to it, and what the other
// one notices.

import {connect, createServer, type AddressInfo, type Socket} from 'node:net';
import {setTimeout as pause} from 'node:timers/promises';
import {AppError, type Outcome} from '../../../api/errors.js';
import {collectionAddress} from '../../../api/keys.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import {may, type Identity} from '../../../api/roles.js';
import {inspectorOf} from '../../../actors/addresses.js';
import {isNodeReady} from '../../../actors/control/scheduling/node-info.js';
import {openControl, type ControlSystem} from '../../../actors/control/start.js';
import {openNode, type NodeSystem} from '../../../actors/node/start.js';
import {inspectMessage} from '../../../actors/inspector.js';
import {createSimulatedRuntime} from '../../../agent/simulated-runtime.js';
import {createBroker, type Broker} from '../../../system/broker/broker.js';
import {brokerLinks} from '../../../system/links/broker-link.js';
import type {Message} from '../../../system/kernel/behavior.js';
import {systemClock} from '../../../system/time/clock.js';
import type {Executor} from '../../../system/kernel/executor.js';
import type {Link, Links} from '../../../system/links/link.js';
import {createMemoryStore} from '../../../system/store/memory-store.js';
import {connectMqttLink, type MqttLink} from '../../../system/links/mqtt-link.js';
import {createNactExecutor} from '../../../system/kernel/nact-executor.js';
import {systemRandom} from '../../../system/time/random.js';
import type {Owner} from '../owner.js';

export type SlowNodeOptions = {
	readonly pods: number;
	/** Of each pod. */
	readonly podBytes: number;
	/** What the wire takes to the slow node. */
	readonly bytesPerSecond: number;
	readonly withinMs: number;
};

export type SlowNodeFigures = {
	/** From the creation of the pods until all of them run. */
	readonly inStepMs: number;
	/** Of packets to the slow node that it has not acknowledged, the most at a time. */
	readonly mostUnderWayBytes: number;
	/** Round trips between control and the other node, before and meanwhile. */
	readonly quietMs: readonly number[];
	readonly meanwhileMs: readonly number[];
	/** Connections that the broker cut, and connections that the slow node needed. */
	readonly cut: number;
	readonly connects: number;
};

const slow = 'slow';
const fast = 'fast';
const quietTrips = 100;
const tripEveryMs = 10;

export async function runSlowNode(owner: Owner, options: SlowNodeOptions): Promise<SlowNodeFigures> {
	const executor = createNactExecutor(systemClock);
	owner.teardown(() => executor.close());
	const {control, broker, underWay} = await startControl(owner, executor);
	const {port} = await broker.listen('127.0.0.1', 0);
	const wire = await throttledWire(owner, port, options.bytesPerSecond);
	await startNode(owner, executor, fast, port);
	const link = await startNode(owner, executor, slow, wire);
	await until(() => [...control.index.list('nodes')].filter(node => isNodeReady(node as NodeObject)).length === 2, options.withinMs);

	const quietMs: number[] = [];
	while (quietMs.length < quietTrips) quietMs.push(await trip(control));
	const startedAt = performance.now();
	for (let at = 0; at < options.pods; at += 1) await created(control, at, options.podBytes);
	const meanwhileMs: number[] = [];
	const isInStep = (): boolean =>
		[...control.index.list('pods')].filter(pod => (pod.status as {phase?: string}).phase === 'Running').length === options.pods;
	const trips = (async () => {
		while (!isInStep()) {
			meanwhileMs.push(await trip(control));
			await pause(tripEveryMs);
		}
	})();
	await Promise.race([trips, tooLate(options.withinMs)]);
	const {cutStalled, cutOverflow} = broker.counters();
	return {
		inStepMs: performance.now() - startedAt,
		mostUnderWayBytes: underWay(),
		quietMs,
		meanwhileMs,
		cut: cutStalled + cutOverflow,
		connects: link.counters().connects,
	};
}

async function tooLate(withinMs: number): Promise<never> {
	await pause(withinMs, undefined, {ref: false});
	throw new Error(`the slow node is not in step within ${withinMs / 1_000} s`);
}

const common = (executor: Executor) => ({
	executor,
	clock: systemClock,
	random: systemRandom,
	measure: true,
	boot: systemRandom.uuid(),
	driver: createMemoryStore(executor.defer),
	onFenced: () => undefined,
});

const opened = <Value>(open: (done: (outcome: Outcome<Value>) => void) => void): Promise<Value> =>
	new Promise((resolve, reject) =>
		open(outcome => (outcome.ok ? resolve(outcome.value) : reject(new AppError(outcome.error.code, outcome.error.details)))),
	);

async function startControl(owner: Owner, executor: Executor): Promise<{control: ControlSystem; broker: Broker; underWay: () => number}> {
	const broker = await createBroker<Identity>({
		clock: systemClock,
		authenticate: name => (name === undefined ? undefined : {name, role: 'node', node: name}),
		may,
		retainedSource: {match: () => [], owns: () => false},
	});
	owner.teardown(() => broker.close());
	const {links, most} = watched(brokerLinks(broker, 'control'));
	const control = await opened<ControlSystem>(done => openControl({...common(executor), links, version: '0.0.0'}, done));
	owner.teardown(async () => {
		control.kill();
		await control.bus.close();
	});
	control.begin();
	return {control, broker, underWay: most};
}

/** The same links, with what is under way to the slow node counted. */
function watched(links: Links): {readonly links: Links; readonly most: () => number} {
	const open = new Map<number, number>();
	let most = 0;
	const control: Link = {
		...links.control,
		send(to, packet) {
			if (to === slow && packet.sequence > 0) {
				open.set(packet.sequence, JSON.stringify(packet.body).length);
				most = Math.max(
					most,
					[...open.values()].reduce((sum, bytes) => sum + bytes, 0),
				);
			}
			links.control.send(to, packet);
		},
		onPacket(listener) {
			links.control.onPacket((from, packet) => {
				if (from === slow) for (const sequence of open.keys()) if (sequence <= packet.acknowledged) open.delete(sequence);
				listener(from, packet);
			});
		},
	};
	return {links: {...links, control}, most: () => most};
}

async function startNode(owner: Owner, executor: Executor, name: string, port: number): Promise<MqttLink> {
	const options = {url: `mqtt://127.0.0.1:${port}`, self: name, password: 'x'};
	const control = connectMqttLink({...options, clientId: `${name}.1.control`});
	const bulk = connectMqttLink({...options, clientId: `${name}.1.bulk`, lane: 'bulk'});
	const runtime = createSimulatedRuntime({clock: systemClock, random: systemRandom});
	const node = await opened<NodeSystem>(done =>
		openNode({...common(executor), name, links: {control, bulk}, labels: {speed: name}, runtime}, done),
	);
	owner.teardown(async () => {
		node.kill();
		await node.bus.close();
		await runtime.close();
	});
	node.begin();
	return control;
}

/** Ends at the port; to the client it takes so much in a second. */
async function throttledWire(owner: Owner, port: number, bytesPerSecond: number): Promise<number> {
	const sockets = new Set<Socket>();
	const server = createServer(near => {
		const far = connect(port, '127.0.0.1');
		for (const socket of [near, far]) {
			sockets.add(socket);
			socket.on('error', () => undefined);
			socket.on('close', () => {
				near.destroy();
				far.destroy();
			});
		}
		near.on('data', (bytes: Buffer) => void far.write(bytes));
		far.on('data', (bytes: Buffer) => {
			far.pause();
			near.write(bytes);
			setTimeout(() => far.resume(), (bytes.length * 1_000) / bytesPerSecond);
		});
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	owner.teardown(() => {
		server.close();
		for (const socket of sockets) socket.destroy();
	});
	return (server.address() as AddressInfo).port;
}

async function until(isSo: () => boolean, withinMs: number): Promise<void> {
	const endMs = performance.now() + withinMs;
	while (!isSo()) {
		if (performance.now() > endMs) throw new Error(`not within ${withinMs / 1_000} s`);
		await pause(5);
	}
}

/** Control asks the other node for its tree. */
async function trip({system}: ControlSystem): Promise<number> {
	const startedAt = performance.now();
	const outcome = await new Promise<Outcome<unknown>>(resolve =>
		system.ask(inspectorOf(fast), inspectMessage({verb: 'tree', place: fast}), {deadlineMs: 10_000, cause: 'bench'}, resolve),
	);
	if (!outcome.ok) throw new Error(outcome.error.message);
	return performance.now() - startedAt;
}

async function created({system}: ControlSystem, at: number, bytes: number): Promise<void> {
	const containers = [{name: 'main', image: 'x', command: ['serve'], args: ['x'.repeat(bytes)]}];
	const object = {
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {name: `large-${at}`, namespace: 'default'},
		spec: {containers, nodeSelector: {speed: slow}},
	};
	const message: Message & {object: unknown} = {type: 'create', object};
	const outcome = await new Promise<Outcome<unknown>>(resolve =>
		system.ask(collectionAddress('pods'), message, {deadlineMs: 10_000, cause: 'bench'}, resolve),
	);
	if (!outcome.ok) throw new Error(outcome.error.message);
}
