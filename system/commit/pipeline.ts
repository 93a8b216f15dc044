// The commit pipeline: every write of the control system goes through this one queue into the store, and nothing is seen or
// answered before it is durable. What waits is bounded by its writers: an actor whose commit is in flight asks for no other.
//
// An object that is made anew waits until what was beside the one before it has left the store: whatever is there under its name is its own, also after the
// process was killed in between.
//
// Flushes run by `defer`, never inside a submit: actors that are answered by one batch can be in the next (group commit).

import {failure, type Failure, type Outcome} from '../../api/errors.js';
import {address, controlSystem, parseObjectKey, partStoreKey, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Submission} from '../kernel/actor-options.js';
import type {Change} from '../index/object-index.js';
import {Leaving} from './leaving.js';
import {assemble, objectWrite, removedParts, type ObjectWrite, type RawWrite, type VersionedWrite, type Waiting} from './pipeline-batch.js';
import {commitSettled, type Settled} from './settled-commit.js';
import type {Meta} from '../store/store.js';
import {beginEpoch, type EpochOptions} from './epoch.js';
import {WatchRing} from '../index/watch-ring.js';

export type PipelineOptions = EpochOptions & {
	/** Runs a function later, after what is running now; `setImmediate` outside the virtual world. */
	readonly defer: (callback: () => void) => void;
	/** Once per durable batch, in order of version, after index and ring and before the answers. */
	readonly onApplied: (changes: readonly Change[]) => void;
	/** Whether the leader's term still runs: asked before a batch is sent, and before it counts. */
	readonly mayAct?: () => boolean;
	/** The term is over: another leader writes to the store, or it cannot be found out whether a batch was taken. */
	readonly onFenced: (message: string) => void;
	/** Changes kept for watchers; 0 where none ever comes. */
	readonly ringChanges?: number;
};

export type Pipeline = {
	/** Asks for one write of an object. Removing what does not exist, or an unknown kind, is a bug and throws. */
	readonly submit: (submission: Submission) => void;
	/**
	 * Asks for a record that is no object (events, vault); an undefined body removes it. One that still waits is replaced by a
	 * newer one of its key and gets that one's outcome: the version.
	 */
	readonly put: (storeKey: string, body: (() => string) | undefined, done: (outcome: Outcome<number>) => void) => void;
	/** The fence as it is in the store. */
	readonly meta: Meta;
	readonly epoch: () => number;
	/** Every change since the start. */
	readonly ring: WatchRing;
	/** The records of an object's history are kept elsewhere: they leave the store, in portions. */
	readonly dropHistory: (key: ObjectKey) => void;
	/** Writes without an outcome yet. */
	readonly waiting: () => number;
	/** Why the last batch was not taken; undefined: it was. */
	readonly problem: () => string | undefined;
	/** Finishes what is in flight, fails the rest, then calls back; the driver stays open. */
	readonly stop: (done: () => void) => void;
};

/** Takes the store over (new epoch), loads it into the index and begins to take writes. */
export function startPipeline(options: PipelineOptions, done: (outcome: Outcome<Pipeline>) => void): void {
	beginEpoch(options, outcome => done(outcome.ok ? {ok: true, value: runPipeline(options, outcome.value)} : outcome));
}

type State = {
	readonly options: PipelineOptions;
	readonly ring: WatchRing;
	meta: Meta;
	/** The last version given to a write. */
	lastVersion: number;
	queue: Waiting[];
	inFlight: readonly VersionedWrite[];
	readonly leaving: Leaving;
	leavingInFlight: readonly string[];
	/** A batch is on its way: one of removals alone has no writes in flight. */
	isCommitting: boolean;
	flushScheduled: boolean;
	/** The newest unanswered submission of a key: whether its object will exist. */
	readonly newest: Map<ObjectKey, Submission>;
	/** Raw records that wait and can be replaced. */
	readonly replaceable: Map<string, RawWrite>;
	/** Why the last batch was not taken. */
	problem: string | undefined;
	/** Why no more writes are taken. */
	ended: Failure | undefined;
	readonly whenStopped: (() => void)[];
};

function runPipeline(options: PipelineOptions, meta: Meta): Pipeline {
	const state: State = {
		options,
		ring: new WatchRing(meta.version, options.ringChanges),
		meta,
		lastVersion: meta.version,
		queue: [],
		inFlight: [],
		leaving: new Leaving(),
		leavingInFlight: [],
		isCommitting: false,
		flushScheduled: false,
		newest: new Map(),
		replaceable: new Map(),
		problem: undefined,
		ended: undefined,
		whenStopped: [],
	};
	leaveBehind(state);
	return {
		submit: submission => submit(state, submission),
		put: (storeKey, body, done) => put(state, storeKey, body, done),
		dropHistory: key => leave(state, key, options.index.parts.dropHistory(key)),
		get meta() {
			return state.meta;
		},
		epoch: () => state.meta.epoch,
		ring: state.ring,
		waiting: () => state.queue.length + state.inFlight.length,
		problem: () => state.problem,
		stop(done) {
			state.ended ??= storeFailure('the control plane is stopping');
			state.whenStopped.push(done);
			scheduleFlush(state);
		},
	};
}

