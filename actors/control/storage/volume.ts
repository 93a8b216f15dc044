// A PersistentVolume: who has it, and what becomes of it when its claim is gone. After Kubernetes' persistent volume controller and its
// protection of volumes.
//
// The folder of one of class `local` is removed by the agent of its node, and the record goes only after that: a node that is away keeps it. One
// that was deleted for good lets it go, for nobody is left to ask.

import {failure} from '../../../api/errors.js';
import {folderFinalizer, volumeProtection} from '../../../api/local-storage.js';
import {isProvisioned, nodeOfVolume, type PersistentVolume, type PersistentVolumeStatus} from '../../../api/kinds/persistentvolume.js';
import type {PersistentVolumeClaim} from '../../../api/kinds/persistentvolumeclaim.js';
import type {ApiObject} from '../../../api/object.js';
import {tell, type Context, type Effect, type ReplyTo} from '../../../system/kernel/behavior.js';
import type {Filing, Known} from '../../../system/index/object-index.js';
import {nodeKey} from '../../addresses.js';
import {volumeKey, volumes} from '../../config-references.js';
import {controller, type Handled, type Reconciliation, type Watched} from '../objects/controller.js';
import {warning} from '../objects/event.js';
import {isDeleting} from '../objects/garbage.js';
import {notMeant} from '../objects/meant.js';
import {claimAt, claimedTerm, freeTerm, holderOf, mayHave} from './binding.js';
import {protectedBy} from './protection.js';
import {withUsage} from './usage.js';

type VolumeNews =
	/** A claim wants it. */
	| {readonly type: 'claim'; readonly claim: {readonly namespace: string; readonly name: string; readonly uid: string}}
	/** The claim that it was given to has another one. */
	| {readonly type: 'unclaim'}
	/** Its node says that the folder is gone, or why it is not. */
	| {readonly type: 'removal'; readonly node: string; readonly problem: string | undefined}
	/** Its node has counted what it takes of the disk. */
	| {readonly type: 'used'; readonly node: string; readonly usedBytes: number}
	/** It may be that nothing holds it any more. */
	| {readonly type: 'release'};

/** The uid says which volume of that name is meant. */
export type VolumeMessage = VolumeNews & {readonly uid: string; readonly replyTo?: ReplyTo | undefined};

/** Known before it is looked at which volume is meant. */
const volumeMessages: {readonly [Type in VolumeMessage['type']]: true} = {
	claim: true,
	unclaim: true,
	removal: true,
	used: true,
	release: true,
};

/** Volumes whose folders a node has. */
export const volumesOnNode = (node: string): string => `node=${node}`;

export const volumeController = controller<PersistentVolume, VolumeMessage>({
	plural: volumes,
	prepare: draft => ({ok: true, value: protectedBy(draft, volumeProtection)}),
	terms: termsOf,
	watches: {
		persistentvolumeclaims: ({before, after}, known) => heldBy(before, after, known),
		nodes: ({before, after}, known) =>
			before !== undefined && after === undefined ? known.byTerm(volumes, volumesOnNode(before.metadata.name)) : [],
	},
	reconcile,
	receive(volume, message, {known}) {
		if (!Object.hasOwn(volumeMessages, message.type)) return undefined;
		const another = notMeant(volume, message.uid, 'volume');
		if (another !== undefined) return refused(volume, another);
		switch (message.type) {
			case 'claim':
				return claimed(volume, message.claim, known);
			case 'unclaim':
				return unclaimed(volume, known);
			case 'removal':
				return removed(volume, message.node, message.problem);
			case 'used':
				return used(volume, message.node, message.usedBytes);
			case 'release':
				return released(volume, known);
		}
	},
});

function termsOf(volume: PersistentVolume): readonly Filing[] {
	const {claimRef, storageClassName = ''} = volume.spec ?? {};
	const node = isProvisioned(volume) ? nodeOfVolume(volume) : undefined;
	return [
		claimRef?.uid === undefined ? freeTerm(storageClassName) : claimedTerm(claimRef.uid),
		...(node === undefined ? [] : [volumesOnNode(node)]),
	];
}

const heldBy = (before: Watched['before'], after: Watched['after'], known: Known): Iterable<ApiObject> =>
	known.byTerm(volumes, claimedTerm((after ?? before)?.metadata.uid ?? ''));

/** Whether its node has to remove its folder now. */
export const isToRemove = (volume: PersistentVolume): boolean =>
	isDeleting(volume) && isProvisioned(volume) && has(volume, folderFinalizer) && !has(volume, volumeProtection) && isDeleted(volume);

const has = ({metadata: {finalizers = []}}: PersistentVolume, finalizer: string): boolean => finalizers.includes(finalizer);

const isDeleted = ({spec}: PersistentVolume): boolean => spec?.persistentVolumeReclaimPolicy === 'Delete';

/** Whether a claim has it, or is about to take it. */
function isHeld(volume: PersistentVolume, known: Known): boolean {
	const holder = holderOf(volume, known);
	return holder !== undefined && isOf(volume, holder);
}

const isOf = ({metadata}: PersistentVolume, {spec}: PersistentVolumeClaim): boolean =>
	spec?.volumeName === undefined || spec.volumeName === metadata.name;

