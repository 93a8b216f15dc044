// The HorizontalPodAutoscaler of an object, in the words of `kubectl autoscale` and of the older dialects. Pure.

import {apiVersionOf} from '../../api/catalogue.js';
import {parseDuration} from '../../api/duration.js';
import {inSteps, mostIntervalSeconds, stepIntervalAnnotation} from '../../api/kinds/horizontalpodautoscaler.js';
import type {JsonObject} from '../../api/object.js';
import type {Resource} from '../cluster/resources.js';
import {type Flags, usageError} from '../command.js';

export type AutoscalerOf = {readonly name: string; readonly resource: Resource; readonly target: string};

/** Throws ERR_USAGE for flags that no autoscaler has. */
export function autoscalerOf({name, resource, target}: AutoscalerOf, flags: Flags): JsonObject {
	const max = whole(flags, 'max');
	if (max === undefined) throw usageError('--max is missing: the most pods, as in: troupe autoscale deployment/web --max 4');
	const min = whole(flags, 'min');
	const metrics = [metric('cpu', whole(flags, 'cpu-percent')), metric('memory', whole(flags, 'memory-percent'))].flat();
	const seconds = intervalOf(flags.text('interval'));
	return {
		apiVersion: 'autoscaling/v2',
		kind: 'HorizontalPodAutoscaler',
		metadata: {name, ...(seconds === undefined ? {} : {annotations: {[stepIntervalAnnotation]: String(seconds)}})},
		spec: {
			scaleTargetRef: {apiVersion: apiVersionOf(resource), kind: resource.kind, name: target},
			...(min === undefined ? {} : {minReplicas: min}),
			maxReplicas: max,
			...(metrics.length === 0 ? {} : {metrics}),
			...(seconds === undefined ? {} : {behavior: inSteps(seconds)}),
		},
	};
}

/** kubectl takes less than 0 as if the flag were not there. */
function whole(flags: Flags, name: string): number | undefined {
	const value = flags.number(name);
	if (value === undefined || value < 0) return undefined;
	if (!Number.isSafeInteger(value)) throw usageError(`--${name} must be a whole number, got ${value}`);
	return value;
}

const metric = (name: string, averageUtilization: number | undefined): readonly JsonObject[] =>
	averageUtilization === undefined ? [] : [{type: 'Resource', resource: {name, target: {type: 'Utilization', averageUtilization}}}];

/** Seconds, or a time such as 10s. */
function intervalOf(text: string | undefined): number | undefined {
	if (text === undefined) return undefined;
	const seconds = /^\d+$/.test(text) ? Number(text) : (parseDuration(text) ?? NaN) / 1_000;
	if (Number.isInteger(seconds) && seconds >= 1 && seconds <= mostIntervalSeconds) return seconds;
	throw usageError(`--interval must be whole seconds from 1 to ${mostIntervalSeconds}, such as 10 or 10s, got "${text}"`);
}
