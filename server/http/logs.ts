// `GET .../pods/P/log`: the raw output of one container, pulled from its node piece by piece.
//
// Nothing is asked for before the last piece was taken by the reader, so neither a slow reader nor a fast writer fills any
// buffer; when the reader goes, the asking ends. A log that is not followed ends where it ended when the first piece was asked for.
//
// The answer's headers say which attempt it is of and at which byte of it it begins; with `attempt` and `offset` (our own
// parameters) a client that was cut off goes on exactly there.

import {podKey} from '../../actors/addresses.js';
import type {LogChunk, LogRequest} from '../../actors/node/runtime/runtime-port.js';
import {AppError} from '../../api/errors.js';
import type {Pod} from '../../api/kinds/pod.js';
import {evictedReason} from '../../api/node-pressure.js';
import {limits} from '../../api/limits.js';
import {attemptHeader, attemptsResource, offsetHeader, withoutTime} from '../../api/log-place.js';
import {shown} from '../../api/shown.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {askNode} from './node-ask.js';
import {refusal, valueOf} from './outcome.js';
import {containerOf, nodeOf, statusOfContainer} from './pod-container.js';
import {countOf, flagOf} from './query.js';
import {write} from './stream.js';
import {causeOf} from './write.js';

type LogOptions = ReturnType<typeof optionsOf>;

type Source = {
	readonly node: string;
	readonly uid: string;
	readonly options: LogOptions;
	/** Its node frees its folders as soon as nothing of it runs. */
	readonly isEvicted: boolean;
};

/** Answers with the log as text/plain, without framing; with `follow` until the attempt ends or the reader goes. */
export async function readLog(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const source = sourceOf(backend, exchange, target);
	const {options} = source;
	const ask = asker(backend, exchange, target, source);
	// The first piece is asked for before the head of the answer is sent: its failure can still be a Status.
	const first = await firstPiece(ask, options).catch((error: unknown) => {
		throw source.isEvicted && isGone(error) ? evictedLogs(target) : error;
	});
	const {response, identity} = exchange;
	let isOpen = true;
	const stop = (): void => void (isOpen = false);
	response.once('close', stop);
	backend.streams.add(response, identity.name, stop);
	response.writeHead(200, {
		'content-type': 'text/plain; charset=utf-8',
		'cache-control': 'no-cache, private',
		[attemptHeader]: first.chunk.attempt,
		[offsetHeader]: options.offset ?? beginOf(first.chunk, options),
	});
	response.flushHeaders();
	try {
		await copy(exchange, options, first, ask, () => isOpen);
		response.end();
	} catch (error) {
		// A pod that is deleted takes its logs with it: what was read is all there will be.
		if (isGoing(backend, target, source.uid)) return void response.end();
		// Cut without the closing chunk: the reader must not take a broken log for a whole one.
		response.destroy();
		throw error;
	}
}

const isGone = (error: unknown): boolean => error instanceof AppError && error.code === 'ERR_NOT_FOUND';

const evictedLogs = ({name = ''}: Target): AppError =>
	new AppError('ERR_NOT_FOUND', {
		resource: 'logs',
		name,
		why: 'its node was short of something, has evicted the pod, and has removed its folders',
	});

function isGoing({control}: Backend, {namespace, name = ''}: Target, uid: string): boolean {
	const metadata = control.index.get(podKey({...(namespace === undefined ? {} : {namespace}), name}))?.metadata;
	return metadata?.uid !== uid || metadata.deletionTimestamp !== undefined;
}

/** What all pieces of an answer have in common aside. */
type Piece = Omit<LogRequest, 'id' | 'timestamps' | 'maxBytes'>;
type Asker = (piece: Piece) => Promise<LogChunk>;

/** And whether it is of the attempt before the current one. */
type First = {readonly chunk: LogChunk; readonly previous: boolean};

async function firstPiece(ask: Asker, {attempt, offset, tailLines, sinceMs, previous, container}: LogOptions): Promise<First> {
	const piece = {offset, tailLines, sinceMs, waitMs: 0};
	const chunk = await ask({...piece, previous});
	if (attempt === undefined || chunk.attempt === attempt) return {chunk, previous};
	if (chunk.attempt < attempt) throw refusal(`attempt ${attempt} of container "${container}" is waiting to start`);
	if (previous || attempt < chunk.attempt - 1) throw gone(attempt);
	const before = await ask({...piece, previous: true});
	if (before.attempt !== attempt) throw gone(attempt);
	return {chunk: before, previous: true};
}

/** Only the last attempts of a container keep their logs. */
const gone = (attempt: number): AppError => new AppError('ERR_NOT_FOUND', {resource: attemptsResource, name: String(attempt)});

/** The byte of the attempt at which a piece begins that begins with a line. */
function beginOf({data, nextOffset}: LogChunk, {timestamps}: LogOptions): number {
	const text = Buffer.from(data, 'base64');
	if (!timestamps) return nextOffset - text.length;
	const lines = text.toString('latin1').split('\n');
	return nextOffset - lines.map(withoutTime).join('\n').length;
}

