import test from 'ava';
import {limits} from '../../../../api/limits.js';
import {login, prove, type Rig} from './_rig.js';
import {connectPacket, packet, publishPacket, subscribePacket, text} from '../../../../bench/rigs/mqtt/packets.js';

/** Whether a client that sends this is cut. */
async function isCut({join}: Rig, ...bytes: readonly Buffer[]): Promise<boolean> {
	const wire = await join();
	wire.send(...bytes, publishPacket('done', '', {qos: 1, id: 9}));
	for (;;) {
		const words = await wire.next();
		if (words === 'closed' || words === 'puback 9') return words === 'closed';
	}
}

const id = Buffer.from([0, 1]);
const illFormed = [Buffer.from([0x61, 0xc3]), Buffer.from([0xff]), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from([0xc0, 0x80])];

prove(test, 'topics', {
	'a topic with a wildcard ends the connection': async (t, rig) => {
		for (const topic of ['a/#', '#', 'a+', '+/b']) t.true(await isCut(rig, publishPacket(topic, 'x')), topic);
	},
	'an empty topic ends the connection': async (t, rig) => {
		t.true(await isCut(rig, publishPacket('', 'x')));
		t.true(await isCut(rig, subscribePacket(1, ['', 0])));
	},
	'a NUL in a topic or a filter ends the connection': async (t, rig) => {
		t.true(await isCut(rig, publishPacket('a\0b', 'x')));
		t.true(await isCut(rig, subscribePacket(1, ['a\0b', 0])));
		for (const fields of [{id: 'a\0'}, {user: 'ann\0'}, {will: {topic: 'a\0', payload: ''}}]) {
			const wire = await rig.dial();
			wire.send(connectPacket({...login, ...fields}));
			t.is(await wire.next(), 'closed');
		}
	},
	'a text that is not UTF-8 ends the connection': async (t, rig) => {
		for (const bytes of illFormed) {
			t.true(await isCut(rig, publishPacket(bytes, 'x')));
			t.true(await isCut(rig, subscribePacket(1, [bytes, 0])));
			const wire = await rig.dial();
			wire.send(connectPacket({...login, id: bytes}));
			t.is(await wire.next(), 'closed');
		}
	},
	'the character U+FFFD ends the connection as well': async (t, rig) => {
		t.true(await isCut(rig, publishPacket('\uFFFD', 'x')));
	},
	'a byte order mark is a character like any other': async (t, {join}) => {
		const wire = await join();
		wire.send(subscribePacket(1, ['\uFEFFa', 0], ['a', 0]), publishPacket('\uFEFFa', 'x'));
		t.deepEqual([await wire.next(), await wire.next()], ['suback 1: 0 0', 'publish q0 r0 d0 \uFEFFa x']);
	},
	'a payload may be empty, and any bytes': async (t, {join}) => {
		const wire = await join();
		wire.send(subscribePacket(1, ['a', 0]), publishPacket('a', ''), publishPacket('a', Buffer.from([0])));
		t.deepEqual([await wire.next(), await wire.next(), await wire.next()], ['suback 1: 0', 'publish q0 r0 d0 a ', 'publish q0 r0 d0 a \0']);
	},
	'a packet of just 1.5 MiB passes, a larger one ends the connection by its header': async (t, rig) => {
		const around = 1 + 3 + 3;
		t.false(await isCut(rig, publishPacket('a', Buffer.alloc(limits.packetBytes - around))));
		const wire = await rig.join();
		wire.send(publishPacket('a', Buffer.alloc(limits.packetBytes - around + 1)).subarray(0, 5));
		t.is(await wire.next(), 'closed');
		t.is(rig.broker.counters().cutOversized, 1);
	},
	'a remaining length of more than four bytes ends the connection': async (t, rig) => {
		t.true(await isCut(rig, Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x7f])));
	},
	'a packet type that only servers send, or none, ends the connection': async (t, rig) => {
		for (const type of [0x00, 0x20, 0x90, 0xb0, 0xd0, 0xf0]) t.true(await isCut(rig, packet(type, id)), String(type));
	},
	'reserved bits of the fixed header end the connection': async (t, rig) => {
		const bad = [
			packet(0x60, id),
			packet(0x63, id),
			packet(0x41, id),
			packet(0x52, id),
			packet(0x71, id),
			packet(0xc1),
			packet(0x80, id, text('a'), Buffer.from([0])),
		];
		for (const bytes of bad) t.true(await isCut(rig, bytes), bytes.toString('hex'));
	},
});
