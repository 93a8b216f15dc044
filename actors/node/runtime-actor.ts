// What a node does with its runtime beyond single pods: removes what belongs to no assignment, and answers clients: reads logs, runs programs
// beside containers', tries the way from a pod to somewhere, and passes on that a client does not want to wait for a retry.

import {failed} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {WayRequest} from '../../api/way-check.js';
import {
	next,
	reply,
	tell,
	type Behavior,
	type Context,
	type Effect,
	type Next,
	type Reply,
	type ReplyTo,
} from '../../system/kernel/behavior.js';
import {besides, handName, podsPath, runtimePath} from '../addresses.js';
import {assignments} from './cache/assignment-object.js';
import type {RetryNow} from './pods/hand-state.js';
import type {WayCheckCommand} from './runtime/network-port.js';
import {perform} from './runtime/perform.js';
import type {ContainerId, ExecRequest, ForwardRequest, ImageRequest, LogChunk, LogRequest, RuntimeCommand} from './runtime/runtime-port.js';

/** What a session of exec, attach, port-forward or images asks, and `net check`; each is answered with the result of the command of that name. */
export type SessionAsk =
	| {readonly type: 'execOpen'; readonly request: ExecRequest}
	| {readonly type: 'forwardOpen'; readonly request: ForwardRequest}
	| {readonly type: 'imageOpen'; readonly request: ImageRequest}
	| {readonly type: 'imageList'}
	| {readonly type: 'wayCheck'; readonly request: WayRequest}
	| {readonly type: 'execWrite'; readonly session: string; readonly data: string; readonly isLast: boolean}
	| {readonly type: 'execRead'; readonly session: string; readonly maxBytes: number; readonly waitMs: number}
	| {readonly type: 'execResize'; readonly session: string; readonly rows: number; readonly columns: number}
	| {readonly type: 'execClose'; readonly session: string}
	| {readonly type: 'stdinWrite'; readonly id: ContainerId; readonly data: string; readonly isLast: boolean};

/** Passed on to the hand of that pod, which answers: see `RetryNow`. */
export type RetryContainer = {
	readonly type: 'retryContainer';
	readonly namespace: string;
	readonly name: string;
	readonly uid: string;
	/** Undefined: all that wait. */
	readonly container?: string | undefined;
};

export type RuntimeMessage =
	/** The cache agrees with control: sandboxes without an assignment are surplus. */
	| {readonly type: 'synced'}
	| {readonly type: 'readLog'; readonly request: LogRequest; readonly replyTo?: ReplyTo | undefined}
	| WithReplyTo<SessionAsk>
	| WithReplyTo<RetryContainer>
	| Reply<readonly string[], 'sandboxes'>
	| Reply<null, 'surplusRemoved'>
	| Reply<LogChunk, 'logRead'>
	| Reply<unknown, 'sessionAnswered'>;

type WithReplyTo<Ask> = Ask & {readonly replyTo?: ReplyTo | undefined};

export type RuntimeState = {
	readonly reading: ReadonlyMap<string, ReplyTo>;
	/** Questions of sessions: they must not wait for readers, nor readers for them. */
	readonly sessions: ReadonlyMap<string, ReplyTo>;
	/** Questions so far, of both sorts. */
	readonly reads: number;
};

export const runtimeActor: Behavior<null, RuntimeState, RuntimeMessage> = {
	kind: 'Runtime',
	init: () => next({reading: new Map(), sessions: new Map(), reads: 0}),
	receive(state, message, context) {
		switch (message.type) {
			case 'synced':
				return next(state, [perform({type: 'sandbox.list'}, 'sandbox/list', 'sandboxes')]);
			case 'sandboxes':
				return next(state, message.outcome.ok ? removals(message.outcome.value, context) : [removeSurplusLater(context)]);
			case 'surplusRemoved':
				return next(state, message.outcome.ok ? [] : [removeSurplusLater(context)]);
			case 'readLog':
				return read(state, message.replyTo, key => perform({type: 'logs.read', request: message.request}, key, 'logRead'));
			case 'logRead':
				return answered(state, 'reading', message);
			case 'execOpen':
			case 'forwardOpen':
			case 'imageOpen':
			case 'imageList':
			case 'wayCheck':
			case 'execWrite':
			case 'execRead':
			case 'execResize':
			case 'execClose':
			case 'stdinWrite':
				return askedBySession(state, message);
			case 'sessionAnswered':
				return answered(state, 'sessions', message);
			case 'retryContainer':
				return next(state, retried(message, context));
		}
	},
	describe: ({reading, sessions}) =>
		[reading.size === 0 ? [] : `${reading.size} readers`, sessions.size === 0 ? [] : `${sessions.size} questions of sessions`]
			.flat()
			.join(', '),
};

