// Which workloads and pods are not as they should be: each pod is told of by what made it, so that a thousand that crash are one line. Pure.

import {conditionOf, isConditionTrue} from '../../api/conditions.js';
import type {Job} from '../../api/kinds/job.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ApiObject, Condition} from '../../api/object.js';
import {controllerOf} from '../../actors/control/objects/owners.js';
import {finishOf} from '../../actors/control/workloads/job-verdict.js';
import {passing, troubleOf, troubles, troubleText, type PodTrouble, type Trouble} from '../../server/why/trouble.js';
import type {Objects} from './seen.js';
import {whyWrong, type Judged} from './wrong.js';

/** A pod that is not ready yet counts as on its way for so long. */
const unreadyMs = 60_000;

type Troubled = PodTrouble & {readonly pod: Pod};

/** What is wrong with workloads and pods that nothing made, and what is on its way. */
export function judgeWorkloads(objects: Objects, nowMs: number): Judged {
	const {deployments, statefulsets, daemonsets, replicasets, jobs} = objects;
	const owners = new Map([deployments, statefulsets, daemonsets, replicasets, jobs].flat().map(each => [each.metadata.uid, each]));
	const ofOwner = new Map<ApiObject | undefined, Troubled[]>();
	for (const pod of objects.pods) {
		const found = troubleOf(pod, nowMs);
		if (found === undefined) continue;
		const owner = topOwner(pod, owners);
		const already = ofOwner.get(owner);
		if (already === undefined) ofOwner.set(owner, [{...found, pod}]);
		else already.push({...found, pod});
	}
	const tops = [...owners.values()].filter(each => topOwner(each, owners) === undefined);
	const judged = [
		...tops.map(top => (isJob(top) ? judgeJob(top, ofOwner.get(top) ?? [], nowMs) : judgeSet(top, ofOwner.get(top) ?? [], nowMs))),
		...(ofOwner.get(undefined) ?? []).map(each => judgePod(each, nowMs)),
	];
	return {wrong: judged.flatMap(({wrong}) => wrong), coming: judged.flatMap(({coming}) => coming)};
}

/** The uppermost of those that are known; undefined: nothing known made it. */
function topOwner(object: ApiObject, owners: ReadonlyMap<string, ApiObject>): ApiObject | undefined {
	let top: ApiObject | undefined;
	// A ReplicaSet's Deployment is as far as it goes; owners in a ring are nobody's.
	for (let [at, left] = [object, 3]; left > 0; left--) {
		const owner = owners.get(controllerOf(at)?.uid ?? '');
		if (owner === undefined) break;
		at = top = owner;
	}
	return top;
}

const isJob = (object: ApiObject): object is Job => object.kind === 'Job';

const nothing: Judged = {wrong: [], coming: []};

function judgePod(troubled: Troubled, nowMs: number): Judged {
	const {pod, trouble} = troubled;
	const detail = detailOf(troubled);
	const says = `${troubleText[trouble][0]}${detail === '' ? '' : `: ${detail}`}`;
	return isComing(troubled, nowMs) ? {wrong: [], coming: [{...aboutOf(pod), says}]} : {wrong: [whyWrong(pod, says)], coming: []};
}

/** ReplicaSets, Deployments, StatefulSets, DaemonSets. */
function judgeSet(set: ApiObject, troubled: readonly Troubled[], nowMs: number): Judged {
	const {ready, wanted} = sizeOf(set);
	const refused = refusalOf(set);
	// One that failed was replaced, as far as there is room.
	const bad = troubled.filter(each => !isComing(each, nowMs) && (each.trouble !== 'failed' || ready < wanted));
	const standing = `${ready} of ${wanted} ${wanted === 1 ? 'pod' : 'pods'} ready`;
	if (bad.length > 0) return {wrong: [whyWrong(set, `${standing}: ${podsText(bad)}`)], coming: []};
	if (ready >= wanted) return nothing;
	if (refused !== undefined) return {wrong: [whyWrong(set, `${standing}: ${refused}`)], coming: []};
	return {wrong: [], coming: [{...aboutOf(set), says: standing}]};
}

function judgeJob(job: Job, troubled: readonly Troubled[], nowMs: number): Judged {
	const finish = finishOf(job);
	if (finish?.type === 'Failed') return {wrong: [whyWrong(job, `failed: ${finish.message ?? finish.reason ?? ''}`)], coming: []};
	if (finish !== undefined) return nothing;
	// It counts its failures itself, and says when they are too many.
	const bad = troubled.filter(each => each.trouble !== 'failed' && !isComing(each, nowMs));
	return bad.length === 0 ? nothing : {wrong: [whyWrong(job, podsText(bad))], coming: []};
}

