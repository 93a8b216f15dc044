// A StatefulSet keeps `replicas` pods of one template, each with a number, a name and a host name of its own. After pkg/controller/statefulset of
// Kubernetes.
//
// A pod is made only when no object has its name: the one before is gone for good. So there is never a second pod of one name, whatever crashes;
// and since its pods are exclusive, there are never two running programs of one name either (docs/semantics.md).
//
// What a look costs: of a set whose pods are all there and of the newest revision, a handful of counts. While pods are missing, too many or of an
// older revision (also with a partition), one walk over its pods.

import {objectKey} from '../../../api/keys.js';
import type {ControllerRevision} from '../../../api/kinds/controllerrevision.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {StatefulSet, StatefulSetStatus} from '../../../api/kinds/statefulset.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject} from '../../../api/object.js';
import {tell, type Context, type Effect} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {controller, type Failures, type Reconciliation, type Watched} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import {awaitingQuota, shortOf} from '../objects/quota-wait.js';
import {ownerships, selecting, selectionTerms} from '../objects/selection.js';
import {isActive, isReady} from '../pods/pod-lifecycle.js';
import {placesTerm, revisionLabel, revisionTerm} from '../pods/pod-terms.js';
import {isAvailable} from './availability.js';
import {censusOf, isMine, ownedPods, type Census} from './census.js';
import {historyOf} from './controller-revisions.js';
import {creation, creationId, slowStart} from './pod-creation.js';
import {beforeCreation, beforeDeletion, setsOfClaim, upkeep} from './stateful-claims.js';
import {inSet, podNews} from './pod-news.js';
import {isOfRevision, nameOf, namesake, ordinalOf, ordinalsOf, statefulPod, wantedSum} from './stateful-pods.js';
import {stepOf, type Slot, type Slots, type Step} from './stateful-step.js';
import {deletion} from './surplus.js';

export const statefulSetController = controller<StatefulSet>({
	plural: 'statefulsets',
	terms: set => [...selectionTerms(set), ...shortOf(set, (set.status?.replicas ?? 0) < (set.spec?.replicas ?? 1))],
	watches: {
		pods: concerned,
		persistentvolumeclaims: setsOfClaim,
		resourcequotas: (change, known) => awaitingQuota('statefulsets', change, known),
	},
	written: podNews(inSet),
	reconcile,
	goesOnWithoutCreates: true,
});

/** Those that select the pod, and the one that may wait for its name. */
function* concerned(change: Watched, known: Known): Iterable<ApiObject> {
	yield* selecting('statefulsets', change, known);
	const waiting = change.before !== undefined && change.after === undefined ? namesake(change.before, known) : undefined;
	if (waiting !== undefined) yield waiting;
}

type Revisions = {
	/** Of pods below the partition. */
	readonly current: ControllerRevision;
	readonly update: ControllerRevision;
};

function reconcile(set: StatefulSet, context: Context, failures: Failures): Reconciliation<StatefulSetStatus> {
	const {spec, status, metadata} = set;
	if (spec === undefined || isDeleting(set)) return {effects: []};
	const {known, nowMs} = context;
	const isLive = ({metadata: {name}}: ControllerRevision): boolean =>
		name === status?.currentRevision || known.countByTerm('pods', revisionTerm(metadata.uid, name)) > 0;
	const {update, all, effects: writes} = historyOf(set, {limit: spec.revisionHistoryLimit ?? 0, isLive}, context);
	if (update === undefined) return {effects: writes};
	const revisions: Revisions = {current: all.find(each => each.metadata.name === status?.currentRevision) ?? update, update};
	const census = censusOf(ofRevision(set, update), known, nowMs);
	const {owned, strangers} = census;
	const isWanted = (pod: ApiObject): boolean => isActive(pod as Pod) && ordinalOf(set, pod) !== undefined;
	const effects = [
		...writes,
		...ownerships(set, {plural: 'pods', selector: spec.selector, owned, strangers, isWanted}, context),
		...upkeep(set, context),
	];
	const wake = census.nextAvailableMs === undefined ? {} : {wakeAtMs: census.nextAvailableMs};
	if (isComplete(set, update, census, known)) {
		const complete = completeStatus(set, revisions, census);
		// A revision that is the current one no more may be one too many.
		if (complete.currentRevision !== status?.currentRevision) effects.push(tell(context.self, {type: 'wake'}));
		return {status: complete, effects, ...wake};
	}
	const slots = slotsOf(set, update, context);
	const step = stepOf(spec, slots);
	const room = limits.pendingWrites - context.pending.size - effects.length;
	const coming = [...context.pending.values()].filter(({type}) => type === 'create').length;
	const creatable = Math.min(room, slowStart(step.created.length, census.active, coming, failures));
	const created = step.created.slice(0, Math.max(0, creatable)).flatMap(ordinal => {
		const {effects: claims, isDone} = beforeCreation(set, nameOf(set, ordinal), context);
		return isDone ? [creation(statefulPod(set, ordinal, revisionOf(set, ordinal, revisions)))] : claims;
	});
	const changes = [...created, ...departures(set, step, slots, context)].slice(0, Math.max(0, room));
	return {status: statusOf(set, revisions, slots, nowMs), effects: [...effects, ...changes], ...wake};
}

