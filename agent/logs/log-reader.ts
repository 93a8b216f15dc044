// Answers `logs.read`: finds the attempt, reads a chunk, and waits for more where that was asked for.

import {watch} from 'node:fs';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ContainerId, LogChunk, LogRequest} from '../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import {createDeferred} from '../../system/time/deferred.js';
import type {Done} from '../handlers.js';
import {noSuchLog, wrongLogRequest} from '../refusals.js';
import {attemptsIn, logFile} from '../attempts.js';
import {systemFailure} from '../os/explained.js';
import {turn} from '../os/turn.js';
import {offsetSince, readMarks, stamped, timeOf} from './log-times.js';
import {beginsLine, extentOf, nextLine, offsetOfTail, readLog, type Chunk} from './logs.js';

export type LogReader = {
	readonly read: (request: LogRequest, pod: LoggedPod, done: Done<LogChunk>) => void;
	/** Answers all that wait, with what there is. */
	readonly close: () => void;
};

/** Whose log it is. */
type LoggedPod = {readonly namespace: string; readonly name: string};

/** As much of a container as its reader needs. */
type LoggedContainer = {readonly folder: string; readonly live: {readonly attempt: number; readonly onEnded: Set<() => void>} | undefined};

/** Where containers are found, and their ends heard. */
export type LoggedContainers = {
	readonly find: (id: ContainerId) => LoggedContainer;
	readonly whenEnded: (container: LoggedContainer, callback: () => void) => Cancel;
};

/** Of one attempt. */
type Log = {readonly container: LoggedContainer; readonly attempt: number; readonly file: string};

/** One reader of it. */
type Reading = Log & {
	readonly offset: number;
	/** Undefined: where the log ends at each look. */
	readonly endOffset: number | undefined;
	readonly maxBytes: number;
	readonly timestamps: boolean;
};

type State = {
	readonly containers: LoggedContainers;
	readonly clock: Clock;
	readonly waiting: Set<() => void>;
};

export function createLogReader(containers: LoggedContainers, clock: Clock): LogReader {
	const state: State = {containers, clock, waiting: new Set()};
	return {
		read: (request, pod, done) => read(state, request, pod, done),
		close() {
			for (const finish of [...state.waiting]) finish();
		},
	};
}

function read(state: State, request: LogRequest, pod: LoggedPod, done: Done<LogChunk>): void {
	const refusal = wrongLogRequest(request);
	if (refusal !== undefined) return done(refusal);
	const container = state.containers.find(request.id);
	const attempt = attemptsIn(container.folder)[request.previous ? 1 : 0];
	if (attempt === undefined) return done(noSuchLog(request, pod.name));
	void outcomeOf(state, request, pod, {container, attempt, file: logFile(container.folder, attempt)}).then(done);
}

async function outcomeOf(state: State, request: LogRequest, pod: LoggedPod, log: Log): Promise<Outcome<LogChunk>> {
	try {
		const endOffset = request.endOffset ?? extentOf(log.file).end;
		const reading = {
			...log,
			offset: request.offset ?? (await firstOffset(log.file, request, endOffset, state.clock.nowMs())),
			endOffset,
			maxBytes: Math.min(request.maxBytes, limits.logChunkBytes),
			timestamps: request.timestamps === true,
		};
		const chunk = await chunkOf(state, reading);
		if (isWorthIt(chunk) || request.waitMs <= 0) return succeeded(chunk);
		const rest = {...reading, offset: chunk.nextOffset, endOffset: request.endOffset};
		if (state.waiting.size < limits.logFollowers) return succeeded(await whenMore(state, rest, request.waitMs));
		return failed('ERR_BUSY', {address: `logs of ${pod.namespace}/${pod.name}`, waiting: state.waiting.size});
	} catch (error) {
		return systemFailure(error);
	}
}

