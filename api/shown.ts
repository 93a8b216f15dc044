// Values as messages show them: short, in JSON, so that a text and a number look different.

import {limits} from './limits.js';

/** `"many"`, `3`, `a list`, `an object`, `nothing`. */
export function shown(value: unknown): string {
	if (value === undefined || value === null) return 'nothing';
	if (Array.isArray(value)) return 'a list';
	if (typeof value === 'object') return 'an object';
	if (typeof value === 'string')
		return JSON.stringify(value.length > limits.shownCharacters ? `${value.slice(0, limits.shownCharacters)}…` : value);
	return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `a ${typeof value}`;
}

/** The type alone, for values that may be secret. */
export function shownType(value: unknown): string {
	return typeof value === 'object' || value === undefined ? shown(value) : `a ${typeof value}`;
}

/** A name as it is; one that no object can have, and that may be a megabyte, in part. */
export const shownName = (name: string): string =>
	name.length > limits.shownNameCharacters ? `${name.slice(0, limits.shownCharacters)}…` : name;
