import test from 'ava';
import {login, prove, type Rig} from './_rig.js';
import {connectPacket, disconnectPacket, packet, publishPacket, subscribePacket} from '../../../../bench/rigs/mqtt/packets.js';
import type {Wire} from './_wire.js';

const will = {topic: 'will', payload: 'gone'};

async function watching({join}: Rig, qos = 0): Promise<Wire> {
	const wire = await join();
	wire.send(subscribePacket(1, ['#', qos]));
	await wire.next();
	return wire;
}

prove(test, 'will', {
	'it is published when the socket breaks': async (t, rig) => {
		const watcher = await watching(rig);
		(await rig.join({will})).socket.destroy();
		t.is(await watcher.next(), 'publish q0 r0 d0 will gone');
	},
	'it is published when the keep-alive time is over': async (t, rig) => {
		const watcher = await watching(rig);
		const dying = await rig.join({will, keepAliveSeconds: 1});
		t.is(await watcher.next(), 'publish q0 r0 d0 will gone');
		t.is(await dying.next(), 'closed');
	},
	'it is published when the client breaks the protocol': async (t, rig) => {
		const watcher = await watching(rig);
		for (const violation of [connectPacket(login), packet(0xf0), publishPacket('', 'x'), packet(0x30, Buffer.alloc(1))]) {
			(await rig.join({will})).send(violation);
			t.is(await watcher.next(), 'publish q0 r0 d0 will gone');
		}
	},
	'it is not published after DISCONNECT': async (t, rig) => {
		const watcher = await watching(rig);
		const leaving = await rig.join({will});
		leaving.send(disconnectPacket);
		t.is(await leaving.next(), 'closed');
		watcher.send(publishPacket('marker', ''));
		t.is(await watcher.next(), 'publish q0 r0 d0 marker ');
	},
	'it is published when another connection takes the client id over': async (t, rig) => {
		const watcher = await watching(rig);
		const older = await rig.join({will, id: 'one'});
		await rig.join({id: 'one'});
		t.is(await watcher.next(), 'publish q0 r0 d0 will gone');
		t.is(await older.next(), 'closed');
	},
	'it is retained if its flag says so, else not': async (t, rig) => {
		const watcher = await watching(rig);
		(await rig.join({will: {...will, topic: 'not'}})).socket.destroy();
		await watcher.next();
		(await rig.join({will: {...will, retain: true}})).socket.destroy();
		await watcher.next();
		const later = await rig.join();
		later.send(subscribePacket(1, ['#', 0]));
		t.deepEqual([await later.next(), await later.next()], ['suback 1: 0', 'publish q0 r1 d0 will gone']);
		later.send(publishPacket('marker', ''));
		t.is(await later.next(), 'publish q0 r0 d0 marker ');
	},
	'it has its QoS': async (t, rig) => {
		const watcher = await watching(rig, 2);
		for (const qos of [0, 1, 2]) {
			(await rig.join({will: {...will, qos}})).socket.destroy();
			t.regex(await watcher.next(), new RegExp(`^publish q${qos} r0 d0 (\\d+ )?will gone$`));
		}
	},
	'one with an empty message clears a retained topic': async (t, rig) => {
		const watcher = await watching(rig);
		watcher.send(publishPacket('will', 'here', {retain: true}));
		await watcher.next();
		(await rig.join({will: {topic: 'will', payload: '', retain: true}})).socket.destroy();
		t.is(await watcher.next(), 'publish q0 r0 d0 will ');
		const later = await watching(rig);
		later.send(publishPacket('marker', ''));
		t.is(await later.next(), 'publish q0 r0 d0 marker ');
	},
	'one on a topic that may not be published to is refused with the login: CONNACK 5': async (t, {dial}) => {
		for (const topic of ['forbidden', '$SYS/x', 'a/#', '']) {
			const wire = await dial();
			wire.send(connectPacket({...login, will: {...will, topic}}));
			t.deepEqual([await wire.next(), await wire.next()], ['connack 0 5', 'closed']);
		}
	},
});
