import test from 'ava';
import {limits} from '../../api/limits.js';
import {createPersistence, type KeptPacket, type Persistence, type SessionOwner} from '../../system/broker/persistence.js';
import {event, hearing, loggedIn, newClient, settled, startBroker} from './broker-rig.js';

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

const owner = (login: string, granted: readonly string[]): SessionOwner => ({
	login,
	granted: filter => granted.includes(filter),
	allowed: topic => topic !== 'forbidden',
});

function aPersistence(owners: Map<string, SessionOwner>) {
	return createPersistence({
		sessions: 2,
		messages: 3,
		bytes: 100,
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
	const persistence = aPersistence(new Map([['c', owner('ann', ['#'])]]));
	await persistence.addSubscriptions({id: 'c'}, [
		{topic: '#', qos: 1},
		{topic: 'refused', qos: 1},
	]);
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
	const owners = new Map(['a', 'b', 'c'].map(id => [id, owner(id, ['x'])]));
	const persistence = aPersistence(owners);
	const subscribe = (id: string): Promise<void> => persistence.addSubscriptions({id}, [{topic: 'x', qos: 1}]);
	await subscribe('a');
	await subscribe('b');
	await subscribe('c');
	t.deepEqual(await persistence.subscriptionsByClient({id: 'c'}), []);
	owners.delete('a');
	await subscribe('c');
	t.is(persistence.sessions(), 2);
	t.deepEqual(await persistence.subscriptionsByClient({id: 'a'}), []);
	t.deepEqual(await persistence.subscriptionsByClient({id: 'c'}), [{topic: 'x', qos: 1}]);
});

test('an acknowledged message leaves the queue, a QoS 2 exchange goes on with its release', async t => {
	const persistence = aPersistence(new Map([['c', owner('ann', ['x'])]]));
	await persistence.addSubscriptions({id: 'c'}, [{topic: 'x', qos: 2}]);
	for (const brokerCounter of [1, 2])
		await persistence.outgoingEnqueue({clientId: 'c'}, {cmd: 'publish', topic: 'x', payload: Buffer.from('p'), qos: 2, brokerCounter});
	await persistence.outgoingUpdate({id: 'c'}, {cmd: 'publish', brokerCounter: 1, messageId: 7});
	await persistence.outgoingUpdate({id: 'c'}, {cmd: 'publish', brokerCounter: 2, messageId: 8});
	await persistence.outgoingUpdate({id: 'c'}, {cmd: 'pubrel', messageId: 7});
	await persistence.outgoingClearMessageId({id: 'c'}, {messageId: 8});
	t.deepEqual(await waiting(persistence, 'c'), [{cmd: 'pubrel', messageId: 7, order: 1}]);
});
