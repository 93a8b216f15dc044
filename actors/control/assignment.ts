// What of a pod goes to its node, and under which version: status and bookkeeping are left out, so that what the node itself
// reported never comes back to it.

import type {Pod} from '../../api/kinds/pod.js';
import type {Assignment, AssignmentVersion} from '../sync-message.js';
import {isDeleting} from './garbage.js';

/** The pod as its node gets it; undefined for one that is bound nowhere. */
export function assignmentOf({metadata, spec}: Pod): Assignment | undefined {
	if (spec?.nodeName === undefined) return undefined;
	return {
		namespace: metadata.namespace ?? '',
		name: metadata.name,
		uid: metadata.uid,
		labels: metadata.labels ?? {},
		annotations: metadata.annotations ?? {},
		nodeName: spec.nodeName,
		deletionGraceSeconds: metadata.deletionTimestamp === undefined ? undefined : (metadata.deletionGracePeriodSeconds ?? 0),
		spec,
	};
}

/** Changes exactly when the assignment does: uid, generation of the spec, deletion, labels and annotations. */
export function assignmentVersion(pod: Pod): AssignmentVersion {
	const {uid, generation, deletionGracePeriodSeconds, labels, annotations} = pod.metadata;
	const deletion = isDeleting(pod) ? String(deletionGracePeriodSeconds ?? 0) : '';
	const named = labels === undefined && annotations === undefined ? '' : hash(JSON.stringify([labels, annotations]));
	return `${uid}.${generation}.${deletion}.${pod.spec?.nodeName ?? ''}.${named}`;
}

/** FNV-1a, 32 bits (draft-eastlake-fnv); a collision would only delay a change of labels until the next resync. */
function hash(text: string): string {
	let value = 0x811c9dc5;
	for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
	return (value >>> 0).toString(36);
}
