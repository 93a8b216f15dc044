// The merge patch (RFC 7386) that leads from one object to another. Pure.

import {deepEqual} from '../../api/equal.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';

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
