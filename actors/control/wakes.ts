// Which actors a committed change concerns: its own record, owners, dependents, what watches it, the scheduler and its node.
//
// A wake carries nothing; that one too many is sent costs a look, that one is missed is made good by the resync.

import {kindOf} from '../../api/catalogue.js';
import {contentOf, memberOf} from '../../api/kind.js';
import {
	address,
	collectionAddress,
	controlSystem,
	objectAddress,
	objectKey,
	parseObjectKey,
	type Address,
	type ObjectKey,
} from '../../api/keys.js';
import {functionLabel} from '../../api/function-instance.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import type {NodeObject} from '../../api/kinds/node.js';
import {isProvisioned, nodeOfVolume, type PersistentVolume} from '../../api/kinds/persistentvolume.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ApiObject, OwnerReference} from '../../api/object.js';
import type {Message} from '../../system/kernel/behavior.js';
import type {Wake} from '../../system/commit/durable-system.js';
import type {Change, Known} from '../../system/index/object-index.js';
import {activatorOf, detectorAddress, namespaceKey, dispatcherOfNode, schedulerPath} from '../addresses.js';
import {claimKey, claims, isConfigKey, configKeysOf, configTerm, secrets, volumes} from '../config-references.js';
import {certificateKey, certificateTerm, ingresses, isNetworkKey} from '../network-references.js';
import type {NodeDeparted} from './nodes/detector.js';
import {watchesOf} from './kinds.js';
import type {Watched} from './objects/controller.js';
import {isDeleting} from './objects/garbage.js';
import {awaitsTerm, isAwaitable, isAwaitedKind} from './pods/awaited.js';
import {isReady, isTerminal} from './pods/pod-lifecycle.js';
import {isOver, jobOf, restartsOf} from './pods/job-pod.js';
import {servesNetwork} from './pods/node-terms.js';
import {onNode} from './pods/pod-terms.js';
import type {SchedulerMessage} from './scheduling/scheduler.js';
import {isNodeReady} from './scheduling/node-info.js';
import {expelling} from './pods/taint-eviction.js';
import {certificatesOf, isNetworkNews} from './sync/network-entry.js';
import {policyNews} from './sync/policy-entry.js';

const wake: Message = {type: 'wake'};
const wakeOf = (to: Address): Wake => ({to, message: wake});

/** Everything that has to look because of this change. */
export function wakesOf(change: Change, known: Known): Wake[] {
	const before = change.before?.object;
	const after = change.after?.object;
	const {plural, namespace} = parseObjectKey(change.key);
	const wakes: Wake[] = [];
	if (after !== undefined && !sameButStatus(before, after)) wakes.push(wakeOf(objectAddress(change.key)));
	if (concernsOwners(plural, before, after)) wakes.push(...owners(before, after));
	wakes.push(...dependents(before, after, known));
	if (after === undefined && known.get(namespaceKey(namespace))?.metadata.deletionTimestamp !== undefined) {
		wakes.push(wakeOf(objectAddress(namespaceKey(namespace))));
	}
	for (const watch of watchesOf(plural)) for (const object of watch({before, after}, known)) wakes.push(...recordWake(object));
	wakes.push(...ofPolicies(plural, {before, after}, known));
	if (plural === 'pods') wakes.push(...ofPod(change.key, before as Pod | undefined, after as Pod | undefined, known));
	if (isConfigKey(change.key)) wakes.push(...ofConfig(change.key, known));
	if (plural === secrets) wakes.push(...ofCertificate(change.key, known));
	if (isNetworkKey(change.key) && isNetworkNews(plural, before, after)) {
		// What an Ingress names goes before it, so that it finds everything there.
		if (plural === ingresses) for (const named of certificatesOf(before, after)) wakes.push(...ofNetwork(named, known));
		wakes.push(...ofNetwork(change.key, known));
	}
	if (
		isAwaitedKind(plural) &&
		isAwaitable(plural, before) !== isAwaitable(plural, after) &&
		known.countByTerm('pods', awaitsTerm(change.key)) > 0
	)
		wakes.push(scheduler);
	if (plural === claims && claimConcernsScheduler(before, after)) wakes.push(scheduler);
	if (plural === volumes)
		wakes.push(...ofVolume(change.key, before as PersistentVolume | undefined, after as PersistentVolume | undefined, known));
	if (plural === 'nodes') wakes.push(...ofNode(before as NodeObject | undefined, after as NodeObject | undefined, known));
	if (plural === 'clusterconfigs') wakes.push(scheduler);
	if (plural === 'functions')
		wakes.push(...activatorWakes(change.key, before as FunctionObject | undefined, after as FunctionObject | undefined));
	if (plural === 'nodes' && after === undefined && before !== undefined) wakes.push(...removedNode(before.metadata.name));
	return wakes;
}

