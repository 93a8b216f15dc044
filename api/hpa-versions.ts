// HorizontalPodAutoscalers of autoscaling/v1 and v2 are two forms of the same objects. What v1 has no place for is in annotations, the ones that
// Kubernetes uses for it, so that nothing is lost on the way there and back. Pure.

import {isDeeper} from './depth.js';
import {isObject, type ApiObject, type Json, type JsonObject} from './object.js';
import {shown} from './shown.js';
import {parsedJson} from './value-or.js';

export const hpaVersion1 = 'autoscaling/v1';
export const hpaVersion2 = 'autoscaling/v2';

const prefix = 'autoscaling.alpha.kubernetes.io';
const inAnnotations = {
	metrics: `${prefix}/metrics`,
	behavior: `${prefix}/behavior`,
	currentMetrics: `${prefix}/current-metrics`,
	conditions: `${prefix}/conditions`,
} as const;

/** No annotation of Kubernetes nests as deep: metric, resource, a selector of its. */
const deepest = 16;

const percentMember = 'targetCPUUtilizationPercentage';

/** An annotation that is not what it should be. */
export type VersionProblem = {readonly annotation: string; readonly message: string};

type Members = {readonly [member: string]: Json | undefined};

const part = (object: Members, name: string): JsonObject => {
	const member = object[name];
	return isObject(member) ? member : {};
};
const items = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** Without what is undefined, or an empty list or object. */
const filled = (members: Members): JsonObject =>
	Object.fromEntries(
		Object.entries(members).filter(([, value]) => value !== undefined && !(isObject(value) && Object.keys(value).length === 0)),
	);

// ---- from v2 to v1 -------------------------------------------------------------------------------------------------------

/** An object of v2 as v1 has it. */
export function hpaAsVersion1(object: ApiObject): ApiObject {
	const document = object as unknown as JsonObject;
	const {metrics, behavior, ...spec} = part(document, 'spec');
	const {currentMetrics, conditions, ...status} = part(document, 'status');
	const [first, ...others] = items(metrics);
	const percent = first === undefined ? undefined : cpuPercentOf(first);
	const rest = percent === undefined ? items(metrics) : others;
	const texts: Members = {
		[inAnnotations.metrics]: rest.length === 0 ? undefined : JSON.stringify(rest.map(metricAs1)),
		[inAnnotations.behavior]: isObject(behavior) ? JSON.stringify(withCase(behavior, capital)) : undefined,
		[inAnnotations.currentMetrics]: items(currentMetrics).length === 0 ? undefined : JSON.stringify(items(currentMetrics).map(figureAs1)),
		[inAnnotations.conditions]: items(conditions).length === 0 ? undefined : JSON.stringify(conditions),
	};
	const annotations = filled({...part(part(document, 'metadata'), 'annotations'), ...texts});
	const cpuNow = items(currentMetrics)
		.map(cpuNowOf)
		.find(each => each !== undefined);
	const {annotations: _annotations, ...metadata} = part(document, 'metadata');
	return {
		...document,
		apiVersion: hpaVersion1,
		metadata: filled({...metadata, annotations}),
		spec: filled({...spec, [percentMember]: percent}),
		...(document['status'] === undefined ? {} : {status: filled({...status, currentCPUUtilizationPercentage: cpuNow})}),
	} as unknown as ApiObject;
}

/** Of the metric that v1 has a member for. */
function cpuPercentOf(metric: Json): Json | undefined {
	const resource = part(isObject(metric) ? metric : {}, 'resource');
	const target = part(resource, 'target');
	return resource['name'] === 'cpu' && target['type'] === 'Utilization' ? target['averageUtilization'] : undefined;
}

function metricAs1(metric: Json): Json {
	const {resource, ...rest} = isObject(metric) ? metric : {};
	if (!isObject(resource)) return metric;
	const {target, ...named} = resource;
	const {averageUtilization, averageValue} = isObject(target) ? target : {};
	return {
		...rest,
		resource: filled({...named, targetAverageUtilization: averageUtilization, targetAverageValue: averageValue}),
	};
}

function figureAs1(figure: Json): Json {
	const {resource, ...rest} = isObject(figure) ? figure : {};
	if (!isObject(resource)) return figure;
	const {current, ...named} = resource;
	const {averageUtilization, averageValue} = isObject(current) ? current : {};
	return {...rest, resource: filled({...named, currentAverageUtilization: averageUtilization, currentAverageValue: averageValue})};
}

