// Owner references: when an object must go because of others, and what holds back one that is being deleted.
//
// No actor walks the graph: an owner's end wakes its dependents, and each decides for itself from the committed index. A lost
// wake costs a delay, since every object is woken again now and then.

import {jobTrackingFinalizer} from '../../../api/job-labels.js';
import type {ApiObject, OwnerReference} from '../../../api/object.js';
import type {Context} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {namespaceKey} from '../../addresses.js';
import {controllerOf, isAdoption} from './owners.js';

/** Holds an owner until its blocking dependents are gone. */
export const foregroundFinalizer = 'foregroundDeletion';
/** Holds an owner until no dependent names it any more. */
export const orphanFinalizer = 'orphan';

export const isDeleting = (object: ApiObject): boolean => object.metadata.deletionTimestamp !== undefined;

const finalizersOf = (object: ApiObject): readonly string[] => object.metadata.finalizers ?? [];

/** Why an object has to be deleted though no client asked; undefined when it may stay. */
export function condemnation(object: ApiObject, known: Known): string | undefined {
	const {namespace, ownerReferences = []} = object.metadata;
	if (namespace !== undefined) {
		const home = known.get(namespaceKey(namespace));
		if (home === undefined || isDeleting(home)) return `namespace "${namespace}" is being deleted`;
	}
	if (ownerReferences.length === 0) return undefined;
	if (ownerReferences.some(reference => isSolid(reference, known))) return undefined;
	const waiting = ownerReferences.filter(({uid}) => known.byUid(uid) !== undefined);
	return waiting.length === 0 ? `its owner ${nameOf(ownerReferences)} is gone` : `its owner ${nameOf(waiting)} is being deleted`;
}

/** Whether the owner is there and does not wait for its dependents to go. */
function isSolid({uid}: OwnerReference, known: Known): boolean {
	const owner = known.byUid(uid);
	return owner !== undefined && !isEndingWith(foregroundFinalizer, owner);
}

const isEndingWith = (finalizer: string, owner: ApiObject): boolean => isDeleting(owner) && finalizersOf(owner).includes(finalizer);

const nameOf = (references: readonly OwnerReference[]): string => references.map(({kind, name}) => `${kind} "${name}"`).join(', ');

/**
 * How an object is deleted that is condemned: an owner that waits for it waits for its dependents too, as in Kubernetes. In a circle of
 * owners the last one does not wait, or none could go.
 */
export function inheritedPropagation(object: ApiObject, known: Known): 'Background' | 'Foreground' {
	const isAwaited = (object.metadata.ownerReferences ?? []).some(({uid}) => {
		const owner = known.byUid(uid);
		return owner !== undefined && isEndingWith(foregroundFinalizer, owner);
	});
	if (!isAwaited) return 'Background';
	for (const dependent of known.byOwner(object.metadata.uid)) if (isEndingWith(foregroundFinalizer, dependent)) return 'Background';
	return 'Foreground';
}

/** The owner references without those to owners that are being deleted and leave this object behind: without an owner, or to another one. */
export function withoutLeavingOwners(object: ApiObject, known: Known): readonly OwnerReference[] | undefined {
	const {ownerReferences} = object.metadata;
	const leaves = ({uid}: OwnerReference): boolean => {
		const owner = known.byUid(uid);
		if (owner === undefined) return false;
		return isEndingWith(orphanFinalizer, owner) || isEndingWith(foregroundFinalizer, owner);
	};
	return ownerReferences?.some(leaves) === true ? ownerReferences.filter(reference => !leaves(reference)) : ownerReferences;
}

/** Whether there is a Job that will count the object. */
function isCounting(object: ApiObject, known: Known): boolean {
	const owner = controllerOf(object);
	const job = owner?.kind === 'Job' ? known.byUid(owner.uid) : undefined;
	return job !== undefined && !isDeleting(job);
}

/** Whether something is about to become a dependent: it would go with an owner that is gone by then. */
export const isAdopting = (pending: Context['pending']): boolean => [...pending.values()].some(isAdoption);

/** The finalizers that still hold; ours go once what they wait for has happened. */
export function remainingFinalizers(object: ApiObject, {known, pending}: Pick<Context, 'known' | 'pending'>): readonly string[] {
	const finalizers = finalizersOf(object);
	if (finalizers.length === 0) return finalizers;
	const dependents = [...known.byOwner(object.metadata.uid)];
	const blocks = (dependent: ApiObject): boolean =>
		dependent.metadata.ownerReferences?.some(({uid, blockOwnerDeletion}) => uid === object.metadata.uid && blockOwnerDeletion === true) ===
		true;
	return finalizers.filter(finalizer => {
		if (finalizer === foregroundFinalizer) return dependents.some(blocks) || isAdopting(pending);
		if (finalizer === orphanFinalizer) return dependents.length > 0 || isAdopting(pending);
		if (finalizer === jobTrackingFinalizer) return isCounting(object, known);
		return true;
	});
}
