// Answers `logs.read`: finds the attempt, reads a chunk, and waits for more where that was asked for.

import {watch} from 'node:fs';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {LogChunk, LogRequest} from '../../actors/node/runtime-port.js';
import type {Clock} from '../../system/clock.js';
import {noSuchLog, wrongLogRequest} from '../refusals.js';
import {attemptsIn, logFile} from './attempts.js';
import type {Container, Containers} from './containers.js';
import {explained} from './explained.js';
import {offsetSince, readMarks, stamped, timeOf} from './log-times.js';
import {beginsLine, nextLine, offsetOfTail, readLog} from './logs.js';
import type {SandboxRecord} from './sandboxes.js';

type Done = (outcome: Outcome<LogChunk>) => void;

export type LogReader = {
	readonly read: (request: LogRequest, pod: SandboxRecord, done: Done) => void;
	/** Answers all that wait, with what there is. */
	readonly close: () => void;
};

/** One reader of one attempt. */
type Reading = {
	readonly container: Container;
	readonly attempt: number;
	readonly file: string;
	readonly offset: number;
	readonly maxBytes: number;
	readonly timestamps: boolean;
};

export function createLogReader(containers: Containers, clock: Clock): LogReader {
	const waiting = new Set<() => void>();

	function read(request: LogRequest, pod: SandboxRecord, done: Done): void {
		const refusal = wrongLogRequest(request);
		if (refusal !== undefined) return done(refusal);
		const container = containers.find(request.id);
		const attempt = attemptsIn(container.folder)[request.previous ? 1 : 0];
		if (attempt === undefined) return done(noSuchLog(request, pod.name));
		const file = logFile(container.folder, attempt);
		const reading = {
			container,
			attempt,
			file,
			offset: request.offset ?? firstOffset(file, request),
			maxBytes: Math.min(request.maxBytes, limits.logChunkBytes),
			timestamps: request.timestamps === true,
		};
		const chunk = chunkOf(reading);
		if (chunk.data !== '' || chunk.end || request.waitMs <= 0) return done(succeeded(chunk));
		if (waiting.size >= limits.logFollowers) {
			return done(failed('ERR_BUSY', {address: `logs of ${pod.namespace}/${pod.name}`, waiting: waiting.size}));
		}
		waitForMore(reading, request.waitMs, done);
	}

	/** Answers at the first of: more text, the end of the attempt, the end of the wait. */
	function waitForMore(reading: Reading, waitMs: number, done: Done): void {
		const watcher = watch(reading.file, () => look());
		const cancel = clock.after(waitMs, () => finish());
		watcher.on('error', () => finish());
		waiting.add(finish);
		const forget = containers.whenEnded(reading.container, finish);
		look(); // What came between the first look and the watch.

		function look(): void {
			if (waiting.has(finish) && answerOf(reading, chunk => chunk.data !== '' || chunk.end) !== undefined) finish();
		}

		function finish(): void {
			if (!waiting.delete(finish)) return;
			cancel();
			forget();
			watcher.close();
			done(answerOf(reading, () => true) ?? failed('ERR_INTERNAL'));
		}
	}

	/** Undefined: the chunk is not worth an answer. */
	function answerOf(reading: Reading, isEnough: (chunk: LogChunk) => boolean): Outcome<LogChunk> | undefined {
		try {
			const chunk = chunkOf(reading);
			return isEnough(chunk) ? succeeded(chunk) : undefined;
		} catch (error) {
			return failed('ERR_RUNTIME', {message: explained(error)});
		}
	}

	/** Whether the attempt lives is asked first: what it wrote before its end is then surely in the file. */
	function chunkOf({container, attempt, file, offset, maxBytes, timestamps}: Reading): LogChunk {
		const isOver = container.live?.attempt !== attempt;
		const {data, nextOffset, atEnd} = readLog(file, offset, maxBytes);
		if (!timestamps || data.length === 0) return {data: data.toString('base64'), nextOffset, end: isOver && atEnd, attempt};
		const from = nextOffset - data.length; // What was rotated away was skipped.
		const marks = readMarks(file);
		const nowMs = clock.nowMs();
		const piece = {data, offset: from, beginsLine: beginsLine(file, from)};
		const {data: text, taken} = stamped(piece, position => timeOf(marks, position, nowMs), maxBytes);
		return {data: text.toString('base64'), nextOffset: from + taken, end: isOver && atEnd && taken === data.length, attempt};
	}

	return {
		read,
		close() {
			for (const finish of [...waiting]) finish();
		},
	};
}

/** Of the last lines, those that were begun at that time or later. */
function firstOffset(file: string, {tailLines, sinceMs}: LogRequest): number {
	const tail = tailLines === undefined ? 0 : offsetOfTail(file, tailLines);
	return sinceMs === undefined ? tail : Math.max(tail, nextLine(file, offsetSince(readMarks(file), sinceMs)));
}
