import test from 'ava';
import {prove} from './_rig.js';
import {disconnectPacket, packet, pingPacket, publishPacket, subscribePacket} from '../../../../bench/rigs/mqtt/packets.js';

prove(test, 'alive', {
	'PINGREQ is answered with PINGRESP': async (t, {join}) => {
		const wire = await join();
		wire.send(pingPacket);
		t.is(await wire.next(), 'pingresp');
	},
	'a client that is silent for one and a half times its keep-alive is cut; with 0 it is not': async (t, {join}) => {
		const silent = await join({keepAliveSeconds: 0});
		const startedAt = performance.now();
		const dying = await join({keepAliveSeconds: 1});
		t.is(await dying.next(), 'closed');
		const seconds = (performance.now() - startedAt) / 1_000;
		t.true(seconds >= 1.4, `cut after ${seconds} s`);
		silent.send(pingPacket);
		t.is(await silent.next(), 'pingresp');
	},
	'any packet counts as a sign of life': async (t, {join}) => {
		const silent = await join({keepAliveSeconds: 1});
		const talking = await join({keepAliveSeconds: 1});
		const timer = setInterval(() => talking.send(publishPacket('a', 'x')), 200);
		t.teardown(() => clearInterval(timer));
		t.is(await silent.next(), 'closed');
		talking.send(pingPacket);
		t.is(await talking.next(), 'pingresp');
	},
	'DISCONNECT ends the connection from the broker’s side as well': async (t, {join}) => {
		const wire = await join();
		wire.send(disconnectPacket, publishPacket('a', 'too late'));
		t.is(await wire.next(), 'closed');
	},
	'DISCONNECT with reserved bits ends it as a violation: the will is published': async (t, {join}) => {
		const watcher = await join();
		watcher.send(subscribePacket(1, ['will', 0]));
		await watcher.next();
		const wire = await join({will: {topic: 'will', payload: 'gone'}});
		wire.send(packet(0xe1));
		t.is(await wire.next(), 'closed');
		t.is(await watcher.next(), 'publish q0 r0 d0 will gone');
	},
});
