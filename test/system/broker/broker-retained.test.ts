import test from 'ava';
import {limits} from '../../../api/limits.js';
import {topicMatches} from '../../../api/mqtt-filter.js';
import type {RetainedSource} from '../../../system/broker/broker.js';
import {RetainedTree, type RetainedBounds} from '../../../system/broker/retained-tree.js';
import {hearing, loggedIn, settled, startBroker} from './broker-rig.js';

const presence = (node: string): string => `troupe/v1/nodes/${node}/presence`;

test('a retained message reaches who comes later, until it is cleared', async t => {
	const {broker, port} = await startBroker(t);
	const node = await loggedIn(t, port, 'node-a');
	await node.publishAsync(presence('node-a'), 'online', {retain: true, qos: 1});
	broker.publish(presence('node-b'), 'offline', {retain: true});
	const watcher = await loggedIn(t, port, 'watcher');
	const {heard, until} = hearing(watcher);
	await watcher.subscribeAsync('troupe/v1/nodes/+/presence', {qos: 1});
	await until(all => all.length === 2);
	t.deepEqual(heard.map(({topic, text, retain}) => [topic, text, retain].join()).toSorted(), [
		`${presence('node-a')},online,true`,
		`${presence('node-b')},offline,true`,
	]);
	broker.publish(presence('node-a'), '', {retain: true});
	await until(all => all.length === 3);
	const late = await loggedIn(t, port, 'admin');
	const kept = hearing(late);
	await late.subscribeAsync('troupe/v1/nodes/#');
	await kept.until(all => all.length > 0);
	await settled(late);
	t.deepEqual(kept.heard, [{topic: presence('node-b'), text: 'offline', retain: true}]);
});

test('documents of the source are served as they stand, and never kept by the broker', async t => {
	const documents = new Map([['troupe/v1/objects/pods/default/web', 'one']]);
	const source: RetainedSource = {
		owns: topic => topic.startsWith('troupe/v1/objects/'),
		*match(filter) {
			for (const topic of documents.keys())
				if (topicMatches(filter, topic)) yield {topic, payload: () => Buffer.from(documents.get(topic) ?? '')};
		},
	};
	const {broker, port} = await startBroker(t, {retainedSource: source});
	broker.publish('troupe/v1/objects/pods/default/other', 'published, not in the source', {retain: true});
	const watcher = await loggedIn(t, port, 'watcher');
	const {heard, until} = hearing(watcher);
	await watcher.subscribeAsync('troupe/v1/objects/pods/#');
	await until(all => all.length > 0);
	documents.set('troupe/v1/objects/pods/default/web', 'two');
	await watcher.subscribeAsync('troupe/v1/objects/pods/default/web');
	await until(all => all.length > 1);
	t.deepEqual(
		heard.map(({text}) => text),
		['one', 'two'],
	);
});

test('20,000 documents of 2 kB come at the subscriber’s own pace', async t => {
	const count = 20_000;
	const source: RetainedSource = {
		owns: topic => topic.startsWith('troupe/v1/objects/'),
		*match() {
			for (let i = 0; i < count; i += 1) yield {topic: `troupe/v1/objects/pods/default/p${i}`, payload: () => Buffer.alloc(2_000, 'x')};
		},
	};
	const {broker, port} = await startBroker(t, {retainedSource: source});
	const watcher = await loggedIn(t, port, 'watcher');
	const topics = new Set<string>();
	const all = new Promise<void>(resolve => {
		watcher.on('message', topic => {
			if (topics.add(topic).size === count) resolve();
		});
	});
	await watcher.subscribeAsync('troupe/v1/objects/#');
	await all;
	t.is(broker.counters().cutOverflow, 0);
	t.deepEqual(broker.connected(), ['watcher']);
});

const roomy: RetainedBounds = {topics: 100, bytes: 100, topicsPerLogin: 100, bytesPerLogin: 100};

test('the tree finds what a filter matches and nothing else', t => {
	const topics = ['a', 'a/b', 'a/b/c', 'a/x/c', 'b', '$a/b', 'a//c'];
	const tree = new RetainedTree({...roomy, topics: 100, bytes: 10_000});
	for (const topic of topics) tree.set({topic, payload: Buffer.from(topic), qos: 0});
	for (const filter of ['a', 'a/#', '#', '+', '+/+', 'a/+/c', 'a/b/#', '$a/#', '$a/+', '+/b', 'none/#', 'a//c'])
		t.deepEqual(
			Array.from(tree.match(filter), ({topic}) => topic).sort(),
			topics.filter(topic => topicMatches(filter, topic)).sort(),
			filter,
		);
});