/** What is beside objects that there are not: the process ended before it had removed it. */
function leaveBehind(state: State): void {
	const {index} = state.options;
	for (const key of [...index.parts.owners()]) if (index.entry(key) === undefined) leave(state, key, index.parts.drop(key));
}

function leave(state: State, owner: ObjectKey, storeKeys: readonly string[]): void {
	if (storeKeys.length === 0) return;
	state.leaving.add(owner, storeKeys);
	scheduleFlush(state);
}

function submit(state: State, submission: Submission): void {
	const {key, object} = submission;
	if (state.options.schemaVersionOf(parseObjectKey(key).plural) === undefined) throw new Error(`a write of an unknown kind: "${key}"`);
	if (object === undefined && !willExist(state, key)) throw new Error(`a removal of what does not exist: "${key}"`);
	state.newest.set(key, submission);
	state.queue.push(objectWrite(submission));
	scheduleFlush(state);
}

function willExist({newest, options}: State, key: ObjectKey): boolean {
	const unanswered = newest.get(key);
	return unanswered === undefined ? options.index.get(key) !== undefined : unanswered.object !== undefined;
}

function put(state: State, storeKey: string, body: (() => string) | undefined, done: (outcome: Outcome<number>) => void): void {
	const waiting = state.replaceable.get(storeKey);
	if (waiting !== undefined) {
		waiting.body = body;
		waiting.dones.push(done);
		return;
	}
	const write: RawWrite = {type: 'raw', storeKey, body, dones: [done]};
	state.replaceable.set(storeKey, write);
	state.queue.push(write);
	scheduleFlush(state);
}

function scheduleFlush(state: State): void {
	if (state.flushScheduled || state.isCommitting) return;
	state.flushScheduled = true;
	state.options.defer(() => {
		state.flushScheduled = false;
		if (state.ended !== undefined) finish(state, state.ended);
		else flush(state);
	});
}

function flush(state: State): void {
	const {options, meta, lastVersion} = state;
	if (!mayAct(state)) return finish(state, endTerm(state));
	const {ready, held} = heldBack(state);
	const {writes, refused, taken} = assemble(ready, {
		lastVersion,
		schemaVersionOf: options.schemaVersionOf,
		exists: key => options.index.get(key) !== undefined,
		nextInHistory: key => options.index.parts.nextOf(key),
	});
	for (const waiting of ready.slice(0, taken)) if (waiting.type === 'raw') state.replaceable.delete(waiting.storeKey);
	state.queue = [...held, ...ready.slice(taken)];
	state.inFlight = writes;
	const all = writes.flatMap(({write, beside}) => [write, ...beside]);
	state.leavingInFlight = leavingNow(state, limits.batchOperations - all.length, held);
	if (all.length + state.leavingInFlight.length > 0) {
		// One of removals alone is another batch than the one before it, too.
		const next = {...meta, version: lastVersion + Math.max(1, writes.length)};
		state.isCommitting = true;
		const batch = {writes: [...all, ...state.leavingInFlight.map(key => ({key, body: undefined}))], expected: meta, next};
		commitSettled(options.driver, options.clock, batch, settled => settle(state, next, settled));
	}
	for (const {waiting, error} of refused) answerFailed(state, waiting, error);
	if (hasMore(state)) scheduleFlush(state);
}

/** A store in trouble is asked for removals with the next write, and not again and again. */
const hasMore = ({queue, leaving, problem}: State): boolean => queue.length > 0 || (!leaving.isEmpty && problem === undefined);

/** What can be written now; and what is of objects that there are not, of whose names something has to go before: all others overtake it. */
function heldBack({queue, leaving, options: {index}}: State): {readonly ready: readonly Waiting[]; readonly held: readonly ObjectWrite[]} {
	if (leaving.isEmpty) return {ready: queue, held: []};
	const ready: Waiting[] = [];
	const held: ObjectWrite[] = [];
	for (const waiting of queue)
		if (waiting.type === 'object' && leaving.has(waiting.submission.key) && index.entry(waiting.submission.key) === undefined)
			held.push(waiting);
		else ready.push(waiting);
	return {ready, held};
}

/**
 * A portion of what has to go, but for what was written again since: that is a later part of the same object. Where somebody waits for it, that goes first, and
 * as much as there is room for.
 */
