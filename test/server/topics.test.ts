import test from 'ava';
import {topicMatches} from '../../api/mqtt-filter.js';
import {objectKey} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import {createTopics, gapsIn, retainedObjects, type Gap, type TopicMessage} from '../../server/topics.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import {hearing, loggedIn, settled, startBroker, type Heard} from '../system/broker/broker-rig.js';

const aPod = (name: string, version: number, namespace = 'default'): ApiObject => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {
		name,
		namespace,
		uid: `uid-${namespace}-${name}`,
		resourceVersion: String(version),
		generation: 1,
		creationTimestamp: '2026-01-01T00:00:00Z',
	},
});

type Published = {readonly topic: string; readonly text: string; readonly retain: boolean};

const parsed = (text: string): unknown => JSON.parse(text);

/** A cluster of one writer: each write is committed to the index and published, as the pipeline does. */
function aCluster(epoch = 7, publish?: (message: Published) => void, index = new ObjectIndex()) {
	const published: Published[] = [];
	const topics = createTopics({
		epoch: () => epoch,
		broker: {
			publish(topic, payload, {retain}) {
				const message = {topic, text: payload.toString(), retain};
				published.push(message);
				publish?.(message);
			},
		},
	});
	let version = 0;
	const commit = (name: string, namespace: string, object?: (version: number) => ApiObject): number => {
		version += 1;
		const body = object?.(version);
		topics.onChange(index.apply(objectKey('pods', namespace, name), version, body, () => JSON.stringify(body)));
		return version;
	};
	return {
		index,
		topics,
		published,
		put: (name: string, namespace = 'default') => commit(name, namespace, rv => aPod(name, rv, namespace)),
		remove: (name: string, namespace = 'default') => commit(name, namespace),
	};
}

test('a change is published with its version, the one before it in its namespace, and the object', t => {
	const {published, put} = aCluster();
	put('web');
	put('other', 'elsewhere');
	put('web');
	t.deepEqual(
		published.map(({topic, text, retain}) => [topic, parsed(text), retain]),
		[
			['troupe/v1/objects/pods/default/web', {epoch: 7, rv: 1, prev: 0, object: aPod('web', 1)}, true],
			['troupe/v1/objects/pods/elsewhere/other', {epoch: 7, rv: 2, prev: 0, object: aPod('other', 2, 'elsewhere')}, true],
			['troupe/v1/objects/pods/default/web', {epoch: 7, rv: 3, prev: 1, object: aPod('web', 3)}, true],
		],
	);
});

test('the text of the object is the committed one, byte for byte', t => {
	const index = new ObjectIndex();
	const texts: string[] = [];
	const topics = createTopics({epoch: () => 1, broker: {publish: (_topic, payload) => texts.push(payload.toString())}});
	const committed = '{"kind":"Pod",   "metadata":{"resourceVersion":"5"}}';
	topics.onChange(index.apply('pods/default/web', 5, aPod('web', 5), () => committed));
	t.deepEqual(texts, [`{"epoch":1,"rv":5,"prev":0,"object":${committed}}`]);
});

test('a deletion says so, then clears the topic', t => {
	const {published, put, remove} = aCluster();
	put('web');
	remove('web');
	const topic = 'troupe/v1/objects/pods/default/web';
	t.deepEqual(published.slice(1), [
		{topic, text: '{"epoch":7,"rv":2,"prev":1,"deleted":true}', retain: false},
		{topic, text: '', retain: true},
	]);
});

test('an object of the cluster is under `_`, an event and a life beside it', t => {
	const index = new ObjectIndex();
	const published: Published[] = [];
	const topics = createTopics({
		epoch: () => 3,
		broker: {publish: (topic, payload, {retain}) => published.push({topic, text: payload.toString(), retain})},
	});
	const event = {type: 'Warning', reason: 'BackOff', message: 'm', count: 2, firstAtMs: 1, lastAtMs: 2} as const;
	topics.onChange(index.apply(objectKey('nodes', undefined, 'node-a'), 1, aPod('node-a', 1), () => '{}'));
	topics.onEvent('pods/default/web', event);
	topics.onLifecycle('control', 'pods/default.web', {type: 'restarted'});
	t.deepEqual(
		published.map(({topic, text, retain}) => [topic, parsed(text), retain]),
		[
			['troupe/v1/objects/nodes/_/node-a', {epoch: 3, rv: 1, prev: 0, object: {}}, true],
			['troupe/v1/events/default/pods/web', {epoch: 3, ...event}, false],
			['troupe/v1/actors/control/lifecycle/pods/default.web', {type: 'restarted'}, false],
		],
	);
});

