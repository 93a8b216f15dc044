// What a Prometheus answers to an instant query (its HTTP API, "Instant queries"), as metrics of autoscalers. Pure.

import type {Reading} from '../../actors/control/autoscaling/autoscaling-message.js';
import {isObject, type JsonObject} from '../../api/object.js';
import {valueOr} from '../../api/value-or.js';
import {isMetricValue} from './metric-value.js';

/** A number with the labels that are looked at. */
export type Series = {readonly pod: string | undefined; readonly namespace: string | undefined; readonly value: number};

export type PrometheusAnswer =
	{readonly ok: true; readonly type: 'scalar' | 'vector'; readonly series: readonly Series[]} | {readonly ok: false; readonly why: string};

/** What of its own words is said again. */
const wordsCharacters = 200;

/** Of a text with the status of HTTP with which it came. */
export function prometheusAnswerOf(status: number, text: string): PrometheusAnswer {
	const body = valueOr(undefined, () => JSON.parse(text) as unknown);
	const said = isObject(body) && body['status'] === 'error' ? body['error'] : undefined;
	if (typeof said === 'string') return no(`it says: ${said.slice(0, wordsCharacters)}`);
	if (status >= 300 && status < 400) return no(`it answered with status ${status}, and redirects are not followed`);
	if (status !== 200) return no(`it answered with status ${status}`);
	const {data, warnings} = isObject(body) && body['status'] === 'success' ? body : {};
	const warning = warningIn(warnings);
	if (warning !== undefined) return no(`it warns that its answer may lack something: ${warning.slice(0, wordsCharacters)}`);
	return isObject(data) ? resultOf(data) : no('its answer is not that of a Prometheus');
}

/** Such as that a part of what it asks did not answer: the sum of the rest is too small. What older ones remark on a query is none. */
const warningIn = (warnings: unknown): string | undefined =>
	(Array.isArray(warnings) ? (warnings as readonly unknown[]) : [])
		.map(warning => (typeof warning === 'string' ? warning : 'it does not say what'))
		.find(warning => !warning.startsWith('PromQL info: '));

const no = (why: string): PrometheusAnswer => ({ok: false, why});

function resultOf({resultType, result}: JsonObject): PrometheusAnswer {
	if (!Array.isArray(result)) return no('its answer is not that of a Prometheus');
	switch (resultType) {
		case 'scalar':
			return {ok: true, type: 'scalar', series: [{pod: undefined, namespace: undefined, value: sampleOf(result)}]};
		case 'vector':
			return {ok: true, type: 'vector', series: (result as readonly unknown[]).map(seriesOf)};
		default:
			return no('the query gives neither a number nor an instant vector');
	}
}

function seriesOf(item: unknown): Series {
	const {metric, value} = isObject(item) ? item : {};
	const {pod, namespace} = isObject(metric) ? metric : {};
	return {pod: labelOf(pod), namespace: labelOf(namespace), value: sampleOf(value)};
}

const labelOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** `[time, "value"]`; what is no number is NaN. */
function sampleOf(sample: unknown): number {
	const text: unknown = Array.isArray(sample) ? sample[1] : undefined;
	return typeof text === 'string' && text.trim() !== '' ? Number(text) : NaN;
}

/** Of several series the sum, as with the adapters of Kubernetes. */
export function totalIn(answer: PrometheusAnswer): Reading {
	if (!answer.ok) return {type: 'unknown', why: answer.why};
	const {series} = answer;
	if (series.length === 0) return {type: 'unknown', why: 'the query has no result'};
	const value = series.reduce((sum, each) => sum + (isMetricValue(each.value) ? each.value : NaN), 0);
	return isMetricValue(value) ? {type: 'total', value} : {type: 'unknown', why: 'the result of the query is not a number from 0 on'};
}

/** By the label `pod`, and `namespace` where there is one. */
export function podsIn(answer: PrometheusAnswer, namespace: string): Reading {
	if (!answer.ok) return {type: 'unknown', why: answer.why};
	const values = new Map<string, number>();
	for (const {pod, namespace: own = namespace, value} of answer.series)
		if (pod !== undefined && own === namespace) values.set(pod, (values.get(pod) ?? 0) + (isMetricValue(value) ? value : NaN));
	for (const [pod, value] of values) if (!isMetricValue(value)) values.delete(pod);
	if (values.size === 0 && answer.series.length > 0)
		return {
			type: 'unknown',
			why: 'the result of the query has no series with the label "pod" of a pod of this namespace and a number from 0 on',
		};
	return {type: 'pods', values};
}
