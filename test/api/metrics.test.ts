// What autoscalers may measure: which metrics are taken, and how those that are not are refused.

import test from 'ava';
import {admitCreate} from '../../api/admission.js';
import {limits} from '../../api/limits.js';
import {metricFilterOf, podOfTopic, queryUrlOf} from '../../api/metric-source.js';
import {metricTexts, targetTexts, type Metric, type MetricStatus} from '../../api/metric-texts.js';
import type {JsonObject} from '../../api/object.js';
import {decimalText} from '../../api/quantity.js';

const hpa = (metrics: readonly unknown[], spec: object = {}): JsonObject =>
	({
		apiVersion: 'autoscaling/v2',
		kind: 'HorizontalPodAutoscaler',
		metadata: {name: 'web', namespace: 'default'},
		spec: {scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: 'web'}, maxReplicas: 4, metrics, ...spec},
	}) as JsonObject;

function problemsOf(document: JsonObject): readonly string[] {
	const admitted = admitCreate(document);
	if (admitted.ok) return [];
	const {problems} = admitted.error.details as {problems?: readonly {path: string; message: string}[]};
	return (problems ?? []).map(({path, message}) => `${path}: ${message}`);
}

const metric = {name: 'jobs'};
const average = {type: 'AverageValue', averageValue: '10'};
const value = {type: 'Value', value: 100};
const external = (more: object = {}) => ({type: 'External', external: {metric, target: average, ...more}});
const pods = (more: object = {}) => ({type: 'Pods', pods: {metric, target: average, ...more}});
const describedObject = {apiVersion: 'v1', kind: 'Service', name: 'web'};
const mqtt = (topic: string, more: object = {}) => ({source: {mqtt: {topic, ...more}}});
const prometheus = (url: string, query = 'up') => ({source: {prometheus: {url, query}}});

const taken: readonly (readonly [title: string, metric: unknown])[] = [
	['an External metric as Kubernetes has it', external({metric: {name: 'jobs', selector: {matchLabels: {queue: 'a'}}}})],
	['an External metric by a topic', external(mqtt('jobs/waiting', {expireSeconds: 5, path: 'queue.length'}))],
	['an External metric by a query', external({...prometheus('https://prometheus.example/base/', 'sum(jobs)'), target: value})],
	['a Pods metric by a topic of each', pods(mqtt('jobs/{pod}/open'))],
	['an Object metric', {type: 'Object', object: {describedObject, metric, target: value, ...mqtt('web/connections')}}],
	[
		'what one container uses',
		{type: 'ContainerResource', containerResource: {name: 'cpu', container: 'main', target: {type: 'Utilization', averageUtilization: 50}}},
	],
];
for (const [title, each] of taken) test(`an autoscaler may have ${title}`, t => t.deepEqual(problemsOf(hpa([each])), []));

