// The claims of a StatefulSet's pods, each named after its template and its pod. After stateful_set_utils.go of Kubernetes.
//
// A claim is made before its pod and outlives it. When it goes by itself is said by owner references: it is the set's, and goes with it; or it is
// made a pod's that is one too many, and goes with that pod. A pod is taken away, and made, only while what its claims say of their owners is
// committed as it has to be: so a pod of a set that has its former size again never takes its claim along.

import {objectKey} from '../../../api/keys.js';
import type {PersistentVolumeClaim} from '../../../api/kinds/persistentvolumeclaim.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {ClaimTemplate, StatefulSet} from '../../../api/kinds/statefulset.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject, Draft, OwnerReference} from '../../../api/object.js';
import type {Context, Effect} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {claims} from '../../config-references.js';
import type {Watched} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import {adoptionId, controllerOf, ownerReferenceTo} from '../objects/owners.js';
import {ownership} from '../objects/selection.js';
import {placeNumber} from '../pods/pod-terms.js';
import {claimAt} from '../storage/binding.js';
import {numberedSumTerm, numberedTerm} from '../storage/numbered-claims.js';
import {creation, creationId} from './pod-creation.js';
import {claimNameOf, claimTemplatesOf, nameOf, ordinalsOf} from './stateful-pods.js';

/** The sets that a claim may be of whose owners, or whose end, changed: its name says which. */
export function* setsOfClaim({before, after}: Watched, known: Known): Iterable<ApiObject> {
	if (before !== undefined && after !== undefined && isAlike(before, after)) return;
	const {name = '', namespace} = (after ?? before)?.metadata ?? {};
	const parts = name.split('-').slice(0, -1);
	for (let first = 1; first < parts.length; first++) {
		const set = known.get(objectKey('statefulsets', namespace, parts.slice(first).join('-')));
		const template = parts.slice(0, first).join('-');
		if (set !== undefined && claimTemplatesOf(set as StatefulSet).some(({metadata}) => metadata.name === template)) yield set;
	}
}

const isAlike = (before: ApiObject, after: ApiObject): boolean =>
	before.metadata.ownerReferences === after.metadata.ownerReferences && isDeleting(before) === isDeleting(after);

// ---- owners --------------------------------------------------------------------------------------------------------------

/** Whom the claims of a pod have to belong to: it is there only where the set keeps its claims no longer than that pod. */
function ownerFor(set: StatefulSet, condemned: Pod | undefined): OwnerReference | undefined {
	const {whenDeleted, whenScaled} = set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
	if (condemned !== undefined && whenScaled === 'Delete') return ownerReferenceTo(condemned);
	return whenDeleted === 'Delete' ? ownerReferenceTo(set) : undefined;
}

/** The set itself, or a pod of this name. */
const isOurs = (set: StatefulSet, pod: string, {uid, kind, name}: OwnerReference): boolean =>
	uid === set.metadata.uid || (kind === 'Pod' && name === pod);

/** The write that gives the claim to whom it has to belong; none when it does, or is somebody else's. */
function ownerWrites(set: StatefulSet, pod: string, claim: PersistentVolumeClaim, owner: OwnerReference | undefined): readonly Effect[] {
	const {ownerReferences = [], uid} = claim.metadata;
	const others = ownerReferences.filter(reference => !isOurs(set, pod, reference));
	const ours = ownerReferences.filter(reference => isOurs(set, pod, reference));
	if (ours.length === (owner === undefined ? 0 : 1) && ours[0]?.uid === owner?.uid) return [];
	if (owner === undefined) return [ownership(claims, claim, {ownerReferences: others}, `release/${uid}`)];
	const isForeign = others.some(({controller}) => controller === true);
	return isForeign ? [] : [ownership(claims, claim, {ownerReferences: [...others, owner]}, adoptionId(uid))];
}

// ---- what has to be done before ------------------------------------------------------------------------------------------

/** What is to be written, and whether all is as it has to be. */
type Before = {readonly effects: readonly Effect[]; readonly isDone: boolean};

/** Before the pod of this name is made: its claims are there, and are no other pod's. */
export function beforeCreation(set: StatefulSet, pod: string, context: Context): Before {
	const {known} = context;
	const effects: Effect[] = [];
	let isDone = true;
	for (const template of claimTemplatesOf(set)) {
		const claim = claimAt(set.metadata.namespace ?? '', claimNameOf(template, pod), known);
		if (claim === undefined && !context.pending.has(creationId(claimNameOf(template, pod))))
			effects.push(creation(claimOf(set, template, pod)));
		isDone &&= claim !== undefined && !isDeleting(claim) && owned(set, pod, claim, undefined, context).isDone;
	}
	return {effects, isDone};
}

