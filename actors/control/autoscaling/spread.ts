// A map of many entries of which few change at a time: it is in parts, so that one with another entry is a copy of one part alone. Pure.

export type Spread<Value> = readonly ReadonlyMap<string, Value>[];

const parts = 256;

export const emptySpread = <Value>(): Spread<Value> => Array.from({length: parts}, () => new Map<string, Value>());

function partOf(key: string): number {
	let hash = 0;
	for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0;
	return (hash >>> 0) % parts;
}

export const entryIn = <Value>(spread: Spread<Value>, key: string): Value | undefined => spread[partOf(key)]?.get(key);

/** The same with this entry; undefined: without it. */
export function withEntry<Value>(spread: Spread<Value>, key: string, value: Value | undefined): Spread<Value> {
	const at = partOf(key);
	const part = new Map(spread[at]);
	if (value === undefined) part.delete(key);
	else part.set(key, value);
	return spread.with(at, part);
}

export const sizeOf = <Value>(spread: Spread<Value>): number => spread.reduce((sum, {size}) => sum + size, 0);
