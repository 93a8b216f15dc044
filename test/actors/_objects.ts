// Objects as the index would hold them, and an index filled by hand. Builders fill in what a test does not care about.

import type {ClusterConfig} from '../../api/kinds/clusterconfig.js';
import type {SchedulerStrategy} from '../../api/scheduler-strategies.js';
import type {LimitRange, LimitRangeItem} from '../../api/kinds/limitrange.js';
import type {Namespace} from '../../api/kinds/namespace.js';
import type {NodeObject, NodeSpec, NodeStatus} from '../../api/kinds/node.js';
import type {Container, Pod, PodSpec, PodStatus} from '../../api/kinds/pod.js';
import type {PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus} from '../../api/kinds/poddisruptionbudget.js';
import type {PriorityClass} from '../../api/kinds/priorityclass.js';
import type {Deployment, DeploymentSpec, DeploymentStatus} from '../../api/kinds/deployment.js';
import type {ResourceQuota, ResourceQuotaSpec} from '../../api/kinds/resourcequota.js';
import type {ReplicaSet, ReplicaSetSpec, ReplicaSetStatus} from '../../api/kinds/replicaset.js';
import {objectKey, type ObjectKey} from '../../api/keys.js';
import {kindOf} from '../../api/catalogue.js';
import type {ApiObject, ObjectMeta, OwnerReference} from '../../api/object.js';
import {termsOf} from '../../actors/control/kinds.js';
import type {Context, Effect, Pending} from '../../system/kernel/behavior.js';
import {ObjectIndex, type Change} from '../../system/index/object-index.js';
import {playContext} from '../../system/kernel/play.js';

/** The clock of `playContext`. */
export const nowMs = 1_700_000_000_000;
export const now = '2023-11-14T22:13:20Z';
/** A second before. */
export const before = '2023-11-14T22:13:19Z';

const metadataOf = (metadata: Partial<ObjectMeta>, name: string, namespace?: string): ObjectMeta => ({
	name,
	...(namespace === undefined ? {} : {namespace}),
	uid: `uid-of-${metadata.name ?? name}`,
	resourceVersion: '1',
	generation: 1,
	creationTimestamp: before,
	...metadata,
});

export const aNamespace = (name = 'default', metadata: Partial<ObjectMeta> = {}): Namespace => ({
	apiVersion: 'v1',
	kind: 'Namespace',
	metadata: metadataOf({name, ...metadata}, name),
	spec: {},
	status: {phase: 'Active'},
});

export const aContainer = (overrides: Partial<Container> = {}): Container => ({
	name: 'main',
	image: 'program',
	command: ['sleep', '1d'],
	imagePullPolicy: 'Always',
	...overrides,
});

type Parts<Spec, Status> = {
	readonly name?: string;
	readonly metadata?: Partial<ObjectMeta>;
	readonly spec?: Partial<Spec>;
	readonly status?: Partial<Status>;
};

export const aPod = ({name = 'web', metadata = {}, spec = {}, status}: Parts<PodSpec, PodStatus> = {}): Pod => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: metadataOf({name, ...metadata}, name, 'default'),
	spec: {containers: [aContainer()], restartPolicy: 'Always', terminationGracePeriodSeconds: 30, ...spec},
	status: {phase: 'Pending', ...status},
});

export const ready = {type: 'Ready', status: 'True'} as const;
export const scheduled = {type: 'PodScheduled', status: 'True'} as const;

/** A pod that runs on a node and is ready. */
export const aReadyPod = ({spec, ...parts}: Parts<PodSpec, PodStatus> = {}): Pod =>
	aPod({...parts, spec: {nodeName: 'node-a', ...spec}, status: {phase: 'Running', conditions: [scheduled, ready], ...parts.status}});

export const aReplicaSet = ({
	name = 'web',
	metadata = {},
	spec = {},
	status,
}: Parts<ReplicaSetSpec, ReplicaSetStatus> = {}): ReplicaSet => ({
	apiVersion: 'apps/v1',
	kind: 'ReplicaSet',
	metadata: metadataOf({name, uid: `uid-of-set-${name}`, ...metadata}, name, 'default'),
	spec: {
		replicas: 1,
		selector: {matchLabels: {app: name}},
		template: {
			metadata: {labels: {app: name}},
			spec: {containers: [aContainer()], restartPolicy: 'Always', terminationGracePeriodSeconds: 30},
		},
		...spec,
	},
	status: {replicas: 0, ...status},
});

export const aLimitRange = (name: string, ...limits: readonly LimitRangeItem[]): LimitRange => ({
	apiVersion: 'v1',
	kind: 'LimitRange',
	metadata: metadataOf({name, uid: `uid-of-limits-${name}`}, name, 'default'),
	spec: {limits},
});

