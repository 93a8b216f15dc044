// What a system answers an inspector, looked at before control relies on it: an answer that is none becomes a failure that names the system.
// The process of a user's own system may say anything, so all of its answer is looked at, and what it tells of actors must be of its own; of the
// cluster's own systems only what control itself goes by.

import {errorTable, failed, type Outcome} from '../../api/errors.js';
import type {ActorState, DeadLetterLook, Fault, LinksLook, StreamEnd, SuperviseLook, SystemRequest, TraceEntry} from '../../api/inspect.js';
import {parseAddress} from '../../api/keys.js';
import {isObject, type Json} from '../../api/object.js';
import {parseUserSystem} from '../../api/user-system.js';

/** The answer as it is, or a failure where it is none to that request. */
export function soundAnswer(system: string, {verb}: SystemRequest, outcome: Outcome<Json>): Outcome<Json> {
	if (!isObject(outcome)) return noAnswer(system, verb);
	const {ok, value, error} = outcome as {readonly [member: string]: Json | undefined};
	if (ok === false) return isFailure(error) ? outcome : noAnswer(system, verb);
	const shape = parseUserSystem(system) === undefined ? (relied[verb] ?? anything) : answers[verb];
	return ok === true && shape(value, system) ? outcome : noAnswer(system, verb);
}

const noAnswer = (system: string, verb: string): Outcome<never> =>
	failed('ERR_INTERNAL', {message: `"${system}" answered what is no answer to "${verb}"`});

const isFailure = (error: Json | undefined): boolean =>
	isObject(error) &&
	typeof error['code'] === 'string' &&
	Object.hasOwn(errorTable, error['code']) &&
	typeof error['message'] === 'string' &&
	isObject(error['details']);

/** Whether a value is what it should be, said by that system. */
type Shape = (value: Json | undefined, system: string) => boolean;

const text: Shape = value => typeof value === 'string';
const number: Shape = value => typeof value === 'number';
const flag: Shape = value => typeof value === 'boolean';
/** One of the words of a closed list, each of which is named. */
const oneOf =
	<Word extends string>(words: {readonly [word in Word]: true}): Shape =>
	value =>
		typeof value === 'string' && Object.hasOwn(words, value);
const anything: Shape = value => value !== undefined;
const optional =
	(shape: Shape): Shape =>
	(value, system) =>
		value === undefined || shape(value, system);
const list =
	(shape: Shape): Shape =>
	(value, system) =>
		Array.isArray(value) && (value as readonly Json[]).every(each => shape(each, system));
const members =
	(shape: Shape): Shape =>
	(value, system) =>
		isObject(value) && Object.values(value).every(each => shape(each, system));
const object =
	(shapes: {readonly [member: string]: Shape}): Shape =>
	(value, system) =>
		isObject(value) && Object.entries(shapes).every(([member, shape]) => shape(value[member], system));

/** An address of the system that speaks. */
const own: Shape = (value, system) => typeof value === 'string' && parseAddress(value)?.system === system;

const look = {
	name: text,
	address: own,
	behavior: text,
	state: oneOf<ActorState>({running: true, committing: true, restarting: true, parked: true, paused: true, stopping: true}),
	about: text,
	trouble: optional(text),
	restarts: number,
	waiting: number,
	handled: number,
	stepMs: number,
	failure: optional(text),
	failedAgoMs: optional(number),
	pausedForMs: optional(number),
	faults: optional(list(text)),
	childCount: number,
	wrongBelow: optional(number),
};

const tree: Shape = (value, system) => object({...look, children: list(tree)})(value, system);

/** Of a message its type is shown, whatever else it holds. */
const message = object({type: text});

const counts = object({watchers: number, watching: number, asks: number, timers: number, pending: number});

const links = object({
	counts,
	parent: optional(text),
	childCount: number,
	watchers: list(text),
	watching: list(text),
	asks: list(object({as: text, id: text, to: text, cause: text})),
	timers: list(object({name: text, inMs: number})),
	pending: list(
		object({id: text, type: oneOf<LinksLook['pending'][number]['type']>({create: true, update: true, delete: true}), what: text}),
	),
});

const supervise = object({
	restart: oneOf<SuperviseLook['restart']>({permanent: true, transient: true, temporary: true}),
	strategy: oneOf<SuperviseLook['strategy']>({oneForOne: true, oneForAll: true, restForOne: true}),
	pastIntensity: oneOf<SuperviseLook['pastIntensity']>({escalate: true, backOff: true, park: true}),
	intensity: number,
	periodMs: number,
	left: number,
	restarts: number,
	lastCrash: optional(object({message: text, agoMs: number})),
	parked: optional(object({error: text, retries: number})),
	supervisor: optional(text),
	shutdown: (value, system) => number(value, system) || value === 'brutalKill' || value === 'infinity',
});

const step = object({
	span: text,
	parent: optional(text),
	atMs: number,
	address: own,
	behavior: text,
	from: text,
	message,
	cause: text,
	waitedMs: number,
	tookMs: number,
	outcome: oneOf<TraceEntry['outcome']>({
		done: true,
		committed: true,
		notCommitted: true,
		notUnderstood: true,
		crashed: true,
		deadLetter: true,
	}),
	error: optional(text),
	effects: list(text),
});

const state = object({atMs: number, message: text, from: text, cause: text, state: anything});

const ended = optional(oneOf<StreamEnd>({time: true, count: true, closed: true, unread: true, gone: true}));

const entry: Shape = (value, system) => isObject(value) && (value['type'] === 'step' ? step : state)(value, system);

const letterReason = oneOf<DeadLetterLook['why']>({
	noActor: true,
	stopped: true,
	busy: true,
	crashed: true,
	notUnderstood: true,
	dropped: true,
});

const fault = object({
	type: oneOf<Fault['type']>({crash: true, slow: true, drop: true, partition: true, pause: true}),
	ms: optional(number),
	share: optional(number),
});

const opened = object({stream: text});
const done = object({done: text});

/** What control itself goes by. */
const relied: {readonly [verb: string]: Shape | undefined} = {
	watch: opened,
	trace: opened,
	read: object({entries: list(isObject), dropped: number, ended}),
};

const answers: {readonly [verb in SystemRequest['verb']]: Shape} = {
	tree,
	state: object({address: own, behavior: text, atMs: number, state: anything}),
	mailbox: object({waiting: number, signals: list(text), messages: list(object({message, from: text, cause: text}))}),
	links,
	supervise,
	journal: object({entries: list(object({version: number, atMs: number, type: text, from: text, cause: text}))}),
	top: object({actors: list(object({...look, value: number})), counted: number}),
	stats: object({
		system: (value, system) => value === system,
		actors: number,
		upMs: number,
		counters: members(number),
		memoryBytes: number,
		cpuMs: number,
		loopBusy: number,
	}),
	deadletters: object({
		letters: list(object({atMs: number, to: text, from: text, type: text, cause: text, why: letterReason})),
		total: number,
	}),
	faults: object({
		areAllowed: flag,
		faults: list(object({address: own, fault, leftMs: number, text, by: optional(text)})),
	}),
	watch: opened,
	trace: opened,
	read: object({entries: list(entry), dropped: number, ended}),
	close: anything,
	tell: done,
	ask: done,
	pause: done,
	step: done,
	resume: done,
	kill: done,
	restart: done,
	fault: done,
	heal: done,
};
