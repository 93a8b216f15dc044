// The seam between hosts: control in the broker's process, nodes that reach it over sockets alone, with the real rights of both.

import {createServer, type IncomingMessage} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {Duplex} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {AppError, type Outcome} from '../../../api/errors.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import {collectionAddress, objectAddress} from '../../../api/keys.js';
import {may, type Identity} from '../../../api/roles.js';
import {isNodeReady} from '../../../actors/control/scheduling/node-info.js';
import {openControl, type ControlSystem} from '../../../actors/control/start.js';
import type {LogRequest} from '../../../actors/node/runtime/runtime-port.js';
import {openNode, type NodeSystem} from '../../../actors/node/start.js';
import {createSimulatedRuntime} from '../../../agent/simulated-runtime.js';
import {createMqttSockets} from '../../../server/mqtt-socket.js';
import {createBroker, type Broker} from '../../../system/broker/broker.js';
import {brokerLinks} from '../../../system/links/broker-link.js';
import type {Message} from '../../../system/kernel/behavior.js';
import {systemClock} from '../../../system/time/clock.js';
import {createMemoryStore} from '../../../system/store/memory-store.js';
import type {Links} from '../../../system/links/link.js';
import {connectMqttLink} from '../../../system/links/mqtt-link.js';
import {createNactExecutor} from '../../../system/kernel/nact-executor.js';
import {systemRandom} from '../../../system/time/random.js';
import {openUplink} from '../../../system/presence/uplink.js';
import {wireTo} from '../_wire.js';
import {treeOf} from '../../system/kernel/actor-tree.js';

const executor = createNactExecutor(systemClock);
const nodeNames = ['node-tcp', 'node-ws'];

function opened<Value>(open: (done: (outcome: Outcome<Value>) => void) => void): Promise<Value> {
	return new Promise((resolve, reject) =>
		open(outcome => (outcome.ok ? resolve(outcome.value) : reject(new AppError(outcome.error.code, outcome.error.details)))),
	);
}

const common = (t: ExecutionContext) => ({
	executor,
	clock: systemClock,
	random: systemRandom,
	measure: true,
	boot: systemRandom.uuid(),
	driver: createMemoryStore(executor.defer),
	onFenced: (message: string) => t.fail(message),
});

const identityOf = (name: string | undefined, password: string | undefined): Identity | undefined =>
	name !== undefined && nodeNames.includes(name) && password === `secret of ${name}` ? {name, role: 'node', node: name} : undefined;

async function startControl(t: ExecutionContext, mayBeNode?: (name: string) => boolean): Promise<{control: ControlSystem; broker: Broker}> {
	const retainedSource = {match: () => [], owns: () => false};
	const broker = await createBroker<Identity>({clock: systemClock, authenticate: identityOf, may, retainedSource});
	const control = await opened<ControlSystem>(done =>
		openControl(
			{...common(t), links: brokerLinks(broker, 'control'), version: '0.0.0', ...(mayBeNode === undefined ? {} : {mayBeNode})},
			done,
		),
	);
	t.teardown(async () => {
		control.kill();
		await control.bus.close();
		await broker.close();
	});
	control.begin();
	return {control, broker};
}

/** By an uplink over TCP, or two connections over WebSocket. */
function linksOf(name: string, url: string): {readonly links: Links; readonly close: () => Promise<void>} {
	const login = {self: name, password: `secret of ${name}`};
	if (url.startsWith('mqtt:')) {
		const onRefused = (reason: string): never => {
			throw new Error(reason);
		};
		return openUplink({servers: () => [url], node: name, password: login.password, boot: systemRandom.uuid(), onRefused});
	}
	const links = {
		control: connectMqttLink({...login, url, clientId: `${name}-control`}),
		bulk: connectMqttLink({...login, url, clientId: `${name}-bulk`, lane: 'bulk'}),
	};
	return {links, close: async () => void (await Promise.all([links.control.close(), links.bulk.close()]))};
}

async function startNode(t: ExecutionContext, name: string, url: string): Promise<NodeSystem> {
	const {links, close} = linksOf(name, url);
	const runtime = createSimulatedRuntime({clock: systemClock, random: systemRandom});
	const node = await opened<NodeSystem>(done => openNode({...common(t), name, links, labels: {}, runtime}, done));
	t.teardown(async () => {
		node.kill();
		await node.bus.close();
		await close();
		await runtime.close();
	});
	node.begin();
	return node;
}

