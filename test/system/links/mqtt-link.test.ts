import {createServer, type IncomingMessage} from 'node:http';
import {createServer as createTcpServer, type AddressInfo, type Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {createWebSocketStream, WebSocketServer} from 'ws';
import {limits} from '../../../api/limits.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {may, type Identity} from '../../../api/roles.js';
import {createBroker, type Broker, type BrokerOptions} from '../../../system/broker/broker.js';
import {brokerLink, brokerLinks, brokerPubSub} from '../../../system/links/broker-link.js';
import {decodePacket, encodePacket} from '../../../system/links/packet-codec.js';
import type {Links, Packet} from '../../../system/links/link.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {connectMqttLink, type MqttLink, type MqttLinkOptions} from '../../../system/links/mqtt-link.js';
import {loggedIn, noRetained, passwordOf, startBroker} from '../broker/broker-rig.js';
import {lanesContract, linkContract} from './link-contract.js';

/** Connects and waits until the inbox is subscribed. */
async function join(t: ExecutionContext, url: string, self: string, options: Partial<MqttLinkOptions> = {}): Promise<MqttLink> {
	const link = await new Promise<MqttLink>(resolve => {
		const connecting: MqttLink = connectMqttLink({
			url,
			self,
			password: passwordOf(self),
			clientId: `${self}-boot`,
			onConnected: () => resolve(connecting),
			...options,
		});
	});
	t.teardown(() => link.close());
	return link;
}

/** Everybody may come in, and writes into inboxes under their own name only. */
const openOptions: BrokerOptions<{readonly name: string}> = {
	clock: new ManualClock(),
	authenticate: username => (username === undefined ? undefined : {name: username}),
	may: ({name}, verb, topic) => verb !== 'publish' || !/\/(inbox|bulk)\//.test(topic) || topic.endsWith(`/${name}`),
	retainedSource: noRetained,
};

async function openBroker(t: ExecutionContext): Promise<Broker> {
	const broker = await createBroker(openOptions);
	t.teardown(() => broker.close());
	return broker;
}

async function tcpUrl(broker: Broker): Promise<string> {
	const {port} = await broker.listen('127.0.0.1', 0);
	return `mqtt://127.0.0.1:${port}`;
}

async function webSocketUrl(t: ExecutionContext, broker: Broker): Promise<string> {
	const sockets = new WebSocketServer({noServer: true, handleProtocols: () => 'mqtt'});
	const server = createServer();
	server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
		sockets.handleUpgrade(request, socket, head, webSocket => broker.attach(createWebSocketStream(webSocket), 'ws')),
	);
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => server.close());
	return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mqtt`;
}

linkContract(test, {
	name: 'MQTT over TCP',
	async join(t) {
		const url = await tcpUrl(await openBroker(t));
		const [a, b, c] = await Promise.all([join(t, url, 'a'), join(t, url, 'b'), join(t, url, 'c')]);
		return {a, b, c};
	},
});

linkContract(test, {
	name: 'MQTT over WebSocket',
	async join(t) {
		const url = await webSocketUrl(t, await openBroker(t));
		const [a, b, c] = await Promise.all([join(t, url, 'a'), join(t, url, 'b'), join(t, url, 'c')]);
		return {a, b, c};
	},
});

linkContract(test, {
	name: 'inside the broker',
	async join(t) {
		const broker = await openBroker(t);
		return {a: brokerLink(broker, 'a'), b: brokerLink(broker, 'b'), c: brokerLink(broker, 'c')};
	},
});

linkContract(test, {
	name: 'from the broker’s process to TCP',
	async join(t) {
		const broker = await openBroker(t);
		const url = await tcpUrl(broker);
		const [b, c] = await Promise.all([join(t, url, 'b'), join(t, url, 'c')]);
		return {a: brokerLink(broker, 'a'), b, c};
	},
});

const bothLanes = async (t: ExecutionContext, url: string, self: string): Promise<Required<Links>> => {
	const [control, bulk] = await Promise.all([join(t, url, self), join(t, url, self, {lane: 'bulk', clientId: `${self}-bulk`})]);
	return {control, bulk};
};

lanesContract(test, {
	name: 'MQTT, a connection per lane',
	async join(t) {
		const url = await tcpUrl(await openBroker(t));
		const [a, b] = await Promise.all([bothLanes(t, url, 'a'), bothLanes(t, url, 'b')]);
		return {a, b};
	},
});

lanesContract(test, {
	name: 'from the broker’s process to a connection per lane',
	async join(t) {
		const broker = await openBroker(t);
		const a = brokerLinks(broker, 'a');
		return {a, b: await bothLanes(t, await tcpUrl(broker), 'b')};
	},
});

const packet: Packet = {boot: 'x', sequence: 1, acknowledged: 0, body: 'hello'};

/** A link, and a way to wait for its next connect. */
async function watched(t: ExecutionContext, options: Omit<MqttLinkOptions, 'password' | 'clientId'>) {
	const waiting: (() => void)[] = [];
	const connect = (): Promise<void> => new Promise(resolve => waiting.push(resolve));
	const first = connect();
	const link = connectMqttLink({
		password: passwordOf(options.self),
		clientId: `${options.self}-boot`,
		...options,
		onConnected() {
			options.onConnected?.();
			for (const resolve of waiting.splice(0)) resolve();
		},
	});
	t.teardown(() => link.close());
	await first;
	return {link, connect};
}

test('other topics are heard by each listener as long as they are subscribed, after a reconnect too', async t => {
	const {link, connect} = await watched(t, {url: await tcpUrl(await openBroker(t)), self: 'a'});
	const heard: string[] = [];
	let check: (() => void) | undefined;
	const until = (count: number): Promise<void> =>
		new Promise(resolve => {
			check = () => heard.length >= count && resolve();
			check();
		});
	const listen = (name: string, filter: string): (() => void) =>
		link.subscribe(filter, (topic, payload) => {
			heard.push(`${name} ${topic} ${payload}`);
			check?.();
		});
	const endOne = listen('one', 'things/+');
	const endTwo = listen('two', 'things/+');
	listen('all', 'things/#');
	link.publish('things/x', '1', {retain: false});
	await until(3);
	endOne();
	const returned = connect();
	link.reconnect();
	await returned;
	link.publish('things/x', '2', {retain: false});
	await until(5);
	endTwo();
	link.publish('things/x', '3', {retain: false});
	await until(6);
	t.deepEqual(heard.sort(), ['all things/x 1', 'all things/x 2', 'all things/x 3', 'one things/x 1', 'two things/x 1', 'two things/x 2']);
});

test('whom something was heard of, wills and retained messages aside', async t => {
	const broker = await openBroker(t);
	const {publish} = brokerPubSub(broker);
	publish('troupe/v1/nodes/late/beat', 'kept', {retain: true});
	const {link} = await watched(t, {url: await tcpUrl(broker), self: 'control'});
	const seen: string[] = [];
	const done = new Promise<void>(resolve =>
		link.subscribe('troupe/v1/nodes/#', topic => {
			seen.push(topic);
			if (topic.endsWith('/last/beat')) resolve();
		}),
	);
	brokerLink(broker, 'node-b').send('control', packet);
	link.publish('troupe/v1/nodes/node-c/presence', 'said by the broker', {retain: false});
	link.publish('troupe/v1/nodes/node-a/beat', '1', {retain: false});
	link.publish('troupe/v1/nodes/last/beat', '1', {retain: false});
	await done;
	t.true(seen.includes('troupe/v1/nodes/late/beat'));
	t.deepEqual([...link.heardSince(0)].sort(), ['last', 'node-a', 'node-b']);
	t.deepEqual(link.heardSince(performance.now() + 1_000), []);
	t.deepEqual(link.heardSince(0), [], 'who was silent for so long is forgotten');
});

test('a link whose inbox is refused does not stay as it is: it comes again, with growing pauses, until it may', async t => {
	let refusals = 3;
	const may: typeof openOptions.may = (identity, verb, topic) =>
		(verb !== 'subscribe' || !topic.includes('/inbox/') || (refusals -= 1) < 0) && openOptions.may(identity, verb, topic);
	const broker = await createBroker({...openOptions, may});
	t.teardown(() => broker.close());
	const problems: string[] = [];
	const startMs = performance.now();
	const random = {next: () => 0.5};
	const {link} = await watched(t, {url: await tcpUrl(broker), self: 'a', random, onProblem: problem => problems.push(problem)});
	t.is(problems.length, 3, problems.join());
	t.regex(problems[0] ?? '', /could not be subscribed/);
	t.is(link.counters().connects, 4);
	t.true(performance.now() - startMs > limits.linkReconnectFirstMs * (1 + 2 + 4) * 0.9);
});

test('each attempt goes to the next server, with a will of its own, until one takes it', async t => {
	const standby = createTcpServer(socket => socket.once('data', () => socket.end(Buffer.from([0x20, 2, 0, 3]))));
	await new Promise<void>(resolve => standby.listen(0, '127.0.0.1', resolve));
	const leader = await openBroker(t);
	t.teardown(() => standby.close());
	const urls = [`mqtt://127.0.0.1:${(standby.address() as AddressInfo).port}`, 'mqtt://127.0.0.1:1', await tcpUrl(leader)] as const;
	const problems: (number | undefined)[] = [];
	let wills = 0;
	const will = () => ({topic: 'wills/a', payload: String((wills += 1)), retain: true});
	const heard: string[] = [];
	const died = new Promise<void>(resolve =>
		leader.subscribe('wills/a', (_topic, payload) => {
			heard.push(payload.toString());
			resolve();
		}),
	);
	const {link, connect} = await watched(t, {url: () => urls, self: 'a', will, onProblem: (_problem, code) => problems.push(code)});
	t.deepEqual(problems, [3, undefined]);
	t.deepEqual(leader.connected(), ['a']);
	const returned = connect();
	link.reconnect();
	await returned;
	await died;
	t.deepEqual(heard, ['3']);
	t.true(wills > 3);
});

