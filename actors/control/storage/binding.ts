// Which claim has which volume. A claim and its volume name each other: the volume's record decides who gets it, the claim's where it gets
// one. Only what both say holds.

import {memoryBytes} from '../../../api/quantity.js';
import {isQuantity} from '../../../api/resource-amount.js';
import {matches} from '../../../api/selector.js';
import type {PersistentVolumeClaim} from '../../../api/kinds/persistentvolumeclaim.js';
import type {PersistentVolume} from '../../../api/kinds/persistentvolume.js';
import type {Json} from '../../../api/object.js';
import type {Known} from '../../../system/index/object-index.js';
import {claimKey, volumeKey, volumes} from '../../config-references.js';
import {isDeleting} from '../objects/garbage.js';

/** Volumes that are of this claim, by its uid. */
export const claimedTerm = (uid: string): string => `claim=${uid}`;

/** Volumes of a class that no claim has, or that are kept for one by name. */
export const freeTerm = (storageClass: string): string => `free=${storageClass}`;

export const claimAt = (namespace: string, name: string, known: Known): PersistentVolumeClaim | undefined =>
	known.get(claimKey(namespace, name)) as PersistentVolumeClaim | undefined;

export const volumeAt = (name: string, known: Known): PersistentVolume | undefined =>
	known.get(volumeKey(name)) as PersistentVolume | undefined;

/** The volume of a claim that is bound; undefined: it is not, or its volume is lost. */
export function boundVolume({metadata, spec}: PersistentVolumeClaim, known: Known): PersistentVolume | undefined {
	const volume = spec?.volumeName === undefined ? undefined : volumeAt(spec.volumeName, known);
	return volume?.spec?.claimRef?.uid === metadata.uid ? volume : undefined;
}

/** The claim that a volume was given to, as long as it is there. */
export function holderOf({spec}: PersistentVolume, known: Known): PersistentVolumeClaim | undefined {
	const {namespace = '', name = '', uid} = spec?.claimRef ?? {};
	const claim = claimAt(namespace, name, known);
	return uid !== undefined && claim?.metadata.uid === uid ? claim : undefined;
}

/** The volume that the claim was given and has not taken yet; of several always the same. */
export function givenVolume({metadata, spec}: PersistentVolumeClaim, known: Known): PersistentVolume | undefined {
	const given = ([...known.byTerm(volumes, claimedTerm(metadata.uid))] as PersistentVolume[]).filter(volume => !isDeleting(volume));
	const [first] = given
		.filter(volume => spec?.volumeName === undefined || volume.metadata.name === spec.volumeName)
		.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
	return first;
}

/** The smallest free volume that does; one that is kept for the claim comes first. */
export function bestVolume(claim: PersistentVolumeClaim, known: Known): PersistentVolume | undefined {
	const {spec} = claim;
	if (spec === undefined) return undefined;
	const candidates =
		spec.volumeName === undefined
			? ([...known.byTerm(volumes, freeTerm(spec.storageClassName ?? ''))] as PersistentVolume[])
			: [volumeAt(spec.volumeName, known)].filter(volume => volume !== undefined);
	return candidates
		.filter(volume => mayHave(claim, volume))
		.sort((a, b) => compare(a, b))
		.at(0);
}

function compare(a: PersistentVolume, b: PersistentVolume): number {
	const kept = Number(b.spec?.claimRef !== undefined) - Number(a.spec?.claimRef !== undefined);
	if (kept !== 0) return kept;
	const size = storageOf(a.spec?.capacity) - storageOf(b.spec?.capacity);
	return size !== 0 ? size : a.metadata.name < b.metadata.name ? -1 : 1;
}

/** Whether the claim may get the volume: class, size, modes, labels, and nobody else has it. */
export function mayHave({metadata, spec}: PersistentVolumeClaim, volume: PersistentVolume): boolean {
	const offered = volume.spec;
	if (spec === undefined || offered === undefined || isDeleting(volume)) return false;
	const {claimRef} = offered;
	const isKept = claimRef !== undefined;
	if (isKept && (claimRef.namespace !== metadata.namespace || claimRef.name !== metadata.name)) return false;
	if (claimRef?.uid !== undefined && claimRef.uid !== metadata.uid) return false;
	return (
		(offered.storageClassName ?? '') === (spec.storageClassName ?? '') &&
		spec.accessModes.every(mode => offered.accessModes.includes(mode)) &&
		storageOf(offered.capacity) >= storageOf(spec.resources.requests) &&
		(spec.selector === undefined || matches(spec.selector, volume.metadata.labels))
	);
}

/** Bytes; 0 for none. */
function storageOf(amounts: {readonly [resource: string]: unknown} | undefined): number {
	const storage = amounts?.['storage'] as Json | undefined;
	return isQuantity(storage) ? (memoryBytes(storage) ?? 0) : 0;
}
