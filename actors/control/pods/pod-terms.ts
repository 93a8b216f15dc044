// The terms under which the index files pods: by node, by port, by owner. Counts come from there, so no actor walks thousands of pods at each
// change of one.

import type {Pod} from '../../../api/kinds/pod.js';
import {fnv1a} from '../../../api/fnv.js';
import type {ObjectKey} from '../../../api/keys.js';
import type {Labels} from '../../../api/object.js';
import type {Filing} from '../../../system/index/object-index.js';
import {isDeleting} from '../objects/garbage.js';
import {controllerOf} from '../objects/owners.js';
import {awaitedKeys, awaitsTerm} from './awaited.js';
import {requirementsOf, requiresAntiAffinity, type PodRequirements} from './pod-requirements.js';
import {isActive, isTerminal} from './pod-lifecycle.js';

/** Pods that have no node; those that are over or being deleted aside. */
export const unbound = 'unbound';

/** Pods bound to a node. */
export const onNode = (node: string): string => `node=${node}`;

/** Pods that take resources of a node: those that are over do not. */
export const occupies = (node: string): string => `occupies=${node}`;

/** What the pods that take resources of a node ask for: amounts, in thousandths of a CPU, in bytes, and GPUs counted. */
export const cpuOnNode = (node: string): string => `cpu=${node}`;
export const memoryOnNode = (node: string): string => `memory=${node}`;
export const gpusOnNode = (node: string): string => `gpus=${node}`;

/** Pods without a node for which resources are reserved on one. */
export const nominated = 'nominated';

/** Bound pods that keep others away from where they are. */
export const withAntiAffinity = 'anti-affinity';

/** Bound pods of less than the default priority. */
export const belowDefault = 'below-default';

/** Pods that hold a port of a node. */
export const portOnNode = (node: string, port: string): string => `port=${node}/${port}`;

/** Pods that ask a node for a port of its own, also where they do not share its network. */
export const hostPortOnNode = (node: string, port: string): string => `host-port=${node}/${port}`;

/** Pods bound to a node that name a ConfigMap or Secret. */
export const namesOnNode = (node: string, key: ObjectKey): string => `names=${node}/${key}`;

/** Pods bound to a node that are instances of a function with this artifact. */
export const artifactOnNode = (node: string, digest: string): string => `artifact=${node}/${digest}`;

/** Pods that name this owner. */
export const ownedTerm = (uid: string): string => `owned=${uid}`;

/** What a pod counts as: it serves, it is on its way, or it is over or being deleted. */
export type PodStanding = 'ready' | 'unready' | 'over';

/** Pods of an owner that have just these labels, by their standing. */
export const censusTerm = (uid: string, labels: Labels | undefined, standing: PodStanding): string =>
	`${standing}=${uid}/${labels === undefined ? '' : textOf(labels)}`;

/** Pods of an owner that have just these labels and became ready in one span of time: how many are ready for long is told without walking them. */
export const readyInTerm = (uid: string, labels: Labels | undefined, span: number): string =>
	`ready-in-${span}=${uid}/${labels === undefined ? '' : textOf(labels)}`;

/** The span of 16 seconds that a time falls into. */
export const readySpanOf = (ms: number): number => Math.floor(ms / 16_000);

/** In one order, however the labels were written; those that only one pod has are left out. */
const textOf = (labels: Labels): string =>
	Object.entries(labels)
		.filter(([label]) => label !== podNameLabel && label !== podIndexLabel)
		.map(([label, value]) => `${label}=${value}`)
		.sort()
		.join(',');

/** What a pod of a DaemonSet or StatefulSet was made from. */
export const revisionLabel = 'controller-revision-hash';
/** The identity of a pod of a StatefulSet. */
export const podNameLabel = 'statefulset.kubernetes.io/pod-name';
export const podIndexLabel = 'apps.kubernetes.io/pod-index';

/** Pods of an owner that were made from one of its revisions. */
export const revisionTerm = (uid: string, revision: string): string => `revision=${uid}/${revision}`;

/**
 * The places that active pods of an owner take, each as a number: whether all of many are taken, and no other one, is told by their count and
 * their sum. The place of a DaemonSet's pod is its node, that of a StatefulSet's its name.
 */
export const placesTerm = (uid: string): string => `places=${uid}`;

/** So many numbers of 32 bits add up to a safe one that each node and pod may have one. */
export const placeNumber = (place: string): number => fnv1a(place);

/** The terms of a pod by which its DaemonSet or StatefulSet, its controller, counts. */
export function setTerms(pod: Pod): readonly Filing[] {
	const owner = controllerOf(pod);
	if (owner === undefined || !isOfSet(owner.kind)) return [];
	const revision = pod.metadata.labels?.[revisionLabel];
	const place = owner.kind === 'DaemonSet' ? targetNode(pod) : pod.metadata.name;
	const filings: Filing[] = revision === undefined ? [] : [revisionTerm(owner.uid, revision)];
	if (isActive(pod) && place !== undefined) filings.push({term: placesTerm(owner.uid), amount: placeNumber(place)});
	return filings;
}

const isOfSet = (kind: string): boolean => kind === 'DaemonSet' || kind === 'StatefulSet';

/** The node that the pod is on, or the only one that its node affinity names; undefined: it is for no certain one. */
export function targetNode({spec}: Pick<Pod, 'spec'>): string | undefined {
	if (spec?.nodeName !== undefined) return spec.nodeName;
	const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
	const [field, ...others] = terms.length === 1 ? (terms[0]?.matchFields ?? []) : [];
	const isName = field !== undefined && others.length === 0 && field.key === 'metadata.name' && field.operator === 'In';
	return isName && field.values?.length === 1 ? field.values[0] : undefined;
}

/** Whichever network the node has. */
export const portTerms = (node: string, {ports, hostPorts}: Pick<PodRequirements, 'ports' | 'hostPorts'>): readonly string[] => [
	...ports.map(port => portOnNode(node, port)),
	...hostPorts.map(port => hostPortOnNode(node, port)),
];

/** The terms by which the scheduler finds the pod and adds up what its node has to give. */
export function schedulingTerms(pod: Pod): readonly Filing[] {
	const {spec, status} = pod;
	const node = spec?.nodeName;
	if (spec === undefined) return [];
	if (node === undefined) {
		if (isDeleting(pod) || isTerminal(pod)) return [];
		const awaited = awaitedKeys(pod).map(awaitsTerm);
		return status?.nominatedNodeName === undefined ? [unbound, ...awaited] : [unbound, nominated, ...awaited];
	}
	if (isTerminal(pod)) return [onNode(node)];
	const {cpuMillis, memoryBytes, gpus, priority} = requirementsOf(spec);
	const filings: Filing[] = [onNode(node), occupies(node), ...portTerms(node, requirementsOf(spec))];
	if (cpuMillis > 0) filings.push({term: cpuOnNode(node), amount: cpuMillis});
	if (memoryBytes > 0) filings.push({term: memoryOnNode(node), amount: memoryBytes});
	if (gpus > 0) filings.push({term: gpusOnNode(node), amount: gpus});
	if (priority < 0) filings.push(belowDefault);
	if (requiresAntiAffinity(spec)) filings.push(withAntiAffinity);
	return filings;
}
