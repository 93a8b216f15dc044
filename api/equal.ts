// Equality of JSON by value, and sharing: an object that did not change keeps its reference, and so do its equal parts.

import {joinPath} from './path.js';

type Members = {readonly [key: string]: unknown};

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members that are undefined count as absent. */
export function deepEqual(a: unknown, b: unknown): boolean {
	if (a === b) return true;
	if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => deepEqual(item, b[i]));
	return isMembers(a) && isMembers(b) && equalMembers(a, b);
}

function equalMembers(a: Members, b: Members): boolean {
	for (const key in a) if (a[key] !== undefined && !(Object.hasOwn(b, key) && deepEqual(a[key], b[key]))) return false;
	for (const key in b) if (b[key] !== undefined && (!Object.hasOwn(a, key) || a[key] === undefined)) return false;
	return true;
}

/** The new value, made of the old one's parts wherever they are equal; the old one itself when all of it is. */
export function keepReference<Value>(old: unknown, value: Value): Value {
	return keep(old, value) as Value;
}

function keep(old: unknown, value: unknown): unknown {
	if (Object.is(old, value)) return old;
	if (Array.isArray(old) && Array.isArray(value)) return keepList(old, value);
	return isMembers(old) && isMembers(value) ? keepMembers(old, value) : value;
}

function keepList(old: readonly unknown[], value: readonly unknown[]): readonly unknown[] {
	const shared = value.map((item, i) => (i < old.length ? keep(old[i], item) : item));
	return old.length === shared.length && shared.every((item, i) => item === old[i]) ? old : shared;
}

function keepMembers(old: Members, value: Members): Members {
	let same = countDefined(old) === countDefined(value);
	const shared = Object.entries(value).map(([key, member]): [string, unknown] => {
		const before = Object.hasOwn(old, key) ? old[key] : undefined;
		const kept = keep(before, member);
		if (kept !== before) same = false;
		return [key, kept];
	});
	return same ? old : Object.fromEntries(shared);
}

function countDefined(members: Members): number {
	let count = 0;
	for (const key in members) if (members[key] !== undefined) count++;
	return count;
}

/** Where two values differ: the paths of the smallest parts. */
export function differences(a: unknown, b: unknown, path: string): string[] {
	if (deepEqual(a, b)) return [];
	if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
		return a.flatMap((item, i) => differences(item, b[i], joinPath(path, i)));
	}
	if (!isMembers(a) || !isMembers(b)) return [path];
	const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
	return keys.flatMap(key => differences(memberOf(a, key), memberOf(b, key), joinPath(path, key)));
}

const memberOf = (members: Members, key: string): unknown => (Object.hasOwn(members, key) ? members[key] : undefined);
