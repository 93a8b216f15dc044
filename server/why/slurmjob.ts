// Why a SlurmJob is not over: what keeps it from its login node, or what Slurm says of it.

import {conditionOf} from '../../api/conditions.js';
import {slurmPhaseOf, type SlurmJob} from '../../api/kinds/slurmjob.js';
import type {ApiObject} from '../../api/object.js';
import {generalFinding} from './common.js';
import {finding, timeOf, type Evidence, type Finding} from './finding.js';

export function slurmJobFinding(object: ApiObject, _evidence: Evidence): Finding {
	const job = object as SlurmJob;
	const general = generalFinding(job);
	if (general !== undefined) return general;
	const {status} = job;
	const {message = '', reason = ''} = status?.outcome ?? {};
	const held = conditionOf(status?.conditions, 'Reachable');
	const phase = slurmPhaseOf(job);
	const atMs = timeOf(status?.completionTime);
	if (phase === 'Succeeded') return finding(job, {state: 'over', is: 'is complete', because: '', atMs});
	if (phase === 'Failed' || phase === 'Cancelled')
		return finding(job, {
			state: 'wrong',
			is: phase === 'Failed' ? 'has failed' : 'was cancelled',
			because: message === '' ? reason : message,
			atMs,
			next: {says: `troupe logs slurmjob/${job.metadata.name} shows what it has written`},
		});
	if (held?.status === 'False')
		return finding(job, {
			state: 'wrong',
			is: `does not go on (${phase})`,
			because: held.message ?? held.reason ?? '',
			next: {says: 'it is tried again'},
		});
	if (phase === 'Queued') {
		const place = status?.queuePosition === undefined ? '' : `, place ${status.queuePosition}`;
		return finding(job, {
			state: 'waits',
			is: 'waits in the queue of Slurm',
			because: `${status?.reason ?? 'Slurm gives no reason'}${place}`,
			next: {says: 'Slurm starts it', ...startOf(status?.estimatedStart)},
		});
	}
	return finding(job, {state: 'waits', is: phase === 'Running' ? 'runs' : `is ${phase.toLowerCase()}`, because: runningText(job)});
}

function startOf(text: string | undefined): {readonly atMs?: number} {
	const atMs = timeOf(text);
	return atMs === undefined ? {} : {atMs};
}

const runningText = ({status}: SlurmJob): string =>
	status?.jobId === undefined ? '' : `job ${status.jobId} of Slurm${status.nodes === undefined ? '' : ` on ${status.nodes}`}`;
