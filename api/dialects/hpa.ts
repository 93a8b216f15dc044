// Autoscalers of both dialects, and of autoscaling/v1, become those of autoscaling/v2.
//
// "At most one pod more or less each interval" is a policy of v2: one pod in so many seconds, both ways.

import {parseDuration} from '../duration.js';
import {hpaAsVersion2} from '../hpa-versions.js';
import {inSteps, measuredSelectorAnnotation, mostIntervalSeconds, stepIntervalAnnotation} from '../kinds/horizontalpodautoscaler.js';
import {isObject, type Json, type JsonObject, type Labels} from '../object.js';
import {joinPath} from '../path.js';
import {formatSelector} from '../selector-text.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {moved, refuseUnknown, withAnnotation, type Edits} from './rewrite.js';

/** What both dialects do when the manifest does not say. */
const defaultIntervalSeconds = 15;

const apiVersions: {readonly [kind: string]: readonly [apiVersion: string, kind: string]} = {
	Pod: ['v1', 'Pod'],
	Replicaset: ['apps/v1', 'ReplicaSet'],
	ReplicaSet: ['apps/v1', 'ReplicaSet'],
	Deployment: ['apps/v1', 'Deployment'],
};

/** Dialect A: `workload`, `adjustInterval`, `selector`, and fractions as metrics. */
export function editHpaA(document: JsonObject, edits: Edits): JsonObject {
	const {spec} = document;
	if (!isObject(spec)) return document;
	const {workload, adjustInterval, selector, metrics, ...rest} = spec;
	const edited: {[field: string]: Json | undefined} = {...rest};
	let result: JsonObject = document;
	if (workload !== undefined && !clashes(spec, 'workload', 'scaleTargetRef', edits)) {
		edited['scaleTargetRef'] = targetOf(workload, 'spec.workload', edits);
		result = inNamespaceOf(result, workload, 'spec.workload', edits);
	}
	if (metrics !== undefined) edited['metrics'] = isObject(metrics) ? metricsOf(metrics, fractions, edits) : metrics;
	if (!clashes(spec, 'adjustInterval', 'behavior', edits) && spec['behavior'] === undefined)
		result = withSteps(result, edited, adjustInterval, 'spec.adjustInterval', edits);
	const text = selector === undefined ? undefined : selectorText(selector, 'spec.selector', edits);
	result = {...result, spec: edited};
	return text === undefined ? result : withAnnotation(result, measuredSelectorAnnotation, text, 'spec.selector', edits);
}

/** `app=hpa`: as selectors are typed. */
function selectorText(selector: Json, path: string, edits: Edits): string | undefined {
	if (!isObject(selector)) return wrong(undefined, path, `must be an object, got ${shown(selector)}`, edits);
	refuseUnknown(selector, ['matchLabels'], path, edits);
	const labels = selector['matchLabels'] ?? {};
	if (!isObject(labels)) return wrong(undefined, `${path}.matchLabels`, `must be an object, got ${shown(labels)}`, edits);
	for (const [key, value] of Object.entries(labels))
		if (typeof value !== 'string')
			return wrong(undefined, joinPath(`${path}.matchLabels`, key), `must be a string, got ${shown(value)}`, edits);
	return formatSelector({matchLabels: labels as Labels});
}

/** Whether the spec has what only dialect B has. */
export const isHpaB = ({spec}: JsonObject): boolean =>
	isObject(spec) &&
	(spec['scaleInterval'] !== undefined || isObject(spec['metrics']) || isObject(partOf(spec, 'scaleTargetRef')['metadata']));

