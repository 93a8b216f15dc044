// Programs that a simulated container runs on demand: a handful of words, and sessions in which they talk.

import {failed, succeeded} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ExecOutput, ExecRequest} from '../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import type {Done} from '../handlers.js';
import {noSession} from '../refusals.js';

type Part = ExecOutput['parts'][number];

/** What a program makes of its words; `isEchoing`: it gives back what it is given until that ends. */
export type ExecResult = {readonly parts: readonly Part[]; readonly exitCode: number; readonly isEchoing?: true};

const written = (stream: Part['stream'], text: string): Part => ({stream, data: Buffer.from(text).toString('base64')});

/** `echo`, `cat`, `true`, `false` and a shell's `exit <code>`; undefined: no such program. */
export function execByWords(argv: readonly string[]): ExecResult | undefined {
	const [word = '', ...words] = argv;
	switch (word.slice(word.lastIndexOf('/') + 1)) {
		case 'echo':
			return {parts: [written('stdout', `${words.join(' ')}\n`)], exitCode: 0};
		case 'cat':
			return {parts: [], exitCode: 0, isEchoing: true};
		case 'true':
			return {parts: [], exitCode: 0};
		case 'false':
			return {parts: [], exitCode: 1};
		case 'sh': {
			const [, code] = /^exit (\d{1,3})$/.exec(words[1] ?? '') ?? [];
			return words[0] === '-c' && code !== undefined ? {parts: [], exitCode: Number(code)} : undefined;
		}
		default:
			return undefined;
	}
}

const notFound = (word: string): ExecResult => ({parts: [written('stderr', `${word}: not found\n`)], exitCode: 127});

type Session = {
	parts: Part[];
	end: {readonly exitCode: number} | undefined;
	reader: {readonly done: Done<ExecOutput>; readonly cancel: Cancel} | undefined;
	idle: Cancel;
};

export type ExecSessions = {
	readonly open: (request: ExecRequest) => string;
	readonly write: (id: string, data: string, isLast: boolean, done: Done<null>) => void;
	readonly read: (id: string, waitMs: number, done: Done<ExecOutput>) => void;
	readonly resize: (id: string, done: Done<null>) => void;
	readonly close: (id: string) => void;
};

type State = {
	readonly clock: Clock;
	readonly all: Map<string, Session>;
	opened: number;
};

/** Sessions of one agent. One that no client reads for `execIdleMs` is ended. */
export function createExecSessions(clock: Clock): ExecSessions {
	const state: State = {clock, all: new Map(), opened: 0};
	return {
		open({argv, stdin}) {
			const id = `exec-${++state.opened}`;
			const {parts, exitCode, isEchoing} = execByWords(argv) ?? notFound(argv[0] ?? '');
			const end = isEchoing === true && stdin ? undefined : {exitCode};
			const session: Session = {parts: [...parts], end, reader: undefined, idle: () => undefined};
			state.all.set(id, session);
			idle(state, id, session);
			return id;
		},
		write: (id, data, isLast, done) =>
			within(state, id, done, session => {
				if (session.end === undefined && data !== '') session.parts.push({stream: 'stdout', data});
				if (isLast) session.end ??= {exitCode: 0};
				done(succeeded(null));
				answer(state, id, session, false);
			}),
		read: (id, waitMs, done) =>
			within(state, id, done, session => {
				if (!(waitMs >= 0)) return done(failed('ERR_BAD_REQUEST', {message: `waitMs must be 0 or more, got ${waitMs}`}));
				answer(state, id, session, true);
				session.idle();
				session.reader = {done, cancel: state.clock.after(waitMs, () => answer(state, id, session, true))};
				answer(state, id, session, waitMs === 0);
			}),
		resize: (id, done) => within(state, id, done, () => done(succeeded(null))),
		close(id) {
			const session = state.all.get(id);
			if (session !== undefined) forget(state, id, session);
		},
	};
}

function forget({all}: State, id: string, session: Session): void {
	if (!all.delete(id)) return;
	session.idle();
	const {reader} = session;
	session.reader = undefined;
	reader?.cancel();
	reader?.done(noSession(id));
}

function idle(state: State, id: string, session: Session): void {
	session.idle();
	session.idle = state.clock.after(limits.execIdleMs, () => forget(state, id, session));
}

function answer(state: State, id: string, session: Session, isLate: boolean): void {
	const {reader, parts, end} = session;
	if (reader === undefined || (parts.length === 0 && end === undefined && !isLate)) return;
	session.reader = undefined;
	session.parts = [];
	reader.cancel();
	if (end === undefined) idle(state, id, session);
	else forget(state, id, session);
	reader.done(succeeded({parts, end}));
}

/** Calls on with the session, or answers that there is none. */
function within<Value>({all}: State, id: string, done: Done<Value>, run: (session: Session) => void): void {
	const session = all.get(id);
	if (session === undefined) done(noSession(id));
	else run(session);
}
