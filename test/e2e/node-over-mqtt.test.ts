// The seam between hosts: control in the broker's process, nodes that reach it over sockets alone, with the real rights of both.

import {createServer, type IncomingMessage} from 'node:http';
import {connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {AppError, type Outcome} from '../../api/errors.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {collectionAddress} from '../../api/keys.js';
import {may, type Identity} from '../../api/roles.js';
import {isNodeReady} from '../../actors/control/placement.js';
import {openControl, type Control} from '../../actors/control/start.js';
import {openNode, type Node} from '../../actors/node/start.js';
import {createSimulatedRuntime} from '../../agent/simulated-runtime.js';
import {createMqttSockets} from '../../server/mqtt-socket.js';
import {createBroker, type Broker} from '../../system/broker.js';
import {brokerLink} from '../../system/broker/broker-link.js';
import type {Message} from '../../system/behavior.js';
import {systemClock} from '../../system/clock.js';
import {createMemoryStore} from '../../system/memory-store.js';
import {connectMqttLink} from '../../system/mqtt-link.js';
import {createNactExecutor} from '../../system/nact-executor.js';
import {systemRandom} from '../../system/random.js';

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

async function startControl(t: ExecutionContext): Promise<{control: Control; broker: Broker}> {
	const retainedSource = {match: () => [], owns: () => false};
	const broker = await createBroker<Identity>({clock: systemClock, authenticate: identityOf, may, retainedSource});
	const control = await opened<Control>(done => openControl({...common(t), link: brokerLink(broker, 'control'), version: '0.0.0'}, done));
	t.teardown(async () => {
		control.kill();
		await control.bus.close();
		await broker.close();
	});
	control.begin();
	return {control, broker};
}

async function startNode(t: ExecutionContext, name: string, url: string): Promise<Node> {
	const link = connectMqttLink({url, self: name, password: `secret of ${name}`, clientId: `${name}-boot`});
	const runtime = createSimulatedRuntime({clock: systemClock, random: systemRandom});
	const node = await opened<Node>(done => openNode({...common(t), name, link, labels: {}, runtime}, done));
	t.teardown(async () => {
		node.kill();
		await node.bus.close();
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

/** A wire that can be cut: what goes through it ends at once, and what comes next goes through again. */
async function wireTo(t: ExecutionContext, port: number): Promise<{port: number; cut: () => number}> {
	const sockets = new Set<Socket>();
	const server: Server = createTcpServer(near => {
		const far = connect(port, '127.0.0.1');
		for (const [from, to] of [[near, far] as const, [far, near] as const]) {
			sockets.add(from);
			from.on('error', () => undefined);
			from.on('close', () => {
				sockets.delete(from);
				to.destroy();
			});
			from.pipe(to);
		}
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	const cut = (): number => {
		const count = sockets.size;
		for (const socket of sockets) socket.destroy();
		return count;
	};
	t.teardown(() => {
		server.close();
		cut();
	});
	return {port: (server.address() as AddressInfo).port, cut};
}

/** Resolves once the committed objects are as wanted; follows the ring, so nothing is polled. */
function when({index, ring}: Control, isAsWanted: () => boolean): Promise<void> {
	return new Promise(resolve => {
		if (isAsWanted()) return resolve();
		const watching = ring.watch(index.version, () => {
			if (!isAsWanted()) return;
			if (watching.ok) watching.cancel();
			resolve();
		});
	});
}

const readyNodes = ({index}: Control): number => [...index.list('nodes')].filter(node => isNodeReady(node as NodeObject)).length;

const readyReplicas = ({index}: Control): number | undefined =>
	(index.get('replicasets/default/web') as ReplicaSet | undefined)?.status?.readyReplicas;

const ask = ({system}: Control, to: string, message: Message): Promise<Outcome<unknown>> =>
	new Promise(resolve => system.ask(to, message, {deadlineMs: 10_000, cause: 'test'}, resolve));

test('nodes over TCP and over WebSocket run what control assigns, also after their wire was cut', async t => {
	t.timeout(30_000);
	const {control, broker} = await startControl(t);
	const {port} = await broker.listen('127.0.0.1', 0);
	const wire = await wireTo(t, port);
	await startNode(t, 'node-tcp', `mqtt://127.0.0.1:${wire.port}`);
	await startNode(t, 'node-ws', await webSocketUrl(t, broker));
	await when(control, () => readyNodes(control) === 2);
	const template = {metadata: {labels: {app: 'web'}}, spec: {containers: [{name: 'main', image: 'x', command: ['serve']}]}};
	const object = {
		apiVersion: 'apps/v1',
		kind: 'ReplicaSet',
		metadata: {name: 'web', namespace: 'default'},
		spec: {replicas: 20, selector: {matchLabels: {app: 'web'}}, template},
	};
	const created: Message & {object: unknown} = {type: 'create', object};
	t.true((await ask(control, collectionAddress('replicasets'), created)).ok);
	await when(control, () => readyReplicas(control) === 20);
	const nodes = new Set([...control.index.list('pods')].map(pod => (pod.spec as {nodeName?: string}).nodeName));
	t.deepEqual([...nodes].sort(), nodeNames);

	t.true(wire.cut() > 0);
	const scaled: Message & {patch: object} = {type: 'patch', patch: {spec: {replicas: 40}}};
	t.true((await ask(control, 'troupe://control/replicasets/default.web', scaled)).ok);
	t.true(wire.cut() >= 0);
	await when(control, () => readyReplicas(control) === 40);
	const uids = [...control.index.list('pods')].map(({metadata}) => metadata.uid);
	t.is(new Set(uids).size, 40);
	t.deepEqual([control.bus.counters.refused, control.bus.counters.full], [0, 0]);
});
