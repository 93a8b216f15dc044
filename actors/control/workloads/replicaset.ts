// A ReplicaSet keeps `replicas` pods of one template alive.
//
// Every message that changes anything ends in the same `reconcile`, so a lost or repeated message costs a delay, never a wrong
// count. Pods that are asked for and not yet committed are in `pending` and are not asked for twice.

import {isExclusive} from '../../../api/exclusive.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {ReplicaSet, ReplicaSetStatus} from '../../../api/kinds/replicaset.js';
import {limits} from '../../../api/limits.js';
import {objectKey} from '../../../api/keys.js';
import {generateName} from '../../../api/names.js';
import type {Draft, JsonObject, Labels, OwnerReference} from '../../../api/object.js';
import {matches} from '../../../api/selector.js';
import type {Context, Effect, Pending} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {controller, type Reconciliation} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import type {PatchObject} from '../objects/object-message.js';
import {controllerOf, ownerReferenceTo} from '../objects/owners.js';
import {isActive, isReady} from '../pods/pod-lifecycle.js';
import {censusTerm, ownedTerm, strayTerm, type PodStanding} from '../pods/pod-terms.js';

/** The index term under which a pod finds the sets that may want it. */
const selectsTerm = (namespace: string, label: string): string => `selects=${namespace}/${label}`;
const selectsAnything = '*';

export const replicaSetController = controller<ReplicaSet>({
	plural: 'replicasets',
	terms: set => {
		const [pair = selectsAnything] = pairsOf(set.spec?.selector.matchLabels);
		return [selectsTerm(set.metadata.namespace ?? '', pair)];
	},
	watches: {pods: ({before, after}, known) => selecting(before as Pod | undefined, after as Pod | undefined, known)},
	reconcile,
});

/** Sets that select the pod as it is or as it was. One that has a controller is no news for others while its labels stay. */
function* selecting(before: Pod | undefined, after: Pod | undefined, known: Known): Iterable<ReplicaSet> {
	const isOwned = after !== undefined && controllerOf(after) !== undefined;
	if (isOwned && before?.metadata.labels === after.metadata.labels) return;
	const namespace = (after ?? before)?.metadata.namespace ?? '';
	const labels = [before?.metadata.labels, after?.metadata.labels];
	for (const term of new Set([selectsAnything, ...labels.flatMap(pairsOf)])) {
		for (const set of known.byTerm('replicasets', selectsTerm(namespace, term)) as Iterable<ReplicaSet>) {
			const {selector} = set.spec ?? {};
			if (selector !== undefined && labels.some(each => matches(selector, each))) yield set;
		}
	}
}

const pairsOf = (labels: Labels | undefined): string[] => Object.entries(labels ?? {}).map(([label, value]) => `${label}=${value}`);

function reconcile(set: ReplicaSet, context: Context): Reconciliation<ReplicaSetStatus> {
	const {spec} = set;
	if (spec === undefined || isDeleting(set)) return {effects: []};
	const crowd = crowdOf(set, context.known);
	const effects = ownerships(set, crowd, context);
	const writes = [...context.pending.values()];
	const coming = [...writes, ...effects].filter(write => write.type === 'create' || isAdoption(write)).length;
	const leaving = leavingUids(set, writes, context.known);
	const wanted = spec.replicas ?? 1;
	const tooMany = crowd.active - leaving.size - wanted;
	const room = limits.pendingWrites - context.pending.size - effects.length;
	// A deletion that is asked for may fail: until it is committed nothing takes the place of the pod that is to leave.
	const missing = Math.min(room, wanted - crowd.active - coming - placesKept(set, context.known));
	if (missing > 0) for (let count = 0; count < missing; count++) effects.push(creation(set, context));
	else if (tooMany > 0) effects.push(...surplus(stayingPods(set, leaving, context.known), tooMany, room));
	return {status: statusOf(set, crowd), effects};
}

/** The pods of a set, counted. */
type Crowd = {
	readonly owned: number;
	readonly active: number;
	readonly ready: number;
	/** Owned and not matching. */
	readonly strangers: readonly Pod[];
};

/** A set of thousands is not walked at each change of one of them: the index counts pods that carry just the template's labels. */
function crowdOf(set: ReplicaSet, known: Known): Crowd {
	const {uid} = set.metadata;
	const count = (standing: PodStanding): number =>
		known.countByTerm('pods', censusTerm(uid, set.spec?.template.metadata?.labels, standing));
	const owned = known.countByTerm('pods', ownedTerm(uid));
	const ready = count('ready');
	const active = ready + count('unready');
	return active + count('over') === owned ? {owned, active, ready, strangers: []} : walked(set, known);
}

function walked(set: ReplicaSet, known: Known): Crowd {
	const owned = [...ownedPods(set, known)];
	const active = owned.filter(pod => isMine(set, pod) && isActive(pod));
	return {
		owned: owned.length,
		active: active.length,
		ready: active.filter(isReady).length,
		strangers: owned.filter(pod => !isMine(set, pod)),
	};
}

const ownedPods = ({metadata}: ReplicaSet, known: Known): Iterable<Pod> => known.byTerm('pods', ownedTerm(metadata.uid)) as Iterable<Pod>;

