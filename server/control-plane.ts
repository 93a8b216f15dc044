// What the gateway and the topics need of the control system. The composition root hands it in.

import type {Outcome} from '../api/errors.js';
import type {Address} from '../api/keys.js';
import type {ApiObject, JsonObject} from '../api/object.js';
import type {Message} from '../system/kernel/behavior.js';
import type {DepartedObject} from '../system/commit/departed.js';
import type {ObjectEvent} from '../system/commit/event-log.js';
import type {JournalEntry} from '../system/commit/journal.js';
import type {ObjectIndex} from '../system/index/object-index.js';
import type {Snapshot} from '../system/store/store.js';
import type {WatchRing} from '../system/index/watch-ring.js';
import type {RunHistory} from './workflows/run-history.js';

export type {JournalEntry, ObjectEvent};

export type AskOptions = {
	readonly deadlineMs: number;
	/** Who asked, at which door: `http admin PATCH replicasets/default/web`. Kept in the journal of what it causes. */
	readonly cause: string;
};

export type ControlPlane = {
	readonly index: ObjectIndex;
	readonly watches: WatchRing;
	readonly epoch: () => number;
	readonly nowMs: () => number;
	/** Asks any actor of any system of the cluster. Never rejects: a time-out or a missing actor is a failed outcome. */
	readonly ask: <Value>(to: Address, message: Message, options: AskOptions) => Promise<Outcome<Value>>;
	/** Tells any actor of any system of the cluster. */
	readonly tell: (to: Address, message: Message, cause: string) => void;
	readonly eventsOf: (key: string) => readonly ObjectEvent[];
	/** Keys about which there are events. */
	readonly eventKeys: () => Iterable<string>;
	/** Oldest first; kept for an hour after the object is gone. */
	readonly journalOf: (key: string) => readonly JournalEntry[];
	/** What an object that is gone was last; and, of an owner that is gone, what it owned. Kept as long, in memory only. */
	readonly departed: {readonly of: (key: string) => DepartedObject | undefined; readonly ownedBy: (uid: string) => Iterable<ApiObject>};
	/** When it began: it is in memory only, and with each start of the control plane, or term of a leader, anew. */
	readonly journalSinceMs: number;
	/** Every actor system that is known, `control` first, then by name: nodes, and systems of users' own that run. */
	readonly systems: () => readonly string[];
	/** What has happened in runs of workflows. */
	readonly history: RunHistory;
	/** All that is stored as of one moment, for a backup. */
	readonly snapshot: () => Promise<Snapshot>;
	/** The counters people ask for when something is wrong: dead letters, crashes, commits. */
	readonly counters: () => JsonObject;
};
