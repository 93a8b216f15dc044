// A ReplicaSet keeps `replicas` pods of one template alive.
//
// Every message that changes anything ends in the same `reconcile`, so a lost or repeated message costs a delay, never a wrong
// count. Pods that are asked for and not yet committed are in `pending` and are not asked for twice.

import {isExclusive} from '../../../api/exclusive.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {ReplicaSet, ReplicaSetStatus} from '../../../api/kinds/replicaset.js';
import {objectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {generateName} from '../../../api/names.js';
import type {Condition} from '../../../api/object.js';
import type {Context, Effect, Pending} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {withCondition, withoutCondition} from '../objects/conditions.js';
import {controller, type Failures, type Reconciliation} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import {controllerOf, isAdoption, strayTerm} from '../objects/owners.js';
import {awaitingQuota, shortOf} from '../objects/quota-wait.js';
import {ownerships, selecting, selectionTerms} from '../objects/selection.js';
import {isActive} from '../pods/pod-lifecycle.js';
import {censusOf, isMine, ownedPods, type Census} from './census.js';
import {creation, creationId, podOf, slowStart} from './pod-creation.js';
import {podNews} from './pod-news.js';
import {surplus} from './surplus.js';

export const replicaSetController = controller<ReplicaSet>({
	plural: 'replicasets',
	terms: set => [
		...selectionTerms(set),
		...(controllerOf(set) === undefined ? [strayTerm(set.metadata.namespace ?? '')] : []),
		...shortOf(set, (set.status?.replicas ?? 0) < (set.spec?.replicas ?? 1)),
	],
	watches: {
		pods: (change, known) => selecting('replicasets', change, known),
		resourcequotas: (change, known) => awaitingQuota('replicasets', change, known),
	},
	written: podNews(),
	reconcile,
	goesOnWithoutCreates: true,
});

function reconcile(set: ReplicaSet, context: Context, failures: Failures): Reconciliation<ReplicaSetStatus> {
	const {spec} = set;
	if (spec === undefined || isDeleting(set)) return {effects: []};
	const {known, pending, nowMs} = context;
	const census = censusOf(set, known, nowMs);
	const {owned, strangers} = census;
	const effects = ownerships(
		set,
		{plural: 'pods', selector: spec.selector, owned, strangers, isWanted: pod => isActive(pod as Pod)},
		context,
	);
	const writes = [...pending.values()];
	const coming = [...writes, ...effects].filter(write => write.type === 'create' || isAdoption(write)).length;
	const leaving = leavingUids(set, writes, known);
	const wanted = spec.replicas ?? 1;
	const tooMany = census.active - leaving.size - wanted;
	const room = limits.pendingWrites - pending.size - effects.length;
	// A deletion that is asked for may fail: until it is committed nothing takes the place of the pod that is to leave.
	const missing = Math.min(room, wanted - census.active - coming - placesKept(set, known));
	if (missing > 0) effects.push(...creations(set, slowStart(missing, census.active, coming, failures), context));
	else if (tooMany > 0 && room >= Math.min(tooMany, walkedFor))
		effects.push(...surplus(stayingPods(set, leaving, known), Math.min(tooMany, room)));
	const isSettled = (coming === 0 || census.active + coming <= wanted) && (leaving.size === 0 || census.active - leaving.size >= wanted);
	const status = statusOf(set, census, isSettled, failures, nowMs);
	return {status, effects, ...(census.nextAvailableMs === undefined ? {} : {wakeAtMs: census.nextAvailableMs})};
}

/** Who is to go is chosen among all pods: that walk is made for half of what may be under way, not at each outcome for the few that it leaves. */
const walkedFor = limits.pendingWrites / 2;

/** Active pods whose deletion is asked for. */
function leavingUids(set: ReplicaSet, writes: readonly Pending[], known: Known): ReadonlySet<string> {
	const leaving = new Set<string>();
	for (const write of writes) {
		const pod = write.type === 'delete' ? (known.byUid(write.uid) as Pod | undefined) : undefined;
		if (pod !== undefined && isActive(pod) && isMine(set, pod)) leaving.add(pod.metadata.uid);
	}
	return leaving;
}

/** Until it is gone for good, an exclusive pod may still run: the next one waits for that. */
function placesKept(set: ReplicaSet, known: Known): number {
	if (!isSole(set)) return 0;
	return [...ownedPods(set, known)].filter(pod => isDeleting(pod) && isMine(set, pod)).length;
}

const isSole = ({spec}: ReplicaSet): boolean => isExclusive(spec?.template.metadata ?? {});

function* stayingPods(set: ReplicaSet, leaving: ReadonlySet<string>, known: Known): Iterable<Pod> {
	for (const pod of ownedPods(set, known)) if (isActive(pod) && isMine(set, pod) && !leaving.has(pod.metadata.uid)) yield pod;
}

/** `isSettled`: no create and no deletion is under way that this generation of the spec would not ask for: the set's owner knows how many there can be. */
function statusOf(
	{metadata, status}: ReplicaSet,
	{active, ready, available}: Census,
	isSettled: boolean,
	failures: Failures,
	nowMs: number,
): ReplicaSetStatus {
	const observedGeneration = isSettled ? metadata.generation : status?.observedGeneration;
	const conditions = failedCreates(status?.conditions, failures, nowMs);
	return {
		...status,
		replicas: active,
		fullyLabeledReplicas: active,
		readyReplicas: ready,
		availableReplicas: available,
		...(observedGeneration === undefined ? {} : {observedGeneration}),
		...(conditions === undefined ? {} : {conditions}),
	};
}

const replicaFailure = 'ReplicaFailure';

function failedCreates(conditions: readonly Condition[] | undefined, {last}: Failures, nowMs: number): readonly Condition[] | undefined {
	if (last === undefined) return withoutCondition(conditions, replicaFailure);
	return withCondition(conditions, {type: replicaFailure, status: 'True', reason: 'FailedCreate', message: last}, nowMs);
}

// ---- creating ------------------------------------------------------------------------------------------------------------

function creations(set: ReplicaSet, count: number, context: Context): Effect[] {
	const names = isSole(set) ? fixedNames(set, count, context) : chanceNames(set, count, context);
	return names.map(name => creation(podOf(set, name)));
}

const chanceNames = ({metadata}: ReplicaSet, count: number, {random}: Context): readonly string[] =>
	Array.from({length: count}, () => generateName(`${metadata.name}-`, random.next));

/** A name is given out once: a set that crashed with a create under way asks for the same one again, and so never for a second pod. */
function fixedNames({metadata}: ReplicaSet, count: number, {known, pending}: Context): readonly string[] {
	const names: string[] = [];
	for (let ordinal = 0; names.length < count; ordinal++) {
		const name = `${metadata.name}-${ordinal}`;
		if (known.get(objectKey('pods', metadata.namespace, name)) === undefined && !pending.has(creationId(name))) names.push(name);
	}
	return names;
}
