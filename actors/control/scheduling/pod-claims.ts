// What the claims of a pod mean for where it may go: to the nodes of the volumes that are there. A claim of class `local` without one is placed
// first, by its own record; the pod is bound once it has its volume.

import {featureText} from '../../../api/features.js';
import {localClass, selectedNode} from '../../../api/local-storage.js';
import type {PersistentVolume} from '../../../api/kinds/persistentvolume.js';
import type {PersistentVolumeClaim} from '../../../api/kinds/persistentvolumeclaim.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {RuntimeClass} from '../../../api/runtime-class.js';
import type {Known} from '../../../system/index/object-index.js';
import {claimKey, claimNamesOf, configTerm} from '../../config-references.js';
import {isDeleting} from '../objects/garbage.js';
import {isTerminal} from '../pods/pod-lifecycle.js';
import {boundVolume, claimAt} from '../storage/binding.js';
import {isUsableOn} from '../storage/node-affinity.js';
import type {NodeInfo} from './node-info.js';
import type {AssumedPods} from './topology.js';

export type PodClaims = {
	/** Why the pod can go nowhere; undefined: it may. */
	readonly problem: string | undefined;
	/** A node was chosen, and a volume is not there yet. */
	readonly isWaiting: boolean;
	/** Get their volume on the node that the pod goes to. */
	readonly unplaced: readonly PersistentVolumeClaim[];
	/** Volumes that are there: all have to be usable. */
	readonly volumes: readonly PersistentVolume[];
	/** Where others will be. */
	readonly nodes: readonly string[];
};

/** Undefined for a pod without claims. */
export function claimsOf({metadata, spec}: Pod, known: Known, assumed: AssumedPods): PodClaims | undefined {
	const names = spec === undefined ? [] : claimNamesOf(spec);
	if (names.length === 0) return undefined;
	const {namespace = '', uid} = metadata;
	const claims: PersistentVolumeClaim[] = [];
	const volumes: PersistentVolume[] = [];
	const nodes: string[] = [];
	const unplaced: PersistentVolumeClaim[] = [];
	for (const name of names) {
		const claim = claimAt(namespace, name, known);
		const problem = problemOf(name, claim, known);
		if (claim === undefined || problem !== undefined) return {problem, isWaiting: false, unplaced: [], volumes, nodes};
		claims.push(claim);
		const volume = boundVolume(claim, known);
		const node = claim.metadata.annotations?.[selectedNode];
		if (volume !== undefined) volumes.push(volume);
		else if (node !== undefined) nodes.push(node);
		else unplaced.push(claim);
	}
	const isTaken = claims.some(claim => isTakenBy(claim, uid, known, assumed));
	return {
		problem: isTaken ? 'PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod' : undefined,
		isWaiting: nodes.length > 0 && unplaced.length === 0,
		unplaced,
		volumes,
		nodes,
	};
}

/** In Kubernetes' words. */
function problemOf(name: string, claim: PersistentVolumeClaim | undefined, known: Known): string | undefined {
	if (claim === undefined) return `persistentvolumeclaim "${name}" not found`;
	if (isDeleting(claim)) return `persistentvolumeclaim "${name}" is being deleted`;
	if (claim.status?.phase === 'Lost')
		return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ''}"`;
	const isMadeForPods = claim.spec?.storageClassName === localClass && claim.spec.volumeName === undefined;
	return boundVolume(claim, known) === undefined && !isMadeForPods ? 'pod has unbound immediate PersistentVolumeClaims' : undefined;
}

/** Whether another pod has what only one may have. */
function isTakenBy({metadata, spec}: PersistentVolumeClaim, uid: string, known: Known, assumed: AssumedPods): boolean {
	if (spec?.accessModes.includes('ReadWriteOncePod') !== true) return false;
	const {namespace = '', name} = metadata;
	for (const pod of known.byTerm('pods', configTerm(claimKey(namespace, name))))
		if (pod.metadata.uid !== uid && !isTerminal(pod as Pod)) return true;
	for (const {pod} of assumed.values())
		if (pod.metadata.uid !== uid && pod.metadata.namespace === namespace && pod.spec !== undefined && claimNamesOf(pod.spec).includes(name))
			return true;
	return false;
}

/** Equal for pods that may go to the same nodes, as far as their volumes say. */
export const keyOfClaims = ({volumes, nodes}: PodClaims): string =>
	JSON.stringify([volumes.map(({metadata}) => metadata.name).sort(), [...nodes].sort()]);

/** Why a volume keeps the pod away from the node; undefined when none does. */
export function claimsMisfit({volumes, nodes}: PodClaims, node: NodeInfo, runtimeClass: RuntimeClass): string | undefined {
	if (volumes.some(({spec}) => spec?.nfs !== undefined)) {
		if (runtimeClass === 'docker') return 'mounts no volumes of NFS for pods of class docker';
		if (!node.features.includes('nfs')) return `lacks ${featureText('nfs')}`;
	}
	const isNear = nodes.every(name => name === node.name) && volumes.every(volume => isUsableOn(volume, node.name, node.labels));
	return isNear ? undefined : 'had volume node affinity conflict';
}
