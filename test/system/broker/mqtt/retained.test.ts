import test from 'ava';
import {limits} from '../../../../api/limits.js';
import {prove, type Rig} from './_rig.js';
import {publishPacket, subscribePacket} from '../../../../bench/rigs/mqtt/packets.js';
import type {Wire} from './_wire.js';

/** What a new subscriber gets at once, up to a message of its own that follows. */
async function given({join}: Rig, filter: string, qos = 0, fields: {clean?: boolean; id?: string} = {}): Promise<readonly string[]> {
	const wire = await join(fields);
	return heardUpTo(wire, subscribePacket(1, [filter, qos], ['marker', 0]));
}

/** What a client hears after it sent something, acknowledgements aside. Retained messages may come a moment after SUBACK. */
async function heardUpTo(wire: Wire, packet: Buffer): Promise<readonly string[]> {
	wire.send(packet);
	const heard: string[] = [];
	for (let words = await wire.next(); !words.startsWith('suback'); words = await wire.next()) heard.push(words);
	for (let turn = 0; turn < 3; turn += 1) {
		wire.send(publishPacket('marker', String(turn)));
		for (let words = await wire.next(); !words.startsWith('publish q0 r0 d0 marker'); words = await wire.next())
			if (words.startsWith('publish')) heard.push(words);
	}
	return heard;
}

/** Publishes and waits until the broker has taken it. */
async function publish({join}: Rig, ...packets: readonly Buffer[]): Promise<void> {
	const wire = await join();
	wire.send(...packets, publishPacket('done', '', {qos: 1, id: 9}));
	while ((await wire.next()) !== 'puback 9');
}

const retain = {retain: true, qos: 0} as const;

prove(test, 'retained', {
	'a retained message is kept and given to later subscribers with the retain flag': async (t, rig) => {
		await publish(rig, publishPacket('a', 'one', retain));
		t.deepEqual(await given(rig, 'a'), ['publish q0 r1 d0 a one']);
		t.deepEqual(await given(rig, 'b'), []);
	},
	'a newer one takes its place': async (t, rig) => {
		await publish(rig, publishPacket('a', 'one', retain), publishPacket('a', 'two', retain));
		t.deepEqual(await given(rig, 'a'), ['publish q0 r1 d0 a two']);
	},
	'an empty one clears the topic, and live subscribers get it like any other': async (t, rig) => {
		const live = await rig.join();
		live.send(subscribePacket(1, ['a', 0]));
		await live.next();
		await publish(rig, publishPacket('a', 'one', retain), publishPacket('a', '', retain));
		t.deepEqual([await live.next(), await live.next()], ['publish q0 r0 d0 a one', 'publish q0 r0 d0 a ']);
		t.deepEqual(await given(rig, 'a'), []);
	},
	'a live subscriber gets it without the retain flag': async (t, rig) => {
		const live = await rig.join();
		live.send(subscribePacket(1, ['a', 0]));
		await live.next();
		await publish(rig, publishPacket('a', 'one', retain));
		t.is(await live.next(), 'publish q0 r0 d0 a one');
	},
	'a message that is not retained neither replaces nor clears it': async (t, rig) => {
		await publish(rig, publishPacket('a', 'one', retain), publishPacket('a', 'two'), publishPacket('a', ''));
		t.deepEqual(await given(rig, 'a'), ['publish q0 r1 d0 a one']);
	},
	'the same subscription again brings it again': async (t, rig) => {
		await publish(rig, publishPacket('a', 'one', retain));
		const wire = await rig.join();
		const subscribe = subscribePacket(1, ['a', 0], ['marker', 0]);
		t.deepEqual(await heardUpTo(wire, subscribe), ['publish q0 r1 d0 a one']);
		t.deepEqual(await heardUpTo(wire, subscribe), ['publish q0 r1 d0 a one']);
	},
	'it comes at the lower of its QoS and the QoS granted': async (t, rig) => {
		for (const qos of [0, 1, 2] as const) await publish(rig, publishPacket(`q/${qos}`, 'x', {retain: true, qos}));
		for (const granted of [0, 1, 2]) {
			const qualities = (await given(rig, 'q/+', granted)).map(words => Number(words[9]));
			t.deepEqual(
				qualities.toSorted(),
				[0, 1, 2].map(qos => Math.min(qos, granted)),
			);
		}
	},
	'every retained topic that a wildcard matches comes, and no other': async (t, rig) => {
		await publish(rig, ...['a', 'a/b', 'a/b/c', 'b/a'].map(topic => publishPacket(topic, 'x', retain)));
		const topics = async (filter: string): Promise<readonly string[]> =>
			(await given(rig, filter)).map(words => words.slice(17, -2)).toSorted();
		t.deepEqual(await topics('a/#'), ['a', 'a/b', 'a/b/c']);
		t.deepEqual(await topics('+/+'), ['a/b', 'b/a']);
	},
	'to a kept session it comes at QoS 0': async (t, rig) => {
		await publish(rig, publishPacket('a', 'one', {retain: true, qos: 1}));
		t.deepEqual(await given(rig, 'a', 1, {clean: false, id: 'kept'}), ['publish q0 r1 d0 a one']);
	},
	'what finds no room is delivered and not kept': async (t, rig) => {
		const live = await rig.join();
		live.send(subscribePacket(1, ['last', 0]));
		await live.next();
		await publish(rig, ...Array.from({length: limits.brokerRetainedPerLogin}, (_, i) => publishPacket(`many/${i}`, 'x', retain)));
		await publish(rig, publishPacket('last', 'one', retain));
		t.is(await live.next(), 'publish q0 r0 d0 last one');
		t.deepEqual(await given(rig, 'last'), []);
		t.is(rig.broker.counters().retainedRefused, 1);
	},
	'it is gone when the broker starts again': async (t, rig) => {
		await publish(rig, publishPacket('a', 'one', retain));
		t.deepEqual(await given(await rig.again(), 'a'), []);
	},
});
