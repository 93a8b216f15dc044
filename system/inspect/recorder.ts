// Records steps: what each was taken for, what it looked at, and what it made of it. Used only while a recording is on.

import {Buffer} from 'node:buffer';
import type {Address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import type {Context, Next} from '../kernel/behavior.js';
import type {StepCall} from '../kernel/step-call.js';
import {deltaOf} from './delta.js';
import {encode, NotPortable, type IsSecret, type Room} from './portable.js';
import {RecordingContext} from './recording-context.js';
import type {LostStep, ReplayableStep, StepRecord} from './step-record.js';

/** A step that is about to be taken. */
export type StepBefore = {
	readonly address: Address;
	readonly behavior: string;
	readonly from: Address;
	readonly state: unknown;
	readonly call: StepCall;
};

/** Of one step that is being taken. It is given `context` instead of its own, and then one of both is called. */
export type Recording = {
	readonly context: Context;
	readonly done: (next: Next<unknown>) => StepRecord;
	readonly threw: (error: unknown) => StepRecord;
};

/** The state that the last recorded step of an actor left. */
type Left = {readonly state: unknown; readonly json: Json; readonly bytes: number};

export class Recorder {
	readonly #isSecret: IsSecret | undefined;
	/** The oldest first. */
	readonly #left = new Map<Address, Left>();
	#leftBytes = 0;

	/** `isSecret`: what must be in no record. */
	constructor(isSecret?: IsSecret) {
		this.#isSecret = isSecret;
	}

	/** Never throws: what cannot be recorded is said in the record. */
	begin(step: StepBefore, context: Context): Recording {
		const watched = new RecordingContext(context);
		const room: Room = {bytes: limits.recordBytes};
		let isRedacted = false;
		const encoded = (value: unknown, within: Room = room): Json => {
			const json = encode(value, within, this.#isSecret);
			if (within.secrets !== undefined) isRedacted = true;
			return json;
		};
		const {address, behavior, from} = step;
		const lost = (error: unknown): LostStep => {
			this.#forget(address);
			return {address, behavior, notReplayable: error instanceof Error ? error.message : String(error)};
		};
		const before = attempt(() => this.#before(step, encoded, room));
		const end = (outcome: Pick<ReplayableStep, 'stop' | 'error'>, next: Next<unknown> | undefined): StepRecord => {
			if (!before.ok) return lost(before.error);
			const record = attempt((): ReplayableStep => {
				const {json, ...ofBefore} = before.value;
				const after = next === undefined ? json : this.#leave(address, next.state, encoded);
				const delta = deltaOf(json, after);
				room.bytes -= Buffer.byteLength(JSON.stringify(delta));
				const secrets = secretsBeside(next?.beside?.parts, this.#isSecret);
				if (secrets.size > 0) isRedacted = true;
				const parts = {context: watched.recorded(encoded, secrets), effects: (next?.effects ?? []).map(effect => encoded(effect))};
				if (room.bytes < 0) throw new NotPortable('it is too large');
				const redacted = isRedacted ? {redacted: true as const} : {};
				return {address, behavior, cause: context.cause, from, ...ofBefore, after: delta, ...parts, ...outcome, ...redacted};
			});
			return record.ok ? record.value : lost(record.error);
		};
		return {
			context: watched,
			done: next => end(next.stop === true ? {stop: true} : {}, next),
			threw: error => end({error: error instanceof Error ? error.message : String(error)}, undefined),
		};
	}

	/** The call, and the state: as it is, or in what it differs from the one that the last step left. */
	#before({address, state, call}: StepBefore, encoded: (value: unknown, within?: Room) => Json, room: Room) {
		const left = this.#left.get(address);
		if (left?.state === state && left !== undefined) return {call: encoded(call), json: left.json};
		const within = {bytes: limits.recordBytes};
		const json = encoded(state, within);
		if (left !== undefined) return {call: encoded(call), since: deltaOf(left.json, json), json};
		room.bytes -= limits.recordBytes - within.bytes;
		return {call: encoded(call), before: json, json};
	}

	/** Remembers what the step left, so that the next record of the actor is short; the oldest of all are forgotten. */
	#leave(address: Address, state: unknown, encoded: (value: unknown, within: Room) => Json): Json {
		const within = {bytes: limits.recordBytes};
		const json = encoded(state, within);
		const bytes = limits.recordBytes - within.bytes;
		this.#forget(address);
		this.#left.set(address, {state, json, bytes});
		this.#leftBytes += bytes;
		for (const oldest of this.#left.keys()) {
			if (this.#leftBytes <= limits.recordedStatesBytes) break;
			this.#forget(oldest);
		}
		return json;
	}

	#forget(address: Address): void {
		this.#leftBytes -= this.#left.get(address)?.bytes ?? 0;
		this.#left.delete(address);
	}
}

/** What the step keeps of it is in no record, but the chance that it was made of would be. */
const secretsBeside = (parts: ReadonlyMap<string, Json | undefined> = new Map(), isSecret: IsSecret = () => false): ReadonlySet<unknown> =>
	new Set([...parts].filter(([name, part]) => isSecret(parts, name, part)).map(([, part]) => part));

type Attempt<Value> = {readonly ok: true; readonly value: Value} | {readonly ok: false; readonly error: unknown};

function attempt<Value>(run: () => Value): Attempt<Value> {
	try {
		return {ok: true, value: run()};
	} catch (error) {
		return {ok: false, error};
	}
}
