// What the tasks of runs are carried out with, whatever they call.

import type {LookupFunction} from 'node:net';
import type {ApiObject} from '../../api/object.js';
import type {ObjectKey} from '../../api/keys.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import type {ControlPlane} from '../control-plane.js';
import type {CallWhole} from '../functions/delivery.js';
import type {Turns} from './turns.js';

export type TaskParts = {
	readonly control: Pick<ControlPlane, 'index' | 'ask'>;
	readonly clock: Clock;
	readonly callWhole: CallWhole;
	/** Of the names that requests go to; undefined: the machine's own. */
	readonly lookup?: LookupFunction | undefined;
	/** Of calls, creates and requests: what only waits for somebody else has no turn. */
	readonly turns: Turns;
	/** Runs that are being made as tasks, by the uid of the run that they come from. */
	readonly comingRuns: Map<string, number>;
	/** Calls back with each committed change of that object: as it is now, or was last. What comes back ends that. */
	readonly follow: (key: ObjectKey, seen: (object: ApiObject, isGone: boolean) => void) => Cancel;
	/** The object of this attempt is there. */
	readonly onMade: () => void;
	/** Aborted when the term ends. */
	readonly closing: AbortSignal;
	/** What goes wrong, and concerns no task any more. */
	readonly onProblem: (error: unknown) => void;
};

/** The reasons for which a task is dropped. */
export const taskStopped = new Error('nobody waits for this task any more');
/** What it has made goes with it. */
export const runGone = new Error('the run that has this task was deleted');
export const termOver = new Error('this server does not lead any more');