// ---- what it does --------------------------------------------------------------------------------------------------------

function reconcile(volume: PersistentVolume, context: Context): Reconciliation<PersistentVolumeStatus> {
	const {known, self} = context;
	const {metadata, spec} = volume;
	const inPhase = (phase: PersistentVolumeStatus['phase']): PersistentVolumeStatus => ({...volume.status, phase});
	const say = (news: VolumeNews): Effect => tell(self, {...news, uid: metadata.uid} satisfies VolumeMessage);
	if (isDeleting(volume)) return {effects: remaining(volume, known).length === metadata.finalizers?.length ? [] : [say({type: 'release'})]};
	if (spec?.claimRef?.uid === undefined) return {status: inPhase('Available'), effects: []};
	const holder = holderOf(volume, known);
	if (holder === undefined) return {status: inPhase('Released'), effects: isDeleted(volume) ? ended(volume, context) : []};
	if (holder.spec?.volumeName === metadata.name) return {status: inPhase('Bound'), effects: []};
	if (isOf(volume, holder)) return {effects: []};
	return {effects: isProvisioned(volume) ? ended(volume, context) : [say({type: 'unclaim'})]};
}

/** What was made for a claim goes with it. */
function ended({metadata: {name, uid}}: PersistentVolume, {pending}: Context): readonly Effect[] {
	const id = `delete/${uid}`;
	return pending.has(id) ? [] : [{type: 'delete', key: volumeKey(name), uid, id}];
}

/** The finalizers that still hold. */
function remaining(volume: PersistentVolume, known: Known): readonly string[] {
	const {finalizers = []} = volume.metadata;
	return finalizers.filter(finalizer => {
		if (finalizer === volumeProtection) return isHeld(volume, known);
		if (finalizer !== folderFinalizer) return true;
		return isDeleted(volume) && isProvisioned(volume) && (has(volume, volumeProtection) || isNodeThere(volume, known));
	});
}

const isNodeThere = (volume: PersistentVolume, known: Known): boolean => known.get(nodeKey(nodeOfVolume(volume) ?? '')) !== undefined;

// ---- what it is told -----------------------------------------------------------------------------------------------------

const refused = ({metadata: {name}}: PersistentVolume, message: string): Handled<PersistentVolume> => ({
	ok: false,
	error: failure('ERR_CONFLICT', {resource: volumes, name, message}),
});

type Claimer = Extract<VolumeNews, {type: 'claim'}>['claim'];

/** The first claim that asks gets it. */
function claimed(volume: PersistentVolume, {namespace, name, uid}: Claimer, known: Known): Handled<PersistentVolume> {
	const {spec} = volume;
	const claim = claimAt(namespace, name, known);
	if (spec === undefined || claim?.metadata.uid !== uid || !mayHave(claim, volume)) return refused(volume, 'the claim may not have it');
	if (spec.claimRef?.uid === uid) return {ok: true, object: volume};
	const claimRef = {...spec.claimRef, kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid};
	return {ok: true, object: {...volume, spec: {...spec, claimRef}}};
}

function unclaimed(volume: PersistentVolume, known: Known): Handled<PersistentVolume> {
	const holder = holderOf(volume, known);
	if (volume.spec === undefined || holder === undefined || isOf(volume, holder)) return {ok: true, object: volume};
	const {claimRef: _, ...spec} = volume.spec;
	return {ok: true, object: {...volume, spec}};
}

function used(volume: PersistentVolume, node: string, usedBytes: number): Handled<PersistentVolume> {
	if (node !== nodeOfVolume(volume) || !isProvisioned(volume)) return refused(volume, `it is not on node "${node}"`);
	return {ok: true, object: withUsage(volume, usedBytes)};
}

function removed(volume: PersistentVolume, node: string, problem: string | undefined): Handled<PersistentVolume> {
	if (node !== nodeOfVolume(volume)) return refused(volume, `it is not on node "${node}"`);
	if (!isToRemove(volume)) return {ok: true, object: volume};
	if (problem !== undefined) return {ok: true, object: volume, effects: [warning('VolumeFailedDelete', problem)]};
	return {ok: true, object: without(volume, [folderFinalizer])};
}

function released(volume: PersistentVolume, known: Known): Handled<PersistentVolume> {
	if (!isDeleting(volume)) return {ok: true, object: volume};
	const holding = remaining(volume, known);
	const gone = (volume.metadata.finalizers ?? []).filter(finalizer => !holding.includes(finalizer));
	const isLeft = gone.includes(folderFinalizer) && isDeleted(volume) && isProvisioned(volume);
	return {ok: true, object: without(volume, gone), effects: isLeft ? [leftBehind(volume)] : []};
}

const leftBehind = (volume: PersistentVolume): Effect =>
	warning(
		'VolumeFailedDelete',
		`node "${nodeOfVolume(volume) ?? ''}" is not there any more: what was in ${volume.spec?.local?.path ?? ''} may still be on its disk`,
	);

const without = (volume: PersistentVolume, gone: readonly string[]): PersistentVolume => ({
	...volume,
	metadata: {...volume.metadata, finalizers: (volume.metadata.finalizers ?? []).filter(each => !gone.includes(each))},
});
