// The patch that leads from one object to another: a merge patch (RFC 7386), and a JSON patch (RFC 6902) for what such a one cannot say. Pure.

import {deepEqual} from '../../api/equal.js';
import type {JsonPatchOperation} from '../../api/json-patch.js';
import {mergePatch} from '../../api/merge-patch.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';
import type {PatchBody} from '../cluster/changes.js';

/** Members to set, and null for members that are gone; undefined when there is no difference. */
export function patchBetween(from: JsonObject, to: JsonObject): JsonObject | undefined {
	const changes: [string, Json][] = [];
	for (const [key, value] of Object.entries(to)) {
		if (value === undefined) continue;
		const before = Object.hasOwn(from, key) ? from[key] : undefined;
		if (isObject(value) && isObject(before)) {
			const inner = patchBetween(before, value);
			if (inner !== undefined) changes.push([key, inner]);
		} else if (!deepEqual(before, value)) changes.push([key, value]);
	}
	for (const [key, value] of Object.entries(from))
		if (value !== undefined && (!Object.hasOwn(to, key) || to[key] === undefined)) changes.push([key, null]);
	return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** The way from one object to another. */
export type Way = {readonly from: JsonObject; readonly to: JsonObject};

/**
 * What does to `live` what a merge patch, made of this way, should do: the patch itself, or a JSON patch where the way sets members to null, as which
 * a merge patch removes them.
 */
export function sentPatch(live: JsonObject, patch: JsonObject, way: Way): PatchBody {
	const merged = mergePatch(live, patch);
	const wanted = withNulls(merged, way);
	return wanted === merged || !isObject(wanted) ? patch : operationsBetween(live, wanted, '');
}

/** The patch for a whole way; undefined when there is no difference. */
export function wholePatch(from: JsonObject, to: JsonObject): PatchBody | undefined {
	const patch = patchBetween(from, to);
	return patch === undefined ? undefined : sentPatch(from, patch, {from, to});
}

/** The value with the members null that the way sets to null; the same reference where there are none. In lists a merge patch leaves nulls alone. */
function withNulls(value: Json | undefined, {from, to}: Way): Json | undefined {
	if (!isObject(value)) return value;
	const changes = Object.entries(to).flatMap(([key, member]): readonly (readonly [string, Json])[] => {
		const before = Object.hasOwn(from, key) ? from[key] : undefined;
		if (member === null) return before === null ? [] : [[key, null]];
		const now = Object.hasOwn(value, key) ? value[key] : undefined;
		const after = isObject(member) ? withNulls(now, {from: isObject(before) ? before : {}, to: member}) : now;
		return after === now || after === undefined ? [] : [[key, after]];
	});
	return changes.length === 0 ? value : Object.fromEntries([...Object.entries(value), ...changes]);
}

/** Lists are set as wholes. */
function operationsBetween(from: JsonObject, to: JsonObject, at: string): readonly JsonPatchOperation[] {
	const set = Object.entries(to).flatMap(([key, value]): readonly JsonPatchOperation[] => {
		const before = Object.hasOwn(from, key) ? from[key] : undefined;
		if (value === undefined || (before !== undefined && deepEqual(before, value))) return [];
		const path = below(at, key);
		return isObject(before) && isObject(value) ? operationsBetween(before, value, path) : [{op: 'add', path, value}];
	});
	const gone = Object.entries(from).filter(([key, value]) => value !== undefined && (!Object.hasOwn(to, key) || to[key] === undefined));
	return [...set, ...gone.map(([key]) => ({op: 'remove' as const, path: below(at, key)}))];
}

const below = (at: string, key: string): string => `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Whether a patch sends a list whole: what others put into that list meanwhile would be lost. */
export const sendsLists = (patch: Json | undefined): boolean =>
	Array.isArray(patch) || (isObject(patch) && Object.values(patch).some(value => value !== undefined && sendsLists(value)));

/** Whether two patches of one object set, or remove, the same member to different ends. */
export const patchesClash = (one: JsonObject, other: JsonObject): boolean =>
	Object.entries(one).some(([key, value]) => {
		if (!Object.hasOwn(other, key)) return false;
		const theirs = other[key];
		return isObject(value) && isObject(theirs) ? patchesClash(value, theirs) : !deepEqual(value, theirs);
	});
