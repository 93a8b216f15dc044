import {once} from 'node:events';
import {Duplex, duplexPair} from 'node:stream';
import test from 'ava';
import {limits} from '../../../api/limits.js';
import {ClientStream, type CutReason} from '../../../system/broker/client-stream.js';
import {Connections, newConnection} from '../../../system/broker/connections.js';
import {Outbox} from '../../../system/broker/outbox.js';
import {createPace} from '../../../system/broker/pace.js';
import {PacketGuard} from '../../../system/broker/packet-guard.js';
import {createReplay} from '../../../system/broker/replay.js';
import {ManualClock} from '../../../system/time/manual-clock.js';

const pace = createPace(() => 0, {node: 1, tool: 1});

const connect = [0x10, 2, 1, 2];

test('the guard reads headers byte by byte as well as at once', t => {
	const bytes = Buffer.concat([Buffer.from(connect), Buffer.from([0x30, 0x80, 0x01]), Buffer.alloc(128), Buffer.from([0xc0, 0])]);
	const atOnce = new PacketGuard(200);
	t.is(atOnce.pass(bytes, 0, Infinity).problem, undefined);
	const oneByOne = new PacketGuard(200);
	for (const byte of bytes) t.is(oneByOne.pass(Buffer.from([byte]), 0, Infinity).problem, undefined);
});

const cases: readonly {title: string; bytes: readonly number[]; expected: 'oversized' | 'malformed' | undefined}[] = [
	{title: 'a first packet that is no CONNECT', bytes: [0x30, 0], expected: 'malformed'},
	{title: 'a second CONNECT', bytes: [...connect, ...connect], expected: 'malformed'},
	{title: 'a packet that only brokers send', bytes: [...connect, 0x20, 0], expected: 'malformed'},
	{title: 'type 0', bytes: [...connect, 0x00, 0], expected: 'malformed'},
	{title: 'a length of five bytes', bytes: [...connect, 0x30, 0xff, 0xff, 0xff, 0xff], expected: 'malformed'},
	{title: 'a packet one byte too long', bytes: [...connect, 0x30, 99], expected: 'oversized'},
	{title: 'a packet of the allowed length', bytes: [...connect, 0x30, 98], expected: undefined},
];
for (const {title, bytes, expected} of cases)
	test(`the guard ${expected === undefined ? 'lets pass' : 'refuses'} ${title}`, t => {
		t.is(new PacketGuard(100).pass(Buffer.from(bytes), 0, Infinity).problem, expected);
	});

function anOutbox(limit: {windowMessages: number; waitingMessages: number; waitingBytes?: number}) {
	const sent: string[] = [];
	const open: (() => void)[] = [];
	const lost: string[] = [];
	const outbox = new Outbox({
		windowBytes: 1_000,
		waitingBytes: 1_000,
		...limit,
		emit(_topic, payload, done) {
			sent.push(payload.toString());
			open.push(done);
		},
		onReplaced: topic => lost.push(`replaced ${topic}`),
		onDropped: topic => lost.push(`dropped ${topic}`),
	});
	const publish = (topic: string, text: string, latestOnly = true): void => outbox.publish(topic, Buffer.from(text), latestOnly);
	const settle = (): void => {
		for (let done = open.shift(); done !== undefined; done = open.shift()) done();
	};
	return {outbox, sent, lost, publish, settle};
}

test('within the window all is sent at once; beyond it the newest of a topic takes the place of what waits', t => {
	const {sent, lost, publish, settle} = anOutbox({windowMessages: 1, waitingMessages: 10});
	publish('a', 'a1');
	publish('a', 'a2');
	publish('b', 'b1');
	publish('a', 'a3');
	t.deepEqual(sent, ['a1']);
	settle();
	t.deepEqual(sent, ['a1', 'b1', 'a3']);
	t.deepEqual(lost, ['replaced a']);
});

test('nothing overtakes what waits, though there were room for it', t => {
	const {sent, publish, settle} = anOutbox({windowMessages: 10, waitingMessages: 10});
	publish('a', 'a'.repeat(900));
	publish('b', 'b'.repeat(200));
	publish('c', 'c');
	publish('b', 'deleted', false);
	t.deepEqual(sent, ['a'.repeat(900)]);
	settle();
	t.deepEqual(sent.slice(1), ['b'.repeat(200), 'c', 'deleted']);
});

test('what is not replaced waits in order, a deletion before the message that clears', t => {
	const {sent, lost, publish, settle} = anOutbox({windowMessages: 1, waitingMessages: 10});
	publish('x', 'x1');
	publish('a', 'a2');
	publish('a', 'deleted', false);
	publish('a', '');
	settle();
	t.deepEqual(sent, ['x1', 'deleted', '']);
	t.deepEqual(lost, ['replaced a']);
});

test('at the limit the oldest that waits is dropped, by count and by bytes', t => {
	const byCount = anOutbox({windowMessages: 1, waitingMessages: 2});
	for (const topic of ['0', '1', '2', '3', '4']) byCount.publish(topic, topic);
	byCount.settle();
	t.deepEqual(byCount.sent, ['0', '3', '4']);
	t.deepEqual(byCount.lost, ['dropped 1', 'dropped 2']);
	const byBytes = anOutbox({windowMessages: 1, waitingMessages: 10, waitingBytes: 5});
	for (const topic of ['0', '1', '2']) byBytes.publish(topic, topic.repeat(3));
	byBytes.settle();
	t.deepEqual(byBytes.sent, ['000', '222']);
});