/** Dialect B: `scaleInterval`, percentages as metrics, a target with metadata. */
export function editHpaB(document: JsonObject, edits: Edits): JsonObject {
	const {spec} = document;
	if (!isObject(spec)) return document;
	const {scaleTargetRef, scaleInterval, metrics, ...rest} = spec;
	const edited: {[field: string]: Json | undefined} = {...rest};
	let result: JsonObject = document;
	if (isObject(scaleTargetRef) && scaleTargetRef['metadata'] !== undefined) {
		edited['scaleTargetRef'] = targetOf(scaleTargetRef, 'spec.scaleTargetRef', edits);
		result = inNamespaceOf(result, scaleTargetRef, 'spec.scaleTargetRef', edits);
	} else if (scaleTargetRef !== undefined) edited['scaleTargetRef'] = scaleTargetRef;
	if (metrics !== undefined) edited['metrics'] = isObject(metrics) ? metricsOf(metrics, percentages, edits) : metrics;
	if (!clashes(spec, 'scaleInterval', 'behavior', edits) && spec['behavior'] === undefined)
		result = withSteps(result, edited, scaleInterval, 'spec.scaleInterval', edits);
	return {...result, spec: edited};
}

/** autoscaling/v1 of Kubernetes: one percentage, and annotations for the rest. */
export function editHpaV1(document: JsonObject, edits: Edits): JsonObject {
	const {spec} = document;
	const percent = isObject(spec) ? spec['targetCPUUtilizationPercentage'] : undefined;
	if (isObject(spec) && clashes(spec, 'targetCPUUtilizationPercentage', 'metrics', edits)) return document;
	const {document: edited, problems} = hpaAsVersion2(document);
	for (const {annotation, message} of problems)
		edits.problems.push({path: joinPath('metadata.annotations', annotation), message, reason: 'FieldValueInvalid'});
	if (percent === undefined) return edited;
	moved(edits, 'spec.metrics', 'spec.targetCPUUtilizationPercentage');
	edits.renamed.push({path: 'spec.metrics[0].resource.target.averageUtilization', from: 'spec.targetCPUUtilizationPercentage'});
	return edited;
}

const partOf = (object: JsonObject, name: string): JsonObject => {
	const part = object[name];
	return isObject(part) ? part : {};
};

/** Two fields that say the same are a problem, not a choice. */
function clashes(spec: JsonObject, older: string, newer: string, edits: Edits): boolean {
	if (spec[older] === undefined || spec[newer] === undefined) return false;
	edits.problems.push({
		path: `spec.${older}`,
		message: `stands beside ${newer}, which says the same; leave one out`,
		reason: 'FieldValueDuplicate',
	});
	return true;
}

function wrong<Value>(value: Value, path: string, message: string, edits: Edits): Value {
	edits.problems.push({path, message, reason: 'FieldValueInvalid'});
	return value;
}

function targetOf(target: Json, path: string, edits: Edits): Json {
	if (!isObject(target)) return wrong(target, path, `must be an object, got ${shown(target)}`, edits);
	refuseUnknown(target, ['apiVersion', 'kind', 'metadata'], path, edits);
	const metadata = target['metadata'] ?? {};
	if (!isObject(metadata)) return wrong(target, `${path}.metadata`, `must be an object, got ${shown(metadata)}`, edits);
	refuseUnknown(metadata, ['name', 'namespace'], `${path}.metadata`, edits);
	const {kind} = target;
	const known = typeof kind === 'string' && Object.hasOwn(apiVersions, kind) ? apiVersions[kind] : undefined;
	if (known === undefined) {
		const hint = typeof kind === 'string' ? didYouMean(kind, Object.keys(apiVersions)) : '';
		return wrong(target, `${path}.kind`, `must be Pod, Replicaset or Deployment, got ${shown(kind)}${hint}`, edits);
	}
	if (typeof metadata['name'] !== 'string')
		return wrong(target, `${path}.metadata.name`, `must be a string, got ${shown(metadata['name'])}`, edits);
	moved(edits, 'spec.scaleTargetRef', path);
	edits.renamed.push({path: 'spec.scaleTargetRef.name', from: `${path}.metadata.name`});
	return {apiVersion: known[0], kind: known[1], name: metadata['name']};
}