test('a broker that takes nothing any more is not waited for when a link closes', async t => {
	const sockets: Socket[] = [];
	const server = createTcpServer({allowHalfOpen: true}, socket => {
		sockets.push(socket);
		socket.once('data', () => {
			socket.write(Buffer.from([0x20, 2, 0, 0]));
			// SUBACK with the number of the SUBSCRIBE, and then nothing.
			socket.once('data', (chunk: Buffer) => {
				socket.write(Buffer.from([0x90, 3, chunk[2] ?? 0, chunk[3] ?? 0, 0]));
				socket.pause();
			});
		});
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		server.close();
		for (const socket of sockets) socket.destroy();
	});
	const {link} = await watched(t, {url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`, self: 'a'});
	const fromMs = performance.now();
	await link.close();
	t.true(performance.now() - fromMs < 5 * limits.linkCloseMs);
	t.is(sockets.length, 1);
});

test('a link that closes while it is still connecting leaves no connection', async t => {
	const server = createTcpServer();
	const taken = new Promise<Socket>(resolve => server.once('connection', resolve));
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => void server.close());
	const url = `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const link = connectMqttLink({url, self: 'a', password: 'x', clientId: 'a'});
	const socket = await taken;
	const ended = new Promise(resolve => socket.once('close', resolve));
	socket.resume();
	const fromMs = performance.now();
	await link.close();
	await ended;
	t.true(performance.now() - fromMs < limits.linkConnectMs / 2);
});

test('garbage in an inbox is dropped and counted', async t => {
	const {broker, port} = await startBroker(t);
	const link = brokerLink(broker, 'control');
	const arrived: Packet[] = [];
	const first = new Promise<void>(resolve =>
		link.onPacket((_from, one) => {
			arrived.push(one);
			resolve();
		}),
	);
	const node = await loggedIn(t, port, 'node-a');
	const inbox = 'troupe/v1/actors/control/inbox/node-a';
	for (const text of ['', '{', 'null', '[]', '{"boot":"x"}', '{"boot":"x","sequence":-1,"acknowledged":0}'])
		await node.publishAsync(inbox, text);
	await node.publishAsync(inbox, encodePacket(packet));
	await first;
	t.deepEqual(arrived, [packet]);
	t.is(link.garbage(), 6);
});

test('a node cannot write to an inbox under another name', async t => {
	const {broker, port} = await startBroker(t);
	const heard: string[] = [];
	const link = brokerLink(broker, 'control');
	const last = new Promise<void>(resolve =>
		link.onPacket((from, {sequence}) => {
			heard.push(from);
			if (sequence === 2) resolve();
		}),
	);
	const node = await loggedIn(t, port, 'node-a');
	await node.publishAsync('troupe/v1/actors/control/inbox/node-b', encodePacket(packet));
	await node.publishAsync('troupe/v1/actors/control/inbox/node-a', encodePacket({...packet, sequence: 2}));
	await last;
	t.deepEqual(heard, ['node-a']);
});

test('a packet larger than the broker takes is dropped by the sender, and the link stays', async t => {
	const broker = await openBroker(t);
	const url = await tcpUrl(broker);
	const [a, b] = await Promise.all([join(t, url, 'a'), join(t, url, 'b')]);
	const arrived = new Promise<Packet>(resolve => b.onPacket((_from, one) => resolve(one)));
	a.send('b', {...packet, body: 'x'.repeat(limits.packetBytes)});
	a.send('b', packet);
	t.deepEqual(await arrived, packet);
	t.is(a.counters().dropped, 1);
	t.is(a.counters().connects, 1);
});

test('after the broker was away the link connects again by itself and subscribes its inbox', async t => {
	const first = await openBroker(t);
	const {port} = await first.listen('127.0.0.1', 0);
	const hooks: string[] = [];
	let onReturn: (() => void) | undefined;
	const link = await new Promise<MqttLink>(resolve => {
		const connecting: MqttLink = connectMqttLink({
			url: `mqtt://127.0.0.1:${port}`,
			self: 'a',
			password: 'x',
			clientId: 'a-1',
			onConnected() {
				hooks.push('connected');
				resolve(connecting);
				onReturn?.();
			},
			onDisconnected: () => hooks.push('disconnected'),
			onProblem: () => undefined,
		});
	});
	t.teardown(() => link.close());
	await first.close();
	const second = await openBroker(t);
	const returned = new Promise<void>(resolve => (onReturn = resolve));
	await second.listen('127.0.0.1', port);
	await returned;
	const arrived = new Promise<Packet>(resolve => link.onPacket((_from, one) => resolve(one)));
	brokerLink(second, 'b').send('a', packet);
	t.deepEqual(await arrived, packet);
	t.deepEqual(hooks, ['connected', 'disconnected', 'connected']);
	t.is(link.counters().connects, 2);
});

test('what is sent without a connection is forgotten and counted; the problem is told without the password', async t => {
	const {port} = await startBroker(t);
	const problem = await new Promise<string>(resolve => {
		const link: MqttLink = connectMqttLink({
			url: `mqtt://127.0.0.1:${port}`,
			self: 'node-a',
			password: 'not-the-password',
			clientId: 'node-a-1',
			onProblem: resolve,
		});
		t.teardown(() => link.close());
		link.send('control', packet);
		t.is(link.counters().dropped, 1);
		t.false(link.connected());
	});
	t.regex(problem, /Bad username or password/);
	t.notRegex(problem, /not-the-password/);
});

test('the will of a link is published when its process dies', async t => {
	const {broker, port} = await startBroker(t);
	const presence = 'troupe/v1/nodes/node-a/presence';
	const heard: string[] = [];
	const offline = new Promise<void>(resolve => {
		broker.subscribe(presence, (_topic, payload) => {
			heard.push(payload.toString());
			if (heard.length === 2) resolve();
		});
	});
	const link = await join(t, `mqtt://127.0.0.1:${port}`, 'node-a', {will: {topic: presence, payload: 'offline', retain: true}});
	link.publish(presence, 'online', {retain: true});
	const double = await loggedIn(t, port, 'node-a', {clientId: 'node-a-boot'});
	await offline;
	t.deepEqual(heard, ['online', 'offline']);
	await double.endAsync();
});

test('only whole packets are decoded', t => {
	t.deepEqual(decodePacket(encodePacket(packet)), packet);
	t.deepEqual(decodePacket(encodePacket({...packet, peerBoot: 'y', body: null})), {...packet, peerBoot: 'y', body: null});
	const bad: readonly unknown[] = [
		{...packet, boot: ''},
		{...packet, boot: 7},
		{...packet, boot: 'x'.repeat(200)},
		{...packet, peerBoot: null},
		{...packet, sequence: 0},
		{...packet, sequence: 1.5},
		{...packet, sequence: '1'},
		{...packet, acknowledged: -1},
		{boot: 'x', sequence: 1, acknowledged: 0},
	];
	for (const value of bad) t.is(decodePacket(Buffer.from(JSON.stringify(value))), undefined);
	t.is(decodePacket(Buffer.from(`{"boot":"x","sequence":1,"acknowledged":0,"body":${'['.repeat(1_000)}${']'.repeat(1_000)}}`)), undefined);
	t.is(decodePacket(Buffer.from([0xff, 0xfe, 0])), undefined);
	const brackets = {...packet, body: `${'['.repeat(1_000)} \\" ${'{'.repeat(1_000)}`};
	t.deepEqual(decodePacket(encodePacket(brackets)), brackets);
});

test("systems of one login talk over topics of that login, control to each of them, and never to another login's", async t => {
	const broker = await createBroker<Identity>({
		...openOptions,
		authenticate: username => (username === undefined ? undefined : {name: username, role: 'edit'}),
		may,
	});
	t.teardown(() => broker.close());
	const url = await tcpUrl(broker);
	const as = (name: string, login: string) => join(t, url, `${name}@${login}`, {login, lane: 'bulk'});
	const [ping, pong, other] = [await as('ping', 'ann'), await as('pong', 'ann'), await as('ping', 'bob')];
	const control = brokerLinks(broker, 'control').bulk;
	const heard: string[] = [];
	const packet = (boot: string): Packet => ({boot, sequence: 0, acknowledged: 0});
	const whenHeard = (count: number): Promise<void> => eventually(`${count} packets are there`, () => heard.length === count);
	for (const [name, link] of Object.entries({ping, pong, other, control}))
		link.onPacket((from, {boot}) => heard.push(`${name} of ${from}: ${boot}`));
	ping.send('pong@ann', packet('hello'));
	await whenHeard(1);
	ping.send('ping@bob', packet('lost'));
	other.send('pong@ann', packet('lost'));
	other.send('node-a', packet('lost'));
	pong.send('control', packet('answer'));
	control.send('ping@ann', packet('question'));
	await whenHeard(3);
	pong.send('ping@ann', packet('last'));
	await whenHeard(4);
	t.deepEqual(heard.sort(), [
		'control of pong@ann: answer',
		'ping of control: question',
		'ping of pong@ann: last',
		'pong of ping@ann: hello',
	]);
});

test('of a link that is silent nothing is heard, and it makes no other connection; when that is over it does', async t => {
	const broker = await openBroker(t);
	const url = await tcpUrl(broker);
	const hearing = await join(t, url, 'control');
	const heard: string[] = [];
	hearing.subscribe('user/word', (_topic, payload) => heard.push(payload));
	const link = await join(t, url, 'node-a');
	const word = (text: string): void => link.publish('user/word', text, {retain: false});
	word('before');
	await eventually('the word before is heard', () => heard.length === 1);
	link.silence(true);
	word('meanwhile');
	link.verify(1);
	link.reconnect();
	// By another connection of the same broker: what was sent before it has come by then.
	const other = await join(t, url, 'node-b');
	other.publish('user/word', 'of another', {retain: false});
	await eventually('the word of another is heard', () => heard.length === 2);
	link.silence(false);
	await eventually('the link is there again', () => link.counters().connects === 2 && link.connected());
	word('after');
	await eventually('the word after is heard', () => heard.length === 3);
	t.deepEqual(heard, ['before', 'of another', 'after']);
	t.is(link.counters().connects, 2);
});
