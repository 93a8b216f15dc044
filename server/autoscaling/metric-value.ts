// The number that a message means: a metric by MQTT. Pure; what is in a message is never said again.

import {limits} from '../../api/limits.js';
import {isObject} from '../../api/object.js';
import {parsedJson} from '../../api/value-or.js';

/** A number, or why there is none. */
export type MetricValue = number | string;

/** `json` gives what the message is in JSON. */
export function metricValueIn(json: () => unknown, path: string | undefined): MetricValue {
	const value = path === undefined ? json() : memberAt(json(), path.split('.'));
	const where = path === undefined ? '' : ` at "${path}"`;
	const number = typeof value === 'string' ? numberOf(value) : value;
	if (typeof number !== 'number') return `has no number${where}`;
	return isMetricValue(number) ? number : `has a number${where} that is not from 0 to ${limits.autoscaleMostValue}`;
}

/** Below 0 there is less than nothing: that is no reason to take pods away. */
export const isMetricValue = (value: number): boolean => value >= 0 && value <= limits.autoscaleMostValue;

function memberAt(value: unknown, path: readonly string[]): unknown {
	let at = value;
	for (const name of path) at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
	return at;
}

/** A text may be the number of a program that writes all as text. */
function numberOf(text: string): number | undefined {
	const value = parsedJson(text.trim());
	return typeof value === 'number' ? value : undefined;
}
