import test from 'ava';
import {limits} from '../../../../api/limits.js';
import {prove} from './_rig.js';
import {ackPacket, packet, publishPacket, subscribePacket, text} from '../../../../bench/rigs/mqtt/packets.js';
import type {Wire} from './_wire.js';

const id = Buffer.from([0, 1]);

/** What comes of one publish to `a/b`, up to a marker. */
async function deliveries(wire: Wire, qos: 0 | 1 | 2): Promise<readonly string[]> {
	wire.send(publishPacket('a/b', 'x', {qos, id: 7}), publishPacket('marker', ''));
	const heard: string[] = [];
	let acknowledged = qos === 0;
	let marked = false;
	while (!marked || !acknowledged) {
		const words = await wire.next();
		if (words.startsWith('publish q0 r0 d0 marker')) marked = true;
		else if (words.startsWith('pubrec')) wire.send(ackPacket('pubrel', 7));
		else if (words.startsWith('puback') || words.startsWith('pubcomp')) acknowledged = true;
		else heard.push(words.replace(/ d0 \d+/, ' d0'));
	}
	// What was acknowledged is delivered in the next turns.
	wire.send(publishPacket('marker', ''));
	for (let words = await wire.next(); !words.startsWith('publish q0 r0 d0 marker'); words = await wire.next())
		heard.push(words.replace(/ d0 \d+/, ' d0'));
	return heard;
}

prove(test, 'subscribe', {
	'SUBACK has the packet id and a code for each filter, in order': async (t, {join}) => {
		const wire = await join();
		wire.send(subscribePacket(513, ['a', 2], ['forbidden', 1], ['b', 0], ['c', 1]));
		t.is(await wire.next(), 'suback 513: 2 128 0 1');
	},
	'a message comes at the lower of its QoS and the QoS granted, also under a wildcard': async (t, {join}) => {
		for (const filter of ['a/b', 'a/+', '#']) {
			for (const granted of [0, 1, 2]) {
				const wire = await join();
				wire.send(subscribePacket(1, [filter, granted], ['marker', 0]));
				await wire.next();
				for (const qos of [0, 1, 2] as const)
					t.deepEqual(await deliveries(wire, qos), [`publish q${Math.min(qos, granted)} r0 d0 a/b x`], `${filter} ${granted} ${qos}`);
				wire.socket.destroy();
			}
		}
	},
	'overlapping filters: one delivery, at the highest QoS granted': async (t, {join}) => {
		for (const order of [
			[0, 1, 2],
			[2, 1, 0],
			[1, 0, 0],
		]) {
			const wire = await join();
			const [first = 0, second = 0, third = 0] = order;
			wire.send(subscribePacket(1, ['a/#', first], ['a/b', second], ['+/b', third], ['marker', 0]));
			await wire.next();
			for (const qos of [0, 1, 2] as const)
				t.deepEqual(await deliveries(wire, qos), [`publish q${Math.min(qos, Math.max(...order))} r0 d0 a/b x`], order.join(' '));
			wire.socket.destroy();
		}
	},
	'a subscription to the same filter replaces the QoS and is not interrupted': async (t, {join}) => {
		const wire = await join();
		for (const granted of [2, 0, 1]) {
			wire.send(subscribePacket(1, ['a/+', granted], ['marker', 0]));
			await wire.next();
			t.deepEqual(await deliveries(wire, 2), [`publish q${granted} r0 d0 a/b x`]);
		}
	},
	'several filters in one packet are as several packets': async (t, {join}) => {
		const wire = await join();
		wire.send(subscribePacket(1, ['a', 0], ['b', 0]));
		await wire.next();
		wire.send(publishPacket('a', '1'), publishPacket('b', '2'));
		t.deepEqual([await wire.next(), await wire.next()].toSorted(), ['publish q0 r0 d0 a 1', 'publish q0 r0 d0 b 2']);
	},
	'a filter named twice in one packet gets one code': async (t, {join}) => {
		const wire = await join();
		wire.send(subscribePacket(1, ['a', 0], ['a', 1]));
		t.is(await wire.next(), 'suback 1: 1');
	},
	'a filter that may not be read is refused: 128, and the others of the packet stand': async (t, {join}) => {
		const wire = await join();
		wire.send(subscribePacket(1, ['forbidden', 0], ['a', 0]));
		t.is(await wire.next(), 'suback 1: 128 0');
		wire.send(publishPacket('a', 'x'));
		t.is(await wire.next(), 'publish q0 r0 d0 a x');
	},
	'SUBSCRIBE without a filter, with QoS 3, with reserved bits or other flags ends the connection': async (t, {join}) => {
		const bad = [
			packet(0x82, id),
			packet(0x82, id, text('a')),
			packet(0x82, id, text('a'), Buffer.from([3])),
			packet(0x82, id, text('a'), Buffer.from([4])),
			packet(0x80, id, text('a'), Buffer.from([0])),
			packet(0x82, id, text(''), Buffer.from([0])),
		];
		for (const bytes of bad) {
			const wire = await join();
			wire.send(bytes);
			t.is(await wire.next(), 'closed');
		}
	},
	'more filters than one connection may hold are refused: 128': async (t, {join}) => {
		const wire = await join();
		const filters = Array.from({length: limits.brokerSubscriptions + 2}, (_, i) => [`f/${i}`, 0] as const);
		wire.send(subscribePacket(1, ...filters));
		const codes = (await wire.next()).split(' ').slice(2);
		t.deepEqual([codes.filter(code => code === '0').length, codes.slice(-2)], [limits.brokerSubscriptions, ['128', '128']]);
	},
	'what a client publishes comes back to it, if it subscribes to it': async (t, {join}) => {
		const wire = await join();
		wire.send(subscribePacket(1, ['a', 0]));
		await wire.next();
		wire.send(publishPacket('a', 'x'));
		t.is(await wire.next(), 'publish q0 r0 d0 a x');
	},
});