async function copy({response}: Exchange, options: LogOptions, first: First, ask: Asker, isOpen: () => boolean): Promise<void> {
	let left = options.limitBytes ?? Number.POSITIVE_INFINITY;
	let {chunk, previous} = first;
	const {attempt} = chunk;
	const endOffset = options.follow ? undefined : chunk.endOffset;
	for (;;) {
		const whole = Buffer.from(chunk.data, 'base64');
		const bytes = whole.length > left ? whole.subarray(0, left) : whole;
		left -= bytes.length;
		if (bytes.length > 0 && !(await write(response, bytes))) return;
		if (chunk.end || left <= 0 || !isOpen()) return;
		// A program that cuts its own log leaves nothing to read before the end.
		if (!options.follow && (bytes.length === 0 || chunk.nextOffset >= chunk.endOffset)) return;
		const waitMs = options.follow && bytes.length === 0 ? limits.logFollowMs : 0;
		const piece = {offset: chunk.nextOffset, endOffset, tailLines: undefined, sinceMs: undefined};
		chunk = await ask({...piece, waitMs, previous});
		if (chunk.attempt === attempt || previous) continue;
		// The container was started anew between two pieces: what is left of the attempt that was begun is the previous one's.
		previous = true;
		chunk = await ask({...piece, waitMs: 0, previous});
		if (chunk.attempt !== attempt) return;
	}
}

function asker(backend: Backend, exchange: Exchange, target: Target, {node, uid, options}: Source): Asker {
	const cause = causeOf(exchange, target);
	return async ({waitMs, ...piece}) => {
		const request: LogRequest = {
			id: {uid, container: options.container},
			...piece,
			timestamps: options.timestamps,
			maxBytes: limits.logChunkBytes,
			waitMs,
		};
		const message = {type: 'readLog', request};
		return valueOf(await askNode<LogChunk>(backend, {node, message, waitMs, cause, what: 'its logs are'}));
	};
}

/** Where the log is, and what of it is wanted; refusals in kubectl's words. */
function sourceOf(backend: Backend, {query}: Exchange, target: Target): Source {
	// Nodes keep one stream of each container. To ignore the parameter would show lines that were not asked for.
	if (!['', 'All'].includes(query.get('stream') ?? '')) throw refusal('stream must be All: the streams of a container are not kept apart');
	const pod = entryOf(backend, target).object as Pod;
	const container = containerOf(pod, query.get('container') ?? '');
	const previous = flagOf(query, 'previous');
	const node = nodeOf(pod);
	checkState(pod, container, previous);
	const isEvicted = pod.status?.reason === evictedReason;
	return {node, uid: pod.metadata.uid, options: optionsOf(query, container, previous, backend.control.nowMs()), isEvicted};
}

const optionsOf = (query: URLSearchParams, container: string, previous: boolean, nowMs: number) => ({
	container,
	previous,
	follow: flagOf(query, 'follow'),
	timestamps: flagOf(query, 'timestamps'),
	tailLines: countOf(query, 'tailLines'),
	sinceMs: sinceOf(query, nowMs),
	limitBytes: limitOf(query),
	/** Of this attempt alone; undefined: the current one, or with `previous` the one before. */
	attempt: countOf(query, 'attempt'),
	offset: countOf(query, 'offset'),
});

/** Wall time from which on lines are wanted. */
function sinceOf(query: URLSearchParams, nowMs: number): number | undefined {
	const seconds = countOf(query, 'sinceSeconds');
	const time = query.get('sinceTime') ?? '';
	if (seconds !== undefined && time !== '') throw refusal('at most one of sinceTime and sinceSeconds may be given');
	if (seconds === 0) throw refusal('sinceSeconds must be greater than 0');
	if (seconds !== undefined) return Math.max(0, nowMs - seconds * 1_000);
	if (time === '') return undefined;
	const ms = rfc3339.test(time) ? Date.parse(time) : Number.NaN;
	if (Number.isNaN(ms)) throw refusal(`sinceTime must be a time such as 2026-01-31T12:00:00Z, got ${shown(time)}`);
	return Math.max(0, ms);
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

function limitOf(query: URLSearchParams): number | undefined {
	const bytes = countOf(query, 'limitBytes');
	if (bytes === 0) throw refusal('limitBytes must be greater than 0');
	return bytes;
}

function checkState(pod: Pod, container: string, previous: boolean): void {
	const found = statusOfContainer(pod, container);
	const {name} = pod.metadata;
	if (previous && found?.lastState?.terminated === undefined)
		throw refusal(`previous terminated container "${container}" in pod "${name}" not found`);
	const hasRun = found?.state?.running ?? found?.state?.terminated ?? found?.lastState?.terminated;
	if (!previous && hasRun === undefined) {
		const {reason = 'ContainerCreating', message} = found?.state?.waiting ?? {};
		const why = message === undefined ? '' : ` (${message})`;
		throw refusal(`container "${container}" in pod "${name}" is waiting to start: ${reason}${why}`);
	}
}
