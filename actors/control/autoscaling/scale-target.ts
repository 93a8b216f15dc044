// What an autoscaler scales: how many replicas it has, and which pods are measured.

import {kindOf} from '../../../api/catalogue.js';
import {isExclusive} from '../../../api/exclusive.js';
import {functionLabel} from '../../../api/function-instance.js';
import type {FunctionObject} from '../../../api/kinds/function.js';
import {measuredSelectorAnnotation, type Hpa} from '../../../api/kinds/horizontalpodautoscaler.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {objectKey, type ObjectKey} from '../../../api/keys.js';
import type {KindDefinition} from '../../../api/kind.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject, JsonObject} from '../../../api/object.js';
import {matches, type LabelSelector} from '../../../api/selector.js';
import {parseSelector} from '../../../api/selector-text.js';
import type {Effect} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {desiredOf} from '../functions/function.js';
import {isDeleting} from '../objects/garbage.js';
import type {PatchObject} from '../objects/object-message.js';
import {controllerOf} from '../objects/owners.js';
import {isActive} from '../pods/pod-lifecycle.js';

export type ScaleTarget = {
	readonly key: ObjectKey;
	readonly object: ApiObject;
	/** `deployment/web`. */
	readonly title: string;
	/** How many there are to be: what its spec asks for; of a function what its calls need where that is more; of a single pod what its autoscaler wants. */
	readonly replicas: number;
	/** What its spec asks for, which is what an autoscaler writes. */
	readonly written: number;
	/** What its calls need. */
	readonly least: number;
	/** As it says of itself. */
	readonly current: number;
	/** What it takes at most. */
	readonly most: number;
	/** With 0 replicas it is switched off, and stays so. */
	readonly restsAtNone: boolean;
	readonly pods: readonly Pod[];
};

/** Whether it can be scaled: what has replicas, single pods, which are copied, and functions, whose least instances follow. */
export const scalableKind = (apiVersion: string | undefined, kind: string): KindDefinition | undefined => {
	const definition = kindOf(apiVersion ?? 'v1', kind);
	return definition !== undefined && (definition.scalable === true || kind === 'Pod' || kind === 'Function') ? definition : undefined;
};

/** Of its target; undefined where there is no such kind that can be scaled. */
export function targetKeyOf({metadata, spec}: Hpa): ObjectKey | undefined {
	if (spec === undefined) return undefined;
	const {apiVersion, kind, name} = spec.scaleTargetRef;
	const definition = scalableKind(apiVersion, kind);
	return definition === undefined ? undefined : objectKey(definition.plural, metadata.namespace, name);
}

const plural = 'horizontalpodautoscalers';

/** The term under which autoscalers are filed by what they scale. */
export const scalesTerm = (key: ObjectKey): string => `scales=${key}`;

/** What it scales as it is now, or why that cannot be. */
export function targetOf(hpa: Hpa, known: Known): ScaleTarget | string {
	const {kind = '', name = '', apiVersion = 'v1'} = hpa.spec?.scaleTargetRef ?? {};
	const key = targetKeyOf(hpa);
	if (key === undefined) return `no ${kind} of ${apiVersion} can be scaled`;
	const object = known.get(key);
	if (object === undefined || isDeleting(object)) return `${kind.toLowerCase()} "${name}" not found`;
	const target = {key, object, title: `${kind.toLowerCase()}/${name}`};
	if (kind === 'Pod' && isExclusive(object.metadata)) return `pod "${name}" is exclusive, and runs once at most`;
	if (kind === 'Pod') return {...target, ...ofPod(hpa, object as Pod, known)};
	if (kind === 'Function') return {...target, ...ofFunction(hpa, object as FunctionObject, known)};
	const {spec = {}, status = {}} = object as ApiObject<Sized & {readonly selector?: LabelSelector}, Sized>;
	return {
		...target,
		replicas: spec.replicas ?? 1,
		written: spec.replicas ?? 1,
		least: 0,
		current: status.replicas ?? 0,
		most: limits.replicas,
		restsAtNone: true,
		pods: measuredPods(hpa, known.select('pods', hpa.metadata.namespace ?? '', spec.selector ?? {})),
	};
}

type Sized = {readonly replicas?: number};
type Scaled = Omit<ScaleTarget, 'key' | 'object' | 'title'>;

