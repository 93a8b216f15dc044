// What is kept of topics that metrics come from, and for how long.

import test from 'ava';
import type {MetricWish, Reading} from '../../../actors/control/autoscaling/autoscaling-message.js';
import {limits} from '../../../api/limits.js';
import type {MqttSource} from '../../../api/metric-source.js';
import {topicMatches} from '../../../api/mqtt-filter.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {createMetricTopics} from '../../../server/autoscaling/metric-topics.js';
import {metricValueIn} from '../../../server/autoscaling/metric-value.js';
import {parsedJson} from '../../../api/value-or.js';

function world() {
	const clock = new ManualClock();
	const listeners = new Map<string, (topic: string, payload: string, retained?: boolean) => void>();
	const news: string[] = [];
	const pods = new Set(['default/a', 'default/b']);
	const topics = createMetricTopics({
		subscribe(filter, listener) {
			listeners.set(filter, listener);
			return () => void listeners.delete(filter);
		},
		clock,
		isPod: (namespace, name) => pods.has(`${namespace}/${name}`),
		onValue: hpa => void news.push(hpa),
	});
	const wish = (source: MqttSource, isOfPods = false): MetricWish => ({isOfPods, source: {mqtt: source}});
	return {
		clock,
		topics,
		news,
		pods,
		filters: () => [...listeners.keys()].sort(),
		say: (topic: string, payload: string, retained = false): void => {
			for (const [filter, listener] of listeners) if (topicMatches(filter, topic)) listener(topic, payload, retained);
		},
		has: (hpa: string, ...sources: readonly MqttSource[]) =>
			topics.set(
				hpa,
				'default',
				sources.map(source => wish(source)),
			),
		hasPods: (hpa: string, source: MqttSource, namespace = 'default') => topics.set(hpa, namespace, [wish(source, true)]),
		read: (hpa: string, source: MqttSource) => topics.read(hpa, 'default', false, source),
		readPods: (hpa: string, source: MqttSource, namespace = 'default') => {
			const reading = topics.read(hpa, namespace, true, source);
			return reading.type === 'pods' ? Object.fromEntries(reading.values) : reading;
		},
	};
}

const jobs: MqttSource = {topic: 'jobs'};
const unknown = (why: string): Reading => ({type: 'unknown', why});

test('the newest message counts, until it is too old', t => {
	const {has, read, say, clock} = world();
	has('web', jobs);
	t.deepEqual(read('web', jobs), unknown('no message came on "jobs" in the last 60 s'));
	say('jobs', '3');
	say('jobs', ' 12.5\n');
	t.deepEqual(read('web', jobs), {type: 'total', value: 12.5});
	clock.advance(60_000);
	t.deepEqual(read('web', jobs), {type: 'total', value: 12.5});
	clock.advance(1);
	t.deepEqual(read('web', jobs), unknown('no message came on "jobs" in the last 60 s'));
	const short = {...jobs, expireSeconds: 5};
	say('jobs', '4');
	clock.advance(5_001);
	t.deepEqual(read('web', short), unknown('no message came on "jobs" in the last 5 s'));
});

test('a message that the broker had retained is no value: nobody knows how old it is', t => {
	const {has, read, say} = world();
	has('web', jobs);
	say('jobs', '7', true);
	t.is(read('web', jobs).type, 'unknown');
});

test('what is no number is unknown, and what was in it is not said', t => {
	const {has, read, say} = world();
	has('web', jobs);
	say('jobs', '5');
	say('jobs', 'hunter2');
	t.deepEqual(read('web', jobs), unknown('the last message on "jobs" has no number'));
	say('jobs', `"${'9'.repeat(limits.autoscaleMessageBytes)}"`);
	t.deepEqual(read('web', jobs), unknown('the last message on "jobs" has more than 16384 bytes'));
	say('jobs', '-1');
	t.deepEqual(read('web', jobs), unknown('the last message on "jobs" has a number that is not from 0 to 1000000000000000'));
});

