// Any plain value as JSON and back: states and messages hold maps, sets and members that are undefined, of which JSON knows nothing.
//
// What JSON has not is an object with a member `$` that says what it is: `{"$": "map", "of": [[key, value], …]}`. Two references to one object
// become two objects. What is no data (a function, an instance of a class) is refused, and so is what is too large or too deep.

import {Buffer} from 'node:buffer';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import {SparseMap, SparseSet} from '../kernel/sparse.js';

/** Why a value has no portable form; the message names the place in it. */
export class NotPortable extends Error {}

/** What is left of the bytes that may be written; several values may share one. `secrets`: so many were left out. */
export type Room = {bytes: number; secrets?: number};

/** Whether a member of an object must not be written. Of a map the member is the key, as text. */
export type IsSecret = (holder: unknown, member: string, value: unknown) => boolean;

/** What stands for something secret, in what was decoded. */
class LeftOut {
	toString(): string {
		return '<secret>';
	}
}

const leftOut = new LeftOut();

const tag = '$';

type Tagged = {readonly [tag]: string; readonly of?: Json};

type Walk = {readonly room: Room; readonly path: string[]; readonly isSecret: IsSecret | undefined};

/** Throws NotPortable. Bytes are counted as JSON has them, escapes aside. What is secret is left out, which is the one thing that is lost. */
export function encode(value: unknown, room: Room = {bytes: Number.POSITIVE_INFINITY}, isSecret?: IsSecret): Json {
	return encoded(value, {room, path: [], isSecret});
}

/** Lists and objects that were decoded, by their JSON text. */
export type Shared = Map<string, unknown>;

/**
 * Throws an Error for what `encode` did not make. With `shared`, lists and objects that are equal become one, also those of earlier calls: as
 * parts of committed objects are, which keep their references as long as they stay the same.
 */
export const decode = (json: Json, shared?: Shared): unknown => decoded(json, {depth: 0, shared});

type Place = {readonly depth: number; readonly shared: Shared | undefined};

function decoded(json: Json, {depth, shared}: Place): unknown {
	if (typeof json !== 'object' || json === null) return json;
	// A tag is a level or two of JSON more.
	if (depth > 3 * limits.recordDepth) throw new Error('a recorded value nests too deeply');
	const inside: Place = {depth: depth + 1, shared};
	if (!isList(json) && tag in json) return decodeTagged(json as Tagged, inside);
	const text = shared === undefined ? '' : JSON.stringify(json);
	const known = shared?.get(text);
	if (known !== undefined) return known;
	const value = isList(json)
		? json.map(item => decoded(item, inside))
		: Object.fromEntries(Object.entries(json).map(([name, member]) => [name, decoded(member ?? null, inside)]));
	shared?.set(text, value);
	return value;
}

function encoded(value: unknown, walk: Walk): Json {
	if (walk.path.length > limits.recordDepth) throw refused(walk, `lies deeper than ${limits.recordDepth} levels`);
	switch (typeof value) {
		case 'string':
			requireRoom(walk, value.length);
			take(walk, Buffer.byteLength(value) + 2);
			return value;
		case 'boolean':
			take(walk, 5);
			return value;
		case 'number':
			take(walk, 8);
			return Number.isFinite(value) && !Object.is(value, -0) ? value : tagged(walk, 'number', Object.is(value, -0) ? '-0' : String(value));
		case 'undefined':
			return tagged(walk, 'undefined');
		case 'bigint':
			// Hexadecimal digits cost time in proportion to the number; there are at most 5/4 as many decimal ones.
			take(walk, Math.ceil((value.toString(16).length * 5) / 4));
			return tagged(walk, 'bigint', String(value));
		case 'object':
			if (value !== null) return encodedObject(value, walk);
			take(walk, 4);
			return null;
		default:
			throw refused(walk, `is a ${typeof value}`);
	}
}

