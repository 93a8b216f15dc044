// Parameters of a query string, strictly read: what is there and wrong is told, never guessed at.

import {shown} from '../../api/shown.js';
import {refusal} from './outcome.js';

/** A whole number from 0 on; undefined when absent or empty. */
export function countOf(query: URLSearchParams, name: string): number | undefined {
	const text = query.get(name);
	if (text === null || text === '') return undefined;
	const value = Number(text);
	if (!/^\d{1,15}$/.test(text)) throw refusal(`${name} must be a whole number from 0 on, got ${shown(text)}`);
	return value;
}

/** `true`, `1` (and the bare name) or `false`, `0`, absent. */
export function flagOf(query: URLSearchParams, name: string): boolean {
	const text = query.get(name);
	if (text === null || text === 'false' || text === '0') return false;
	if (text === '' || text === 'true' || text === '1') return true;
	throw refusal(`${name} must be true or false, got ${shown(text)}`);
}

/** A resourceVersion; undefined when absent or empty. */
export function versionOf(query: URLSearchParams): number | undefined {
	const text = query.get('resourceVersion');
	if (text === null || text === '') return undefined;
	if (!/^\d{1,15}$/.test(text)) throw refusal(`resourceVersion must be one that a list or object carried, got ${shown(text)}`);
	return Number(text);
}

/** Whether nothing is to be kept. `All` is the only value Kubernetes knows. */
export function isDryRun(values: readonly unknown[]): boolean {
	if (values.some(value => value !== 'All')) throw refusal('dryRun must be All');
	return values.length > 0;
}
