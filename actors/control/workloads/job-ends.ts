// How the pods of a Job ended, each counted once.
//
// A pod is held by a finalizer until its job has counted it, so none is lost, however it went. The job notes the uid in
// `uncountedTerminatedPods` first, or the index in `completedIndexes`; when that is committed it lets the pod go, and only then the uid becomes
// a number. A crash at any point leaves either the finalizer or the uid. After Kubernetes' job tracking with finalizers.

import {indexFailureKey, indexIgnoredKey} from '../../../api/job-labels.js';
import {below, includes, parseIntervals, sizeOf, withIndexes, type Intervals} from '../../../api/intervals.js';
import type {Job, JobSpec} from '../../../api/kinds/job.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import type {Known} from '../../../system/index/object-index.js';
import {completionIndexOf, isOver, isTracked, jobTerm} from '../pods/job-pod.js';
import {meaningOf} from './job-failure-policy.js';

export type Ends = {
	/** Pods that are counted and let go; of an Indexed job the completed indexes. */
	readonly succeeded: number;
	readonly failed: number;
	/** Uids of pods that are counted next, and held until then. */
	readonly uncounted: {readonly succeeded: readonly string[]; readonly failed: readonly string[]};
	readonly completed: Intervals;
	readonly failedIndexes: Intervals;
	/** Pods that ended in this step. */
	readonly newSuccesses: number;
	readonly newFailures: number;
	/** Why a rule ends the job. */
	readonly failJob: string | undefined;
	/** The newest failed pod of an index that is to be tried again: it is held until there is another, which has to know how often that was. */
	readonly held: ReadonlyMap<number, Pod>;
	/** Failures of such pods that count to the job's limit, though they are no number yet. */
	readonly heldFailures: number;
	/** Indexes of pods that are ending and have to be over before another takes their place. */
	readonly ending: ReadonlySet<number>;
	/** More pods ended than are counted at a time. */
	readonly isPartial: boolean;
	/** Pods to let go. */
	readonly releases: readonly Pod[];
};

export const isIndexed = ({completionMode}: JobSpec): boolean => completionMode === 'Indexed';

/** `isEnding`: the job is to end, and whatever goes now has failed. */
export function endsOf({metadata, status}: Job, spec: JobSpec, isEnding: boolean, known: Known): Ends {
	const before = status?.uncountedTerminatedPods ?? {};
	const succeeded = heldOf(before.succeeded, known);
	const failed = heldOf(before.failed, known);
	const noted = new Set([...succeeded, ...failed]);
	const ended = [...known.byTerm('pods', jobTerm.ended(metadata.uid))] as Pod[];
	const fresh = ended.filter(pod => !noted.has(pod.metadata.uid));
	// Of a job that was made smaller, what is beyond its end is no index any more.
	const completed = below(parseIntervals(status?.completedIndexes), spec.completions);
	const failedIndexes = below(parseIntervals(status?.failedIndexes), spec.completions);
	const news = newsOf(fresh, {spec, uid: metadata.uid, isEnding, completed, failedIndexes, known}, limits.uncountedPods - noted.size);
	const nowCompleted = withIndexes(completed, news.completed);
	return {
		succeeded: isIndexed(spec) ? sizeOf(nowCompleted) : (status?.succeeded ?? 0) + (before.succeeded?.length ?? 0) - succeeded.length,
		failed: (status?.failed ?? 0) + (before.failed?.length ?? 0) - failed.length,
		uncounted: {succeeded: [...succeeded, ...news.succeeded], failed: [...failed, ...news.failed]},
		completed: nowCompleted,
		failedIndexes: withIndexes(failedIndexes, news.failedIndexes),
		newSuccesses: news.succeeded.length + news.completed.size,
		newFailures: news.failed.length,
		failJob: news.failJob,
		held: news.held,
		heldFailures: [...news.held.values()].filter(pod => meaningOf(spec, pod)?.action !== 'Ignore').length,
		ending: news.ending,
		isPartial: news.isPartial,
		releases: [...ended.filter(pod => noted.has(pod.metadata.uid)), ...news.releases],
	};
}

/** Those whose pod is still held for them. */
const heldOf = (uids: readonly string[] = [], known: Known): readonly string[] =>
	uids.filter(uid => {
		const pod = known.byUid(uid);
		return pod !== undefined && isTracked(pod as Pod);
	});

type Around = {
	readonly spec: JobSpec;
	readonly uid: string;
	readonly isEnding: boolean;
	readonly completed: Intervals;
	readonly failedIndexes: Intervals;
	readonly known: Known;
};