const values: readonly (readonly [payload: string, path: string | undefined, value: number | RegExp])[] = [
	['0', undefined, 0],
	['"12"', undefined, 12],
	['1e3', undefined, 1_000],
	['', undefined, /no number/],
	['true', undefined, /no number/],
	['null', undefined, /no number/],
	['[5]', undefined, /no number/],
	['NaN', undefined, /no number/],
	['1e999', undefined, /not from 0/],
	['{"a": {"b": 5}}', 'a.b', 5],
	['{"a": {"b": "5.5"}}', 'a.b', 5.5],
	['{"a": {"b": ""}}', 'a.b', /no number at "a\.b"/],
	['{"a": 5}', 'a.b', /no number/],
	['{"a": [1]}', 'a.0', /no number/],
	['{}', '__proto__.x', /no number/],
	['{}', 'constructor.length', /no number/],
	['5', 'a', /no number/],
	['['.repeat(16_000), undefined, /no number/],
];
for (const [payload, path, value] of values)
	test(`the message ${payload.slice(0, 20)} ${path === undefined ? '' : `at ${path} `}means ${String(value)}`, t => {
		const found = metricValueIn(() => parsedJson(payload), path);
		if (typeof value === 'number') t.is(found, value);
		else t.regex(String(found), value);
	});

test('only topics of metrics that are there are listened to, each once', t => {
	const {has, filters, say, read, topics} = world();
	const path = {topic: 'jobs', path: 'n'};
	has('web', jobs, path);
	has('api', jobs, {topic: 'other'});
	t.deepEqual(filters(), ['jobs', 'other']);
	say('jobs', '{"n": 4}');
	t.deepEqual(read('web', path), {type: 'total', value: 4});
	has('web', path);
	has('api');
	t.deepEqual(filters(), ['jobs']);
	t.deepEqual(topics.counts(), {topics: 1, values: 1});
	t.deepEqual(read('api', jobs).type, 'unknown', 'it is not its metric any more');
	has('web');
	t.deepEqual(filters(), []);
	t.deepEqual(topics.counts(), {topics: 0, values: 0});
	has('web', jobs);
	topics.close();
	t.deepEqual(filters(), []);
});

test('an autoscaler is told of a value once until it reads', t => {
	const {has, say, read, news} = world();
	has('web', jobs);
	has('api', jobs);
	say('jobs', '1');
	say('jobs', '2');
	t.deepEqual(news.splice(0), ['web', 'api']);
	read('web', jobs);
	say('jobs', '3');
	say('jobs', '4');
	t.deepEqual(news, ['web']);
});

test('messages of pods count by the level that is the pod, while there is such a pod', t => {
	const {hasPods, readPods, say, pods, topics, clock, filters} = world();
	const open: MqttSource = {topic: 'web/{pod}/open', expireSeconds: 10};
	hasPods('web', open);
	t.deepEqual(filters(), ['web/+/open']);
	say('web/a/open', '3');
	say('web/b/open', 'x');
	say('web/c/open', '5');
	t.deepEqual(readPods('web', open), {a: 3});
	t.is(topics.counts().values, 2, 'what is no pod is not kept');
	hasPods('elsewhere', open, 'elsewhere');
	say('web/b/open', '4');
	t.deepEqual(readPods('web', open), {a: 3, b: 4});
	t.deepEqual(readPods('elsewhere', open, 'elsewhere'), {});
	pods.delete('default/b');
	t.deepEqual(readPods('web', open), {a: 3});
	t.is(topics.counts().values, 1);
	clock.advance(10_001);
	t.deepEqual(readPods('web', open), {});
});

test('beyond the bounds topics are not listened to, which is said, and are once there is room', t => {
	const {has, read, say, filters} = world();
	const topicOf = (at: number): MqttSource => ({topic: `t/${at}`});
	for (let at = 0; at <= limits.autoscaleTopics; at++) has(`hpa-${at}`, topicOf(at));
	t.is(filters().length, limits.autoscaleTopics);
	const last = `hpa-${limits.autoscaleTopics}`;
	t.deepEqual(read(last, topicOf(limits.autoscaleTopics)), unknown('"t/4096" is not listened to: there are too many topics'));
	has('hpa-0');
	has(last, topicOf(limits.autoscaleTopics));
	say('t/4096', '1');
	t.deepEqual(read(last, topicOf(limits.autoscaleTopics)), {type: 'total', value: 1});
	for (let at = 0; at <= limits.autoscaleTopicReaders; at++) has(`path-${at}`, {topic: 't/1', path: `p${at}`});
	t.regex(
		JSON.stringify(read(`path-${limits.autoscaleTopicReaders}`, {topic: 't/1', path: `p${limits.autoscaleTopicReaders}`})),
		/too many topics/,
	);
});

test('no more values are kept than may be', t => {
	const {hasPods, say, pods, topics} = world();
	const open: MqttSource = {topic: 'web/{pod}'};
	hasPods('web', open);
	for (let at = 0; at <= limits.autoscaleValues; at++) {
		pods.add(`default/p${at}`);
		say(`web/p${at}`, '1');
	}
	t.is(topics.counts().values, limits.autoscaleValues);
});
