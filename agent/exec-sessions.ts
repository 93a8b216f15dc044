// Sessions of exec and of port-forward, whichever runtime it is: what one program, or one connection, wrote and its client has not read yet, who
// waits for it, and until when it is kept.
//
// What it keeps true: output comes byte for byte, each stream in order, and its end after all of it; of what is not read only so much is
// kept, then the program waits; a session that no client reads for `execIdleMs` is ended.

import {failed, succeeded} from '../api/errors.js';
import {limits} from '../api/limits.js';
import type {ExecOutput} from '../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../system/time/clock.js';
import type {Done, Handlers} from './handlers.js';
import {noSession} from './refusals.js';

export type Stream = 'stdout' | 'stderr';

export type ExecProgram = {
	/** While paused nothing is read, and the program waits when its pipe is full. */
	readonly pause: (paused: boolean) => void;
	/** SIGKILL; what was written before still comes. */
	readonly kill: () => void;
	/** Nothing is told any more. */
	readonly drop: () => void;
};

/** A pipe, as far as it is written to. */
type Input = {readonly destroyed: boolean; readonly write: (data: Buffer, done: () => void) => void; readonly destroy: () => void};

export type NewSession = {
	readonly id: string;
	/** Counted for itself, so that many of them leave room for programs; `relayedFor`: of that node. */
	readonly connection?: {readonly relayedFor: string | undefined};
	readonly program: ExecProgram;
	/** Undefined: its program takes no input. */
	readonly stdin: Input | undefined;
	readonly resize: ((rows: number, columns: number, done: Done<null>) => void) | undefined;
	/** Called once, when nothing is left of it. */
	readonly onGone: () => void;
};

type WaitingReader = {readonly maxBytes: number; readonly done: Done<ExecOutput>; readonly cancel: Cancel};

type Session = NewSession & {
	readonly chunks: {readonly stream: Stream; data: Buffer}[];
	size: number;
	/** 'told': its client knows that no more comes. */
	isOutputOver: boolean | 'told';
	end: {readonly exitCode: number} | undefined;
	reader: WaitingReader | undefined;
	pendingBytes: number;
	isInputOver: boolean;
	cancelIdle: Cancel;
};

export type Feed = {
	readonly output: (stream: Stream, data: Buffer) => void;
	/** No more output comes, and there is no end yet. */
	readonly outputOver: () => void;
	readonly end: (exitCode: number) => void;
};

export type Sessions = {
	/** Of programs. */
	readonly count: () => number;
	/** For people, and those that are relayed, by node. */
	readonly connections: () => number;
	readonly relayed: () => ReadonlyMap<string, number>;
	/** What is told of it goes to the functions that come back. */
	readonly add: (added: NewSession) => Feed;
	readonly read: (id: string, maxBytes: number, waitMs: number, done: Done<ExecOutput>) => void;
	readonly write: (id: string, data: Buffer, isLast: boolean, done: Done<null>) => void;
	readonly resize: (id: string, rows: number, columns: number, done: Done<null>) => void;
	readonly close: (id: string) => void;
	readonly closeAll: () => void;
};

type State = {
	readonly clock: Clock;
	readonly all: Map<string, Session>;
};

export function createSessions(clock: Clock): Sessions {
	const state: State = {clock, all: new Map()};
	return {
		count: () => [...state.all.values()].filter(({connection}) => connection === undefined).length,
		connections: () =>
			[...state.all.values()].filter(({connection}) => connection !== undefined && connection.relayedFor === undefined).length,
		relayed: () => relayedIn(state),
		add: added => add(state, added),
		read: (id, maxBytes, waitMs, done) => read(state, id, maxBytes, waitMs, done),
		write: (id, data, isLast, done) => write(state, id, data, isLast, done),
		resize(id, rows, columns, done) {
			const session = state.all.get(id);
			if (session === undefined) return done(noSession(id));
			if (session.resize === undefined || session.end !== undefined) done(succeeded(null));
			else session.resize(rows, columns, done);
		},
		close(id) {
			const session = state.all.get(id);
			if (session !== undefined) forget(state, session);
		},
		closeAll() {
			for (const session of [...state.all.values()]) forget(state, session);
		},
	};
}

/** What a runtime does for the commands that speak to a session. */
export const sessionHandlers = (sessions: Sessions): Pick<Handlers, 'exec.write' | 'exec.read' | 'exec.resize' | 'exec.close'> => ({
	'exec.write': ({session, data, isLast}, done) => sessions.write(session, Buffer.from(data, 'base64'), isLast, done),
	'exec.read': ({session, maxBytes, waitMs}, done) => sessions.read(session, maxBytes, waitMs, done),
	'exec.resize': ({session, rows, columns}, done) => sessions.resize(session, rows, columns, done),
	'exec.close'({session}, done) {
		sessions.close(session);
		done(succeeded(null));
	},
});

function relayedIn({all}: State): ReadonlyMap<string, number> {
	const counts = new Map<string, number>();
	for (const {connection} of all.values()) {
		const node = connection?.relayedFor;
		if (node !== undefined) counts.set(node, (counts.get(node) ?? 0) + 1);
	}
	return counts;
}

