// A task that is a SlurmJob: its input says what runs on the HPC system, and how it ended is its result.

import type {DeleteObject} from '../../actors/control/objects/object-message.js';
import type {CallTask, TaskOutcome} from '../../actors/control/workflows/run-message.js';
import {apiVersionOf} from '../../api/catalogue.js';
import {slurmJob as kind, slurmPhaseOf, type SlurmJob} from '../../api/kinds/slurmjob.js';
import {isObject, type ApiObject} from '../../api/object.js';
import {shown} from '../../api/shown.js';
import {isSlurmEnd} from '../../api/slurm-phase.js';
import {objectTask} from './object-task.js';
import {taskFailed, taskSucceeded} from './task-end.js';
import type {TaskParts} from './task-parts.js';

const errors = 'SlurmJob';

export async function slurmTask(parts: TaskParts, task: CallTask, signal: AbortSignal): Promise<TaskOutcome> {
	const {input} = task;
	const {spec, ...others} = isObject(input) ? input : {};
	if (!isObject(spec) || Object.keys(others).length > 0) {
		const got = isObject(input) ? `members ${Object.keys(input).map(shown).join(', ') || '(none)'}` : 'something else';
		return taskFailed(`${errors}.Refused`, `the input of slurmjob: must be {"spec": …} of a SlurmJob and nothing else, got ${got}`);
	}
	// The data of a run are kept as they are.
	if (spec['password'] !== undefined)
		return taskFailed(
			`${errors}.Refused`,
			'a password is not taken in the input of a task: put it into a Secret, and name that in spec.secretName',
		);
	const object = {apiVersion: apiVersionOf(kind), kind: kind.kind, plural: kind.plural, spec, errors, endOf, ending};
	return objectTask(parts, task, object, signal);
}

/** Where its results are is in its result. */
function endOf(object: ApiObject): TaskOutcome | undefined {
	const job = object as SlurmJob;
	const {metadata, status} = job;
	const phase = slurmPhaseOf(job);
	if (!isSlurmEnd(phase)) return undefined;
	if (phase !== 'Succeeded') return taskFailed(`${errors}.${phase}`, status?.outcome?.message ?? 'the SlurmJob has failed');
	return taskSucceeded({
		name: metadata.name,
		jobId: status?.jobId ?? null,
		exitCode: status?.exitCode ?? 0,
		artifacts: (status?.artifacts ?? []).map(({name, bytes, digest}) => ({name, bytes, digest})),
	});
}

const ending = ({metadata}: ApiObject): DeleteObject => ({type: 'delete', uid: metadata.uid, propagation: 'Background'});
