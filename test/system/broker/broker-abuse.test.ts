import {once} from 'node:events';
import {duplexPair, type Duplex} from 'node:stream';
import test from 'ava';
import {limits} from '../../../api/limits.js';
import {
	connectPacket,
	hearing,
	loggedIn,
	openSocket,
	publishPacket,
	settled,
	startBroker,
	stuckSubscriber,
	subscribePacket,
} from './broker-rig.js';

const beat = 'troupe/v1/nodes/node-a/beat';

/** The same garbage every time: a linear congruential generator (Numerical Recipes). */
function garbage(seed: number, length: number): Buffer {
	let state = seed;
	return Buffer.from(Array.from({length}, () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 24));
}

/** Publishes in portions of what one commit may hold, as the pipeline does. */
async function inPortions(count: number, publish: (i: number) => void): Promise<void> {
	for (let i = 0; i < count; i += 1) {
		publish(i);
		if (i % limits.batchOperations === 0) await new Promise(resolve => setImmediate(resolve));
	}
}

test('garbage before and after the login ends its connection and nothing else', async t => {
	const {broker, port} = await startBroker(t);
	const watcher = await loggedIn(t, port, 'watcher');
	const {until} = hearing(watcher);
	await watcher.subscribeAsync('troupe/v1/#');
	for (let seed = 0; seed < 60; seed += 1) {
		const socket = await openSocket(t, port);
		const closed = once(socket, 'close');
		if (seed % 3 > 0) socket.write(connectPacket('node-a', `garbage-${seed}`));
		// Well-formed headers around a body of noise reach the parser behind the guard.
		if (seed % 3 === 2)
			for (const type of [0x32, 0x34, 0x62, 0x82, 0xa2]) socket.write(Buffer.concat([Buffer.from([type, 60]), garbage(seed, 60)]));
		socket.end(garbage(seed + 1, 300));
		socket.resume();
		await closed;
	}
	broker.publish(beat, 'alive', {retain: false});
	t.true((await until(all => all.some(({text}) => text === 'alive'))).length > 0);
	t.deepEqual(broker.connected(), ['watcher']);
});

test('a connection that does not begin with CONNECT is cut at the first byte', async t => {
	const {broker, port} = await startBroker(t);
	const socket = await openSocket(t, port);
	socket.write(publishPacket(beat, 'x').subarray(0, 1));
	await once(socket, 'close');
	t.is(broker.counters().cutMalformed, 1);
});

test('a huge packet is cut by its header, before its body is there', async t => {
	const {broker, port} = await startBroker(t);
	const socket = await openSocket(t, port);
	socket.write(connectPacket('node-a', 'huge'));
	await once(socket, 'data');
	socket.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]));
	await once(socket, 'close');
	t.is(broker.counters().cutOversized, 1);
});

test('a packet of just the allowed size passes, and until the login less is allowed', async t => {
	const {broker, port} = await startBroker(t);
	const watcher = await loggedIn(t, port, 'watcher');
	const {until} = hearing(watcher);
	await watcher.subscribeAsync(beat);
	const node = await loggedIn(t, port, 'node-a');
	const payload = Buffer.alloc(limits.packetBytes - 1 - 3 - 2 - beat.length, 'a');
	node.publish(beat, payload);
	const [heard] = await until(all => all.length > 0);
	t.is(heard?.text.length, payload.length);
	const stranger = await openSocket(t, port);
	stranger.write(Buffer.from([0x10, 0xff, 0xff, 0x7f]));
	await once(stranger, 'close');
	t.is(broker.counters().cutOversized, 1);
});

test('one stuck subscriber costs the others nothing while 20,000 messages go by, and is cut when too much waits', async t => {
	const {broker, port} = await startBroker(t);
	const stuck = await stuckSubscriber(t, port, 'admin', 'troupe/v1/nodes/#');
	const watcher = await loggedIn(t, port, 'watcher');
	const {heard, until} = hearing(watcher);
	await watcher.subscribeAsync('troupe/v1/nodes/#');
	const node = await loggedIn(t, port, 'node-a');
	const payload = 'x'.repeat(1_000);
	await inPortions(20_000, i => {
		broker.publish(beat, `${i} ${payload}`, {retain: false});
		if (i % 100 === 0) node.publish('troupe/v1/nodes/node-a/presence', String(i));
	});
	await until(all => all.length === 20_200);
	const beats = heard.filter(({topic}) => topic === beat).map(({text}) => Number.parseInt(text, 10));
	t.deepEqual(
		beats,
		Array.from({length: 20_000}, (_, i) => i),
	);
	t.is(broker.counters().cutOverflow, 1);
	t.is(broker.counters().outboxDropped, 0);
	t.deepEqual(broker.connected(), ['node-a', 'watcher']);
	t.true(stuck.isPaused());
});

