// How much memory a value takes, roughly: of long lists some items stand for all, and what several values share counts for each of them.

import {limits} from '../../api/limits.js';

/** Of V8, rounded: an object and each of its members, a list's item, a map's entry. */
const bytesOf = {object: 32, member: 8, item: 8, entry: 40, number: 12, text: 16} as const;

const sampled = 32;
const deepest = 16;

type Estimate = {left: number; readonly seen: Set<object>};

/** Bytes; looks at no more than `limits.memoryValues` values. */
export function roughBytes(value: unknown): number {
	return Math.round(bytesOfValue(value, {left: limits.memoryValues, seen: new Set()}, 0));
}

function bytesOfValue(value: unknown, estimate: Estimate, depth: number): number {
	estimate.left--;
	switch (typeof value) {
		case 'string':
			return bytesOf.text + value.length;
		case 'number':
			return Number.isInteger(value) ? 0 : bytesOf.number;
		case 'object':
			return value === null ? 0 : bytesOfObject(value, estimate, depth);
		default:
			return 0;
	}
}

function bytesOfObject(value: object, estimate: Estimate, depth: number): number {
	if (estimate.seen.has(value) || depth > deepest || estimate.left <= 0) return 0;
	estimate.seen.add(value);
	if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return bytesOf.object + value.byteLength;
	const each = (item: unknown): number => bytesOfValue(item, estimate, depth + 1);
	if (Array.isArray(value)) return bytesOf.object + sum(value, value.length, item => bytesOf.item + each(item), estimate);
	if (value instanceof Map)
		return bytesOf.object + sum(value, value.size, ([key, item]: [unknown, unknown]) => bytesOf.entry + each(key) + each(item), estimate);
	if (value instanceof Set) return bytesOf.object + sum(value, value.size, item => bytesOf.entry + each(item), estimate);
	const names = Object.keys(value);
	const bytesOfMember = (name: string): number => {
		const property = Object.getOwnPropertyDescriptor(value, name);
		return bytesOf.member + (property?.get === undefined ? each(property?.value) : 0);
	};
	return bytesOf.object + sum(names, names.length, bytesOfMember, estimate);
}

/** The first items, and for the others what those have on the average. */
function sum<Item>(items: Iterable<Item>, size: number, bytesOfItem: (item: Item) => number, estimate: Estimate): number {
	let bytes = 0;
	let count = 0;
	for (const item of items) {
		if (count >= sampled || estimate.left <= 0) break;
		count++;
		bytes += bytesOfItem(item);
	}
	return count === 0 ? 0 : (bytes / count) * size;
}