const at = 'spec.metrics[0].external';
const topicWords = 'must be a topic without "+" and "#" that begins with a word that is not troupe or $...';
const urlWords = `must be the address of a Prometheus such as http://prometheus.example:9090, without a user, "?" and "#", of at most ${limits.prometheusUrlCharacters} characters`;
const refusals: readonly (readonly [title: string, metric: unknown, ...problems: string[]])[] = [
	[
		'a member of another type',
		{...external(), pods: {metric, target: average}},
		'spec.metrics[0].pods: belongs to another type than External',
	],
	['a Pods metric of all together', pods({target: value}), 'spec.metrics[0].pods.target.type: must be AverageValue here, got "Value"'],
	[
		'an External metric in percent',
		external({target: {type: 'Utilization', averageUtilization: 5}}),
		`${at}.target.type: must be Value or AverageValue here, got "Utilization"`,
	],
	['a target without its value', external({target: {type: 'Value'}}), `${at}.target.value: is required when the type is Value`],
	['a target with two values', external({target: {...average, value: 1}}), `${at}.target.value: belongs to another type than AverageValue`],
	['a target of nothing', external({target: {type: 'Value', value: '0'}}), `${at}.target.value: must be a quantity above 0, got "0"`],
	['a metric without a name', external({metric: {name: ''}}), `${at}.metric.name: is required`],
	[
		'a metric whose name is a path',
		external({metric: {name: 'a/b'}}),
		`${at}.metric.name: must be at most 253 characters without spaces, "/" and "%", got "a/b"`,
	],
	[
		'a selector beside a source',
		external({metric: {name: 'jobs', selector: {matchLabels: {a: 'b'}}}, ...mqtt('jobs')}),
		`${at}.metric.selector: stands beside a source, which says itself which series are meant; leave it out`,
	],
	['a source that is none', external({source: {}}), `${at}.source: must be one of mqtt, prometheus, got none`],
	[
		'two sources',
		external({source: {...mqtt('jobs').source, ...prometheus('http://a').source}}),
		`${at}.source: must be one of mqtt, prometheus, got mqtt and prometheus`,
	],
	...['jobs/+', 'jobs/#', 'troupe/v1/metrics/nodes/a', '$SYS/clients', '/jobs', ''].map(
		topic =>
			[
				`the topic "${topic}"`,
				external(mqtt(topic)),
				`${at}.source.mqtt.topic: ${topicWords}, without {pod}, which is of type Pods; got ${JSON.stringify(topic)}`,
			] as const,
	),
	[
		'a topic of each pod for all',
		external(mqtt('jobs/{pod}')),
		`${at}.source.mqtt.topic: ${topicWords}, without {pod}, which is of type Pods; got "jobs/{pod}"`,
	],
	...['jobs', '{pod}/jobs', 'jobs/{pod}/{pod}', 'jobs/x{pod}'].map(
		topic =>
			[
				`the topic "${topic}" for each pod`,
				pods(mqtt(topic)),
				`spec.metrics[0].pods.source.mqtt.topic: ${topicWords}, with one level {pod}, which is the name of the pod; got "${topic}"`,
			] as const,
	),
	[
		'a topic of too many levels',
		external(mqtt(Array.from({length: 17}, () => 'a').join('/'))),
		`${at}.source.mqtt.topic: must be at most 16 levels and 1024 bytes, got 17 and 33`,
	],
	...['a..b', '.a', 'a.b.c.d.e.f.g.h.i'].map(
		path =>
			[
				`the path ${path}`,
				external(mqtt('jobs', {path})),
				`${at}.source.mqtt.path: must be names with dots between, such as queue.length, at most 8 of them and 256 characters, got "${path}"`,
			] as const,
	),
	[
		'a message that counts for ever',
		external(mqtt('jobs', {expireSeconds: 86_401})),
		`${at}.source.mqtt.expireSeconds: must be a whole number from 1 to 86400, got 86401`,
	],
	...['prometheus:9090', 'ftp://a', 'http://u:secret@a', 'http://a?b', 'http://a#b', 'http://', `http://a/${'b'.repeat(2_100)}`].map(
		url => [`the address ${url.slice(0, 30)}`, external(prometheus(url)), `${at}.source.prometheus.url: ${urlWords}`] as const,
	),
	['a query that asks nothing', external(prometheus('http://a', ' ')), `${at}.source.prometheus.query: is required`],
	[
		'a query with half of a character',
		external(prometheus('http://a', '\ud800')),
		`${at}.source.prometheus.query: must be well-formed text`,
	],
	[
		'a query without end',
		external(prometheus('http://a', 'a'.repeat(4_097))),
		`${at}.source.prometheus.query: must be at most 4096 characters, got 4097`,
	],
	[
		'a metric of an object without a name',
		{type: 'Object', object: {describedObject: {kind: 'Service', name: 'A_'}, metric, target: value}},
		'spec.metrics[0].object.describedObject.name: must be lower-case letters, digits, "-" and ".", with a letter or digit at both ends, at most 253 characters, got "A_"',
	],
];
for (const [title, each, ...problems] of refusals) test(`no autoscaler has ${title}`, t => t.deepEqual(problemsOf(hpa([each])), problems));

test('an autoscaler has so many metrics at most', t => {
	const many = Array.from({length: limits.autoscaleMetrics + 1}, () => external());
	t.deepEqual(problemsOf(hpa(many)), ['spec.metrics: must be at most 16, got 17']);
	t.deepEqual(problemsOf(hpa(many.slice(1))), []);
});

