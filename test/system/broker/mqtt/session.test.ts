import test from 'ava';
import {limits} from '../../../../api/limits.js';
import {login, prove, type Rig} from './_rig.js';
import {
	ackPacket,
	connectPacket,
	disconnectPacket,
	publishPacket,
	subscribePacket,
	type ConnectFields,
	type Qos,
} from '../../../../bench/rigs/mqtt/packets.js';
import type {Wire} from './_wire.js';

const kept = {...login, clean: false, id: 'kept'};

/** A kept session with one filter, whose client has gone. */
async function leave(rig: Rig, qos: Qos = 2): Promise<void> {
	const wire = await rig.join(kept);
	wire.send(subscribePacket(1, ['a', qos]));
	await wire.next();
	wire.send(disconnectPacket);
	await wire.next();
}

async function publish({join}: Rig, qos: Qos, ...payloads: readonly string[]): Promise<void> {
	const wire = await join();
	for (const payload of payloads) wire.send(publishPacket('a', payload, {qos, id: 1}), ...(qos === 2 ? [ackPacket('pubrel', 1)] : []));
	wire.send(publishPacket('done', '', {qos: 1, id: 99}));
	while ((await wire.next()) !== 'puback 99');
	wire.socket.destroy();
}

/** Comes back, and takes so many answers. */
async function back(
	{dial}: Rig,
	count: number,
	fields: ConnectFields = kept,
): Promise<{readonly wire: Wire; readonly heard: readonly string[]}> {
	const wire = await dial();
	wire.send(connectPacket(fields));
	const heard: string[] = [];
	while (heard.length < count) heard.push(await wire.next());
	return {wire, heard};
}

const withoutIds = (heard: readonly string[]): readonly string[] => heard.map(words => words.replace(/(d[01]) \d+ /, '$1 '));

prove(test, 'session', {
	'clean session 1 leaves nothing behind': async (t, rig) => {
		const wire = await rig.join({...login, id: 'kept'});
		wire.send(subscribePacket(1, ['a', 1]), disconnectPacket);
		await wire.next();
		await wire.next();
		t.deepEqual((await back(rig, 1)).heard, ['connack 0 0']);
	},
	'clean session 0 is there again, and CONNACK says so': async (t, rig) => {
		await leave(rig);
		const {wire, heard} = await back(rig, 1);
		t.deepEqual(heard, ['connack 1 0']);
		wire.send(publishPacket('a', 'x'));
		t.is(await wire.next(), 'publish q0 r0 d0 a x');
	},
	'CONNACK says that there was none': async (t, rig) => {
		t.deepEqual((await back(rig, 1)).heard, ['connack 0 0']);
	},
	'messages of QoS 1 and 2 wait for a client that is away, in order; QoS 0 does not': async (t, rig) => {
		await leave(rig);
		await publish(rig, 0, 'nought');
		await publish(rig, 1, 'one', 'two');
		await publish(rig, 2, 'three');
		const {heard} = await back(rig, 4);
		t.deepEqual(withoutIds(heard), ['connack 1 0', 'publish q1 r0 d0 a one', 'publish q1 r0 d0 a two', 'publish q2 r0 d0 a three']);
	},
	'what was not acknowledged is sent again with its packet id and the duplicate flag': async (t, rig) => {
		await leave(rig);
		await publish(rig, 1, 'one');
		await publish(rig, 2, 'two');
		const first = await back(rig, 3);
		t.true(first.heard.slice(1).every(words => words.includes(' d0 ')));
		first.wire.socket.destroy();
		const second = await back(rig, 3);
		t.deepEqual(
			second.heard,
			first.heard.map(words => words.replace(' d0 ', ' d1 ')),
		);
		const ids = second.heard.slice(1).map(words => Number(words.split(' ')[4]));
		second.wire.send(ackPacket('puback', ids[0] ?? 0), ackPacket('pubrec', ids[1] ?? 0), ackPacket('pubcomp', ids[1] ?? 0));
		t.is(await second.wire.next(), `pubrel ${ids[1]}`);
		second.wire.send(disconnectPacket);
		await second.wire.next();
		const third = await back(rig, 1);
		third.wire.send(publishPacket('a', 'last'));
		t.deepEqual([third.heard, await third.wire.next()], [['connack 1 0'], 'publish q0 r0 d0 a last']);
	},
	'a PUBREL that was not answered is sent again': async (t, rig) => {
		await leave(rig);
		await publish(rig, 2, 'two');
		const {wire, heard} = await back(rig, 2);
		const id = Number(heard[1]?.split(' ')[4]);
		wire.send(ackPacket('pubrec', id));
		t.is(await wire.next(), `pubrel ${id}`);
		wire.socket.destroy();
		t.deepEqual((await back(rig, 2)).heard, ['connack 1 0', `pubrel ${id}`]);
	},
	'clean session 1 ends what clean session 0 kept': async (t, rig) => {
		await leave(rig);
		await publish(rig, 1, 'one');
		const {wire, heard} = await back(rig, 1, {...kept, clean: true});
		t.deepEqual(heard, ['connack 0 0']);
		wire.send(disconnectPacket);
		await wire.next();
		t.deepEqual((await back(rig, 1)).heard, ['connack 0 0']);
	},
	'a connection with the same client id ends the older one': async (t, {join}) => {
		const older = await join({id: 'one'});
		const newer = await join({id: 'one'});
		t.is(await older.next(), 'closed');
		newer.send(subscribePacket(1, ['a', 0]));
		t.is(await newer.next(), 'suback 1: 0');
	},
	'another login with the same client id is refused: CONNACK 2': async (t, rig) => {
		const older = await rig.join({id: 'one'});
		t.deepEqual((await back(rig, 2, {...login, user: 'bob', id: 'one'})).heard, ['connack 0 2', 'closed']);
		older.send(subscribePacket(1, ['a', 0]));
		t.is(await older.next(), 'suback 1: 0');
	},
	'a queue beyond its bound drops what comes last': async (t, rig) => {
		await leave(rig, 1);
		await publish(rig, 1, ...Array.from({length: limits.brokerSessionMessages + 3}, (_, i) => String(i)));
		// PUBACK says that the broker has read it; that it found no room shows a turn later.
		while (rig.broker.counters().sessionMessagesDropped < 3) await new Promise(resolve => setImmediate(resolve));
		const {heard} = await back(rig, limits.brokerSessionMessages + 1);
		t.deepEqual(withoutIds([heard.at(1) ?? '', heard.at(-1) ?? '']), [
			'publish q1 r0 d0 a 0',
			`publish q1 r0 d0 a ${limits.brokerSessionMessages - 1}`,
		]);
	},
	'it is gone when the broker starts again': async (t, rig) => {
		await leave(rig);
		t.deepEqual((await back(await rig.again(), 1)).heard, ['connack 0 0']);
	},
});
