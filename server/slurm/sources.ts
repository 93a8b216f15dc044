// The sources of a SlurmJob, as the cluster has them: unpacked for as long as they are sent.

import {mkdtemp, readdir, readFile, rm, stat} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {Readable} from 'node:stream';
import {AppError} from '../../api/errors.js';
import {archiveBounds} from '../../system/archive/bounds.js';
import {unpackArchive} from '../../system/archive/unpack.js';
import type {ArtifactStore} from '../artifact-store.js';
import {Held, Refused} from './held.js';

export type Sources = {
	/** Paths, those of outer folders first. */
	readonly folders: readonly string[];
	readonly files: readonly SourceFile[];
	readonly close: () => Promise<void>;
};

export type SourceFile = {readonly name: string; readonly isProgram: boolean; readonly read: () => Promise<Buffer>};

const none: Sources = {folders: [], files: [], close: () => Promise.resolve()};

/** Rejects with `Held` while they are not there, with `Refused` where the artifact is no archive: a result of another job, say. */
export async function sourcesOf(artifacts: Pick<ArtifactStore, 'read'>, digest: string | undefined): Promise<Sources> {
	if (digest === undefined) return none;
	const pieces = artifacts.read(digest);
	if (pieces === undefined)
		throw new Held('NoSources', 'its sources are not here: troupe apply uploads the folder that spec.submitDirectory names');
	const parent = await mkdtemp(path.join(tmpdir(), 'troupe-slurm-'));
	const close = (): Promise<void> => rm(parent, {recursive: true, force: true});
	try {
		const folder = path.join(parent, 'sources');
		await unpackArchive(Readable.from(pieces), folder, archiveBounds, digest);
		const entries = await readdir(folder, {recursive: true, withFileTypes: true});
		const nameOf = (entry: (typeof entries)[number]): string => path.relative(folder, path.join(entry.parentPath, entry.name));
		const files = await Promise.all(
			entries
				.filter(entry => entry.isFile())
				.map(async entry => {
					const file = path.join(entry.parentPath, entry.name);
					return {name: nameOf(entry), isProgram: ((await stat(file)).mode & 0o100) !== 0, read: () => readFile(file)};
				}),
		);
		return {
			folders: entries
				.filter(entry => entry.isDirectory())
				.map(nameOf)
				.sort(),
			files,
			close,
		};
	} catch (error) {
		await close();
		const isWrong = error instanceof AppError && (error.code === 'ERR_INVALID' || error.code === 'ERR_TOO_LARGE');
		throw isWrong ? new Refused('BadSources', `spec.artifact is no archive of sources: ${error.message}`) : error;
	}
}
