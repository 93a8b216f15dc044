// Objects that tasks of runs have made, Jobs, SlurmJobs and runs: each ends by itself once its run has gone on without it. The edge ends it sooner, unless it was
// killed before, or could not.

import {objectKey} from '../../../api/keys.js';
import type {Job} from '../../../api/kinds/job.js';
import type {Run} from '../../../api/kinds/run.js';
import {slurmPhaseOf, type SlurmJob} from '../../../api/kinds/slurmjob.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject} from '../../../api/object.js';
import {isSlurmEnd} from '../../../api/slurm-phase.js';
import {taskKeyAnnotation} from '../../../api/task-object.js';
import type {Known} from '../../../system/index/object-index.js';
import type {Context} from '../../../system/kernel/behavior.js';
import {frameOfKey, keyOf} from '../../workflows/keys.js';
import {isWaitedFor} from '../../workflows/moves.js';
import type {Controller} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import {controllerOf} from '../objects/owners.js';
import {slurmJobController} from '../slurm/slurmjob.js';
import {jobController} from '../workloads/job.js';
import {finishOf} from '../workloads/job-verdict.js';
import {frameIn, headOf, runKeyOf, viewOf} from './run-parts.js';

/** Whether it was made for an attempt that its run does not wait for any more. */
export const isWaitedForNoMore = (object: ApiObject, known: Known): boolean => isAwaited(object, known) === false;

/** Whether it was made for an attempt that its run still waits for: that run has yet to read how it ended. */
export const isWaitedForYet = (object: ApiObject, known: Known): boolean => isAwaited(object, known) === true;

/** Whether the run that it was made for waits for it. Undefined: there is no such run. */
function isAwaited(object: ApiObject, known: Known): boolean | undefined {
	const owner = controllerOf(object);
	const key = object.metadata.annotations?.[taskKeyAnnotation];
	if (owner?.kind !== 'Run' || key === undefined) return undefined;
	const found = known.byUid(owner.uid);
	// Without an owner it goes anyway.
	if (found?.kind !== 'Run') return undefined;
	const run = found as Run;
	const head = headOf(run);
	const id = frameOfKey(head, key);
	const frame = id === undefined ? undefined : frameIn(known, runKeyOf(run), id);
	return frame?.phase.type === 'task' && keyOf(head, frame) === key && isWaitedFor(viewOf(run, known), frame);
}

/** What its tasks have made that is not over. */
export function* openTasksOf({metadata}: Run, known: Known): Iterable<ApiObject> {
	for (const owned of known.byOwner(metadata.uid)) if (isOpen(owned)) yield owned;
}

function isOpen(object: ApiObject): boolean {
	switch (object.kind) {
		case 'Run':
			return (object as Run).status?.completionTime === undefined;
		case 'Job':
			return finishOf(object as Job) === undefined;
		case 'SlurmJob':
			return !isSlurmEnd(slurmPhaseOf(object as SlurmJob));
		default:
			return false;
	}
}

/** A controller of objects that may be tasks of runs: they go when their run has gone on without them. */
const taskController = (own: Controller): Controller => ({
	...own,
	reconcile(object, context, failures) {
		const {metadata} = object;
		if (isDeleting(object) || !isOpen(object) || !isWaitedForNoMore(object, context.known))
			return keptWhileAwaited(object, context, own.reconcile(object, context, failures));
		const id = `delete/${metadata.uid}`;
		const key = objectKey(own.plural, metadata.namespace, metadata.name);
		return {effects: context.pending.has(id) ? [] : [{type: 'delete', key, uid: metadata.uid, id}]};
	},
});

export const jobTaskController = taskController(jobController);
export const slurmTaskController = taskController(slurmJobController);

/** Its time may be over before its run has read how it ended: it goes once that is so. */
function keptWhileAwaited(object: ApiObject, {known, nowMs}: Context, reconciled: ReturnType<Controller['reconcile']>): typeof reconciled {
	const others = reconciled.effects.filter(effect => effect.type !== 'delete' || effect.uid !== object.metadata.uid);
	if (others.length === reconciled.effects.length || !isWaitedForYet(object, known)) return reconciled;
	return {...reconciled, effects: others, wakeAtMs: nowMs + limits.runAgainMs};
}