/** A pod is deleted once its claims say whether they go with it; those of one that is too many say so also when somebody else takes it away. */
function departures(set: StatefulSet, {deleted}: Step, {condemned}: Slots, context: Context): readonly Effect[] {
	const tooMany = new Set(condemned.map(({pod}) => pod));
	const leaving = condemned.flatMap(({pod, isLeaving}) => (isLeaving && pod !== undefined ? [pod] : []));
	const before = (pod: Pod): ReturnType<typeof beforeDeletion> =>
		beforeDeletion(set, pod.metadata.name, tooMany.has(pod) ? pod : undefined, context);
	return [
		...leaving.flatMap(pod => before(pod).effects),
		...deleted.flatMap((pod): readonly Effect[] => {
			const {effects, isDone} = before(pod);
			return isDone ? [deletion(pod)] : effects;
		}),
	];
}

/** The set with the labels that its pods of this revision have, their names aside: those are counted without a walk. */
function ofRevision(set: StatefulSet, {metadata}: ControllerRevision): StatefulSet {
	const {spec} = set;
	if (spec === undefined) return set;
	const {template} = spec;
	const labels = {...template.metadata?.labels, [revisionLabel]: metadata.name};
	return {...set, spec: {...spec, template: {...template, metadata: {...template.metadata, labels}}}};
}

/** Just the pods that shall be there are, and all are of the newest revision. */
const isComplete = (set: StatefulSet, update: ControllerRevision, {owned, active}: Census, known: Known): boolean =>
	owned === (set.spec?.replicas ?? 1) &&
	active === owned &&
	known.countByTerm('pods', revisionTerm(set.metadata.uid, update.metadata.name)) === owned &&
	known.sumByTerm('pods', placesTerm(set.metadata.uid)) === wantedSum(set);

/** Of which revision a pod is that is made now. */
function revisionOf(set: StatefulSet, ordinal: number, {current, update}: Revisions): ControllerRevision {
	const {type, rollingUpdate} = set.spec?.updateStrategy ?? {};
	if (type === 'OnDelete') return update;
	return ordinal < ordinalsOf(set).first + (rollingUpdate?.partition ?? 0) ? current : update;
}

// ---- looking ----------------------------------------------------------------------------------------------------------------

function slotsOf(set: StatefulSet, update: ControllerRevision, {known, pending, nowMs}: Context): Slots {
	const {first, end} = ordinalsOf(set);
	const byOrdinal = new Map<number, Pod>();
	for (const pod of ownedPods(set, known)) {
		const ordinal = ordinalOf(set, pod);
		if (ordinal !== undefined && isMine(set, pod)) byOrdinal.set(ordinal, pod);
	}
	const leaving = new Set([...pending.values()].flatMap(write => (write.type === 'delete' ? [write.uid] : [])));
	const slot = (ordinal: number, pod: Pod | undefined): Slot => {
		const isLeaving = pod !== undefined && (isDeleting(pod) || leaving.has(pod.metadata.uid));
		const name = nameOf(set, ordinal);
		return {
			ordinal,
			pod,
			isTaken: pending.has(creationId(name)) || known.get(objectKey('pods', set.metadata.namespace, name)) !== undefined,
			isLeaving,
			isGood: pod !== undefined && !isLeaving && isAvailable(pod, set.spec?.minReadySeconds, nowMs),
			isNew: pod !== undefined && isOfRevision(pod, update),
		};
	};
	const wanted: Slot[] = [];
	for (let ordinal = first; ordinal < end; ordinal++) wanted.push(slot(ordinal, byOrdinal.get(ordinal)));
	const condemned = [...byOrdinal].filter(([ordinal]) => ordinal < first || ordinal >= end).sort(([a], [b]) => b - a);
	return {wanted, condemned: condemned.map(([ordinal, pod]) => slot(ordinal, pod))};
}

// ---- telling ----------------------------------------------------------------------------------------------------------------

function completeStatus(set: StatefulSet, {current, update}: Revisions, {active, ready, available}: Census): StatefulSetStatus {
	return withRevisions(
		set,
		{current, update},
		{
			replicas: active,
			readyReplicas: ready,
			availableReplicas: available,
			currentReplicas: current === update ? active : 0,
			updatedReplicas: active,
		},
	);
}

function statusOf(set: StatefulSet, revisions: Revisions, {wanted, condemned}: Slots, nowMs: number): StatefulSetStatus {
	const pods = [...wanted, ...condemned].flatMap(({pod}) => pod ?? []);
	const active = pods.filter(isActive);
	const count = (holds: (pod: Pod) => boolean): number => active.filter(holds).length;
	return withRevisions(set, revisions, {
		replicas: pods.length,
		readyReplicas: count(isReady),
		availableReplicas: count(pod => isAvailable(pod, set.spec?.minReadySeconds, nowMs)),
		currentReplicas: count(pod => isOfRevision(pod, revisions.current)),
		updatedReplicas: count(pod => isOfRevision(pod, revisions.update)),
	});
}

/** An update is over once all pods are of its revision and ready: then that is the current one. */
function withRevisions(
	{metadata, spec, status}: StatefulSet,
	{current, update}: Revisions,
	counts: Pick<StatefulSetStatus, 'replicas' | 'readyReplicas' | 'availableReplicas' | 'currentReplicas' | 'updatedReplicas'>,
): StatefulSetStatus {
	const wanted = spec?.replicas ?? 1;
	const {replicas, readyReplicas, updatedReplicas} = counts;
	const isRolling = spec?.updateStrategy?.type !== 'OnDelete';
	const isOver = isRolling && [replicas, readyReplicas, updatedReplicas].every(count => count === wanted);
	return {
		...status,
		...counts,
		...(isOver ? {currentReplicas: replicas} : {}),
		currentRevision: (isOver ? update : current).metadata.name,
		updateRevision: update.metadata.name,
		observedGeneration: metadata.generation,
	};
}
