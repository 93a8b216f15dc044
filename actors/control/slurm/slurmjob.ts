// The record of a SlurmJob: how far it is. What is done at the login node the edge does (server/slurm), and tells it here.

import type {SlurmJob, SlurmJobStatus} from '../../../api/kinds/slurmjob.js';
import {limits} from '../../../api/limits.js';
import {failure} from '../../../api/errors.js';
import type {Context} from '../../../system/kernel/behavior.js';
import {controller, type Handled, type Reconciliation} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import {withNews, type SlurmMessage} from './slurm-news.js';

export const slurmJobController = controller<SlurmJob, SlurmMessage>({
	plural: 'slurmjobs',
	reconcile,
	receive,
	graceSeconds: (job, requested) => (isApart(job) ? 0 : Math.min(requested ?? limits.slurmDeleteSeconds, limits.slurmDeleteSeconds)),
	isRemovable: object => {
		const job = object;
		return isApart(job) || job.status?.isReleased !== undefined || job.metadata.deletionGracePeriodSeconds === 0;
	},
});

/** Nothing of it is at a login node. */
const isApart = (job: SlurmJob): boolean => job.status?.folder === undefined;

/** One that is being deleted goes when its time is over, whatever is left at a login node that does not answer. */
function reconcile(job: SlurmJob, {nowMs}: Context): Reconciliation<SlurmJobStatus> {
	const {deletionTimestamp} = job.metadata;
	if (!isDeleting(job) || deletionTimestamp === undefined) return {effects: []};
	const dueMs = Date.parse(deletionTimestamp);
	if (nowMs >= dueMs) return {status: {...job.status, isReleased: job.status?.isReleased ?? 'givenUp'}, effects: []};
	return {effects: [{type: 'wakeAt', name: 'reconcile', atMs: dueMs, message: {type: 'wake'}}]};
}

function receive(job: SlurmJob, message: SlurmMessage, {nowMs}: Context): Handled<SlurmJob> | undefined {
	switch (message.type) {
		case 'slurmNews': {
			const told = withNews(job, message, nowMs);
			return told.ok ? {ok: true, object: {...job, status: told.status}, effects: told.effects} : told;
		}
		case 'slurmReleased':
			if (message.uid !== job.metadata.uid || !isDeleting(job))
				return {ok: false, error: failure('ERR_CONFLICT', {resource: 'slurmjobs.troupe.dev', name: job.metadata.name})};
			return {ok: true, object: {...job, status: {...job.status, isReleased: message.how}}};
		default:
			return undefined;
	}
}