test('there may be no pod only where something is measured that is not of pods', t => {
	const none = {minReplicas: 0};
	const words = 'spec.metrics: must have at least one metric of type Object or External where minReplicas is 0';
	const cpu = {type: 'Resource', resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization: 50}}};
	t.deepEqual(problemsOf(hpa([external(mqtt('jobs'))], none)), []);
	t.deepEqual(problemsOf(hpa([cpu, {type: 'Object', object: {describedObject, metric, target: value}}], none)), []);
	t.deepEqual(problemsOf(hpa([cpu, pods()], none)), [words]);
	t.deepEqual(problemsOf(hpa([], none)), [words], 'cpu is what is measured when nothing is said');
	t.deepEqual(problemsOf(hpa([external()], {...none, scaleTargetRef: {apiVersion: 'v1', kind: 'Pod', name: 'web'}})), [
		'spec.minReplicas: must be at least 1 where a Pod is scaled: the pod itself is the first of them',
	]);
	t.deepEqual(problemsOf(hpa([external()], {minReplicas: -1})), ['spec.minReplicas: must be a whole number from 0 to 100000, got -1']);
});

test('a topic of each pod is a filter, and the level that matches is the pod', t => {
	t.is(metricFilterOf('jobs/{pod}/open', true), 'jobs/+/open');
	t.is(podOfTopic('jobs/web-1/open', 'jobs/+/open'), 'web-1');
	t.is(metricFilterOf('jobs/open', false), 'jobs/open');
	t.is(metricFilterOf('jobs/open', true), undefined);
});

test('a query is asked below the address of its Prometheus', t => {
	t.is(
		queryUrlOf({url: 'http://a:9090', query: 'sum(x{a="b"}) > 1'}),
		'http://a:9090/api/v1/query?query=sum(x%7Ba%3D%22b%22%7D)%20%3E%201',
	);
	t.is(queryUrlOf({url: 'https://a/prometheus/', query: 'x'}), 'https://a/prometheus/api/v1/query?query=x');
});

for (const [amount, text] of [
	[0, '0'],
	[0.25, '250m'],
	[12, '12'],
	[12.5, '12500m'],
	[10_000, '10k'],
	[1_500, '1500'],
	[2e15, '2P'],
	[0.000_4, '0'],
] as const)
	test(`the number ${amount} is written ${text}`, t => t.is(decimalText(amount), text));

test('what is measured is shown as kubectl shows it, with names where there is room', t => {
	const metrics = [
		{type: 'Resource', resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization: 80}}},
		{
			type: 'ContainerResource',
			containerResource: {name: 'memory', container: 'main', target: {type: 'AverageValue', averageValue: '1Gi'}},
		},
		{type: 'Pods', pods: {metric, target: {type: 'AverageValue', averageValue: 5}}},
		{type: 'Object', object: {describedObject, metric, target: {type: 'Value', value: '2k'}}},
		{type: 'External', external: {metric, target: {type: 'AverageValue', averageValue: 10}}},
	] as const satisfies readonly Metric[];
	t.deepEqual(targetTexts({spec: {metrics}}), [
		'cpu: <unknown>/80%',
		'memory: <unknown>/1Gi',
		'<unknown>/5',
		'<unknown>/2k',
		'<unknown>/10 (avg)',
	]);
	const currentMetrics: readonly MetricStatus[] = [
		{type: ''},
		{type: 'ContainerResource', containerResource: {name: 'memory', container: 'main', current: {averageValue: '2Gi'}}},
		{type: 'Pods', pods: {metric, current: {averageValue: '4500m'}}},
		{type: 'Object', object: {describedObject, metric, current: {value: '3k'}}},
		{type: 'External', external: {metric, current: {averageValue: '12'}}},
	];
	t.deepEqual(metricTexts({spec: {metrics}, status: {currentMetrics}}), [
		'cpu: <unknown>/80%',
		'memory: 2Gi/1Gi',
		'jobs: 4500m/5',
		'jobs: 3k/2k',
		'jobs: 12/10 (avg)',
	]);
});
