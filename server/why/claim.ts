// Why a claim or a volume is as it is.

import {conditionOf, isConditionTrue} from '../../api/conditions.js';
import {limits} from '../../api/limits.js';
import {localClass, selectedNode, storageExceeded} from '../../api/local-storage.js';
import type {NodeObject} from '../../api/kinds/node.js';
import {nodeOfVolume, type PersistentVolume} from '../../api/kinds/persistentvolume.js';
import type {PersistentVolumeClaim} from '../../api/kinds/persistentvolumeclaim.js';
import type {ApiObject} from '../../api/object.js';
import {nodeKey} from '../../actors/addresses.js';
import {claimKey, claimNamesOf, configTerm} from '../../actors/config-references.js';
import {boundVolume, volumeAt} from '../../actors/control/storage/binding.js';
import {unbound} from '../../actors/control/pods/pod-terms.js';
import type {Pod} from '../../api/kinds/pod.js';
import {isDeleting} from '../../actors/control/objects/garbage.js';
import {generalFinding} from './common.js';
import {finding, fine, keyOf, listText, newestEvent, timeOf, type Evidence, type Finding, type Link} from './finding.js';
import {isSilent, nodeFinding} from './node.js';

export function claimFinding(object: ApiObject, evidence: Evidence): Finding {
	const claim = object as PersistentVolumeClaim;
	if (isDeleting(claim)) return deletedClaim(claim, evidence);
	const general = generalFinding(claim);
	if (general !== undefined) return general;
	const {status, spec} = claim;
	if (status?.phase === 'Lost')
		return finding(claim, {
			state: 'wrong',
			is: 'is lost',
			because: `its volume ${spec?.volumeName ?? ''} is gone, and what was in it`,
			next: {says: 'delete the claim and make it anew: it gets an empty volume'},
		});
	return status?.phase === 'Bound' ? bound(claim, evidence) : waiting(claim, evidence);
}

function deletedClaim(claim: PersistentVolumeClaim, {known}: Evidence): Finding {
	const {namespace = '', name} = claim.metadata;
	const users = [...first(known.byTerm('pods', configTerm(claimKey(namespace, name))), shownUsers)].map(each => each.metadata.name);
	const general = generalFinding(claim);
	if (users.length === 0 || general === undefined) return general ?? fine(claim, 'it is being deleted');
	const because = `pod ${listText(users)} still uses it`;
	return finding(claim, {state: 'waits', is: 'is being deleted', because, next: {says: 'it goes when no pod uses it'}});
}

const shownUsers = 4;

function* first<T>(all: Iterable<T>, most: number): Iterable<T> {
	let left = most;
	for (const each of all) {
		if (left-- <= 0) return;
		yield each;
	}
}

function bound(claim: PersistentVolumeClaim, evidence: Evidence): Finding {
	const {conditions} = claim.status ?? {};
	const exceeded = conditionOf(conditions, storageExceeded);
	const volume = boundVolume(claim, evidence.known);
	const node = volume === undefined ? undefined : silentNodeOf(volume, evidence);
	if (node !== undefined)
		return finding(claim, {
			state: 'wrong',
			is: 'cannot be used now',
			because: `its volume is on node ${node.metadata.name}, which is not heard`,
			below: nodeFinding(node, evidence).chain,
		});
	if (exceeded !== undefined && isConditionTrue(conditions, storageExceeded))
		return finding(claim, {
			state: 'wrong',
			is: 'holds more than it is large',
			because: exceeded.message ?? '',
			atMs: timeOf(exceeded.lastTransitionTime),
			next: {says: 'nothing stops it: sizes are not enforced, and the disk may fill up'},
		});
	return fine(claim, `it is bound to volume ${claim.spec?.volumeName ?? ''}`);
}

function silentNodeOf(volume: PersistentVolume, {known}: Evidence): NodeObject | undefined {
	const node = known.get(nodeKey(nodeOfVolume(volume) ?? '')) as NodeObject | undefined;
	return node !== undefined && isSilent(node) ? node : undefined;
}

