// A ReplicaSet keeps `replicas` pods of one template alive.
//
// Every message that changes anything ends in the same `reconcile`, so a lost or repeated message costs a delay, never a wrong
// count. Pods that are asked for and not yet committed are in `pending` and are not asked for twice.

import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet, ReplicaSetStatus} from '../../api/kinds/replicaset.js';
import {limits} from '../../api/limits.js';
import {objectKey} from '../../api/keys.js';
import {generateName} from '../../api/names.js';
import type {Draft, JsonObject, OwnerReference} from '../../api/object.js';
import {matches} from '../../api/selector.js';
import type {Context, Effect, Pending} from '../../system/behavior.js';
import {controller, type Reconciliation} from './controller.js';
import {isDeleting} from './garbage.js';
import type {PatchObject} from './object-message.js';
import {isReady, isTerminal} from './pod.js';

/** The index term under which a pod finds the sets that may want it. */
export const selectsTerm = (namespace: string, label: string): string => `selects=${namespace}/${label}`;
export const selectsAnything = '*';

export const replicaSetController = controller<ReplicaSet>({
	plural: 'replicasets',
	terms: set => {
		const pairs = Object.entries(set.spec?.selector.matchLabels ?? {}).map(([label, value]) => `${label}=${value}`);
		return [selectsTerm(set.metadata.namespace ?? '', pairs[0] ?? selectsAnything)];
	},
	reconcile,
});

function reconcile(set: ReplicaSet, context: Context): Reconciliation<ReplicaSetStatus> {
	const {spec} = set;
	if (spec === undefined || isDeleting(set)) return {effects: []};
	const owned = ownedPods(set, context);
	const mine = owned.filter(pod => matches(spec.selector, pod.metadata.labels));
	const active = mine.filter(pod => !isDeleting(pod) && !isTerminal(pod));
	const effects = ownerships(set, owned, context);
	const wanted = spec.replicas ?? 1;
	const writes = [...context.pending.values()];
	const coming = [...writes, ...effects].filter(write => write.type === 'create' || isAdoption(write)).length;
	const leaving = new Set(writes.filter(write => write.type === 'delete').map(write => (write.type === 'delete' ? write.uid : '')));
	const staying = active.filter(pod => !leaving.has(pod.metadata.uid));
	const room = limits.pendingWrites - context.pending.size - effects.length;
	const missing = Math.min(room, wanted - staying.length - coming);
	if (missing > 0) for (let count = 0; count < missing; count++) effects.push(creation(set, context));
	else effects.push(...surplus(staying, staying.length - wanted, room));
	return {status: statusOf(set, active), effects};
}

const ownedPods = ({metadata}: ReplicaSet, {known}: Context): Pod[] => {
	const pods: Pod[] = [];
	for (const object of known.byOwner(metadata.uid)) if (object.kind === 'Pod') pods.push(object as Pod);
	return pods;
};

function statusOf({metadata, status}: ReplicaSet, active: readonly Pod[]): ReplicaSetStatus {
	const ready = active.filter(isReady).length;
	return {
		...status,
		replicas: active.length,
		fullyLabeledReplicas: active.length,
		readyReplicas: ready,
		availableReplicas: ready,
		observedGeneration: metadata.generation,
	};
}

// ---- creating ------------------------------------------------------------------------------------------------------------

const ownerReferenceTo = ({apiVersion, kind, metadata}: ReplicaSet): OwnerReference => ({
	apiVersion,
	kind,
	name: metadata.name,
	uid: metadata.uid,
	controller: true,
	blockOwnerDeletion: true,
});

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
function ownerships(set: ReplicaSet, owned: readonly Pod[], {known, pending}: Context): Effect[] {
	const effects: Effect[] = [];
	for (const wanted of [...released(set, owned), ...adopted(set, known)]) {
		if (pending.size + effects.length >= limits.pendingWrites) break;
		if (!pending.has(wanted.id)) effects.push(wanted);
	}
	return effects;
}

/** Pods that match and belong to nobody become ours. */
function* adopted(set: ReplicaSet, known: Context['known']): Iterable<Pending> {
	const {metadata, spec} = set;
	if (spec === undefined) return;
	for (const object of known.select('pods', metadata.namespace ?? '', spec.selector)) {
		const pod = object as Pod;
		const owners = pod.metadata.ownerReferences ?? [];
		if (owners.some(({controller: isController}) => isController === true) || isDeleting(pod) || isTerminal(pod)) continue;
		yield ownership(pod, [...owners, ownerReferenceTo(set)], `adopt/${pod.metadata.uid}`);
	}
}

/** Pods that do not match any more are let go. */
function* released({metadata: {uid}, spec}: ReplicaSet, owned: readonly Pod[]): Iterable<Pending> {
	for (const pod of owned) {
		if (isDeleting(pod) || spec === undefined || matches(spec.selector, pod.metadata.labels)) continue;
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
