// What one metric of an autoscaler asks for: how many replicas, and what was measured; or why that cannot be said. Pure. Reasons are those of Kubernetes.

import {kindOf} from '../../../api/catalogue.js';
import type {Hpa} from '../../../api/kinds/horizontalpodautoscaler.js';
import {objectKey} from '../../../api/keys.js';
import {metricText, type Metric, type MetricStatus} from '../../../api/metric-texts.js';
import {cpuMillis, cpuText, decimalText, memoryBytes, memoryText, quantityValue} from '../../../api/quantity.js';
import type {Known} from '../../../system/index/object-index.js';
import {wishKey, type Measured, type MetricWish, type Reading} from './autoscaling-message.js';
import {figuresOf, figuresOfValues, lacking, readyOf, type Measurand} from './pod-figures.js';
import {replicasForPods, replicasForTotal, type Counted, type PodTarget} from './replica-count.js';
import {behaviourOf} from './scaling-rules.js';
import type {ScaleTarget} from './scale-target.js';

export type MetricAnswer =
	| {readonly ok: true; readonly replicas: number; readonly label: string; readonly shown: MetricStatus; readonly text: string}
	| {readonly ok: false; readonly reason: string; readonly message: string};

export type MetricSituation = {
	readonly hpa: Hpa;
	readonly target: ScaleTarget;
	readonly known: Known;
	readonly measured: Measured;
	readonly nowMs: number;
};

type Named = NonNullable<Metric['pods']>;
type Described = NonNullable<Metric['object']>;

export function answerOf(metric: Metric, situation: MetricSituation): MetricAnswer {
	const {type, resource, containerResource, pods, object, external} = metric;
	switch (type) {
		case 'Resource':
		case 'ContainerResource': {
			const meant = resource ?? containerResource;
			if (meant !== undefined) return ofResource(metric, meant, containerResource?.container, situation);
			break;
		}
		case 'Pods':
			if (pods !== undefined) return ofPods(metric, pods, situation);
			break;
		case 'Object':
			if (object !== undefined) return ofObject(metric, object, situation);
			break;
		case 'External':
			if (external !== undefined) return ofTotal(metric, external, situation, {label: `external metric ${external.metric.name}`});
			break;
	}
	return {ok: false, reason: 'InvalidMetricSourceType', message: `a metric of type ${type} says nothing`};
}

/** What the edge is asked for one; undefined: nothing. */
export function wishOf({pods, object, external}: Metric): MetricWish | undefined {
	const source = (pods ?? object ?? external)?.source;
	return source === undefined ? undefined : {isOfPods: pods !== undefined, source};
}

const tolerance = ({spec}: Hpa) => behaviourOf(spec ?? {}).tolerance;

// ---- cpu and memory ------------------------------------------------------------------------------------------------------

function ofResource(
	metric: Metric,
	{name, target: wish}: NonNullable<Metric['resource']>,
	container: string | undefined,
	{hpa, target, measured, nowMs}: MetricSituation,
): MetricAnswer {
	const reason = container === undefined ? 'FailedGetResourceMetric' : 'FailedGetContainerResourceMetric';
	if (name !== 'cpu' && name !== 'memory') return {ok: false, reason, message: 'a metric is neither cpu nor memory'};
	const what: Measurand = {resource: name, container};
	const wanted = wantedOf(name, wish);
	const counted = replicasForPods(target.replicas, figuresOf(target.pods, what, measured, nowMs), wanted, tolerance(hpa));
	const isPart = wanted.type === 'utilization';
	if (!counted.ok)
		return {
			ok: false,
			reason,
			message: `failed to get ${name} ${isPart ? 'utilization' : 'usage'}: ${unknownText(counted.why, target, what)}`,
		};
	const {replicas, averageUsed, utilization} = counted;
	const averageValue = (name === 'cpu' ? cpuText : memoryText)(averageUsed);
	const current = {averageValue, ...(utilization === undefined ? {} : {averageUtilization: utilization})};
	const kind = container === undefined ? 'resource' : 'container resource';
	return answer(
		metric,
		replicas,
		isPart ? `${name} ${kind} utilization (percentage of request)` : `${name} ${kind}`,
		container === undefined
			? {type: 'Resource', resource: {name, current}}
			: {type: 'ContainerResource', containerResource: {name, container, current}},
	);
}

function wantedOf(name: 'cpu' | 'memory', target: NonNullable<Metric['resource']>['target']): PodTarget {
	if (target.type === 'Utilization') return {type: 'utilization', percent: target.averageUtilization ?? 1};
	return {type: 'average', amount: (name === 'cpu' ? cpuMillis : memoryBytes)(target.averageValue ?? 1) ?? 1};
}

