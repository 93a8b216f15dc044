// A task that is an object: it is made, belongs to the run, and its end is that of the task.
//
// Its name follows from the run and the key of the attempt, so that it is found again when the task is called once more: after a crash of the
// server, say. That it was made is committed by its run before its end is asked for: one that is gone by then is not made again.

import type {CallTask, TaskOutcome} from '../../actors/control/workflows/run-message.js';
import {controllerOf} from '../../actors/control/objects/owners.js';
import type {CreateObject} from '../../actors/control/objects/object-message.js';
import {AppError, type Outcome} from '../../api/errors.js';
import {collectionAddress, objectAddress, objectKey, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {hashName} from '../../api/names.js';
import type {ApiObject, Draft, Labels} from '../../api/object.js';
import {isLabelValue} from '../../api/rules/names.js';
import {taskKeyAnnotation, taskOfRunLabel} from '../../api/task-object.js';
import type {Message} from '../../system/kernel/behavior.js';
import {mayPass} from '../may-pass.js';
import {taskFailed} from './task-end.js';
import {taskStopped, type TaskParts} from './task-parts.js';
import {unlessAborted} from './turns.js';
import {untilBegun} from './try-again.js';

export type TaskObject = {
	readonly apiVersion: string;
	readonly kind: string;
	readonly plural: string;
	readonly spec: unknown;
	/** Said of it, beside the key. */
	readonly annotations?: Labels;
	/** Around its making: it may say instead how the task ends. */
	readonly around?: (make: () => Promise<Made>) => Promise<Made>;
	/** Begins the names of the errors of such tasks. */
	readonly errors: string;
	/** Undefined: it is not over. */
	readonly endOf: (object: ApiObject) => TaskOutcome | undefined;
	/** What it is told when nobody waits for it any more. */
	readonly ending: (object: ApiObject) => Message;
};

/** The object; how the task ends where it is not to be had; undefined: that is not known yet. */
export type Made = {readonly uid: string} | TaskOutcome | undefined;

export async function objectTask(parts: TaskParts, task: CallTask, made: TaskObject, signal: AbortSignal): Promise<TaskOutcome> {
	const key = keyOf(task, made);
	const untilMs = parts.clock.monotonicMs() + limits.workflowRoomMs;
	let asked: Promise<unknown> = Promise.resolve();
	const once = () => {
		const found = makeOrFind(parts, task, made, untilMs);
		asked = found;
		return found;
	};
	try {
		const found = await untilBegun(parts.clock, signal, () => parts.turns.take(signal, once));
		if ('type' in found) return found;
		parts.onMade();
		return await endOf(parts, key, made, {uid: found.uid, signal});
	} catch (error) {
		// What was asked for may still be made.
		if (signal.reason === taskStopped) void asked.then(() => end(parts, key, task, made)).catch(parts.onProblem);
		throw error;
	}
}

/** Short enough for the names of what it makes itself, such as the pods of a Job. */
const beginningCharacters = 40;

const nameOf = ({run, key}: CallTask): string =>
	`${run.name.replaceAll('.', '-').slice(0, beginningCharacters)}-${hashName(`${run.uid} ${key}`)}`;

const keyOf = (task: CallTask, {plural}: TaskObject): ObjectKey => objectKey(plural, task.run.namespace, nameOf(task));

function draftOf(task: CallTask, {apiVersion, kind, spec, annotations}: TaskObject): Draft {
	const {run, key} = task;
	return {
		apiVersion,
		kind,
		metadata: {
			name: nameOf(task),
			namespace: run.namespace,
			// A name may be longer than a label.
			...(isLabelValue(run.name) ? {labels: {[taskOfRunLabel]: run.name}} : {}),
			annotations: {...annotations, [taskKeyAnnotation]: key},
			ownerReferences: [
				{apiVersion: 'troupe.dev/v1', kind: 'Run', name: run.name, uid: run.uid, controller: true, blockOwnerDeletion: true},
			],
		},
		spec,
	};
}

const causeOf = ({run, resource}: CallTask): string =>
	`run ${run.namespace}/${run.name} calls ${resource.slice(0, limits.shownCharacters)}`;

async function makeOrFind(parts: TaskParts, task: CallTask, made: TaskObject, untilMs: number): Promise<Made> {
	const before = parts.control.index.get(keyOf(task, made));
	if (task.isMade === true) return foundAgain(before, task, made);
	if (before !== undefined) return ownOr(before, task, made);
	const make = (): Promise<Made> => makeNew(parts, task, made, untilMs);
	return made.around === undefined ? make() : made.around(make);
}

async function makeNew({control, clock}: TaskParts, task: CallTask, made: TaskObject, untilMs: number): Promise<Made> {
	const message: CreateObject = {type: 'create', object: draftOf(task, made)};
	const outcome: Outcome<ApiObject> = await control.ask(collectionAddress(made.plural), message, {
		deadlineMs: limits.askDeadlineMs,
		cause: causeOf(task),
	});
	if (outcome.ok) return {uid: outcome.value.metadata.uid};
	const {error} = outcome;
	// What takes the room may wait for this one: it is not waited for without end.
	const isLate = error.code === 'ERR_BUSY' && clock.monotonicMs() >= untilMs;
	if (error.code === 'ERR_ALREADY_EXISTS' || (mayPass(error) && !isLate)) return undefined;
	return taskFailed(`${made.errors}.Refused`, error.message);
}

function ownOr(object: ApiObject, {run}: CallTask, {errors, kind, endOf}: TaskObject): {readonly uid: string} | TaskOutcome {
	const {name, uid} = object.metadata;
	if (controllerOf(object)?.uid === run.uid) return endOf(object) ?? {uid};
	return taskFailed(`${errors}.Refused`, `there is a ${kind} "${name}" already, which is not of this run`);
}

/** It was made before: whoever has deleted it meanwhile has ended the attempt. */
function foundAgain(object: ApiObject | undefined, task: CallTask, made: TaskObject): {readonly uid: string} | TaskOutcome {
	if (object === undefined || controllerOf(object)?.uid !== task.run.uid) return deleted(keyOf(task, made), made);
	return {uid: object.metadata.uid};
}

const deleted = (key: ObjectKey, {errors}: Pick<TaskObject, 'errors'>): TaskOutcome =>
	taskFailed(`${errors}.Deleted`, `"${key}" was deleted before it had ended`);

/** Looks at it as it is now, and with each change. */
function endOf(
	{control, follow}: TaskParts,
	key: ObjectKey,
	{endOf: endingOf, errors}: TaskObject,
	{uid, signal}: {readonly uid: string; readonly signal: AbortSignal},
): Promise<TaskOutcome> {
	let leave = (): void => undefined;
	const over = (): Promise<TaskOutcome> =>
		new Promise(resolve => {
			const gone = (): void => resolve(deleted(key, {errors}));
			const seen = (object: ApiObject, isGone: boolean): void => {
				const outcome = object.metadata.uid === uid ? endingOf(object) : undefined;
				if (outcome !== undefined) resolve(outcome);
				else if (isGone || object.metadata.uid !== uid) gone();
			};
			leave = follow(key, seen);
			const now = control.index.get(key);
			if (now === undefined) gone();
			else seen(now, false);
		});
	return unlessAborted(signal, over).finally(() => leave());
}

/** Nobody waits for it any more. What cannot be ended goes with its run at the latest. */
async function end({control, clock, closing, onProblem}: TaskParts, key: ObjectKey, task: CallTask, made: TaskObject): Promise<void> {
	let tries = 0;
	const ended = async (): Promise<true | undefined> => {
		const object = control.index.get(key);
		if (object === undefined || controllerOf(object)?.uid !== task.run.uid || made.endOf(object) !== undefined) return true;
		const outcome = await control.ask(objectAddress(key), made.ending(object), {
			deadlineMs: limits.askDeadlineMs,
			cause: `${causeOf(task)} no more`,
		});
		if (outcome.ok) return true;
		if (mayPass(outcome.error) && ++tries < limits.workflowTaskStops) return undefined;
		onProblem(AppError.of(outcome.error));
		return true;
	};
	await untilBegun(clock, closing, ended).catch((error: unknown) => {
		if (!closing.aborted) throw error;
	});
}
