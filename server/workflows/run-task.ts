// A task that is a run of another workflow: its output is the result, its error that of the task.

import type {PatchObject} from '../../actors/control/objects/object-message.js';
import {controllerOf} from '../../actors/control/objects/owners.js';
import {isOver} from '../../actors/control/workflows/run.js';
import {familyTerm, rootOf} from '../../actors/control/workflows/run-family.js';
import type {CallTask, TaskOutcome} from '../../actors/control/workflows/run-message.js';
import {objectKey} from '../../api/keys.js';
import type {Run} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {membersOf, textOf} from '../../api/rules/report.js';
import type {TaskResource} from '../../api/task-resource.js';
import {rootRunAnnotation} from '../../api/task-object.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {objectTask, type Made, type TaskObject} from './object-task.js';
import {taskFailed, taskFailedElsewhere, taskSucceeded} from './task-end.js';
import type {TaskParts} from './task-parts.js';

type Called = Extract<TaskResource, {type: 'workflow'}>;

const plural = 'runs';
const errors = 'Workflow';

export async function runTask(parts: TaskParts, task: CallTask, {name}: Called, signal: AbortSignal): Promise<TaskOutcome> {
	if (depthOf(parts.control.index, task) >= limits.workflowNesting)
		return taskFailed(
			'States.Runtime',
			`runs that are tasks of runs may be ${limits.workflowNesting} in one another, and this would be one more: does the workflow "${name}" call itself?`,
		);
	const {run, input} = task;
	const parent = parts.control.index.get(objectKey(plural, run.namespace, run.name));
	const root = parent === undefined ? run.uid : rootOf(parent);
	const made: TaskObject = {
		...{apiVersion: 'troupe.dev/v1', kind: 'Run', plural, spec: {workflow: name, input}, errors, endOf, ending},
		annotations: {[rootRunAnnotation]: root},
		around: make => counted(parts, run.namespace, root, make),
	};
	return objectTask(parts, task, made, signal);
}

/** Of the runs that come from one so many are made; those that are being made count, too. */
async function counted({control, comingRuns}: TaskParts, namespace: string, root: string, make: () => Promise<Made>): Promise<Made> {
	const top = control.index.byUid(root) as Run | undefined;
	// It ends those in it one after the other: meanwhile they would begin as many again.
	if (top !== undefined && isOver(top))
		return taskFailed('States.Runtime', `the run "${top.metadata.name}", which this comes from, is over`);
	const coming = comingRuns.get(root) ?? 0;
	const count = (which: 'all' | 'underWay'): number => control.index.countByTerm(plural, familyTerm(namespace, root, which)) + coming;
	if (count('underWay') >= limits.workflowFamilyUnderWay) return oneTooMany(limits.workflowFamilyUnderWay, 'are under way');
	if (count('all') >= limits.workflowFamily) return oneTooMany(limits.workflowFamily, 'are kept');
	comingRuns.set(root, coming + 1);
	try {
		return await make();
	} finally {
		const left = (comingRuns.get(root) ?? 1) - 1;
		if (left === 0) comingRuns.delete(root);
		else comingRuns.set(root, left);
	}
}

const oneTooMany = (most: number, what: string): TaskOutcome =>
	taskFailed('States.Runtime', `${most} runs that are tasks of one run, or of such runs, ${what}, as many as may`);

/** How many runs the task is in: its own, and those that this is a task of. */
function depthOf(index: ObjectIndex, {run}: CallTask): number {
	let depth = 1;
	let owner = ownerOf(index.get(objectKey(plural, run.namespace, run.name)));
	for (; owner !== undefined && depth < limits.workflowNesting; depth++) owner = ownerOf(index.byUid(owner.uid));
	return depth;
}

function ownerOf(run: ApiObject | undefined): {readonly uid: string} | undefined {
	const owner = run === undefined ? undefined : controllerOf(run);
	return owner?.kind === 'Run' ? owner : undefined;
}

function endOf({status}: ApiObject): TaskOutcome | undefined {
	const {phase, output, error} = membersOf(status);
	switch (phase) {
		case 'Succeeded':
			return taskSucceeded(output ?? null);
		case 'Failed': {
			const {error: name, cause} = membersOf(error);
			return taskFailedElsewhere(textOf(name) ?? '', textOf(cause) ?? '');
		}
		case 'Cancelled':
			return taskFailed(`${errors}.Cancelled`, 'the run was cancelled');
		default:
			return undefined;
	}
}

/** It goes on to be there, and says that it was cancelled. */
const ending = ({metadata}: ApiObject): PatchObject => ({type: 'patch', patch: {metadata: {uid: metadata.uid}, spec: {cancel: true}}});