function unknownText(why: Extract<Counted, {readonly ok: false}>['why'], {pods}: ScaleTarget, what: Measurand): string {
	switch (why) {
		case 'noPods':
			return 'no pods returned by selector while calculating replica count';
		case 'noMetrics':
			return 'did not receive metrics for targeted pods (pods might be unready)';
		case 'noRequests':
			return lacking(pods, what);
	}
}

// ---- what sources say ----------------------------------------------------------------------------------------------------

function ofPods(metric: Metric, {metric: named, source, target: wish}: Named, {hpa, target, measured}: MetricSituation): MetricAnswer {
	const reason = 'FailedGetPodsMetric';
	const failed = (why: string): MetricAnswer => ({ok: false, reason, message: `failed to get pods metric ${named.name}: ${why}`});
	const reading = readingOf(metric, measured, `source: {mqtt: {topic: "${named.name}/{pod}"}}`);
	if (reading.type !== 'pods') return failed(reading.type === 'unknown' ? reading.why : 'its source says nothing of pods');
	const amount = Math.round((quantityValue(wish.averageValue ?? 1) ?? 1) * 1_000);
	const counted = replicasForPods(
		target.replicas,
		figuresOfValues(target.pods, reading.values),
		{type: 'average', amount: Math.max(1, amount)},
		tolerance(hpa),
	);
	if (!counted.ok)
		return failed(
			counted.why === 'noMetrics'
				? `${source?.mqtt === undefined ? 'nothing in the answer' : `no message on "${source.mqtt.topic}"`} is of a pod that runs`
				: 'no pods returned by selector while calculating replica count',
		);
	return answer(metric, counted.replicas, `pods metric ${named.name}`, {
		type: 'Pods',
		pods: {metric: named, current: {averageValue: decimalText(counted.averageUsed / 1_000)}},
	});
}

function ofObject(metric: Metric, object: Described, situation: MetricSituation): MetricAnswer {
	const {apiVersion = 'v1', kind, name} = object.describedObject;
	const definition = kindOf(apiVersion, kind);
	const {known, hpa} = situation;
	// What is of no namespace is nothing that who writes autoscalers in one may ask for, its own namespace excepted.
	const {namespace} = hpa.metadata;
	const isThere =
		definition !== undefined &&
		(definition.namespaced
			? known.get(objectKey(definition.plural, namespace, name)) !== undefined
			: definition.kind === 'Namespace' && name === namespace);
	const message = `failed to get object metric ${object.metric.name}: ${kind.toLowerCase()} "${name}" not found`;
	if (!isThere) return {ok: false, reason: 'FailedGetObjectMetric', message};
	return ofTotal(metric, object, situation, {label: `${kind} metric ${object.metric.name}`, describedObject: object.describedObject});
}

/** Of a number that all pods share. */
function ofTotal(
	metric: Metric,
	{metric: named, target: wish}: Named,
	{hpa, target, measured}: MetricSituation,
	{label, describedObject}: {readonly label: string; readonly describedObject?: Described['describedObject']},
): MetricAnswer {
	const isObject = describedObject !== undefined;
	const reading = readingOf(metric, measured, `source: {mqtt: {topic: "${named.name}"}}`);
	if (reading.type !== 'total') {
		const why = reading.type === 'unknown' ? reading.why : 'its source says something of pods';
		return {
			ok: false,
			reason: isObject ? 'FailedGetObjectMetric' : 'FailedGetExternalMetric',
			message: `failed to get ${isObject ? 'object' : 'external'} metric ${named.name}: ${why}`,
		};
	}
	const isAverage = wish.type === 'AverageValue';
	const replicas = replicasForTotal(
		target.replicas,
		readyOf(target.pods),
		reading.value,
		{type: isAverage ? 'average' : 'value', amount: quantityValue((isAverage ? wish.averageValue : wish.value) ?? 1) ?? 1},
		tolerance(hpa),
	);
	const current = isAverage
		? {averageValue: decimalText(Math.ceil((reading.value * 1_000) / Math.max(target.current, 1) - 1e-6) / 1_000)}
		: {value: decimalText(reading.value)};
	return answer(
		metric,
		replicas,
		label,
		isObject ? {type: 'Object', object: {describedObject, metric: named, current}} : {type: 'External', external: {metric: named, current}},
	);
}

/** Of one without a source it is said what to write. */
function readingOf(metric: Metric, {readings}: Measured, example: string): Reading {
	const wish = wishOf(metric);
	if (wish === undefined)
		return {type: 'unknown', why: `it has no source: say where its value comes from, as in ${example}, or {prometheus: {url, query}}`};
	return readings.get(wishKey(wish)) ?? {type: 'unknown', why: 'its source did not answer in time'};
}

const answer = (metric: Metric, replicas: number, label: string, shown: MetricStatus): MetricAnswer => ({
	ok: true,
	replicas,
	label,
	shown,
	text: metricText(metric, shown),
});
