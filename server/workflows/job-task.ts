// A task that is a Job: its input says what runs, and how the Job ended is its result.

import {finishOf} from '../../actors/control/workloads/job-verdict.js';
import type {DeleteObject} from '../../actors/control/objects/object-message.js';
import type {CallTask, TaskOutcome} from '../../actors/control/workflows/run-message.js';
import {job as kind, type Job} from '../../api/kinds/job.js';
import {apiVersionOf} from '../../api/catalogue.js';
import {isObject, type ApiObject} from '../../api/object.js';
import {shown} from '../../api/shown.js';
import {objectTask} from './object-task.js';
import {taskFailed} from './task-end.js';
import type {TaskParts} from './task-parts.js';

const errors = 'Job';

export async function jobTask(parts: TaskParts, task: CallTask, signal: AbortSignal): Promise<TaskOutcome> {
	const {input} = task;
	const {spec, ...others} = isObject(input) ? input : {};
	if (!isObject(spec) || Object.keys(others).length > 0) {
		const got = isObject(input) ? `members ${Object.keys(input).map(shown).join(', ') || '(none)'}` : shown(input);
		return taskFailed(`${errors}.Refused`, `the input of job: must be {"spec": …} of a Job and nothing else, got ${got}`);
	}
	const object = {apiVersion: apiVersionOf(kind), kind: kind.kind, plural: kind.plural, spec, errors, endOf, ending};
	return objectTask(parts, task, object, signal);
}

/** Its result, and not whether there is one: what it has counted is in its status. */
function endOf(object: ApiObject): TaskOutcome | undefined {
	const {metadata, status} = object as Job;
	const finish = finishOf(object as Job);
	if (finish === undefined) return undefined;
	if (finish.type === 'Failed') return taskFailed(`${errors}.Failed`, finish.message ?? finish.reason ?? 'the Job has failed');
	return {type: 'succeeded', output: {name: metadata.name, succeeded: status?.succeeded ?? 0, failed: status?.failed ?? 0}};
}

const ending = ({metadata}: ApiObject): DeleteObject => ({type: 'delete', uid: metadata.uid, propagation: 'Background'});
