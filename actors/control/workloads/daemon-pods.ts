// The pod that a DaemonSet makes for a node.
//
// The scheduler binds it, as in Kubernetes: its required node affinity names that one node, and the scheduler knows what runs there, makes room
// for a pod of a higher priority, and says why one cannot start. Its name follows from set and node, not from chance and not from the template: a
// set that crashed with a create under way asks for the same name again, so that there is never a second pod, also when the template changed
// meanwhile. Where a new pod starts beside the old one (maxSurge), it has the other one of two names.

import {objectKey} from '../../../api/keys.js';
import type {DaemonSet} from '../../../api/kinds/daemonset.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {hashedName} from '../../../api/names.js';
import type {Draft} from '../../../api/object.js';
import type {PodSpec} from '../../../api/shapes/pod.js';
import type {Pending} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {revisionLabel, targetNode} from '../pods/pod-terms.js';
import {tolerationsOf} from './daemon-nodes.js';
import {podOf} from './pod-creation.js';

/** Two for old and new, and others where a pod that is not the set's has one of these names. */
const namesOfPlace = 8;

/** The first name of the place that no pod has; undefined: all are taken. */
export function freeName({metadata: {uid, name, namespace}}: DaemonSet, node: string, known: Known): string | undefined {
	for (let number = 0; number < namesOfPlace; number++) {
		const candidate = hashedName(name, `${uid} ${node} ${number}`);
		if (known.get(objectKey('pods', namespace, candidate)) === undefined) return candidate;
	}
	return undefined;
}

export function daemonPod(set: DaemonSet, node: string, name: string, revision: string): Draft {
	const draft = podOf(set, name);
	const {metadata} = draft;
	return {
		...draft,
		metadata: {...metadata, labels: {...metadata.labels, [revisionLabel]: revision}},
		spec: onlyOn(draft.spec as PodSpec, node),
	};
}

/** What the template requires of nodes, the set has looked at. */
function onlyOn(spec: PodSpec, node: string): PodSpec {
	const required = {nodeSelectorTerms: [{matchFields: [{key: 'metadata.name', operator: 'In', values: [node]}]}]} as const;
	const nodeAffinity = {...spec.affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required};
	return {...spec, affinity: {...spec.affinity, nodeAffinity}, tolerations: tolerationsOf(spec)};
}

/** The node that a create which is under way is for. */
export const targetOfCreate = (write: Pending): string | undefined =>
	write.type === 'create' ? targetNode(write.object as Pick<Pod, 'spec'>) : undefined;
