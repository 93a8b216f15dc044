// A task that is a run of another workflow: its output is the result, its error that of the task.

import type {PatchObject} from '../../actors/control/objects/object-message.js';
import {controllerOf} from '../../actors/control/objects/owners.js';
import type {CallTask, TaskOutcome} from '../../actors/control/workflows/run-message.js';
import {objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {membersOf, textOf} from '../../api/rules/report.js';
import type {TaskResource} from '../../api/task-resource.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {objectTask} from './object-task.js';
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
	const spec = {workflow: name, input: task.input};
	return objectTask(parts, task, {apiVersion: 'troupe.dev/v1', kind: 'Run', plural, spec, errors, endOf, ending}, signal);
}

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
