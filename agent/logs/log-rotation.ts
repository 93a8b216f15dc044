// Rotation is copy and truncate, because the program keeps its descriptor; the last step is synchronous and short.

import {fstatSync, ftruncateSync, openSync, renameSync, statSync, writeFileSync, writeSync} from 'node:fs';
import {open} from 'node:fs/promises';
import {whileOpen} from '../os/while-open.js';
import {basesFile, basesOf, blockBytes, hole, longestBytes, olderFile, readAt, sizeIn} from './logs.js';

/** Taken over while nothing else happens in this process. */
const lastBlocks = 64;

/**
 * Does nothing as long as less than the limit was written. Of a log that has grown far beyond it only the end is kept; holes stay holes. One
 * call per log at a time. Rejects with errno exceptions.
 */
export async function rotateLog(log: string, limitBytes: number): Promise<void> {
	const {bytes, written} = sizeIn(statSync(log));
	if ((written === 0 ? bytes : written) < limitBytes) return;
	const copy = `${olderFile(log)}.new`;
	const skipped = bytes > 2 * limitBytes ? bytes - limitBytes : 0;
	// Not by copyFile(3), which copies what there is by then: a program may have made its log longer than the disk.
	const copied = await copyRange(log, copy, {from: skipped, to: bytes, hasHoles: written < bytes});
	cut(log, copy, skipped, copied);
}

/** How much there was to be copied. */
async function copyRange(
	log: string,
	copy: string,
	{from, to, hasHoles}: {readonly from: number; readonly to: number; readonly hasHoles: boolean},
): Promise<number> {
	const source = await open(log, 'r');
	try {
		const target = await open(copy, 'w', 0o600);
		try {
			const block = Buffer.allocUnsafe(blockBytes);
			let at = from;
			while (at < to) {
				const {bytesRead} = await source.read(block, 0, Math.min(block.length, to - at), at);
				if (bytesRead === 0) break;
				const data = block.subarray(0, bytesRead);
				if (!hasHoles || hole(data) < data.length) await target.write(data, 0, data.length, at - from);
				at += bytesRead;
			}
			await target.truncate(at - from);
			return at - from;
		} finally {
			await target.close();
		}
	} finally {
		await source.close();
	}
}

/**
 * Adds what was written during the copy, then cuts. Should the agent die before the cut, readers get those lines twice, never
 * not at all.
 */
function cut(log: string, copy: string, skipped: number, copied: number): void {
	whileOpen(openSync(log, 'r+'), source => {
		const bases = basesOf(log);
		let end = skipped + copied;
		whileOpen(openSync(copy, 'a'), target => {
			for (let block = 0; block < lastBlocks; block++) {
				const rest = readAt(log, end, blockBytes);
				if (rest.length === 0) break;
				writeSync(target, rest);
				end += rest.length;
			}
		});
		const current = bases.current + Math.max(sizeIn(fstatSync(source)).bytes, end);
		// Only a program that plays with the length of its log ever gets there: its offsets begin anew.
		const words = current > longestBytes ? '0 0' : `${bases.current + skipped} ${current}`;
		writeFileSync(`${basesFile(log)}.new`, `${words}\n`, {mode: 0o600});
		renameSync(copy, olderFile(log));
		renameSync(`${basesFile(log)}.new`, basesFile(log));
		ftruncateSync(source, 0);
	});
}
