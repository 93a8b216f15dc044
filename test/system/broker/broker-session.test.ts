import test from 'ava';
import {limits} from '../../../api/limits.js';
import {Persistence, type KeptPacket} from '../../../system/broker/persistence.js';
import type {SessionLimits, SessionOwner} from '../../../system/broker/sessions.js';
import type {MqttClient} from 'mqtt';
import {authenticate, event, hearing, loggedIn, newClient, settled, startBroker, type Heard} from './broker-rig.js';

const beat = 'troupe/v1/nodes/node-a/beat';
const kept = {clean: false, clientId: 'kept', resubscribe: false};

test('a kept session gets at QoS 1 what was published while it was away, once and in order', async t => {
	const {port} = await startBroker(t);
	const first = await loggedIn(t, port, 'watcher', kept);
	await first.subscribeAsync('troupe/v1/nodes/#', {qos: 1});
	await first.endAsync();
	const node = await loggedIn(t, port, 'node-a');
	for (let i = 0; i < 20; i += 1) await node.publishAsync(beat, String(i), {qos: 1});
	const again = newClient(t, port, 'watcher', kept);
	const {heard, until} = hearing(again);
	await event(again, 'connect');
	await node.publishAsync(beat, '20', {qos: 1});
	await until(all => all.length > 20);
	await settled(again);
	t.deepEqual(
		heard.map(({text}) => Number(text)),
		Array.from({length: 21}, (_, i) => i),
	);
});

for (const qos of [1, 2] as const) {
	test(`what is published at QoS ${qos} while a long queue is being sent comes after it, each message once`, async t => {
		const {port} = await startBroker(t);
		const first = await loggedIn(t, port, 'watcher', kept);
		await first.subscribeAsync('troupe/v1/nodes/#', {qos});
		await first.endAsync();
		const node = await loggedIn(t, port, 'node-a');
		const count = limits.brokerSessionMessages;
		await Promise.all(Array.from({length: count / 2}, (_, i) => node.publishAsync(beat, String(i), {qos})));
		await settled(node);
		const again = newClient(t, port, 'watcher', kept);
		const {heard, until} = hearing(again);
		const meanwhile: Promise<unknown>[] = [];
		// From before CONNACK on, and while the queue is under way; as many again as have waited would find no room.
		for (let i = count / 2; i < count; i += 1) {
			meanwhile.push(node.publishAsync(beat, String(i), {qos}));
			if (i % 10 === 0) await new Promise(resolve => setImmediate(resolve));
		}
		await Promise.all(meanwhile);
		await until(all => all.length >= count);
		await node.publishAsync(beat, String(count), {qos});
		await until(all => all.at(-1)?.text === String(count));
		await settled(again);
		t.deepEqual(
			heard.map(({text}) => Number(text)),
			Array.from({length: count + 1}, (_, i) => i),
		);
	});
}

test('what was queued for one login is never given to another', async t => {
	const {port} = await startBroker(t);
	const first = await loggedIn(t, port, 'admin', kept);
	await first.subscribeAsync(beat, {qos: 1});
	await first.endAsync();
	const node = await loggedIn(t, port, 'node-a');
	await node.publishAsync(beat, 'for admin', {qos: 1});
	const other = newClient(t, port, 'watcher', kept);
	const {heard} = hearing(other);
	await event(other, 'connect');
	await settled(other);
	t.deepEqual(heard, []);
});

test('the queue of a session is bounded, and what finds no room is counted', async t => {
	const {broker, port} = await startBroker(t);
	const first = await loggedIn(t, port, 'watcher', kept);
	await first.subscribeAsync(beat, {qos: 1});
	await first.endAsync();
	const node = await loggedIn(t, port, 'node-a');
	await Promise.all(Array.from({length: limits.brokerSessionMessages + 5}, (_, i) => node.publishAsync(beat, String(i), {qos: 1})));
	await settled(node);
	t.is(broker.counters().sessionMessagesDropped, 5);
});

const owner = (login: string, credential?: string): SessionOwner => ({
	login,
	credential,
	allowed: topic => topic !== 'forbidden',
});

function aPersistence(owners: Map<string, SessionOwner>, other: Partial<SessionLimits> = {}) {
	return new Persistence({
		sessions: 2,
		sessionsPerLogin: 2,
		messages: 3,
		bytes: 10_000,
		bytesPerLogin: 10_000,
		bytesInAll: 20_000,
		...other,
		ownerOf: id => owners.get(id),
		onRetained: () => undefined,
		onDropped: () => undefined,
	});
}

/** What a client gets when it is back; each is given a packet id as it is sent. */
async function waiting(persistence: Persistence, id: string): Promise<readonly KeptPacket[]> {
	const sent: KeptPacket[] = [];
	for await (const packet of persistence.outgoingStream({id}) as AsyncIterable<KeptPacket>) {
		sent.push(packet);
		await persistence.outgoingUpdate({id}, {...packet, messageId: packet.messageId ?? sent.length});
	}
	return sent;
}

test('only granted filters are kept, and only allowed messages are queued', async t => {
	const persistence = aPersistence(new Map([['c', owner('ann')]]));
	persistence.keep('c', '#', 1);
	await persistence.addSubscriptions();
	t.deepEqual(await persistence.subscriptionsByClient({id: 'c'}), [{topic: '#', qos: 1}]);
	for (const topic of ['a', 'forbidden']) {
		const subscribers = await persistence.subscriptionsByTopic(topic);
		await persistence.outgoingEnqueueCombi(subscribers, {cmd: 'publish', topic, payload: Buffer.from('x'), qos: 2, brokerCounter: 1});
	}
	const queued = await waiting(persistence, 'c');
	t.deepEqual(
		queued.map(({topic, qos}) => [topic, qos]),
		[['a', 1]],
	);
});

