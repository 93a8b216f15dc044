// An autoscaler as autoscaling/v1 and as v2: there and back nothing is lost.

import test from 'ava';
import {normalise} from '../../api/dialects/normalise.js';
import {hpaAsVersion1, hpaAsVersion2} from '../../api/hpa-versions.js';
import {horizontalPodAutoscalerV1} from '../../api/kinds/horizontalpodautoscaler-v1.js';
import type {Hpa} from '../../api/kinds/horizontalpodautoscaler.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {tableOf} from '../../api/table.js';
import {anHpa, cpu, memory} from '../actors/autoscaling/_autoscalers.js';

const back = (object: ApiObject): unknown => hpaAsVersion2(object as unknown as JsonObject).document;

const full = anHpa({
	metadata: {annotations: {mine: 'yes'}, labels: {a: 'b'}},
	spec: {
		metrics: [cpu(50), memory('100Mi')],
		behavior: {
			scaleUp: {stabilizationWindowSeconds: 0, selectPolicy: 'Min', policies: [{type: 'Pods', value: 1, periodSeconds: 15}]},
			scaleDown: {tolerance: '0.2'},
		},
	},
	status: {
		observedGeneration: 3,
		currentReplicas: 2,
		desiredReplicas: 3,
		currentMetrics: [
			{type: 'Resource', resource: {name: 'cpu', current: {averageUtilization: 61, averageValue: '61m'}}},
			{type: 'Resource', resource: {name: 'memory', current: {averageValue: '5Mi'}}},
		],
		conditions: [{type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale', message: 'x'}],
		decisions: [{time: '2026-01-01T00:00:00Z', from: 1, to: 2, reason: 'x'}],
	},
});

const describedObject = {apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'main'};
const selector = {matchLabels: {queue: 'a'}};

/** With all types of metrics, each measured but the first. */
const ofAllTypes = anHpa({
	spec: {
		minReplicas: 0,
		metrics: [
			{
				type: 'ContainerResource',
				containerResource: {name: 'cpu', container: 'main', target: {type: 'Utilization', averageUtilization: 50}},
			},
			{
				type: 'Pods',
				pods: {
					metric: {name: 'open'},
					target: {type: 'AverageValue', averageValue: '5'},
					source: {mqtt: {topic: 'web/{pod}/open', path: 'a.b', expireSeconds: 5}},
				},
			},
			{type: 'Object', object: {describedObject, metric: {name: 'hits', selector}, target: {type: 'Value', value: '2k'}}},
			{type: 'Object', object: {describedObject, metric: {name: 'hits'}, target: {type: 'AverageValue', averageValue: '10'}}},
			{
				type: 'External',
				external: {
					metric: {name: 'jobs'},
					target: {type: 'AverageValue', averageValue: '30'},
					source: {prometheus: {url: 'http://a:9090', query: 'sum(jobs)'}},
				},
			},
			{type: 'External', external: {metric: {name: 'jobs', selector}, target: {type: 'Value', value: '30'}}},
		],
	},
	status: {
		currentReplicas: 2,
		desiredReplicas: 2,
		currentMetrics: [
			{type: ''},
			{type: 'Pods', pods: {metric: {name: 'open'}, current: {averageValue: '4500m'}}},
			{type: 'Object', object: {describedObject, metric: {name: 'hits', selector}, current: {value: '1k'}}},
			{type: 'Object', object: {describedObject, metric: {name: 'hits'}, current: {averageValue: '7'}}},
			{type: 'External', external: {metric: {name: 'jobs'}, current: {averageValue: '12'}}},
			{type: 'External', external: {metric: {name: 'jobs', selector}, current: {value: '31'}}},
		],
	},
});

const courses: {readonly [title: string]: Hpa} = {
	'one with everything': full,
	'one of all types of metrics': ofAllTypes,
	'one of a percentage alone': anHpa(),
	'one of memory alone': anHpa({spec: {metrics: [memory('1Gi')]}}),
	'one by an amount of cpu': anHpa({
		spec: {metrics: [{type: 'Resource', resource: {name: 'cpu', target: {type: 'AverageValue', averageValue: '200m'}}}]},
	}),
};

for (const [title, hpa] of Object.entries(courses))
	test(`as v1 and back it is what it was: ${title}`, t => t.deepEqual(back(hpaAsVersion1(hpa)), hpa as unknown));

test('as v1 it has one percentage, and the rest in the annotations of Kubernetes', t => {
	const {apiVersion, metadata, spec, status} = hpaAsVersion1(full);
	t.is(apiVersion, 'autoscaling/v1');
	t.like(spec, {targetCPUUtilizationPercentage: 50, metrics: undefined, behavior: undefined});
	t.like(status, {currentCPUUtilizationPercentage: 61, conditions: undefined, currentMetrics: undefined});
	const {annotations = {}} = metadata;
	t.deepEqual(Object.keys(annotations).sort(), [
		'autoscaling.alpha.kubernetes.io/behavior',
		'autoscaling.alpha.kubernetes.io/conditions',
		'autoscaling.alpha.kubernetes.io/current-metrics',
		'autoscaling.alpha.kubernetes.io/metrics',
		'mine',
	]);
	t.is(
		annotations['autoscaling.alpha.kubernetes.io/metrics'],
		'[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"100Mi"}}]',
	);
	t.like(JSON.parse(annotations['autoscaling.alpha.kubernetes.io/behavior'] ?? ''), {
		ScaleUp: {SelectPolicy: 'Min', Policies: [{Type: 'Pods', Value: 1, PeriodSeconds: 15}]},
	});
});

test('the rows of v1 are those of v2', t => {
	const {kind} = horizontalPodAutoscalerV1;
	const cells = tableOf(kind, [hpaAsVersion1(full)], 0).rows[0]?.cells.slice(0, 6);
	t.deepEqual(cells, ['web', 'Deployment/web', 'cpu: 61%/50%, memory: 5Mi/100Mi', 1, 10, 2]);
});

const v1 = (annotations: {readonly [name: string]: string}) =>
	normalise({
		apiVersion: 'autoscaling/v1',
		kind: 'HorizontalPodAutoscaler',
		metadata: {name: 'web', annotations},
		spec: {scaleTargetRef: {kind: 'Pod', name: 'a'}, maxReplicas: 2},
	});

test('an annotation that is not what it should be is refused by name', t => {
	const deep = '['.repeat(50) + ']'.repeat(50);
	for (const [name, text, wanted] of [
		['metrics', '{}', /a list in JSON/],
		['metrics', 'rubbish', /a list in JSON/],
		['metrics', deep, /a list in JSON/],
		['behavior', '[]', /an object in JSON/],
	] as const) {
		const read = v1({[`autoscaling.alpha.kubernetes.io/${name}`]: text});
		t.false(read.ok);
		if (!read.ok) {
			t.is(read.problems[0]?.path, `metadata.annotations["autoscaling.alpha.kubernetes.io/${name}"]`);
			t.regex(read.problems[0]?.message ?? '', wanted);
		}
	}
});

test('a manifest of v1 with such annotations is one of v2 with all of it', t => {
	const {annotations = {}} = hpaAsVersion1(full).metadata;
	const read = v1(annotations);
	t.like(read.ok ? read.object : undefined, {
		apiVersion: 'autoscaling/v2',
		metadata: {annotations: {mine: 'yes'}},
		spec: {metrics: [memory('100Mi')], behavior: full.spec?.behavior},
	});
});

test('metrics of v1 are written as Kubernetes writes them, each with its source', t => {
	const {annotations = {}} = hpaAsVersion1(ofAllTypes).metadata;
	t.deepEqual(JSON.parse(annotations['autoscaling.alpha.kubernetes.io/metrics'] ?? ''), [
		{type: 'ContainerResource', containerResource: {name: 'cpu', container: 'main', targetAverageUtilization: 50}},
		{
			type: 'Pods',
			pods: {metricName: 'open', targetAverageValue: '5', source: {mqtt: {topic: 'web/{pod}/open', path: 'a.b', expireSeconds: 5}}},
		},
		{type: 'Object', object: {target: describedObject, metricName: 'hits', selector, targetValue: '2k'}},
		{type: 'Object', object: {target: describedObject, metricName: 'hits', targetValue: '0', averageValue: '10'}},
		{
			type: 'External',
			external: {metricName: 'jobs', targetAverageValue: '30', source: {prometheus: {url: 'http://a:9090', query: 'sum(jobs)'}}},
		},
		{type: 'External', external: {metricName: 'jobs', metricSelector: selector, targetValue: '30'}},
	]);
	t.deepEqual((JSON.parse(annotations['autoscaling.alpha.kubernetes.io/current-metrics'] ?? '') as unknown[]).slice(2, 5), [
		{type: 'Object', object: {target: describedObject, metricName: 'hits', selector, currentValue: '1k'}},
		{type: 'Object', object: {target: describedObject, metricName: 'hits', currentValue: '0', averageValue: '7'}},
		{type: 'External', external: {metricName: 'jobs', currentValue: '0', currentAverageValue: '12'}},
	]);
});