async function webSocketUrl(t: ExecutionContext, broker: Broker): Promise<string> {
	const sockets = createMqttSockets({onStream: stream => broker.attach(stream, 'ws')});
	const server = createServer();
	server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => sockets.upgrade(request, socket, head));
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		sockets.close();
		server.close();
	});
	return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mqtt`;
}

/** Resolves once the committed objects are as wanted; follows the ring, so nothing is polled. */
function when({index, ring}: ControlSystem, isAsWanted: () => boolean): Promise<void> {
	return new Promise(resolve => {
		if (isAsWanted()) return resolve();
		const watching = ring.watch(index.version, () => {
			if (!isAsWanted()) return;
			if (watching.ok) watching.cancel();
			resolve();
		});
	});
}

const readyNodes = ({index}: ControlSystem): number => [...index.list('nodes')].filter(node => isNodeReady(node as NodeObject)).length;

const readyReplicas = ({index}: ControlSystem): number | undefined =>
	(index.get('replicasets/default/web') as ReplicaSet | undefined)?.status?.readyReplicas;

const ask = ({system}: ControlSystem, to: string, message: Message): Promise<Outcome<unknown>> =>
	new Promise(resolve => system.ask(to, message, {deadlineMs: 10_000, cause: 'test'}, resolve));

const replicaSet = (replicas: number): Message & {readonly object: unknown} => {
	const template = {metadata: {labels: {app: 'web'}}, spec: {containers: [{name: 'main', image: 'x', command: ['serve']}]}};
	const spec = {replicas, selector: {matchLabels: {app: 'web'}}, template};
	return {type: 'create', object: {apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: {name: 'web', namespace: 'default'}, spec}};
};

const scale = (control: ControlSystem, replicas: number): Promise<Outcome<unknown>> => {
	const message: Message & {readonly patch: object} = {type: 'patch', patch: {spec: {replicas}}};
	return ask(control, 'troupe://control/replicasets/default.web', message);
};

test('nodes over TCP and over WebSocket run what control assigns, also while each of their connections is cut', async t => {
	t.timeout(30_000);
	const {control, broker} = await startControl(t);
	const {port} = await broker.listen('127.0.0.1', 0);
	const wire = await wireTo(t, port);
	await startNode(t, 'node-tcp', `mqtt://127.0.0.1:${wire.port}`);
	await startNode(t, 'node-ws', await webSocketUrl(t, broker));
	await when(control, () => readyNodes(control) === 2);
	t.true((await ask(control, collectionAddress('replicasets'), replicaSet(20))).ok);
	await when(control, () => readyReplicas(control) === 20);
	const nodes = new Set([...control.index.list('pods')].map(pod => (pod.spec as {nodeName?: string}).nodeName));
	t.deepEqual([...nodes].sort(), nodeNames);

	let wanted = 20;
	for (const what of ['control', 'bulk', 'beat', undefined] as const) {
		t.true(wire.cut(what) > 0, what);
		wanted += 5;
		t.true((await scale(control, wanted)).ok);
		t.true(wire.cut(what) >= 0);
		await when(control, () => readyReplicas(control) === wanted);
	}
	const uids = [...control.index.list('pods')].map(({metadata}) => metadata.uid);
	t.is(new Set(uids).size, wanted);
	t.deepEqual([control.bus.counters.refused, control.bus.counters.full], [0, 0]);
});

test('a log that is stuck on its way holds up nothing else, and arrives when it can', async t => {
	t.timeout(30_000);
	const {control, broker} = await startControl(t);
	const {port} = await broker.listen('127.0.0.1', 0);
	const wire = await wireTo(t, port);
	await startNode(t, 'node-tcp', `mqtt://127.0.0.1:${wire.port}`);
	await when(control, () => readyNodes(control) === 1);
	t.true((await ask(control, collectionAddress('replicasets'), replicaSet(1))).ok);
	await when(control, () => readyReplicas(control) === 1);
	const [pod] = [...control.index.list('pods')];
	const id = {uid: pod?.metadata.uid ?? '', container: 'main'};
	const request: LogRequest = {id, previous: false, offset: 0, tailLines: undefined, maxBytes: 1_000, waitMs: 0};
	const readLog: Message & {readonly request: LogRequest} = {type: 'readLog', request};

	const events: string[] = [];
	const letGo = wire.hold('bulk');
	const log = ask(control, 'troupe://node-tcp/runtime', readLog).then(outcome =>
		events.push(`log ${outcome.ok ? 'ok' : outcome.error.code}`),
	);
	t.true((await scale(control, 10)).ok);
	await when(control, () => readyReplicas(control) === 10);
	events.push('scaled');
	letGo();
	await log;
	t.deepEqual(events, ['scaled', 'log ok']);
});

test('a node without a login of the cluster is told so and does not come back by its hello, until it has one again', async t => {
	const logins = new Set<string>();
	const {control, broker} = await startControl(t, name => logins.has(name));
	const {port} = await broker.listen('127.0.0.1', 0);
	const node = await startNode(t, 'node-tcp', `mqtt://127.0.0.1:${port}`);
	const told = (): string => JSON.stringify(treeOf(node.system));
	while (!told().includes('has no login of a node')) await new Promise(resolve => setTimeout(resolve, 10));
	t.is(control.index.get('nodes/_/node-tcp'), undefined);
	logins.add('node-tcp');
	await when(control, () => control.index.get('nodes/_/node-tcp') !== undefined);
	while (!told().includes('in step')) await new Promise(resolve => setTimeout(resolve, 10));
	// Its Node goes with its login: what it says from then on changes nothing.
	logins.clear();
	await opened(done => control.system.ask(objectAddress('nodes/_/node-tcp'), {type: 'delete'}, {deadlineMs: 5_000, cause: 'test'}, done));
	while (!told().includes('has no login of a node')) await new Promise(resolve => setTimeout(resolve, 10));
	t.is(control.index.get('nodes/_/node-tcp'), undefined);
});
