// The files of a SlurmJob that is over, fetched into the artifacts of the cluster: within bounds, and what is beyond them is named.

import {AppError} from '../../api/errors.js';
import type {SlurmJob, SlurmJobStatus} from '../../api/kinds/slurmjob.js';
import {limits} from '../../api/limits.js';
import {Held} from './held.js';
import {folderOf} from './scripts.js';
import {RemoteFileError} from './ssh.js';
import type {StepParts} from './step-parts.js';
import type {RemoteFile, Report} from './slurm-output.js';

export type Artifacts = NonNullable<SlurmJobStatus['artifacts']>;

export type Results = {
	readonly artifacts: Artifacts;
	/** Names of files, each with why it is not among them. */
	readonly leftOut: readonly string[];
};

/** The name of what compiling has said. */
export const compileLogName = 'compile.log';

type Wanted = RemoteFile & {readonly path: string};

/** Where the files are that are known of a job. */
export const remotePathOf = (job: SlurmJob, name: string): string =>
	name === compileLogName ? `${folderOf(job)}/${compileLogName}` : `${folderOf(job)}/work/${name}`;

export async function fetchResults(parts: StepParts, job: SlurmJob, report: Report): Promise<Results> {
	const {session, artifacts: store, signal} = parts;
	const wanted: Wanted[] = report.files
		.filter(({name}) => name !== compileLogName)
		.map(file => ({...file, path: remotePathOf(job, file.name)}));
	if (report.compileLog !== undefined)
		wanted.unshift({name: compileLogName, bytes: report.compileLog, path: remotePathOf(job, compileLogName)});
	const artifacts: {name: string; bytes: number; digest: string}[] = [];
	const leftOut: string[] = [];
	let room: number = limits.slurmResultsBytes;
	for (const {name, bytes, path} of wanted) {
		const most = Math.min(limits.slurmResultFileBytes, room);
		if (artifacts.length >= limits.slurmResultFiles || bytes > most) {
			if (leftOut.length < namedLeftOut) leftOut.push(`${name} (${bytes} bytes)`);
			continue;
		}
		const fetched = await session.bulk.take(signal, async () => {
			// Nothing is kept of no bytes.
			const content = bytes === 0 ? Buffer.alloc(0) : await session.ssh.files.read(path, 0, most, signal).catch(unreadable);
			if (content === undefined) return 'it could not be read';
			const digest = content.length === 0 ? emptyDigest : await kept(store, content);
			return digest === undefined ? 'the cluster has no room for it' : {name, bytes: content.length, digest};
		});
		if (typeof fetched === 'string') leftOut.push(`${name} (${fetched})`);
		else {
			room -= fetched.bytes;
			artifacts.push(fetched);
		}
	}
	return {artifacts, leftOut};
}

const namedLeftOut = 10;

/** What the login may not read stays there; a connection that is lost is another matter. */
function unreadable(error: unknown): undefined {
	if (error instanceof RemoteFileError) return undefined;
	throw error;
}

export const emptyDigest = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Undefined: there is no room. */
async function kept(store: StepParts['artifacts'], content: Buffer): Promise<string | undefined> {
	try {
		return await store.keep(content);
	} catch (error) {
		if (error instanceof AppError && error.code === 'ERR_TOO_LARGE') return undefined;
		throw new Held('NotKept', `the results cannot be kept: ${(error as Error).message}`);
	}
}
