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

/** Each member of the value by its name, as far as it is there, in another form. */
function withMembers(value: Json, forms: {readonly [name: string]: (member: JsonObject) => JsonObject}): Json {
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, member]) => [
			name,
			Object.hasOwn(forms, name) && isObject(member) ? (forms[name]?.(member) ?? member) : member,
		]),
	);
}

const resourceAs1 = ({target, ...named}: JsonObject): JsonObject => {
	const {averageUtilization, averageValue} = isObject(target) ? target : {};
	return filled({...named, targetAverageUtilization: averageUtilization, targetAverageValue: averageValue});
};

const metricAs1 = (metric: Json): Json =>
	withMembers(metric, {
		resource: resourceAs1,
		containerResource: resourceAs1,
		pods: ({metric: named, target, ...rest}) =>
			filled({...rest, ...nameAs1(named, 'selector'), targetAverageValue: partsOf(target)['averageValue']}),
		object: ({metric: named, target, describedObject, ...rest}) => {
			const {value, averageValue} = partsOf(target);
			// There it has to be, and counts for nothing beside an average.
			return filled({...rest, target: describedObject, ...nameAs1(named, 'selector'), targetValue: value ?? '0', averageValue});
		},
		external: ({metric: named, target, ...rest}) => {
			const {value, averageValue} = partsOf(target);
			return filled({...rest, ...nameAs1(named, 'metricSelector'), targetValue: value, targetAverageValue: averageValue});
		},
	});

const partsOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

const nameAs1 = (named: Json | undefined, selector: 'selector' | 'metricSelector'): Members => ({
	metricName: partsOf(named)['name'],
	[selector]: partsOf(named)['selector'],
});

const resourceFigureAs1 = ({current, ...named}: JsonObject): JsonObject => {
	const {averageUtilization, averageValue} = partsOf(current);
	return filled({...named, currentAverageUtilization: averageUtilization, currentAverageValue: averageValue});
};

const figureAs1 = (figure: Json): Json =>
	withMembers(figure, {
		resource: resourceFigureAs1,
		containerResource: resourceFigureAs1,
		pods: ({metric, current}) => filled({...nameAs1(metric, 'selector'), currentAverageValue: partsOf(current)['averageValue']}),
		object: ({metric, current, describedObject}) => {
			const {value, averageValue} = partsOf(current);
			return filled({target: describedObject, ...nameAs1(metric, 'selector'), currentValue: value ?? '0', averageValue});
		},
		external: ({metric, current}) => {
			const {value, averageValue} = partsOf(current);
			return filled({...nameAs1(metric, 'metricSelector'), currentValue: value ?? '0', currentAverageValue: averageValue});
		},
	});

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

const resourceAs2 = (resource: JsonObject): JsonObject => {
	if (resource['target'] !== undefined) return resource;
	const {targetAverageUtilization: averageUtilization, targetAverageValue: averageValue, ...named} = resource;
	const type = averageUtilization === undefined ? 'AverageValue' : 'Utilization';
	return {...named, target: filled({type, averageUtilization, averageValue})};
};

/** One that has no `metricName` is in the form of v2 already. */
const unlessIs2 =
	(form: (member: JsonObject) => JsonObject) =>
	(member: JsonObject): JsonObject =>
		member['metricName'] === undefined ? member : form(member);

const targetAs2 = (value: Json | undefined, averageValue: Json | undefined): JsonObject =>
	averageValue === undefined ? filled({type: 'Value', value}) : {type: 'AverageValue', averageValue};

const metricAs2 = (metric: Json): Json =>
	withMembers(metric, {
		resource: resourceAs2,
		containerResource: resourceAs2,
		pods: unlessIs2(({metricName: name, selector, targetAverageValue: averageValue, ...rest}) => ({
			...rest,
			metric: filled({name, selector}),
			target: filled({type: 'AverageValue', averageValue}),
		})),
		object: unlessIs2(({metricName: name, selector, target: describedObject, targetValue, averageValue, ...rest}) => ({
			...rest,
			...filled({describedObject}),
			metric: filled({name, selector}),
			target: targetAs2(targetValue, averageValue),
		})),
		external: unlessIs2(({metricName: name, metricSelector: selector, targetValue, targetAverageValue, ...rest}) => ({
			...rest,
			metric: filled({name, selector}),
			target: targetAs2(targetValue, targetAverageValue),
		})),
	});

const resourceFigureAs2 = (resource: JsonObject): JsonObject => {
	if (resource['current'] !== undefined) return resource;
	const {currentAverageUtilization: averageUtilization, currentAverageValue: averageValue, ...named} = resource;
	return {...named, current: filled({averageUtilization, averageValue})};
};

const currentAs2 = (value: Json | undefined, averageValue: Json | undefined): JsonObject =>
	filled(averageValue === undefined ? {value} : {averageValue});

const figureAs2 = (figure: Json): Json =>
	withMembers(figure, {
		resource: resourceFigureAs2,
		containerResource: resourceFigureAs2,
		pods: unlessIs2(({metricName: name, selector, currentAverageValue: averageValue}) => ({
			metric: filled({name, selector}),
			current: filled({averageValue}),
		})),
		object: unlessIs2(({metricName: name, selector, target: describedObject, currentValue, averageValue}) => ({
			...filled({describedObject}),
			metric: filled({name, selector}),
			current: currentAs2(currentValue, averageValue),
		})),
		external: unlessIs2(({metricName: name, metricSelector: selector, currentValue, currentAverageValue}) => ({
			metric: filled({name, selector}),
			current: currentAs2(currentValue, currentAverageValue),
		})),
	});

const capital = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);
const small = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1);

/** Kubernetes writes the members of the behaviour in that annotation with capitals. */
function withCase(value: Json, edit: (name: string) => string): Json {
	if (Array.isArray(value)) return (value as readonly Json[]).map(item => withCase(item, edit));
	if (!isObject(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([name, member]) => [edit(name), withCase(member ?? null, edit)]));
}
