// An agent's three connections over real sockets: each can be lost alone, none holds up another, and there is one agent per node.

import {fork} from 'node:child_process';
import {once} from 'node:events';
import {createServer as createTcpServer, type AddressInfo} from 'node:net';
import path from 'node:path';
import {createServer, type TLSSocket} from 'node:tls';
import test, {type ExecutionContext} from 'ava';
import {endedBy} from '../../../api/client-id.js';
import {limits} from '../../../api/limits.js';
import {parsePresence, type Presence} from '../../../api/presence.js';
import {may, type Identity} from '../../../api/roles.js';
import {ensureCertificates} from '../../../server/certificates.js';
import {createMqttGate} from '../../../server/mqtt-gate.js';
import {createBroker, type Broker} from '../../../system/broker/broker.js';
import {brokerLinks} from '../../../system/links/broker-link.js';
import {systemClock} from '../../../system/time/clock.js';
import type {Packet} from '../../../system/links/link.js';
import {openUplink, type Uplink, type UplinkOptions} from '../../../system/presence/uplink.js';
import {vaults} from '../../server/support.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {wireTo, type Wire} from '../_wire.js';

const node = 'node-a';

type Server = {readonly broker: Broker; readonly port: number; readonly lead: (leads: boolean) => void};

/** A server's broker behind its gate. */
async function startBroker(t: ExecutionContext, leads = true): Promise<Server> {
	const broker = await createBroker<Identity>({
		clock: systemClock,
		authenticate: (name, password) => (name === node && password === `secret of ${node}` ? {name, role: 'node', node} : undefined),
		may,
		retainedSource: {match: () => [], owns: () => false},
		endedBy: (_identity, clientId, others) => endedBy(clientId, others, limits.agentAliveMs),
	});
	const gate = createMqttGate(systemClock);
	const door = createTcpServer({noDelay: true}, socket => gate.attach(socket, 'tcp'));
	await new Promise<void>(resolve => door.listen(0, '127.0.0.1', resolve));
	t.teardown(async () => {
		door.close();
		gate.cut();
		await broker.close();
	});
	const lead = (now: boolean): void => {
		gate.serve(now ? broker : undefined);
		gate.cut();
	};
	lead(leads);
	return {broker, port: (door.address() as AddressInfo).port, lead};
}

const plain = (port: number): string => `mqtt://127.0.0.1:${port}`;

function agent(t: ExecutionContext, servers: readonly [string, ...string[]], options: Partial<UplinkOptions> = {}): Uplink {
	const uplink = openUplink({
		servers: () => servers,
		node,
		password: `secret of ${node}`,
		boot: 'boot-1',
		onRefused: reason => t.fail(reason),
		...options,
	});
	t.teardown(() => uplink.close());
	return uplink;
}

/** What the broker hears of a node. */
function hearing(broker: Broker) {
	const presences: Presence[] = [];
	const beatsAtMs: number[] = [];
	broker.subscribe(`troupe/v1/nodes/${node}/presence`, (_topic, payload) => {
		const presence = parsePresence(payload.toString());
		if (presence !== undefined) presences.push(presence);
	});
	broker.subscribe(`troupe/v1/nodes/${node}/beat`, () => beatsAtMs.push(systemClock.monotonicMs()));
	/** Without repetitions: who hears an old word about himself says the new one again. */
	const states = (): string[] =>
		presences.map(({state, connection}) => `${state} ${connection}`).filter((state, index, all) => state !== all[index - 1]);
	return {presences, states, beatsAtMs};
}

/** All three stand; how often each was tried until then. */
async function connected({control, bulk}: Uplink, wire: Wire): Promise<Wire['connects']> {
	await eventually(
		'the three are connected',
		() => control.connected() && bulk.connected() && wire.stands('beat'),
		() => JSON.stringify(wire.connects),
	);
	return {...wire.connects};
}

const numbered = (sequence: number, body: string): Packet => ({boot: 'boot-c', peerBoot: 'boot-1', sequence, acknowledged: 0, body});