/** An autoscaler is in the namespace of what it scales: so Kubernetes has it. */
function inNamespaceOf(document: JsonObject, target: Json, path: string, edits: Edits): JsonObject {
	const {namespace} = isObject(target) ? partOf(target, 'metadata') : {};
	if (namespace === undefined || namespace === '') return document;
	const from = `${path}.metadata.namespace`;
	if (typeof namespace !== 'string') return wrong(document, from, `must be a string, got ${shown(namespace)}`, edits);
	const metadata = partOf(document, 'metadata');
	const own = metadata['namespace'];
	if (own === namespace) return document;
	if (own !== undefined && own !== '')
		return wrong(
			document,
			from,
			`must be the namespace of the autoscaler, ${shown(own)}: it scales nothing elsewhere, got ${shown(namespace)}`,
			edits,
		);
	moved(edits, 'metadata.namespace', from);
	return {...document, metadata: {...metadata, namespace}};
}

type Metrics = {
	readonly [name: string]: {readonly resource: string; readonly percentOf: (value: Json) => number | undefined; readonly words: string};
};

const fraction = {
	words: 'a fraction in hundredths, such as 0.35',
	percentOf: (value: Json): number | undefined => {
		const percent = typeof value === 'number' ? Math.round(value * 100) : 0;
		const isExact = typeof value === 'number' && Math.abs(value * 100 - percent) < 1e-9;
		return isExact && percent >= 1 && percent <= 1_000 ? percent : undefined;
	},
};
const percentage = {
	words: 'a whole number of percent, such as 25',
	percentOf: (value: Json): number | undefined =>
		typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1_000 ? value : undefined,
};

const fractions: Metrics = {cpuPercent: {resource: 'cpu', ...fraction}, memPercent: {resource: 'memory', ...fraction}};
const percentages: Metrics = {
	CPUUtilizationPercentage: {resource: 'cpu', ...percentage},
	MemoryUtilizationPercentage: {resource: 'memory', ...percentage},
};

function metricsOf(metrics: JsonObject, known: Metrics, edits: Edits): Json {
	refuseUnknown(metrics, Object.keys(known), 'spec.metrics', edits);
	const list = Object.entries(metrics).flatMap(([name, value = null]) => {
		const reading = Object.hasOwn(known, name) ? known[name] : undefined;
		if (reading === undefined) return [];
		const percent = reading.percentOf(value);
		if (percent === undefined) return wrong([], `spec.metrics.${name}`, `must be ${reading.words}, got ${shown(value)}`, edits);
		return [metric(reading.resource, percent)];
	});
	moved(edits, 'spec.metrics', 'spec.metrics');
	return list;
}

const metric = (name: string, averageUtilization: Json): JsonObject => ({
	type: 'Resource',
	resource: {name, target: {type: 'Utilization', averageUtilization}},
});

/** Adds to the spec that replicas change one by one, once an interval, and gives the document with the interval as an annotation. */
function withSteps(
	document: JsonObject,
	spec: {[field: string]: Json | undefined},
	interval: Json | undefined,
	path: string,
	edits: Edits,
): JsonObject {
	const given = typeof interval === 'number' ? interval : typeof interval === 'string' ? (parseDuration(interval) ?? NaN) / 1000 : NaN;
	const periodSeconds = interval === undefined ? defaultIntervalSeconds : given;
	if (!Number.isInteger(periodSeconds) || periodSeconds < 1 || periodSeconds > mostIntervalSeconds) {
		const words = `must be whole seconds from 1 to ${mostIntervalSeconds}, such as "15s", got ${shown(interval)}`;
		return wrong(document, path, words, edits);
	}
	moved(edits, 'spec.behavior', interval === undefined ? 'spec.behavior' : path);
	spec['behavior'] = inSteps(periodSeconds);
	const metadata = partOf(document, 'metadata');
	const annotations = {...partOf(metadata, 'annotations'), [stepIntervalAnnotation]: String(periodSeconds)};
	return {...document, metadata: {...metadata, annotations}};
}