function add(state: State, added: NewSession): Feed {
	const session: Session = {
		...added,
		chunks: [],
		size: 0,
		isOutputOver: false,
		end: undefined,
		reader: undefined,
		pendingBytes: 0,
		isInputOver: false,
		cancelIdle: () => undefined,
	};
	state.all.set(session.id, session);
	idle(state, session);
	return {
		output(stream, data) {
			const last = session.chunks.at(-1);
			// Many small pieces would cost more than what is in them.
			if (last?.stream === stream && last.data.length + data.length <= smallBytes) last.data = Buffer.concat([last.data, data]);
			else session.chunks.push({stream, data});
			session.size += data.length;
			if (session.size >= limits.execBufferBytes) session.program.pause(true);
			answer(state, session);
		},
		outputOver() {
			session.isOutputOver = true;
			answer(state, session);
		},
		end(exitCode) {
			session.end = {exitCode};
			answer(state, session);
		},
	};
}

/** No client reads it from now on. */
function idle(state: State, session: Session): void {
	session.cancelIdle();
	session.cancelIdle = state.clock.after(limits.execIdleMs, () => forget(state, session));
}

/** A client that waits for its output hears that it is over. */
function forget({all}: State, session: Session): void {
	if (!all.delete(session.id)) return;
	session.cancelIdle();
	session.program.kill();
	session.program.drop();
	const {reader} = session;
	session.reader = undefined;
	reader?.cancel();
	reader?.done(noSession(session.id));
	session.onGone();
}

/** Answers the client that waits, when there is something. */
function answer(state: State, session: Session, isLate = false): void {
	const {reader} = session;
	if (reader === undefined || (session.size === 0 && session.end === undefined && session.isOutputOver !== true && !isLate)) return;
	session.reader = undefined;
	reader.cancel();
	const parts = take(session, reader.maxBytes);
	const end = session.size === 0 ? session.end : undefined;
	const isLast = session.size === 0 && session.isOutputOver === true;
	if (isLast) session.isOutputOver = 'told';
	if (end === undefined) idle(state, session);
	else forget(state, session);
	if (session.size < limits.execBufferBytes) session.program.pause(false);
	reader.done(succeeded({parts, end, ...(isLast ? {isLast} : {})}));
}

function read(state: State, id: string, maxBytes: number, waitMs: number, done: Done<ExecOutput>): void {
	const session = state.all.get(id);
	if (session === undefined) return done(noSession(id));
	if (!Number.isSafeInteger(maxBytes) || maxBytes < 0) {
		return done(failed('ERR_BAD_REQUEST', {message: `maxBytes must be a whole number from 0, got ${maxBytes}`}));
	}
	if (maxBytes === 0) {
		// Its reader is slow and wants it kept.
		if (session.reader === undefined) idle(state, session);
		return done(succeeded({parts: [], end: undefined}));
	}
	if (!(waitMs >= 0)) return done(failed('ERR_BAD_REQUEST', {message: `waitMs must be 0 or more, got ${waitMs}`}));
	answer(state, session, true); // The client that asked before has gone: it gets nothing that this one would miss.
	session.cancelIdle();
	const cancel = waitMs === 0 ? (): void => undefined : state.clock.after(waitMs, () => answer(state, session, true));
	session.reader = {maxBytes: Math.min(maxBytes, limits.execChunkBytes), done, cancel};
	answer(state, session, waitMs === 0);
}

function write({all}: State, id: string, data: Buffer, isLast: boolean, done: Done<null>): void {
	const session = all.get(id);
	if (session === undefined) return done(noSession(id));
	const {stdin} = session;
	if (stdin === undefined) return done(failed('ERR_BAD_REQUEST', {message: 'the session was opened without stdin'}));
	// A program that is over or reads no more takes all there is, as a closed pipe does.
	if (stdin.destroyed || session.isInputOver || session.end !== undefined) return done(succeeded(null));
	if (session.pendingBytes > 0 && session.pendingBytes + data.length > limits.execPendingBytes) {
		return done(failed('ERR_BUSY', {address: 'exec input', waiting: session.pendingBytes}));
	}
	session.pendingBytes += data.length;
	session.isInputOver ||= isLast;
	stdin.write(data, () => {
		session.pendingBytes -= data.length;
		// A pipe has no other half: its end is that no process holds it open for writing.
		if (isLast) stdin.destroy();
		done(succeeded(null));
	});
}

const smallBytes = 16_384;

/** Up to so many bytes from the front. */
function take(session: Session, maxBytes: number): ExecOutput['parts'] {
	const parts: {stream: Stream; data: string}[] = [];
	let room = maxBytes;
	while (room > 0) {
		const [chunk] = session.chunks;
		if (chunk === undefined) break;
		const data = chunk.data.subarray(0, room);
		if (data.length === chunk.data.length) session.chunks.shift();
		else chunk.data = chunk.data.subarray(data.length);
		parts.push({stream: chunk.stream, data: data.toString('base64')});
		room -= data.length;
		session.size -= data.length;
	}
	return parts;
}
