// A PersistentVolumeClaim: gets a volume, and keeps it. After Kubernetes' persistent volume controller and its protection of claims.
//
// The record alone says where a volume of class `local` is made: the scheduler asks it before it binds the first pod, and what it has committed
// holds for all other pods. Its volume has a fixed name, so that no crash makes two.

import {failure} from '../../../api/errors.js';
import {
	claimProtection,
	folderFinalizer,
	hostnameLabel,
	localClass,
	localProvisioner,
	provisionedBy,
	selectedNode,
} from '../../../api/local-storage.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {PersistentVolume} from '../../../api/kinds/persistentvolume.js';
import type {PersistentVolumeClaim, PersistentVolumeClaimStatus} from '../../../api/kinds/persistentvolumeclaim.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {ApiObject, Draft} from '../../../api/object.js';
import {tell, type Context, type Effect, type Message, type ReplyTo} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {nodeKey} from '../../addresses.js';
import {claimKey, claimNamesOf, claims, configTerm, volumeKey} from '../../config-references.js';
import {controller, type Handled, type Reconciliation} from '../objects/controller.js';
import {normal, warning} from '../objects/event.js';
import {isDeleting} from '../objects/garbage.js';
import {notMeant} from '../objects/meant.js';
import {claimUsageTerms} from '../objects/quota-usage.js';
import {bestVolume, boundVolume, claimAt, givenVolume, volumeAt} from './binding.js';
import {withinClaimLimits} from './claim-limits.js';
import {numberedTerms} from './numbered-claims.js';
import {protectedBy} from './protection.js';
import {usageOfClaim} from './usage.js';
import type {VolumeMessage} from './volume.js';

type ClaimNews =
	/** The scheduler would bind a pod to this node: the volume shall be there. */
	| {readonly type: 'place'; readonly node: string}
	/** That node is gone before there was a volume. */
	| {readonly type: 'unplace'}
	/** This volume was given to it. */
	| {readonly type: 'take'; readonly volume: string}
	/** It may be that nothing holds it any more. */
	| {readonly type: 'release'};

/** The uid says which claim of that name is meant. */
export type ClaimMessage = ClaimNews & {readonly uid: string; readonly replyTo?: ReplyTo | undefined};

/** Known before it is looked at which claim is meant. */
const claimMessages: {readonly [Type in ClaimMessage['type']]: true} = {place: true, unplace: true, take: true, release: true};

export const claimController = controller<PersistentVolumeClaim, ClaimMessage>({
	plural: claims,
	prepare: (draft, known) => withinClaimLimits(protectedBy(draft, claimProtection), known),
	terms: claim => [
		...(claim.spec === undefined ? [] : claimUsageTerms(claim.metadata.namespace ?? '', claim.spec)),
		...(claim.spec?.volumeName === undefined ? [waitingTerm] : []),
		...numberedTerms(claim),
	],
	watches: {
		pods: ({before, after}, known) => usedBy(before as Pod | undefined, after as Pod | undefined, known),
		persistentvolumes: ({before, after}, known) =>
			concerned(before as PersistentVolume | undefined, after as PersistentVolume | undefined, known),
	},
	reconcile,
	receive(claim, message, context) {
		if (!Object.hasOwn(claimMessages, message.type)) return undefined;
		const another = notMeant(claim, message.uid, 'claim');
		if (another !== undefined) return refused(claim, another);
		switch (message.type) {
			case 'place':
				return placed(claim, message.node);
			case 'unplace':
				return unplaced(claim, context.known);
			case 'take':
				return taken(claim, message.volume, context.known);
			case 'release':
				return released(claim, context.known);
		}
	},
});

/** Claims without a volume. */
const waitingTerm = 'waiting';

/** Whether a bound pod names the claim. One that is over counts until it is gone. */
const isInUse = ({metadata: {namespace = '', name}}: PersistentVolumeClaim, known: Known): boolean =>
	known.countByTerm('pods', configTerm(claimKey(namespace, name))) > 0;

// ---- what concerns it ----------------------------------------------------------------------------------------------------

/** A pod that comes waits with it; one that goes may have been the last. */
function usedBy(before: Pod | undefined, after: Pod | undefined, known: Known): Iterable<ApiObject> {
	if (before !== undefined && after !== undefined) return [];
	const {metadata, spec} = (after ?? before) as Pod;
	return (spec === undefined ? [] : claimNamesOf(spec)).flatMap(name => claimAt(metadata.namespace ?? '', name, known) ?? []);
}

