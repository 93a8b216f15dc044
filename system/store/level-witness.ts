// Which batch the embedded store has acknowledged last, in a file beside LevelDB's own: a log that was emptied or cut leaves a store that
// is whole and old, and nothing inside it can tell.
//
// It is written in place after each batch and not synced, so it may be behind the store after a power cut, and is never before it.

import {open, readFile, type FileHandle} from 'node:fs/promises';
import path from 'node:path';
import {writeFileAtomic} from '../files/atomic-file.js';
import {orFor} from '../files/errno.js';
import {sumOf} from './record-sum.js';
import type {Meta} from './store.js';

const witnessFile = 'ACKNOWLEDGED';

export type Witnessed = Pick<Meta, 'version' | 'epoch'>;

export type Witness = {readonly note: (meta: Witnessed) => Promise<void>; readonly close: () => Promise<void>};

/** Makes the file anew, down to the disk. */
export const writeWitness = (location: string, meta: Witnessed): Promise<void> =>
	writeFileAtomic(path.join(location, witnessFile), format(meta), 0o600);

/** @throws where it is missing or is not what was written. */
export async function readWitness(location: string): Promise<Witnessed> {
	const text = await readFile(path.join(location, witnessFile), 'utf8').catch(orFor('', 'ENOENT'));
	const [version, epoch] = text.split(' ').map(Number);
	const found = {version: version ?? 0, epoch: epoch ?? 0};
	if (text !== format(found)) throw new Error(`"${witnessFile}" is damaged or missing`);
	return found;
}

/** Whether a store that stands at this one has lost what was acknowledged. */
export const isBehind = (meta: Witnessed, witnessed: Witnessed): boolean =>
	meta.epoch < witnessed.epoch || (meta.epoch === witnessed.epoch && meta.version < witnessed.version);

export async function openWitness(location: string): Promise<Witness> {
	const handle: FileHandle = await open(path.join(location, witnessFile), 'r+');
	return {
		// What it cannot take leaves it behind the store, which is no harm.
		note: async meta => void (await handle.write(format(meta), 0).catch(() => undefined)),
		close: () => handle.close(),
	};
}

/** Always of the same length, and in one sector of any disk. */
function format({version, epoch}: Witnessed): string {
	const numbers = `${version} ${epoch}`.padEnd(40);
	return `${numbers} ${sumOf(witnessFile, numbers)}\n`;
}
