// The edge that carries out tasks of runs of workflows: functions, requests over HTTP, Jobs, SlurmJobs, runs of other workflows.
//
// What it keeps true: two calls with one key are one attempt, with one outcome for whoever asks; once it is stopped, or the term is over, nothing
// of an attempt is left here. What was begun outlives a term only where it is an object: then the next one finds it again by its name.

import type {CallTask, StopTask, TaskOutcome} from '../../actors/control/workflows/run-message.js';
import {succeeded, type Outcome} from '../../api/errors.js';
import type {ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {parseTaskResource} from '../../api/task-resource.js';
import type {Change} from '../../system/index/object-index.js';
import type {Command} from '../../system/kernel/behavior.js';
import {nothingPerforms, type Perform} from '../../system/kernel/performs.js';
import {functionTask} from './function-task.js';
import {httpTask} from './http-task.js';
import {jobTask} from './job-task.js';
import {runTask} from './run-task.js';
import {slurmTask} from './slurm-task.js';
import {taskFailed} from './task-end.js';
import {runGone, taskStopped, termOver, type TaskParts} from './task-parts.js';
import {createTurns} from './turns.js';

export type TaskCallsOptions = Pick<TaskParts, 'control' | 'clock' | 'callWhole' | 'lookup' | 'onProblem'> & {
	/** Tasks that are being called at once. */
	readonly most?: number;
};

export type TaskCalls = {
	/** Of `callTask` with a TaskOutcome, of `stopTask` with nothing. After `close` nothing is answered any more. */
	readonly perform: Perform;
	/** Of every committed change, in order. */
	readonly hear: (change: Change) => void;
	/** How much is under way: for tests, and whoever looks. */
	readonly counts: () => {readonly attempts: number; readonly underWay: number; readonly waiting: number; readonly followed: number};
	/** Ends what is under way, and tells nobody: the next term is asked again. Jobs and runs go on. */
	readonly close: () => void;
};

type Answer = (outcome: Outcome<TaskOutcome>) => void;

type Attempt = {
	/** The uid of the run that has it. */
	readonly run: string;
	readonly ending: AbortController;
	/** Its object is there. */
	isMade: boolean;
	/** Who has asked for it, the last at the end. */
	readonly askers: Answer[];
};

export function createTaskCalls({most = limits.workflowTasks, ...options}: TaskCallsOptions): TaskCalls {
	const attempts = new Map<string, Attempt>();
	/** Keys of attempts, by the uid of their run. */
	const ofRuns = new Map<string, Set<string>>();
	const followed = new Map<ObjectKey, Set<(object: ApiObject, isGone: boolean) => void>>();
	const closing = new AbortController();
	const parts: Omit<TaskParts, 'onMade'> = {
		...options,
		turns: createTurns(most),
		comingRuns: new Map(),
		closing: closing.signal,
		follow(key, seen) {
			const all = followed.get(key) ?? new Set();
			followed.set(key, all.add(seen));
			return () => {
				all.delete(seen);
				if (all.size === 0 && followed.get(key) === all) followed.delete(key);
			};
		},
	};

	const settle = (key: string, attempt: Attempt, outcome: TaskOutcome): void => {
		if (attempts.get(key) !== attempt) return;
		attempts.delete(key);
		const others = ofRuns.get(attempt.run);
		others?.delete(key);
		if (others?.size === 0) ofRuns.delete(attempt.run);
		for (const answer of attempt.askers) answer(succeeded(outcome));
	};
	const call = (task: CallTask, answer: Answer): void => {
		const present = attempts.get(task.key);
		if (present !== undefined) {
			if (present.isMade && task.isMade !== true) return answer(succeeded({type: 'made'}));
			present.askers.push(answer);
			if (present.askers.length > limits.workflowTaskAskers) present.askers.shift();
			return;
		}
		const run = task.run.uid;
		const attempt: Attempt = {run, ending: new AbortController(), isMade: task.isMade === true, askers: [answer]};
		attempts.set(task.key, attempt);
		ofRuns.set(run, (ofRuns.get(run) ?? new Set()).add(task.key));
		const onMade = (): void => {
			if (attempt.isMade || attempts.get(task.key) !== attempt) return;
			attempt.isMade = true;
			for (const made of attempt.askers.splice(0)) made(succeeded({type: 'made'}));
		};
		carryOut({...parts, onMade}, task, attempt.ending.signal).then(
			outcome => settle(task.key, attempt, outcome),
			(error: unknown) => {
				if (attempt.ending.signal.aborted) return;
				options.onProblem(error);
				settle(task.key, attempt, taskFailed('States.TaskFailed', `the task could not be carried out: ${(error as Error).message}`));
			},
		);
	};
	const stop = (key: string, why: Error): void => {
		const attempt = attempts.get(key);
		if (attempt === undefined) return;
		settle(key, attempt, taskFailed('States.TaskFailed', why.message));
		attempt.ending.abort(why);
	};
	return {
		perform(command, done) {
			if (!isTaskCommand(command)) return nothingPerforms(command, done);
			if (closing.signal.aborted) return;
			if (command.type === 'callTask') return call(command, done);
			stop(command.key, taskStopped);
			done(succeeded(null));
		},
		hear({key, before, after}) {
			const object = (after ?? before)?.object;
			if (object === undefined) return;
			for (const seen of followed.get(key) ?? []) seen(object, after === undefined);
			if (after === undefined) for (const attempt of [...(ofRuns.get(object.metadata.uid) ?? [])]) stop(attempt, runGone);
		},
		counts: () => ({attempts: attempts.size, ...parts.turns.counts(), followed: followed.size}),
		close() {
			closing.abort(termOver);
			const ending = [...attempts.values()];
			attempts.clear();
			ofRuns.clear();
			for (const attempt of ending) attempt.ending.abort(termOver);
		},
	};
}

const isTaskCommand = (command: Command): command is CallTask | StopTask => command.type === 'callTask' || command.type === 'stopTask';

/** Rejects with the reason of the signal once that is aborted. */
async function carryOut(parts: TaskParts, task: CallTask, signal: AbortSignal): Promise<TaskOutcome> {
	const resource = parseTaskResource(task.resource);
	if (!resource.ok) return taskFailed('States.Runtime', `the Resource ${resource.message}`);
	const {value} = resource;
	switch (value.type) {
		case 'function':
			return functionTask(parts, task, value, signal);
		case 'http':
			return httpTask(parts, task, value, signal);
		case 'workflow':
			return runTask(parts, task, value, signal);
		case 'job':
			return jobTask(parts, task, signal);
		case 'slurmjob':
			return slurmTask(parts, task, signal);
		case 'activity':
			return {type: 'waiting'};
	}
}
