// What an actor system is given: what runs it, what its actors are, and where their objects are kept.

import type {Failure} from '../../api/errors.js';
import type {Address, ObjectKey} from '../../api/keys.js';
import type {ApiObject, Draft} from '../../api/object.js';
import type {AnyBehavior, Effect} from './behavior.js';
import type {Random} from '../time/random.js';
import type {Clock} from '../time/clock.js';
import type {Executor} from './executor.js';
import type {Envelope, Span} from './mailbox.js';
import type {Change, Known} from '../index/object-index.js';
import type {Beside} from '../index/parts.js';
import type {SystemObserver} from './observer.js';
import type {Perform} from './performs.js';

/** What set a commit going; for the wakes it leads to and the journal. */
export type Origin = {
	/** What set the whole going, worded where the chain began. */
	readonly cause: string;
	/** The address that the message came from. */
	readonly from: Address;
	/** The type of the message that led to the commit. */
	readonly type: string;
	/** The step that led to it, while that is traced. */
	readonly span?: Span | undefined;
};

export type CommitOutcome = {readonly ok: true; readonly change: Change} | {readonly ok: false; readonly error: Failure};

/** One write of an object that is asked for. */
export type Submission = {
	/** Index key, e.g. `pods/default/web`. */
	readonly key: ObjectKey;
	/** The candidate; its resourceVersion is replaced by the one it gets. Undefined removes. */
	readonly object: ApiObject | undefined;
	readonly beside?: Beside | undefined;
	/** Called once. */
	readonly done: (outcome: CommitOutcome) => void;
};

/** Where a system keeps its objects; a system without one has no persistent actors. */
export type Persistent = {
	readonly known: Known;
	readonly submit: (submission: Submission & {readonly origin: Origin}) => void;
	readonly recordEvent: (key: ObjectKey, event: Extract<Effect, {type: 'event'}>) => void;
};

export type ActorSystemOptions = {
	readonly name: string;
	readonly executor: Executor;
	readonly clock: Clock;
	readonly random: Random;
	readonly behaviors: {readonly [name: string]: AnyBehavior};
	readonly persistent?: Persistent;
	readonly perform?: Perform;
	/** Delivers what is addressed to another system. */
	readonly remote?: (system: string, to: Address, envelope: Envelope) => void;
	/** Addresses for `create`, `update` and `delete`. */
	readonly collectionOf?: (draft: Draft) => Address;
	readonly recordOf?: (key: ObjectKey) => Address;
	/** Asked before each answer and each order that leaves the system; where it may not, orders are dropped and answers say so. */
	readonly mayAct?: () => boolean;
	readonly observer?: SystemObserver;
	/** The root crashed past its intensity: this system cannot go on. */
	readonly onEscalation?: (error: Failure) => void;
};
