// The record of an autoscaler. It has itself looked after (autoscalers.ts), keeps what is decided for it, and makes the copies of a single pod.

import type {Hpa, HpaStatus} from '../../../api/kinds/horizontalpodautoscaler.js';
import {isExclusive} from '../../../api/exclusive.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {objectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {generateName} from '../../../api/names.js';
import type {ApiObject, Draft} from '../../../api/object.js';
import {lastAppliedAnnotation} from '../../../api/sealed.js';
import {tell, type Context, type Effect} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {autoscalersAddress} from '../../addresses.js';
import {controller, type Failures, type Handled, type Reconciliation, type Watched} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import {ownerReferenceTo} from '../objects/owners.js';
import {isActive} from '../pods/pod-lifecycle.js';
import {creation, slowStart} from '../workloads/pod-creation.js';
import {surplus} from '../workloads/surplus.js';
import type {Attend, Judged} from './autoscaling-message.js';
import {copiesOf, replicasIn, scalesTerm, targetKeyOf} from './scale-target.js';

export const autoscalerController = controller<Hpa, Judged>({
	plural: 'horizontalpodautoscalers',
	terms: hpa => {
		const key = targetKeyOf(hpa);
		return key === undefined ? [] : [scalesTerm(key)];
	},
	watches: {
		replicasets: (change, known) => scaling('replicasets', change, known),
		deployments: (change, known) => scaling('deployments', change, known),
		statefulsets: (change, known) => scaling('statefulsets', change, known),
		functions: (change, known) => scaling('functions', change, known),
		pods: (change, known) => (change.before === undefined || change.after === undefined ? scaling('pods', change, known) : []),
	},
	reconcile,
	receive,
	goesOnWithoutCreates: true,
});

/** Autoscalers of what has other replicas now, or is new or gone. */
function scaling(plural: string, {before, after}: Watched, known: Known): Iterable<ApiObject> {
	const object = after ?? before;
	if (object === undefined || (before !== undefined && after !== undefined && replicasIn(before) === replicasIn(after))) return [];
	const {namespace, name} = object.metadata;
	return known.byTerm('horizontalpodautoscalers', scalesTerm(objectKey(plural, namespace, name)));
}

function receive(hpa: Hpa, message: Judged, {self}: Context): Handled<Hpa> | undefined {
	if (message.type !== 'judged') return undefined;
	if (message.uid !== hpa.metadata.uid) return {ok: true, object: hpa};
	const {status, events} = message;
	const isOfPod = hpa.spec?.scaleTargetRef.kind === 'Pod';
	// It is status alone, and wakes nobody by itself.
	const look: readonly Effect[] = isOfPod ? [tell(self, {type: 'wake'})] : [];
	return {ok: true, object: {...hpa, status}, effects: [...events.map(event => ({type: 'event', ...event}) as const), ...look]};
}

function reconcile(hpa: Hpa, context: Context, failures: Failures): Reconciliation<HpaStatus> {
	if (hpa.spec === undefined || isDeleting(hpa)) return {effects: []};
	const {known, cause} = context;
	const {metadata, status} = hpa;
	const key = targetKeyOf(hpa);
	const target = key === undefined ? undefined : known.get(key);
	const isNews = status?.observedGeneration !== metadata.generation || (replicasIn(target) ?? 0) !== status.desiredReplicas;
	const attend: Attend = {type: 'attend', hpa: objectKey('horizontalpodautoscalers', metadata.namespace, metadata.name), isNews, cause};
	const isOfPod = target?.kind === 'Pod' && !isDeleting(target) && !isExclusive(target.metadata);
	return {effects: [tell(autoscalersAddress, attend), ...(isOfPod ? copied(hpa, target as Pod, context, failures) : [])]};
}

// ---- copies of a single pod ------------------------------------------------------------------------------------------------

/** The pod itself counts as the first. */
function copied(hpa: Hpa, pod: Pod, {known, pending, random}: Context, failures: Failures): readonly Effect[] {
	const leaving = new Set([...pending.values()].flatMap(write => (write.type === 'delete' ? [write.uid] : [])));
	const copies = copiesOf(hpa, known).filter(copy => isActive(copy) && !leaving.has(copy.metadata.uid));
	const wanted = Math.max(0, (hpa.status?.desiredReplicas ?? 1) - 1);
	const coming = [...pending.values()].filter(({type}) => type === 'create').length;
	const room = limits.pendingWrites - pending.size;
	if (copies.length > wanted) return surplus(copies, Math.min(room, copies.length - wanted));
	const missing = slowStart(Math.min(room, wanted - copies.length - coming), copies.length, coming, failures);
	return Array.from({length: missing}, () => creation(copyOf(hpa, pod, generateName(`${hpa.metadata.name}-`, random.next))));
}

/** The node that the pod was bound to is not meant: a copy is placed anew. */
function copyOf(hpa: Hpa, {metadata, spec}: Pod, name: string): Draft {
	const {nodeName: _nodeName, ...rest} = spec ?? {};
	const {[lastAppliedAnnotation]: _applied, ...annotations} = metadata.annotations ?? {};
	return {
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {
			name,
			...(metadata.namespace === undefined ? {} : {namespace: metadata.namespace}),
			...(metadata.labels === undefined ? {} : {labels: metadata.labels}),
			...(Object.keys(annotations).length === 0 ? {} : {annotations}),
			ownerReferences: [ownerReferenceTo(hpa)],
		},
		spec: rest,
	};
}