/** The next hello may be long in coming, and no other actor looks for what is surplus. */
const removeSurplusLater = ({nowMs}: Context): Effect => ({
	type: 'wakeAt',
	name: 'surplus',
	atMs: nowMs + limits.helloMaxMs,
	message: {type: 'synced'},
});

function removals(present: readonly string[], {known}: Context): Effect[] {
	const assigned = new Set([...known.list(assignments)].map(({metadata}) => metadata.uid));
	return present
		.filter(uid => !assigned.has(uid))
		.map(uid => perform({type: 'sandbox.remove', uid}, `${uid}/sandbox/remove`, 'surplusRemoved'));
}

function read(state: RuntimeState, replyTo: ReplyTo | undefined, effectOf: (key: string) => Effect): Next<RuntimeState> {
	if (replyTo === undefined) return next(state);
	if (state.reading.size >= limits.logReaders) {
		return next(state, reply(replyTo, failed('ERR_BUSY', {address: runtimePath, waiting: state.reading.size})));
	}
	const key = `read/${state.reads}`;
	return next({...state, reads: state.reads + 1, reading: new Map(state.reading).set(key, replyTo)}, [effectOf(key)]);
}

/** The client that asked hears the outcome. */
function answered(state: RuntimeState, sort: 'reading' | 'sessions', {id, outcome}: Reply<unknown>): Next<RuntimeState> {
	const waiting = new Map(state[sort]);
	const replyTo = waiting.get(id);
	waiting.delete(id);
	return next({...state, [sort]: waiting}, reply(replyTo, outcome));
}

// ---- sessions --------------------------------------------------------------------------------------------------------------

/** Refused when too many are under way; never the end of one, which makes room. */
function askedBySession(state: RuntimeState, {replyTo, ...ask}: WithReplyTo<SessionAsk>): Next<RuntimeState> {
	if (replyTo === undefined) return next(state);
	const {sessions, reads} = state;
	if (sessions.size >= roomFor(ask)) return next(state, reply(replyTo, failed('ERR_BUSY', {address: runtimePath, waiting: sessions.size})));
	const key = `session/${reads}`;
	const {command, deadlineMs} = commandOf(ask);
	return next({...state, reads: reads + 1, sessions: new Map(sessions).set(key, replyTo)}, [
		perform(command, key, 'sessionAnswered', deadlineMs),
	]);
}

function roomFor({type}: SessionAsk): number {
	switch (type) {
		case 'execOpen':
		case 'forwardOpen':
		case 'imageOpen':
		case 'imageList':
		case 'wayCheck':
			return limits.execAsksToOpen;
		case 'execClose':
			return Number.POSITIVE_INFINITY;
		case 'execWrite':
		case 'execRead':
		case 'execResize':
		case 'stdinWrite':
			return limits.execAsks;
	}
}

function commandOf(ask: SessionAsk): {readonly command: RuntimeCommand | WayCheckCommand; readonly deadlineMs?: number} {
	switch (ask.type) {
		case 'execOpen':
			return {command: {...ask, type: 'exec.open'}};
		case 'forwardOpen':
			return {command: {...ask, type: 'forward.open'}};
		case 'imageOpen':
			return {command: {...ask, type: 'image.open'}};
		case 'imageList':
			return {command: {type: 'image.list'}};
		case 'wayCheck':
			return {command: {...ask, type: 'way.check'}};
		case 'execWrite':
			return {command: {...ask, type: 'exec.write'}, deadlineMs: limits.execInputStallMs};
		case 'execRead':
			return {command: {...ask, type: 'exec.read'}};
		case 'execResize':
			return {command: {...ask, type: 'exec.resize'}};
		case 'execClose':
			return {command: {...ask, type: 'exec.close'}};
		case 'stdinWrite':
			return {command: {...ask, type: 'stdin.write'}, deadlineMs: limits.execInputStallMs};
	}
}

// ---- waiting no longer -----------------------------------------------------------------------------------------------------

/** The hand of a pod that is assigned answers; of any other there is none. */
function retried({namespace, name, uid, container, replyTo}: WithReplyTo<RetryContainer>, {known, self}: Context): readonly Effect[] {
	const isHere = [...known.list(assignments)].some(({metadata}) => metadata.uid === uid);
	if (!isHere) return reply(replyTo, failed('ERR_NOT_FOUND', {resource: 'pods', name}));
	const message: RetryNow = {type: 'retryNow', container, replyTo};
	return [tell(besides(self, `${podsPath}/${handName({namespace, name})}`), message)];
}