test('a publisher is not held up by a stuck subscriber of its own topic', async t => {
	const {port} = await startBroker(t);
	await stuckSubscriber(t, port, 'admin', beat);
	const watcher = await loggedIn(t, port, 'watcher');
	const {until} = hearing(watcher);
	await watcher.subscribeAsync('troupe/v1/nodes/node-a/#');
	const node = await loggedIn(t, port, 'node-a');
	const payload = 'x'.repeat(10_000);
	for (let i = 0; i < 3_000; i += 1) node.publish(beat, payload);
	node.publish('troupe/v1/nodes/node-a/presence', 'through');
	const heard = await until(all => all.at(-1)?.text === 'through');
	t.is(heard.length, 3_001);
});

test('a subscriber that takes nothing for its time is cut, one that reads slowly is not', async t => {
	const {broker, port, clock} = await startBroker(t);
	await stuckSubscriber(t, port, 'admin', beat);
	const watcher = await loggedIn(t, port, 'watcher');
	const {until} = hearing(watcher);
	await watcher.subscribeAsync(beat);
	// More than the sockets take, less than the buffer.
	const payload = 'x'.repeat(100_000);
	await inPortions(100, () => broker.publish(beat, payload, {retain: false}));
	await until(all => all.length === 100);
	clock.advance(limits.toolStallMs - 1);
	await settled(watcher);
	t.is(broker.counters().cutStalled, 0);
	clock.advance(1);
	await settled(watcher);
	t.is(broker.counters().cutStalled, 1);
	t.deepEqual(broker.connected(), ['watcher']);
});

test('a client that goes while 5,000 messages wait for it takes nothing with it', async t => {
	const {broker, port} = await startBroker(t);
	const stuck = await stuckSubscriber(t, port, 'admin', beat);
	const watcher = await loggedIn(t, port, 'watcher');
	const {until} = hearing(watcher);
	await watcher.subscribeAsync('troupe/v1/nodes/node-b/beat');
	for (let i = 0; i < 5_000; i += 1) broker.publish(beat, `${i} ${'x'.repeat(1_000)}`, {retain: false});
	stuck.destroy();
	for (let i = 0; i < 5_000; i += 1) broker.publish(beat, String(i), {retain: false});
	broker.publish('troupe/v1/nodes/node-b/beat', 'alive', {retain: false});
	t.is((await until(all => all.length > 0))[0]?.text, 'alive');
});

test('200 subscribers all get every message', async t => {
	const {broker, port} = await startBroker(t, {may: () => true});
	const counts = Array.from({length: 200}, () => 0);
	let left = 200 * 50;
	const done = new Promise<void>(resolve => {
		void Promise.all(
			counts.map(async (_, i) => {
				const socket = await openSocket(t, port);
				socket.write(connectPacket(i % 2 === 0 ? 'watcher' : 'admin', `many-${i}`));
				await once(socket, 'data');
				socket.write(subscribePacket('a'));
				await once(socket, 'data');
				socket.on('data', (bytes: Buffer) => {
					const messages = bytes.toString('latin1').split('hello').length - 1;
					counts[i] = (counts[i] ?? 0) + messages;
					left -= messages;
					if (left === 0) resolve();
				});
			}),
		).then(() => {
			for (let i = 0; i < 50; i += 1) broker.publish('a', 'hello', {retain: false});
		});
	});
	await done;
	t.true(counts.every(count => count === 50));
});

test('connections beyond the limit are refused at the door, and so is everybody once it is closed', async t => {
	const {broker} = await startBroker(t);
	const inner = (): Duplex => duplexPair()[0];
	for (let i = 0; i < limits.brokerConnections + limits.newcomers; i += 1) broker.attach(inner(), `pair ${i}`);
	t.is(broker.counters().cutCrowded, 0);
	const surplus = inner();
	broker.attach(surplus, 'surplus');
	t.true(surplus.destroyed);
	t.is(broker.counters().cutCrowded, 1);
	await broker.close();
	const late = inner();
	broker.attach(late, 'late');
	t.true(late.destroyed);
});