test('an emit that is done at once does not recurse', t => {
	let sent = 0;
	const later: (() => void)[] = [];
	const outbox = new Outbox({
		windowMessages: 1,
		windowBytes: 10,
		waitingMessages: 100_000,
		waitingBytes: 1_000_000,
		emit(_topic, _payload, done) {
			sent += 1;
			if (sent === 1) later.push(done);
			else done();
		},
		onReplaced: () => undefined,
		onDropped: () => undefined,
	});
	for (let i = 0; i < 50_000; i += 1) outbox.publish(String(i), Buffer.from('x'), true);
	later[0]?.();
	t.is(sent, 50_000);
	t.is(outbox.waiting(), 0);
});

test('a closed stream still hands over what was written, then waits for the other side', async t => {
	const [near, far] = duplexPair();
	const clock = new ManualClock();
	const stream = new ClientStream({inner: near, clock, pace, onCut: () => undefined});
	stream.write('the last words');
	stream.destroy();
	const heard: Buffer[] = [];
	for await (const chunk of far) heard.push(chunk as Buffer);
	t.is(Buffer.concat(heard).toString(), 'the last words');
	t.false(near.destroyed);
	clock.advance(limits.toolStallMs);
	t.true(near.destroyed);
});

test('a stream that nobody reads accepts everything up to its bound and is cut beyond it', async t => {
	const cuts: CutReason[] = [];
	const inner = new Duplex({read: () => undefined, write: () => undefined});
	const stream = new ClientStream({inner, clock: new ManualClock(), pace, onCut: reason => cuts.push(reason)});
	const chunk = Buffer.alloc(1_000_000);
	for (let i = 0; i < 8; i += 1) t.true(stream.write(chunk));
	t.true(stream.pendingBytes >= 7_900_000);
	const closed = once(stream, 'close');
	stream.write(chunk);
	await closed;
	t.deepEqual(cuts, ['overflow']);
});

test('bytes come out as they went in, whatever their portions', async t => {
	const [near, far] = duplexPair();
	const stream = new ClientStream({inner: near, clock: new ManualClock(), pace, onCut: () => undefined});
	const sizes = [1, 5_000, 20_000, 3, 16_384, 16_385, 70_000, 0, 2];
	const parts = sizes.map((size, i) => Buffer.alloc(size, i + 1));
	for (const [i, part] of parts.entries()) {
		if (i % 3 === 0) stream.cork();
		stream.write(part);
		if (i % 3 === 2) process.nextTick(() => stream.uncork());
	}
	const expected = Buffer.concat(parts);
	const heard: Buffer[] = [];
	let bytes = 0;
	for await (const chunk of far) {
		heard.push(chunk as Buffer);
		bytes += (chunk as Buffer).length;
		if (bytes >= expected.length) break;
	}
	t.true(Buffer.concat(heard).equals(expected));
	stream.cut();
});

test('the end of a connection that was taken over leaves the client id to the one that has it', t => {
	const connections = new Connections<object, {readonly name: string}>(() => true);
	const [older, newer] = ['older', 'newer'].map(about => {
		const [inner] = duplexPair();
		const stream = new ClientStream({inner, clock: new ManualClock(), pace, onCut: () => undefined});
		const connection = newConnection<{readonly name: string}>(about, stream, () => undefined);
		connection.clientId = 'tool-1';
		connections.add({}, connection);
		t.true(connections.login(connection, {name: 'admin'}));
		return connection;
	});
	if (older === undefined || newer === undefined) return t.fail();
	connections.end(older);
	t.is(connections.holderOf('tool-1'), 'admin');
	connections.end(newer);
	t.is(connections.holderOf('tool-1'), undefined);
});

test('retained messages go to those only who may read them, and only where they match', async t => {
	const written: string[] = [];
	const sent: string[] = [];
	const payload = (): Buffer => Buffer.from('x');
	const replay = createReplay({
		match: () => ['open/a', 'closed/a', 'open/b', 'closed/b', 'elsewhere'].map((topic, at) => ({topic, payload, qos: at > 1 ? 1 : 0})),
		onLooked: () => undefined,
		allowed: topic => !topic.startsWith('closed/'),
		send: topic => void sent.push(topic),
		write: packets => void written.push(packets.toString('latin1').replaceAll(/[^ -~]+/g, ' ')),
		pace: work => work(),
		whenBelow: (_bytes, callback) => callback(),
		wanted: () => true,
	});
	replay.start('+/+', 1);
	await new Promise(resolve => setImmediate(resolve));
	t.regex(written.join(), /open\/a/);
	t.notRegex(written.join(), /closed|elsewhere/);
	t.deepEqual(sent, ['open/b']);
});

test('a connection that ended while its login was looked at holds no client id', t => {
	const connections = new Connections<object, {readonly name: string}>(() => true);
	const [inner] = duplexPair();
	const stream = new ClientStream({inner, clock: new ManualClock(), pace, onCut: () => undefined});
	const connection = newConnection<{readonly name: string}>('somewhere', stream, () => undefined);
	connection.clientId = 'tool-1';
	connections.add({}, connection);
	connections.end(connection);
	t.false(connections.login(connection, {name: 'admin'}));
	t.is(connections.holderOf('tool-1'), undefined);
	t.deepEqual(connections.names(), []);
});
