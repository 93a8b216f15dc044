// What has to be done to one JSON value to make another of it: short where little differs, as between the states before and after a step.

import type {Json, JsonObject} from '../../api/object.js';
import {isObject} from '../../api/object.js';

export type Step = string | number;

export type Change =
	/** The value at this place is this one now; at no place at all: the whole. */
	| {readonly at: readonly Step[]; readonly to: Json}
	/** A member that is not there any more. */
	| {readonly at: readonly Step[]; readonly gone: true}
	/** Of a list: from an index on so many items went, and these came. */
	| {readonly at: readonly Step[]; readonly from: number; readonly less: number; readonly more: readonly Json[]};

export type Delta = readonly Change[];

/** Nothing where both are equal; members have no order, items have. */
export function deltaOf(before: Json, after: Json): Delta {
	const delta: Change[] = [];
	compare(before, after, [], delta);
	return delta;
}

export const areSame = (a: Json, b: Json): boolean => deltaOf(a, b).length === 0;

function compare(before: Json, after: Json, at: readonly Step[], delta: Change[]): void {
	if (before === after) return;
	if (isList(before) && isList(after)) compareLists(before, after, at, delta);
	else if (isObject(before) && isObject(after)) compareMembers(before, after, at, delta);
	else delta.push({at, to: after});
}

/** What is equal at both ends stays; of lists that are equally long each item is compared, of others the middle is another one. */
function compareLists(before: readonly Json[], after: readonly Json[], at: readonly Step[], delta: Change[]): void {
	if (before.length === after.length) {
		for (const [index, item] of after.entries()) compare(before[index] ?? null, item, [...at, index], delta);
		return;
	}
	const shorter = Math.min(before.length, after.length);
	let from = 0;
	while (from < shorter && areSame(before[from] ?? null, after[from] ?? null)) from++;
	let end = 0;
	while (end < shorter - from && areSame(before.at(-1 - end) ?? null, after.at(-1 - end) ?? null)) end++;
	delta.push({at, from, less: before.length - end - from, more: after.slice(from, after.length - end)});
}

function compareMembers(before: JsonObject, after: JsonObject, at: readonly Step[], delta: Change[]): void {
	for (const [name, member] of Object.entries(after)) {
		if (Object.hasOwn(before, name)) compare(before[name] ?? null, member ?? null, [...at, name], delta);
		else delta.push({at: [...at, name], to: member ?? null});
	}
	for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) delta.push({at: [...at, name], gone: true});
}

/** Makes the changes, as far as their places are there; what was given stays as it is. */
export function apply(value: Json, delta: Delta): Json {
	return delta.reduce((done, change) => applied(done, change, change.at), value);
}

function applied(value: Json, change: Change, [first, ...rest]: readonly Step[]): Json {
	if (first === undefined) return changed(value, change);
	if (isList(value)) {
		const index = Number(first);
		return index < value.length ? value.map((item, at) => (at === index ? applied(item, change, rest) : item)) : value;
	}
	if (!isObject(value)) return value;
	const name = String(first);
	if (rest.length > 0 || !('gone' in change)) {
		if (rest.length > 0 && !Object.hasOwn(value, name)) return value;
		return withMember(value, name, applied(value[name] ?? null, change, rest));
	}
	return Object.fromEntries(Object.entries(value).filter(([each]) => each !== name));
}

const withMember = (value: JsonObject, name: string, member: Json): JsonObject =>
	Object.hasOwn(value, name)
		? Object.fromEntries(Object.entries(value).map(([each, old]) => [each, each === name ? member : old]))
		: Object.fromEntries([...Object.entries(value), [name, member]]);

function changed(value: Json, change: Change): Json {
	if ('to' in change) return change.to;
	if ('gone' in change || !isList(value)) return value;
	return [...value.slice(0, change.from), ...change.more, ...value.slice(change.from + change.less)];
}

const isList = (json: Json): json is readonly Json[] => Array.isArray(json);