export const aQuota = (name: string, hard: NonNullable<ResourceQuotaSpec['hard']>, more: ResourceQuotaSpec = {}): ResourceQuota => ({
	apiVersion: 'v1',
	kind: 'ResourceQuota',
	metadata: metadataOf({name, uid: `uid-of-quota-${name}`}, name, 'default'),
	spec: {hard, ...more},
	status: {},
});

export const aBudget = ({
	name = 'web',
	metadata = {},
	spec = {maxUnavailable: 1},
	status,
}: Parts<PodDisruptionBudgetSpec, PodDisruptionBudgetStatus> = {}): PodDisruptionBudget => ({
	apiVersion: 'policy/v1',
	kind: 'PodDisruptionBudget',
	metadata: metadataOf({name, uid: `uid-of-budget-${name}`, ...metadata}, name, 'default'),
	spec: {selector: {matchLabels: {app: name}}, ...spec},
	status: {disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...status},
});

export const aDeployment = ({
	name = 'web',
	metadata = {},
	spec = {},
	status,
}: Parts<DeploymentSpec, DeploymentStatus> = {}): Deployment => ({
	apiVersion: 'apps/v1',
	kind: 'Deployment',
	metadata: metadataOf({name, uid: `uid-of-deployment-${name}`, ...metadata}, name, 'default'),
	spec: {
		replicas: 1,
		selector: {matchLabels: {app: name}},
		template: aTemplate('first', name),
		strategy: {type: 'RollingUpdate', rollingUpdate: {maxSurge: '25%', maxUnavailable: '25%'}},
		revisionHistoryLimit: 10,
		progressDeadlineSeconds: 600,
		...spec,
	},
	status: {...status},
});

/** A template of pods; each version makes other ones. */
export const aTemplate = (version: string, app = 'web'): DeploymentSpec['template'] => ({
	metadata: {labels: {app}},
	spec: {
		containers: [aContainer({env: [{name: 'VERSION', value: version}]})],
		restartPolicy: 'Always',
		terminationGracePeriodSeconds: 30,
	},
});

export const aNode = ({name = 'node-a', metadata = {}, spec = {}, status}: Parts<NodeSpec, NodeStatus> = {}): NodeObject => ({
	apiVersion: 'v1',
	kind: 'Node',
	metadata: metadataOf({name, ...metadata}, name),
	spec,
	status: {conditions: [ready], allocatable: {cpu: '2', memory: '4194304Ki', pods: '110'}, ...status},
});

export const aClusterConfig = (strategy: SchedulerStrategy): ClusterConfig => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'ClusterConfig',
	metadata: metadataOf({}, 'cluster'),
	spec: {scheduler: {strategy}},
});

export const aPriorityClass = (name: string, value: number, more: Partial<PriorityClass> = {}): PriorityClass => ({
	apiVersion: 'scheduling.k8s.io/v1',
	kind: 'PriorityClass',
	metadata: metadataOf({name}, name),
	value,
	preemptionPolicy: 'PreemptLowerPriority',
	...more,
});

export const ownedBy = ({apiVersion, kind, metadata}: ApiObject, overrides: Partial<OwnerReference> = {}): OwnerReference => ({
	apiVersion,
	kind,
	name: metadata.name,
	uid: metadata.uid,
	controller: true,
	blockOwnerDeletion: true,
	...overrides,
});

export function keyOf({apiVersion, kind, metadata}: ApiObject): ObjectKey {
	const definition = kindOf(apiVersion, kind);
	if (definition === undefined) throw new Error(`no kind ${kind}`);
	return objectKey(definition.plural, metadata.namespace, metadata.name);
}

/** Puts an object into the index as the pipeline would, under the next version. */
export const put = (index: ObjectIndex, object: ApiObject): Change =>
	index.apply(keyOf(object), index.version + 1, object, () => JSON.stringify(object));

export const drop = (index: ObjectIndex, object: ApiObject): Change => index.apply(keyOf(object), index.version + 1, undefined, () => '');

/** An index of the control system with these objects in it, and the namespace `default`. */
export function indexOf(...objects: readonly ApiObject[]): ObjectIndex {
	const index = new ObjectIndex(termsOf);
	for (const object of [aNamespace(), ...objects]) put(index, object);
	return index;
}

/** What a behaviour sees around it. */
export const contextWith = (known: Context['known'], overrides: Partial<Context> = {}): Context => playContext({known, ...overrides});

/** The writes among the effects, as the runtime would show them while they are open. */
export const openWrites = (effects: readonly Effect[]): ReadonlyMap<string, Pending> =>
	new Map(
		effects
			.filter(effect => effect.type === 'create' || effect.type === 'update' || effect.type === 'delete')
			.map(write => [write.id, write]),
	);
