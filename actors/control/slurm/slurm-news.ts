// What the edge tells the record of a SlurmJob: what it is about to do, and what came of it. Pure.
//
// The edge goes on only when its news is committed, so that after a crash the next one knows what may have been done already. News that
// does not fit the phase that is committed is refused: who told it has to look again.

import {failure, type Failure} from '../../../api/errors.js';
import type {SlurmJob, SlurmJobStatus} from '../../../api/kinds/slurmjob.js';
import {slurmPhaseOf} from '../../../api/kinds/slurmjob.js';
import {timestampOf, type Condition} from '../../../api/object.js';
import {isSlurmEnd, slurmMoves, type SlurmPhase} from '../../../api/slurm-phase.js';
import type {Effect, Message} from '../../../system/kernel/behavior.js';
import {withCondition, withoutCondition} from '../objects/conditions.js';
import {normal, warning} from '../objects/event.js';

/** How Slurm has a job now: all of it, each time. */
export type SlurmSeen = Pick<
	SlurmJobStatus,
	'state' | 'reason' | 'queuePosition' | 'estimatedStart' | 'nodes' | 'restarts' | 'tasks' | 'startTime' | 'exitCode' | 'signal'
>;

export type SlurmFacts = Pick<
	SlurmJobStatus,
	'host' | 'username' | 'hostKey' | 'folder' | 'jobId' | 'submitTime' | 'outcome' | 'artifacts' | 'expiresAt'
>;

export type SlurmHeld = {readonly reason: string; readonly message: string};

export type SlurmNews = Message & {
	readonly type: 'slurmNews';
	readonly uid: string;
	/** The phase that the edge saw. */
	readonly from: SlurmPhase;
	readonly to: SlurmPhase;
	readonly facts?: SlurmFacts;
	readonly seen?: SlurmSeen;
	/** Why it cannot go on now; null: it goes on. */
	readonly held?: SlurmHeld | null;
	/** The key of the login node was seen for the first time, and nothing says that it is the right one. */
	readonly trusted?: true;
};

/** Of one that is being deleted: nothing of it is left there, or it is not to be had. */
export type SlurmReleased = Message & {
	readonly type: 'slurmReleased';
	readonly uid: string;
	readonly how: NonNullable<SlurmJobStatus['isReleased']>;
};

export type SlurmMessage = SlurmNews | SlurmReleased;

export type Told =
	{readonly ok: true; readonly status: SlurmJobStatus; readonly effects: readonly Effect[]} | {readonly ok: false; readonly error: Failure};

/** The status with the news, and what is told of it. */
export function withNews(job: SlurmJob, news: SlurmNews, nowMs: number): Told {
	const phase = slurmPhaseOf(job);
	const isMove = news.to !== phase;
	if (news.uid !== job.metadata.uid || news.from !== phase || (isMove ? !slurmMoves[phase].includes(news.to) : isSlurmEnd(phase)))
		return {ok: false, error: outdated(job, news)};
	const before = job.status ?? {};
	const rest = news.seen === undefined ? before : withoutSeen(before);
	const status: SlurmJobStatus = {
		...rest,
		...news.facts,
		...news.seen,
		observedGeneration: job.metadata.generation,
		phase: news.to,
		...(isSlurmEnd(news.to) ? {completionTime: timestampOf(nowMs)} : {}),
	};
	const conditions = conditionsOf(status, news, nowMs);
	return {ok: true, status: {...status, ...(conditions === undefined ? {} : {conditions})}, effects: eventsOf(job, status, news)};
}

const outdated = ({metadata}: SlurmJob, {from, to}: SlurmNews): Failure =>
	failure('ERR_CONFLICT', {resource: 'slurmjobs.troupe.dev', name: metadata.name, message: `it does not go from ${from} to ${to} now`});

const seenMembers: ReadonlySet<string> = new Set<keyof SlurmSeen>([
	'state',
	'reason',
	'queuePosition',
	'estimatedStart',
	'nodes',
	'restarts',
	'tasks',
	'startTime',
	'exitCode',
	'signal',
]);

const withoutSeen = (status: SlurmJobStatus): SlurmJobStatus =>
	Object.fromEntries(Object.entries(status).filter(([member]) => !seenMembers.has(member)));

/** What the end says, in the words of a Job. */
const endCondition = {Succeeded: 'Complete', Failed: 'Failed', Cancelled: 'Failed'} as const;

function conditionsOf(status: SlurmJobStatus, {held, trusted, to}: SlurmNews, nowMs: number): readonly Condition[] | undefined {
	let conditions = status.conditions;
	if (trusted === true)
		conditions = withCondition(
			conditions,
			{type: 'HostKeyPinned', status: 'False', reason: 'TrustedOnFirstUse', message: trustWords(status)},
			nowMs,
		);
	if (held !== undefined && held !== null) conditions = withCondition(conditions, {type: 'Reachable', status: 'False', ...held}, nowMs);
	if (held === null || isSlurmEnd(to)) conditions = withoutCondition(conditions, 'Reachable');
	if (to === 'Succeeded' || to === 'Failed' || to === 'Cancelled') {
		const {reason = to, message = ''} = status.outcome ?? {};
		conditions = withCondition(conditions, {type: endCondition[to], status: 'True', reason, message}, nowMs);
	}
	return conditions;
}

const trustWords = ({host = '', hostKey = ''}: SlurmJobStatus): string =>
	`nothing says which key ${host} has: its key ${hostKey} was taken as the right one; if it is, set spec.hostKey to it`;

function eventsOf({status: before}: SlurmJob, status: SlurmJobStatus, {from, to, held, trusted}: SlurmNews): readonly Effect[] {
	const events: Effect[] = [];
	if (trusted === true) events.push(warning('HostKeyTrusted', trustWords(status)));
	const heldBefore = before?.conditions?.find(({type}) => type === 'Reachable');
	if (held !== undefined && held !== null && held.reason !== heldBefore?.reason) events.push(warning(held.reason, held.message));
	if ((status.restarts ?? 0) > (before?.restarts ?? 0)) events.push(warning('Requeued', 'Slurm has begun the job anew'));
	if (from === to) return events;
	if (to === 'Queued' && from === 'Submitting') events.push(normal('Submitted', `Slurm has it as job ${status.jobId ?? ''}`));
	if (to === 'Running') events.push(normal('Started', `it runs on ${status.nodes ?? 'its nodes'}`));
	if (to === 'Succeeded') events.push(normal('Completed', status.outcome?.message ?? 'the job is complete'));
	if (to === 'Failed' || to === 'Cancelled') events.push(warning(status.outcome?.reason ?? to, status.outcome?.message ?? ''));
	return events;
}
