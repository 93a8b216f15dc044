// The work that clients ask of the broker: so much in one turn, in turns with the others, nodes first, and so much over time.

import {once} from 'node:events';
import {Duplex} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {limits} from '../../../api/limits.js';
import {createAllowance, createAllowances, unbounded, type Allowance} from '../../../system/broker/allowance.js';
import {createBacklog, type Waiting} from '../../../system/broker/backlog.js';
import {Intake} from '../../../system/broker/intake.js';
import {ClientStream} from '../../../system/broker/client-stream.js';
import {createPace, type Pace, type Rank} from '../../../system/broker/pace.js';
import {PacketGuard} from '../../../system/broker/packet-guard.js';
import {packetWork} from '../../../system/broker/packet-work.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {connectPacket, event, loggedIn, newClient, openSocket, refusalOf, settled, startBroker} from './broker-rig.js';
import {connectPacket as anyConnect, packet, pingPacket, publishPacket, subscribePacket} from '../../../bench/rigs/mqtt/packets.js';

const hello = anyConnect({id: 'a'});
const refused = publishPacket('a', '');
const many = (bytes: Buffer, count: number): Buffer => Buffer.concat(Array.from({length: count}, () => bytes));
const turnOver = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

type Handed = {readonly name: string; readonly bytes: number};

/** A connection whose parser takes everything at once. */
function anIntake(clock: ManualClock, pace: Pace, name: string, handed: Handed[], rank: Rank = 'tool', allowance: Allowance = unbounded) {
	const problems: string[] = [];
	const reading: boolean[] = [];
	const intake = new Intake({
		clock,
		pace,
		hand(bytes) {
			handed.push({name, bytes: bytes.length});
			process.nextTick(() => intake.want());
		},
		onEnd: () => handed.push({name: `${name} ended`, bytes: 0}),
		onProblem: problem => problems.push(problem),
		onReading: isReading => reading.push(isReading),
	});
	intake.want();
	intake.login({rank, allowance, packetBytes: limits.packetBytes});
	intake.take(hello);
	return {intake, problems, reading};
}

const aPace = (): Pace => createPace(() => 0, {node: 1, tool: 1});

test('thousands of packets of one read are handed over turn by turn, and the socket is not read meanwhile', async t => {
	const handed: Handed[] = [];
	const {intake, reading} = anIntake(new ManualClock(), aPace(), 'a', handed);
	await turnOver();
	handed.length = 0;
	intake.take(many(pingPacket, 1_000));
	intake.end();
	const before = handed.length;
	t.true(before <= 1);
	while (handed.at(-1)?.bytes !== 0) {
		t.false(reading.at(-1) ?? true);
		await turnOver();
	}
	t.true(handed.slice(0, -1).every(({bytes}) => bytes <= 2 * limits.brokerToolTurnWork));
	t.is(
		handed.reduce((sum, {bytes}) => sum + bytes, 0),
		2_000,
	);
	t.deepEqual(handed.at(-1), {name: 'a ended', bytes: 0});
});

test('connections take turns, nodes before tools', async t => {
	const clock = new ManualClock();
	const pace = aPace();
	const handed: Handed[] = [];
	const [a, b] = [anIntake(clock, pace, 'a', handed), anIntake(clock, pace, 'b', handed)];
	const node = anIntake(clock, pace, 'node', handed, 'node');
	await turnOver();
	await turnOver();
	handed.length = 0;
	a.intake.take(many(pingPacket, 4 * limits.brokerToolTurnWork));
	b.intake.take(many(pingPacket, 3 * limits.brokerToolTurnWork));
	node.intake.take(many(pingPacket, limits.brokerNodeTurnWork));
	for (let turn = 0; turn < 6; turn += 1) await turnOver();
	t.is(handed.map(({name}) => name).join(' '), 'a node b a b a b a');
});

test('what follows CONNECT in the same read waits for the login', async t => {
	const handed: Handed[] = [];
	const intake = new Intake({
		clock: new ManualClock(),
		pace: aPace(),
		hand(bytes) {
			handed.push({name: 'a', bytes: bytes.length});
			process.nextTick(() => intake.want());
		},
		onEnd: () => undefined,
		onProblem: problem => t.fail(problem),
		onReading: () => undefined,
	});
	intake.want();
	intake.take(Buffer.concat([hello, pingPacket]));
	for (let turn = 0; turn < 3; turn += 1) await turnOver();
	t.deepEqual(handed, [{name: 'a', bytes: hello.length}]);
	intake.login({rank: 'tool', allowance: unbounded, packetBytes: 100});
	await turnOver();
	t.is(handed.length, 2);
});

