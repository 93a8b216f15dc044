// Sessions of exec: what one program wrote and nobody has read yet, who waits for it, and until when it is kept.
//
// What it keeps true: output comes byte for byte, each stream in order, and its end after all of it; of what is not read only so much is
// kept, then the program waits; a session that nobody reads for `execIdleMs` is ended.

import type {Writable} from 'node:stream';
import {failed, succeeded} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {ExecOutput} from '../../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import type {Done} from '../../handlers.js';
import {noSession} from '../../refusals.js';
import type {ExecProgram, Stream} from './exec-program.js';

export type Session = {
	readonly id: string;
	readonly program: ExecProgram;
	/** Undefined: its program takes no input. */
	readonly stdin: Writable | undefined;
	readonly resize: ((rows: number, columns: number, done: Done<null>) => void) | undefined;
	/** Called once, when nothing is left of it. */
	readonly onGone: () => void;
};

type Waiting = {readonly maxBytes: number; readonly done: Done<ExecOutput>; readonly cancel: Cancel};

type State = Session & {
	readonly chunks: {readonly stream: Stream; data: Buffer}[];
	size: number;
	end: {readonly exitCode: number} | undefined;
	reader: Waiting | undefined;
	pendingBytes: number;
	isInputOver: boolean;
	cancelIdle: Cancel;
};

export type Sessions = {
	readonly count: () => number;
	/** Output goes to the two functions that come back. */
	readonly add: (session: Session) => {readonly output: (stream: Stream, data: Buffer) => void; readonly end: (exitCode: number) => void};
	readonly read: (id: string, maxBytes: number, waitMs: number, done: Done<ExecOutput>) => void;
	readonly write: (id: string, data: Buffer, isLast: boolean, done: Done<null>) => void;
	readonly resize: (id: string, rows: number, columns: number, done: Done<null>) => void;
	readonly close: (id: string) => void;
	readonly closeAll: () => void;
};

export function createSessions(clock: Clock): Sessions {
	const all = new Map<string, State>();

	function add(session: Session): ReturnType<Sessions['add']> {
		const state: State = {
			...session,
			chunks: [],
			size: 0,
			end: undefined,
			reader: undefined,
			pendingBytes: 0,
			isInputOver: false,
			cancelIdle: () => undefined,
		};
		all.set(session.id, state);
		idle(state);
		return {
			output(stream, data) {
				const last = state.chunks.at(-1);
				// Many small pieces would cost more than what is in them.
				if (last?.stream === stream && last.data.length + data.length <= smallBytes) last.data = Buffer.concat([last.data, data]);
				else state.chunks.push({stream, data});
				state.size += data.length;
				if (state.size >= limits.execBufferBytes) state.program.pause(true);
				answer(state);
			},
			end(exitCode) {
				state.end = {exitCode};
				answer(state);
			},
		};
	}

	/** Nobody reads it from now on. */
	function idle(state: State): void {
		state.cancelIdle();
		state.cancelIdle = clock.after(limits.execIdleMs, () => forget(state));
	}

	/** Whoever waits for its output hears that it is over. */
	function forget(state: State): void {
		if (!all.delete(state.id)) return;
		state.cancelIdle();
		state.program.kill();
		state.program.drop();
		const {reader} = state;
		state.reader = undefined;
		reader?.cancel();
		reader?.done(noSession(state.id));
		state.onGone();
	}

	/** Answers who waits, when there is something. */
	function answer(state: State, isLate = false): void {
		const {reader} = state;
		if (reader === undefined || (state.size === 0 && state.end === undefined && !isLate)) return;
		state.reader = undefined;
		reader.cancel();
		const parts = take(state, reader.maxBytes);
		const end = state.size === 0 ? state.end : undefined;
		if (end === undefined) idle(state);
		else forget(state);
		if (state.size < limits.execBufferBytes) state.program.pause(false);
		reader.done(succeeded({parts, end}));
	}

	function read(id: string, maxBytes: number, waitMs: number, done: Done<ExecOutput>): void {
		const state = all.get(id);
		if (state === undefined) return done(noSession(id));
		if (!Number.isSafeInteger(maxBytes) || maxBytes < 0) {
			return done(failed('ERR_BAD_REQUEST', {message: `maxBytes must be a whole number from 0, got ${maxBytes}`}));
		}
		if (maxBytes === 0) {
			// Its reader is slow and wants it kept.
			if (state.reader === undefined) idle(state);
			return done(succeeded({parts: [], end: undefined}));
		}
		if (!(waitMs >= 0)) return done(failed('ERR_BAD_REQUEST', {message: `waitMs must be 0 or more, got ${waitMs}`}));
		answer(state, true); // Whoever asked before has gone: it gets nothing that this one would miss.
		state.cancelIdle();
		const cancel = waitMs === 0 ? (): void => undefined : clock.after(waitMs, () => answer(state, true));
		state.reader = {maxBytes: Math.min(maxBytes, limits.execChunkBytes), done, cancel};
		answer(state, waitMs === 0);
	}

	function write(id: string, data: Buffer, isLast: boolean, done: Done<null>): void {
		const state = all.get(id);
		if (state === undefined) return done(noSession(id));
		const {stdin} = state;
		if (stdin === undefined) return done(failed('ERR_BAD_REQUEST', {message: 'the session was opened without stdin'}));
		// A program that is over or reads no more takes all there is, as a closed pipe does.
		if (stdin.destroyed || state.isInputOver || state.end !== undefined) return done(succeeded(null));
		if (state.pendingBytes > 0 && state.pendingBytes + data.length > limits.execPendingBytes) {
			return done(failed('ERR_BUSY', {address: 'exec input', waiting: state.pendingBytes}));
		}
		state.pendingBytes += data.length;
		state.isInputOver ||= isLast;
		stdin.write(data, () => {
			state.pendingBytes -= data.length;
			// A pipe has no other half: its end is that nobody holds it open for writing.
			if (isLast) stdin.destroy();
			done(succeeded(null));
		});
	}

	return {
		count: () => all.size,
		add,
		read,
		write,
		resize(id, rows, columns, done) {
			const state = all.get(id);
			if (state === undefined) return done(noSession(id));
			if (state.resize === undefined || state.end !== undefined) done(succeeded(null));
			else state.resize(rows, columns, done);
		},
		close(id) {
			const state = all.get(id);
			if (state !== undefined) forget(state);
		},
		closeAll() {
			for (const state of [...all.values()]) forget(state);
		},
	};
}

const smallBytes = 16_384;

/** Up to so many bytes from the front. */
function take(state: State, maxBytes: number): ExecOutput['parts'] {
	const parts: {stream: Stream; data: string}[] = [];
	let room = maxBytes;
	while (room > 0) {
		const [chunk] = state.chunks;
		if (chunk === undefined) break;
		const data = chunk.data.subarray(0, room);
		if (data.length === chunk.data.length) state.chunks.shift();
		else chunk.data = chunk.data.subarray(data.length);
		parts.push({stream: chunk.stream, data: data.toString('base64')});
		room -= data.length;
		state.size -= data.length;
	}
	return parts;
}