/** Comes at the first of: more text, the end of the attempt, the end of the wait. */
async function whenMore(state: State, reading: Reading, waitMs: number): Promise<LogChunk> {
	const over = createDeferred();
	const cancel = state.clock.after(waitMs, over.resolve);
	state.waiting.add(over.resolve);
	const forget = state.containers.whenEnded(reading.container, over.resolve);
	let stopPause: Cancel = () => undefined;
	try {
		for (let from = reading; ;) {
			const sign = signOf(reading.file);
			try {
				const before = await chunkOf(state, from); // What came between the last look and the watch.
				if (isWorthIt(before) || over.isSettled()) return before;
				await Promise.race([over.promise, sign.heard]);
			} finally {
				sign.close();
			}
			const chunk = await chunkOf(state, from);
			if (isWorthIt(chunk) || over.isSettled()) return chunk;
			from = {...from, offset: chunk.nextOffset};
			// Some program touches its log all the time and writes nothing.
			await Promise.race([over.promise, new Promise<void>(resolve => (stopPause = state.clock.after(limits.logLookMs, resolve)))]);
		}
	} finally {
		state.waiting.delete(over.resolve);
		cancel();
		stopPause();
		forget();
	}
}

/** From the offset on, or after the hole that is there. Whether the attempt lives is asked first: what it wrote before its end is then surely in the file. */
async function chunkOf(state: State, reading: Reading): Promise<LogChunk> {
	const {container, attempt, file, maxBytes} = reading;
	const {endOffset = extentOf(file).end} = reading;
	for (let {offset} = reading; ; await turn()) {
		const isOver = container.live?.attempt !== attempt;
		const chunk = cutAt(endOffset, readLog(file, offset, maxBytes));
		if (chunk.data.length > 0 && reading.timestamps) return {...stampedChunk(state, reading, chunk, isOver), endOffset};
		const {data, nextOffset, atEnd} = chunk;
		if (data.length > 0 || atEnd || nextOffset >= endOffset)
			return {data: data.toString('base64'), nextOffset, endOffset, end: isOver && atEnd, attempt};
		offset = nextOffset;
	}
}

/** Without what is behind the end; where all of it is, reading goes on at its beginning, which may be a line's. */
function cutAt(endOffset: number, chunk: Chunk): Chunk {
	const {data, nextOffset} = chunk;
	const behind = Math.min(data.length, nextOffset - endOffset);
	return behind <= 0 ? chunk : {data: data.subarray(0, data.length - behind), nextOffset: nextOffset - behind, atEnd: false};
}

function stampedChunk(
	{clock}: State,
	{file, maxBytes, attempt}: Reading,
	{data, nextOffset, atEnd}: Chunk,
	isOver: boolean,
): Omit<LogChunk, 'endOffset'> {
	const from = nextOffset - data.length; // What was rotated away, or is a hole, was skipped.
	const marks = readMarks(file);
	const nowMs = clock.nowMs();
	const piece = {data, offset: from, beginsLine: beginsLine(file, from)};
	const {data: text, taken} = stamped(piece, position => timeOf(marks, position, nowMs), maxBytes);
	return {data: text.toString('base64'), nextOffset: from + taken, end: isOver && atEnd && taken === data.length, attempt};
}

const isWorthIt = (chunk: LogChunk): boolean => chunk.data !== '' || chunk.end;

/** The first word of the kernel that something was done to a file; no other is listened to. Throws errno exceptions. */
function signOf(file: string): {readonly heard: Promise<void>; readonly close: () => void} {
	const watcher = watch(file);
	const heard = new Promise<void>(resolve => {
		const hear = (): void => {
			watcher.close();
			resolve();
		};
		watcher.once('change', hear).once('error', hear);
	});
	return {heard, close: () => watcher.close()};
}

/** Of the last lines before the end, those that were begun at that time or later. */
async function firstOffset(file: string, {tailLines, sinceMs}: LogRequest, end: number, nowMs: number): Promise<number> {
	const tail = tailLines === undefined ? 0 : await offsetOfTail(file, tailLines, end);
	return sinceMs === undefined ? tail : Math.max(tail, await nextLine(file, offsetSince(readMarks(file), sinceMs, {end, nowMs})));
}