test('beyond the number of sessions the oldest one without a client makes room; with none there is no session', async t => {
	const owners = new Map(['a', 'b', 'c'].map(id => [id, owner(id)]));
	const persistence = aPersistence(owners);
	const subscribe = (id: string): void => persistence.keep(id, 'x', 1);
	subscribe('a');
	subscribe('b');
	subscribe('c');
	t.deepEqual(await persistence.subscriptionsByClient({id: 'c'}), []);
	owners.delete('a');
	subscribe('c');
	t.is(persistence.sessions(), 2);
	t.deepEqual(await persistence.subscriptionsByClient({id: 'a'}), []);
	t.deepEqual(await persistence.subscriptionsByClient({id: 'c'}), [{topic: 'x', qos: 1}]);
});

test('an acknowledged message leaves the queue, a QoS 2 exchange goes on with its release', async t => {
	const persistence = aPersistence(new Map([['c', owner('ann')]]));
	persistence.keep('c', 'x', 2);
	for (const brokerCounter of [1, 2])
		await persistence.outgoingEnqueue({clientId: 'c'}, {cmd: 'publish', topic: 'x', payload: Buffer.from('p'), qos: 2, brokerCounter});
	await persistence.outgoingUpdate({id: 'c'}, {cmd: 'publish', brokerCounter: 1, messageId: 7});
	await persistence.outgoingUpdate({id: 'c'}, {cmd: 'publish', brokerCounter: 2, messageId: 8});
	await persistence.outgoingUpdate({id: 'c'}, {cmd: 'pubrel', messageId: 7});
	await persistence.outgoingClearMessageId({id: 'c'}, {messageId: 8});
	t.deepEqual(await waiting(persistence, 'c'), [{cmd: 'pubrel', messageId: 7, order: 1}]);
});

test('what waits for a session holds its own bytes, and all of its cost is counted and given back', async t => {
	const persistence = aPersistence(new Map([['c', owner('ann')]]), {messages: 1_000, bytes: 1_000_000});
	persistence.keep('c', 'x', 2);
	const empty = persistence.bytes();
	t.true(empty > 0);
	const read = Buffer.alloc(65_536);
	await persistence.outgoingEnqueueCombi([{clientId: 'c', topic: 'x', qos: 2}], {
		cmd: 'publish',
		topic: 'x',
		payload: read.subarray(100, 110),
		qos: 2,
		brokerCounter: 1,
	});
	await persistence.outgoingUpdate({id: 'c'}, {cmd: 'publish', brokerCounter: 1, messageId: 7});
	const [kept] = await waiting(persistence, 'c');
	t.is((kept?.payload as Buffer).buffer.byteLength, 10);
	t.true(persistence.bytes() > empty + 500);
	await persistence.outgoingUpdate({id: 'c'}, {cmd: 'pubrel', messageId: 7});
	await persistence.outgoingClearMessageId({id: 'c'}, {messageId: 7});
	t.is(persistence.bytes(), empty);
	await persistence.removeSubscriptions({id: 'c'}, ['x']);
	t.is(persistence.bytes(), 0);
});

test('sessions are bounded for each login, in number and in bytes, and the others have their room', async t => {
	const ids = ['a1', 'a2', 'a3', 'b1'];
	const owners = new Map(ids.map(id => [id, owner(id.startsWith('a') ? 'ann' : 'bob')]));
	const persistence = aPersistence(owners, {sessions: 10, messages: 1_000, bytes: 100_000, bytesPerLogin: 100_000, bytesInAll: 150_000});
	for (const id of ids) persistence.keep(id, 'x', 1);
	t.is(persistence.sessions(), 3);
	const enqueue = (clientId: string): Promise<void> =>
		persistence.outgoingEnqueue({clientId}, {cmd: 'publish', topic: 'x', payload: Buffer.alloc(9_000), qos: 1, brokerCounter: 1});
	for (let at = 0; at < 20; at += 1) await Promise.all([enqueue('a1'), enqueue('a2')]);
	t.true(persistence.bytes() > 90_000 && persistence.bytes() <= 101_000);
	for (let at = 0; at < 20; at += 1) await enqueue('b1');
	t.true(persistence.bytes() > 140_000 && persistence.bytes() <= 150_000);
	persistence.dropOf('ann');
	t.true(persistence.bytes() < 60_000);
	persistence.claim('b1', {name: 'bob', credential: 'another'});
	t.deepEqual([persistence.sessions(), persistence.bytes()], [0, 0]);
});

test('a session ends with the token of its login, at once, and another one of the same name begins anew', async t => {
	let credential = 'first';
	const {broker, port} = await startBroker(t, {
		authenticate: (name, password) => (name === 'node-a' ? authenticate(name, password) : {name: 'watcher', role: 'view', credential}),
	});
	const node = await loggedIn(t, port, 'node-a');
	const come = async (): Promise<{readonly client: MqttClient; readonly heard: readonly Heard[]}> => {
		const client = newClient(t, port, 'watcher', kept);
		const {heard} = hearing(client);
		await event(client, 'connect');
		return {client, heard};
	};
	const {client: first} = await come();
	await first.subscribeAsync(beat, {qos: 1});
	await first.endAsync();
	await node.publishAsync(beat, 'for the first', {qos: 1});
	credential = 'second';
	const second = await come();
	await settled(second.client);
	await second.client.subscribeAsync(beat, {qos: 1});
	await second.client.endAsync();
	await node.publishAsync(beat, 'for the second', {qos: 1});
	broker.cut('watcher');
	const third = await come();
	await settled(third.client);
	t.deepEqual([...second.heard, ...third.heard], []);
});
