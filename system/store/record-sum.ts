// The checksum of one record, in a line before its body. A driver's own checksums are not relied on: LevelDB does not look at those of its
// tables.

import {hash} from 'node:crypto';
import type {StoredRecord} from './store.js';

/** 128 bits of SHA-256 over key and body, in hex. */
export const sumOf = (key: string, body: string): string => hash('sha256', `${key}\n${body}`, 'hex').slice(0, sumLength);

const sumLength = 32;
const [before, after] = ['{"sum":"', '"}\n'] as const;
const headerLength = before.length + sumLength + after.length;

/** The body as it is stored. */
export const withSum = (sum: string, body: string): string => before + sum + after + body;

/** A record without its line; the sum is the one that belongs to it, whether it has that line or not. */
export type SummedRecord = StoredRecord & {readonly sum: string; readonly state: 'good' | 'without' | 'damaged'};

export function withoutSum({key, body: stored}: StoredRecord): SummedRecord {
	const isSummed = stored.startsWith(before) && stored.startsWith(after, headerLength - after.length);
	const body = isSummed ? stored.slice(headerLength) : stored;
	const sum = sumOf(key, body);
	if (!isSummed) return {key, body, sum, state: 'without'};
	return {key, body, sum, state: stored.startsWith(sum, before.length) ? 'good' : 'damaged'};
}
