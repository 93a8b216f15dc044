// Files of SlurmJobs at the door: `GET …/slurmjobs/NAME/log`, what a job writes, from its login node as it grows and from the artifacts afterwards;
// and `GET …/slurmjobs/NAME/artifacts/PATH`, what was fetched of one that is over, whole or a part of it (Range).

import {AppError} from '../../api/errors.js';
import {objectKey} from '../../api/keys.js';
import {haveExpired, outputFileOf, slurmPhaseOf, type SlurmJob} from '../../api/kinds/slurmjob.js';
import {limits} from '../../api/limits.js';
import {parseArrayIndexes} from '../../api/array-indexes.js';
import {shown} from '../../api/shown.js';
import {isSlurmEnd} from '../../api/slurm-phase.js';
import type {ByteRange} from '../artifact-store.js';
import {compileLogName} from '../slurm/results.js';
import {pause} from '../workflows/try-again.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {refusal} from './outcome.js';
import {flagOf} from './query.js';
import {write} from './stream.js';

type Artifact = NonNullable<NonNullable<SlurmJob['status']>['artifacts']>[number];

/** Answers with a file of the job as it is; with `follow` until the job is over or the reader goes. */
export async function readJobLog(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const job = entryOf(backend, target).object as SlurmJob;
	refuseOthers(exchange.query);
	const name = fileOf(job, exchange.query.get('container') ?? undefined);
	const reading = new AbortController();
	const {response, identity} = exchange;
	const stop = (): void => reading.abort(new Error('nobody reads this any more'));
	response.once('close', stop);
	backend.streams.add(response, identity.name, stop);
	const pieces = contentOf(backend, job, name, flagOf(exchange.query, 'follow'), reading.signal);
	// The first piece is read before the head of the answer is sent: its failure can still be a Status.
	const first = await pieces.next();
	response.writeHead(200, {'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache, private'});
	response.flushHeaders();
	try {
		for (let piece = first; piece.done !== true; piece = await pieces.next()) if (!(await write(response, piece.value))) return;
		response.end();
	} catch (error) {
		// Cut without the closing chunk: the reader must not take a part for the whole.
		response.destroy();
		if (!reading.signal.aborted) throw error;
	}
}

const parameters: ReadonlySet<string> = new Set(['container', 'follow', 'pretty']);

function refuseOthers(query: URLSearchParams): void {
	for (const name of query.keys())
		if (!parameters.has(name)) throw refusal(`the log of a SlurmJob has no parameter ${shown(name)}: it is a file, given as it is`);
}

/** The file that is meant: the output where none is named. */
function fileOf({metadata, spec}: SlurmJob, named: string | undefined): string {
	if (spec === undefined) throw refusal('the job has no spec');
	const indexes = spec.array === undefined ? undefined : (parseArrayIndexes(spec.array)?.indexes ?? []);
	const files = [outputFileOf(spec), ...(spec.errorFile === undefined ? [] : [spec.errorFile])].flatMap(file =>
		indexes === undefined ? [file] : indexes.map(index => file.replaceAll('%a', String(index))),
	);
	if (named === undefined && indexes === undefined) return files[0] ?? '';
	const all = [...files, ...((spec.compileCommands ?? []).length === 0 ? [] : [compileLogName])];
	if (named !== undefined && all.includes(named)) return named;
	const few = `${all.slice(0, 5).join(', ')}${all.length > 5 ? `, … (${all.length} files)` : ''}`;
	throw refusal(
		named === undefined
			? `slurmjob "${metadata.name}" is an array: name a file of it by container (-c), one of ${few}`
			: `slurmjob "${metadata.name}" has no file ${shown(named)}; it writes ${few}`,
	);
}

