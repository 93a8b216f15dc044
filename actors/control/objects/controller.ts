// What a kind adds to the generic object behaviour. A controller is one value, in one file of this folder, in one list.

import type {Failure, Outcome} from '../../../api/errors.js';
import type {ApiObject, Draft, Labels} from '../../../api/object.js';
import type {Context, Effect, Message} from '../../../system/kernel/behavior.js';
import type {Filing, Known} from '../../../system/index/object-index.js';
import type {Beside} from '../../../system/index/parts.js';
import type {Allotment} from './allotment.js';

/** What a reconcile wants. A status equal to the present one writes nothing. */
export type Reconciliation<Status> = {
	readonly status?: Status;
	readonly effects: readonly Effect[];
	/** What the object's annotations shall say, beside the others that it has. */
	readonly annotations?: Labels;
	/** Look again at this time even if nothing wakes it. */
	readonly wakeAtMs?: number;
};

/** Writes of other objects that failed, round after round, since the last that did not. */
export type Failures = {
	readonly rounds: number;
	/** What the last one met with; undefined while there is none. */
	readonly last: string | undefined;
};

export const noFailures: Failures = {rounds: 0, last: undefined};

/** An object of another kind before and after a change: undefined where it was not there, or is not any more. */
export type Watched = {readonly before: ApiObject | undefined; readonly after: ApiObject | undefined};

/** What a message of the kind's own makes of the object. */
export type Handled<Obj> =
	| {readonly ok: true; readonly object: Obj; readonly effects?: readonly Effect[]; readonly beside?: Beside}
	| {readonly ok: false; readonly error: Failure};

export type Controller<Obj extends ApiObject = ApiObject, Own extends Message = Message> = {
	readonly plural: string;
	/** Terms under which the index files the object, and amounts that it adds up, for look-ups of this and other kinds. */
	readonly terms?: (object: Obj) => readonly Filing[];
	/** By the plural of other kinds: the objects of this kind that a change of such an object concerns, owners and owned aside. They are woken. */
	readonly watches?: {readonly [plural: string]: (change: Watched, known: Known) => Iterable<ApiObject>};
	/** What of a new object depends on others: the draft with it, or why it cannot be made. */
	readonly prepare?: (draft: Draft, known: Known) => Outcome<Draft>;
	/** What each object has alone, such as an address: the collection gives it. */
	readonly allotment?: Allotment;
	/** Compares what is with what should be. Pure; anything it asks for twice it would find in `context.pending`. */
	readonly reconcile: (object: Obj, context: Context, failures: Failures) => Reconciliation<Obj['status']>;
	/**
	 * What it says of itself does not follow from the creates that it asks for. So while one that was refused waits for its next try, wakes count,
	 * and all but creates goes on; any other kind rests as a whole.
	 */
	readonly goesOnWithoutCreates?: boolean;
	/** What is told of a write of another object that was done: the id it was asked for by, and what came of it. */
	readonly written?: (object: Obj, id: string, value: unknown) => readonly Effect[];
	/** Messages beyond those every object understands. The outcome is committed, then answered. Undefined: it knows no such message. */
	readonly receive?: (object: Obj, message: Own, context: Context) => Handled<Obj> | undefined;
	/** Seconds a deleted object lingers for an orderly end; 0 removes it at once. Without it: 0. */
	readonly graceSeconds?: (object: Obj, requested: number | undefined) => number;
	/** Whether a deleted object has nothing left to do, finalizers aside. Without it: always. */
	readonly isRemovable?: (object: Obj, known: Known) => boolean;
};

/** Erases the types of a controller so that all of them fit in one list; the catalogue guarantees that kinds do not mix. */
export const controller = <Obj extends ApiObject, Own extends Message = never>(value: Controller<Obj, Own>): Controller =>
	value as unknown as Controller;

/** Of a kind whose objects follow from nothing and lead to nothing by themselves. */
export const idle = (plural: string): Controller => ({plural, reconcile: () => ({effects: []})});
