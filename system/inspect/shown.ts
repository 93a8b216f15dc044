// Values as tools show them: any value becomes JSON that is bounded in bytes, depth and time, with nothing secret in it. The form is
// told at `Shown` in api/inspect.ts.
//
// Level by level: what is near the top is whole before what lies deep has its turn.

import {Buffer} from 'node:buffer';
import {StringDecoder} from 'node:string_decoder';
import type {Shown} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import {valueOr} from '../../api/value-or.js';
import type {IsSecret} from './portable.js';

export type ShowOptions = {
	/** Levels below the value. */
	readonly depth?: number | undefined;
	readonly bytes?: number | undefined;
	readonly isSecret?: IsSecret | undefined;
};

type Members = {[member: string]: Shown};

/** A container that is still to be filled. */
type Open = {readonly source: object; readonly above: Open | undefined; readonly depth: number; readonly fill: (open: Open) => void};

const nothingIsSecret: IsSecret = () => false;
const secret: Shown = {$: 'secret'};

/** JSON around values: a number or a comma, quotes of a name, what a container and its count of what is left out take. */
const bytesOf = {value: 6, name: 3, container: 40, deeper: 40} as const;

export function shownOf(value: unknown, options: ShowOptions = {}): Shown {
	return new Showing(options).whole(value);
}

class Showing {
	readonly #isSecret: IsSecret;
	readonly #depth: number;
	#bytes: number;
	readonly #open: Open[] = [];

	constructor({depth = limits.shownUsualDepth, bytes = limits.shownBytes, isSecret = nothingIsSecret}: ShowOptions) {
		this.#depth = Math.min(depth, limits.shownDepth);
		this.#bytes = bytes;
		this.#isSecret = isSecret;
	}

	whole(value: unknown): Shown {
		const shown = typeof value === 'string' ? this.#text(value, this.#bytes) : this.#value(value, undefined);
		// What is opened meanwhile comes after what is open.
		for (const open of this.#open) open.fill(open);
		return shown;
	}

	#member(holder: Open, name: string, value: unknown): Shown {
		return this.#isSecret(holder.source, name, value) ? secret : this.#value(value, holder);
	}

