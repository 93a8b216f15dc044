// RFC 6902: operations at places of a document, one after the other; where one fails, nothing is changed. Pure.
//
// The document is kept as it is: what lies on the way to a place is copied the first time. Names that every JavaScript object has
// (`toString`) are no members, and copies, moved list items and operations are counted, so that no patch holds up its actor.

import {deepEqual} from './equal.js';
import {isDeeper} from './depth.js';
import {failed, invalid, succeeded, type Outcome} from './errors.js';
import {limits} from './limits.js';
import {isObject, type Json} from './object.js';
import {shownPath} from './problem.js';
import {shown} from './shown.js';

/** A null value is a value here; objects have none, so it says that a member goes. */
export type JsonPatchOperation =
	| {readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: Json}
	| {readonly op: 'remove'; readonly path: string}
	| {readonly op: 'move' | 'copy'; readonly path: string; readonly from: string};

export type JsonPatch = readonly JsonPatchOperation[];

/** What each operation needs besides its path. */
const needs: {readonly [op: string]: 'value' | 'from' | undefined} = {
	add: 'value',
	remove: undefined,
	replace: 'value',
	move: 'from',
	copy: 'from',
	test: 'value',
};

/** The patch that a document is; ERR_BAD_REQUEST for one that is none, ERR_TOO_LARGE for too many operations. */
export function readJsonPatch(document: unknown): Outcome<JsonPatch> {
	if (!Array.isArray(document)) return failed('ERR_BAD_REQUEST', {message: `a JSON patch is a list of operations, got ${shown(document)}`});
	if (document.length > limits.patchOperations) {
		const message = `the allowed maximum operations in a JSON patch is ${limits.patchOperations}, got ${document.length}`;
		return failed('ERR_TOO_LARGE', {message});
	}
	for (const [at, operation] of document.entries()) {
		const fault = operationFault(operation);
		if (fault !== undefined) return failed('ERR_BAD_REQUEST', {message: `patch[${at}]: ${fault}`});
	}
	return succeeded(document as JsonPatch);
}

function operationFault(operation: unknown): string | undefined {
	if (!isObject(operation)) return `must be an object, got ${shown(operation)}`;
	const {op, path, from} = operation;
	if (typeof op !== 'string' || !Object.hasOwn(needs, op)) return `op must be one of ${Object.keys(needs).join(', ')}, got ${shown(op)}`;
	if (typeof path !== 'string') return `path must be a JSON pointer such as /spec/replicas, got ${shown(path)}`;
	if (needs[op] === 'from' && typeof from !== 'string') return `from must be a JSON pointer such as /spec/replicas, got ${shown(from)}`;
	return needs[op] === 'value' && operation['value'] === undefined ? `${op} needs a value` : undefined;
}

type Holder = Json[] | {[key: string]: Json | undefined};

/** A document under change. */
type Work = {
	/** The document is its only member, so that the place "" is one like all others. */
	readonly top: Holder;
	/** What was copied or made by this patch, and may be changed in place. */
	readonly own: Set<object>;
	/** The operation that it is about. */
	at: number;
	copiedCharacters: number;
	shiftedItems: number;
};

/** What a patch makes of a document: undefined where it takes away the whole. ERR_INVALID names the operation that does not apply. */
export function applyJsonPatch(document: Json, patch: JsonPatch): Outcome<Json | undefined> {
	const top: Holder = {document};
	const work: Work = {top, own: new Set([top]), at: 0, copiedCharacters: 0, shiftedItems: 0};
	for (const operation of patch) {
		const done = apply(work, operation);
		if (!done.ok) return done;
		work.at++;
	}
	const patched = top['document'];
	return isDeeper(patched, limits.objectDepth)
		? refused({...work, at: patch.length - 1}, `leaves what is nested deeper than ${limits.objectDepth} levels`)
		: succeeded(patched);
}

function apply(work: Work, operation: JsonPatchOperation): Outcome<Json> {
	switch (operation.op) {
		case 'add':
			return add(work, operation.op, operation.path, operation.value);
		case 'replace':
			return replace(work, operation.path, operation.value);
		case 'test':
			return test(work, operation.path, operation.value);
		case 'remove':
			return remove(work, operation.op, operation.path);
		case 'move':
			return move(work, operation.from, operation.path);
		case 'copy':
			return copy(work, operation.from, operation.path);
	}
}

function add(work: Work, op: string, path: string, value: Json): Outcome<Json> {
	const place = placeOf(work, path);
	if (place === undefined) return missing(work, op, path);
	const {holder, key} = place;
	if (!Array.isArray(holder)) {
		holder[key] = value;
		return succeeded(value);
	}
	const index = key === '-' ? holder.length : indexOf(key);
	if (index === undefined || index > holder.length)
		return refused(work, `${op} operation does not apply: unable to access invalid index: "${shownPath(path)}": invalid index referenced`);
	return spliced(work, holder, index, 0, value);
}

function replace(work: Work, path: string, value: Json): Outcome<Json> {
	const place = placeOf(work, path);
	if (place === undefined || memberOf(place.holder, place.key) === undefined) return missing(work, 'replace', path);
	Reflect.set(place.holder, place.key, value);
	return succeeded(value);
}

