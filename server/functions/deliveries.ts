// What is to be delivered to functions: kept in the store until it was delivered, or was given up, and made by this server while it leads.
//
// What it keeps true: what was accepted is made at least once, whatever ends meanwhile; deliveries of one queue are made one after the other, in the
// order in which they were accepted; what nobody could begin (no instance comes) waits, and is not given up; bodies are in the store, not in memory.
//
// It is given up when it was tried as often as it may be, or was answered with a status of 400 to 499: that does not change by another try.

import {AppError, failure, type Failure} from '../../api/errors.js';
import {deliveryId, deliveryStoreKey, objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {JsonObject} from '../../api/object.js';
import {membersOf} from '../../api/rules/report.js';
import {parsedJson} from '../../api/value-or.js';
import type {Known} from '../../system/index/object-index.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';
import type {StoreRecords} from '../store-records.js';
import type {FunctionName} from './call.js';
import {createLanes, type Lanes} from './delivery-lanes.js';
import {deadLetterText} from './dead-letter.js';
import {answerReply, errorReply} from './invoke-reply.js';
import {keptDelivery, readDelivery, type DeliveryHead, type Kept} from './delivery-record.js';
import type {CallWhole, Deliveries, Delivery, FunctionAnswer} from './delivery.js';
import {bytesOf} from './kept-text.js';
import {isNotBegun} from './not-begun.js';
import type {Result, Results} from './results.js';
import type {DeliveryCounts} from '../../api/function-figures.js';

export type DeliveriesOptions = {
	readonly records: StoreRecords;
	readonly clock: Clock;
	readonly known: Pick<Known, 'get'>;
	readonly epoch: () => number;
	readonly callWhole: CallWhole;
	readonly results: Results;
	/** To MQTT. */
	readonly publish: (topic: string, payload: string) => void;
	/** A delivery was given up. */
	readonly onGivenUp: (delivery: {readonly function: FunctionName; readonly trigger: string}, why: string) => void;
	/** The store could not be read or written: it is tried again. */
	readonly onProblem: (error: unknown) => void;
};

export type OpenDeliveries = Deliveries & {
	/** One that was not accepted, and comes from nobody who could try again: it is counted, told, and sent to its dead letters. */
	readonly giveUp: (delivery: Delivery, error: Error) => void;
	/** Undefined: it was never accepted, or is forgotten. Rejects with an AppError. */
	readonly look: (id: string) => Promise<DeliveryLook | undefined>;
	/** Calls back once, when it does not wait any more; at once where it does not. What comes back takes that back. */
	readonly whenOver: (id: string, callback: () => void) => Cancel;
	/** Of the triggers of a function, sorted by name. */
	readonly countsOf: (fn: FunctionName) => readonly DeliveryCounts[];
	/** Nothing more is begun; what is under way is made again by the next term. */
	readonly close: () => void;
};

/** Of a delivery, for whoever has caused it. */
export type DeliveryLook = {readonly by: string | undefined; readonly result: Result | undefined};

type State = {
	readonly options: DeliveriesOptions;
	readonly lanes: Lanes;
	readonly waiting: Map<string, Kept>;
	/** Who is told of the end of which. */
	readonly listeners: Map<string, Set<() => void>>;
	bytes: number;
	/** Accepted, and not committed yet. */
	reserved: number;
	isOpen: boolean;
	/** Given to the last one. */
	number: number;
};

/** With what the store has: texts by id, in the order of ids. What waits is made from `begin` on. */
export function openDeliveries(
	found: ReadonlyMap<string, string>,
	options: DeliveriesOptions,
): OpenDeliveries & {readonly begin: () => void} {
	const state: State = {
		options,
		// What is thrown here was nobody's to throw; the delivery is made by the next term.
		lanes: createLanes(options.clock, kept => void deliver(state, kept).catch(options.onProblem)),
		waiting: new Map(),
		listeners: new Map(),
		bytes: 0,
		reserved: 0,
		isOpen: true,
		number: 0,
	};
	for (const [id, text] of found) {
		const head = readDelivery(text);
		if (head === undefined) void remove(state, id);
		else add(state, {...head, id, tries: 0});
	}
	return {
		accept: delivery => accept(state, delivery),
		checkRoom(deliveries) {
			if (!state.isOpen) throw noLeader();
			for (const each of deliveries) if (isThere(state, each.function)) refuseFull(state, keptDelivery(each, 0).head);
		},
		giveUp: (delivery, error) => giveUp(state, delivery, error),
		async look(id) {
			const waiting = state.waiting.get(id);
			if (waiting !== undefined) return {by: waiting.by, result: undefined};
			const result = await options.results.read(id);
			return result === undefined ? undefined : {by: result.by, result};
		},
		whenOver: (id, callback) => whenOver(state, id, callback),
		countsOf: fn => state.lanes.countsOf(fn),
		begin: () => state.lanes.begin(),
		close() {
			state.isOpen = false;
			state.lanes.close();
			for (const id of [...state.listeners.keys()]) tellOver(state, id);
		},
	};
}

function whenOver({waiting, listeners, isOpen}: State, id: string, callback: () => void): Cancel {
	const all = listeners.get(id) ?? new Set();
	if (!isOpen || !waiting.has(id)) {
		callback();
		return () => undefined;
	}
	listeners.set(id, all.add(callback));
	return () => {
		all.delete(callback);
		if (all.size === 0) listeners.delete(id);
	};
}

function tellOver({listeners}: State, id: string): void {
	const all = listeners.get(id) ?? [];
	listeners.delete(id);
	for (const callback of all) callback();
}

// ---- taking ----------------------------------------------------------------------------------------------------------------

async function accept(state: State, delivery: Delivery): Promise<string> {
	const {options, lanes} = state;
	const {text, head} = keptDelivery(delivery, options.clock.nowMs());
	check(state, head, delivery.body.length);
	// Before the wait: of several at once none may be one too many.
	const release = reserve(state, head);
	try {
		const id = deliveryId(options.epoch(), ++state.number, systemRandom.uuid().replaceAll('-', '').slice(0, 16));
		await options.records.put(deliveryStoreKey(id), text);
		if (state.isOpen) add(state, {...head, id, tries: 0});
		lanes.count(delivery, 'accepted');
		return id;
	} finally {
		release();
	}
}

const noLeader = (): AppError => new AppError('ERR_NOT_REACHABLE', {message: 'this server does not lead any more'});

const isThere = ({options}: State, {namespace, name}: FunctionName): boolean =>
	options.known.get(objectKey('functions', namespace, name)) !== undefined;

/** Throws where it cannot be accepted. */
function check(state: State, head: DeliveryHead, bodyBytes: number): void {
	if (!state.isOpen) throw noLeader();
	if (!isThere(state, head.function)) throw new AppError('ERR_NOT_FOUND', {resource: 'functions.troupe.dev', name: head.function.name});
	if (bodyBytes > limits.deliveryBytes)
		throw new AppError('ERR_TOO_LARGE', {message: `the body is larger than ${limits.deliveryBytes} bytes`});
	refuseFull(state, head);
}

function giveUp({options, lanes}: State, delivery: Delivery, error: Error): void {
	const {clock, publish, onGivenUp} = options;
	const {deadLetterTopic, body} = delivery;
	lanes.count(delivery, 'failed');
	onGivenUp(delivery, error.message);
	if (deadLetterTopic === undefined) return;
	const told = error instanceof AppError ? error.failure : failure('ERR_INTERNAL', {message: error.message});
	publish(deadLetterTopic, deadLetterText({...keptDelivery(delivery, clock.nowMs()).head, id: '', tries: -1}, body, told));
}

function refuseFull({waiting, reserved, bytes, lanes}: State, {function: fn, bytes: more}: DeliveryHead): void {
	const refuse = (message: string): never => {
		throw new AppError('ERR_BUSY', {message: `${message}; try again`});
	};
	if (lanes.waitingOf(fn) >= limits.deliveriesPerFunction)
		refuse(`${limits.deliveriesPerFunction} deliveries wait for the function "${fn.namespace}/${fn.name}", as many as may`);
	if (lanes.bytesOf(fn) + more > limits.deliveriesBytesPerFunction)
		refuse(
			`deliveries to the function "${fn.namespace}/${fn.name}" wait with ${lanes.bytesOf(fn)} bytes, and at most ${limits.deliveriesBytesPerFunction} may`,
		);
	if (waiting.size + reserved >= limits.deliveries) refuse(`${limits.deliveries} deliveries to functions wait, as many as may`);
	if (bytes + more > limits.deliveriesBytes)
		refuse(`deliveries to functions wait with ${bytes} bytes together, and at most ${limits.deliveriesBytes} may`);
}

function reserve(state: State, {function: fn, bytes}: DeliveryHead): () => void {
	const leave = state.lanes.reserve(fn, bytes);
	state.reserved++;
	state.bytes += bytes;
	return () => {
		leave();
		state.reserved--;
		state.bytes -= bytes;
	};
}

function add(state: State, kept: Kept): void {
	state.waiting.set(kept.id, kept);
	state.bytes += kept.bytes;
	state.lanes.add(kept);
}

// ---- making ----------------------------------------------------------------------------------------------------------------

type Ending =
	/** The function has answered, and does not change its mind. */
	| {readonly type: 'answered'; readonly answer: FunctionAnswer}
	| {readonly type: 'failed'; readonly error: Failure; readonly answer?: FunctionAnswer | undefined}
	/** Nothing was begun: it is not counted as a try. */
	| {readonly type: 'notBegun'};

async function deliver(state: State, kept: Kept): Promise<void> {
	const {lanes} = state;
	const ending = await ended(state, kept);
	if (!state.isOpen) return;
	if (ending.type === 'notBegun') return lanes.notBegun(kept);
	if (ending.type === 'failed' && isWorthATry(ending) && kept.tries < kept.retries) {
		kept.tries++;
		lanes.count(kept, 'retried');
		return lanes.again(kept, Math.min(limits.deliveryPauseMs * 2 ** (kept.tries - 1), limits.deliveryPauseMostMs));
	}
	await settle(state, kept, ending);
	if (!state.isOpen) return;
	lanes.count(kept, ending.type === 'answered' ? 'delivered' : 'failed');
	state.waiting.delete(kept.id);
	state.bytes -= kept.bytes;
	lanes.done(kept);
	tellOver(state, kept.id);
}

async function ended({options}: State, kept: Kept): Promise<Ending> {
	const {function: fn, id, by, path, contentType, headers} = kept;
	try {
		const text = await options.records.get(deliveryStoreKey(id));
		if (text === undefined) return {type: 'failed', error: failure('ERR_NOT_FOUND', {resource: 'deliveries', name: id})};
		const call = {id, by, path, contentType, headers, body: bytesOf(text), answerBytes: limits.resultBytes};
		const answer = await options.callWhole(fn, call);
		if (answer.status < 400) return {type: 'answered', answer};
		return {type: 'failed', error: failure('ERR_FUNCTION', {message: complaintOf(answer)}), answer};
	} catch (error) {
		const told = error instanceof AppError ? error : new AppError('ERR_INTERNAL', {message: (error as Error).message}, error);
		return isNotBegun(told.code) ? {type: 'notBegun'} : {type: 'failed', error: told.failure};
	}
}

/** What the runner says of a function that threw, or else the status alone. */
function complaintOf({status, body}: FunctionAnswer): string {
	const {message} = membersOf(membersOf(parsedJson(body.toString('utf8')))['error']);
	return typeof message === 'string' ? message.slice(0, limits.functionComplaintCharacters) : `the function answered with status ${status}`;
}

/** Where another try may end in another way. */
const isWorthATry = ({error, answer}: Ending & {readonly type: 'failed'}): boolean =>
	answer === undefined ? error.code !== 'ERR_NOT_FOUND' && error.code !== 'ERR_TOO_LARGE' : answer.status >= 500;

/** Whoever waits for the end of it is told, and only then it is forgotten. */
async function settle(state: State, kept: Kept, ending: Exclude<Ending, {readonly type: 'notBegun'}>): Promise<void> {
	const {options} = state;
	const {reply, deadLetterTopic, id} = kept;
	const error = ending.type === 'failed' ? ending.error : undefined;
	if (reply?.type === 'topic') options.publish(reply.topic, replyTo(reply.id, ending));
	if (error !== undefined) {
		if (reply === undefined) options.onGivenUp(kept, error.message);
		if (deadLetterTopic !== undefined) await sendDead(state, kept, deadLetterTopic, error);
	}
	const result = resultOf(kept, ending);
	const isKept = result === undefined ? Promise.resolve() : untilDone(state, () => options.results.keep(id, result));
	// In between, the delivery would be made once more, and give another answer.
	await isKept;
	await remove(state, id);
}

function replyTo(id: string, ending: Exclude<Ending, {readonly type: 'notBegun'}>): string {
	if (ending.answer !== undefined) return answerReply(id, ending.answer);
	return errorReply(id, ending.type === 'failed' ? ending.error : failure('ERR_INTERNAL'));
}

async function sendDead(state: State, kept: Kept, topic: string, error: Failure): Promise<void> {
	const {records, publish} = state.options;
	await untilDone(state, async () => {
		const text = await records.get(deliveryStoreKey(kept.id)).catch((failed: unknown) => {
			// It will never be whole again.
			if (failed instanceof AppError && failed.code === 'ERR_DAMAGED') return undefined;
			throw failed;
		});
		publish(topic, deadLetterText(kept, text === undefined ? Buffer.alloc(0) : bytesOf(text), error));
	});
}

function resultOf({reply, by}: Kept, ending: Exclude<Ending, {readonly type: 'notBegun'}>): Result | undefined {
	if (reply?.type !== 'kept') return undefined;
	if (ending.answer !== undefined) return {by, ...ending.answer};
	const error: JsonObject = ending.type === 'failed' ? {code: ending.error.code, message: ending.error.message} : {};
	return {by, status: 502, contentType: 'application/json', body: Buffer.from(JSON.stringify({error}))};
}

const remove = (state: State, id: string): Promise<void> =>
	untilDone(state, () => state.options.records.put(deliveryStoreKey(id), undefined));

/** While the store takes nothing, nothing is forgotten. */
async function untilDone(state: State, act: () => Promise<void>): Promise<void> {
	const {clock, onProblem} = state.options;
	for (let pauseMs: number = limits.deliveryPauseMs; state.isOpen; pauseMs = Math.min(2 * pauseMs, limits.deliveryPauseMostMs)) {
		try {
			return await act();
		} catch (error) {
			if (state.isOpen) onProblem(error);
		}
		await new Promise<void>(resolve => void clock.after(pauseMs, resolve));
	}
}