test('each of the three connections can be cut alone, and comes back alone', async t => {
	const {broker, port} = await startBroker(t);
	const wire = await wireTo(t, port);
	const {states, beatsAtMs} = hearing(broker);
	const uplink = agent(t, [plain(wire.port)]);
	const first = await connected(uplink, wire);
	await eventually('it beats', () => beatsAtMs.length > 1);
	const [online = ''] = states();
	t.deepEqual(states(), [online]);

	t.is(wire.cut('bulk'), 1);
	await eventually('bulk has gone', () => !uplink.bulk.connected());
	const second = await connected(uplink, wire);
	t.true(second.bulk > first.bulk);
	t.is(second.control, first.control);

	t.is(wire.cut('beat'), 1);
	const third = await connected(uplink, wire);
	t.true(third.beat > first.beat);
	const before = beatsAtMs.length;
	await eventually('it beats again', () => beatsAtMs.length > before + 1);
	t.is(third.control, first.control);
	t.deepEqual(states(), [online], 'only control tells of presence');

	t.is(wire.cut('control'), 1);
	// A connection that is refused under load is told by its will, and another one follows.
	await eventually(
		'it is online again',
		() => states().length > 2 && states().at(-1)?.startsWith('online ') === true,
		() => states().join(),
	);
	t.is(states()[1], online.replace('online', 'offline'));
	t.not(states().at(-1), online);
	t.is(wire.connects.bulk, third.bulk);
});

test('a stuck reader of bulk holds up no message of control, and gets what it missed in order', async t => {
	const {broker, port} = await startBroker(t);
	const wire = await wireTo(t, port);
	const uplink = agent(t, [plain(wire.port)]);
	const before = await connected(uplink, wire);
	const events: string[] = [];
	uplink.bulk.onPacket((_from, {sequence}) => events.push(`bulk ${sequence}`));
	uplink.control.onPacket((_from, {sequence}) => events.push(`control ${sequence}`));
	const links = brokerLinks(broker, 'control');
	const letGo = wire.hold('bulk');
	const large = 'x'.repeat(100_000);
	for (let sequence = 1; sequence <= 50; sequence += 1) links.bulk?.send(node, numbered(sequence, large));
	for (let sequence = 1; sequence <= 50; sequence += 1) links.control.send(node, numbered(sequence, 'small'));
	await eventually('control arrived', () => events.length === 50);
	t.true(events.every(event => event.startsWith('control')));
	letGo();
	await eventually('bulk arrived', () => events.length === 100);
	t.deepEqual(
		events,
		['control', 'bulk'].flatMap(lane => Array.from({length: 50}, (_, index) => `${lane} ${index + 1}`)),
	);
	t.is(wire.connects.bulk, before.bulk);
});

test('a broker that vanishes without a word is noticed by the beat, and all three go on elsewhere', async t => {
	t.timeout(40_000);
	const [first, second] = await Promise.all([startBroker(t), startBroker(t, false)]);
	const [wireToFirst, wireToSecond] = await Promise.all([wireTo(t, first.port), wireTo(t, second.port)]);
	const uplink = agent(t, [plain(wireToFirst.port), plain(wireToSecond.port)]);
	await connected(uplink, wireToFirst);
	const {states, beatsAtMs} = hearing(second.broker);
	wireToFirst.freeze();
	second.lead(true);
	const fromMs = systemClock.monotonicMs();
	await eventually('it is online there', () => states()[0]?.startsWith('online') === true && uplink.bulk.connected());
	await eventually('it beats there', () => beatsAtMs.length > 1);
	t.true(systemClock.monotonicMs() - fromMs < limits.beatSilenceMs + limits.controlAnswerMs + 2 * limits.linkReconnectMaxMs);
	t.deepEqual(second.broker.connected(), [node]);
});

test('a standby is passed over, and a leader that steps down is left for the one that leads', async t => {
	const [leader, standby] = await Promise.all([startBroker(t), startBroker(t, false)]);
	const wires = await Promise.all([wireTo(t, leader.port), wireTo(t, standby.port)]);
	const [atLeader, atStandby] = [hearing(leader.broker), hearing(standby.broker)];
	// The standby is first in the list.
	const uplink = agent(t, [plain(wires[1].port), plain(wires[0].port)]);
	await eventually(
		'it is with the leader',
		() => atLeader.states().length === 1 && uplink.bulk.connected() && atLeader.beatsAtMs.length > 0,
	);
	leader.lead(false);
	standby.lead(true);
	await eventually(
		'it is with the other',
		() => atStandby.states().length === 1 && uplink.bulk.connected() && atStandby.beatsAtMs.length > 0,
	);
	const [before, after] = [atLeader.presences, atStandby.presences];
	t.like(after[0], {state: 'online', boot: 'boot-1'});
	t.true((after[0]?.connection ?? 0) > (before[0]?.connection ?? 0));
	t.deepEqual(leader.broker.connected(), []);
});

test('a planned stop is announced, and leaves no will', async t => {
	const {broker, port} = await startBroker(t);
	const {states} = hearing(broker);
	const uplink = agent(t, [plain(port)]);
	await eventually('it is online', () => states().length === 1 && uplink.bulk.connected());
	uplink.announceRestart();
	await uplink.close();
	await eventually('all have gone', () => broker.connected().length === 0);
	t.deepEqual(
		states().map(state => state.split(' ')[0]),
		['online', 'restarting'],
	);
});

