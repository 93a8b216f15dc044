// What metrics of pods, objects and of whatever else ask for.

import test from 'ava';
import type {HpaSpec} from '../../../api/kinds/horizontalpodautoscaler.js';
import type {Metric} from '../../../api/metric-texts.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {wishKey, type Reading, type Readings} from '../../../actors/control/autoscaling/autoscaling-message.js';
import {answerOf, wishOf} from '../../../actors/control/autoscaling/metric-answer.js';
import {targetOf} from '../../../actors/control/autoscaling/scale-target.js';
import type {Known} from '../../../system/index/object-index.js';
import type {ApiObject} from '../../../api/object.js';
import {aDeployment, aNode, indexOf, nowMs} from '../_objects.js';
import {anHpa, aWorker, cpu, decided, measuredOf} from './_autoscalers.js';

const metric = {name: 'jobs'};
const ofPods: Metric = {
	type: 'Pods',
	pods: {metric, target: {type: 'AverageValue', averageValue: '10'}, source: {mqtt: {topic: 'web/{pod}'}}},
};
const external = (target: NonNullable<Metric['external']>['target']): Metric => ({
	type: 'External',
	external: {metric, target, source: {mqtt: {topic: 'jobs'}}},
});
const byAverage = external({type: 'AverageValue', averageValue: 10});
const byValue = external({type: 'Value', value: '100'});
const described = (kind: string, name: string): Metric => ({
	type: 'Object',
	object: {describedObject: {apiVersion: 'v1', kind, name}, metric, target: {type: 'Value', value: 100}, source: {mqtt: {topic: 'jobs'}}},
});

const readingsOf = (of: Metric, reading: Reading): Readings => {
	const wish = wishOf(of);
	return new Map(wish === undefined ? [] : [[wishKey(wish), reading]]);
};
const total = (value: number): Reading => ({type: 'total', value});
const eachHas = (values: Record<string, number>): Reading => ({type: 'pods', values: new Map(Object.entries(values))});

const web = (replicas: number) => aDeployment({spec: {replicas}, status: {replicas}});

const waiting = (name: string): Pod => aWorker(name, {phase: 'Pending', conditions: []});
const starting = (name: string): Pod => aWorker(name, {conditions: [{type: 'Ready', status: 'False'}]});

const front: ApiObject = {
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {
		name: 'front',
		namespace: 'default',
		uid: 'uid-of-front',
		resourceVersion: '1',
		generation: 1,
		creationTimestamp: '2023-11-14T22:00:00Z',
	},
};

function answered(of: Metric, reading: Reading, pods: readonly Pod[]) {
	const known: Known = indexOf(web(pods.length), front, aNode(), ...pods);
	const hpa = anHpa({spec: {metrics: [of]}});
	const target = targetOf(hpa, known);
	if (typeof target === 'string') throw new Error(target);
	return answerOf(of, {hpa, target, known, measured: measuredOf({}, '', readingsOf(of, reading)), nowMs});
}

type Case = readonly [title: string, of: Metric, reading: Reading, pods: readonly Pod[], replicas: number, shown: object, text: string];
const [a, b, c] = [aWorker('a'), aWorker('b'), aWorker('c')];

const cases: readonly Case[] = [
	[
		'pods above their target',
		ofPods,
		eachHas({a: 20, b: 15}),
		[a, b],
		4,
		{pods: {metric, current: {averageValue: '17500m'}}},
		'jobs: 17500m/10',
	],
	[
		'pods near their target',
		ofPods,
		eachHas({a: 10, b: 11}),
		[a, b],
		2,
		{pods: {metric, current: {averageValue: '10500m'}}},
		'jobs: 10500m/10',
	],
	[
		'pods of which one says nothing: it counts as at its target',
		ofPods,
		eachHas({a: 2, b: 2}),
		[a, b, c],
		2,
		{pods: {metric, current: {averageValue: '2'}}},
		'jobs: 2/10',
	],
	[
		'pods of which one says nothing: where more are needed it counts as idle',
		ofPods,
		eachHas({a: 30, b: 30}),
		[a, b, c],
		6,
		{pods: {metric, current: {averageValue: '30'}}},
		'jobs: 30/10',
	],
	[
		'pods of which one has not begun',
		ofPods,
		eachHas({a: 30, b: 30}),
		[a, b, waiting('c')],
		6,
		{pods: {metric, current: {averageValue: '30'}}},
		'jobs: 30/10',
	],
	[
		'pods of which one is not ready: what it says counts',
		ofPods,
		eachHas({a: 30, b: 0}),
		[a, starting('b')],
		3,
		{pods: {metric, current: {averageValue: '15'}}},
		'jobs: 15/10',
	],
	[
		'a queue for all, by an average',
		byAverage,
		total(35),
		[a, b],
		4,
		{external: {metric, current: {averageValue: '17500m'}}},
		'jobs: 17500m/10 (avg)',
	],
	[
		'a queue for all, by an average that is no thousandth',
		byAverage,
		total(31),
		[a, b, c],
		3,
		{external: {metric, current: {averageValue: '10334m'}}},
		'jobs: 10334m/10 (avg)',
	],
	['a value of all', byValue, total(250), [a, b], 5, {external: {metric, current: {value: '250'}}}, 'jobs: 250/100'],
	[
		'a value of all, of which one is not ready',
		byValue,
		total(250),
		[a, starting('b')],
		3,
		{external: {metric, current: {value: '250'}}},
		'jobs: 250/100',
	],
	['a value when there are none', byValue, total(250), [], 3, {external: {metric, current: {value: '250'}}}, 'jobs: 250/100'],
	[
		'a queue when there are none',
		byAverage,
		total(250),
		[],
		25,
		{external: {metric, current: {averageValue: '250'}}},
		'jobs: 250/10 (avg)',
	],
	[
		'a value of an object',
		described('Service', 'front'),
		total(40),
		[a, b],
		1,
		{object: {describedObject: {apiVersion: 'v1', kind: 'Service', name: 'front'}, metric, current: {value: '40'}}},
		'jobs: 40/100',
	],
];

