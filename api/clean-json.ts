// The first thing that happens to any input: it becomes plain JSON of bounded depth without nulls, or is refused.
//
// Kubernetes reads null as absent, so members that are null are left out, but for those in which null says something: in the definition of a
// workflow, and in the data of its runs. What needs no change is not copied.

import {limits} from './limits.js';
import type {Json, JsonObject} from './object.js';
import {joinPath} from './path.js';
import type {Problem} from './problem.js';
import {shown} from './shown.js';

export type Cleaned = {
	readonly value: Json;
	/** At most so many bytes when serialised: cheap to know, and mostly all one needs. */
	readonly bytesAtMost: number;
	readonly problems: readonly Problem[];
};

type Walk = {
	bytes: number;
	readonly trail: (string | number)[];
	readonly problems: Problem[];
	/** Of the place where the walk is. */
	keepsNulls: boolean;
	/** Members that keep nulls, in the form of paths. */
	readonly keeping: readonly string[];
};

/**
 * Plain JSON without members that are null, or with all of them, or with those that have one of these paths (`spec.input`) or are anywhere below
 * one. What was no JSON is left out of the value and named in the problems.
 */
export function cleanJson(input: unknown, keepsNulls: boolean | readonly string[] = false): Cleaned {
	const walk: Walk = {
		bytes: 0,
		trail: [],
		problems: [],
		keepsNulls: keepsNulls === true,
		keeping: typeof keepsNulls === 'boolean' ? [] : keepsNulls,
	};
	return {value: clean(input, walk) ?? null, bytesAtMost: walk.bytes, problems: walk.problems};
}

/** The exact number of bytes of the serialised value. */
export const serialisedBytes = (value: Json): number => new TextEncoder().encode(JSON.stringify(value)).length;

function clean(value: unknown, walk: Walk): Json | undefined {
	switch (typeof value) {
		case 'string':
			walk.bytes += value.length * 6 + 3; // A control character takes six: \u0000.
			return value;
		case 'number':
			walk.bytes += 26;
			return Number.isFinite(value) ? value : refuse(walk, `must be a finite number, got ${value}`);
		case 'boolean':
			walk.bytes += 6;
			return value;
		case 'object':
			walk.bytes += 5;
			if (value === null) return null;
			if (walk.trail.length >= limits.objectDepth) return refuse(walk, `is nested deeper than ${limits.objectDepth} levels`);
			return Array.isArray(value) ? cleanList(value, walk) : cleanObject(value, walk);
		case 'undefined':
			return undefined;
		default:
			return refuse(walk, `must be JSON, got ${shown(value)}`);
	}
}

function cleanList(list: readonly unknown[], walk: Walk): readonly Json[] {
	let copy: Json[] | undefined;
	for (let i = 0; i < list.length; i++) {
		walk.trail.push(i);
		const item = clean(list[i], walk) ?? null;
		walk.trail.pop();
		if (item !== list[i]) copy ??= list.slice(0, i) as Json[];
		copy?.push(item);
	}
	return copy ?? (list as readonly Json[]);
}

function cleanObject(object: object, walk: Walk): JsonObject | undefined {
	const prototype: unknown = Object.getPrototypeOf(object);
	if (prototype !== Object.prototype && prototype !== null) return refuse(walk, 'must be plain JSON');
	const source = object as {readonly [key: string]: unknown};
	let changes: Map<string, Json | undefined> | undefined;
	for (const key of Object.keys(source)) {
		walk.trail.push(key);
		walk.bytes += key.length * 6 + 4;
		const outside = walk.keepsNulls;
		const isKept = outside || isKeeping(walk);
		walk.keepsNulls = isKept;
		// Such a key would change the prototype of whatever is built from it.
		const member = key === '__proto__' ? refuse(walk, '"__proto__" cannot be the name of a field') : clean(source[key], walk);
		walk.keepsNulls = outside;
		walk.trail.pop();
		if (member !== source[key] || (member === null && !isKept)) (changes ??= new Map()).set(key, isKept ? member : (member ?? undefined));
	}
	return changes === undefined ? (source as JsonObject) : withChanges(source as JsonObject, changes);
}

const isKeeping = ({keeping, trail}: Walk): boolean => keeping.length > 0 && keeping.includes(trail.join('.'));

function withChanges(source: JsonObject, changes: ReadonlyMap<string, Json | undefined>): JsonObject {
	const members = Object.entries(source).map(([key, value]): [string, Json | undefined] => [
		key,
		changes.has(key) ? changes.get(key) : value,
	]);
	return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

function refuse(walk: Walk, message: string): undefined {
	if (walk.problems.length >= limits.problemsShown) return undefined;
	walk.problems.push({path: walk.trail.reduce<string>(joinPath, ''), message, reason: 'FieldValueInvalid'});
	return undefined;
}
