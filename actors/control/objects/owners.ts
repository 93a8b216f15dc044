// Owner references: the one controller that an object may have, and the reference that a controller gives to what it makes.

import type {ApiObject, OwnerReference} from '../../../api/object.js';
import type {Effect} from '../../../system/kernel/behavior.js';

/** The owner that controls the object; undefined where it is its own. */
export const controllerOf = ({metadata}: Pick<ApiObject, 'metadata'>): OwnerReference | undefined =>
	metadata.ownerReferences?.find(({controller}) => controller === true);

/** Objects of a kind, in a namespace, that no controller owns. */
export const strayTerm = (namespace: string): string => `stray=${namespace}`;

/** The reference to the controller of an object that it makes or adopts. */
export const ownerReferenceTo = ({apiVersion, kind, metadata}: ApiObject): OwnerReference => ({
	apiVersion,
	kind,
	name: metadata.name,
	uid: metadata.uid,
	controller: true,
	blockOwnerDeletion: true,
});

/** Of the write that gives an object to a controller. */
export const adoptionId = (uid: string): string => `adopt/${uid}`;

export const isAdoption = (effect: Effect): boolean => effect.type === 'update' && effect.id.startsWith(adoptionId(''));
