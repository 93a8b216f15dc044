import test from 'ava';
import {limits} from '../../../api/limits.js';
import {hearing, loggedIn, settled, startBroker} from './broker-rig.js';

const beat = 'troupe/v1/nodes/node-a/beat';

test('a refused publish is acknowledged, dropped and counted, and the link stays', async t => {
	const {broker, port} = await startBroker(t);
	const watcher = await loggedIn(t, port, 'watcher');
	const {until} = hearing(watcher);
	await watcher.subscribeAsync('#');
	const node = await loggedIn(t, port, 'node-a');
	await node.publishAsync('troupe/v1/objects/pods/default/web', 'forged', {qos: 0, retain: true});
	await node.publishAsync('troupe/v1/nodes/node-b/beat', 'forged', {qos: 1});
	await node.publishAsync('troupe/v1/actors/control/inbox/node-b', 'forged', {qos: 2});
	await node.publishAsync('$SYS/anything', 'forged', {qos: 1});
	await node.publishAsync(beat, 'true');
	t.deepEqual(await until(all => all.length > 0), [{topic: beat, text: 'true', retain: false}]);
	t.is(broker.counters().publishesRefused, 4);
	const late = await loggedIn(t, port, 'admin');
	const kept = hearing(late);
	await late.subscribeAsync('troupe/v1/objects/#');
	await settled(late);
	t.deepEqual(kept.heard, []);
});

test('a refused filter is answered with 128, the others of the request are granted', async t => {
	const {broker, port} = await startBroker(t);
	const node = await loggedIn(t, port, 'node-a');
	const {heard, until} = hearing(node);
	const granted = await node.subscribeAsync(['troupe/v1/actors/node-a/inbox/+', 'troupe/v1/objects/#']).catch((error: unknown) => error);
	t.true(granted instanceof Error);
	broker.publish('troupe/v1/objects/pods/default/web', 'not for nodes', {retain: true});
	broker.publish('troupe/v1/actors/node-a/inbox/control', 'for you', {retain: false});
	await until(all => all.length > 0);
	t.deepEqual(
		heard.map(({text}) => text),
		['for you'],
	);
	t.is(broker.counters().subscriptionsRefused, 1);
});

test('everything may be asked for, and only what may be read is forwarded', async t => {
	const {broker, port} = await startBroker(t);
	const watcher = await loggedIn(t, port, 'watcher');
	const {heard, until} = hearing(watcher);
	await watcher.subscribeAsync('#');
	broker.publish('troupe/v1/actors/node-a/inbox/control', 'secret', {retain: false});
	broker.publish('troupe/v1/actors/node-b/bulk/control', 'secret', {retain: false});
	broker.publish('troupe/v1/events/default/pods/web', 'seen', {retain: false});
	await until(all => all.length > 0);
	t.deepEqual(
		heard.map(({text}) => text),
		['seen'],
	);
});

test('there is no $SYS: it cannot be subscribed and does not come with a wildcard', async t => {
	const {broker, port} = await startBroker(t, {may: () => true});
	const client = await loggedIn(t, port, 'admin');
	const {heard} = hearing(client);
	await t.throwsAsync(client.subscribeAsync('$SYS/#'));
	await t.throwsAsync(client.subscribeAsync('$share/group/a'));
	await client.subscribeAsync('#');
	await client.subscribeAsync('+/+/+/+');
	const inside: string[] = [];
	broker.subscribe('#', topic => inside.push(topic));
	await loggedIn(t, port, 'watcher');
	await settled(client);
	t.deepEqual(heard, []);
	t.deepEqual(inside, []);
});

test('filters of one client that overlap bring a message once', async t => {
	const {broker, port} = await startBroker(t);
	const watcher = await loggedIn(t, port, 'watcher');
	const {heard, until} = hearing(watcher);
	await watcher.subscribeAsync(['troupe/v1/nodes/#', beat, 'troupe/v1/nodes/+/beat']);
	broker.publish(beat, 'one', {retain: false});
	broker.publish(beat, 'two', {retain: false});
	await until(all => all.some(({text}) => text === 'two'));
	t.deepEqual(
		heard.map(({text}) => text),
		['one', 'two'],
	);
});

test('messages that overtake each other inside the broker are all delivered', async t => {
	const {broker, port} = await startBroker(t);
	const watcher = await loggedIn(t, port, 'watcher');
	const {heard, until} = hearing(watcher);
	await watcher.subscribeAsync('troupe/v1/nodes/#', {qos: 1});
	const node = await loggedIn(t, port, 'node-a');
	broker.subscribe(beat, () => queueMicrotask(() => broker.publish('troupe/v1/nodes/node-a/presence', 'inside', {retain: false})));
	// A retained publish takes some turns of the microtask queue, the others none: they overtake it.
	for (let i = 0; i < 100; i += 1) {
		node.publish('troupe/v1/nodes/node-a/presence', `presence ${i}`, {retain: true, qos: 1});
		node.publish('troupe/v1/nodes/node-a/presence', `again ${i}`, {retain: true});
		node.publish(beat, `beat ${i}`);
	}
	await until(all => all.length >= 400);
	t.is(new Set(heard.map(({text}) => text)).size, 301);
});

test('a client may hold so many filters and no more', async t => {
	const {broker, port} = await startBroker(t, {may: () => true});
	const client = await loggedIn(t, port, 'admin');
	const filters = Array.from({length: limits.brokerSubscriptions}, (_, i) => `a/${i}`);
	await client.subscribeAsync(filters);
	await t.throwsAsync(client.subscribeAsync('one/more'));
	await client.unsubscribeAsync('a/1');
	await client.subscribeAsync('one/more');
	t.is(broker.counters().subscriptionsRefused, 1);
});