test('the guard stops at the packet that reaches the work, and counts filters however they are cut', t => {
	const filters = Array.from({length: 30}, (_, at) => [`a/${at}`, 0] as const);
	const subscribe = subscribePacket(1, ...filters);
	const bytes = Buffer.concat([hello, subscribe, pingPacket]);
	const guard = new PacketGuard(10_000);
	const first = guard.pass(bytes, 0, 1);
	t.deepEqual([first.end, first.isWhole], [hello.length, true]);
	const second = guard.pass(bytes, first.end, 10);
	t.is(second.end, hello.length + subscribe.length);
	const slow = new PacketGuard(10_000);
	slow.pass(hello, 0, Infinity);
	let work = 0;
	for (const byte of subscribe) work += slow.pass(Buffer.from([byte]), 0, 1).work;
	t.is(work, second.work);
	t.true(second.work > filters.length);
	const crowd = Array.from({length: limits.brokerPacketFilters + 1}, (_, at) => [String(at), 0] as const);
	t.is(guard.pass(subscribePacket(1, ...crowd.slice(1)), 0, Infinity).problem, undefined);
	t.is(createAfter(hello).pass(subscribePacket(1, ...crowd), 0, Infinity).problem, 'oversized');
	t.is(
		createAfter(hello).pass(packet(0xa2, Buffer.alloc(2), ...crowd.map(() => Buffer.from([0, 1, 0x61]))), 0, Infinity).problem,
		'oversized',
	);
});

function createAfter(opening: Buffer) {
	const guard = new PacketGuard(100_000);
	guard.pass(opening, 0, Infinity);
	return guard;
}

test('a publish costs what its quality of service asks for, and what is copied of it', t => {
	const [publish, qos1, qos2] = [0x30, 0x32, 0x34];
	t.deepEqual(
		[publish, qos1, qos2].map(first => packetWork(first, 100)),
		[1, 3, 6],
	);
	t.is(packetWork(publish, 8_192 * 10), 11);
	t.is(packetWork(0xc0, 0), 1, 'a ping');
});

test('a login gets so much a second, its connections in order, and owes no more than its bound', t => {
	const clock = new ManualClock();
	const allowance = createAllowance(clock, {perSecond: 10, atOnce: 20, debt: 30});
	const served: string[] = [];
	allowance.whenLeft(() => served.push('at once'));
	allowance.spend(1_000);
	for (const name of ['first', 'second'])
		allowance.whenLeft(() => {
			served.push(name);
			allowance.spend(10);
		});
	clock.advance(3_000);
	t.deepEqual(served, ['at once']);
	clock.advance(100);
	t.deepEqual(served, ['at once', 'first', 'second']);
	t.false(allowance.isWhole());
	clock.advance(3_900);
	t.true(allowance.isWhole());
	allowance.spend(5);
	allowance.earn(100);
	t.true(allowance.isWhole());
});

test('the share of a login outlives its connections until it is whole again', t => {
	const clock = new ManualClock();
	const allowances = createAllowances(clock);
	const bounds = {perSecond: 10, atOnce: 20, debt: 30};
	const before = allowances.of('eve', bounds);
	before.spend(5);
	allowances.tidy();
	t.is(allowances.of('eve', bounds), before);
	clock.advance(500);
	allowances.tidy();
	t.not(allowances.of('eve', bounds), before);
	t.is(allowances.of('node', undefined), unbounded);
});

test('who is held up by its share for too long is cut, who rests in between is not', async t => {
	const clock = new ManualClock();
	const pace = aPace();
	const handed: Handed[] = [];
	const share = {perSecond: limits.brokerToolTurnWork, atOnce: limits.brokerToolTurnWork, debt: limits.brokerToolTurnWork};
	const [hasty, calm] = [createAllowance(clock, share), createAllowance(clock, share)];
	const flood = anIntake(clock, pace, 'flood', handed, 'tool', hasty);
	const bursts = anIntake(clock, pace, 'bursts', handed, 'tool', calm);
	flood.intake.take(many(pingPacket, 100 * limits.brokerToolTurnWork));
	const seconds = limits.brokerGreedyMs / 1_000;
	for (let at = 0; at < 4 * seconds; at += 1) {
		if (at % 4 === 0) bursts.intake.take(many(pingPacket, 2 * limits.brokerToolTurnWork));
		for (let turn = 0; turn < 4; turn += 1) await turnOver();
		clock.advance(1_000);
	}
	t.deepEqual([flood.problems[0], bursts.problems], ['greedy', []]);
	t.false(bursts.intake.isBusy());
});