type Sized = ApiObject & {
	readonly spec?: {readonly replicas?: number};
	readonly status?: {
		readonly readyReplicas?: number;
		readonly numberReady?: number;
		readonly desiredNumberScheduled?: number;
		readonly conditions?: readonly Condition[];
	};
};

function sizeOf(set: ApiObject): {readonly ready: number; readonly wanted: number} {
	const {kind, spec, status} = set as Sized;
	return kind === 'DaemonSet'
		? {ready: status?.numberReady ?? 0, wanted: status?.desiredNumberScheduled ?? 0}
		: {ready: status?.readyReplicas ?? 0, wanted: spec?.replicas ?? 1};
}

/** Its pods are refused, or it gave up. */
function refusalOf(set: ApiObject): string | undefined {
	const {conditions} = (set as Sized).status ?? {};
	if (isConditionTrue(conditions, 'ReplicaFailure')) return conditionOf(conditions, 'ReplicaFailure')?.message ?? 'its pods are refused';
	const progress = conditionOf(conditions, 'Progressing');
	return progress?.status === 'False' ? (progress.message ?? 'it does not progress') : undefined;
}

/** `2 crash, 1 has no node; container app exited with 3`. */
function podsText(bad: readonly Troubled[]): string {
	const counts = new Map<Trouble, number>();
	for (const {trouble} of bad) counts.set(trouble, (counts.get(trouble) ?? 0) + 1);
	const told = troubles.flatMap(trouble => {
		const count = counts.get(trouble);
		return count === undefined ? [] : [`${count} ${troubleText[trouble][count === 1 ? 0 : 1]}`];
	});
	const worst = bad.reduce((a, b) => (troubles.indexOf(b.trouble) < troubles.indexOf(a.trouble) ? b : a));
	const detail = detailOf(worst);
	return `${told.join(', ')}${detail === '' ? '' : `; ${detail}`}`;
}

/** Whether it may pass by itself. */
function isComing({pod, trouble, container}: Troubled, nowMs: number): boolean {
	if (passing.has(trouble) || trouble === 'unleased') return true;
	if (trouble === 'unplaced') return conditionOf(pod.status?.conditions, 'PodScheduled')?.status !== 'False';
	// What is there and not well is told by itself.
	if (trouble === 'awaiting') return !scheduledText(pod).includes(' is not there');
	if (trouble !== 'unready') return false;
	const sinceMs = Date.parse(container?.status.state?.running?.startedAt ?? pod.metadata.creationTimestamp);
	return nowMs - sinceMs < unreadyMs;
}

const scheduledText = ({status}: Pod): string => conditionOf(status?.conditions, 'PodScheduled')?.message ?? '';

/** Of the container, or why there is no node. */
function detailOf({pod, trouble, container}: Troubled): string {
	if (trouble === 'unplaced' || trouble === 'awaiting') return scheduledText(pod);
	if (trouble === 'unheard') return pod.spec?.nodeName === undefined ? '' : `node ${pod.spec.nodeName}`;
	if (container === undefined) return pod.status?.message ?? '';
	const {name, state, lastState, restartCount, started} = container.status;
	const end = state?.terminated ?? lastState?.terminated;
	const restarts = restartCount === 0 ? '' : `, ${restartCount} ${restartCount === 1 ? 'restart' : 'restarts'}`;
	if ((trouble === 'crashes' || trouble === 'failed') && end !== undefined) {
		const how = end.reason === 'OOMKilled' ? 'was out of memory' : `exited with ${end.exitCode}`;
		return `container ${name} ${how}${restarts}`;
	}
	// A container without probes is ready as soon as it runs.
	if (trouble === 'unready') return `container ${name} has not passed its ${started === false ? 'startup' : 'readiness'} probe`;
	const words = (state?.waiting?.message ?? state?.waiting?.reason)?.replace(`container "${name}" cannot start: `, '');
	return `container ${name}${words === undefined ? '' : `: ${words}`}`;
}

const aboutOf = (object: ApiObject): {readonly about: string; readonly namespace: string | null} => ({
	about: `${object.kind.toLowerCase()}/${object.metadata.name}`,
	namespace: object.metadata.namespace ?? null,
});
