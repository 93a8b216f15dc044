import test from 'ava';
import {limits} from '../../../../api/limits.js';
import {prove, type Rig} from './_rig.js';
import {ackPacket, pingPacket, publishPacket, subscribePacket, unsubscribePacket, type Qos} from '../../../../bench/rigs/mqtt/packets.js';
import type {Wire} from './_wire.js';

async function watching({join}: Rig, qos: Qos = 0): Promise<Wire> {
	const wire = await join();
	wire.send(subscribePacket(1, ['a', qos]));
	await wire.next();
	return wire;
}

/** Publishes a marker after all else, and tells what the watcher heard before it. */
async function heardBy(watcher: Wire, publisher: Wire): Promise<readonly string[]> {
	publisher.send(publishPacket('a', 'marker', {qos: 1, id: 999}));
	while ((await publisher.next()) !== 'puback 999');
	const heard: string[] = [];
	for (let words = await watcher.next(); !words.endsWith(' marker'); words = await watcher.next()) heard.push(words);
	return heard;
}

const two = {qos: 2, id: 5} as const;

prove(test, 'qos', {
	'QoS 0 is answered by nothing': async (t, {join}) => {
		const wire = await join();
		wire.send(publishPacket('a', 'x'), pingPacket);
		t.is(await wire.next(), 'pingresp');
	},
	'QoS 1 is answered with PUBACK and its packet id': async (t, {join}) => {
		const wire = await join();
		for (const id of [1, 300, 65_535]) {
			wire.send(publishPacket('a', 'x', {qos: 1, id}));
			t.is(await wire.next(), `puback ${id}`);
		}
	},
	'QoS 1 a second time is a new message, whatever its duplicate flag says': async (t, rig) => {
		const [watcher, wire] = [await watching(rig), await rig.join()];
		wire.send(publishPacket('a', 'x', {qos: 1, id: 5}), publishPacket('a', 'x', {qos: 1, id: 5, dup: true}));
		t.deepEqual([await wire.next(), await wire.next()], ['puback 5', 'puback 5']);
		t.is((await heardBy(watcher, wire)).length, 2);
	},
	'QoS 2: PUBREC, PUBREL, PUBCOMP, and one delivery': async (t, rig) => {
		const [watcher, wire] = [await watching(rig), await rig.join()];
		wire.send(publishPacket('a', 'x', two));
		t.is(await wire.next(), 'pubrec 5');
		wire.send(ackPacket('pubrel', 5));
		t.is(await wire.next(), 'pubcomp 5');
		t.deepEqual(await heardBy(watcher, wire), ['publish q0 r0 d0 a x']);
	},
	'QoS 2 a second time before PUBREL is answered and not delivered again': async (t, rig) => {
		const [watcher, wire] = [await watching(rig), await rig.join()];
		for (const dup of [false, true, true]) {
			wire.send(publishPacket('a', 'x', {...two, dup}));
			t.is(await wire.next(), 'pubrec 5');
		}
		t.is((await heardBy(watcher, wire)).length, 1);
	},
	'after PUBCOMP the packet id is a new message': async (t, rig) => {
		const [watcher, wire] = [await watching(rig), await rig.join()];
		for (let round = 0; round < 2; round += 1) {
			wire.send(publishPacket('a', 'x', two));
			await wire.next();
			wire.send(ackPacket('pubrel', 5));
			t.is(await wire.next(), 'pubcomp 5');
		}
		t.is((await heardBy(watcher, wire)).length, 2);
	},
	'a PUBREL that nobody waits for is answered with PUBCOMP': async (t, {join}) => {
		const wire = await join();
		wire.send(ackPacket('pubrel', 77));
		t.is(await wire.next(), 'pubcomp 77');
	},
	'the broker sends QoS 1 and 2 with packet ids of its own and goes on after PUBREC': async (t, rig) => {
		const [watcher, wire] = [await watching(rig, 2), await rig.join()];
		wire.send(publishPacket('a', 'x', {qos: 1, id: 9}), publishPacket('a', 'y', two));
		const ids = [await watcher.next(), await watcher.next()].map(words => Number(words.split(' ')[4]));
		t.true(ids.every(id => id > 0) && ids[0] !== ids[1]);
		watcher.send(ackPacket('puback', ids[0] ?? 0), ackPacket('pubrec', ids[1] ?? 0));
		t.is(await watcher.next(), `pubrel ${ids[1]}`);
		watcher.send(ackPacket('pubcomp', ids[1] ?? 0), pingPacket);
		t.is(await watcher.next(), 'pingresp');
	},
	'the duplicate flag of a publisher is not handed on': async (t, rig) => {
		const [watcher, wire] = [await watching(rig, 2), await rig.join()];
		for (const qos of [1, 2] as const) {
			wire.send(publishPacket('a', 'x', {qos, id: 5, dup: true}));
			t.regex(await watcher.next(), new RegExp(`^publish q${qos} r0 d0 `));
		}
	},
	'a packet id of 0 in PUBLISH ends the connection': async (t, {join}) => {
		for (const qos of [1, 2] as const) {
			const wire = await join();
			wire.send(publishPacket('a', 'x', {qos, id: 0}));
			t.is(await wire.next(), 'closed');
		}
	},
	'a packet id of 0 in SUBSCRIBE and UNSUBSCRIBE is answered': async (t, {join}) => {
		const wire = await join();
		wire.send(subscribePacket(0, ['a', 0]), unsubscribePacket(0, 'a'));
		t.deepEqual([await wire.next(), await wire.next()], ['suback 0: 0', 'unsuback 0']);
	},
	'QoS 3 ends the connection': async (t, {join}) => {
		const wire = await join();
		wire.send(publishPacket('a', 'x', {qos: 3 as Qos}));
		t.is(await wire.next(), 'closed');
	},
	'messages of one publisher and QoS arrive in order': async (t, rig) => {
		for (const qos of [0, 1, 2] as const) {
			const [watcher, wire] = [await watching(rig, qos), await rig.join()];
			for (let i = 0; i < 200; i += 1) wire.send(publishPacket('a', String(i), {qos, id: i + 1}));
			const payloads: string[] = [];
			while (payloads.length < 200) payloads.push((await watcher.next()).split(' ').at(-1) ?? '');
			t.deepEqual(
				payloads,
				Array.from({length: 200}, (_, i) => String(i)),
			);
		}
	},
	'more than 1,000 messages of QoS 2 without PUBREL end the connection': async (t, {join}) => {
		const wire = await join();
		for (let id = 1; id <= limits.brokerInflightInbound; id += 1) wire.send(publishPacket('b', '', {qos: 2, id}));
		for (let id = 1; id <= limits.brokerInflightInbound; id += 1) t.is(await wire.next(), `pubrec ${id}`);
		wire.send(publishPacket('b', '', {qos: 2, id: 60_000}));
		t.is(await wire.next(), 'closed');
	},
	'a publish that is not allowed is acknowledged and heard by nobody': async (t, rig) => {
		const wire = await rig.join();
		const heard: string[] = [];
		rig.broker.subscribe('forbidden/#', topic => heard.push(topic));
		wire.send(publishPacket('forbidden/a', ''), publishPacket('forbidden/a', '', {qos: 1, id: 3}), publishPacket('forbidden/a', '', two));
		t.deepEqual([await wire.next(), await wire.next()], ['puback 3', 'pubrec 5']);
		t.deepEqual([heard, rig.broker.counters().publishesRefused], [[], 3]);
	},
});
