// Stores of artifacts for tests, and archives to put in.

import {createHash} from 'node:crypto';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {hexOfDigest} from '../../api/function-instance.js';
import {AppError} from '../../api/errors.js';
import {createFoundArtifacts, openArtifactStore, type ArtifactStore} from '../../server/artifact-store.js';
import type {StoreRecords} from '../../server/store-records.js';
import {archiveBounds} from '../../system/archive/bounds.js';
import {packFolder, type Archive} from '../../system/archive/pack.js';
import {systemClock, type Clock} from '../../system/time/clock.js';

/** The archive of a function that has so many bytes beside its code, which do not get smaller. */
export async function anArchive(
	t: Pick<ExecutionContext, 'teardown'>,
	word: string,
	ballastBytes = 0,
): Promise<Archive & {readonly hex: string}> {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-artifact-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	writeFileSync(path.join(folder, 'func.py'), `def main(params):\n    return ${JSON.stringify(word)}\n`);
	if (ballastBytes > 0) writeFileSync(path.join(folder, 'ballast'), ballast(word, ballastBytes));
	const archive = await packFolder(folder, archiveBounds);
	return {...archive, hex: hexOfDigest(archive.digest)};
}

/** The same bytes for the same word. */
function ballast(word: string, bytes: number): Buffer {
	const pieces: Buffer[] = [];
	for (let at = 0; at * 32 < bytes; at++) pieces.push(createHash('sha256').update(`${word} ${at}`).digest());
	return Buffer.concat(pieces).subarray(0, bytes);
}

export type Kept = {
	readonly bodies: Map<string, string>;
	readonly store: ArtifactStore;
	/** As after the end of the process: what is known is what is kept. */
	readonly reopen: () => ArtifactStore;
	/** From now on the store takes so many more writes. */
	readonly takes: (writes: number) => void;
};

/** A store over records in memory. */
export function keptArtifacts(clock: Clock = systemClock): Kept {
	const bodies = new Map<string, string>();
	let left = Infinity;
	const records: StoreRecords = {
		put(key, body) {
			if (left-- <= 0) return Promise.reject(new AppError('ERR_STORE', {message: 'the disk is full'}));
			if (body === undefined) bodies.delete(key);
			else bodies.set(key, body);
			return Promise.resolve();
		},
		get: key => Promise.resolve(bodies.get(key)),
	};
	const reopen = (): ArtifactStore => {
		const found = createFoundArtifacts();
		for (const [key, body] of bodies) found.note(key, body);
		return openArtifactStore(found, records, clock);
	};
	return {bodies, store: reopen(), reopen, takes: writes => void (left = writes)};
}

export async function bytesOf(pieces: AsyncIterable<Uint8Array> | undefined): Promise<Buffer | undefined> {
	if (pieces === undefined) return undefined;
	const all: Uint8Array[] = [];
	for await (const piece of pieces) all.push(piece);
	return Buffer.concat(all);
}