test('a record of a history is published beside its object, before it, and is not retained', t => {
	const index = new ObjectIndex();
	const published: (readonly [string, unknown, boolean])[] = [];
	const topics = createTopics({
		epoch: () => 3,
		broker: {publish: (topic, payload, {retain}) => published.push([topic, parsed(payload.toString()), retain])},
	});
	const change = index.apply(objectKey('runs', 'default', 'one'), 1, aPod('one', 1), () => '{}');
	topics.onChange({...change, history: {number: 4, value: {atMs: 5, news: [{type: 'entered', state: 'A'}]}}});
	t.deepEqual(published, [
		['troupe/v1/history/runs/default/one', {epoch: 3, number: 4, atMs: 5, news: [{type: 'entered', state: 'A'}]}, false],
		['troupe/v1/objects/runs/default/one', {epoch: 3, rv: 1, prev: 0, object: {}}, true],
	]);
});

test('retained documents come from the index, by the plural and namespace a filter names or any wildcard', t => {
	const {index, put} = aCluster();
	put('a');
	put('b', 'other');
	index.apply(objectKey('nodes', undefined, 'n'), 3, aPod('n', 3), () => '{"kind":"Node"}');
	const source = retainedObjects(index, () => 7);
	const names = (filter: string): string[] =>
		Array.from(source.match(filter), ({topic}) => topic)
			.filter(topic => topicMatches(filter, topic))
			.map(topic => topic.replace('troupe/v1/objects/', ''))
			.sort();
	const all = ['nodes/_/n', 'pods/default/a', 'pods/other/b'];
	t.deepEqual(names('#'), all);
	t.deepEqual(names('troupe/v1/objects/#'), all);
	t.deepEqual(names('+/v1/objects/+/+/+'), all);
	t.deepEqual(names('troupe/v1/objects/pods/#'), all.slice(1));
	t.deepEqual(names('troupe/v1/objects/pods/default/+'), ['pods/default/a']);
	t.deepEqual(names('troupe/v1/objects/pods/default/a'), ['pods/default/a']);
	t.deepEqual(names('troupe/v1/objects/+/default/#'), ['pods/default/a']);
	t.deepEqual(names('troupe/v1/objects/pods/+/b'), ['pods/other/b']);
	t.deepEqual(names('troupe/v1/actors/node-a/inbox/+'), []);
	t.deepEqual(names('troupe/v1/objects/pods/default'), []);
	t.true(source.owns('troupe/v1/objects/pods/default/gone'));
	t.false(source.owns('troupe/v1/nodes/n/presence'));
});

test('a retained document is read when it is sent: the newest, and nothing once the object is gone', t => {
	const {index, put, remove} = aCluster();
	put('a');
	put('b');
	const [a, b] = [...retainedObjects(index, () => 7).match('troupe/v1/objects/#')];
	put('a');
	remove('b');
	t.is((JSON.parse(a?.payload().toString() ?? '') as {rv: number}).rv, 3);
	t.is(b?.payload().length, 0);
});

const live = (rv: number, prev: number, epoch = 1): TopicMessage => ({epoch, rv, prev, retained: false});
const gapCases: readonly {title: string; messages: readonly TopicMessage[]; expected: readonly Gap[]}[] = [
	{title: 'a chain has none', messages: [live(3, 0), live(5, 3), live(6, 5)], expected: []},
	{title: 'the first message begins the chain', messages: [live(9, 8), live(10, 9)], expected: []},
	{title: 'what was skipped shows', messages: [live(3, 0), live(9, 7)], expected: [{from: 3, to: 7, reason: 'missed'}]},
	{title: 'a repetition is none', messages: [live(3, 0), live(5, 3), live(3, 0), live(6, 5)], expected: []},
	{title: 'another epoch is one', messages: [live(3, 0), live(4, 0, 2), live(5, 4, 2)], expected: [{from: 3, to: 0, reason: 'restarted'}]},
	{title: 'a predecessor that was never is one', messages: [live(3, 0), live(6, 2)], expected: [{from: 3, to: 2, reason: 'contradiction'}]},
	{
		title: 'a retained message neither opens nor closes one',
		messages: [live(3, 0), {epoch: 1, rv: 8, prev: 7, retained: true}, live(9, 8)],
		expected: [{from: 3, to: 8, reason: 'missed'}],
	},
];
for (const {title, messages, expected} of gapCases) test(`gaps: ${title}`, t => t.deepEqual(gapsIn(messages), expected));