/** The most that was counted between two looks of the loop at its I/O. */
async function mostPerTurn(read: () => number, isOver: () => boolean): Promise<number> {
	let most = 0;
	for (let last = read(); !isOver();) {
		await turnOver();
		most = Math.max(most, read() - last);
		last = read();
	}
	return most;
}

test('a flood of refused publishes takes a bounded part of each turn, and others are served between', async t => {
	const {broker, port} = await startBroker(t);
	const flood = await openSocket(t, port);
	flood.write(connectPacket('watcher', 'flood'));
	await once(flood, 'data');
	const calm = await loggedIn(t, port, 'admin');
	const count = 10_000;
	flood.write(many(refused, count));
	const handled = (): number => broker.counters().publishesRefused;
	const answered = settled(calm).then(handled);
	const most = await mostPerTurn(handled, () => handled() === count);
	t.true(most <= 2 * limits.brokerToolTurnWork, `${most} in one turn`);
	t.true((await answered) < count);
});

test('a login that has used up its share waits, also on new connections, and is cut when it goes on', async t => {
	const {broker, port, clock} = await startBroker(t);
	const flood = await openSocket(t, port);
	flood.write(connectPacket('watcher', 'flood'));
	await once(flood, 'data');
	const packets = many(refused, 10_000);
	const more = (): void => {
		while (!flood.destroyed && flood.write(packets));
	};
	flood.on('drain', more);
	more();
	const handled = (): number => broker.counters().publishesRefused;
	while (handled() < limits.brokerToolWorkAtOnce - 100) await turnOver();
	for (let turn = 0; turn < 20; turn += 1) await turnOver();
	t.true(handled() <= limits.brokerToolWorkAtOnce);
	const late = newClient(t, port, 'watcher', {clientId: 'late'});
	const other = await loggedIn(t, port, 'admin');
	await settled(other);
	t.false(late.connected);
	const comesIn = event(late, 'connect');
	while (!flood.destroyed) {
		clock.advance(2);
		await turnOver();
	}
	await comesIn;
	t.is(broker.counters().cutGreedy, 1);
});

test('a login has so many connections at a time, nodes have as many as they like', async t => {
	const {broker, port} = await startBroker(t);
	const names = Array.from({length: limits.brokerConnectionsPerLogin}, (_, at) => `watcher-${at}`);
	await Promise.all(names.map(async clientId => joined(t, port, 'watcher', clientId)));
	t.is(await refusalOf(newClient(t, port, 'watcher', {clientId: 'one-more'})), 3);
	t.is(broker.counters().loginsCrowded, 1);
	await loggedIn(t, port, 'admin');
});

async function joined(t: ExecutionContext, port: number, name: string, clientId: string): Promise<void> {
	const socket = await openSocket(t, port);
	socket.write(connectPacket(name, clientId));
	await once(socket, 'data');
}

test('what waits for all clients is bounded: the one for which most waits goes', t => {
	const cut: string[] = [];
	const all = new Map<string, number>();
	const backlog = createBacklog(100, function* () {
		for (const [name, pendingBytes] of all)
			yield {
				pendingBytes,
				cut() {
					cut.push(name);
					all.delete(name);
					backlog.change(-pendingBytes);
				},
			} satisfies Waiting;
	});
	const wait = (name: string, bytes: number): void => {
		all.set(name, (all.get(name) ?? 0) + bytes);
		backlog.change(bytes);
	};
	wait('a', 30);
	wait('b', 60);
	t.deepEqual(cut, []);
	wait('a', 20);
	t.deepEqual([cut, backlog.bytes()], [['b'], 50]);
});

test('a connection tells what waits for it, and nothing once it is gone', async t => {
	let waiting = 0;
	const inner = new Duplex({read: () => undefined, write: () => undefined});
	const stream = new ClientStream({
		inner,
		clock: new ManualClock(),
		pace: aPace(),
		onCut: () => undefined,
		onPending: change => (waiting += change),
	});
	stream.write(Buffer.alloc(100_000));
	t.is(waiting, stream.pendingBytes);
	t.true(waiting >= 100_000);
	stream.cut();
	await once(stream, 'close');
	t.is(waiting, 0);
});