const isMine = ({spec}: ReplicaSet, pod: Pod): boolean => spec !== undefined && matches(spec.selector, pod.metadata.labels);

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

const stayingPods = (set: ReplicaSet, leaving: ReadonlySet<string>, known: Known): readonly Pod[] =>
	[...ownedPods(set, known)].filter(pod => isActive(pod) && isMine(set, pod) && !leaving.has(pod.metadata.uid));

function statusOf({metadata, status}: ReplicaSet, {active, ready}: Crowd): ReplicaSetStatus {
	return {
		...status,
		replicas: active,
		fullyLabeledReplicas: active,
		readyReplicas: ready,
		availableReplicas: ready,
		observedGeneration: metadata.generation,
	};
}

// ---- creating ------------------------------------------------------------------------------------------------------------

function creation(set: ReplicaSet, {random}: Context): Effect {
	const {metadata, spec} = set;
	const template = spec?.template;
	const name = generateName(`${metadata.name}-`, random.next);
	const object: Draft = {
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {
			name,
			...(metadata.namespace === undefined ? {} : {namespace: metadata.namespace}),
			...(template?.metadata?.labels === undefined ? {} : {labels: template.metadata.labels}),
			...(template?.metadata?.annotations === undefined ? {} : {annotations: template.metadata.annotations}),
			ownerReferences: [ownerReferenceTo(set)],
		},
		spec: template?.spec,
	};
	return {type: 'create', object, id: `create/${name}`};
}

// ---- adopting and releasing --------------------------------------------------------------------------------------------

const isAdoption = (effect: Effect): boolean => effect.type === 'update' && effect.id.startsWith('adopt/');

/** What changes owners, as far as there is room for writes. */
function ownerships(set: ReplicaSet, crowd: Crowd, {known, pending}: Context): Effect[] {
	const effects: Effect[] = [];
	for (const wanted of [...released(set, crowd.strangers), ...adopted(set, crowd, known)]) {
		if (pending.size + effects.length >= limits.pendingWrites) break;
		if (!pending.has(wanted.id)) effects.push(wanted);
	}
	return effects;
}

/** Pods that match and have no controller become ours. */
function* adopted(set: ReplicaSet, {owned}: Crowd, known: Known): Iterable<Pending> {
	const {metadata, spec} = set;
	if (spec === undefined) return;
	const namespace = metadata.namespace ?? '';
	// Whichever is likely to be fewer: those without a controller, or those with our labels.
	const isFew = known.countByTerm('pods', strayTerm(namespace)) <= owned;
	const candidates = isFew ? known.byTerm('pods', strayTerm(namespace)) : known.select('pods', namespace, spec.selector);
	for (const object of candidates) {
		const pod = object as Pod;
		const owners = pod.metadata.ownerReferences ?? [];
		if (controllerOf(pod) !== undefined || !isActive(pod) || !isMine(set, pod)) continue;
		yield ownership(pod, [...owners, ownerReferenceTo(set)], `adopt/${pod.metadata.uid}`);
	}
}

/** Pods that do not match any more are let go. */
function* released({metadata: {uid}}: ReplicaSet, strangers: readonly Pod[]): Iterable<Pending> {
	for (const pod of strangers) {
		if (isDeleting(pod)) continue;
		const owners = (pod.metadata.ownerReferences ?? []).filter(owner => owner.uid !== uid);
		yield ownership(pod, owners, `release/${pod.metadata.uid}`);
	}
}

function ownership({metadata}: Pod, ownerReferences: readonly OwnerReference[], id: string): Pending {
	const patch: JsonObject = {
		metadata: {
			uid: metadata.uid,
			resourceVersion: metadata.resourceVersion,
			ownerReferences: ownerReferences.length === 0 ? null : ownerReferences,
		},
	};
	const message: PatchObject = {type: 'patch', patch};
	return {type: 'update', key: objectKey('pods', metadata.namespace, metadata.name), message, id};
}

// ---- deleting ------------------------------------------------------------------------------------------------------------

/** Those that serve least go first: without a node, not running, not ready, youngest. After Kubernetes' ActivePods order. */
function surplus(pods: readonly Pod[], count: number, room: number): Effect[] {
	if (count <= 0 || room <= 0) return [];
	return [...pods]
		.sort(byWorth)
		.slice(0, Math.min(count, room))
		.map(({metadata}) => ({
			type: 'delete',
			key: objectKey('pods', metadata.namespace, metadata.name),
			uid: metadata.uid,
			id: `delete/${metadata.uid}`,
		}));
}

const worth = (pod: Pod): number =>
	(pod.spec?.nodeName === undefined ? 0 : 4) + (pod.status?.phase === 'Running' ? 2 : 0) + (isReady(pod) ? 1 : 0);

function byWorth(a: Pod, b: Pod): number {
	const difference = worth(a) - worth(b);
	if (difference !== 0) return difference;
	if (a.metadata.creationTimestamp !== b.metadata.creationTimestamp)
		return a.metadata.creationTimestamp > b.metadata.creationTimestamp ? -1 : 1;
	return a.metadata.uid < b.metadata.uid ? -1 : 1;
}