/** The claim that has the volume or had it; all that wait for one, when it is free. */
function concerned(before: PersistentVolume | undefined, after: PersistentVolume | undefined, known: Known): Iterable<ApiObject> {
	const named = [before, after].flatMap(volume => {
		const reference = volume?.spec?.claimRef;
		return reference === undefined ? [] : (claimAt(reference.namespace, reference.name, known) ?? []);
	});
	const isNews = after !== undefined && after.spec?.claimRef?.uid === undefined && before?.spec !== after.spec;
	return isNews ? new Set([...named, ...known.byTerm(claims, waitingTerm)]) : new Set(named);
}

// ---- what it does --------------------------------------------------------------------------------------------------------

function reconcile(claim: PersistentVolumeClaim, context: Context): Reconciliation<PersistentVolumeClaimStatus> {
	const {known, self} = context;
	const {uid} = claim.metadata;
	const say = (news: ClaimNews): Effect => tell(self, {...news, uid} satisfies ClaimMessage);
	if (isDeleting(claim)) return {effects: holds(claim, known) ? [] : [say({type: 'release'})]};
	const volume = boundVolume(claim, known);
	if (volume !== undefined) return bound(claim, volume, context.nowMs);
	if (claim.status?.phase === 'Bound') return lost(claim);
	if (claim.status?.phase === 'Lost') return {effects: []};
	const given = givenVolume(claim, known);
	if (given !== undefined) return {effects: [say({type: 'take', volume: given.metadata.name})]};
	const best = bestVolume(claim, known);
	if (best !== undefined) return {effects: asked(claim, best, context)};
	return waits(claim, context, say);
}

const holds = (claim: PersistentVolumeClaim, known: Known): boolean =>
	claim.metadata.finalizers?.includes(claimProtection) !== true || isInUse(claim, known);

function bound(
	{spec, status}: PersistentVolumeClaim,
	volume: PersistentVolume,
	nowMs: number,
): Reconciliation<PersistentVolumeClaimStatus> {
	const {accessModes, capacity} = volume.spec ?? {};
	const usage = usageOfClaim(status, volume, nowMs);
	const isNew =
		status?.phase !== 'Bound' && spec?.storageClassName === localClass && volume.metadata.annotations?.[provisionedBy] !== undefined;
	return {
		status: {
			phase: 'Bound',
			...(accessModes === undefined ? {} : {accessModes}),
			...(capacity === undefined ? {} : {capacity}),
			...usage.status,
		},
		effects: [
			...(isNew ? [normal('ProvisioningSucceeded', `Successfully provisioned volume ${volume.metadata.name}`)] : []),
			...usage.effects,
		],
	};
}

const lost = ({status}: PersistentVolumeClaim): Reconciliation<PersistentVolumeClaimStatus> => ({
	status: {...status, phase: 'Lost'},
	effects: [warning('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!')],
});

/** Its record says whether the claim gets it. */
function asked({metadata}: PersistentVolumeClaim, best: PersistentVolume, {pending}: Context): readonly Effect[] {
	const id = `claim/${best.metadata.uid}`;
	if (pending.has(id)) return [];
	const {namespace = '', name, uid} = metadata;
	const message: Message & VolumeMessage = {type: 'claim', uid: best.metadata.uid, claim: {namespace, name, uid}};
	return [{type: 'update', key: volumeKey(best.metadata.name), message, id}];
}

/** There is no volume for it: one is made where its first pod goes, or it says what it waits for. */
function waits(
	claim: PersistentVolumeClaim,
	context: Context,
	say: (news: ClaimNews) => Effect,
): Reconciliation<PersistentVolumeClaimStatus> {
	const {spec, metadata} = claim;
	const storageClass = spec?.storageClassName ?? '';
	if (spec?.volumeName !== undefined)
		return {effects: [normal('FailedBinding', `volume "${spec.volumeName}" is not there, or does not fit`)]};
	if (storageClass === '')
		return {effects: [normal('FailedBinding', 'no persistent volumes available for this claim and no storage class is set')]};
	if (storageClass !== localClass)
		return {effects: [warning('ProvisioningFailed', `storageclass.storage.k8s.io "${storageClass}" not found`)]};
	const node = metadata.annotations?.[selectedNode];
	if (node === undefined) return {effects: [normal('WaitForFirstConsumer', 'waiting for first consumer to be created before binding')]};
	const folder = (context.known.get(nodeKey(node)) as NodeObject | undefined)?.status?.localVolumes;
	if (folder === undefined) return {effects: [say({type: 'unplace'})]};
	return {effects: made(claim, node, folder, context)};
}