function waiting(claim: PersistentVolumeClaim, evidence: Evidence): Finding {
	const {spec, metadata} = claim;
	const {known} = evidence;
	const storageClass = spec?.storageClassName ?? '';
	const told = newestEvent(evidence.eventsOf(keyOf(claim)), ['ProvisioningFailed', 'FailedBinding']);
	const wrong = (because: string, says: string): Finding => finding(claim, {state: 'wrong', is: 'has no volume', because, next: {says}});
	if (spec?.volumeName !== undefined) {
		const volume = volumeAt(spec.volumeName, known);
		return wrong(
			volume === undefined ? `volume ${spec.volumeName} is not there` : `volume ${spec.volumeName} does not fit, or is another claim's`,
			'it is bound as soon as that volume is there, fits and is free',
		);
	}
	if (storageClass === '')
		return wrong('no volume that is there fits it, and it names no storage class', 'it is bound as soon as a volume comes that fits it');
	if (storageClass !== localClass)
		return wrong(
			`there is no storage class ${storageClass}, and no volume of it that fits`,
			`it is bound as soon as a volume of class ${storageClass} comes that fits it`,
		);
	const node = metadata.annotations?.[selectedNode];
	if (node === undefined) return withoutConsumer(claim, evidence);
	if (told !== undefined) return wrong(told.message, 'it is tried again');
	const host = known.get(nodeKey(node)) as NodeObject | undefined;
	const below: readonly Link[] = host !== undefined && isSilent(host) ? nodeFinding(host, evidence).chain : [];
	return finding(claim, {
		state: below.length > 0 ? 'wrong' : 'waits',
		is: 'has no volume yet',
		because: `it is made on node ${node}`,
		below,
	});
}

/** Its volume is made where its first pod goes: no pod waits for it, but it for a pod. */
export function waitsForPod(object: ApiObject): boolean {
	const {metadata, spec, status} = object as PersistentVolumeClaim;
	const isSettled = status?.phase === 'Bound' || status?.phase === 'Lost' || isDeleting(object);
	const isFree = spec?.volumeName === undefined && metadata.annotations?.[selectedNode] === undefined;
	return !isSettled && isFree && spec?.storageClassName === localClass;
}

function withoutConsumer(claim: PersistentVolumeClaim, {known}: Evidence): Finding {
	const {namespace = '', name} = claim.metadata;
	const pods: string[] = [];
	for (const pod of first(known.byTerm('pods', unbound) as Iterable<Pod>, limits.whyPods)) {
		if (pod.metadata.namespace !== namespace || pod.spec === undefined || !claimNamesOf(pod.spec).includes(name)) continue;
		pods.push(pod.metadata.name);
		if (pods.length >= shownUsers) break;
	}
	if (pods.length === 0)
		return finding(claim, {
			state: 'waits',
			is: 'has no volume yet',
			because: 'no pod uses it',
			next: {says: 'its volume is made on the node of the first pod that uses it'},
		});
	return finding(claim, {
		state: 'waits',
		is: 'has no volume yet',
		because: `its volume is made where its first pod goes, and ${pods.length === 1 ? 'pod' : 'pods'} ${listText(pods)} ${pods.length === 1 ? 'has' : 'have'} no node`,
		next: {says: 'its volume is made when one of them gets a node'},
	});
}

export function volumeFinding(object: ApiObject, evidence: Evidence): Finding {
	const volume = object as PersistentVolume;
	const general = generalFinding(volume);
	const silent = silentNodeOf(volume, evidence);
	if (silent !== undefined) {
		const name = silent.metadata.name;
		return finding(volume, {
			state: 'wrong',
			is: isDeleting(volume) ? 'is being deleted' : 'cannot be used now',
			because: isDeleting(volume) ? `node ${name} has to remove its folder, and is not heard` : `it is on node ${name}, which is not heard`,
			below: nodeFinding(silent, evidence).chain,
			next: {says: `it goes on when node ${name} is heard`},
		});
	}
	if (general !== undefined) return general;
	const {phase} = volume.status ?? {};
	const claim = volume.spec?.claimRef;
	switch (phase) {
		case 'Bound':
			return fine(volume, `it is bound to claim ${claim?.namespace ?? ''}/${claim?.name ?? ''}`);
		case 'Released':
			return finding(volume, {
				state: 'waits',
				is: 'is not free',
				because: `its claim ${claim?.namespace ?? ''}/${claim?.name ?? ''} is gone, and it keeps what was in it`,
				next: {says: 'delete it, or take away its claimRef, once its data is safe'},
			});
		default:
			return fine(volume, 'it is free: the first claim that it fits gets it');
	}
}