	#value(value: unknown, above: Open | undefined): Shown {
		this.#bytes -= bytesOf.value;
		switch (typeof value) {
			case 'string':
				return this.#text(value, limits.shownTextCharacters);
			case 'number':
				return Number.isFinite(value) ? value : {$: 'number', of: String(value)};
			case 'boolean':
				return value;
			case 'undefined':
				return {$: 'undefined'};
			case 'bigint':
				return {$: 'bigint', of: this.#text(value.toString(16).length > 1_000 ? 'large' : String(value), limits.shownTextCharacters)};
			case 'symbol':
				return {$: 'symbol', of: this.#text(value.description ?? '', limits.shownNameCharacters)};
			case 'function':
				return {$: 'function', of: this.#text(value.name, limits.shownNameCharacters)};
			case 'object':
				return value === null ? null : this.#object(value, above);
		}
	}

	#text(text: string, most: number): Shown {
		const room = Math.max(0, Math.min(most, this.#bytes));
		const kept = withinBytes(text.slice(0, room), Math.max(0, this.#bytes));
		this.#bytes -= Buffer.byteLength(kept);
		return kept.length === text.length ? text : {$: 'text', of: whole(kept), characters: text.length};
	}

	#object(value: object, above: Open | undefined): Shown {
		try {
			return this.#anyObject(value, above);
		} catch (error) {
			return unreadable(error);
		}
	}

	#anyObject(value: object, above: Open | undefined): Shown {
		for (let up = 1, at = above; at !== undefined; up++, at = at.above) if (at.source === value) return {$: 'cycle', up};
		if (value instanceof Date) return {$: 'date', of: String(value.getTime()) === 'NaN' ? 'invalid' : value.toISOString()};
		if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return {$: 'bytes', size: value.byteLength};
		const depth = above === undefined ? 0 : above.depth + 1;
		if (depth >= this.#depth && !isEmpty(value)) {
			this.#bytes -= bytesOf.deeper;
			return deeper(value);
		}
		if (Array.isArray(value)) return this.#list(value, value.length, above, depth);
		if (value instanceof Map) return this.#map(value, above, depth);
		if (value instanceof Set) return {$: 'set', size: value.size, of: this.#list(value, value.size, above, depth)};
		const name = classOf(value);
		const members = this.#members(value, above, depth);
		if (name !== undefined) return {$: name, of: members};
		return Object.hasOwn(value, '$') ? {$: 'object', of: members} : members;
	}

	#list(items: Iterable<unknown> & object, size: number, above: Open | undefined, depth: number): Shown {
		const shown: Shown[] = [];
		this.#later(
			items,
			above,
			depth,
			open => {
				for (const item of items) {
					if (this.#isFull(shown.length)) break;
					shown.push(this.#member(open, String(shown.length), item));
				}
				if (size > shown.length) shown.push(more(size - shown.length));
			},
			problem => shown.push(problem),
		);
		return shown;
	}

	#map(map: ReadonlyMap<unknown, unknown>, above: Open | undefined, depth: number): Shown {
		const byText = firstOf(map.keys()).every(key => typeof key === 'string');
		const members = emptyMembers();
		const pairs: Shown[] = [];
		const put = (last: Shown): void => {
			if (byText) members['…'] = last;
			else pairs.push(last);
		};
		this.#later(
			map,
			above,
			depth,
			open => {
				let count = 0;
				for (const [key, value] of map) {
					if (this.#isFull(count)) break;
					count++;
					const shown = this.#member(open, typeof key === 'string' ? key : '', value);
					if (byText) this.#put(members, String(key), shown);
					else pairs.push([this.#value(key, open), shown]);
				}
				if (map.size > count) put(more(map.size - count));
			},
			put,
		);
		return {$: 'map', size: map.size, of: byText ? members : pairs};
	}

	#members(value: object, above: Open | undefined, depth: number): Members {
		const members = emptyMembers();
		this.#later(
			value,
			above,
			depth,
			open => {
				const names = namesOf(value);
				let count = 0;
				for (const name of names) {
					if (this.#isFull(count)) break;
					count++;
					const property = Object.getOwnPropertyDescriptor(value, name);
					if (property !== undefined && 'value' in property && property.value === undefined) continue; // As in JSON.
					// Code of a state is not run for a look at it.
					const shown = property?.get === undefined ? this.#member(open, name, property?.value) : {$: 'getter'};
					this.#put(members, name, shown);
				}
				if (names.length > count) members['…'] = more(names.length - count);
			},
			problem => (members['…'] = problem),
		);
		return members;
	}

	#put(members: Members, name: string, value: Shown): void {
		const shown = name.length <= limits.shownTextCharacters ? name : `${whole(name.slice(0, limits.shownNameCharacters))}…`;
		this.#bytes -= Buffer.byteLength(shown) + bytesOf.name;
		members[shown] = value;
	}

	#isFull(count: number): boolean {
		return this.#bytes <= 0 || count >= limits.shownMembers;
	}

	/** `failed`: what it is filled with from where on its own code throws. */
	#later(source: object, above: Open | undefined, depth: number, fill: (open: Open) => void, failed: (problem: Shown) => void): void {
		this.#bytes -= bytesOf.container;
		const guarded = (open: Open): void => {
			try {
				fill(open);
			} catch (error) {
				failed(unreadable(error));
			}
		};
		this.#open.push({source, above, depth, fill: guarded});
	}
}

/** The beginning of it that fits, without half a character at its end. */
function withinBytes(text: string, bytes: number): string {
	const encoded = Buffer.from(text);
	return encoded.length <= bytes ? text : new StringDecoder('utf8').write(encoded.subarray(0, bytes));
}

/** No name is special in it. */
const emptyMembers = (): Members => Object.create(null) as Members;

/** A value that throws when it is looked at, as a Proxy may. */
const unreadable = (error: unknown): Shown => ({
	$: 'unreadable',
	of: {error: whole(messageOf(error).slice(0, limits.shownNameCharacters))},
});

/** What it throws may throw in its turn. */
const messageOf = (error: unknown): string => valueOr('it throws', () => String(error instanceof Error ? error.message : error));

const more = (count: number): Shown => ({$: 'more', count});

/** Half a pair of surrogates is no text, and a slice keeps the whole alive. */
export const whole = (slice: string): string => Buffer.from(slice).toString();

/** Errors hold what they say in members that are not listed. */
const namesOf = (value: object): readonly string[] =>
	value instanceof Error ? [...new Set(['message', ...Object.keys(value)])] : Object.keys(value);

/** Undefined for a plain object. */
function classOf(value: object): string | undefined {
	const prototype: unknown = Object.getPrototypeOf(value);
	if (prototype === null || prototype === Object.prototype) return undefined;
	const {constructor} = prototype as {readonly constructor?: unknown};
	const name: unknown = typeof constructor === 'function' ? Object.getOwnPropertyDescriptor(constructor, 'name')?.value : undefined;
	if (name === 'Object') return undefined;
	return typeof name === 'string' && name !== '' ? whole(name.slice(0, limits.shownNameCharacters)) : 'instance';
}

function isEmpty(value: object): boolean {
	if (Array.isArray(value)) return value.length === 0;
	if (value instanceof Map || value instanceof Set) return value.size === 0;
	for (const _name in value) return false;
	return classOf(value) === undefined;
}

function deeper(value: object): Shown {
	if (Array.isArray(value)) return {$: 'deeper', of: 'list', size: value.length};
	if (value instanceof Map) return {$: 'deeper', of: 'map', size: value.size};
	if (value instanceof Set) return {$: 'deeper', of: 'set', size: value.size};
	const name = classOf(value);
	return name === undefined ? {$: 'deeper', of: 'object', size: Object.keys(value).length} : {$: 'deeper', of: name};
}

function firstOf<Item>(items: Iterable<Item>): readonly Item[] {
	const first: Item[] = [];
	for (const item of items) if (first.push(item) >= limits.shownMembers) break;
	return first;
}

// ---- a part of a value --------------------------------------------------------------------------------------------------------

export type Part = {readonly ok: true; readonly value: unknown} | {readonly ok: false; readonly problem: string};

/** The part that `at` leads to, a member, an item or a key a level. What is secret, or lies in it, is not led to. */
export function partOf(value: unknown, at: readonly string[], isSecret: IsSecret = nothingIsSecret): Part {
	let part = value;
	for (const [level, name] of at.entries()) {
		const held = memberOf(part, name);
		if (held === undefined) return {ok: false, problem: noSuch(part, name, at.slice(0, level))};
		if (isSecret(part, name, held.value)) return {ok: false, problem: `"${at.slice(0, level + 1).join('.')}" is secret`};
		part = held.value;
	}
	return {ok: true, value: part};
}

function memberOf(holder: unknown, name: string): {readonly value: unknown} | undefined {
	if (typeof holder !== 'object' || holder === null) return undefined;
	if (holder instanceof Map) {
		const map: ReadonlyMap<unknown, unknown> = holder;
		if (map.has(name)) return {value: map.get(name)};
		const key = firstOf(map.keys()).find(each => typeof each === 'number' && String(each) === name);
		return key === undefined ? undefined : {value: map.get(key)};
	}
	if (holder instanceof Set) {
		const items = firstOf(holder);
		return Object.hasOwn(items, name) && name !== 'length' ? {value: items[Number(name)]} : undefined;
	}
	const property = Object.getOwnPropertyDescriptor(holder, name);
	return property === undefined || property.get !== undefined ? undefined : {value: property.value as unknown};
}

function noSuch(holder: unknown, name: string, at: readonly string[]): string {
	const where = at.length === 0 ? 'the state' : `"${at.join('.')}"`;
	const names = typeof holder === 'object' && holder !== null ? memberNames(holder) : [];
	const there = names.length === 0 ? 'there is nothing below it' : `there is ${names.join(', ')}`;
	return `${where} has no "${whole(name.slice(0, limits.shownNameCharacters))}": ${there}`;
}

const namesTold = 20;

function memberNames(holder: object): readonly string[] {
	if (Array.isArray(holder)) return holder.length === 0 ? [] : [`0 to ${holder.length - 1}`];
	if (holder instanceof Set) return holder.size === 0 ? [] : [`0 to ${holder.size - 1}`];
	const names =
		holder instanceof Map
			? firstOf(holder.keys())
					.filter(key => typeof key !== 'object')
					.map(String)
			: Object.keys(holder);
	const told = names.slice(0, namesTold).map(name => whole(name.slice(0, limits.shownCharacters)));
	return names.length > namesTold ? [...told, '…'] : told;
}