export const volumeNameOf = (uid: string): string => `pvc-${uid}`;

function made({metadata, spec}: PersistentVolumeClaim, node: string, folder: string, {known, pending}: Context): readonly Effect[] {
	const {namespace = '', name, uid} = metadata;
	const volume = volumeNameOf(uid);
	const id = `create/${volume}`;
	if (pending.has(id)) return [];
	if (volumeAt(volume, known) !== undefined)
		return [warning('ProvisioningFailed', `there is a PersistentVolume "${volume}" that is not of this claim: delete it`)];
	const object: Draft = {
		apiVersion: 'v1',
		kind: 'PersistentVolume',
		metadata: {name: volume, annotations: {[provisionedBy]: localProvisioner}, finalizers: [folderFinalizer]},
		spec: {
			capacity: {storage: spec?.resources.requests?.['storage'] ?? '0'},
			accessModes: spec?.accessModes ?? [],
			persistentVolumeReclaimPolicy: 'Delete',
			storageClassName: localClass,
			volumeMode: 'Filesystem',
			local: {path: `${folder}/${volume}`},
			claimRef: {kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid},
			nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: hostnameLabel, operator: 'In', values: [node]}]}]}},
		},
	};
	return [{type: 'create', object, id}];
}

// ---- what it is told -----------------------------------------------------------------------------------------------------

const refused = ({metadata: {name}}: PersistentVolumeClaim, message: string): Handled<PersistentVolumeClaim> => ({
	ok: false,
	error: failure('ERR_CONFLICT', {resource: claims, name, message}),
});

/** The first node that is asked for is the one. */
function placed(claim: PersistentVolumeClaim, node: string): Handled<PersistentVolumeClaim> {
	const {annotations} = claim.metadata;
	if (isDeleting(claim)) return refused(claim, 'it is being deleted');
	const present = annotations?.[selectedNode];
	if (present === node) return {ok: true, object: claim};
	if (present !== undefined) return refused(claim, `its volume is made on node "${present}"`);
	if (claim.spec?.volumeName !== undefined) return refused(claim, `it has the volume "${claim.spec.volumeName}"`);
	return {ok: true, object: {...claim, metadata: {...claim.metadata, annotations: {...annotations, [selectedNode]: node}}}};
}

/** Only while there is no volume: what is in one stays where it is. */
function unplaced(claim: PersistentVolumeClaim, known: Known): Handled<PersistentVolumeClaim> {
	const {[selectedNode]: node, ...annotations} = claim.metadata.annotations ?? {};
	const isThere = node !== undefined && (known.get(nodeKey(node)) as NodeObject | undefined)?.status?.localVolumes !== undefined;
	if (
		node === undefined ||
		isThere ||
		claim.spec?.volumeName !== undefined ||
		volumeAt(volumeNameOf(claim.metadata.uid), known) !== undefined
	)
		return {ok: true, object: claim};
	return {ok: true, object: {...claim, metadata: {...claim.metadata, annotations}}};
}

function taken(claim: PersistentVolumeClaim, name: string, known: Known): Handled<PersistentVolumeClaim> {
	const {spec} = claim;
	if (spec === undefined || isDeleting(claim) || givenVolume(claim, known)?.metadata.name !== name) return {ok: true, object: claim};
	if (spec.volumeName === name) return {ok: true, object: claim};
	return {ok: true, object: {...claim, spec: {...spec, volumeName: name}}};
}

function released(claim: PersistentVolumeClaim, known: Known): Handled<PersistentVolumeClaim> {
	if (!isDeleting(claim) || holds(claim, known)) return {ok: true, object: claim};
	const finalizers = claim.metadata.finalizers?.filter(each => each !== claimProtection) ?? [];
	return {ok: true, object: {...claim, metadata: {...claim.metadata, finalizers}}};
}
