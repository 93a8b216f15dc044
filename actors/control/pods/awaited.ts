// Pods that wait for other workloads before they are bound: what their annotation names has to be available, a Job complete. A pod that is bound
// waits for nothing any more: its containers start again without a look.

import {conditionOf} from '../../../api/conditions.js';
import {dependsOnAnnotation, readDependsOn, type Awaited, type AwaitedKind} from '../../../api/depends-on.js';
import type {DaemonSet} from '../../../api/kinds/daemonset.js';
import type {Deployment} from '../../../api/kinds/deployment.js';
import type {Job} from '../../../api/kinds/job.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {StatefulSet} from '../../../api/kinds/statefulset.js';
import {objectKey, type ObjectKey} from '../../../api/keys.js';
import type {ApiObject} from '../../../api/object.js';
import type {Known} from '../../../system/index/object-index.js';

/** Pods without a node that wait for this object. */
export const awaitsTerm = (key: ObjectKey): string => `awaits=${key}`;

/** What a pod's annotation names; the rules let nothing in that cannot be read. */
export function awaitedBy({metadata}: Pick<Pod, 'metadata'>): readonly Awaited[] {
	const text = metadata.annotations?.[dependsOnAnnotation];
	const read = text === undefined ? undefined : readDependsOn(text);
	return read !== undefined && 'awaited' in read ? read.awaited : [];
}

export const awaitedKeys = (pod: Pick<Pod, 'metadata'>): readonly ObjectKey[] =>
	awaitedBy(pod).map(({plural, name}) => objectKey(plural, pod.metadata.namespace, name));

/** Something that a pod waits for. */
export type Missing = {
	/** `deployment/db`. */
	readonly about: string;
	readonly key: ObjectKey;
	/** Undefined: it is not there. */
	readonly object: ApiObject | undefined;
	/** `is not available`. */
	readonly is: string;
};

/** What the pod waits for still. */
export const missingOf = (pod: Pod, known: Known): readonly Missing[] =>
	awaitedBy(pod).flatMap(({plural, name}): readonly Missing[] => {
		const key = objectKey(plural, pod.metadata.namespace, name);
		const object = known.get(key);
		if (isAwaitable(plural, object)) return [];
		const is = object === undefined ? 'is not there' : plural === 'jobs' ? 'is not complete' : 'is not available';
		return [{about: `${singular[plural]}/${name}`, key, object, is}];
	});

const waitsWord = 'waits: ';

/** The same in words; undefined: it waits for nothing. */
export function waitsFor(pod: Pod, known: Known): string | undefined {
	const missing = missingOf(pod, known);
	return missing.length === 0 ? undefined : waitsWord + missing.map(({about, is}) => `${about} ${is}`).join(', ');
}

/** What the scheduler has said that a pod without a node waits for: `deployment/db is not available`; undefined: nothing. */
export function toldToWaitFor({status}: Pod): string | undefined {
	const {status: isScheduled, message = ''} = conditionOf(status?.conditions, 'PodScheduled') ?? {};
	return isScheduled === 'False' && message.startsWith(waitsWord) ? message.slice(waitsWord.length) : undefined;
}

const singular: {readonly [plural in AwaitedKind]: string} = {
	deployments: 'deployment',
	statefulsets: 'statefulset',
	daemonsets: 'daemonset',
	jobs: 'job',
};

export const isAwaitedKind = (plural: string): plural is AwaitedKind => Object.hasOwn(singular, plural);

/** Whether nobody has to wait for the object: one of its pods is available, or none is wanted; a Job is complete. */
export function isAwaitable(plural: AwaitedKind, object: ApiObject | undefined): boolean {
	if (object === undefined) return false;
	switch (plural) {
		case 'deployments':
		case 'statefulsets': {
			const {spec, status} = object as Deployment | StatefulSet;
			return spec?.replicas === 0 || (status?.availableReplicas ?? 0) > 0;
		}
		case 'daemonsets':
			return ((object as DaemonSet).status?.numberAvailable ?? 0) > 0;
		case 'jobs':
			return conditionOf((object as Job).status?.conditions, 'Complete')?.status === 'True';
	}
}