test('the tree is bounded by count and bytes, and what is cleared makes room', t => {
	const tree = new RetainedTree({...roomy, topics: 2, bytes: 100});
	const set = (topic: string, bytes: number): boolean => tree.set({topic, payload: Buffer.alloc(bytes, 'x'), qos: 0});
	t.true(set('a', 10));
	t.true(set('b/c', 10));
	t.false(set('d', 10));
	t.true(set('a', 20));
	t.false(set('a', 100));
	t.true(set('b/c', 0));
	t.is(tree.size, 1);
	t.true(set('d', 70));
	t.false(set('a', 40));
	t.deepEqual(
		Array.from(tree.match('#'), ({payload}) => payload.length),
		[20, 70],
	);
});

test('a broker that is full of retained messages refuses more and delivers them all the same', async t => {
	const {broker, port} = await startBroker(t, {may: () => true});
	const client = await loggedIn(t, port, 'admin');
	const {until} = hearing(client);
	await client.subscribeAsync('one/more');
	const big = Buffer.alloc(1_000_000, 'x');
	for (let i = 0; i < Math.ceil(limits.brokerRetainedBytes / big.length); i += 1) broker.publish(`big/${i}`, big, {retain: true});
	t.is(broker.counters().retainedRefused, 1);
	broker.publish('one/more', big, {retain: true});
	await until(all => all.length === 1);
	t.is(broker.counters().retainedRefused, 2);
});

test('a login has its own bounds; what it clears, or another writes over, makes room for it again', t => {
	const tree = new RetainedTree({...roomy, topicsPerLogin: 2, bytesPerLogin: 20});
	const set = (by: string | undefined, topic: string, bytes: number): boolean =>
		tree.set({topic, payload: Buffer.alloc(bytes, 'x'), qos: 0, by});
	t.deepEqual([set('a', '1', 4), set('a', '2', 4), set('a', '3', 4)], [true, true, false]);
	t.deepEqual([set('b', '3', 4), set(undefined, '4', 60)], [true, true]);
	t.deepEqual([set('a', '1', 15), set('a', '1', 14)], [false, true]);
	t.true(set('b', '2', 4));
	t.true(set('a', '5', 4));
	t.false(set('a', '6', 0) && set('a', '6', 1));
	t.true(set('c', '5', 0));
	t.true(set('a', '6', 4));
	t.is(tree.size, 5);
});

test('a node that retains all it may, by messages and by its will, takes no room of others', async t => {
	const {broker, port} = await startBroker(t, {may: () => true});
	const will = {topic: 'troupe/v1/nodes/node-a/metrics/will', payload: Buffer.from('gone'), retain: true, qos: 0 as const};
	const greedy = await loggedIn(t, port, 'node-a', {will});
	const more = 5;
	for (let i = 0; i < limits.brokerRetainedPerLogin + more; i += 1)
		await greedy.publishAsync(`troupe/v1/nodes/node-a/metrics/m${i}`, 'x', {retain: true, qos: i % 2 === 0 ? 1 : 2});
	await greedy.publishAsync('troupe/v1/actors/node-a/lifecycle/pods', Buffer.alloc(100_000), {retain: true, qos: 1});
	await settled(greedy);
	t.is(broker.counters().retainedRefused, more + 1);
	const watcher = await loggedIn(t, port, 'watcher');
	const {heard, until} = hearing(watcher);
	await watcher.subscribeAsync(['troupe/v1/nodes/#', 'troupe/v1/actors/#']);
	await until(all => all.length === limits.brokerRetainedPerLogin);
	greedy.stream.destroy();
	await until(all => all.at(-1)?.text === 'gone');
	t.is(heard.filter(({retain}) => retain).length, limits.brokerRetainedPerLogin);
	t.is(broker.counters().retainedRefused, more + 2);
	const other = await loggedIn(t, port, 'node-b');
	await other.publishAsync(presence('node-b'), 'online', {retain: true, qos: 1});
	t.is(broker.counters().retainedRefused, more + 2);
});