/** Null, as which no object has a member, is what is not there. */
function test(work: Work, path: string, value: Json): Outcome<Json> {
	const found = valueAt(work, path) ?? null;
	return deepEqual(found, value) ? succeeded(found) : refused(work, `testing value ${shownPath(path)} failed: test failed`);
}

/** What was there. */
function remove(work: Work, op: string, path: string): Outcome<Json> {
	const place = placeOf(work, path);
	const removed = place === undefined ? undefined : memberOf(place.holder, place.key);
	if (place === undefined || removed === undefined) return missing(work, op, path);
	const {holder, key} = place;
	if (Array.isArray(holder)) return spliced(work, holder, Number(key), 1, removed);
	Reflect.deleteProperty(holder, key);
	return succeeded(removed);
}

function move(work: Work, from: string, path: string): Outcome<Json> {
	if (path.startsWith(`${from}/`)) return refused(work, `move operation does not apply: "${shownPath(path)}" is inside of what is moved`);
	const moved = remove(work, 'move', from);
	return moved.ok ? add(work, 'move', path, moved.value) : moved;
}

/** Copies are counted: each may be as large as all before it. */
function copy(work: Work, from: string, path: string): Outcome<Json> {
	const value = valueAt(work, from);
	if (value === undefined) return missing(work, 'copy', from);
	if (isDeeper(value, limits.objectDepth))
		return refused(work, `copy operation does not apply: "${shownPath(from)}" is nested deeper than ${limits.objectDepth} levels`);
	const text = JSON.stringify(value);
	work.copiedCharacters += text.length;
	return work.copiedCharacters > limits.objectBytes
		? tooMuch(work, `the accumulated size of copies exceeds ${limits.objectBytes}, the size of an object`)
		: add(work, 'copy', path, JSON.parse(text) as Json);
}

/** Removes the item at an index, or puts the value there. What comes behind it moves, and that is counted. */
function spliced(work: Work, list: Json[], index: number, removed: 0 | 1, value: Json): Outcome<Json> {
	work.shiftedItems += list.length - index;
	if (work.shiftedItems > limits.patchShiftedItems)
		return tooMuch(work, `the patch moves more than ${limits.patchShiftedItems} items of lists; replace the list as a whole`);
	if (removed === 0) list.splice(index, 0, value);
	else list.splice(index, 1);
	return succeeded(value);
}

const refused = ({at}: Work, message: string): Outcome<Json> => ({ok: false, error: invalid([{path: `patch[${at}]`, message}])});

const tooMuch = ({at}: Work, message: string): Outcome<Json> => failed('ERR_TOO_LARGE', {message: `patch[${at}]: ${message}`});

const missing = (work: Work, op: string, path: string): Outcome<Json> =>
	refused(work, `${op} operation does not apply: doc is missing path: "${shownPath(path)}": missing value`);

type Place = {readonly holder: Holder; readonly key: string};

/** The object or list that holds the place, ready to be changed; undefined where there is none, or the place can be none. */
function placeOf(work: Work, pointer: string): Place | undefined {
	const keys = keysOf(pointer);
	const key = keys?.pop();
	if (keys === undefined || key === undefined) return undefined;
	let holder = work.top;
	for (const each of keys) {
		const member = memberOf(holder, each);
		if (typeof member !== 'object' || member === null) return undefined;
		const own = owned(work, member);
		if (own !== member) Reflect.set(holder, each, own);
		holder = own;
	}
	return {holder, key};
}

function valueAt(work: Work, pointer: string): Json | undefined {
	const keys = keysOf(pointer);
	let here: Json | undefined = keys === undefined ? undefined : work.top;
	for (const key of keys ?? []) {
		if (typeof here !== 'object' || here === null) return undefined;
		here = memberOf(here, key);
	}
	return here;
}

function owned({own}: Work, member: object): Holder {
	if (own.has(member)) return member as Holder;
	const copied: Holder = Array.isArray(member) ? [...(member as Json[])] : {...(member as {[key: string]: Json})};
	own.add(copied);
	return copied;
}

function memberOf(holder: object, key: string): Json | undefined {
	if (Array.isArray(holder)) return (holder as Json[])[indexOf(key) ?? -1];
	return Object.hasOwn(holder, key) ? (holder as {readonly [key: string]: Json | undefined})[key] : undefined;
}

const indexOf = (key: string): number | undefined => (/^(0|[1-9][0-9]{0,8})$/.test(key) ? Number(key) : undefined);

/** The way from the top to a place (RFC 6901); undefined for what is no pointer, leads too deep, or would reach a prototype. */
function keysOf(pointer: string): string[] | undefined {
	if (pointer !== '' && !pointer.startsWith('/')) return undefined;
	const keys = pointer.split('/', limits.objectDepth + 2).slice(1);
	if (keys.length > limits.objectDepth || keys.includes('__proto__') || /~(?![01])/.test(pointer)) return undefined;
	return ['document', ...keys.map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))];
}