/** An agent that is still there registers its node anew; of one that is not, pods are left. */
function removedNode(node: string): Wake[] {
	const departed: Message & NodeDeparted = {type: 'nodeDeparted', node};
	return [
		{to: dispatcherOfNode(node), message: {type: 'nodeRemoved'}},
		{to: detectorAddress, message: departed},
	];
}

const schedulerAddress = address(controlSystem, schedulerPath);
const scheduler = wakeOf(schedulerAddress);
const toScheduler = (message: SchedulerMessage): Wake => ({to: schedulerAddress, message});

/** Whether a record has nothing new to look at in itself: only its status, which it wrote itself, differs. */
function sameButStatus(before: ApiObject | undefined, after: ApiObject): boolean {
	if (before === undefined) return false;
	const {metadata: old} = before;
	const {metadata: now} = after;
	return (
		contentOf(kindOf(after.apiVersion, after.kind) ?? {}).every(field => memberOf(before, field) === memberOf(after, field)) &&
		old.labels === now.labels &&
		old.annotations === now.annotations &&
		old.ownerReferences === now.ownerReferences &&
		old.finalizers === now.finalizers &&
		old.deletionTimestamp === now.deletionTimestamp &&
		old.deletionGracePeriodSeconds === now.deletionGracePeriodSeconds
	);
}

function owners(before: ApiObject | undefined, after: ApiObject | undefined): Wake[] {
	const references = new Map<string, {readonly reference: OwnerReference; readonly namespace: string | undefined}>();
	for (const object of [before, after]) {
		for (const reference of object?.metadata.ownerReferences ?? [])
			references.set(reference.uid, {reference, namespace: object?.metadata.namespace});
	}
	return [...references.values()].flatMap(({reference, namespace}) => {
		const kind = kindOf(reference.apiVersion, reference.kind);
		if (kind === undefined) return [];
		return [wakeOf(objectAddress(objectKey(kind.plural, kind.namespaced ? namespace : undefined, reference.name)))];
	});
}

function concernsOwners(plural: string, before: ApiObject | undefined, after: ApiObject | undefined): boolean {
	if (plural === 'pods') return concernsOwner(before as Pod | undefined, after as Pod | undefined);
	// That a run goes on is no news for its workflow.
	return plural !== 'runs' || before === undefined || after === undefined;
}

/** A pod that was bound, or whose status moved without its readiness or the restarts that a Job counts, is no news for the owner that counts it. */
function concernsOwner(before: Pod | undefined, after: Pod | undefined): boolean {
	if (before === undefined || after === undefined) return true;
	return (
		isReady(before) !== isReady(after) ||
		isTerminal(before) !== isTerminal(after) ||
		isDeleting(before) !== isDeleting(after) ||
		before.metadata.labels !== after.metadata.labels ||
		before.metadata.ownerReferences !== after.metadata.ownerReferences ||
		before.metadata.finalizers !== after.metadata.finalizers ||
		(jobOf(after) !== undefined && (isOver(before) !== isOver(after) || restartsOf(before) !== restartsOf(after)))
	);
}

/** Objects that name it as owner look once it is gone or going; so do those in a namespace, and pods on a node that is gone. */
function* dependents(before: ApiObject | undefined, after: ApiObject | undefined, known: Known): Iterable<Wake> {
	if (before === undefined) return;
	const began = after !== undefined && isDeleting(after) && !isDeleting(before);
	if (after !== undefined && !began) return;
	for (const object of known.byOwner(before.metadata.uid)) yield* recordWake(object);
	if (before.kind === 'Node' && after === undefined)
		for (const pod of known.byTerm('pods', onNode(before.metadata.name))) yield* recordWake(pod);
	if (before.kind === 'Namespace') for (const object of known.inNamespace(before.metadata.name)) yield* recordWake(object);
}

