// A job's pods: as many as it wants, each end counted once, and an end of the job when its pods say so.

import test from 'ava';
import {completionIndexKey, indexFailureKey, jobTrackingFinalizer} from '../../api/job-labels.js';
import {limits} from '../../api/limits.js';
import type {Job, JobStatus} from '../../api/kinds/job.js';
import type {Pod} from '../../api/kinds/pod.js';
import {timestampOf} from '../../api/object.js';
import type {Context, Effect} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {aJob, createsOf, failedWith, itsPod, saidOf, succeeded} from './_jobs.js';
import {aNode, aPod, aReadyPod, contextWith, drop, indexOf, keyOf, now, nowMs, openWrites, put} from './_objects.js';
import {commit, tellRecord} from './_records.js';

type Step = {readonly job: Job; readonly status: JobStatus; readonly effects: readonly Effect[]};

/** One look of the job at what is committed, and its status committed. */
function look(index: ObjectIndex, job: Job, overrides: Partial<Context> = {}): Step {
	const present = index.get(keyOf(job)) as Job;
	const played = tellRecord(present, [{type: 'wake'}], contextWith(index, overrides));
	const after = played.object as Job;
	if (after !== present) put(index, after);
	return {job: after, status: after.status ?? {}, effects: played.effects};
}

/** Pods do what was said to them. */
function obey(index: ObjectIndex, effects: readonly Effect[]): void {
	for (const effect of effects) {
		const pod = effect.type === 'update' || effect.type === 'delete' ? index.get(effect.key) : undefined;
		if (pod === undefined) continue;
		if (effect.type === 'update') commit(index, pod, effect.message);
		if (effect.type === 'delete') commit(index, pod, {type: 'delete', uid: effect.uid});
	}
}

/** Until nothing is said to pods any more. */
function settle(index: ObjectIndex, job: Job, overrides: Partial<Context> = {}): Step {
	for (let round = 0; round < 10; round++) {
		const step = look(index, job, overrides);
		if (saidOf(step.effects).length === 0) return step;
		obey(index, step.effects);
	}
	throw new Error('the job does not come to rest');
}

const conditionOf = ({status}: Step, type: string) => status.conditions?.find(condition => condition.type === type);
const isHeld = (index: ObjectIndex, pod: Pod): boolean =>
	index.get(keyOf(pod))?.metadata.finalizers?.includes(jobTrackingFinalizer) === true;

test('pods are made from the template, held until they are counted, and never more than may run', t => {
	const job = aJob({spec: {completions: 5, parallelism: 2}});
	const index = indexOf(job);
	const {effects, status} = look(index, job);
	const [first, ...others] = createsOf(effects);
	t.is(others.length, 1);
	t.like(first?.object, {kind: 'Pod', metadata: {namespace: 'default', finalizers: [jobTrackingFinalizer]}});
	t.is(first?.object.metadata.labels?.['job-name'], 'work');
	t.regex(first?.object.metadata.name ?? '', /^work-[a-z0-9]{5}$/);
	t.is(status.startTime, now);
	t.deepEqual(createsOf(look(index, job, {pending: openWrites(effects)}).effects), []);
});

test('a job that crashed with creates under way asks for the same pods', t => {
	const job = aJob({spec: {completions: 5, parallelism: 3}});
	const index = indexOf(job);
	const names = (): readonly (string | undefined)[] => createsOf(look(index, job).effects).map(({object}) => object.metadata.name);
	const asked = names();
	t.deepEqual(names(), asked);
	// One of them landed meanwhile: the others are the same.
	put(index, itsPod(job, asked[1] ?? ''));
	t.deepEqual(names(), [asked[0], asked[2]]);
});