/** Before a pod goes: its claims go with it just where they shall. `condemned`: it is one too many. */
export function beforeDeletion(set: StatefulSet, pod: string, condemned: Pod | undefined, context: Context): Before {
	const all = claimTemplatesOf(set).flatMap(template => {
		const claim = claimAt(set.metadata.namespace ?? '', claimNameOf(template, pod), context.known);
		return claim === undefined || isDeleting(claim) ? [] : [owned(set, pod, claim, condemned, context)];
	});
	return {effects: all.flatMap(({effects}) => effects), isDone: all.every(({isDone}) => isDone)};
}

/** Before the claim belongs to whom it has to. */
function owned(set: StatefulSet, pod: string, claim: PersistentVolumeClaim, condemned: Pod | undefined, {pending}: Context): Before {
	const {uid} = claim.metadata;
	if (pending.has(adoptionId(uid)) || pending.has(`release/${uid}`)) return {effects: [], isDone: false};
	const effects = ownerWrites(set, pod, claim, ownerFor(set, condemned));
	return {effects, isDone: effects.length === 0};
}

function claimOf(set: StatefulSet, template: ClaimTemplate, pod: string): Draft {
	const {metadata, spec} = template;
	const {labels, annotations} = metadata;
	const owner = ownerFor(set, undefined);
	return {
		apiVersion: 'v1',
		kind: 'PersistentVolumeClaim',
		metadata: {
			name: claimNameOf(template, pod),
			...(set.metadata.namespace === undefined ? {} : {namespace: set.metadata.namespace}),
			labels: {...labels, ...set.spec?.selector.matchLabels},
			...(annotations === undefined ? {} : {annotations}),
			...(owner === undefined ? {} : {ownerReferences: [owner]}),
		},
		spec,
	};
}

// ---- upkeep --------------------------------------------------------------------------------------------------------------

/**
 * What is to be written of claims of pods that stay: to whom they belong, after the set has another policy or its former size again, and those
 * that are missing of a pod that has no node yet. Claims are looked at one by one only where their count and sum say that something is wrong.
 */
export function upkeep(set: StatefulSet, context: Context): readonly Effect[] {
	if (isKept(set, context.known)) return [];
	const {first, end} = ordinalsOf(set);
	const effects: Effect[] = [];
	for (let ordinal = first; ordinal < end && effects.length < limits.pendingWrites; ordinal++) {
		const name = nameOf(set, ordinal);
		effects.push(...beforeDeletion(set, name, undefined, context).effects);
		const pod = context.known.get(objectKey('pods', set.metadata.namespace, name)) as Pod | undefined;
		const isWaiting = pod !== undefined && !isDeleting(pod) && pod.spec?.nodeName === undefined;
		if (isWaiting && controllerOf(pod)?.uid === set.metadata.uid) effects.push(...beforeCreation(set, name, context).effects);
	}
	return effects;
}

const isKept = (set: StatefulSet, known: Known): boolean =>
	claimTemplatesOf(set).every(({metadata: {name}}) => {
		const base = `${name}-${set.metadata.name}`;
		const term = numberedTerm(set.metadata.namespace ?? '', base, ownerFor(set, undefined)?.uid);
		return (
			known.countByTerm(claims, term) === (set.spec?.replicas ?? 1) &&
			known.sumByTerm(claims, numberedSumTerm(term)) === wantedSum(set, base)
		);
	});

const remembered = new WeakMap<object, Map<string, number>>();

/** What the names of the claims that shall be there add up to. By the set's spec, which stays while its status changes. */
function wantedSum(set: StatefulSet, base: string): number {
	const {spec} = set;
	if (spec === undefined) return 0;
	const sums = remembered.get(spec) ?? new Map<string, number>();
	remembered.set(spec, sums);
	const found = sums.get(base);
	if (found !== undefined) return found;
	const {first, end} = ordinalsOf(set);
	let sum = 0;
	for (let ordinal = first; ordinal < end; ordinal++) sum += placeNumber(`${base}-${ordinal}`);
	sums.set(base, sum);
	return sum;
}