function leavingNow({leaving, options: {index}, inFlight}: State, room: number, held: readonly ObjectWrite[]): readonly string[] {
	const written = new Set(inFlight.flatMap(({beside}) => beside.map(({key}) => key)));
	const most = held.length > 0 ? room : Math.min(room, limits.leavingParts);
	// Each once: a part may have gone, come and gone again.
	const portion = new Set(
		leaving.take(
			most,
			held.map(({submission}) => submission.key),
		),
	);
	return [...portion].filter(key => !index.parts.holds(key) && !written.has(key));
}

function settle(state: State, next: Meta, settled: Settled): void {
	const writes = state.inFlight;
	state.isCommitting = false;
	state.inFlight = [];
	const {leavingInFlight} = state;
	state.leavingInFlight = [];
	switch (settled.type) {
		case 'committed':
			if (!mayAct(state)) {
				// It is in the store, and the next leader will find it; this one tells no actor.
				endTerm(state);
				for (const {waiting} of writes) answerFailed(state, waiting, unknownOutcome);
				break;
			}
			state.problem = undefined;
			state.meta = next;
			state.lastVersion = next.version;
			applyAll(state, writes);
			advance(state, next.version);
			break;
		case 'failed':
			state.problem = settled.message;
			state.meta = settled.meta ?? state.meta;
			state.lastVersion = state.meta.version;
			state.leaving.putBack(leavingInFlight);
			for (const {waiting} of writes) answerFailed(state, waiting, storeFailure(settled.message));
			failHeldBack(state, storeFailure(settled.message));
			break;
		case 'ended':
			state.ended = storeFailure(settled.message);
			state.options.onFenced(settled.message);
			for (const {waiting} of writes) answerFailed(state, waiting, settled.applied === 'no' ? state.ended : unknownOutcome);
			break;
	}
	if (hasMore(state) || state.ended !== undefined) scheduleFlush(state);
}

/** What waits for removals waits for a store that does not take them: it is told so, as other writes are. */
function failHeldBack(state: State, error: Failure): void {
	const {ready, held} = heldBack(state);
	state.queue = [...ready];
	for (const waiting of held) answerFailed(state, waiting, error);
}

const mayAct = ({options}: State): boolean => options.mayAct?.() ?? true;

function endTerm(state: State): Failure {
	const message = 'the term of office is over';
	if (state.ended === undefined) state.options.onFenced(message);
	return (state.ended ??= storeFailure(message));
}

/** One synchronous pass: an actor that is told of a change finds all changes before it everywhere. */
function applyAll(state: State, writes: readonly VersionedWrite[]): void {
	const changes = writes.map(write => applyOne(state, write));
	const ofObjects = changes.filter(change => change !== undefined);
	if (ofObjects.length > 0) state.options.onApplied(ofObjects);
	for (const [at, {waiting, version}] of writes.entries()) {
		const change = changes[at];
		if (waiting.type === 'raw') for (const done of waiting.dones) done({ok: true, value: version});
		else if (change !== undefined) answerDone(state, waiting.submission, change);
	}
}

/** A version that changes no object. */
function advance({options: {index}, ring}: State, version: number): void {
	index.advance(version);
	ring.advance(version);
}

function applyOne(state: State, {waiting, version, object, json}: VersionedWrite): Change | undefined {
	const {
		options: {index},
		ring,
	} = state;
	if (waiting.type === 'raw') {
		advance(state, version);
		return undefined;
	}
	const {key, beside = {}} = waiting.submission;
	const number = object === undefined ? undefined : index.parts.apply(key, beside);
	const applied = index.apply(key, version, object, json);
	// Nobody comes back for a history here: in the ring it would be bytes that are not counted.
	ring.push(applied);
	leave(state, key, object === undefined ? index.parts.drop(key) : removedParts(beside, 'later').map(name => partStoreKey(key, name)));
	return number === undefined || beside.history === undefined ? applied : {...applied, history: {number, value: beside.history}};
}

function answerDone(state: State, submission: Submission, change: Change): void {
	forget(state, submission);
	submission.done({ok: true, change});
}

function answerFailed(state: State, waiting: Waiting, error: Failure): void {
	if (waiting.type === 'raw') {
		for (const done of waiting.dones) done({ok: false, error});
		return;
	}
	forget(state, waiting.submission);
	waiting.submission.done({ok: false, error});
}

function forget({newest}: State, submission: Submission): void {
	if (newest.get(submission.key) === submission) newest.delete(submission.key);
}

/** Nothing is in flight any more: the rest fails. */
function finish(state: State, error: Failure): void {
	state.replaceable.clear();
	for (const waiting of state.queue.splice(0)) answerFailed(state, waiting, error);
	for (const done of state.whenStopped.splice(0)) done();
}

const storeFailure = (message: string): Failure => failure('ERR_STORE', {message});
const unknownOutcome: Failure = failure('ERR_OUTCOME_UNKNOWN', {address: address(controlSystem, 'store')});
