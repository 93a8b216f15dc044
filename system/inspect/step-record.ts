// One recorded step: all that plays it again. Values are in their portable form (`portable.ts`); one record is one JSON value.

import type {Address} from '../../api/keys.js';
import type {Json} from '../../api/object.js';
import type {Delta} from './delta.js';

/** A question to the objects of the system, and its answer. Objects are given by their places in the record's list of them. */
export type RecordedRead = {
	readonly ask: string;
	readonly of: readonly Json[];
	/** Of `get` and `byUid`; -1: there is none. */
	readonly object?: number;
	/** Of a list, as far as the step went through it; `whole` when that was to its end. */
	readonly list?: readonly number[];
	readonly whole?: true;
	readonly number?: number;
	/** Of `part` and `partsOf`: a map of those that there are. */
	readonly parts?: Json;
};

/** What the step looked at. */
export type RecordedContext = {
	readonly nowMs: number;
	readonly monotonicMs?: readonly number[];
	readonly children?: readonly string[];
	readonly hasChild?: readonly (readonly [string, boolean])[];
	/** Numbers and UUIDs, each in the order in which they were drawn. */
	readonly draws?: readonly number[];
	readonly uuids?: readonly string[];
	readonly pending?: Json;
	readonly version?: number;
	readonly reads?: readonly RecordedRead[];
	readonly objects?: readonly Json[];
};

export type ReplayableStep = {
	readonly address: Address;
	/** Its name among the behaviours of the system. */
	readonly behavior: string;
	readonly cause: string;
	readonly from: Address;
	/** What the step was taken for: a `StepCall`. */
	readonly call: Json;
	/** The state before: whole in the first step of an actor that was recorded. */
	readonly before?: Json;
	/** In all others: what had become of the state that the step before left, such as a version by its commit; nothing where it is that one. */
	readonly since?: Delta;
	readonly context: RecordedContext;
	/** What the step made of the state. */
	readonly after: Delta;
	readonly effects: readonly Json[];
	readonly stop?: true;
	/** It threw: neither state nor effects. */
	readonly error?: string;
	/** Something secret was left out of it: its replay may go another way. */
	readonly redacted?: true;
};

/** A step that cannot be played again, and why: it read or held too much, or what is no data. */
export type LostStep = {
	readonly address: Address;
	readonly behavior: string;
	readonly notReplayable: string;
};

export type StepRecord = ReplayableStep | LostStep;

export const isReplayable = (record: StepRecord): record is ReplayableStep => !('notReplayable' in record);