test('a pod that succeeded is noted, then let go, then a number, and the job is complete', t => {
	const job = aJob();
	const pod = itsPod(job, 'a', {status: succeeded});
	const index = indexOf(job, pod);
	const noted = look(index, job);
	t.deepEqual(noted.status.uncountedTerminatedPods, {succeeded: ['uid-of-a']});
	t.is(noted.status.succeeded, undefined);
	t.like(conditionOf(noted, 'SuccessCriteriaMet'), {reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods'});
	t.is(conditionOf(noted, 'Complete'), undefined);
	t.deepEqual(saidOf(noted.effects), ['counted a']);
	// Before the pod heard of it nothing changes, however often it is looked.
	t.is(look(index, job).job, noted.job);
	obey(index, noted.effects);
	t.false(isHeld(index, pod));
	const over = look(index, job);
	t.is(over.status.succeeded, 1);
	t.deepEqual(over.status.uncountedTerminatedPods, {});
	t.is(over.status.completionTime, now);
	t.like(conditionOf(over, 'Complete'), {status: 'True', reason: 'CompletionsReached'});
	t.true(over.effects.some(effect => effect.type === 'event' && effect.reason === 'Completed'));
	t.deepEqual(look(index, job).effects, []);
});

test('a pod that is deleted as it ended stays until it is counted, and counts once', t => {
	const job = aJob({spec: {completions: 2}});
	const pod = itsPod(job, 'a', {status: succeeded});
	const index = indexOf(job, pod);
	commit(index, pod, {type: 'delete', graceSeconds: 0});
	t.true(index.get(keyOf(pod)) !== undefined);
	const noted = look(index, job);
	t.deepEqual(noted.status.uncountedTerminatedPods, {succeeded: ['uid-of-a']});
	obey(index, noted.effects);
	t.is(index.get(keyOf(pod)), undefined);
	t.is(look(index, job).status.succeeded, 1);
	t.is(look(index, job).status.succeeded, 1);
});

test('a pod of a job that is gone, or going, is held for nothing', t => {
	const job = aJob();
	const pod = itsPod(job, 'a', {status: succeeded});
	for (const around of [
		indexOf(pod),
		indexOf({...job, metadata: {...job.metadata, deletionTimestamp: now, finalizers: ['foregroundDeletion']}}, pod),
	]) {
		commit(around, pod, {type: 'delete'});
		t.is(around.get(keyOf(pod)), undefined);
	}
});

test('a pod that is deleted has failed, and is replaced when the wait is over', t => {
	const job = aJob();
	const pod = itsPod(job, 'a', {metadata: {deletionTimestamp: now, deletionGracePeriodSeconds: 30}});
	const index = indexOf(aNode(), job, pod);
	const step = settle(index, job);
	t.is(step.status.failed, 1);
	t.is(step.status.terminating, 1);
	t.deepEqual(createsOf(step.effects), []);
	const wake = step.effects.find(effect => effect.type === 'wakeAt');
	t.is(wake?.atMs, nowMs + limits.jobBackoffFirstMs);
	t.is(createsOf(look(index, job, {nowMs: nowMs + limits.jobBackoffFirstMs}).effects).length, 1);
});

test('where only failed pods are replaced, one that is deleted is waited for', t => {
	const job = aJob({spec: {podReplacementPolicy: 'Failed'}});
	const going = {deletionTimestamp: now, deletionGracePeriodSeconds: 30};
	const index = indexOf(job, itsPod(job, 'a', {metadata: going}));
	const waiting = look(index, job);
	t.deepEqual(waiting.effects, []);
	t.is(waiting.status.failed, undefined);
	put(index, itsPod(job, 'a', {metadata: {...going, deletionGracePeriodSeconds: 0}}));
	t.is(settle(index, job).status.failed, 1);
});

test('where only failed pods are replaced, one that was dismissed is waited for, too', t => {
	const job = aJob({spec: {podReplacementPolicy: 'Failed'}});
	const going = {deletionTimestamp: now, deletionGracePeriodSeconds: 30, finalizers: []};
	const index = indexOf(job, itsPod(job, 'a', {metadata: going}));
	t.deepEqual(createsOf(look(index, job).effects), []);
	drop(index, itsPod(job, 'a'));
	t.is(createsOf(look(index, job).effects).length, 1);
});

test('each failure in a row doubles the wait, and a success ends the row', t => {
	const job = aJob({spec: {completions: 3, parallelism: 1}, status: {failuresInARow: 3, lastFailureTime: now, failed: 3}});
	const index = indexOf(job, itsPod(job, 'a', {status: failedWith(1)}));
	const {status} = settle(index, job);
	t.is(status.failuresInARow, 4);
	const wake = settle(index, job).effects.find(effect => effect.type === 'wakeAt');
	t.is(wake?.atMs, nowMs + 8 * limits.jobBackoffFirstMs);
	put(index, itsPod(job, 'b', {status: succeeded}));
	t.is(settle(index, job).status.failuresInARow, undefined);
	t.is(createsOf(look(index, job).effects).length, 1);
});

test('more failures than the limit end the job: its pods go, and it has failed when none is left', t => {
	const job = aJob({spec: {completions: 4, parallelism: 2, backoffLimit: 0}});
	const running = itsPod(job, 'b');
	const index = indexOf(aNode(), job, itsPod(job, 'a', {status: failedWith(1)}), running);
	const step = look(index, job);
	t.like(conditionOf(step, 'FailureTarget'), {reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit'});
	t.deepEqual(saidOf(step.effects), ['counted a', 'delete b']);
	const going = settle(index, job);
	t.is(conditionOf(going, 'Failed'), undefined);
	t.is(going.status.failed, 2);
	commit(index, index.get(keyOf(running)) ?? running, {type: 'gone', uid: 'uid-of-b', node: 'node-a'});
	const over = settle(index, job);
	t.like(conditionOf(over, 'Failed'), {status: 'True', reason: 'BackoffLimitExceeded'});
	t.is(over.status.completionTime, undefined);
	t.is(over.status.failed, 2);
});

test('restarts of containers count where they start again by themselves', t => {
	const job = aJob({
		spec: {backoffLimit: 2, template: {...aJob().spec.template, spec: {...aJob().spec.template.spec, restartPolicy: 'OnFailure'}}},
	});
	const restarted = (restartCount: number): Pod =>
		itsPod(job, 'a', {
			status: {
				phase: 'Running',
				containerStatuses: [{name: 'main', image: 'program', imageID: '', ready: true, restartCount, state: {running: {startedAt: now}}}],
			},
		});
	const index = indexOf(job, restarted(1));
	t.is(conditionOf(look(index, job), 'FailureTarget'), undefined);
	put(index, restarted(2));
	t.like(conditionOf(look(index, job), 'FailureTarget'), {reason: 'BackoffLimitExceeded'});
});

test('a job that is active for too long has failed', t => {
	const job = aJob({spec: {activeDeadlineSeconds: 60}, status: {startTime: timestampOf(nowMs - 59_000)}});
	const index = indexOf(job, itsPod(job, 'a'));
	const step = look(index, job);
	t.is(conditionOf(step, 'FailureTarget'), undefined);
	t.is(step.effects.find(effect => effect.type === 'wakeAt')?.atMs, nowMs + 1_000);
	t.like(conditionOf(look(index, job, {nowMs: nowMs + 1_000}), 'FailureTarget'), {
		reason: 'DeadlineExceeded',
		message: 'Job was active longer than specified deadline',
	});
});

test('pods of a suspended job go and count for nothing; when it goes on its deadline begins anew', t => {
	const job = aJob({spec: {suspend: true, backoffLimit: 0, activeDeadlineSeconds: 10}, status: {startTime: timestampOf(nowMs - 60_000)}});
	const pod = itsPod(job, 'a');
	const index = indexOf(aNode(), job, pod);
	const step = look(index, job);
	t.deepEqual(saidOf(step.effects), ['dismiss a']);
	t.like(conditionOf(step, 'Suspended'), {status: 'True', reason: 'JobSuspended'});
	obey(index, step.effects);
	t.like(index.get(keyOf(pod))?.metadata, {finalizers: [], deletionGracePeriodSeconds: 30});
	t.is(settle(index, job).status.failed, undefined);
	drop(index, pod);
	const resumed = {...(index.get(keyOf(job)) as Job), spec: {...job.spec, suspend: false}};
	put(index, resumed);
	const after = look(index, resumed);
	t.like(conditionOf(after, 'Suspended'), {status: 'False', reason: 'JobResumed'});
	t.is(after.status.startTime, now);
	t.is(createsOf(after.effects).length, 1);
});

test('a pod that ended before it heard that it is not wanted counts', t => {
	const job = aJob({spec: {suspend: true}});
	const pod = itsPod(job, 'a', {status: succeeded});
	const index = indexOf(job, pod);
	t.is(commit(index, pod, {type: 'dismiss', uid: 'uid-of-a'}), pod);
	t.is(settle(index, job).status.succeeded, 1);
});

test('without a number of completions one success is enough, and the others are waited for', t => {
	const {completions: _none, ...spec} = aJob({spec: {parallelism: 3}}).spec;
	const job = {...aJob(), spec};
	const index = indexOf(job, itsPod(job, 'a', {status: succeeded}), itsPod(job, 'b'));
	const step = settle(index, job);
	t.is(step.status.succeeded, 1);
	t.deepEqual(createsOf(step.effects), []);
	t.is(conditionOf(step, 'SuccessCriteriaMet'), undefined);
	put(index, itsPod(job, 'b', {status: failedWith(1)}));
	t.like(conditionOf(settle(index, job), 'Complete'), {reason: 'CompletionsReached'});
});

// ---- indexes -------------------------------------------------------------------------------------------------------------

const indexed = (spec: Partial<Job['spec']> = {}): Job =>
	aJob({spec: {completionMode: 'Indexed', completions: 4, parallelism: 4, ...spec}});

test('each index has a pod of its own, that knows it', t => {
	const job = indexed();
	const index = indexOf(job, itsPod(job, 'one', {index: 1}));
	const creates = createsOf(look(index, job).effects);
	t.deepEqual(
		creates.map(({object}) => object.metadata.annotations?.[completionIndexKey]),
		['0', '2', '3'],
	);
	t.like(creates[1]?.object, {
		metadata: {labels: {[completionIndexKey]: '2'}},
		spec: {
			hostname: 'work-2',
			containers: [{env: [{name: 'JOB_COMPLETION_INDEX', valueFrom: {fieldRef: {fieldPath: `metadata.labels['${completionIndexKey}']`}}}]}],
		},
	});
	t.regex(creates[1]?.object.metadata.name ?? '', /^work-2-[a-z0-9]{5}$/);
});

test('an index completes once, whoever says so again', t => {
	const job = indexed({parallelism: 1});
	const index = indexOf(job, itsPod(job, 'a', {index: 1, status: succeeded}), itsPod(job, 'b', {index: 1, status: succeeded}));
	const {status} = settle(index, job);
	t.is(status.completedIndexes, '1');
	t.is(status.succeeded, 1);
	put(index, itsPod(job, 'c', {index: 1, status: succeeded}));
	put(index, itsPod(job, 'd', {index: 0, status: succeeded}));
	t.like(settle(index, job).status, {completedIndexes: '0,1', succeeded: 2});
});

test('a pod without an index that is one counts for nothing and is let go', t => {
	const job = indexed();
	const index = indexOf(job, itsPod(job, 'a', {index: 4, status: succeeded}), itsPod(job, 'b', {status: failedWith(1)}));
	const {status} = settle(index, job);
	t.like(status, {completedIndexes: '', uncountedTerminatedPods: {}});
	t.is(status.failed, undefined);
});

test('an index that fails is tried again by itself, and given up at its limit', t => {
	const job = indexed({completions: 2, parallelism: 2, backoffLimitPerIndex: 1, backoffLimit: 2_147_483_647});
	const first = itsPod(job, 'a', {
		index: 0,
		status: failedWith(1),
		annotations: {[indexFailureKey]: '0'},
		metadata: {creationTimestamp: now},
	});
	const index = indexOf(job, first, itsPod(job, 'b', {index: 1, annotations: {[indexFailureKey]: '0'}}));
	const waiting = look(index, job);
	t.deepEqual(saidOf(waiting.effects), []);
	t.is(waiting.effects.find(effect => effect.type === 'wakeAt')?.atMs, nowMs + limits.jobBackoffFirstMs);
	const laterMs = nowMs + limits.jobBackoffFirstMs;
	const [again] = createsOf(look(index, job, {nowMs: laterMs}).effects);
	t.is(again?.object.metadata.annotations?.[indexFailureKey], '1');
	// The next one is there and knows: the one before is counted.
	put(index, itsPod(job, 'c', {index: 0, annotations: {[indexFailureKey]: '1'}}));
	t.is(settle(index, job).status.failed, 1);
	put(index, itsPod(job, 'c', {index: 0, annotations: {[indexFailureKey]: '1'}, status: failedWith(1)}));
	const given = settle(index, job);
	t.like(given.status, {failed: 2, failedIndexes: '0', completedIndexes: ''});
	t.deepEqual(createsOf(given.effects), []);
	put(index, itsPod(job, 'b', {index: 1, status: succeeded}));
	t.like(conditionOf(settle(index, job), 'Failed'), {reason: 'FailedIndexes', message: 'Job has failed indexes'});
});

test('more failed indexes than may fail end the job', t => {
	const job = indexed({backoffLimitPerIndex: 0, maxFailedIndexes: 1, backoffLimit: 99});
	const index = indexOf(job, ...[0, 1].map(at => itsPod(job, `p${at}`, {index: at, status: failedWith(1)})));
	t.like(conditionOf(look(index, job), 'FailureTarget'), {
		reason: 'MaxFailedIndexesExceeded',
		message: 'Job has exceeded the specified maximal number of failed indexes',
	});
});

test('a success policy is enough, and the other pods are needed no more', t => {
	const job = indexed({successPolicy: {rules: [{succeededIndexes: '2,3'}, {succeededIndexes: '0-2', succeededCount: 2}]}});
	const pods = [0, 2].map(at => itsPod(job, `p${at}`, {index: at, status: succeeded}));
	const index = indexOf(job, ...pods, itsPod(job, 'p1', {index: 1}));
	const step = look(index, job);
	t.like(conditionOf(step, 'SuccessCriteriaMet'), {reason: 'SuccessPolicy', message: 'Matched rules at index 1'});
	t.true(saidOf(step.effects).includes('dismiss p1'));
});

test('an elastic job that shrinks lets the pods of the indexes go that are none any more', t => {
	const job = indexed({completions: 2, parallelism: 2});
	const index = indexOf(job, ...[0, 1, 2, 3].map(at => itsPod(job, `p${at}`, {index: at})));
	t.deepEqual(saidOf(look(index, job).effects), ['dismiss p2', 'dismiss p3']);
});

test('an index that completed counts for nothing once the job is too small for it', t => {
	const job = indexed({completions: 2, parallelism: 2});
	const index = indexOf({...job, status: {succeeded: 2, completedIndexes: '2,3'}});
	const {status, effects} = look(index, job);
	t.like(status, {completedIndexes: ''});
	t.is(status.succeeded, undefined);
	t.is(createsOf(effects).length, 2);
});

test('a failure of an index that is to be tried again counts to the limit of the job at once', t => {
	const job = indexed({backoffLimit: 0, backoffLimitPerIndex: 1});
	const index = indexOf(job, itsPod(job, 'a', {index: 0, status: failedWith(1)}));
	t.like(conditionOf(look(index, job), 'FailureTarget'), {reason: 'BackoffLimitExceeded'});
	t.is(settle(index, job).status.failed, 1);
});

test('a job that is to end while an index waits for its next try looks again by itself, and counts the last one', t => {
	const job = indexed({backoffLimitPerIndex: 1, backoffLimit: 9, activeDeadlineSeconds: 5, completions: 1, parallelism: 1});
	const index = indexOf(job, itsPod(job, 'a', {index: 0, status: failedWith(1), annotations: {[indexFailureKey]: '0'}}));
	t.deepEqual(saidOf(look(index, job).effects), []);
	const late = {nowMs: nowMs + 5_000};
	const decided = look(index, job, late);
	t.like(conditionOf(decided, 'FailureTarget'), {reason: 'DeadlineExceeded'});
	t.is(decided.effects.find(effect => effect.type === 'wakeAt')?.atMs, late.nowMs);
	const over = settle(index, job, late);
	t.like(conditionOf(over, 'Failed'), {reason: 'DeadlineExceeded'});
	t.is(over.status.failed, 1);
});

// ---- pod failure policy --------------------------------------------------------------------------------------------------

const byExit = (action: 'FailJob' | 'FailIndex' | 'Ignore' | 'Count', values: readonly number[]) =>
	({action, onExitCodes: {operator: 'In', values}}) as const;

test('the first rule that matches says what a failure means', t => {
	const podFailurePolicy = {
		rules: [byExit('Ignore', [3]), byExit('FailJob', [42]), {action: 'Ignore', onPodConditions: [{type: 'DisruptionTarget'}]} as const],
	};
	const job = aJob({spec: {completions: 9, podFailurePolicy, backoffLimit: 0}});
	const disrupted = itsPod(job, 'd', {
		status: {...failedWith(1), conditions: [{type: 'DisruptionTarget', status: 'True'}]},
	});
	const ignored = indexOf(job, itsPod(job, 'a', {status: failedWith(3)}), disrupted);
	const step = settle(ignored, job);
	t.is(step.status.failed, undefined);
	t.is(conditionOf(step, 'FailureTarget'), undefined);
	const fatal = indexOf(job, itsPod(job, 'f', {status: failedWith(42)}));
	t.like(conditionOf(look(fatal, job), 'FailureTarget'), {
		reason: 'PodFailurePolicy',
		message: 'Container main for pod default/f failed with exit code 42 matching FailJob rule at index 1',
	});
});

test('a rule may give up an index at once', t => {
	const job = indexed({backoffLimitPerIndex: 9, podFailurePolicy: {rules: [byExit('FailIndex', [7])]}, podReplacementPolicy: 'Failed'});
	const index = indexOf(job, itsPod(job, 'a', {index: 2, status: failedWith(7)}));
	t.is(look(index, job).status.failedIndexes, '2');
});

// ---- ownership, bounds, the time after -----------------------------------------------------------------------------------

test('pods that match are adopted and held; one that does not match any more is let go', t => {
	const job = aJob({spec: {manualSelector: true, selector: {matchLabels: {app: 'batch'}}, parallelism: 0}});
	const stray = aReadyPod({name: 'stray', metadata: {labels: {app: 'batch'}}});
	const strange = itsPod(job, 'strange', {metadata: {labels: {app: 'other'}}});
	const {effects} = look(indexOf(job, stray, strange), job);
	const patchOf = (id: string) => {
		const effect = effects.find(each => each.type === 'update' && each.id === id);
		return effect?.type === 'update'
			? (effect.message as unknown as {readonly patch: {readonly metadata: object}}).patch.metadata
			: undefined;
	};
	t.like(patchOf('adopt/uid-of-stray'), {finalizers: [jobTrackingFinalizer]});
	t.like(patchOf('release/uid-of-strange'), {ownerReferences: null, finalizers: null});
});

test('only so many pods are counted at a time, and none is replaced before all are', t => {
	const job = aJob({spec: {completions: 500, parallelism: 150}});
	const pods = Array.from({length: 150}, (_, at) => itsPod(job, `p${at}`, {status: succeeded}));
	const index = indexOf(job, ...pods);
	const first = look(index, job);
	t.is(first.status.uncountedTerminatedPods?.succeeded?.length, limits.uncountedPods);
	t.deepEqual(createsOf(first.effects), []);
	const over = settle(index, job);
	t.is(over.status.succeeded, 150);
});

test('of a job that is over what comes late goes and counts for nothing, and it goes itself in its time', t => {
	const done = {type: 'Complete', status: 'True', lastTransitionTime: now} as const;
	const job = aJob({spec: {ttlSecondsAfterFinished: 100}, status: {succeeded: 1, conditions: [done]}});
	const index = indexOf(job, itsPod(job, 'late'), itsPod(job, 'later', {status: succeeded}), aPod({name: 'other'}));
	const step = look(index, job);
	t.deepEqual([...saidOf(step.effects)].sort(), ['counted later', 'dismiss late']);
	t.is(step.effects.find(effect => effect.type === 'wakeAt')?.atMs, nowMs + 100_000);
	t.is(step.status.succeeded, 1);
	const [deletion] = look(indexOf(job), job, {nowMs: nowMs + 100_000}).effects;
	t.like(deletion, {type: 'delete', key: 'jobs/default/work', uid: job.metadata.uid});
});

test('a job that has ended looks again by itself, for the time when it has to go', t => {
	const job = aJob({
		spec: {ttlSecondsAfterFinished: 100, activeDeadlineSeconds: 5},
		status: {startTime: now, lastFailureTime: now, failuresInARow: 1},
	});
	const index = indexOf(job);
	const late = {nowMs: nowMs + 5_000};
	const ended = look(index, job, late);
	t.like(conditionOf(ended, 'Failed'), {reason: 'DeadlineExceeded'});
	t.is(ended.effects.find(effect => effect.type === 'wakeAt')?.atMs, late.nowMs);
	t.is(look(index, job, late).effects.find(effect => effect.type === 'wakeAt')?.atMs, late.nowMs + 100_000);
});

test('a job of ten thousand does not walk its pods at a change of one', t => {
	const job = aJob({spec: {completions: 10_000, parallelism: 10}, status: {succeeded: 5_000, startTime: now}});
	const pods = Array.from({length: 5_000}, (_, at) => itsPod(job, `p${at}`, {status: succeeded, metadata: {finalizers: []}}));
	const index = indexOf(job, ...pods, itsPod(job, 'now', {status: succeeded}));
	let walked = 0;
	const counting = new Proxy(index, {
		get(target, member) {
			const value: unknown = Reflect.get(target, member, target);
			if (typeof value !== 'function') return value;
			if (member !== 'byTerm' && member !== 'byOwner' && member !== 'list' && member !== 'select')
				return (value as (...args: unknown[]) => unknown).bind(target);
			return function* (...args: unknown[]) {
				for (const object of (value as (...args: unknown[]) => Iterable<unknown>).apply(target, args)) {
					walked++;
					yield object;
				}
			};
		},
	});
	const played = tellRecord(job, [{type: 'wake'}], contextWith(counting));
	t.is(createsOf(played.effects).length, 10);
	t.true(walked < 10, `${walked} objects were walked`);
});
