// What is said of calls of functions: by who has one, by a function's activator, and by the function itself.

import type {ObjectKey} from '../../../api/keys.js';
import type {Message} from '../../../system/kernel/behavior.js';

/** To the activators: the function gets one, where it has none. Answered when it is there. */
export type Activate = Message & {readonly type: 'activate'; readonly function: ObjectKey; readonly revision?: number};

/** To an activator, or to the activators where the function may have none: a slot for a call; answered with a `Slot` once there is one. */
export type Acquire = Message & {
	readonly type: 'acquire';
	readonly function: ObjectKey;
	/** The version, where it is called by its number; else the newest, or whichever has room. */
	readonly revision?: number;
	/** Of the newest or whichever has room only this version, by its word. */
	readonly version?: string;
	/** Chosen by who asks: the call is known by it. */
	readonly ticket: string;
	/** Instances that have not taken this call just now. */
	readonly avoid: readonly string[];
};

/** The place of one call at an instance. */
export type Slot = {
	/** The instance. */
	readonly uid: string;
	readonly pod: string;
	readonly node: string;
};

/** To an activator: the call is over, or nobody waits for its slot any more. */
export type Release = Message & {readonly type: 'release'; readonly ticket: string};

/** From an activator to its function: so many instances are needed, of that version where it is one's of its own. */
export type Demand = Message & {readonly type: 'demand'; readonly desired: number; readonly revision?: number};