/** It counts as the first of them. */
function ofPod(hpa: Hpa, pod: Pod, known: Known): Scaled {
	const all = [pod, ...copiesOf(hpa, known)];
	const current = all.filter(isActive).length;
	const wanted = Math.max(1, hpa.status?.desiredReplicas ?? 0);
	return {replicas: wanted, written: wanted, least: 0, current, most: limits.replicas, restsAtNone: false, pods: measuredPods(hpa, all)};
}

/** Pods that the autoscaler of a single pod has made. */
export const copiesOf = ({metadata: {uid}}: Hpa, known: Known): readonly Pod[] =>
	[...known.byOwner(uid)].filter((object): object is Pod => object.kind === 'Pod' && controllerOf(object)?.uid === uid);

function ofFunction(hpa: Hpa, fn: FunctionObject, known: Known): Scaled {
	const {namespace = '', name} = fn.metadata;
	const pods = known.select('pods', namespace, {matchLabels: {[functionLabel]: name}});
	return {
		replicas: desiredOf(fn),
		written: fn.spec?.min ?? 0,
		least: fn.status?.desired ?? 0,
		current: fn.status?.instances ?? 0,
		most: fn.spec?.max ?? limits.functionInstancesDefault,
		restsAtNone: false,
		pods: measuredPods(hpa, pods),
	};
}

/** Dialect A says beside the target which pods are measured. */
function measuredPods({metadata}: Hpa, pods: Iterable<ApiObject>): readonly Pod[] {
	const text = metadata.annotations?.[measuredSelectorAnnotation];
	const selector = text === undefined ? undefined : parseSelector(text);
	const isMeasured = (pod: ApiObject): boolean => selector?.ok !== true || matches(selector.value, pod.metadata.labels);
	return [...(pods as Iterable<Pod>)].filter(isMeasured);
}

/** What is written of it; undefined for a single pod, of which the autoscaler keeps the number itself. */
export function scaling({object: {kind, metadata}, key}: ScaleTarget, replicas: number): Effect | undefined {
	if (kind === 'Pod') return undefined;
	const patch: JsonObject = {metadata: {uid: metadata.uid}, spec: kind === 'Function' ? {min: replicas} : {replicas}};
	const message: PatchObject = {type: 'patch', patch, ...(kind === 'Function' ? {} : {subresource: 'scale'})};
	return {type: 'update', key, message, id: scalingId};
}

export const scalingId = 'scale';

/** The number in its spec that an autoscaler sets. */
export const replicasIn = (object: ApiObject | undefined): number | undefined =>
	object?.kind === 'Function' ? ((object as FunctionObject).spec?.min ?? 0) : (object as ApiObject<Sized> | undefined)?.spec?.replicas;

/** Who scales an object: of several the first that was made. */
export function scalerOf(key: ObjectKey, known: Known): Hpa | undefined {
	let first: Hpa | undefined;
	for (const hpa of known.byTerm(plural, scalesTerm(key)))
		if (!isDeleting(hpa) && (first === undefined || isBefore(hpa, first))) first = hpa as Hpa;
	return first;
}

/** Who scales the same and came first: it acts, and this one does not. */
export function rivalOf(hpa: Hpa, key: ObjectKey, known: Known): Hpa | undefined {
	const first = scalerOf(key, known);
	return first?.metadata.uid === hpa.metadata.uid ? undefined : first;
}

/** The same of many in one turn: of each target it is found once, since thousands may have the same. */
export function rivalsIn(known: Known): (hpa: Hpa) => ObjectKey | undefined {
	const firsts = new Map<ObjectKey, Hpa | undefined>();
	return hpa => {
		const key = targetKeyOf(hpa);
		if (key === undefined) return undefined;
		const first = firsts.has(key) ? firsts.get(key) : scalerOf(key, known);
		firsts.set(key, first);
		if (first === undefined || first.metadata.uid === hpa.metadata.uid) return undefined;
		return objectKey(plural, first.metadata.namespace, first.metadata.name);
	};
}

function isBefore({metadata: a}: ApiObject, {metadata: b}: ApiObject): boolean {
	return a.creationTimestamp === b.creationTimestamp ? a.name < b.name : a.creationTimestamp < b.creationTimestamp;
}