/** The committed versions that were not heard and that no gap covers. */
function unmarked(committed: readonly number[], messages: readonly TopicMessage[]): number[] {
	const heard = new Set(messages.map(({rv}) => rv));
	const gaps = gapsIn(messages);
	return committed.filter(rv => !heard.has(rv) && !gaps.some(({from, to}) => rv > from && rv <= to));
}

const messageOf = ({text, retain}: Heard): TopicMessage => {
	const {epoch, rv, prev} = JSON.parse(text) as {epoch: number; rv: number; prev: number};
	return {epoch, rv, prev, retained: retain};
};

test('a subscriber sees each of 1,000 changes, deletions too, with no gap at all', async t => {
	const rig = await startBroker(t);
	const {put, remove} = aCluster(7, ({topic, text, retain}) => rig.broker.publish(topic, text, {retain}));
	const watcher = await loggedIn(t, rig.port, 'watcher');
	const {heard, until} = hearing(watcher);
	await watcher.subscribeAsync('troupe/v1/objects/pods/default/#');
	const committed: number[] = [];
	for (let i = 0; i < 1_000; i += 1) {
		committed.push(i % 10 === 9 ? remove(`p${(i - 1) % 30}`) : put(`p${i % 30}`));
		put('noise', 'elsewhere');
		if (i % 50 === 0) await new Promise(resolve => setImmediate(resolve));
	}
	const ofChanges = (all: readonly Heard[]): readonly Heard[] => all.filter(({text}) => text !== '');
	await until(all => ofChanges(all).length >= 1_000);
	const messages = ofChanges(heard).map(messageOf);
	t.deepEqual(
		messages.map(({rv}) => rv),
		committed,
	);
	t.deepEqual(gapsIn(messages), []);
});

test('what a burst beyond every bound loses is marked, and the newest of each object arrives', async t => {
	const rig = await startBroker(t);
	const {put} = aCluster(7, ({topic, text, retain}) => rig.broker.publish(topic, text, {retain}));
	const watcher = await loggedIn(t, rig.port, 'watcher');
	const {heard, until} = hearing(watcher);
	await watcher.subscribeAsync('troupe/v1/objects/pods/default/#');
	const committed: number[] = [];
	// All in one turn, ten changes of each of 300 pods: no pipeline does this.
	for (let i = 0; i < 3_000; i += 1) committed.push(put(`p${i % 300}`));
	const last = committed.at(-1) ?? 0;
	await until(all => all.some(message => messageOf(message).rv === last));
	await settled(watcher);
	const messages = heard.map(messageOf);
	t.true(messages.length < 3_000);
	t.deepEqual(unmarked(committed, messages), []);
	t.true(gapsIn(messages).every(({reason}) => reason === 'missed'));
	const newest = new Map(heard.map(({topic, text}) => [topic, messageOf({topic, text, retain: false}).rv]));
	t.deepEqual(
		[...newest.values()].sort((a, b) => a - b),
		committed.slice(-300),
	);
});

test('who subscribes in the middle of changes ends with what there is', async t => {
	const index = new ObjectIndex();
	const {broker, port} = await startBroker(t, {retainedSource: retainedObjects(index, () => 7)});
	const cluster = aCluster(7, ({topic, text, retain}) => broker.publish(topic, text, {retain}), index);
	for (let i = 0; i < 500; i += 1) cluster.put(`p${i}`);
	const watcher = await loggedIn(t, port, 'watcher');
	const {heard, until} = hearing(watcher);
	const subscribed = watcher.subscribeAsync('troupe/v1/objects/#');
	for (let i = 0; i < 100; i += 1) {
		cluster.put(`p${i * 5}`);
		if (i % 3 === 0) cluster.remove(`p${i * 5}`);
		await new Promise(resolve => setImmediate(resolve));
	}
	await subscribed;
	const last = cluster.put('last');
	await until(all => all.some(({text}) => text !== '' && messageOf({topic: '', text, retain: false}).rv === last));
	await settled(watcher);
	const seen = new Map<string, string>();
	for (const {topic, text} of heard) {
		if (text === '' || text.includes('"deleted":true')) seen.delete(topic);
		else seen.set(topic, text);
	}
	const expected = Array.from(index.all(), entry => [`troupe/v1/objects/${entry.key}`, entry.version] as const);
	t.deepEqual([...seen].map(([topic, text]) => [topic, messageOf({topic, text, retain: false}).rv] as const).sort(), expected.sort());
	t.deepEqual(gapsIn(heard.filter(({text}) => text !== '').map(messageOf)), []);
});