function cpuNowOf(figure: Json): Json | undefined {
	const resource = part(isObject(figure) ? figure : {}, 'resource');
	return resource['name'] === 'cpu' ? part(resource, 'current')['averageUtilization'] : undefined;
}

// ---- from v1 to v2 -------------------------------------------------------------------------------------------------------

/** A document of v1 as v2 has it, and what is wrong with its annotations. Members that v1 does not know stay: the schema says so. */
export function hpaAsVersion2(document: JsonObject): {readonly document: JsonObject; readonly problems: readonly VersionProblem[]} {
	const problems: VersionProblem[] = [];
	const metadata = part(document, 'metadata');
	const annotations = part(metadata, 'annotations');
	const textOf = (name: keyof typeof inAnnotations, isRight: (value: unknown) => boolean): Json | undefined => {
		const text = annotations[inAnnotations[name]];
		if (text === undefined) return undefined;
		const value = typeof text === 'string' ? parsedJson(text) : undefined;
		if (isRight(value) && !isDeeper(value as Json, deepest)) return value as Json;
		const wanted = name === 'behavior' ? 'an object in JSON' : 'a list in JSON';
		problems.push({annotation: inAnnotations[name], message: `must be ${wanted}, got ${shown(text)}`});
		return undefined;
	};
	const {[percentMember]: percent, metrics: own, behavior: ownBehavior, ...spec} = part(document, 'spec');
	const others = items(textOf('metrics', Array.isArray)).map(metricAs2);
	const metrics = own ?? [...(percent === undefined || percent === null ? [] : [cpuMetric(percent)]), ...others];
	const behavior = textOf('behavior', isObject);
	const {currentCPUUtilizationPercentage: _percent, ...status} = part(document, 'status');
	const figures = items(textOf('currentMetrics', Array.isArray)).map(figureAs2);
	const conditions = items(textOf('conditions', Array.isArray));
	const names: readonly string[] = Object.values(inAnnotations);
	const kept = Object.fromEntries(Object.entries(annotations).filter(([name]) => !names.includes(name)));
	const {annotations: _annotations, ...bare} = metadata;
	return {
		document: {
			...document,
			apiVersion: hpaVersion2,
			...(isObject(document['metadata']) ? {metadata: filled({...bare, annotations: kept})} : {}),
			...(isObject(document['spec'])
				? {
						spec: {
							...spec,
							...(Array.isArray(metrics) && metrics.length === 0 ? {} : {metrics}),
							...filled({behavior: ownBehavior ?? (isObject(behavior) ? withCase(behavior, small) : undefined)}),
						},
					}
				: {}),
			...(isObject(document['status'])
				? {
						status: {
							...status,
							...(figures.length === 0 ? {} : {currentMetrics: figures}),
							...(conditions.length === 0 ? {} : {conditions}),
						},
					}
				: {}),
		},
		problems,
	};
}

const cpuMetric = (averageUtilization: Json): JsonObject => ({
	type: 'Resource',
	resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization}},
});

function metricAs2(metric: Json): Json {
	const {resource, ...rest} = isObject(metric) ? metric : {};
	if (!isObject(resource) || resource['target'] !== undefined) return metric;
	const {targetAverageUtilization: averageUtilization, targetAverageValue: averageValue, ...named} = resource;
	const type = averageUtilization === undefined ? 'AverageValue' : 'Utilization';
	return {...rest, resource: {...named, target: filled({type, averageUtilization, averageValue})}};
}

function figureAs2(figure: Json): Json {
	const {resource, ...rest} = isObject(figure) ? figure : {};
	if (!isObject(resource) || resource['current'] !== undefined) return figure;
	const {currentAverageUtilization: averageUtilization, currentAverageValue: averageValue, ...named} = resource;
	return {...rest, resource: {...named, current: filled({averageUtilization, averageValue})}};
}

const capital = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);
const small = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1);

/** Kubernetes writes the members of the behaviour in that annotation with capitals. */
function withCase(value: Json, edit: (name: string) => string): Json {
	if (Array.isArray(value)) return (value as readonly Json[]).map(item => withCase(item, edit));
	if (!isObject(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([name, member]) => [edit(name), withCase(member ?? null, edit)]));
}
