// The record of a SlurmJob: which news it takes, and how long it stays when it is deleted.

import test from 'ava';
import type {SlurmJob, SlurmJobStatus} from '../../api/kinds/slurmjob.js';
import {slurmMoves, slurmPhases, type SlurmPhase} from '../../api/slurm-phase.js';
import type {SlurmNews} from '../../actors/control/slurm/slurm-news.js';
import {withNews} from '../../actors/control/slurm/slurm-news.js';
import {slurmJobController} from '../../actors/control/slurm/slurmjob.js';
import {noFailures} from '../../actors/control/objects/controller.js';
import {playContext} from '../../system/kernel/play.js';
import {aSlurmJob} from '../server/slurm/_slurm.js';
import {now, nowMs} from './_objects.js';

const inPhase = (phase: SlurmPhase, more: SlurmJobStatus = {}): SlurmJob => aSlurmJob({}, {...more, phase});
const news = (from: SlurmPhase, to: SlurmPhase, more: Partial<SlurmNews> = {}): SlurmNews => ({
	type: 'slurmNews',
	uid: 'uid-of-matrix',
	from,
	to,
	...more,
});
const told = (job: SlurmJob, message: SlurmNews) => withNews(job, message, nowMs);

test('a job goes only where the table of moves says, and news of another phase or job is refused', t => {
	for (const from of slurmPhases)
		for (const to of slurmPhases) {
			const isFine = from === to ? slurmMoves[from].length > 0 : slurmMoves[from].includes(to);
			t.is(told(inPhase(from), news(from, to)).ok, isFine, `${from} ${to}`);
		}
	t.false(told(inPhase('Queued'), news('Submitting', 'Queued')).ok);
	t.false(told(inPhase('Queued'), {...news('Queued', 'Running'), uid: 'other'}).ok);
});

test('the same news twice is taken once: after a crash between commit and effect the edge looks again', t => {
	const job = inPhase('Submitting');
	const message = news('Submitting', 'Queued', {facts: {jobId: '7'}, seen: {state: 'PENDING'}});
	const first = told(job, message);
	t.true(first.ok);
	if (!first.ok) return;
	t.like(first.status, {phase: 'Queued', jobId: '7', state: 'PENDING'});
	t.deepEqual(first.effects, [{type: 'event', event: 'Normal', reason: 'Submitted', message: 'Slurm has it as job 7'}]);
	t.false(told({...job, status: first.status}, message).ok);
});

test('what Slurm says takes the place of all that it said before', t => {
	const before = inPhase('Queued', {jobId: '7', reason: 'Priority', queuePosition: 3, estimatedStart: now});
	const after = told(before, news('Queued', 'Running', {seen: {state: 'RUNNING', nodes: 'n1'}}));
	t.deepEqual(after.ok && after.status, {phase: 'Running', jobId: '7', state: 'RUNNING', nodes: 'n1', observedGeneration: 1});
});

test('why it cannot go on is a condition and one event, until it does', t => {
	const held = {reason: 'Unreachable', message: 'no answer'};
	const first = told(inPhase('Queued'), news('Queued', 'Queued', {held}));
	t.like(first.ok && first.status.conditions?.[0], {type: 'Reachable', status: 'False', ...held});
	t.is(first.ok && first.effects.length, 1);
	if (!first.ok) return;
	const again = told(inPhase('Queued', first.status), news('Queued', 'Queued', {held: {...held, message: 'still none'}}));
	t.deepEqual(again.ok && again.effects, []);
	const on = told(inPhase('Queued', first.status), news('Queued', 'Running', {held: null, seen: {state: 'RUNNING'}}));
	t.deepEqual(on.ok && on.status.conditions, []);
});

test('an end is a condition as of a Job', t => {
	const outcome = {phase: 'Cancelled', reason: 'Cancelled', message: 'the job was cancelled in Slurm'} as const;
	const end = told(inPhase('Fetching', {outcome}), news('Fetching', 'Cancelled'));
	t.like(end.ok && end.status, {completionTime: now, phase: 'Cancelled'});
	t.like(end.ok && end.status.conditions?.[0], {type: 'Failed', status: 'True', reason: 'Cancelled'});
});

const deleting = (job: SlurmJob, atMs: number): SlurmJob => ({
	...job,
	metadata: {...job.metadata, deletionTimestamp: new Date(atMs).toISOString(), deletionGracePeriodSeconds: 120},
});

test('a deleted job stays until nothing of it is left at the login node, or its time is over; one that was never there goes at once', t => {
	const {graceSeconds, isRemovable, receive, reconcile} = slurmJobController;
	const context = playContext();
	const there = inPhase('Running', {folder: '.troupe/uid-of-matrix'});
	t.is(graceSeconds?.(there, undefined), 120);
	t.is(graceSeconds?.(there, 0), 0);
	t.is(graceSeconds?.(inPhase('Pending'), undefined), 0);
	t.is(isRemovable?.(there, context.known), false);
	t.is(isRemovable?.(inPhase('Pending'), context.known), true);
	const gone = receive?.(deleting(there, nowMs + 1_000), {type: 'slurmReleased', uid: 'uid-of-matrix', how: 'released'} as never, context);
	t.true(gone?.ok === true && isRemovable?.(gone.object, context.known));
	t.false(receive?.(there, {type: 'slurmReleased', uid: 'uid-of-matrix', how: 'released'} as never, context)?.ok);
	t.deepEqual(
		reconcile(deleting(there, nowMs + 1_000), context, noFailures).effects.map(({type}) => type),
		['wakeAt'],
	);
	t.like(reconcile(deleting(there, nowMs), context, noFailures).status, {isReleased: 'givenUp'});
});
