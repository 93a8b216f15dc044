import test from 'ava';
import {limits} from '../../../../api/limits.js';
import {login, prove, type Rig} from './_rig.js';
import {
	connectPacket,
	packet,
	pingPacket,
	publishPacket,
	subscribePacket,
	text,
	type ConnectFields,
} from '../../../../bench/rigs/mqtt/packets.js';

/** What a connection hears that begins with these bytes. */
async function heardAfter({dial}: Rig, ...packets: readonly Buffer[]): Promise<string> {
	const wire = await dial();
	wire.send(...packets);
	return wire.next();
}

const refusalOf = async ({dial}: Rig, fields: ConnectFields): Promise<readonly string[]> => {
	const wire = await dial();
	wire.send(connectPacket(fields));
	return [await wire.next(), await wire.next()];
};

const ended = (code: number): readonly string[] => [`connack 0 ${code}`, 'closed'];

prove(test, 'connect', {
	'a login is answered with CONNACK 0 before anything else': async (t, rig) => {
		t.is(await heardAfter(rig, connectPacket(login), subscribePacket(1, ['a', 0])), 'connack 0 0');
	},
	'a login with another password or an unknown name gets CONNACK 4, without one CONNACK 5, and the connection ends': async (t, rig) => {
		t.deepEqual(await refusalOf(rig, {...login, password: 'guess'}), ended(4));
		t.deepEqual(await refusalOf(rig, {user: 'ann'}), ended(4));
		t.deepEqual(await refusalOf(rig, {}), ended(5));
	},
	'a protocol name that is not MQTT ends the connection': async (t, rig) => {
		for (const protocol of ['HTTP', 'mqtt', 'MQTTT', '']) t.is(await heardAfter(rig, connectPacket({...login, protocol})), 'closed');
	},
	'a protocol level of another version gets CONNACK 1 and the end': async (t, rig) => {
		for (const level of [0, 1, 3, 5, 6, 99]) t.deepEqual(await refusalOf(rig, {...login, level}), ended(1));
		t.is(rig.broker.counters().loginsRefused, 6);
		const slow = await rig.dial();
		for (const byte of connectPacket({...login, level: 7}).subarray(0, 9)) slow.send(Buffer.from([byte]));
		t.is(await slow.next(), 'connack 0 1');
	},
	'MQTT 3.1 (MQIsdp, level 3) is served as well': async (t, rig) => {
		t.is(await heardAfter(rig, connectPacket({...login, protocol: 'MQIsdp', level: 3, id: 'old'})), 'connack 0 0');
		t.deepEqual(await refusalOf(rig, {...login, protocol: 'MQIsdp', level: 4}), ended(1));
	},
	'a first packet that is not CONNECT ends the connection': async (t, rig) => {
		for (const first of [pingPacket, publishPacket('a', 'x'), subscribePacket(1, ['a', 0])]) t.is(await heardAfter(rig, first), 'closed');
	},
	'a second CONNECT ends the connection': async (t, {join}) => {
		const wire = await join();
		wire.send(connectPacket(login));
		t.is(await wire.next(), 'closed');
	},
	'the reserved flag of CONNECT must be 0': async (t, rig) => {
		t.is(await heardAfter(rig, connectPacket({...login, moreFlags: 1})), 'closed');
	},
	'a will QoS or retain flag without a will ends the connection': async (t, rig) => {
		for (const moreFlags of [0x08, 0x10, 0x20]) t.is(await heardAfter(rig, connectPacket({...login, moreFlags})), 'closed');
	},
	'a will QoS of 3 ends the connection': async (t, rig) => {
		t.is(await heardAfter(rig, connectPacket({...login, will: {topic: 'a', payload: 'x', qos: 3}})), 'closed');
	},
	'a password without a user name ends the connection': async (t, rig) => {
		t.is(await heardAfter(rig, connectPacket({password: login.password})), 'closed');
	},
	'a CONNECT that ends early, or with a field that does not fit, ends the connection': async (t, rig) => {
		const whole = connectPacket({...login, id: 'early'}).subarray(2);
		for (const length of [0, 1, 3, 6, 7, 8, 9, 11, 13, 20]) t.is(await heardAfter(rig, packet(0x10, whole.subarray(0, length))), 'closed');
		t.is(await heardAfter(rig, packet(0x10, text('MQTT'), Buffer.from([4, 2, 0, 0, 0xff, 0xff]))), 'closed');
	},
	'client ids of 1 to 23 letters and digits are taken': async (t, rig) => {
		for (const id of ['a', 'abcdefghijklmnopqrstuvw', 'ABCDEFGHIJKLMNOPQRSTUVW', '01234567890xyzXYZ'])
			t.is(await heardAfter(rig, connectPacket({...login, id})), 'connack 0 0');
	},
	'a client id of zero length gets a name of its own with clean session 1': async (t, {join}) => {
		const [one, other] = [await join({id: ''}), await join({id: ''})];
		one.send(pingPacket);
		other.send(pingPacket);
		t.deepEqual([await one.next(), await other.next()], ['pingresp', 'pingresp']);
	},
	'a client id of zero length with clean session 0 is refused: CONNACK 2 and the end': async (t, rig) => {
		t.deepEqual(await refusalOf(rig, {...login, id: '', clean: false}), ended(2));
	},
	'a client id that is too long is refused: CONNACK 2 and the end': async (t, rig) => {
		t.is(await heardAfter(rig, connectPacket({...login, id: 'x'.repeat(limits.brokerClientIdBytes)})), 'connack 0 0');
		t.deepEqual(await refusalOf(rig, {...login, id: 'x'.repeat(limits.brokerClientIdBytes + 1)}), ended(2));
	},
	'packets may follow CONNECT at once, and are answered after CONNACK': async (t, {dial}) => {
		const wire = await dial();
		const many = Array.from({length: 300}, (_, i) => publishPacket('a', String(i)));
		wire.send(connectPacket(login), subscribePacket(1, ['a', 0]), ...many, pingPacket);
		t.is(await wire.next(), 'connack 0 0');
		const rest: string[] = [];
		while (rest.length < many.length + 2) rest.push(await wire.next());
		t.deepEqual(
			rest.filter(words => words.startsWith('publish')),
			many.map((_, i) => `publish q0 r0 d0 a ${i}`),
		);
		t.true(rest.includes('suback 1: 0') && rest.includes('pingresp'));
	},
	'what follows a CONNECT that is refused is not processed': async (t, {dial, join}) => {
		const watcher = await join();
		watcher.send(subscribePacket(1, ['a', 0]));
		await watcher.next();
		const refused = await dial();
		refused.send(connectPacket({...login, password: 'guess'}), publishPacket('a', 'smuggled'));
		t.deepEqual([await refused.next(), await refused.next()], ended(4));
		watcher.send(publishPacket('a', 'marker'));
		t.is(await watcher.next(), 'publish q0 r0 d0 a marker');
	},
	'a connection without CONNECT is ended after a time': async (t, {dial, clock, broker}) => {
		const wire = await dial();
		while (broker.counters().connections === 0) await new Promise(resolve => setImmediate(resolve));
		clock.advance(limits.newcomerMs);
		t.is(await wire.next(), 'closed');
	},
	'a login without the right to connect gets CONNACK 5': async (t, rig) => {
		t.deepEqual(await refusalOf(rig, {...login, user: 'nobody'}), ended(5));
	},
});