test('a second agent is refused while the first lives, and ends with one line that says why', async t => {
	t.timeout(40_000);
	const {broker, port} = await startBroker(t);
	const {states} = hearing(broker);
	const first = agent(t, [plain(port)]);
	await eventually('the first is there', () => states().length === 1 && first.bulk.connected());
	const problems: (number | undefined)[] = [];
	const reasons: string[] = [];
	agent(t, [plain(port)], {boot: 'boot-2', onRefused: reason => reasons.push(reason), onProblem: (_problem, code) => problems.push(code)});
	await eventually('it gives up', () => reasons.length > 0);
	t.deepEqual(reasons, ['another agent of node "node-a" is connected: stop that one first, or join under another name']);
	t.true(problems.length > 3 && problems.every(code => code === 2));
	t.is(states().length, 1);
	t.true(first.control.connected() && first.bulk.connected());
	t.is(first.control.counters().connects, 1);
});

test('an agent that was killed is followed at once by the next, under another boot', async t => {
	const {broker, port} = await startBroker(t);
	const {states} = hearing(broker);
	const child = fork(path.join(import.meta.dirname, '../_blocked-agent.js'), [plain(port)]);
	t.teardown(() => child.kill('SIGKILL'));
	await eventually('the first is there', () => states().length === 1);
	child.kill('SIGKILL');
	await once(child, 'exit');
	agent(t, [plain(port)], {boot: 'boot-2'});
	await eventually('the second is there', () => states().length === 3);
	t.deepEqual(
		states().map(state => state.split(' ')[0]),
		['online', 'offline', 'online'],
	);
});

test('over TLS each connection asks for MQTT by ALPN and trusts the cluster’s authority alone', async t => {
	const {broker} = await startBroker(t);
	const {ca, cert, key} = await ensureCertificates(vaults(), {names: [], nowMs: Date.now()});
	const protocols: (string | false | null)[] = [];
	const server = createServer({cert, key, ALPNProtocols: ['mqtt', 'http/1.1']}, (socket: TLSSocket) => {
		protocols.push(socket.alpnProtocol);
		broker.attach(socket, 'tls');
	});
	server.on('tlsClientError', () => undefined);
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => server.close());
	const url = `mqtts://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const problems: string[] = [];
	const stranger = agent(t, [url], {onProblem: problem => problems.push(problem)});
	await eventually('it is told', () => problems.length > 0);
	await stranger.close();
	t.regex(problems[0] ?? '', /self-signed|unable to (verify|get)/);
	t.deepEqual(broker.connected(), []);
	const {states, beatsAtMs} = hearing(broker);
	const uplink = agent(t, [url], {ca});
	await eventually('it is there', () => states().length === 1 && uplink.bulk.connected() && beatsAtMs.length > 0);
	await eventually('the third is there', () => protocols.length >= 3);
	t.deepEqual([...new Set(protocols)], ['mqtt']);
});

test('the beat goes on while the main loop is busy, ends after ten seconds, and begins again when it moves', async t => {
	t.timeout(60_000);
	const {broker, port} = await startBroker(t);
	const wire = await wireTo(t, port);
	const {beatsAtMs} = hearing(broker);
	const child = fork(path.join(import.meta.dirname, '../_blocked-agent.js'), [plain(wire.port)]);
	t.teardown(() => child.kill('SIGKILL'));
	await eventually('it beats on its own connection', () => wire.stands('beat') && beatsAtMs.length > 1);
	const heard = (): Promise<unknown[]> => once(child, 'message');
	const blocks = heard();
	const blockMs = limits.stillAgentMs + 4_000;
	child.send(blockMs);
	await blocks;
	const fromMs = systemClock.monotonicMs();
	await heard();
	const beatsBetween = (startMs: number, endMs: number): number =>
		beatsAtMs.filter(atMs => atMs - fromMs > startMs && atMs - fromMs < endMs).length;
	t.true(beatsBetween(0, 2_000) >= 3, 'two seconds of work are nothing');
	t.true(beatsBetween(0, 8_000) >= 12);
	t.is(beatsBetween(limits.stillAgentMs + 1_500, blockMs - 200), 0);
	const before = beatsAtMs.length;
	await eventually('it beats again', () => beatsAtMs.length > before + 2);
	child.send(0);
	await once(child, 'exit');
	await eventually('all have gone', () => broker.connected().length === 0);
});
