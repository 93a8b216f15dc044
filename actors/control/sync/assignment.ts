// What of a pod goes to its node, and under which version: status and bookkeeping are left out, so that what the node itself
// reported never comes back to it.

import type {Pod} from '../../../api/kinds/pod.js';
import {fnv1a} from '../../../api/fnv.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject} from '../../../api/object.js';
import type {Known} from '../../../system/index/object-index.js';
import {controllerName, type Assignment, type AssignmentVersion} from '../../protocol/sync-message.js';
import {isDeleting} from '../objects/garbage.js';
import {controllerOf} from '../objects/owners.js';

/** The pod as its node gets it; undefined for one that is bound nowhere. */
export function assignmentOf(pod: Pod, known: Pick<Known, 'byUid'>): Assignment | undefined {
	const {metadata, spec} = pod;
	if (spec?.nodeName === undefined) return undefined;
	return {
		namespace: metadata.namespace ?? '',
		name: metadata.name,
		uid: metadata.uid,
		labels: metadata.labels ?? {},
		annotations: metadata.annotations ?? {},
		controller: topController(pod, known),
		nodeName: spec.nodeName,
		deletionGraceSeconds: metadata.deletionTimestamp === undefined ? undefined : (metadata.deletionGracePeriodSeconds ?? 0),
		spec,
	};
}

/**
 * The top of a pod's chain of controllers, by name: what takes its place after it was rolled out anew, or deleted and made again, is the same
 * to the node. It decides at the pod's first start and is no reason to assign again.
 */
function topController(pod: Pod, known: Pick<Known, 'byUid'>): string {
	const {namespace = ''} = pod.metadata;
	let top: {readonly kind: string; readonly name: string} = {kind: 'Pod', name: pod.metadata.name};
	let object: ApiObject | undefined = pod;
	for (let depth = 0; depth < limits.controllerChain; depth++) {
		const above = object && controllerOf(object);
		if (above === undefined) break;
		top = above;
		object = known.byUid(above.uid);
	}
	return controllerName(namespace, top.kind, top.name);
}

/**
 * Changes exactly when the assignment does: uid, generation of the spec, deletion, labels and annotations. Two hashes that are the same would
 * only delay a change of labels until the next resync.
 */
export function assignmentVersion(pod: Pod): AssignmentVersion {
	const {uid, generation, deletionGracePeriodSeconds, labels, annotations} = pod.metadata;
	const deletion = isDeleting(pod) ? String(deletionGracePeriodSeconds ?? 0) : '';
	const labelling = labels === undefined && annotations === undefined ? '' : fnv1a(JSON.stringify([labels, annotations])).toString(36);
	return `${uid}.${generation}.${deletion}.${pod.spec?.nodeName ?? ''}.${labelling}`;
}
