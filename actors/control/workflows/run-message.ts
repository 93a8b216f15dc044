// What is said of runs of workflows: by who answers a task, and to the edge that carries tasks out.

import type {Json} from '../../../api/object.js';
import type {StateError} from '../../../api/states-language/errors.js';
import type {Command, Message, ReplyTo} from '../../../system/kernel/behavior.js';
import type {RunCommand, RunEvent} from '../../workflows/run.js';

export type TaskOutcome =
	| {readonly type: 'succeeded'; readonly output: Json}
	| {readonly type: 'failed'; readonly error: StateError}
	/** The answer comes later, by `taskAnswered`. */
	| {readonly type: 'waiting'}
	/** Its object is there: once that is committed it is asked for again, as one that is made. */
	| {readonly type: 'made'};

/** To the edge: one attempt of a task. Two with one key are one attempt. */
export type CallTask = Command & {
	readonly type: 'callTask';
	readonly key: string;
	readonly run: {readonly namespace: string; readonly name: string; readonly uid: string};
	readonly resource: string;
	readonly input: Json;
	/** Of a function: the version with which the run began. Undefined: the one that it has now. */
	readonly version?: string;
	/** Its object was made before: where that is gone none is made again. */
	readonly isMade?: true;
};

/** To the edge: nobody waits for that attempt any more. */
export type StopTask = Command & {readonly type: 'stopTask'; readonly key: string};

/** To a run's record: an answer to a task that waits. */
export type TaskAnswered = Message & {
	readonly type: 'taskAnswered';
	readonly task: {readonly key: string} | {readonly token: string} | {readonly state: string};
	readonly outcome: Exclude<TaskOutcome, {readonly type: 'waiting' | 'made'}> | {readonly type: 'heartbeat'};
};

/** To a run's record, by itself: its workflow is there. */
export type BeginRun = Message & {readonly type: 'beginRun'};

/** To a run's record that is over, by itself: what was found again of it when the process began. */
export type DropParts = Message & {readonly type: 'dropParts'};

/** To a run's record: what a state under way has to tell. Answered once it is committed. */
export type RunEventTold = Message & {readonly type: 'runEvent'; readonly event: RunEvent};

/** What a state inside a Parallel or a Map has told, and who waits for the answer. */
export type ToldEvent = {readonly event: RunEvent; readonly replyTo: ReplyTo | undefined};

/** To a run's record, by the outermost state: what was told inside it since the last time. Each is answered by itself. */
export type RunEventsTold = Message & {readonly type: 'runEvents'; readonly told: readonly ToldEvent[]};

/** To the outermost state, by the record: what it has not taken of what it was told, to be told again. */
export type RunEventsLeft = Message & {readonly type: 'runEventsLeft'; readonly told: readonly ToldEvent[]};

/** To a run's record: one of its steps can never be committed. */
export type FailRun = Message & {readonly type: 'failRun'; readonly error: StateError};

/** To a state under way: what the machine wants of it now. */
export type CarryOut = Message & {readonly type: 'carryOut'; readonly commands: readonly RunCommand[]};

/** To a state under way: the run is suspended no more. */
export type GoOn = Message & {readonly type: 'goOn'};
