// A durable system of a few kinds of actors over a store that the test holds in its hand: commits wait, fail or pass.

import {succeeded, type Outcome} from '../../../api/errors.js';
import {address, parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import type {ApiObject, JsonObject} from '../../../api/object.js';
import {
	next,
	replySelf,
	reply,
	stop,
	tell,
	type AnyBehavior,
	type Behavior,
	type Context,
	type Effect,
	type Message,
	type Next,
	type ReplyTo,
} from '../../../system/kernel/behavior.js';
import {openDurableSystem, type DurableSystem, type SystemDesign} from '../../../system/commit/durable-system.js';
import type {ObjectEvent} from '../../../system/commit/event-log.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {createMemoryStore, emptyMemoryStore, type MemoryStoreData} from '../../../system/store/memory-store.js';
import type {Change} from '../../../system/index/object-index.js';
import type {Perform} from '../../../system/kernel/performs.js';
import {seededRandom} from '../../../system/time/random.js';
import type {CommitOutcome} from '../../../system/store/store.js';
import {createFifo, observing, passing, type FifoExecutor, type Seen} from '../kernel/actor-world.js';
import {puppet} from '../kernel/puppet.js';

export const recordKey = (name: string): ObjectKey => `pods/default/${name}`;

type RecordState = {readonly object: ApiObject | undefined; readonly seen: readonly string[]};

type RecordMessage = Message & {
	readonly spec?: JsonObject;
	readonly status?: JsonObject;
	readonly text?: string;
	readonly effects?: readonly Effect[];
	readonly outcome?: Outcome<unknown>;
	readonly id?: string;
};

export type RecordInput = {
	readonly name: string;
	readonly spec?: JsonObject;
	readonly replyTo?: ReplyTo | undefined;
	readonly throws?: string;
};

const conditionOf = (object: ApiObject): unknown => (object.status as JsonObject | undefined)?.['failed'];

/** A record in small: writes its object, reconciles on a wake, and throws there while its spec says `broken`. */
export const record: Behavior<RecordInput, RecordState, RecordMessage> = {
	kind: 'Record',
	init({name, spec = {}, replyTo, throws}, {random}) {
		if (throws !== undefined) throw new Error(throws);
		const metadata = {name, namespace: 'default', uid: random.uuid(), resourceVersion: '', generation: 1, creationTimestamp: ''};
		return next({object: {apiVersion: 'v1', kind: 'Pod', metadata, spec}, seen: []}, replySelf(replyTo));
	},
	resume: (state, context) => reconcile({...state, seen: ['resumed']}, context),
	receive(state, message, context) {
		const {object, seen} = state;
		if (object === undefined) throw new Error('a record without its object');
		switch (message.type) {
			case 'write': {
				const metadata = {...object.metadata, generation: object.metadata.generation + 1};
				return next({...state, object: {...object, metadata, spec: message.spec}}, [
					...(message.effects ?? []),
					...replySelf(message.replyTo),
				]);
			}
			case 'writeStatus':
				return next({...state, object: {...object, status: message.status}}, [...(message.effects ?? []), ...replySelf(message.replyTo)]);
			case 'get':
				return next(state, reply(message.replyTo, succeeded(object)));
			case 'getSeen':
				return next(state, reply(message.replyTo, succeeded([...seen, `pending ${context.pending.size}`])));
			case 'remove':
				return next({...state, object: undefined}, [...(message.effects ?? []), ...replySelf(message.replyTo)]);
			case 'boom':
				throw new Error('boom');
			case 'act':
				return next(state, message.effects ?? []);
			case 'wake':
				return reconcile(state, context);
			default:
				return next({...state, seen: [...seen, textOf(message)]}, reply(message.replyTo, succeeded(null)));
		}
	},
	signal: (state, signal) => next({...state, seen: [...state.seen, `signal ${signal.type}`]}),
	coalesce: ({type}) => (type === 'wake' ? type : undefined),
	persistence: {
		key: ({object}) => recordKey(object?.metadata.name ?? ''),
		objectOf: ({object}) => object,
		withObject: (state, object) => ({...state, object}),
		restore: object => ({object, seen: []}),
	},
	parking: {
		rests: ({type}) => type === 'wake',
		park({object, seen}, {message}) {
			const status = object?.status as JsonObject | undefined;
			const said = object === undefined || status?.['failed'] === message;
			return next({object: said ? object : {...object, status: {...status, failed: message}}, seen}, [
				{type: 'event', event: 'Warning', reason: 'ActorFailed', message},
			]);
		},
		unpark(state, context) {
			const {object} = state;
			if (object === undefined || conditionOf(object) === undefined) return reconcile(state, context);
			const {failed: _failed, ...status} = object.status as JsonObject;
			return reconcile({...state, object: {...object, status}}, context);
		},
	},
};

function reconcile(state: RecordState, _context: Context): Next<RecordState> {
	const {object} = state;
	const spec = object?.spec as JsonObject | undefined;
	if (spec?.['broken'] === true) throw new Error('a bug in this kind');
	return next({...state, seen: [...state.seen, 'reconciled']});
}

const textOf = ({type, text, outcome}: RecordMessage): string =>
	outcome === undefined ? `${type}${text === undefined ? '' : ` ${text}`}` : `${type} ${outcome.ok ? 'ok' : outcome.error.code}`;

/** Starts records, and those that are in the index at the start. */
export const recordsRoot: Behavior<
	null,
	null,
	Message & {readonly input?: RecordInput; readonly effects?: readonly Effect[]; readonly object?: ApiObject}
> = {
	kind: 'Records',
	init: (_input, {known}) =>
		next(
			null,
			[...known.list('pods')].map(({metadata: {name}}): Effect => ({type: 'spawn', name, behavior: 'record', snapshot: recordKey(name)})),
		),
	receive(state, message) {
		const {type, input, object} = message;
		if (type === 'act') return next(state, message.effects ?? []);
		if (type === 'stopMe') return stop(state);
		if (input !== undefined)
			return next(state, [{type: 'spawn', name: input.name, behavior: 'record', input: {...input, replyTo: message.replyTo}}]);
		const name = object?.metadata.name ?? '';
		return next(state, [{type: 'spawn', name, behavior: 'record', input: {name, replyTo: message.replyTo}}]);
	},
	signal: (state, signal) =>
		next(state, signal.type === 'down' ? [tell('troupe://elsewhere/downs', {type: `down ${signal.address} ${signal.reason.type}`})] : []),
};

const pods = (path: string): string => address('control', path);
export const recordAt = (name: string): string => pods(`${name}`);

export type RecordWorld = Seen & {
	readonly durable: DurableSystem;
	readonly clock: ManualClock;
	readonly executor: FifoExecutor;
	readonly data: MemoryStoreData;
	readonly changes: Change[];
	readonly events: (readonly [ObjectKey, ObjectEvent])[];
	/** What was sent to other systems. */
	readonly far: string[];
	readonly fenced: string[];
	/** Batches that the store was handed. */
	readonly batches: () => number;
	readonly run: () => void;
	readonly pass: (ms: number) => void;
	/** Asks a record and does not wait. */
	readonly ask: (name: string, message: RecordMessage) => Outcome<unknown>[];
	/** Asks a record and lets everything run. */
	readonly answer: (name: string, message: RecordMessage) => Outcome<unknown> | undefined;
	readonly create: (input: RecordInput) => Outcome<unknown>[];
	readonly tellRoot: (message: Message & {readonly effects?: readonly Effect[]}) => void;
	/** Batches wait at the store until `release`. */
	readonly hold: () => void;
	readonly release: () => void;
	/** So many batches from now on are refused by the store. */
	readonly refuse: (batches: number) => void;
	readonly kill: () => void;
	readonly stop: () => number;
};

export const wakeSelf: SystemDesign['wakesOf'] = ({key, before, after}) =>
	after !== undefined && before?.object.spec !== after.object.spec
		? [{to: recordAt(parseObjectKey(key).name), message: {type: 'wake'}}]
		: [];

export type RecordWorldOptions = {
	readonly data?: MemoryStoreData;
	readonly clock?: ManualClock;
	readonly design?: Partial<SystemDesign>;
	readonly behaviors?: {readonly [name: string]: AnyBehavior};
	readonly begin?: boolean;
	readonly mayAct?: () => boolean;
	readonly perform?: Perform;
};

/** A control system of records; killed and started again over the same data by a second call. */
export function recordWorld({
	data = emptyMemoryStore(),
	clock = new ManualClock(),
	design,
	behaviors,
	begin = true,
	mayAct,
	perform,
}: RecordWorldOptions = {}): RecordWorld {
	const executor = createFifo();
	const store = createMemoryStore(executor.defer, data);
	const far: string[] = [];
	const changes: Change[] = [];
	const events: [ObjectKey, ObjectEvent][] = [];
	const fenced: string[] = [];
	const held: (() => void)[] = [];
	let holding = false;
	let refusals = 0;
	let batches = 0;
	const {observer, onEscalation, ...seen} = observing();
	let opened: Outcome<DurableSystem> | undefined;
	openDurableSystem(
		{
			name: 'control',
			design: {
				behaviors: {records: recordsRoot, record, puppet: puppet(() => undefined), ...behaviors},
				root: 'records',
				termsOf: () => [],
				wakesOf: wakeSelf,
				schemaVersionOf: plural => (plural === 'pods' ? 1 : undefined),
				upgrade: (_plural, _from, object) => object,
				collectionOf: () => pods(''),
				recordOf: key => recordAt(parseObjectKey(key).name),
				watched: true,
				resync: false,
				...design,
			},
			inputOf: () => null,
			driver: {
				...store,
				commit(batch, done) {
					if (batch.writes.length === 0) return store.commit(batch, done);
					batches++;
					const refused: CommitOutcome = {type: 'failed', message: 'the disk is full'};
					const commit = (): void => (refusals-- > 0 ? executor.defer(() => done(refused)) : store.commit(batch, done));
					if (holding) held.push(commit);
					else commit();
				},
			},
			executor,
			clock,
			random: seededRandom(7),
			remote: (_system, _to, {message}) => void far.push(message.type),
			...(mayAct === undefined ? {} : {mayAct}),
			...(perform === undefined ? {} : {perform}),
			...(observer === undefined ? {} : {observer}),
			...(onEscalation === undefined ? {} : {onEscalation}),
			onFenced: message => void fenced.push(message),
			onChange: change => void changes.push(change),
			onEvent: (key, event) => void events.push([key, event]),
		},
		outcome => (opened = outcome),
	);
	executor.run();
	if (opened === undefined || !opened.ok) throw new Error(`it did not open: ${JSON.stringify(opened)}`);
	const durable = opened.value;
	if (begin) durable.begin();
	executor.run();
	const askAt = (to: string, message: Message): Outcome<unknown>[] => {
		const outcomes: Outcome<unknown>[] = [];
		durable.system.ask(to, message, {deadlineMs: 60_000, cause: 'test'}, outcome => outcomes.push(outcome));
		return outcomes;
	};
	return {
		...seen,
		durable,
		clock,
		executor,
		data,
		changes,
		events,
		far,
		fenced,
		batches: () => batches,
		run: executor.run,
		pass: passing(clock, executor),
		ask: (name, message) => askAt(recordAt(name), message),
		answer(name, message) {
			const outcomes = askAt(recordAt(name), message);
			executor.run();
			return outcomes[0];
		},
		create(input) {
			const outcomes = askAt(pods(''), {type: 'create', input} as Message);
			executor.run();
			return outcomes;
		},
		tellRoot(message) {
			durable.system.tell(pods(''), message, 'test');
			executor.run();
		},
		hold: () => void (holding = true),
		release() {
			holding = false;
			for (const commit of held.splice(0)) commit();
			executor.run();
		},
		refuse: count => void (refusals = count),
		kill: durable.kill,
		stop() {
			let stopped = 0;
			durable.stop(() => stopped++);
			executor.run();
			return stopped;
		},
	};
}

export const objectOf = (outcome: Outcome<unknown> | undefined): ApiObject => {
	if (outcome?.ok !== true) throw new Error(`no object: ${JSON.stringify(outcome)}`);
	return outcome.value as ApiObject;
};
