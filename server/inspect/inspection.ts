// What is asked of the actors of the cluster, whichever door it comes by: read, judged by rights and rates, put to the systems it concerns, and
// written to the audit log where it changes anything.

import {kindByPlural} from '../../api/catalogue.js';
import {failed, failure, succeeded, type Failure, type Outcome} from '../../api/errors.js';
import {
	isChange,
	isStream,
	parsePlace,
	type FaultLook,
	type InspectAnswer,
	type InspectRequest,
	type JournalLook,
	type StreamPortion,
	type StreamRequest,
	type SystemsLook,
	type ToolRequest,
} from '../../api/inspect.js';
import {controlSystem, objectKey, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import {mayInspect, type Identity} from '../../api/roles.js';
import {shown} from '../../api/shown.js';
import {didYouMean} from '../../api/suggest.js';
import type {Clock} from '../../system/time/clock.js';
import type {ControlPlane} from '../control-plane.js';
import {createAudit, type Audit, type AuditLog, type Door} from './audit.js';
import {askAll} from './fan-out.js';
import {createGuests, type Guests, type Stay} from './guests.js';
import {parseRequest} from './request-shape.js';
import {openStream, type Stream} from './streams.js';
import {systemsOf, type Behalf, type Systems} from './systems.js';

export type InspectionOptions = {
	readonly control: Pick<ControlPlane, 'ask' | 'systems' | 'journalOf'>;
	readonly clock: Clock;
	readonly auditLog: AuditLog;
};

export type Asker = {readonly identity: Identity; readonly door: Door};

/** `bytes`: of the JSON of what several systems told, which was measured already. */
export type Answer = (answer: InspectAnswer, bytes?: number) => void;

/** A question under way. */
export type Call = {
	/** Of a stream: it is still wanted. Without it it ends after `limits.inspectUnreadMs`. */
	readonly renew: () => void;
	/** Nothing more is wanted. What is asked of an actor is done all the same. */
	readonly close: () => void;
};

export type Inspection = {
	/**
	 * Answers what a tool asks, the last time with `end`; not before this returns. `read` is what came, as far as it could be read. Undefined: it is
	 * refused; of a login that asks far too much over MQTT, some requests that are have no answer.
	 */
	readonly ask: (asker: Asker, read: Outcome<unknown>, answer: Answer) => Call | undefined;
	/** The fault that cuts a system off, as it was passed on here; undefined: none is known. */
	readonly partitionOf: (system: string) => FaultLook | undefined;
	/** The login is not good any more: its streams end. */
	readonly endOf: (login: string) => void;
	/** This server answers no more: who waits for an answer, or has a stream, is told so. */
	readonly close: () => void;
};

type State = {
	readonly options: InspectionOptions;
	readonly systems: Systems;
	readonly guests: Guests;
	readonly audit: Audit;
	/** Ends each question under way that is no stream. */
	readonly asked: Set<() => void>;
	/** Streams that are on, and whose. */
	readonly streams: Map<Stream, StreamOf>;
	/** How many traces there were, for their names. */
	traces: number;
};

type StreamOf = {readonly verb: StreamRequest['verb']; readonly login: string; readonly isAdmins: boolean};

const nothingToClose: Call = {renew: () => undefined, close: () => undefined};

/** The names of traces hold the time, so that they are no others' when another server leads. */
const traceName = (state: State): string => `${state.options.clock.nowMs().toString(36)}.${(state.traces += 1)}`;

export function createInspection(options: InspectionOptions): Inspection {
	const {control, clock, auditLog} = options;
	const state: State = {
		options,
		systems: systemsOf(control, clock),
		guests: createGuests(clock),
		audit: createAudit(clock, auditLog),
		asked: new Set(),
		streams: new Map(),
		traces: 0,
	};
	return {
		ask: (asker, read, answer) => ask(state, asker, read, answer),
		partitionOf: state.systems.partitionOf,
		endOf(login) {
			for (const [stream, of] of [...state.streams]) if (of.login === login) stream.end('closed');
		},
		close() {
			for (const stream of [...state.streams.keys()]) stream.fail(failure('ERR_NOT_REACHABLE', {message: endsHere}));
			for (const end of [...state.asked]) end();
			state.audit.close();
		},
	};
}

function ask(state: State, asker: Asker, read: Outcome<unknown>, answer: Answer): Call | undefined {
	const request = read.ok ? read.value : undefined;
	const entered = state.guests.enter(asker.identity.name);
	if (!entered.ok) return refuse(state, asker, request, entered.error, entered.isTold || asker.door === 'http' ? answer : undefined);
	const parsed = read.ok ? admitted(state, asker, request) : read;
	if (parsed.ok) return put(state, asker, parsed.value, entered.value, answer);
	entered.value.leave();
	return refuse(state, asker, request, parsed.error, answer);
}

function refuse({audit}: State, asker: Asker, request: unknown, error: Failure, answer: Answer | undefined): undefined {
	audit.refused({...asker, request}, error.code);
	if (answer !== undefined) queueMicrotask(() => answer({ok: false, error, end: true}));
}

/** The request, if it is one, the login may ask it, and there is such a system. */
function admitted({systems}: State, {identity}: Asker, value: unknown): Outcome<ToolRequest> {
	const parsed = parseRequest(value);
	if (!parsed.ok) return parsed;
	const {verb} = parsed.value;
	if (!mayInspect(identity, verb)) return failed('ERR_FORBIDDEN', {message: forbidden(identity, verb)});
	const system = systemOf(parsed.value);
	if (system === undefined) return parsed;
	const names = systems.names();
	if (names.includes(system)) return parsed;
	const message = `there is no system ${shown(system)}${didYouMean(system, names)}; {"verb": "systems"} lists them`;
	return failed('ERR_BAD_REQUEST', {message});
}

const forbidden = ({name, role}: Identity, verb: string): string =>
	isChange(verb)
		? `User "${name}" cannot ${verb} actors: that needs the role admin, and it has ${role}`
		: `User "${name}" cannot look at actors: its role is ${role}`;

/** The one system that is asked; undefined: several. */
const systemOf = (request: ToolRequest): string | undefined =>
	'place' in request && request.place !== '' ? parsePlace(request.place)?.system : undefined;

function put(state: State, asker: Asker, request: ToolRequest, stay: Stay, answer: Answer): Call {
	if (isStreamRequest(request)) return follow(state, asker, request, stay, answer);
	const unanswered = (): void => last(lostHere(request));
	const last = (outcome: Outcome<Json>, bytes?: number): void => {
		if (!state.asked.delete(unanswered)) return;
		stay.leave();
		state.audit.ended({...asker, request}, outcome.ok ? 'done' : outcome.error.code);
		answer(outcome.ok ? {ok: true, value: outcome.value, end: true} : {ok: false, error: outcome.error, end: true}, bytes);
	};
	state.asked.add(unanswered);
	const behalf = behalfOf(asker, request);
	const system = systemOf(request);
	if (request.verb === 'systems' || system === undefined) {
		void everywhere(state, request, behalf, (value, end, bytes) => {
			if (end) last(succeeded(value), bytes);
			else if (state.asked.has(unanswered)) answer({ok: true, value, end}, bytes);
		});
	} else {
		const asked = request.verb === 'fault' ? {...request, by: asker.identity.name} : request;
		void one(state, system, asked, behalf).then(last);
	}
	return nothingToClose;
}

const isStreamRequest = (request: ToolRequest): request is StreamRequest => isStream(request.verb);

const behalfOf = ({identity: {name, role}, door}: Asker, request: ToolRequest): Behalf => ({
	cause: `${door} ${name} ${request.verb}${'place' in request && request.place !== '' ? ` ${request.place}` : ''}`,
	isAdmins: role === 'admin',
});

// ---- looks and changes -----------------------------------------------------------------------------------------------------

async function one(state: State, system: string, request: InspectRequest, behalf: Behalf): Promise<Outcome<Json>> {
	const entries = request.verb === 'journal' ? journal(state, request.place) : [];
	if (entries.length > 0) return succeeded({entries});
	const waitMs = request.verb === 'ask' ? (request.deadlineMs ?? limits.askDeadlineMs) : 0;
	return state.systems.ask(system, request, behalf, waitMs + limits.inspectSystemMs);
}

/** Of a record of control; other actors write no objects of control's store. */
function journal({options: {control}}: State, place: string): readonly JournalLook[] {
	const {system = '', path = ''} = parsePlace(place) ?? {};
	const key = system === controlSystem ? keyOf(path) : undefined;
	if (key === undefined) return [];
	return control.journalOf(key).map(({version, atMs, type, from, cause}) => ({version, atMs, type, from, cause}));
}

/** The key of a record's object, from the record's path. */
function keyOf(path: string): ObjectKey | undefined {
	const [plural = '', rest = '', ...more] = path.split('/');
	const kind = kindByPlural(plural);
	if (kind === undefined || rest === '' || more.length > 0) return undefined;
	if (!kind.namespaced) return objectKey(plural, undefined, rest);
	const dot = rest.indexOf('.');
	return dot < 0 ? undefined : objectKey(plural, rest.slice(0, dot), rest.slice(dot + 1));
}

/** Asks every system. For `systems` whether it answers is enough. */
async function everywhere(
	state: State,
	request: ToolRequest,
	behalf: Behalf,
	onPart: (part: Json, isLast: boolean, bytes?: number) => void,
): Promise<void> {
	const {systems, options} = state;
	const names = systems.names();
	const common = {systems, clock: options.clock, names, behalf};
	if (request.verb !== 'systems') return askAll({...common, requestOf: system => ({...request, place: system}) as InspectRequest}, onPart);
	const problems = new Map<string, string>();
	await askAll({...common, requestOf: system => ({verb: 'tree', place: system, depth: 0})}, part => {
		for (const each of part.systems) if ('problem' in each) problems.set(each.system, each.problem);
	});
	const look: SystemsLook = {systems: names.map(name => (problems.has(name) ? {name, problem: problems.get(name)} : {name}))};
	onPart(look, true);
}

// ---- streams ---------------------------------------------------------------------------------------------------------------

function follow(state: State, {identity, door}: Asker, request: StreamRequest, stay: Stay, answer: Answer): Call {
	const {systems, options, streams} = state;
	const of: StreamOf = {verb: request.verb, login: identity.name, isAdmins: identity.role === 'admin'};
	const message = crowded(state, of) ?? (stay.asStream() ? undefined : hasAlready(of, limits.inspectStreams, 'streams'));
	if (message !== undefined) {
		stay.leave();
		queueMicrotask(() => answer({ok: false, error: failure('ERR_BUSY', {message}), end: true}));
		return nothingToClose;
	}
	const over = (): void => {
		lease.end();
		stay.leave();
		streams.delete(stream);
	};
	const stream = openStream({
		systems,
		clock: options.clock,
		names: request.verb === 'watch' ? () => [parsePlace(request.place)?.system ?? ''] : systems.names,
		request: request.verb === 'trace' ? {...request, trace: traceName(state)} : request,
		behalf: behalfOf({identity, door}, request),
		onPortion(portion: StreamPortion) {
			const end = portion.ended !== undefined;
			if (end) over();
			answer({ok: true, value: portion, end});
		},
		onFailed(error) {
			over();
			answer({ok: false, error, end: true});
		},
	});
	const lease = leaseOf(options.clock, () => stream.end('unread'));
	streams.set(stream, of);
	return {renew: lease.renew, close: () => stream.end('closed')};
}

/** Not answered, and never will be. */
const lostHere = (request: ToolRequest): Outcome<never> =>
	isChange(request.verb)
		? failed('ERR_OUTCOME_UNKNOWN', {address: 'place' in request ? request.place : ''})
		: failed('ERR_NOT_REACHABLE', {message: endsHere});

const endsHere = 'this server ends, or does not lead any more';

const hasAlready = ({login}: StreamOf, most: number, what: string): string =>
	`User "${login}" has ${most} ${what} already; it must close one first`;

/** Why there is no room for one more. Each system has room for so many in all, of which others than admins get a part. */
function crowded({streams}: State, of: StreamOf): string | undefined {
	const present = [...streams.values()];
	const isTrace = ({verb}: StreamOf): boolean => verb === 'trace';
	if (isTrace(of) && present.filter(each => isTrace(each) && each.login === of.login).length >= limits.inspectTraces)
		return hasAlready(of, limits.inspectTraces, 'traces');
	if (of.isAdmins) return undefined;
	const others = present.filter(({isAdmins}) => !isAdmins);
	if (isTrace(of) && others.filter(isTrace).length >= limits.inspectOthersTraces)
		return `there are ${limits.inspectOthersTraces} traces on of logins that are no admin's; wait until one ends`;
	if (others.length >= limits.inspectOthersStreams)
		return `there are ${limits.inspectOthersStreams} streams on of logins that are no admin's; wait until one ends`;
	return undefined;
}

/** Calls back when it was not renewed in time. */
function leaseOf(clock: Pick<Clock, 'after'>, onOver: () => void): {readonly renew: () => void; readonly end: () => void} {
	let cancel = clock.after(limits.inspectUnreadMs, onOver);
	let isOver = false;
	return {
		renew() {
			cancel();
			if (!isOver) cancel = clock.after(limits.inspectUnreadMs, onOver);
		},
		end() {
			isOver = true;
			cancel();
		},
	};
}