/** At least one piece, which may be empty; then what comes. */
async function* contentOf(
	{control, slurm, artifacts, clock}: Backend,
	{metadata}: SlurmJob,
	name: string,
	follows: boolean,
	signal: AbortSignal,
): AsyncGenerator<Uint8Array, undefined> {
	const key = objectKey('slurmjobs', metadata.namespace, metadata.name);
	for (let position = 0, looks = 0; ; looks++) {
		const job = control.index.get(key) as SlurmJob | undefined;
		if (job?.metadata.uid !== metadata.uid) return undefined;
		const artifact = job.status?.artifacts?.find(each => each.name === name);
		if (artifact !== undefined) {
			refuseExpired(job, clock.nowMs(), artifact);
			const left = {from: position, bytes: artifact.bytes - position};
			if (left.bytes > 0) yield* artifacts?.read(artifact.digest, left) ?? missing(artifact);
			return undefined;
		}
		// What was too large to be fetched is at the login node still.
		const isOver = isSlurmEnd(slurmPhaseOf(job));
		if ((isOver && job.status?.jobId === undefined) || job.metadata.deletionTimestamp !== undefined) return undefined;
		const piece =
			job.status?.folder === undefined ? undefined : await slurm?.readFile(job, name, position, limits.artifactChunkBytes, signal);
		position += piece?.length ?? 0;
		if (looks === 0 || (piece?.length ?? 0) > 0) yield piece ?? new Uint8Array();
		if ((piece?.length ?? 0) > 0) continue;
		if (!follows || isOver) return undefined;
		await pause(clock, signal, limits.slurmLogPauseMs);
	}
}

function missing({name}: Artifact): never {
	throw new AppError('ERR_NOT_FOUND', {resource: 'artifacts', name});
}

function refuseExpired({status}: SlurmJob, nowMs: number, {name}: Artifact): void {
	if (haveExpired(status, nowMs))
		throw new AppError('ERR_NOT_FOUND', {resource: 'artifacts', name, why: `it was kept until ${status?.expiresAt ?? ''}`});
}

/** 200 with the whole file, 206 with a part of it, 416 where there is no such part. */
export async function readArtifact(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const {params, request, response, identity} = exchange;
	const job = entryOf(backend, target).object as SlurmJob;
	const name = params['*'] ?? '';
	const artifact = job.status?.artifacts?.find(each => each.name === name);
	if (artifact === undefined) throw new AppError('ERR_NOT_FOUND', {resource: 'artifacts', name});
	refuseExpired(job, backend.clock.nowMs(), artifact);
	const {bytes, digest} = artifact;
	const range = rangeOf(request.headers.range, bytes);
	const headers = {
		'content-type': 'application/octet-stream',
		'cache-control': 'no-store',
		'accept-ranges': 'bytes',
		etag: `"${digest}"`,
		// Whatever a job has written, no browser shows it as a page of this server.
		'content-disposition': 'attachment',
		'x-content-type-options': 'nosniff',
	};
	if (range === 'unsatisfiable') {
		response.writeHead(416, {...headers, 'content-range': `bytes */${bytes}`, 'content-length': 0});
		return void response.end();
	}
	const wanted: ByteRange = range ?? {from: 0, bytes};
	const pieces = wanted.bytes === 0 ? [] : (backend.artifacts?.read(digest, wanted) ?? missing(artifact));
	let isOpen = true;
	const stop = (): void => void (isOpen = false);
	response.once('close', stop);
	backend.streams.add(response, identity.name, stop);
	const part = range === undefined ? {} : {'content-range': `bytes ${wanted.from}-${wanted.from + wanted.bytes - 1}/${bytes}`};
	let isBegun = false;
	const begin = (): void => {
		if (!isBegun) response.writeHead(range === undefined ? 200 : 206, {...headers, ...part, 'content-length': wanted.bytes});
		isBegun = true;
	};
	for await (const piece of pieces) {
		begin();
		if (!isOpen || !(await write(response, piece))) return;
	}
	begin();
	response.end();
}

/** One part, as RFC 9110 (14.1.2) has it. Undefined: all of it is wanted, or the header is none that is understood. */
export function rangeOf(header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | undefined {
	const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
	if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
	if (first === '') {
		const count = Math.min(Number(last), bytes);
		return count === 0 ? 'unsatisfiable' : {from: bytes - count, bytes: count};
	}
	const [from, end] = [Number(first), last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)];
	if (last !== '' && Number(last) < from) return undefined;
	return from >= bytes ? 'unsatisfiable' : {from, bytes: end - from + 1};
}
