// Messages that somebody takes over: the acknowledgement waits for that, in order, and a message that is not taken ends the connection.

import {once} from 'node:events';
import type {Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import type {Identity} from '../../../api/roles.js';
import {inOrder, type Waiting} from '../../../system/broker/acceptance.js';
import type {BrokerOptions, ClientMessage} from '../../../system/broker/ports.js';
import {packet, text} from '../../../bench/rigs/mqtt/packets.js';
import {connectPacket, event, hearing, loggedIn, openSocket, settled, startBroker} from './broker-rig.js';

type Taken = ClientMessage & {readonly by: string; readonly yes: () => void; readonly no: () => void};

/** A broker whose messages below `jobs/` are taken when the test says so. */
async function startTaking(t: ExecutionContext, options: Partial<BrokerOptions<Identity>> = {}) {
	const offered: Taken[] = [];
	let look = (): void => undefined;
	const rig = await startBroker(t, {
		may: () => true,
		accept(identity, message) {
			if (!message.topic.startsWith('jobs/')) return undefined;
			return new Promise((resolve, reject) => {
				const no = (): void => reject(new Error('too much waits'));
				offered.push({...message, payload: Buffer.from(message.payload), by: identity.name, yes: resolve, no});
				look();
			});
		},
		...options,
	});
	const until = (count: number): Promise<void> =>
		new Promise(resolve => {
			look = () => {
				if (offered.length >= count) resolve();
			};
			look();
		});
	return {...rig, offered, until};
}

const withId = (first: number, topic: string, id: number, payload = ''): Buffer =>
	packet(first, text(topic), Buffer.from([0, id]), Buffer.from(payload));
const qos1 = (topic: string, id: number, payload?: string): Buffer => withId(0x32, topic, id, payload);
const qos2 = (topic: string, id: number, isAgain = false): Buffer => withId(isAgain ? 0x3c : 0x34, topic, id);
const puback = (id: number): Buffer => Buffer.from([0x40, 2, 0, id]);
const pubrec = (id: number): Buffer => Buffer.from([0x50, 2, 0, id]);

async function bare(t: ExecutionContext, port: number, name: string, id: string, isKept = false): Promise<Socket> {
	const socket = await openSocket(t, port);
	const hello = connectPacket(name, id);
	if (isKept) hello[9] = 0xc0;
	socket.write(hello);
	await once(socket, 'data');
	return socket;
}

/** What comes until so many bytes are there. */
async function bytesOf(socket: Socket, count: number): Promise<Buffer> {
	let all = Buffer.alloc(0);
	while (all.length < count) all = Buffer.concat([all, ...((await once(socket, 'data')) as Buffer[])]);
	return all;
}

test('QoS 1 is acknowledged once the message is taken, and only then handed to subscribers', async t => {
	const {port, offered, until} = await startTaking(t);
	const watcher = await loggedIn(t, port, 'watcher');
	const {heard, until: hears} = hearing(watcher);
	await watcher.subscribeAsync('jobs/#', {qos: 1});
	const client = await loggedIn(t, port, 'admin');
	let isAcknowledged = false;
	const published = client.publishAsync('jobs/a', 'one', {qos: 1}).then(() => (isAcknowledged = true));
	await until(1);
	t.like(offered[0], {topic: 'jobs/a', qos: 1, by: 'admin'});
	t.is(offered[0]?.payload.toString(), 'one');
	await settled(watcher);
	t.deepEqual([isAcknowledged, heard.length], [false, 0]);
	offered[0]?.yes();
	await published;
	await hears(all => all.length === 1);
	t.is(heard[0]?.text, 'one');
});

test('several messages of a connection wait at a time, and are acknowledged in order', async t => {
	const {port, offered, until} = await startTaking(t);
	const watcher = await loggedIn(t, port, 'watcher');
	const {heard, until: hears} = hearing(watcher);
	await watcher.subscribeAsync('#', {qos: 1});
	const socket = await bare(t, port, 'admin', 'a');
	socket.write(Buffer.concat([qos1('jobs/a', 1, '1'), qos1('jobs/b', 2, '2'), qos1('plain', 3, '3'), qos1('jobs/a', 4, '4')]));
	await until(3);
	for (const each of [...offered].reverse()) each.yes();
	t.deepEqual(await bytesOf(socket, 16), Buffer.concat([1, 2, 3, 4].map(puback)));
	await hears(all => all.length === 4);
	t.deepEqual(
		heard.map(each => each.text),
		['1', '2', '3', '4'],
	);
});

test('a message that is not taken gets no acknowledgement, nor does what follows it, and its connection is cut', async t => {
	const {broker, port, offered, until} = await startTaking(t);
	const socket = await bare(t, port, 'admin', 'a');
	let answered = Buffer.alloc(0);
	socket.on('data', (bytes: Buffer) => (answered = Buffer.concat([answered, bytes])));
	socket.write(Buffer.concat([qos1('jobs/a', 1), qos1('jobs/a', 2), qos1('jobs/a', 3)]));
	await until(3);
	const [first, second, third] = offered;
	third?.yes();
	first?.yes();
	while (answered.length === 0) await once(socket, 'data');
	second?.no();
	await once(socket, 'close');
	t.deepEqual(answered, puback(1));
	t.true(broker.counters().cutNotTaken >= 1);
	const again = await loggedIn(t, port, 'admin');
	t.true(again.connected);
});

test('QoS 0 waits for nothing; what is not taken is counted, and its connection stays', async t => {
	const {broker, port, offered, until} = await startTaking(t);
	const client = await loggedIn(t, port, 'admin');
	const watcher = await loggedIn(t, port, 'watcher');
	const {until: hears} = hearing(watcher);
	await watcher.subscribeAsync('jobs/#');
	client.publish('jobs/a', 'one');
	await hears(all => all.length === 1);
	await until(1);
	offered[0]?.no();
	await settled(client);
	t.is(broker.counters().notTaken, 1);
	t.is(broker.counters().cutNotTaken, 0);
});

test('QoS 2 gets PUBREC once the message is taken, and what comes again before PUBREL is not offered again', async t => {
	const {port, offered, until} = await startTaking(t);
	const socket = await bare(t, port, 'admin', 'kept', true);
	socket.write(qos2('jobs/a', 7));
	await until(1);
	offered[0]?.yes();
	t.deepEqual(await bytesOf(socket, 4), pubrec(7));
	socket.destroy();
	const again = await bare(t, port, 'admin', 'kept', true);
	again.write(qos2('jobs/a', 7, true));
	t.deepEqual(await bytesOf(again, 4), pubrec(7));
	t.is(offered.length, 1);
});

test('QoS 2 that comes again on another connection before it was taken is offered once, and acknowledged there', async t => {
	const {port, offered, until} = await startTaking(t);
	const socket = await bare(t, port, 'admin', 'kept', true);
	socket.write(qos2('jobs/a', 7));
	await until(1);
	socket.destroy();
	const again = await bare(t, port, 'admin', 'kept', true);
	again.write(Buffer.concat([qos2('jobs/a', 7, true), qos2('jobs/b', 8)]));
	await until(2);
	t.deepEqual(
		offered.map(({topic}) => topic),
		['jobs/a', 'jobs/b'],
	);
	for (const {yes} of offered) yes();
	t.deepEqual(await bytesOf(again, 8), Buffer.concat([pubrec(7), pubrec(8)]));
});

test('what may not be published is offered to nobody, nor is what is retained when it is sent again', async t => {
	const {port, offered, until} = await startTaking(t, {may: (_, verb, topic) => verb !== 'publish' || topic !== 'jobs/secret'});
	const client = await loggedIn(t, port, 'admin');
	await client.publishAsync('jobs/secret', 'x', {qos: 1});
	const published = client.publishAsync('jobs/a', 'kept', {qos: 1, retain: true});
	await until(1);
	offered[0]?.yes();
	await published;
	const watcher = await loggedIn(t, port, 'watcher');
	const {heard, until: hears} = hearing(watcher);
	await watcher.subscribeAsync('jobs/#');
	await hears(all => all.length === 1);
	t.true(heard[0]?.retain);
	t.deepEqual(
		offered.map(({topic}) => topic),
		['jobs/a'],
	);
});

test('a last will is taken over like any message', async t => {
	const {port, offered, until} = await startTaking(t);
	const client = await loggedIn(t, port, 'admin', {will: {topic: 'jobs/gone', payload: Buffer.from('bye'), qos: 1, retain: false}});
	client.stream.destroy();
	await until(1);
	t.like(offered[0], {topic: 'jobs/gone', qos: 1});
	offered[0]?.yes();
});

test('a client that goes while its message waits harms nobody', async t => {
	const {broker, port, offered, until} = await startTaking(t);
	for (const name of ['a', 'b']) {
		const socket = await bare(t, port, 'admin', name);
		socket.write(Buffer.concat([qos1('jobs/a', 1), qos2('jobs/a', 2)]));
		await until(offered.length + 2);
		socket.destroy();
	}
	while (broker.connected().length > 0) await new Promise(resolve => setImmediate(resolve));
	for (const [at, each] of offered.entries()) {
		if (at < 2) each.yes();
		else each.no();
	}
	const client = await loggedIn(t, port, 'admin');
	await settled(client);
	t.is(broker.counters().errors, 0);
	client.end();
	await event(client, 'close');
});

test('who waits for a commit for long is not taken for one that asks for too much', async t => {
	const {broker, port, clock, offered, until} = await startTaking(t);
	const socket = await bare(t, port, 'admin', 'slow');
	socket.write(Buffer.concat(Array.from({length: 60}, (_, at) => qos1('jobs/a', at + 1))));
	let acknowledged = 0;
	socket.on('data', (bytes: Buffer) => (acknowledged += bytes.length / 4));
	for (let done = 0; done < 60; done += 1) {
		await until(done + 1);
		clock.advance(1_000);
		offered[done]?.yes();
		while (acknowledged === done) await once(socket, 'data');
	}
	t.is(broker.counters().cutGreedy, 0);
});

test('after one that was not taken nothing is, until all that waited has been told', async t => {
	const connection: Waiting = {acceptance: undefined};
	const told: [number, boolean][] = [];
	const tell = (at: number) => (isTaken: boolean) => void told.push([at, isTaken]);
	inOrder(connection, undefined, tell(0));
	inOrder(connection, Promise.reject(new Error('no')), tell(1));
	inOrder(connection, Promise.resolve(), tell(2));
	inOrder(connection, undefined, tell(3));
	t.deepEqual(told, [[0, true]]);
	while (connection.acceptance !== undefined) await connection.acceptance;
	t.deepEqual(told, [
		[0, true],
		[1, false],
		[2, false],
		[3, false],
	]);
	inOrder(connection, undefined, tell(4));
	t.deepEqual(told.at(-1), [4, true]);
});
