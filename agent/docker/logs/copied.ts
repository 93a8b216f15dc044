// How far the Engine's log of an attempt was copied: what an agent goes on from, its own restart and the Engine's included.
//
// An Engine tells of each message when it was written, by nanoseconds, and each of the two streams in order; between them and with long lines the
// order of times is not that of messages. So a message is known by its stream, its time and its number among those of that time.

import {readFileSync, writeFileSync} from 'node:fs';
import {valueOr} from '../../../api/value-or.js';
import {orFor} from '../../../system/files/errno.js';
import type {FrameStream} from '../engine/frames.js';

/** The last message of one stream. */
export type LastMessage = {
	readonly stamp: string;
	/** So many of that time were copied. */
	readonly count: number;
	/** Its line goes on in the next one, which has the same time however late it comes. */
	readonly isOpen: boolean;
};

export type Copied = {
	/** Bytes since the attempt's start: what the messages so far come to. */
	readonly end: number;
	readonly stdout?: LastMessage | undefined;
	readonly stderr?: LastMessage | undefined;
};

export const nothingCopied: Copied = {end: 0};

const copiedFile = (log: string): string => `${log}.copied`;

/** One write of always the same length, within a page: it is there whole or not at all. */
const fileBytes = 512;

/** Nothing where there is no such file, or none that can be read: then what the log has already is found in the Engine's by comparing. */
export function readCopied(log: string): Copied {
	const found = valueOr(undefined, () => JSON.parse(readFileSync(copiedFile(log), 'utf8')) as Copied);
	return isCopied(found) ? found : nothingCopied;
}

const isCopied = (found: Copied | undefined): found is Copied =>
	Number.isSafeInteger(found?.end) && [found?.stdout, found?.stderr].every(last => last === undefined || typeof last.stamp === 'string');

/** Throws errno exceptions. */
export function writeCopied(log: string, copied: Copied): void {
	const text = `${JSON.stringify(copied).padEnd(fileBytes - 1)}\n`;
	try {
		writeFileSync(copiedFile(log), text, {flag: 'r+'});
	} catch (error) {
		orFor(undefined, 'ENOENT')(error);
		writeFileSync(copiedFile(log), text, {mode: 0o600});
	}
}

/** By so much two messages of two streams may come in another order than they were written in. */
const disorderMs = 100;

/**
 * From when on the Engine is asked, as its `since`: nothing that was not copied is older. Undefined: from the beginning. A host whose clock is
 * set back meanwhile by more loses what is written until it is that late again.
 */
export function sinceOf({stdout, stderr}: Copied): string | undefined {
	const last = [stdout, stderr].flatMap(each => each ?? []);
	if (last.length === 0) return undefined;
	const newest = last.map(({stamp}) => stamp).reduce((a, b) => (a > b ? a : b));
	const first = last
		.filter(({isOpen}) => isOpen)
		.map(({stamp}) => stamp)
		.reduce((a, b) => (a < b ? a : b), newest);
	return ((msOf(first) - disorderMs) / 1_000).toFixed(3);
}

export const msOf = (stamp: string): number => Date.parse(stamp);

/** Tells of each message of a log that is read again whether it was copied before. */
export function createWasCopied(copied: Copied): (stream: FrameStream, stamp: string) => boolean {
	const seen = {stdout: 0, stderr: 0};
	const isBehind = {stdout: copied.stdout === undefined, stderr: copied.stderr === undefined};
	return (stream, stamp) => {
		const last = copied[stream];
		if (last === undefined || isBehind[stream]) return false;
		if (stamp < last.stamp) return true;
		if (stamp === last.stamp && ++seen[stream] <= last.count) return true;
		isBehind[stream] = true;
		return false;
	};
}