function encodedObject(value: object, walk: Walk): Json {
	take(walk, 2);
	if (value === leftOut) return tagged(walk, 'secret');
	if (Array.isArray(value)) return items(value, value.length, walk);
	if (value instanceof Map || value instanceof SparseMap) return tagged(walk, 'map', pairs(value, value, value.size, walk));
	if (value instanceof Set || value instanceof SparseSet) return tagged(walk, 'set', items(value, value.size, walk));
	if (value instanceof Date) return tagged(walk, 'date', String(value.getTime()));
	if (value instanceof Uint8Array) {
		take(walk, Math.ceil((value.byteLength * 4) / 3));
		return tagged(walk, 'bytes', Buffer.from(value).toString('base64'));
	}
	const prototype: unknown = Object.getPrototypeOf(value);
	if (prototype !== Object.prototype && prototype !== null) throw refused(walk, `is ${nameOf(prototype)}`);
	const names = Object.keys(value);
	requireRoom(walk, leastItemBytes * names.length);
	const members = Object.entries(value);
	// A member of that name would be taken for a tag, or for the prototype.
	if (names.includes(tag) || names.includes('__proto__')) return tagged(walk, 'object', pairs(value, members, members.length, walk));
	const to: {[name: string]: Json} = {};
	for (const [name, member] of members) {
		requireRoom(walk, name.length);
		take(walk, Buffer.byteLength(name) + 4);
		to[name] = below(walk, value, name, member);
	}
	return to;
}

/** No item takes less, nor a member or an entry of a map. */
const leastItemBytes = 2;

function items(holder: Iterable<unknown> & object, count: number, walk: Walk): Json {
	requireRoom(walk, leastItemBytes * count);
	return Array.from(holder, (item, at) => below(walk, holder, String(at), item));
}

function pairs(holder: object, entries: Iterable<readonly [unknown, unknown]>, count: number, walk: Walk): Json {
	requireRoom(walk, leastItemBytes * count);
	return Array.from(entries, ([key, value], at) => {
		const name = typeof key === 'string' ? key : String(at);
		return [below(walk, undefined, `key ${at}`, key), below(walk, holder, name, value)];
	});
}

function below(walk: Walk, holder: object | undefined, name: string, value: unknown): Json {
	if (holder !== undefined && walk.isSecret?.(holder, name, value) === true) {
		walk.room.secrets = (walk.room.secrets ?? 0) + 1;
		return tagged(walk, 'secret');
	}
	walk.path.push(name);
	const json = encoded(value, walk);
	walk.path.pop();
	return json;
}

function take(walk: Walk, bytes: number): void {
	requireRoom(walk, bytes);
	walk.room.bytes -= bytes;
}

/** Asked before something large is gone through, so that what is refused costs no time either. */
function requireRoom({room, path}: Walk, bytes: number): void {
	if (room.bytes < bytes) throw new NotPortable(`it is too large (the room ends at ${placeOf(path)})`);
}

const refused = ({path}: Walk, why: string): NotPortable => new NotPortable(`${placeOf(path)} ${why}`);

function placeOf(path: readonly string[]): string {
	const shown = path.slice(0, 8).join('.').slice(0, limits.shownPathCharacters);
	return shown === '' ? 'the value' : `"${shown}"`;
}

const nameOf = (prototype: unknown): string => {
	const {name} = (prototype as {readonly constructor?: {readonly name?: unknown}}).constructor ?? {};
	return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an instance of a class';
};

function tagged(walk: Walk, type: string, of?: Json): Json {
	take(walk, type.length + (of === undefined ? 8 : 14));
	return of === undefined ? {[tag]: type} : {[tag]: type, of};
}

const isList = (json: Json): json is readonly Json[] => Array.isArray(json);

function decodeTagged({[tag]: type, of}: Tagged, place: Place): unknown {
	switch (type) {
		case 'undefined':
			return undefined;
		case 'secret':
			return leftOut;
		case 'number':
			return Number(of);
		case 'bigint':
			return BigInt(textOf(of));
		case 'map':
			return new Map(decodePairs(of, place));
		case 'set':
			return new Set(itemsOf(of).map(item => decoded(item, place)));
		case 'date':
			return new Date(Number(of));
		case 'bytes':
			return new Uint8Array(Buffer.from(textOf(of), 'base64'));
		case 'object':
			return Object.fromEntries(decodePairs(of, place) as [string, unknown][]);
		default:
			throw new Error(`there is no "${String(type)}" among the tags of recorded values`);
	}
}

const decodePairs = (of: Json | undefined, place: Place): [unknown, unknown][] =>
	itemsOf(of).map(pair => {
		const [key, value] = itemsOf(pair);
		return [decoded(key ?? null, place), decoded(value ?? null, place)];
	});

function textOf(json: Json | undefined): string {
	if (typeof json !== 'string') throw new Error('a recorded number or list of bytes has no text');
	return json;
}

function itemsOf(json: Json | undefined): readonly Json[] {
	if (json === undefined || !isList(json)) throw new Error('a recorded map or set has no list of what is in it');
	return json;
}