type News = {
	readonly succeeded: string[];
	readonly failed: string[];
	readonly completed: Set<number>;
	readonly failedIndexes: Set<number>;
	readonly held: Map<number, Pod>;
	readonly ending: Set<number>;
	readonly releases: Pod[];
	failJob: string | undefined;
	isPartial: boolean;
};

/** What pods say that are in no count and in no list yet, as far as there is room in the lists. */
function newsOf(fresh: readonly Pod[], around: Around, room: number): News {
	const {spec} = around;
	const news: News = {
		succeeded: [],
		failed: [],
		completed: new Set(),
		failedIndexes: new Set(),
		held: new Map(),
		ending: new Set(),
		releases: [],
		failJob: undefined,
		isPartial: false,
	};
	const newest = spec.backoffLimitPerIndex === undefined ? undefined : newestFailures(fresh, around);
	for (const pod of fresh) {
		if (news.succeeded.length + news.failed.length + news.completed.size >= room) return {...news, isPartial: true};
		const index = isIndexed(spec) ? validIndexOf(pod, spec) : 0;
		if (index === undefined) news.releases.push(pod);
		else if (pod.status?.phase === 'Succeeded') takeSuccess(pod, index, around, news);
		else if (hasFailed(pod, around)) takeFailure(pod, index, newest, around, news);
		else news.ending.add(index);
	}
	return news;
}

function takeSuccess(pod: Pod, index: number, {spec, completed}: Around, news: News): void {
	news.releases.push(pod);
	if (!isIndexed(spec)) news.succeeded.push(pod.metadata.uid);
	else if (!includes(completed, index)) news.completed.add(index);
}

function takeFailure(pod: Pod, index: number, newest: Newest | undefined, around: Around, news: News): void {
	const meaning = meaningOf(around.spec, pod);
	if (meaning?.action === 'FailJob') news.failJob ??= meaning.message;
	if (newest !== undefined) {
		if (hasIndexFailed(pod, meaning?.action, around.spec)) {
			if (!includes(around.failedIndexes, index)) news.failedIndexes.add(index);
		} else if (isLastTry(pod, index, newest, around)) {
			news.held.set(index, pod);
			return;
		}
	}
	news.releases.push(pod);
	if (meaning?.action !== 'Ignore') news.failed.push(pod.metadata.uid);
}

/** A pod that is being deleted has failed at once, or when nothing of it runs any more, as the job would have it. */
function hasFailed(pod: Pod, {spec, isEnding}: Around): boolean {
	if (pod.status?.phase === 'Failed' || isOver(pod)) return true;
	return isEnding || spec.podReplacementPolicy !== 'Failed';
}

function validIndexOf(pod: Pod, {completions = 0}: JobSpec): number | undefined {
	const index = completionIndexOf(pod);
	return index !== undefined && index < completions ? index : undefined;
}

// ---- indexes that are tried again ----------------------------------------------------------------------------------------

/** How often its index failed before; `ignored`: failures that did not count. */
export function failuresBefore({metadata}: Pod): {readonly counted: number; readonly ignored: number} {
	const numberOf = (key: string): number => {
		const text = metadata.annotations?.[key] ?? '0';
		return /^\d{1,9}$/.test(text) ? Number(text) : 0;
	};
	return {counted: numberOf(indexFailureKey), ignored: numberOf(indexIgnoredKey)};
}

const triesBefore = (pod: Pod): number => {
	const {counted, ignored} = failuresBefore(pod);
	return counted + ignored;
};

const hasIndexFailed = (pod: Pod, action: string | undefined, {backoffLimitPerIndex = 0}: JobSpec): boolean =>
	action === 'FailIndex' || (action !== 'Ignore' && failuresBefore(pod).counted >= backoffLimitPerIndex);

type Newest = ReadonlyMap<number, Pod>;

/** The newest ended pod of each index. */
function newestFailures(fresh: readonly Pod[], {spec}: Around): Newest {
	const newest = new Map<number, Pod>();
	for (const pod of fresh) {
		const index = validIndexOf(pod, spec);
		if (index === undefined) continue;
		const other = newest.get(index);
		if (other === undefined || triesBefore(pod) > triesBefore(other)) newest.set(index, pod);
	}
	return newest;
}

/** Whether there is no other pod of its index that knows of it, while one is still wanted. */
function isLastTry(pod: Pod, index: number, newest: Newest, {uid, isEnding, completed, failedIndexes, known}: Around): boolean {
	if (isEnding || includes(completed, index) || includes(failedIndexes, index) || newest.get(index) !== pod) return false;
	return known.countByTerm('pods', jobTerm.index(uid, index)) === 0;
}
