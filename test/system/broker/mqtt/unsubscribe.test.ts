import test from 'ava';
import {prove, type Rig} from './_rig.js';
import {packet, pingPacket, publishPacket, subscribePacket, text, unsubscribePacket} from '../../../../bench/rigs/mqtt/packets.js';

const id = Buffer.from([0, 1]);

/** Subscribes, takes back, and tells what comes of some publishes after that. */
async function heardAfter(
	{join}: Rig,
	filters: readonly string[],
	taken: readonly string[],
	topics: readonly string[],
): Promise<readonly string[]> {
	const wire = await join();
	wire.send(subscribePacket(1, ...filters.map(filter => [filter, 0] as const), ['marker', 0]));
	await wire.next();
	wire.send(unsubscribePacket(770, ...taken));
	const heard = [await wire.next()];
	wire.send(...topics.map(topic => publishPacket(topic, 'x')), publishPacket('marker', ''));
	for (let words = await wire.next(); !words.includes(' marker '); words = await wire.next()) heard.push(words);
	return heard;
}

prove(test, 'unsubscribe', {
	'UNSUBACK has the packet id, and no further message comes': async (t, rig) => {
		t.deepEqual(await heardAfter(rig, ['a'], ['a'], ['a']), ['unsuback 770']);
	},
	'filters are compared by character: another one that matches the same stays': async (t, rig) => {
		t.deepEqual(await heardAfter(rig, ['a/b'], ['a/+', 'a/#', 'a/B', '#'], ['a/b']), ['unsuback 770', 'publish q0 r0 d0 a/b x']);
	},
	'a filter that was not subscribed is acknowledged as well': async (t, rig) => {
		t.deepEqual(await heardAfter(rig, [], ['never'], []), ['unsuback 770']);
	},
	'several filters in one packet are all taken back, with one UNSUBACK': async (t, rig) => {
		t.deepEqual(await heardAfter(rig, ['a', 'b', 'c'], ['a', 'b'], ['a', 'b', 'c']), ['unsuback 770', 'publish q0 r0 d0 c x']);
	},
	'a filter that is taken back and asked for again at once is subscribed, also in a kept session': async (t, {join}) => {
		for (const clean of [true, false]) {
			const wire = await join({clean, id: `again-${clean}`});
			wire.send(subscribePacket(1, ['a', 1]));
			await wire.next();
			wire.send(unsubscribePacket(2, 'a'), subscribePacket(3, ['a', 1]));
			t.deepEqual([await wire.next(), await wire.next()], ['unsuback 2', 'suback 3: 1']);
			wire.send(publishPacket('a', 'x'));
			t.is(await wire.next(), 'publish q0 r0 d0 a x');
			wire.send(subscribePacket(4, ['a', 0]), unsubscribePacket(5, 'a'));
			t.deepEqual([await wire.next(), await wire.next()], ['suback 4: 0', 'unsuback 5']);
			wire.send(publishPacket('a', 'x'), pingPacket);
			t.is(await wire.next(), 'pingresp');
		}
	},
	'what is published right behind UNSUBSCRIBE does not come': async (t, {join}) => {
		const wire = await join();
		wire.send(subscribePacket(1, ['a', 0]));
		await wire.next();
		wire.send(unsubscribePacket(2, 'a'), publishPacket('a', 'x'), pingPacket);
		t.deepEqual([await wire.next(), await wire.next()], ['unsuback 2', 'pingresp']);
	},
	'a filter that is asked for and taken back over and over in one breath is taken back': async (t, {join}) => {
		for (const clean of [true, false]) {
			const wire = await join({clean, id: `breath-${clean}`});
			const pairs = Array.from({length: 20}, (_, at) => [subscribePacket(2 * at + 1, ['a', 0]), unsubscribePacket(2 * at + 2, 'a')]);
			wire.send(...pairs.flat(), publishPacket('a', 'x'), pingPacket);
			for (const at of pairs.keys())
				t.deepEqual([await wire.next(), await wire.next()], [`suback ${2 * at + 1}: 0`, `unsuback ${2 * at + 2}`]);
			t.is(await wire.next(), 'pingresp');
		}
	},
	'UNSUBSCRIBE without a filter, or with other flags, ends the connection': async (t, {join}) => {
		for (const bytes of [packet(0xa2, id), packet(0xa0, id, text('a')), packet(0xa2, id, text(''))]) {
			const wire = await join();
			wire.send(bytes);
			t.is(await wire.next(), 'closed');
		}
	},
});
