// What `apply` changes: the difference of what was applied last, what is applied now, and what is there. Pure.
//
// As kubectl does it: https://kubernetes.io/docs/tasks/manage-kubernetes-objects/declarative-config/#how-apply-calculates-differences-and-merges-changes
// A merge patch sends lists whole (RFC 7386), so lists whose items have names are merged here.

import {deepEqual} from '../../api/equal.js';
import {limits} from '../../api/limits.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';
import {lastAppliedAnnotation} from '../../api/sealed.js';
import patchSchemas, {type PatchField, type PatchFields} from '../../api/patch-schemas.cjs';
import {textOf} from '../../api/rules/report.js';
import {byIdentity, identityOf, inMergedOrder, type Identity} from './list-identity.js';
import type {PatchBody} from '../cluster/changes.js';
import {patchBetween, sentPatch} from './patch-between.js';

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
	const changes = patchBetween(live, mergedWith(wanted, live)) ?? {};
	const memory = memoryOf(wanted);
	const isKept = memory === undefined ? memoryIn(live) === undefined : last !== undefined && deepEqual(last, wanted);
	if (Object.keys(changes).length === 0 && isKept) return undefined;
	const metadata = objectAt(changes, 'metadata');
	const annotations = {...objectAt(metadata, 'annotations'), [lastAppliedAnnotation]: memory ?? null};
	return {...changes, metadata: {...metadata, annotations}};
}

/** The same as it is sent: a merge patch sets no member to null. */
export function patchToApply(manifest: JsonObject, live: JsonObject): PatchBody | undefined {
	const patch = applyPatch(manifest, live);
	return patch === undefined ? undefined : sentPatch(live, patch, {from: live, to: mergedWith(withoutLastApplied(manifest), live)});
}

/** What is there with what the manifest, and the one before it, say. */
function mergedWith(wanted: JsonObject, live: JsonObject): JsonObject {
	const last = lastAppliedOf(live);
	return mergedObject(last, withAnnotations(wanted, last), live, fieldOf(patchSchemas, textOf(wanted['kind']) ?? ''));
}

/** Annotations go one by one: others write some, too, and one is ours in any case. */
function withAnnotations(wanted: JsonObject, last: JsonObject | undefined): JsonObject {
	const had = last !== undefined && objectAt(last, 'metadata')['annotations'] !== undefined;
	return had ? {...wanted, metadata: {annotations: {}, ...objectAt(wanted, 'metadata')}} : wanted;
}

/** What was applied last, if that is known. */
export function lastAppliedOf(live: JsonObject): JsonObject | undefined {
	const text = memoryIn(live);
	if (typeof text !== 'string') return undefined;
	try {
		const value = JSON.parse(text) as Json;
		return isObject(value) ? withoutLastApplied(value) : undefined;
	} catch {
		return undefined; // Another program wrote something else there: as if nothing was known.
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

/** What is there with what is wanted set, and what was wanted last and is no more removed. The server's own parts stay as they are. */
function mergedObject(last: JsonObject | undefined, wanted: JsonObject, live: JsonObject, field: PatchField): JsonObject {
	const isChoice = field.isChoice === true && !covers(live, wanted);
	const members = new Map(Object.entries(live).filter(([key]) => !isChoice || Object.hasOwn(wanted, key)));
	for (const key of Object.keys(last ?? {})) if (!Object.hasOwn(wanted, key)) members.delete(key);
	for (const [key, value] of Object.entries(wanted)) {
		if (value === undefined) continue;
		members.set(key, mergedValue(own(last, key), value, members.get(key), fieldOf(field.fields, key)));
	}
	return Object.fromEntries(members);
}

const fieldOf = (fields: PatchFields | undefined, name: string): PatchField =>
	(fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined) ?? {};

/** `constructor` is a fine name for a label. */
const own = (object: JsonObject | undefined, key: string): Json | undefined =>
	object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;

function mergedValue(last: Json | undefined, wanted: Json, live: Json | undefined, field: PatchField): Json {
	if (isObject(wanted)) return mergedObject(isObject(last) ? last : undefined, wanted, isObject(live) ? live : {}, field);
	if (!Array.isArray(wanted) || !Array.isArray(live)) return wanted;
	const lists = {
		last: Array.isArray(last) ? (last as readonly Json[]) : [],
		wanted: wanted as readonly Json[],
		live: live as readonly Json[],
	};
	const identity = identityOf(field);
	const merged = identity === undefined ? undefined : mergedList(lists, identity, field);
	if (merged !== undefined) return merged;
	// One without identities is the manifest's as a whole: what the server filled in is no change, what the manifest changed is.
	return covers(live, wanted) && (last === undefined || deepEqual(last, wanted)) ? lists.live : wanted;
}

type Lists = {readonly last: readonly Json[]; readonly wanted: readonly Json[]; readonly live: readonly Json[]};

/** Item by item; those of others stay. Undefined where an item has no identity, or two have the same. */
function mergedList({last, wanted, live}: Lists, identity: Identity, field: PatchField): readonly Json[] | undefined {
	const [before, now, there] = [last, wanted, live].map(list => byIdentity(list, identity));
	if (now === undefined || there === undefined) return undefined;
	const others = [...there.keys()].filter(key => !now.has(key) && before?.has(key) !== true);
	return inMergedOrder([...now.keys()], others, [...there.keys()]).map(key => {
		const item = now.get(key);
		const existing = there.get(key);
		return item === undefined ? (existing ?? null) : mergedValue(before?.get(key), item, existing, field);
	});
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