function* recordWake({apiVersion, kind, metadata}: ApiObject): Iterable<Wake> {
	const definition = kindOf(apiVersion, kind);
	if (definition !== undefined) yield wakeOf(objectAddress(objectKey(definition.plural, metadata.namespace, metadata.name)));
}

function* ofPod(key: string, before: Pod | undefined, after: Pod | undefined, known: Known): Iterable<Wake> {
	if (concernsOwner(before, after)) yield* ofInstance(after ?? before, known);
	const news = newsForScheduler(before, after);
	if (news !== undefined) yield toScheduler(news);
	for (const node of new Set([before?.spec?.nodeName, after?.spec?.nodeName])) {
		if (node === undefined || (after !== undefined && sameButStatus(before, after))) continue;
		// What a pod names goes before it, so that it finds everything there.
		if (before?.spec !== after?.spec) for (const named of configKeysOfPods(before, after)) yield dirty(node, named);
		yield dirty(node, key);
	}
}

function* ofInstance(pod: Pod | undefined, known: Known): Iterable<Wake> {
	const {namespace = '', labels} = pod?.metadata ?? {};
	const name = labels?.[functionLabel];
	if (name === undefined) return;
	const key = objectKey('functions', namespace, name);
	yield* activatorWakes(key, known.get(key) as FunctionObject | undefined);
}

/** Of all that its versions have. */
function* activatorWakes(key: ObjectKey, ...looks: readonly (FunctionObject | undefined)[]): Iterable<Wake> {
	const {namespace, name} = parseObjectKey(key);
	const revisions = new Set(
		looks.flatMap(fn => [undefined, ...(fn?.spec?.traffic ?? []).map(({revision}) => revision), ...(fn?.status?.apart ?? [])]),
	);
	for (const revision of revisions) yield wakeOf(activatorOf(namespace, name, revision));
}

const dirty = (node: string, key: ObjectKey): Wake => {
	const message: Message & {readonly key: ObjectKey} = {type: 'dirty', key};
	return {to: dispatcherOfNode(node), message};
};

const configKeysOfPods = (...pods: readonly (Pod | undefined)[]): ReadonlySet<ObjectKey> =>
	new Set(pods.flatMap(pod => (pod?.spec === undefined ? [] : configKeysOf(pod.spec, pod.metadata.namespace ?? ''))));

/** The nodes that run a pod which names the object, and no others. */
function* ofConfig(key: ObjectKey, known: Known): Iterable<Wake> {
	const nodes = new Set<string>();
	for (const pod of known.byTerm('pods', configTerm(key))) nodes.add((pod as Pod).spec?.nodeName ?? '');
	for (const node of nodes) yield dirty(node, key);
}

/** All nodes that serve traffic. */
function* ofNetwork(key: ObjectKey, known: Known): Iterable<Wake> {
	for (const {metadata} of known.byTerm('nodes', servesNetwork)) yield dirty(metadata.name, key);
}

/** The same, of a Secret that an Ingress names. */
function* ofCertificate(key: ObjectKey, known: Known): Iterable<Wake> {
	const {namespace, name} = parseObjectKey(key);
	const certificate = certificateKey(namespace, name);
	if (known.countByTerm(ingresses, certificateTerm(certificate)) > 0) yield* ofNetwork(certificate, known);
}

/** Before the pods that they are for: those are isolated from their beginning. */
function* ofPolicies(plural: string, change: Watched, known: Known): Iterable<Wake> {
	for (const {key, nodes} of policyNews(plural, change, known)) {
		if (nodes === undefined) yield* ofNetwork(key, known);
		else for (const node of nodes) yield dirty(node, key);
	}
}

