// A run of a workflow as data: a head, a frame for each machine that is under way in it, and a tally for each frame with children. All of it
// is plain JSON.
//
// They are kept apart so that each can be stored under a key of its own: a step changes one or a few of them.

import type {Json} from '../../api/object.js';
import type {StateError} from '../../api/states-language/errors.js';
import type {Tools} from '../../api/states-language/tools.js';

export type RunHead = {
	/** Begins the keys of its tasks. */
	readonly id: string;
	readonly name: string;
	/** The workflow that it is a run of. */
	readonly workflow: string;
	readonly startedAtMs: number;
	readonly input: Json;
	readonly ending: RunEnding | null;
};

export type RunEnding =
	| {readonly status: 'succeeded'; readonly atMs: number; readonly output: Json}
	| {readonly status: 'failed'; readonly atMs: number; readonly error: StateError}
	| {readonly status: 'cancelled'; readonly atMs: number; readonly cause: string};

/** One machine under way: that of the definition, a branch of a Parallel, or that of an item of a Map. */
export type Frame = {
	/** Empty for the outermost; ends with `/` for all others, and begins with that of the frame above. */
	readonly id: string;
	readonly parent: string | null;
	/** The states that lead to its machine, from the outermost. */
	readonly scope: readonly ScopeStep[];
	/** Which branch or item it is. */
	readonly index: number;
	/** Where it is, how many states it has entered, and with what. */
	readonly state: string;
	readonly visit: number;
	readonly enteredAtMs: number;
	readonly input: Json;
	/** How often the work of the state has begun. */
	readonly attempt: number;
	/** How often each of its retriers has taken an error. */
	readonly retries: readonly number[];
	readonly phase: Phase;
};

export type ScopeStep = {readonly state: string; readonly branch: number};

export type Phase =
	/** Goes on with a `continued`. */
	| {readonly type: 'entered'}
	| {
			readonly type: 'task';
			/** What it was called with: evaluated once, so that a repeated call is the same. */
			readonly input: Json;
			readonly timeoutAtMs: number | null;
			readonly heartbeatSeconds: number | null;
			readonly heartbeatAtMs: number | null;
			/** It was called, and is over when somebody answers, or the object ends that it has made: it is not called again. */
			readonly called?: true;
	  }
	| {readonly type: 'waiting'; readonly untilMs: number; readonly output: Json}
	| {readonly type: 'retrying'; readonly untilMs: number}
	| Children
	/** A branch or an item that waits for the others. */
	| {readonly type: 'ended'; readonly output: Json};

/** A Parallel or a Map whose machines are under way. */
export type Children = {
	readonly type: 'children';
	readonly total: number;
	/** How many may be under way at once. */
	readonly concurrency: number;
	/** How many may fail; null where the first failure is that of the state. */
	readonly tolerated: number | null;
	/** The effective input of a Parallel. The items of a Map whose path looks at many values; null where they are found again at once. */
	readonly input: Json;
};

/** How far the children of a frame are. Kept apart from it: it changes with each of them, and is small. */
export type Tally = {
	/** The frame that they are of. */
	readonly frame: string;
	readonly started: number;
	readonly ended: number;
	readonly failed: number;
	/** Of the outputs so far. */
	readonly bytes: number;
};

/** What is read of a run. */
export type RunView = {
	readonly head: RunHead;
	readonly frame: (id: string) => Frame | undefined;
	/** Of the children of the frame with that id. */
	readonly tally: (id: string) => Tally | undefined;
};

export type RunEvent =
	/** The last step is committed. */
	| {readonly type: 'continued'; readonly frame: string}
	| {readonly type: 'taskSucceeded'; readonly key: string; readonly output: Json}
	| {readonly type: 'taskFailed'; readonly key: string; readonly error: StateError}
	| {readonly type: 'taskHeartbeat'; readonly key: string}
	/** What was called has taken it, or was made; it is over when somebody answers, or that ends. */
	| {readonly type: 'taskCalled'; readonly key: string}
	| {readonly type: 'timerFired'; readonly timer: string}
	| {readonly type: 'cancelled'; readonly cause: string};

export type RunCommand =
	/** Come back with `continued` once this step is committed. */
	| {readonly type: 'continue'; readonly frame: string}
	/** Two calls with one key are one attempt: whoever is called may answer the second with the outcome of the first. */
	| {
			readonly type: 'callTask';
			readonly key: string;
			readonly resource: string;
			readonly state: string;
			readonly attempt: number;
			readonly input: Json;
			/** The object that it makes is there, or was: only its end is asked for. */
			readonly isMade?: true;
	  }
	/** Its answer is not waited for any more. */
	| {readonly type: 'stopTask'; readonly key: string}
	/** Come back with `timerFired` at that time. Timers that are not needed any more may fire: they change nothing. */
	| {readonly type: 'startTimer'; readonly timer: string; readonly atMs: number}
	| {readonly type: 'endRun'; readonly ending: RunEnding};

/** What has happened, for a history. */
export type RunNews =
	| {readonly type: 'entered'; readonly frame: string; readonly state: string; readonly input: Json}
	| {readonly type: 'called'; readonly frame: string; readonly state: string; readonly attempt: number}
	| {readonly type: 'chosen'; readonly frame: string; readonly state: string; readonly rule: number | 'Default'}
	| {
			readonly type: 'retried';
			readonly frame: string;
			readonly state: string;
			readonly retrier: number;
			readonly error: StateError;
			readonly delayMs: number;
	  }
	| {readonly type: 'caught'; readonly frame: string; readonly state: string; readonly catcher: number; readonly error: StateError}
	/** With its output where its machine ends with it; else that is the input of the next state. */
	| {readonly type: 'left'; readonly frame: string; readonly state: string; readonly output?: Json}
	| {readonly type: 'failed'; readonly frame: string; readonly state: string; readonly error: StateError};

/** What an event changes: all of it is committed together, and only then the commands are done. */
export type Step = {
	/** Undefined: as it was. */
	readonly head: RunHead | undefined;
	/** The frames that are other than they were; null: it is gone. */
	readonly frames: ReadonlyMap<string, Frame | null>;
	/** The same of tallies, by the ids of their frames. */
	readonly tallies: ReadonlyMap<string, Tally | null>;
	readonly commands: readonly RunCommand[];
	readonly news: readonly RunNews[];
};

/** What a step is handed from outside. */
export type StepMeans = {
	readonly nowMs: number;
	readonly tools: Tools;
	/** The token by which somebody outside answers the task of that key; the key itself where there is nobody outside. */
	readonly tokenOf?: (key: string) => string;
};
