// RFC 7386: a merge patch says which members change, null which go. What it does not change keeps its reference.

import {deepEqual} from './equal.js';
import {limits} from './limits.js';
import {isObject, type Json, type JsonObject} from './object.js';

/** The patched value; the same reference when the patch changes nothing. A key `__proto__` is an ordinary key here. */
export const mergePatch = (target: Json | undefined, patch: Json): Json => merge(target, patch, 0);

/** What is nested too deep is taken as it is, for admission to refuse. */
function merge(target: Json | undefined, patch: Json, depth: number): Json {
	if (!isObject(patch) || depth > limits.objectDepth) return target !== undefined && deepEqual(target, patch) ? target : patch;
	const base: JsonObject = isObject(target) ? target : {};
	const members = new Map(Object.entries(base));
	let changed = !isObject(target);
	for (const [key, change] of Object.entries(patch)) {
		if (change === undefined) continue;
		if (mergeMember(members, key, change, depth)) changed = true;
	}
	return changed ? Object.fromEntries(members) : base;
}

/** Whether the member changed. */
function mergeMember(members: Map<string, Json | undefined>, key: string, change: Json, depth: number): boolean {
	if (change === null) return members.delete(key);
	const before = members.get(key);
	const after = merge(before, change, depth + 1);
	if (after === before) return false;
	members.set(key, after);
	return true;
}