for (const [title, of, reading, pods, replicas, shown, text] of cases)
	test(`a metric asks for ${replicas}: ${title}`, t => {
		const answer = answered(of, reading, pods);
		t.deepEqual(answer.ok ? [answer.replicas, answer.shown, answer.text] : answer, [replicas, {type: of.type, ...shown}, text]);
	});

const late: Reading = {type: 'unknown', why: 'nothing came'};
const failures: readonly (readonly [title: string, of: Metric, reading: Reading, reason: string, message: string])[] = [
	['of pods', ofPods, late, 'FailedGetPodsMetric', 'failed to get pods metric jobs: nothing came'],
	[
		'of pods that say nothing',
		ofPods,
		eachHas({other: 1}),
		'FailedGetPodsMetric',
		'failed to get pods metric jobs: no message on "web/{pod}" is of a pod that runs',
	],
	[
		'of pods of which a Prometheus says nothing',
		{type: 'Pods', pods: {metric, target: {type: 'AverageValue', averageValue: '10'}, source: {prometheus: {url: 'http://p', query: 'q'}}}},
		eachHas({other: 1}),
		'FailedGetPodsMetric',
		'failed to get pods metric jobs: nothing in the answer is of a pod that runs',
	],
	['of an object', described('Service', 'front'), late, 'FailedGetObjectMetric', 'failed to get object metric jobs: nothing came'],
	[
		'of an object that is not there',
		described('Service', 'back'),
		total(1),
		'FailedGetObjectMetric',
		'failed to get object metric jobs: service "back" not found',
	],
	[
		'of an object of no namespace',
		described('Node', 'node-a'),
		total(1),
		'FailedGetObjectMetric',
		'failed to get object metric jobs: node "node-a" not found',
	],
	[
		'of an object of no kind',
		described('Nothing', 'front'),
		total(1),
		'FailedGetObjectMetric',
		'failed to get object metric jobs: nothing "front" not found',
	],
	['of whatever else', byValue, late, 'FailedGetExternalMetric', 'failed to get external metric jobs: nothing came'],
];
for (const [title, of, reading, reason, message] of failures)
	test(`what is not known asks for nothing, and says why: ${title}`, t =>
		t.deepEqual(answered(of, reading, [a]), {ok: false, reason, message}));

test('a metric without a source says what to write', t => {
	const bare: Metric = {type: 'External', external: {metric, target: {type: 'Value', value: 1}}};
	t.deepEqual(answered(bare, total(1), [a]), {
		ok: false,
		reason: 'FailedGetExternalMetric',
		message:
			'failed to get external metric jobs: it has no source: say where its value comes from, as in source: {mqtt: {topic: "jobs"}}, or {prometheus: {url, query}}',
	});
});

test('a source that did not answer in time is unknown', t => {
	const known = indexOf(web(1), a);
	const hpa = anHpa({spec: {metrics: [byValue]}});
	const {status} = decided(known, hpa, {});
	t.regex(status.conditions?.[1]?.message ?? '', /failed to get external metric jobs: its source did not answer in time$/);
	t.is(status.currentMetrics, undefined);
});