/** A pod may wait for a claim that comes, gets its volume, or ends. */
const claimConcernsScheduler = (before: ApiObject | undefined, after: ApiObject | undefined): boolean =>
	after !== undefined &&
	(before === undefined || before.spec !== after.spec || before.status !== after.status || isDeleting(before) !== isDeleting(after));

/** Its node, which may have to remove it, and the nodes of pods that name its claim. */
function* ofVolume(
	key: ObjectKey,
	before: PersistentVolume | undefined,
	after: PersistentVolume | undefined,
	known: Known,
): Iterable<Wake> {
	const volume = after ?? before;
	const node = volume !== undefined && isProvisioned(volume) ? nodeOfVolume(volume) : undefined;
	if (node !== undefined && (after === undefined || isDeleting(after))) yield dirty(node, key);
	for (const {spec} of [before, after].filter(each => each !== undefined))
		if (spec?.claimRef !== undefined) yield* ofConfig(claimKey(spec.claimRef.namespace, spec.claimRef.name), known);
}

/** Pods to bind, or a node with free resources, or with other pods to be near to or away from, where there were none. */
function newsForScheduler(before: Pod | undefined, after: Pod | undefined): SchedulerMessage | undefined {
	if (before === undefined || after === undefined) return newsOfWhole(before, after);
	const was = before.spec?.nodeName;
	const is = after.spec?.nodeName;
	const isRelabelled = before.metadata.labels !== after.metadata.labels;
	// A pod that lost its node waits, and its resources are free.
	if (was !== undefined && is === undefined) return {type: 'nodeChanged', node: was};
	const kept = before.status?.nominatedNodeName;
	// Resources that were reserved for it, and that it does not take, are free for others.
	if (kept !== undefined && kept !== (is ?? after.status?.nominatedNodeName)) return {type: 'nodeChanged', node: kept};
	if (is === undefined)
		return before.spec !== after.spec || isRelabelled || isDeleting(after) !== isDeleting(before) ? more(after) : undefined;
	// A bind is the scheduler's own, and it hears of it as an answer.
	if (was === undefined) return undefined;
	const isOver = isTerminal(after) && !isTerminal(before);
	const isGoing = isDeleting(after) && !isDeleting(before);
	return isOver || isGoing || isRelabelled ? {type: 'nodeChanged', node: is} : undefined;
}

/** A pod that comes or goes. */
function newsOfWhole(before: Pod | undefined, after: Pod | undefined): SchedulerMessage | undefined {
	const node = (after ?? before)?.spec?.nodeName ?? before?.status?.nominatedNodeName;
	if (node !== undefined) return {type: 'nodeChanged', node};
	return after === undefined ? undefined : more(after);
}

/** What was reserved for a pod that goes is free. */
const more = (pod: Pod): SchedulerMessage => {
	const node = isDeleting(pod) ? pod.status?.nominatedNodeName : undefined;
	return node === undefined ? {type: 'more'} : {type: 'nodeChanged', node};
};

function* ofNode(before: NodeObject | undefined, after: NodeObject | undefined, known: Known): Iterable<Wake> {
	if (nodeConcernsScheduler(before, after)) yield scheduler;
	if (after === undefined || before?.spec?.taints === after.spec?.taints) return;
	if (expelling(before).length === 0 && expelling(after).length === 0) return;
	for (const pod of known.byTerm('pods', onNode(after.metadata.name))) yield* recordWake(pod);
}

function nodeConcernsScheduler(before: NodeObject | undefined, after: NodeObject | undefined): boolean {
	if (before === undefined || after === undefined) return true;
	return (
		isNodeReady(before) !== isNodeReady(after) ||
		before.spec !== after.spec ||
		before.metadata.labels !== after.metadata.labels ||
		before.status?.allocatable !== after.status?.allocatable ||
		before.status?.runtimeFeatures !== after.status?.runtimeFeatures ||
		before.status?.runtimeClasses !== after.status?.runtimeClasses
	);
}

/** Where an object of this apiVersion and kind is created. */
export function collectionOf({apiVersion, kind}: {readonly apiVersion: string; readonly kind: string}): Address {
	const definition = kindOf(apiVersion, kind);
	return collectionAddress(definition?.plural ?? `unknown-kind-${kind}`);
}
