// What `apply` changes: the difference of what was applied last, what is applied now, and what is there. Pure.
//
// As kubectl does it for kinds without a strategic merge: https://kubernetes.io/docs/tasks/manage-kubernetes-objects/declarative-config/#how-apply-calculates-differences-and-merges-changes

import {deepEqual} from '../api/equal.js';
import {limits} from '../api/limits.js';
import {isObject, type Json, type JsonObject} from '../api/object.js';
import {lastAppliedAnnotation} from '../api/sealed.js';

/** The manifest with itself in its annotation, where it fits: what a first `apply` creates. */
export function withLastApplied(manifest: JsonObject): JsonObject {
	const bare = withoutLastApplied(manifest);
	const memory = memoryOf(bare);
	if (memory === undefined) return bare;
	const metadata = objectAt(bare, 'metadata');
	return {...bare, metadata: {...metadata, annotations: {...objectAt(metadata, 'annotations'), [lastAppliedAnnotation]: memory}}};
}

/** Whether a later `apply` can know what this one had. */
export const isRemembered = (manifest: JsonObject): boolean => memoryOf(withoutLastApplied(manifest)) !== undefined;

/** What is kept of a manifest; undefined where its annotations would be too large with it. Sealed, a text grows by a third. */
function memoryOf(bare: JsonObject): string | undefined {
	const text = `${JSON.stringify(bare)}\n`;
	const own = Buffer.byteLength(JSON.stringify(objectAt(objectAt(bare, 'metadata'), 'annotations')));
	return own + (Buffer.byteLength(text) * 4) / 3 + roomForSeal <= limits.annotationBytes ? text : undefined;
}

/** The annotation's key, and what sealing adds beside the third. */
const roomForSeal = 256;

/**
 * The merge patch that makes `live` say what `manifest` says: its fields set, those it had last time and has no more removed,
 * all others left alone. Undefined when there is nothing to do. What is too large to be remembered removes nothing the next time.
 */
export function applyPatch(manifest: JsonObject, live: JsonObject): JsonObject | undefined {
	const last = lastAppliedOf(live);
	const wanted = withoutLastApplied(manifest);
	const changes = difference(last, wanted, live);
	const memory = memoryOf(wanted);
	const isKept = memory === undefined ? memoryIn(live) === undefined : last !== undefined && deepEqual(last, wanted);
	if (Object.keys(changes).length === 0 && isKept) return undefined;
	const metadata = objectAt(changes, 'metadata');
	const annotations = {...objectAt(metadata, 'annotations'), [lastAppliedAnnotation]: memory ?? null};
	return {...changes, metadata: {...metadata, annotations}};
}

/** What was applied last, if that is known. */
function lastAppliedOf(live: JsonObject): JsonObject | undefined {
	const text = memoryIn(live);
	if (typeof text !== 'string') return undefined;
	try {
		const value = JSON.parse(text) as Json;
		return isObject(value) ? withoutLastApplied(value) : undefined;
	} catch {
		return undefined; // Somebody wrote something else there: as if nothing was known.
	}
}

const memoryIn = (live: JsonObject): Json | undefined => objectAt(objectAt(live, 'metadata'), 'annotations')[lastAppliedAnnotation];

/** The manifest as it was meant: kubectl writes an empty `annotations` into what it keeps. */
function withoutLastApplied(manifest: JsonObject): JsonObject {
	const {annotations, ...metadata} = objectAt(manifest, 'metadata');
	if (annotations === undefined || !isObject(annotations)) return manifest;
	const {[lastAppliedAnnotation]: _last, ...others} = annotations;
	return {...manifest, metadata: Object.keys(others).length === 0 ? metadata : {...metadata, annotations: others}};
}

/** Members to set, and null for members to remove. The server's own parts, status and identity, are not the manifest's. */
function difference(last: JsonObject | undefined, wanted: JsonObject, live: JsonObject): JsonObject {
	const changes: [string, Json][] = [];
	for (const [key, value] of Object.entries(wanted)) {
		if (value === undefined) continue;
		const before = last?.[key];
		const now = Object.hasOwn(live, key) ? live[key] : undefined;
		if (isObject(value) && isObject(now)) {
			const inner = difference(isObject(before) ? before : undefined, value, now);
			if (Object.keys(inner).length > 0) changes.push([key, inner]);
		} else if (!holds(now, value, before)) changes.push([key, value]);
	}
	for (const key of Object.keys(last ?? {})) if (!Object.hasOwn(wanted, key) && Object.hasOwn(live, key)) changes.push([key, null]);
	return Object.fromEntries(changes);
}

/** Whether what is there says all of what is wanted; a list that was changed in the manifest is always sent whole. */
function holds(now: Json | undefined, value: Json, before: Json | undefined): boolean {
	if (!Array.isArray(value)) return deepEqual(now, value);
	return covers(now, value) && (before === undefined || deepEqual(before, value));
}

/** Whether the live value has all that is wanted and perhaps more: the server fills in defaults inside lists, too. */
function covers(live: Json | undefined, wanted: Json | undefined): boolean {
	if (Array.isArray(wanted))
		return Array.isArray(live) && live.length === wanted.length && wanted.every((item: Json, at) => covers(live[at] as Json, item));
	if (isObject(wanted)) return isObject(live) && Object.entries(wanted).every(([key, value]) => covers(live[key], value));
	return deepEqual(live, wanted);
}

function objectAt(object: JsonObject, key: string): JsonObject {
	const value = object[key];
	return isObject(value) ? value : {};
}
