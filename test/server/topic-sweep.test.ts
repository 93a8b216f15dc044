import test from 'ava';
import {limits} from '../../api/limits.js';
import {objectKey} from '../../api/keys.js';
import {topicMatches} from '../../api/mqtt-filter.js';
import type {ApiObject} from '../../api/object.js';
import {startSweeps, type SweepResult} from '../../server/topic-sweep.js';
import {createTopics, retainedObjects} from '../../server/topics.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import type {TopicListener} from '../../system/links/mqtt-link.js';

/** A broker elsewhere: it retains, and hands on when `settle` is called. */
function aBroker() {
	const retained = new Map<string, string>();
	const published: string[] = [];
	const subscriptions = new Set<{filter: string; listener: TopicListener}>();
	const queue: (() => void)[] = [];
	let onConnection: (() => void) | undefined;
	let idle: (() => void) | undefined;
	return {
		retained,
		published,
		subscriptions,
		/** What is on its way, until nothing is. */
		async settle() {
			for (;;) {
				for (let next = queue.shift(); next !== undefined; next = queue.shift()) next();
				const callback = idle;
				idle = undefined;
				callback?.();
				await new Promise(resolve => setImmediate(resolve));
				if (queue.length === 0 && idle === undefined) return;
			}
		},
		/** Forgets what is on its way. */
		lose: () => queue.splice(0),
		connect: () => onConnection?.(),
		broker: {
			publish(topic: string, payload: Buffer | string, {retain}: {retain: boolean}) {
				const text = payload.toString();
				published.push(`${topic} ${text}`.replace(/^troupe\/v1\//, ''));
				queue.push(() => {
					if (retain && text === '') retained.delete(topic);
					else if (retain) retained.set(topic, text);
					for (const {filter, listener} of subscriptions) if (topicMatches(filter, topic)) listener(topic, text, false);
				});
			},
			subscribe(filter: string, listener: TopicListener) {
				const subscription = {filter, listener};
				subscriptions.add(subscription);
				queue.push(() => {
					for (const [topic, text] of retained)
						if (subscriptions.has(subscription) && topicMatches(filter, topic)) listener(topic, text, true);
				});
				return () => subscriptions.delete(subscription);
			},
			onEachConnection(listener: () => void) {
				onConnection = listener;
				return () => (onConnection = undefined);
			},
			whenIdle: (callback: () => void) => (idle = callback),
		},
	};
}

const aPod = (name: string, version: number): ApiObject => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {
		name,
		namespace: 'default',
		uid: name,
		resourceVersion: String(version),
		generation: 1,
		creationTimestamp: '2026-01-01T00:00:00Z',
	},
});

function aCluster(epoch = 2) {
	const outside = aBroker();
	const index = new ObjectIndex();
	const clock = new ManualClock();
	const source = retainedObjects(index, () => epoch);
	const topics = createTopics({broker: outside.broker, epoch: () => epoch});
	const swept: SweepResult[] = [];
	const commit = (name: string, version: number, isThere = true) => {
		const object = isThere ? aPod(name, version) : undefined;
		return index.apply(objectKey('pods', 'default', name), version, object, () => JSON.stringify(object));
	};
	const end = startSweeps({broker: outside.broker, source, boot: 'boot', clock, onSwept: result => swept.push(result)});
	return {...outside, index, clock, commit, topics, swept, end};
}

const topicOf = (name: string): string => `troupe/v1/objects/pods/default/${name}`;
const documentOf = (name: string, version: number, {epoch = 2, prev = version - 1} = {}): string =>
	`{"epoch":${epoch},"rv":${version},"prev":${prev},"object":${JSON.stringify(aPod(name, version))}}`;

test('an empty broker gets everything, in the order of versions', async t => {
	const cluster = aCluster();
	cluster.commit('b', 1);
	cluster.commit('a', 2);
	cluster.commit('b', 3);
	cluster.connect();
	await cluster.settle();
	t.deepEqual(cluster.swept, [{held: 0, rewritten: 2, cleared: 0}]);
	t.deepEqual([...cluster.retained.keys()], ['a', 'b'].map(topicOf));
	t.is(cluster.retained.get(topicOf('b')), documentOf('b', 3));
	t.is(cluster.subscriptions.size, 0);
});

test('what is right stays untouched, also when it is of another epoch; what differs is written, what is unknown is cleared', async t => {
	const cluster = aCluster();
	for (const [at, name] of ['same', 'older', 'other', 'broken', 'absent'].entries()) cluster.commit(name, at + 1);
	cluster.retained.set(topicOf('same'), documentOf('same', 1, {epoch: 1, prev: 77}));
	cluster.retained.set(topicOf('older'), documentOf('older', 1));
	cluster.retained.set(topicOf('other'), documentOf('other', 3).replace('2026', '2025'));
	cluster.retained.set(topicOf('broken'), 'no document');
	cluster.retained.set(topicOf('gone'), documentOf('gone', 1));
	cluster.retained.set('troupe/v1/objects/too/deep/for/an/object', 'x');
	cluster.retained.set('troupe/v1/nodes/a/presence', 'not ours to judge');
	cluster.connect();
	await cluster.settle();
	t.deepEqual(cluster.swept, [{held: 6, rewritten: 4, cleared: 2}]);
	t.is(cluster.retained.get(topicOf('same')), documentOf('same', 1, {epoch: 1, prev: 77}));
	for (const [at, name] of ['older', 'other', 'broken', 'absent'].entries())
		t.is(cluster.retained.get(topicOf(name)), documentOf(name, at + 2));
	t.deepEqual([cluster.retained.size, cluster.retained.has('troupe/v1/nodes/a/presence')], [6, true]);
});

test('changes while it reads and writes win over what it has read', async t => {
	const cluster = aCluster();
	cluster.commit('old', 1);
	cluster.retained.set(topicOf('new'), documentOf('new', 1));
	cluster.connect();
	cluster.topics.onChange(cluster.commit('old', 2));
	cluster.topics.onChange(cluster.commit('new', 3));
	await cluster.settle();
	t.deepEqual([...cluster.retained.values()].toSorted(), [documentOf('new', 3), documentOf('old', 2)].toSorted());
	cluster.connect();
	cluster.topics.onChange(cluster.commit('old', 4, false));
	await cluster.settle();
	t.deepEqual([...cluster.retained], [[topicOf('new'), documentOf('new', 3)]]);
});

test('a connection that ends in the middle begins a new sweep with the next; a lost marker is asked for again', async t => {
	const cluster = aCluster();
	cluster.commit('a', 1);
	cluster.connect();
	cluster.lose();
	cluster.connect();
	cluster.lose();
	cluster.clock.advance(limits.sweepAgainMs);
	await cluster.settle();
	t.deepEqual(cluster.swept, [{held: 0, rewritten: 1, cleared: 0}]);
	cluster.clock.advance(limits.sweepAgainMs);
	await cluster.settle();
	t.is(cluster.published.filter(text => text.startsWith('canary/')).length, 3);
});

test('many objects are written in slices, and after its end it writes nothing more', async t => {
	const cluster = aCluster();
	const count = limits.brokerReplayMessages * 2 + 1;
	for (let version = 1; version <= count; version += 1) cluster.commit(`pod-${version}`, version);
	cluster.connect();
	await cluster.settle();
	t.deepEqual(cluster.swept, [{held: 0, rewritten: count, cleared: 0}]);
	cluster.retained.clear();
	cluster.connect();
	cluster.end();
	await cluster.settle();
	t.deepEqual([cluster.swept.length, cluster.retained.size, cluster.subscriptions.size], [1, 0, 0]);
});