test('one container of each pod is measured by itself', t => {
	const two = (name: string): Pod => {
		const pod = aWorker(name);
		const [main] = pod.spec?.containers ?? [];
		if (pod.spec === undefined || main === undefined) throw new Error('no container');
		return {...pod, spec: {...pod.spec, containers: [main, {...main, name: 'helper', resources: {}}]}};
	};
	const of = (container: string): Metric => ({
		type: 'ContainerResource',
		containerResource: {name: 'cpu', container, target: {type: 'Utilization', averageUtilization: 50}},
	});
	const hpaOf = (container: string) => anHpa({spec: {metrics: [of(container)]}});
	const known = indexOf(web(1), two('a'));
	const main = decided(known, hpaOf('main'), {a: 100});
	t.is(main.rescale?.to, 2);
	t.deepEqual(main.status.currentMetrics, [
		{
			type: 'ContainerResource',
			containerResource: {name: 'cpu', container: 'main', current: {averageValue: '100m', averageUtilization: 100}},
		},
	]);
	const reasonOf = (container: string): unknown => {
		const {reason, message} = decided(known, hpaOf(container), {a: 100}).status.conditions?.[1] ?? {};
		return [reason, message?.replace(/^.*utilization: /, '')];
	};
	t.deepEqual(reasonOf('helper'), [
		'FailedGetContainerResourceMetric',
		'did not receive metrics for targeted pods (pods might be unready)',
	]);
	t.deepEqual(reasonOf('gone'), ['FailedGetContainerResourceMetric', 'did not receive metrics for targeted pods (pods might be unready)']);
	const all = decided(known, anHpa({spec: {metrics: [cpu(50)]}}), {a: 100});
	t.regex(all.status.conditions?.[1]?.message ?? '', /missing request for cpu in container helper of Pod a$/);
});

// ---- none ----------------------------------------------------------------------------------------------------------------

const fromNone = (spec: Partial<HpaSpec> = {}) => anHpa({spec: {minReplicas: 0, metrics: [byAverage], ...spec}});

test('what has no pods gets some as soon as there is something to do, and none again when there is nothing', t => {
	const up = decided(indexOf(web(0)), fromNone(), {}, {readings: readingsOf(byAverage, total(25))});
	t.is(up.rescale?.to, 3);
	t.is(up.rescale?.reason, 'external metric jobs above target');
	const idle = decided(indexOf(web(0)), fromNone(), {}, {readings: readingsOf(byAverage, total(0))});
	t.is(idle.rescale, undefined);
	t.like(idle.status, {desiredReplicas: 0, currentReplicas: 0});
	t.like(idle.status.conditions?.[1], {type: 'ScalingActive', status: 'True'});
	const behavior = {scaleDown: {stabilizationWindowSeconds: 0}};
	const down = decided(indexOf(web(2), a, b), fromNone({behavior}), {}, {readings: readingsOf(byAverage, total(0))});
	t.is(down.rescale?.to, 0);
	const only: HpaSpec['behavior'] = {scaleUp: {policies: [{type: 'Percent', value: 100, periodSeconds: 15}]}};
	t.is(decided(indexOf(web(0)), fromNone({behavior: only}), {}, {readings: readingsOf(byAverage, total(25))}).rescale?.to, 1);
});

test('pods that are not there are not measured, and hold up nothing', t => {
	const metrics = [cpu(50), byAverage];
	const {rescale, status} = decided(indexOf(web(0)), fromNone({metrics}), {}, {readings: readingsOf(byAverage, total(25))});
	t.is(rescale?.to, 3);
	t.deepEqual(status.currentMetrics, [{type: ''}, {type: 'External', external: {metric, current: {averageValue: '25'}}}]);
});

test('what is not known takes no pods away, and another metric may make more', t => {
	const other = external({type: 'Value', value: 1});
	const bare: Metric = {...other, external: {metric, target: {type: 'Value', value: 1}}};
	const hpa = fromNone({metrics: [byAverage, bare], behavior: {scaleDown: {stabilizationWindowSeconds: 0}}});
	const known = indexOf(web(2), a, b);
	const held = decided(known, hpa, {}, {readings: readingsOf(byAverage, total(0))});
	t.is(held.rescale, undefined);
	t.like(held.status.conditions?.[1], {status: 'False', reason: 'FailedGetExternalMetric'});
	t.is(decided(known, hpa, {}, {readings: readingsOf(byAverage, total(40))}).rescale?.to, 4);
	t.is(decided(known, hpa, {}, {readings: new Map()}).rescale, undefined);
});

test('who changes the replicas of what may have none is overruled, too', t => {
	const memory = {history: undefined, own: {replicas: 0, uid: web(2).metadata.uid}};
	const cause = 'http mia PATCH deployments/default/web/scale';
	const {rescale, events} = decided(indexOf(web(2), a, b), fromNone(), {}, {memory, cause, readings: readingsOf(byAverage, total(0))});
	t.is(rescale?.to, 0);
	t.regex(events[0]?.message ?? '', /were set to 2 by mia/);
});
