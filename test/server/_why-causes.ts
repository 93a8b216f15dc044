// Causes, planted one by one: what is committed and what was told of it, and what `why` has to answer.

import type {ActorState, ActorTree, FaultLook} from '../../api/inspect.js';
import type {CronJob} from '../../api/kinds/cronjob.js';
import type {DaemonSet} from '../../api/kinds/daemonset.js';
import type {Job} from '../../api/kinds/job.js';
import type {PersistentVolume} from '../../api/kinds/persistentvolume.js';
import type {PersistentVolumeClaim} from '../../api/kinds/persistentvolumeclaim.js';
import type {ContainerState, ContainerStatus, Pod} from '../../api/kinds/pod.js';
import type {StatefulSet} from '../../api/kinds/statefulset.js';
import type {ApiObject, Condition, ObjectMeta} from '../../api/object.js';
import type {ObjectEvent} from '../../server/control-plane.js';
import {
	aBudget,
	aContainer,
	aDeployment,
	aNamespace,
	aNode,
	aPod,
	aQuota,
	aReadyPod,
	aReplicaSet,
	aTemplate,
	nowMs,
	ownedBy,
	ready,
	scheduled,
} from '../actors/_objects.js';
import {anHpa} from '../actors/autoscaling/_autoscalers.js';
import {actorTree} from '../api/_actor-tree.js';
import {aSlurmJob} from './slurm/_slurm.js';

export type PlantedCause = {
	readonly title: string;
	/** The first is the one that is asked about. */
	readonly objects: readonly ApiObject[];
	/** By key. */
	readonly events?: {readonly [key: string]: readonly ObjectEvent[]};
	/** By address. */
	readonly actors?: {readonly [address: string]: ActorTree};
	/** By system. */
	readonly partitions?: {readonly [system: string]: FaultLook};
	/** What is gone. */
	readonly departed?: readonly ApiObject[];
	/** It is gone, and what it owned with it. */
	readonly isGone?: true;
	readonly answer: string;
	/** What the links are about, from the object to the root. */
	readonly chain: readonly string[];
	/** What comes next; `null`: nothing is known. With the seconds until then. */
	readonly next?: readonly [says: string, inSeconds?: number] | null;
};

const at = (secondsAgo: number): string => new Date(nowMs - secondsAgo * 1_000).toISOString();

const autoscaled = ([type, status, reason, message]: readonly [string, 'True' | 'False', string, string]): ApiObject =>
	anHpa({
		status: {
			desiredReplicas: 4,
			currentMetrics: [{type: 'Resource', resource: {name: 'cpu', current: {averageUtilization: 90}}}],
			conditions: [{type, status, reason, message}],
			decisions: [{time: at(9), from: 1, to: 4, reason: 'replicas of deployment/web were set to 1 by eve'}],
		},
	});

const event = (reason: string, message: string, more: Partial<ObjectEvent> = {}): ObjectEvent => ({
	type: 'Warning',
	reason,
	message,
	count: 1,
	firstAtMs: nowMs - 60_000,
	lastAtMs: nowMs - 1_000,
	...more,
});

const statusOf = (state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
	name: 'app',
	image: 'program',
	imageID: '',
	ready: false,
	restartCount: 0,
	state,
	...more,
});

type Ended = NonNullable<ContainerState['terminated']>;

/** It ended some seconds ago, after 40 ms. */
const ended = (exitCode: number, more: Partial<Ended> = {}): ContainerState => ({
	terminated: {
		exitCode,
		reason: 'Error',
		startedAt: new Date(nowMs - 2_040).toISOString(),
		finishedAt: new Date(nowMs - 2_000).toISOString(),
		...more,
	},
});

const backOff = (last: ContainerState, restartCount = 4): ContainerStatus =>
	statusOf(
		{waiting: {reason: 'CrashLoopBackOff', message: 'back-off before attempt 5', retryAt: at(-3), retry: 5}},
		{lastState: last, restartCount},
	);

const waiting = (reason: string, message: string, more: object = {}): ContainerStatus => statusOf({waiting: {reason, message, ...more}});

const runs = (more: Partial<ContainerStatus> = {}, since = 60): ContainerStatus =>
	statusOf({running: {startedAt: at(since)}}, {started: true, ...more});

const notReady: Condition = {type: 'Ready', status: 'False', reason: 'ContainersNotReady'};

type PodParts = {
	readonly owner?: ApiObject;
	readonly metadata?: Partial<ObjectMeta>;
	readonly spec?: Partial<NonNullable<Pod['spec']>>;
	readonly status?: Partial<NonNullable<Pod['status']>>;
};

/** A pod on a node, with one container `app`. */
function podWith(name: string, container: ContainerStatus | undefined, {owner, metadata, spec, status}: PodParts = {}): Pod {
	return aPod({
		name,
		metadata: {labels: {app: 'web'}, ...(owner === undefined ? {} : {ownerReferences: [ownedBy(owner)]}), ...metadata},
		spec: {nodeName: 'node-a', containers: [aContainer({name: 'app'})], ...spec},
		status: {
			phase: 'Running',
			conditions: [scheduled, notReady],
			...(container === undefined ? {} : {containerStatuses: [container]}),
			...status,
		},
	});
}

const unplaced = (name: string, message: string, parts: PodParts = {}): Pod =>
	podWith(name, undefined, {
		...parts,
		spec: {nodeName: undefined, ...parts.spec} as PodParts['spec'],
		status: {phase: 'Pending', conditions: [{type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message}]},
	} as PodParts);

const readyOf = (name: string, owner: ApiObject, metadata: Partial<ObjectMeta> = {}): Pod =>
	aReadyPod({name, metadata: {labels: {app: 'web'}, ownerReferences: [ownedBy(owner)], ...metadata}});

const node = aNode();
const silentNode = (reason: string, message: string, isLost: boolean): ApiObject =>
	aNode({
		spec: isLost ? {taints: [{key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: at(10)}]} : {},
		status: {conditions: [{type: 'Ready', status: 'Unknown', reason, message, lastTransitionTime: at(20)}]},
	});

const partition: FaultLook = {
	address: 'troupe://node-a/',
	fault: {type: 'partition'},
	leftMs: 8_000,
	by: 'ada',
	text: 'cut off from all other systems, 8 s left, by ada',
};

// ---- a deployment of three ---------------------------------------------------------------------------------------------------

const template = aTemplate('first');
const web = aDeployment({spec: {replicas: 3, template}, status: {readyReplicas: 1, updatedReplicas: 3, replicas: 3}});
const webSet = (name = 'web-7f', more: Parameters<typeof aReplicaSet>[0] = {}): ApiObject =>
	aReplicaSet({
		name,
		metadata: {ownerReferences: [ownedBy(web)]},
		...more,
		spec: {replicas: 3, selector: {matchLabels: {app: 'web'}}, template, ...more.spec},
		status: {replicas: 3, readyReplicas: 1, ...more.status},
	});
const set = webSet();
const crashed = (name: string, owner: ApiObject = set): Pod =>
	podWith(name, backOff(ended(3, {message: 'starting\nError: no DATABASE_URL'})), {owner});
const crashEvents = {
	'pods/default/web-7f-a': [
		event('Crashed', 'container app, attempt 4, ended: exit 3', {fieldPath: 'spec.containers{app}', aspect: 'exit 3', count: 5}),
	],
};

const kindWith = <Obj extends ApiObject>(
	apiVersion: string,
	kind: string,
	name: string,
	spec: Obj['spec'],
	status: Obj['status'],
	metadata: Partial<ObjectMeta> = {},
): Obj =>
	({
		apiVersion,
		kind,
		metadata: {
			name,
			namespace: 'default',
			uid: `uid-of-${kind}-${name}`,
			resourceVersion: '1',
			generation: 1,
			creationTimestamp: at(60),
			...metadata,
		},
		spec,
		status,
	}) as Obj;

const aFunction = (status: object): ApiObject => kindWith('troupe.dev/v1', 'Function', 'add', {userUploadFilePath: 'add'}, status);
const withCode: Condition = {type: 'Callable', status: 'True', reason: 'HasCode', message: ''};
const called = aFunction({desired: 1, instances: 1, ready: 0, conditions: [withCode]});
const setOfCalled = webSet('add-1', {
	metadata: {ownerReferences: [ownedBy(called)]},
	spec: {replicas: 1},
	status: {replicas: 1, readyReplicas: 0},
});

const stateful = (
	status: Partial<NonNullable<StatefulSet['status']>> = {},
	spec: Partial<NonNullable<StatefulSet['spec']>> = {},
): StatefulSet =>
	kindWith<StatefulSet>(
		'apps/v1',
		'StatefulSet',
		'db',
		{
			replicas: 3,
			serviceName: 'db',
			selector: {matchLabels: {app: 'web'}},
			template: {...template},
			podManagementPolicy: 'OrderedReady',
			...spec,
		},
		{replicas: 2, readyReplicas: 1, availableReplicas: 1, ...status},
	);

const daemon = (status: Partial<NonNullable<DaemonSet['status']>>, templateSpec: object = {}): DaemonSet =>
	kindWith<DaemonSet>(
		'apps/v1',
		'DaemonSet',
		'log',
		{selector: {matchLabels: {app: 'web'}}, template: {...template, spec: {...template.spec, ...templateSpec}}},
		{desiredNumberScheduled: 1, currentNumberScheduled: 1, numberMisscheduled: 0, numberReady: 0, ...status},
	);

const parallelSet = stateful({replicas: 1, readyReplicas: 0, availableReplicas: 0}, {replicas: 1, podManagementPolicy: 'Parallel'});

const otherSet: StatefulSet = {...parallelSet, metadata: {...parallelSet.metadata, name: 'other', uid: 'uid-of-other'}};

/** A pod that depends on these. */
const waitingFor = (name: string, names: string, owner?: ApiObject): Pod =>
	unplaced(name, `waits: ${names} is not available`, {
		...(owner === undefined ? {} : {owner}),
		metadata: {annotations: {'troupe.dev/depends-on': names}, labels: {app: 'web'}},
	});

const aJob = (status: Partial<NonNullable<Job['status']>>, spec: Partial<NonNullable<Job['spec']>> = {}, name = 'sum'): Job =>
	kindWith<Job>('batch/v1', 'Job', name, {template, completions: 1, parallelism: 1, backoffLimit: 1, ...spec}, status);

const failedJob = (reason: string, message: string, spec: Partial<NonNullable<Job['spec']>> = {}, status: object = {}): Job =>
	aJob({failed: 2, conditions: [{type: 'Failed', status: 'True', reason, message, lastTransitionTime: at(5)}], ...status}, spec);

const jobPod = (job: Job, exitCode: number): Pod =>
	podWith('sum-x', statusOf(ended(exitCode, {message: 'disk full'})), {
		owner: job,
		spec: {restartPolicy: 'Never'},
		status: {phase: 'Failed'},
	});

const cron = (spec: Partial<NonNullable<CronJob['spec']>>, status: CronJob['status'] = {}): CronJob =>
	kindWith<CronJob>(
		'batch/v1',
		'CronJob',
		'tick',
		{schedule: '*/5 * * * *', concurrencyPolicy: 'Allow', suspend: false, jobTemplate: {spec: {template}}, ...spec},
		status,
	);

const claim = (
	spec: Partial<NonNullable<PersistentVolumeClaim['spec']>>,
	status: PersistentVolumeClaim['status'] = {phase: 'Pending'},
	metadata: Partial<ObjectMeta> = {},
): PersistentVolumeClaim =>
	kindWith<PersistentVolumeClaim>(
		'v1',
		'PersistentVolumeClaim',
		'data',
		{
			accessModes: ['ReadWriteOnce'],
			resources: {requests: {storage: '1Gi'}},
			storageClassName: 'local',
			...spec,
		},
		status,
		metadata,
	);

const withClaim = {volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'data'}}]};

const volume = (spec: object, phase: string): PersistentVolume => {
	const made = kindWith<PersistentVolume>(
		'v1',
		'PersistentVolume',
		'pv-1',
		{capacity: {storage: '1Gi'}, accessModes: ['ReadWriteOnce'], ...spec},
		{phase} as PersistentVolume['status'],
	);
	const {namespace: _, ...metadata} = made.metadata;
	return {...made, metadata};
};

const onNodeA = {
	local: {path: '/v/pv-1'},
	nodeAffinity: {
		required: {nodeSelectorTerms: [{matchExpressions: [{key: 'kubernetes.io/hostname', operator: 'In', values: ['node-a']}]}]},
	},
};

const deleting = {deletionTimestamp: at(-20), deletionGracePeriodSeconds: 30};
const quotaMessage = 'pods "web-7f-x" is forbidden: exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2';
const team = {...aQuota('team', {pods: '2'}), status: {hard: {pods: '2'}, used: {pods: '2'}}};

const restart = ['restart attempt 5', 3] as const;

const actor = (address: string, state: ActorState, more: Partial<ActorTree> = {}): ActorTree => actorTree(address, {state, ...more});

const handAddress = 'troupe://node-a/pods/default.a';

const parkedMessage = 'the actor "troupe://control/pods/default.a" crashed on this message: x is not a function';

export const plantedCauses: readonly PlantedCause[] = [
	{
		title: 'a deployment two of whose pods crash, with last words',
		objects: [web, set, crashed('web-7f-a'), crashed('web-7f-b'), readyOf('web-7f-c', set), node],
		events: crashEvents,
		answer:
			'Deployment web does not progress: 2 of its 3 pods crash; container app of pod web-7f-a exited with 3 after 40 ms, 5 times; its last words: `Error: no DATABASE_URL`.',
		chain: ['deployment/web', 'replicaset/web-7f', 'pod/web-7f-a', 'container app'],
		next: restart,
	},
	{
		title: 'its set',
		objects: [set, web, crashed('web-7f-a'), crashed('web-7f-b'), readyOf('web-7f-c', set), node],
		events: crashEvents,
		answer:
			'ReplicaSet web-7f has 1 of 3 pods ready: 2 of its 3 pods crash; container app of pod web-7f-a exited with 3 after 40 ms, 5 times; its last words: `Error: no DATABASE_URL`.',
		chain: ['replicaset/web-7f', 'pod/web-7f-a', 'container app'],
		next: restart,
	},
	{
		title: 'a set one of whose pods crashes, while one starts, one leaves and one has no node',
		objects: [
			webSet('web-7f', {spec: {replicas: 4}, status: {replicas: 4, readyReplicas: 0}}),
			podWith('web-7f-s', waiting('ContainerCreating', ''), {owner: set}),
			podWith('web-7f-l', runs(), {owner: set, metadata: deleting}),
			unplaced('web-7f-u', '0/1 nodes fit: node-a: cordoned', {owner: set}),
			crashed('web-7f-a'),
			node,
		],
		answer:
			'ReplicaSet web-7f has 0 of 4 pods ready: 1 of its 4 pods crashes, 1 has no node; container app of pod web-7f-a exited with 3 after 40 ms, 4 times; its last words: `Error: no DATABASE_URL`.',
		chain: ['replicaset/web-7f', 'pod/web-7f-a', 'container app'],
		next: restart,
	},
	{
		title: 'one of these pods',
		objects: [crashed('web-7f-a'), node],
		events: crashEvents,
		answer: 'Pod web-7f-a crashes: its container app exited with 3 after 40 ms, 5 times; its last words: `Error: no DATABASE_URL`.',
		chain: ['pod/web-7f-a', 'container app'],
		next: restart,
	},
	{
		title: 'a pod that runs for a moment between two crashes',
		objects: [podWith('a', runs({ready: true, lastState: ended(1), restartCount: 3}, 0.5)), node],
		answer: 'Pod a crashes: its container app exited with 1 after 40 ms, 3 times.',
		chain: ['pod/a', 'container app'],
		next: null,
	},
	{
		title: 'killed for its memory',
		objects: [
			podWith('a', backOff(ended(137, {reason: 'OOMKilled'}), 1), {
				spec: {containers: [aContainer({name: 'app', resources: {limits: {memory: '64Mi'}}})]},
			}),
			node,
		],
		answer: 'Pod a crashes: its container app was killed for using more memory than its limit of 64Mi after 40 ms.',
		chain: ['pod/a', 'container app'],
		next: restart,
	},
	{
		title: 'killed by a signal',
		objects: [podWith('a', backOff(ended(139, {signal: 11}), 2)), node],
		answer: 'Pod a crashes: its container app was killed by signal 11 (SIGSEGV) after 40 ms, twice.',
		chain: ['pod/a', 'container app'],
		next: restart,
	},
	{
		title: 'a program that ends well and shall run for ever',
		objects: [podWith('a', backOff(ended(0, {reason: 'Completed'}), 6)), node],
		answer: 'Pod a crashes: its container app ended by itself with 0 after 40 ms, 6 times.',
		chain: ['pod/a', 'container app'],
		next: restart,
	},
	{
		title: 'ended by its liveness probe',
		objects: [podWith('a', backOff(ended(143), 1)), node],
		events: {
			'pods/default/a': [
				event('Unhealthy', 'Liveness probe failed: HTTP probe failed with statuscode: 500', {
					fieldPath: 'spec.containers{app}',
					aspect: 'liveness',
					lastAtMs: nowMs - 2_500,
				}),
				event('Killing', 'container app failed its liveness probe and is ended', {
					type: 'Normal',
					fieldPath: 'spec.containers{app}',
					lastAtMs: nowMs - 2_400,
				}),
				event('Crashed', 'container app, attempt 0, ended: exit 143', {
					fieldPath: 'spec.containers{app}',
					aspect: 'exit 143',
					lastAtMs: nowMs - 2_000,
				}),
			],
		},
		answer:
			'Pod a crashes: its container app was ended since its liveness probe failed (Liveness probe failed: HTTP probe failed with statuscode: 500).',
		chain: ['pod/a', 'container app'],
		next: restart,
	},
	{
		title: 'a program that is not there',
		objects: [
			podWith(
				'a',
				waiting('RunContainerError', 'container "app" cannot start: program "slep" was not found in PATH "/bin"', {
					retryAt: at(-10),
					retry: 4,
				}),
			),
			node,
		],
		answer: 'Pod a cannot start: its container app cannot start: program "slep" was not found in PATH "/bin".',
		chain: ['pod/a', 'container app'],
		next: ['attempt 4 to start it', 10],
	},
	{
		title: 'no command',
		objects: [
			podWith(
				'a',
				waiting('NoCommand', `container "app" names no command, and image "nginx" is only a name to this node's runtime: set command`),
			),
			node,
		],
		answer: `Pod a cannot start: its container app cannot start: names no command, and image "nginx" is only a name to this node's runtime: set command.`,
		chain: ['pod/a', 'container app'],
		next: null,
	},
	{
		title: 'a ConfigMap that nobody made',
		objects: [podWith('a', waiting('CreateContainerConfigError', 'configmap "menu" not found')), node],
		answer: 'Pod a waits for what it names: its container app waits: configmap "menu" not found.',
		chain: ['pod/a', 'container app'],
		next: ['it starts as soon as that is there'],
	},
	{
		title: 'a volume that cannot be mounted',
		objects: [podWith('a', waiting('FailedMount', 'hostPath /srv: no such directory', {retryAt: at(-4), retry: 2})), node],
		answer: 'Pod a waits for a volume: its container app waits for a volume: hostPath /srv: no such directory.',
		chain: ['pod/a', 'container app'],
		next: ['attempt 2 to start it', 4],
	},
	{
		title: 'an exclusive pod without its lease',
		objects: [
			podWith('a', waiting('LeaseLost', 'the pod is exclusive and its lease has ended: the control plane does not confirm it')),
			node,
		],
		answer:
			'Pod a waits for its lease: its container app waits: the pod is exclusive and its lease has ended: the control plane does not confirm it.',
		chain: ['pod/a', 'container app'],
		next: null,
	},
	{
		title: 'a new deployment whose pods do not pass their probes yet',
		objects: [
			{
				...web,
				status: {readyReplicas: 0, conditions: [{type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated'}]},
			},
			webSet('web-7f', {spec: {replicas: 1}, status: {replicas: 1, readyReplicas: 0}}),
			podWith('web-7f-a', runs(), {owner: set}),
			node,
		],
		events: {
			'pods/default/web-7f-a': [
				event('Unhealthy', 'Readiness probe failed: exit 1', {aspect: 'readiness', fieldPath: 'spec.containers{app}'}),
			],
		},
		answer:
			'Deployment web is not ready yet: its pod is not ready; container app of pod web-7f-a runs, and its readiness probe fails: exit 1.',
		chain: ['deployment/web', 'replicaset/web-7f', 'pod/web-7f-a', 'container app'],
	},
	{
		title: 'a readiness probe that fails',
		objects: [
			podWith('a', runs(), {spec: {containers: [aContainer({name: 'app', readinessProbe: {httpGet: {port: 80}, periodSeconds: 5}})]}}),
			node,
		],
		events: {
			'pods/default/a': [
				event('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503', {
					fieldPath: 'spec.containers{app}',
					aspect: 'readiness',
					count: 7,
				}),
			],
		},
		answer: 'Pod a is not ready: its container app runs, and its readiness probe fails, 7 times: HTTP probe failed with statuscode: 503.',
		chain: ['pod/a', 'container app'],
		next: ['the readiness probe is tried every 5 s'],
	},
	{
		title: 'a startup probe that has not passed',
		objects: [
			podWith('a', runs({started: false}, 4), {
				spec: {containers: [aContainer({name: 'app', startupProbe: {tcpSocket: {port: 80}, periodSeconds: 1, failureThreshold: 30}})]},
			}),
			node,
		],
		answer: 'Pod a is not ready: its container app has run for 4 s, and its startup probe has not passed yet.',
		chain: ['pod/a', 'container app'],
		next: ['the startup probe is tried every 1 s; after 30 failures in a row the container is restarted'],
	},
	{
		title: 'an init container that crashes',
		objects: [
			podWith('a', statusOf({waiting: {reason: 'PodInitializing'}}), {
				spec: {initContainers: [aContainer({name: 'setup'})]},
				status: {phase: 'Pending', initContainerStatuses: [{...backOff(ended(1, {message: 'no table'}), 2), name: 'setup'}]},
			}),
			node,
		],
		answer: 'Pod a crashes: its init container setup exited with 1 after 40 ms, twice; its last words: `no table`.',
		chain: ['pod/a', 'init container setup'],
		next: restart,
	},
	{
		title: 'an init container that runs',
		objects: [
			podWith('a', statusOf({waiting: {reason: 'PodInitializing'}}), {
				spec: {initContainers: [aContainer({name: 'setup'})]},
				status: {phase: 'Pending', initContainerStatuses: [{...runs({}, 8), name: 'setup'}]},
			}),
			node,
		],
		answer: 'Pod a is being initialised: its init container setup has run for 8 s.',
		chain: ['pod/a'],
		next: ['its containers start once init container setup has ended with 0'],
	},
	{
		title: 'no node that fits',
		objects: [unplaced('a', '0/1 nodes fit: node-a: no label disk=ssd'), node],
		answer: 'Pod a has no node: 0/1 nodes fit: node-a: no label disk=ssd.',
		chain: ['pod/a'],
		next: ['the scheduler tries again when a node or a pod changes'],
	},
	{
		title: 'a node that pods of a lower priority leave',
		objects: [
			podWith('a', undefined, {
				spec: {nodeName: undefined} as unknown as object,
				status: {phase: 'Pending', nominatedNodeName: 'node-a', conditions: []},
			}),
			node,
		],
		answer: 'Pod a has no node yet: pods of a lower priority leave node node-a for it.',
		chain: ['pod/a'],
		next: ['it is bound to node node-a once they are gone'],
	},
	{
		title: 'a pod that waits for a set whose pod crashes',
		objects: [
			waitingFor('a', 'statefulset/db'),
			parallelSet,
			podWith('db-0', backOff(ended(3, {message: 'no disk'})), {owner: parallelSet}),
			node,
		],
		answer:
			'Pod a waits for statefulset/db: statefulset/db has 0 of 1 pod ready: its pod crashes; container app of pod db-0 exited with 3 after 40 ms, 4 times; its last words: `no disk`.',
		chain: ['pod/a', 'statefulset/db', 'pod/db-0', 'container app'],
	},
	{
		title: 'a workload whose pod waits for a Job that failed, and for a set that is on its way',
		objects: [
			set,
			waitingFor('web-7f-a', 'statefulset/db,job/sum', set),
			failedJob('DeadlineExceeded', '', {activeDeadlineSeconds: 5}),
			parallelSet,
			podWith('db-0', waiting('ContainerCreating', ''), {owner: parallelSet}),
			node,
		],
		answer:
			'ReplicaSet web-7f has 1 of 3 pods ready: 1 of its 3 pods waits for what it depends on; pod web-7f-a: job/sum failed: it was active for longer than 5 s (activeDeadlineSeconds).',
		chain: ['replicaset/web-7f', 'pod/web-7f-a', 'job/sum'],
	},
	{
		title: 'a pod that waits for what is not there',
		objects: [waitingFor('a', 'deployment/db'), node],
		answer: 'Pod a waits for deployment/db: deployment/db is not there.',
		chain: ['pod/a', 'deployment/db'],
		next: ['it has a node once deployment/db is available'],
	},
	{
		title: 'two whose pods wait for each other',
		objects: [
			waitingFor('a', 'statefulset/db'),
			parallelSet,
			waitingFor('db-0', 'statefulset/other', parallelSet),
			otherSet,
			waitingFor('other-0', 'statefulset/db', otherSet),
			node,
		],
		answer:
			'Pod a waits for statefulset/db: statefulset/db has 0 of 1 pod ready: its pod waits for what it depends on; pod db-0: statefulset/other has 0 of 1 pod ready: its pod waits for what it depends on; pod other-0: statefulset/db is not available.',
		chain: ['pod/a', 'statefulset/db', 'pod/db-0', 'statefulset/other', 'pod/other-0', 'statefulset/db'],
	},
	{
		title: 'a claim that waits for a volume of a class that is not there',
		objects: [
			unplaced('a', 'pod has unbound immediate PersistentVolumeClaims', {spec: withClaim}),
			claim({storageClassName: 'fast'}),
			node,
		],
		answer: 'Pod a has no node: its claim data has no volume: ',
		chain: ['pod/a', 'persistentvolumeclaim/data'],
		next: ['the scheduler tries again when persistentvolumeclaim/data is bound'],
	},
	{
		title: 'a pod that fits nowhere, and whose claim waits for it',
		objects: [unplaced('a', '0/1 nodes fit: node-a: no label disk=ssd', {spec: withClaim}), claim({}), node],
		answer: 'Pod a has no node: 0/1 nodes fit: node-a: no label disk=ssd.',
		chain: ['pod/a'],
		next: ['the scheduler tries again when a node or a pod changes'],
	},
	{
		title: 'a pod of a lost node that is replaced',
		objects: [
			podWith('a', runs(), {
				owner: set,
				status: {
					conditions: [
						scheduled,
						{type: 'Ready', status: 'False', reason: 'NodeLost', message: 'node "node-a" is lost; the pod tolerates that for 30 s'},
					],
				},
				spec: {tolerations: [{key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30}]},
			}),
			silentNode('NodeLost', 'nothing is heard of the node; its pods are replaced', true),
		],
		answer: 'Pod a is on a node that is not heard: node "node-a" is lost; the pod tolerates that for 30 s.',
		chain: ['pod/a', 'node/node-a'],
		next: ['it is replaced on another node', 20],
	},
	{
		title: 'a ready pod of a node that is silent',
		objects: [readyOf('a', set), silentNode('NodeSuspect', 'no beat of the agent', false)],
		answer: 'Pod a is on a node that is not heard: node node-a has not been heard for 20 s: no beat of the agent.',
		chain: ['pod/a', 'node/node-a'],
		next: ['if it stays silent, its pods are replaced'],
	},
	{
		title: 'a pod that its node has not spoken of',
		objects: [podWith('a', undefined, {status: {phase: 'Pending', conditions: [scheduled]}}), node],
		answer: 'Pod a is starting: it is bound to node node-a, which has not said anything of it yet.',
		chain: ['pod/a'],
		next: null,
	},
	{
		title: 'a pod whose manifest names a node that is not there',
		objects: [podWith('a', undefined, {status: {phase: 'Pending', conditions: [scheduled]}})],
		answer: 'Pod a is on a node that is not there: there is no node node-a.',
		chain: ['pod/a'],
		next: ['it starts when a node node-a joins'],
	},
	{
		title: 'a pod that was preempted and ends',
		objects: [
			podWith('a', runs(), {
				metadata: deleting,
				status: {
					conditions: [
						scheduled,
						{
							type: 'DisruptionTarget',
							status: 'True',
							reason: 'PreemptionByScheduler',
							message: 'pod b of a higher priority takes its place on node node-a',
						},
					],
				},
			}),
			node,
		],
		answer: 'Pod a is being deleted: pod b of a higher priority takes its place on node node-a.',
		chain: ['pod/a'],
		next: ['what still runs of it is killed', 20],
	},
	{
		title: 'a slow stop',
		objects: [podWith('a', runs(), {metadata: deleting}), node],
		answer: 'Pod a is being deleted: its programs have 30 s to end.',
		chain: ['pod/a'],
		next: ['what still runs of it is killed', 20],
	},
	{
		title: 'an Engine that hangs when a pod is to end',
		objects: [
			podWith('a', waiting('RuntimeError', "Docker's Engine did not answer within 10000 ms: signal a container"), {
				metadata: {...deleting, deletionTimestamp: at(5)},
			}),
			node,
		],
		answer: "Pod a is being deleted: its node cannot end it: Docker's Engine did not answer within 10000 ms: signal a container.",
		chain: ['pod/a'],
		next: ['it is tried again with a back-off'],
	},
	{
		title: 'a sandbox that cannot be removed',
		objects: [
			podWith('a', statusOf(ended(137)), {
				metadata: {...deleting, deletionTimestamp: at(5)},
				status: {reason: 'SandboxFailed', message: "Docker's Engine closed the connection"},
			}),
			node,
		],
		answer: "Pod a is being deleted: its node cannot end it: Docker's Engine closed the connection.",
		chain: ['pod/a'],
		next: ['it is tried again with a back-off'],
	},
	{
		title: 'a finalizer that holds a pod',
		objects: [podWith('a', runs(), {metadata: {...deleting, deletionGracePeriodSeconds: 0, finalizers: ['example.com/backup']}}), node],
		answer: 'Pod a is being deleted: its finalizer example.com/backup holds it.',
		chain: ['pod/a'],
		next: ['it goes when whoever put the finalizer there takes it away'],
	},
	{
		title: 'a pod that ran for too long',
		objects: [
			podWith('a', statusOf(ended(137)), {
				status: {
					phase: 'Failed',
					reason: 'DeadlineExceeded',
					message: 'the pod was active on its node for longer than activeDeadlineSeconds',
				},
			}),
			node,
		],
		answer: 'Pod a failed: the pod was active on its node for longer than activeDeadlineSeconds.',
		chain: ['pod/a', 'container app'],
		next: ['nothing: a pod that has failed is not started again'],
	},
	{
		title: 'a pod that has to leave soon',
		objects: [
			aReadyPod({name: 'a', spec: {tolerations: [{key: 'gpu', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60}]}}),
			aNode({spec: {taints: [{key: 'gpu', effect: 'NoExecute', timeAdded: at(10)}]}}),
		],
		answer: 'Nothing is wrong with Pod a: it is ready on node node-a.',
		chain: ['pod/a'],
		next: ['it has to leave, since it tolerates the taint gpu:NoExecute for a time only', 50],
	},
	{
		title: 'a pod whose actor is parked',
		objects: [
			podWith('a', runs(), {
				status: {conditions: [{type: 'ActorFailed', status: 'True', reason: 'Parked', message: parkedMessage}]},
			}),
			node,
		],
		answer: 'Pod a is not looked after: its actor crashed too often and is parked: x is not a function.',
		chain: ['pod/a', 'actor troupe://control/pods/default.a'],
		next: ['it is tried again by itself with a back-off, and at once when its spec changes'],
	},
	{
		title: 'a pod that is being deleted, and whose hand is paused',
		objects: [podWith('a', runs(), {metadata: {deletionTimestamp: at(-25), deletionGracePeriodSeconds: 30}}), node],
		actors: {[handAddress]: actor(handAddress, 'paused', {pausedForMs: 20_000})},
		answer: `Pod a is being deleted, and not looked after: actor ${handAddress} is paused for another 20 s.`,
		chain: ['pod/a', `actor ${handAddress}`],
		next: ['somebody resumes it, or its pause is over'],
	},
	{
		title: 'a pod for whom the scheduler hears nothing, since somebody made a fault',
		objects: [
			podWith('a', undefined, {spec: {nodeName: undefined} as unknown as object, status: {phase: 'Pending', conditions: []}}),
			node,
		],
		actors: {
			'troupe://control/scheduler': actor('troupe://control/scheduler', 'running', {faults: ['all messages to it are lost, 9 s left']}),
		},
		answer: 'Pod a has no node: actor troupe://control/scheduler has a fault that somebody made: all messages to it are lost, 9 s left.',
		chain: ['pod/a', 'actor troupe://control/scheduler'],
		next: ['the fault ends by itself; troupe fault end ends it now'],
	},
	{
		title: 'a pod that fits nowhere, for whom the scheduler is slow, too',
		objects: [unplaced('a', '0/1 nodes fit: node-a: no label disk=ssd'), node],
		actors: {'troupe://control/scheduler': actor('troupe://control/scheduler', 'running', {faults: ['slow by 1 s, 9 s left']})},
		answer:
			'Pod a has no node: 0/1 nodes fit: node-a: no label disk=ssd; and actor troupe://control/scheduler has a fault that somebody made: slow by 1 s, 9 s left.',
		chain: ['pod/a', 'actor troupe://control/scheduler'],
	},
	{
		title: 'a node that a fault cuts off, before it is missed',
		objects: [node],
		partitions: {'node-a': partition},
		answer: 'Node node-a is cut off by a fault of ada: 8 s left.',
		chain: ['node/node-a', 'actor troupe://node-a/'],
		next: ['the fault ends by itself', 8],
	},
	{
		title: 'a node that is missed, since a fault cuts it off',
		objects: [silentNode('NodeLost', 'nothing was heard', true)],
		partitions: {'node-a': partition},
		answer: 'Node node-a is cut off by a fault of ada: 8 s left.',
		chain: ['node/node-a', 'actor troupe://node-a/'],
	},
	{
		title: 'a ready pod on a node that a fault cuts off',
		objects: [aReadyPod({name: 'a', spec: {nodeName: 'node-a', containers: []}}), node],
		partitions: {'node-a': partition},
		answer: 'Pod a is on a node that is cut off: node node-a is cut off by a fault of ada: 8 s left.',
		chain: ['pod/a', 'node/node-a', 'actor troupe://node-a/'],
	},
	{
		title: 'a pod whose hand has an actor that crashes',
		objects: [podWith('a', undefined, {status: {phase: 'Pending', conditions: [scheduled]}}), node],
		actors: {
			[handAddress]: actor(handAddress, 'running', {children: [actor(`${handAddress}/app`, 'parked', {failure: 'x is not a function'})]}),
		},
		answer: `Pod a is not started: actor ${handAddress}/app crashed too often and rests: x is not a function.`,
		chain: ['pod/a', `actor ${handAddress}/app`],
		next: ['it is tried again by itself with a back-off'],
	},
	{
		title: 'a pod whose node starts none, since its actor of pods is paused',
		objects: [podWith('a', undefined, {status: {phase: 'Pending', conditions: [scheduled]}}), node],
		actors: {'troupe://node-a/pods': actor('troupe://node-a/pods', 'paused', {pausedForMs: 5_000})},
		answer: 'Pod a is not started: actor troupe://node-a/pods is paused for another 5 s.',
		chain: ['pod/a', 'actor troupe://node-a/pods'],
		next: ['somebody resumes it, or its pause is over'],
	},
	{
		title: 'a pod that is new',
		objects: [
			podWith('a', undefined, {
				spec: {nodeName: undefined} as unknown as object,
				status: {
					phase: 'Pending',
					conditions: [
						{type: 'PodScheduled', status: 'False', reason: 'Unscheduled', message: 'the scheduler has not looked at the pod yet'},
					],
				},
			}),
			node,
		],
		answer: 'Pod a has no node yet: the scheduler has not looked at it.',
		chain: ['pod/a'],
		next: ['the scheduler looks at it'],
	},
	{
		title: 'a pod for whom the scheduler is paused',
		objects: [
			podWith('a', undefined, {spec: {nodeName: undefined} as unknown as object, status: {phase: 'Pending', conditions: []}}),
			node,
		],
		actors: {'troupe://control/scheduler': actor('troupe://control/scheduler', 'paused', {pausedForMs: 30_000})},
		answer: 'Pod a has no node: actor troupe://control/scheduler is paused for another 30 s.',
		chain: ['pod/a', 'actor troupe://control/scheduler'],
		next: ['somebody resumes it, or its pause is over'],
	},
	{
		title: 'a set whose record starts again and again',
		objects: [webSet()],
		actors: {
			'troupe://control/replicasets/default.web-7f': actor('troupe://control/replicasets/default.web-7f', 'restarting', {failure: 'boom'}),
		},
		answer: 'ReplicaSet web-7f is not looked after: actor troupe://control/replicasets/default.web-7f crashed: boom.',
		chain: ['replicaset/web-7f', 'actor troupe://control/replicasets/default.web-7f'],
		next: ['it starts again by itself'],
	},
	{
		title: 'a quota that refuses the pods of a deployment',
		objects: [
			web,
			webSet('web-7f', {
				status: {
					replicas: 2,
					readyReplicas: 2,
					conditions: [{type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: quotaMessage}],
				},
			}),
			readyOf('web-7f-a', set),
			readyOf('web-7f-b', set),
			team,
			node,
		],
		answer:
			'Deployment web does not progress: its ReplicaSet has 2 of 3 pods: its pods are refused: exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2.',
		chain: ['deployment/web', 'replicaset/web-7f', 'resourcequota/team'],
		next: ['it goes on as soon as the quota has room'],
	},
	{
		title: 'the quota itself',
		objects: [
			team,
			webSet('web-7f', {
				status: {replicas: 2, conditions: [{type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: quotaMessage}]},
			}),
		],
		answer: 'ResourceQuota team is used up: pods 2 of 2 used; replicaset/web-7f waits for room.',
		chain: ['resourcequota/team', 'replicaset/web-7f'],
		next: ['what waits goes on as soon as there is room, or the quota is larger'],
	},
	{
		title: 'a deployment that is paused before a change',
		objects: [
			aDeployment({spec: {replicas: 3, paused: true, template: aTemplate('second')}}),
			webSet('web-7f', {metadata: {ownerReferences: [ownedBy(web)]}, status: {readyReplicas: 3}}),
			...['a', 'b', 'c'].map(name => readyOf(`web-7f-${name}`, set)),
			node,
		],
		answer: 'Deployment web is paused: its newest template waits.',
		chain: ['deployment/web'],
		next: ['troupe rollout resume lets it go on'],
	},
	{
		title: 'a deployment whose time for progress is over',
		objects: [
			aDeployment({
				spec: {replicas: 3, template},
				status: {
					readyReplicas: 0,
					updatedReplicas: 3,
					replicas: 3,
					conditions: [
						{
							type: 'Progressing',
							status: 'False',
							reason: 'ProgressDeadlineExceeded',
							message: 'ReplicaSet "web-7f" has timed out progressing.',
						},
					],
				},
			}),
			webSet('web-7f', {status: {replicas: 3, readyReplicas: 0}}),
			...['a', 'b', 'c'].map(name => unplaced(`web-7f-${name}`, '0/1 nodes fit: node-a: full: 110 pods', {owner: set})),
			node,
		],
		answer: 'Deployment web does not progress: all 3 of its pods have no node; pod web-7f-a: 0/1 nodes fit: node-a: full: 110 pods.',
		chain: ['deployment/web', 'replicaset/web-7f', 'pod/web-7f-a'],
		next: ['the scheduler tries again when a node or a pod changes'],
	},
	{
		title: 'pods that count only later',
		objects: [
			aDeployment({spec: {replicas: 1, template, minReadySeconds: 30}, status: {readyReplicas: 1, updatedReplicas: 1, replicas: 1}}),
			webSet('web-7f', {spec: {replicas: 1, minReadySeconds: 30}, status: {replicas: 1, readyReplicas: 1}}),
			aReadyPod({
				name: 'web-7f-a',
				metadata: {labels: {app: 'web'}, ownerReferences: [ownedBy(set)]},
				status: {conditions: [scheduled, {...ready, lastTransitionTime: at(10)}]},
			}),
			node,
		],
		answer:
			'Deployment web is on its way: its ReplicaSet has 0 of 1 pod that can be relied on: a pod counts only when ready for 30 s (minReadySeconds).',
		chain: ['deployment/web', 'replicaset/web-7f'],
		next: ['the next one counts', 20],
	},
	{
		title: 'a healthy deployment',
		objects: [
			aDeployment({spec: {replicas: 3, template}, status: {readyReplicas: 3, updatedReplicas: 3, replicas: 3}}),
			webSet('web-7f', {status: {replicas: 3, readyReplicas: 3}}),
			...['a', 'b', 'c'].map(name => readyOf(`web-7f-${name}`, set)),
			node,
		],
		answer: 'Nothing is wrong with Deployment web: all 3 of its pods are ready.',
		chain: ['deployment/web'],
		next: null,
	},
	{
		title: 'a stateful set whose second pod crashes',
		objects: [stateful(), readyOf('db-0', stateful()), crashed('db-1', stateful()), node],
		answer:
			'StatefulSet db waits for pod db-1: it crashes; container app of pod db-1 exited with 3 after 40 ms, 4 times; the one after it waits for it; its last words: `Error: no DATABASE_URL`.',
		chain: ['statefulset/db', 'pod/db-1', 'container app'],
		next: restart,
	},
	{
		title: 'a stateful set whose next pod a quota refuses',
		objects: [stateful({replicas: 1}), readyOf('db-0', stateful()), team, node],
		events: {'statefulsets/default/db': [event('FailedCreate', `Error creating: ${quotaMessage}`)]},
		answer: 'StatefulSet db waits for pod db-1: it is refused: exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2.',
		chain: ['statefulset/db', 'resourcequota/team'],
		next: ['it goes on as soon as the quota has room'],
	},
	{
		title: 'a stateful set that waits for its pods to be deleted by hand',
		objects: [
			stateful(
				{replicas: 2, readyReplicas: 2, updatedReplicas: 0, currentRevision: 'db-1', updateRevision: 'db-2'},
				{replicas: 2, updateStrategy: {type: 'OnDelete'}},
			),
			readyOf('db-0', stateful()),
			readyOf('db-1', stateful()),
			node,
		],
		answer: 'StatefulSet db has pods of an older template: 2 pods; its update strategy is OnDelete.',
		chain: ['statefulset/db'],
		next: ['each is replaced once somebody deletes it'],
	},
	{
		title: 'a daemon set that fits no node',
		objects: [daemon({desiredNumberScheduled: 0, currentNumberScheduled: 0}, {nodeSelector: {disk: 'ssd'}}), node],
		answer: 'DaemonSet log has no pods: no node fits: node-a: no label disk=ssd.',
		chain: ['daemonset/log'],
		next: ['a node that fits gets a pod as soon as it is there'],
	},
	{
		title: 'a daemon set whose pod crashes',
		objects: [daemon({}), crashed('log-x', daemon({})), node],
		answer:
			'DaemonSet log is ready on 0 of 1 node: its pod crashes; container app of pod log-x exited with 3 after 40 ms, 4 times; its last words: `Error: no DATABASE_URL`.',
		chain: ['daemonset/log', 'pod/log-x', 'container app'],
		next: restart,
	},
	{
		title: 'a job that failed too often',
		objects: [failedJob('BackoffLimitExceeded', 'Job has reached the specified backoff limit'), jobPod(aJob({}), 2), node],
		answer:
			'Job sum failed: 2 pods failed, and its backoffLimit is 1; container app of pod sum-x exited with 2 after 40 ms; its last words: `disk full`.',
		chain: ['job/sum', 'pod/sum-x', 'container app'],
		next: ['nothing: a Job that has failed is not started again; delete it and make it anew'],
	},
	{
		title: 'a job whose pod was restarted too often, and is gone',
		objects: [
			failedJob('BackoffLimitExceeded', 'Job has reached the specified backoff limit', {
				backoffLimit: 3,
				template: {...template, spec: {...template.spec, restartPolicy: 'OnFailure'}},
			}),
			node,
		],
		departed: [podWith('sum-x', backOff(ended(1, {message: 'no'}), 3), {owner: aJob({}), spec: {restartPolicy: 'OnFailure'}})],
		answer:
			'Job sum failed: its containers were restarted too often for its backoffLimit of 3; container app of pod sum-x exited with 1 after 40 ms, 3 times; its last words: `no`.',
		chain: ['job/sum', 'pod/sum-x', 'container app'],
	},
	{
		title: 'an update whose new pods crash beside old ones that are well',
		objects: [
			aDeployment({spec: {replicas: 3, template}, status: {readyReplicas: 2, updatedReplicas: 2, replicas: 4}}),
			webSet('web-7f', {spec: {replicas: 2}, status: {replicas: 2, readyReplicas: 0}}),
			webSet('web-old', {spec: {replicas: 2, template: aTemplate('zeroth')}, status: {replicas: 2, readyReplicas: 2}}),
			crashed('web-7f-a'),
			crashed('web-7f-b'),
			node,
		],
		answer:
			'Deployment web does not progress: all 2 of its newest pods crash; container app of pod web-7f-a exited with 3 after 40 ms, 4 times; its last words: `Error: no DATABASE_URL`.',
		chain: ['deployment/web', 'replicaset/web-7f', 'pod/web-7f-a', 'container app'],
		next: restart,
	},
	{
		title: 'a job that took too long',
		objects: [
			failedJob('DeadlineExceeded', 'Job was active longer than specified deadline', {
				activeDeadlineSeconds: 5,
				ttlSecondsAfterFinished: 60,
			}),
			node,
		],
		answer: 'Job sum failed: it was active for longer than 5 s (activeDeadlineSeconds).',
		chain: ['job/sum'],
		next: ['it is deleted (ttlSecondsAfterFinished)', 55],
	},
	{
		title: 'a job with failed indexes',
		objects: [
			failedJob('FailedIndexes', 'Job has failed indexes', {completions: 5, completionMode: 'Indexed'}, {failedIndexes: '1,3-4'}),
			node,
		],
		answer: 'Job sum failed: 3 of its indexes failed: 1,3-4.',
		chain: ['job/sum'],
	},
	{
		title: 'a job whose failure policy ends it',
		objects: [
			failedJob('PodFailurePolicy', 'Container app for pod default/sum-x failed with exit code 42 matching FailJob rule at index 0'),
			jobPod(aJob({}), 42),
			node,
		],
		answer:
			'Job sum failed: a rule of its podFailurePolicy ended it: Container app for pod default/sum-x failed with exit code 42 matching FailJob rule at index 0; container app of pod sum-x exited with 42 after 40 ms; its last words: `disk full`.',
		chain: ['job/sum', 'pod/sum-x', 'container app'],
	},
	{
		title: 'a suspended job',
		objects: [aJob({conditions: [{type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended'}]}, {suspend: true})],
		answer: 'Job sum is suspended.',
		chain: ['job/sum'],
	},
	{
		title: 'a job that waits after a failure',
		objects: [aJob({failed: 1, failuresInARow: 1, lastFailureTime: at(4)}, {backoffLimit: 6}), jobPod(aJob({}), 2), node],
		answer:
			'Job sum waits after a failure: 1 pod of the 7 that end it failed; container app of pod sum-x exited with 2 after 40 ms; its last words: `disk full`.',
		chain: ['job/sum', 'pod/sum-x', 'container app'],
		next: ['the next pod is made', 6],
	},
	{
		title: 'a suspended cron job',
		objects: [cron({suspend: true})],
		answer: 'CronJob tick is suspended: it makes no jobs.',
		chain: ['cronjob/tick'],
		next: ['it goes on when spec.suspend is false'],
	},
	{
		title: 'a cron job in a time zone that is none',
		objects: [cron({timeZone: 'Mars/Olympus'})],
		answer: 'CronJob tick makes no jobs: its schedule */5 * * * * cannot be read: ',
		chain: ['cronjob/tick'],
		next: ['it goes on when its schedule or time zone is another one'],
	},
	{
		title: 'a cron job whose job before is not over',
		objects: [
			cron({concurrencyPolicy: 'Forbid'}),
			{...aJob({active: 1}, {}, 'tick-1'), metadata: {...aJob({}, {}, 'tick-1').metadata, ownerReferences: [ownedBy(cron({}))]}},
			podWith('tick-1-x', waiting('CreateContainerConfigError', 'secret "key" not found'), {owner: aJob({}, {}, 'tick-1')}),
			node,
		],
		events: {
			'cronjobs/default/tick': [
				event('JobAlreadyActive', 'Not starting job because prior execution is running and concurrency policy is Forbid', {type: 'Normal'}),
			],
		},
		answer:
			'CronJob tick makes no job now: job tick-1 is not over, and its concurrencyPolicy is Forbid; that job does not progress: its pod waits for what it names; container app of pod tick-1-x waits: secret "key" not found.',
		chain: ['cronjob/tick', 'job/tick-1', 'pod/tick-1-x', 'container app'],
		next: ['the job that is due is made when tick-1 is over'],
	},
	{
		title: 'a cron job that was too late',
		objects: [cron({startingDeadlineSeconds: 10}, {lastScheduleTime: at(900), lastMissedTime: at(200)})],
		answer: 'CronJob tick missed a start: it was too late for 2023-11-14T22:10:00Z: its startingDeadlineSeconds are 10.',
		chain: ['cronjob/tick'],
		next: ['the next job is due', 100],
	},
	{
		title: 'a claim that no pod uses',
		objects: [claim({})],
		answer: 'PersistentVolumeClaim data has no volume yet: no pod uses it.',
		chain: ['persistentvolumeclaim/data'],
		next: ['its volume is made on the node of the first pod that uses it'],
	},
	{
		title: 'a claim whose pod has no node',
		objects: [claim({}), unplaced('a', '0/1 nodes fit', {spec: withClaim}), node],
		answer: 'PersistentVolumeClaim data has no volume yet: its volume is made where its first pod goes, and pod a has no node.',
		chain: ['persistentvolumeclaim/data'],
		next: ['its volume is made when one of them gets a node'],
	},
	{
		title: 'a claim that no volume fits',
		objects: [claim({storageClassName: ''})],
		answer: 'PersistentVolumeClaim data has no volume: no volume that is there fits it, and it names no storage class.',
		chain: ['persistentvolumeclaim/data'],
	},
	{
		title: 'a claim whose volume is on a silent node',
		objects: [
			claim({volumeName: 'pv-1'}, {phase: 'Bound'}),
			volume(
				{
					...onNodeA,
					claimRef: {
						kind: 'PersistentVolumeClaim',
						apiVersion: 'v1',
						namespace: 'default',
						name: 'data',
						uid: 'uid-of-PersistentVolumeClaim-data',
					},
				},
				'Bound',
			),
			silentNode('NodeSuspect', 'no beat of the agent', false),
		],
		answer: 'PersistentVolumeClaim data cannot be used now: its volume is on node node-a, which is not heard.',
		chain: ['persistentvolumeclaim/data', 'node/node-a'],
	},
	{
		title: 'a claim that has lost its volume',
		objects: [claim({volumeName: 'pv-9'}, {phase: 'Lost'})],
		answer: 'PersistentVolumeClaim data is lost: its volume pv-9 is gone, and what was in it.',
		chain: ['persistentvolumeclaim/data'],
	},
	{
		title: 'a claim that a pod still uses',
		objects: [
			claim({}, {phase: 'Bound'}, {...deleting, finalizers: ['kubernetes.io/pvc-protection']}),
			podWith('a', runs(), {spec: withClaim}),
		],
		answer: 'PersistentVolumeClaim data is being deleted: pod a still uses it.',
		chain: ['persistentvolumeclaim/data'],
		next: ['it goes when no pod uses it'],
	},
	{
		title: 'a volume that nobody claims any more',
		objects: [volume({claimRef: {namespace: 'default', name: 'data', uid: 'x'}}, 'Released')],
		answer: 'PersistentVolume pv-1 is not free: its claim default/data is gone, and it keeps what was in it.',
		chain: ['persistentvolume/pv-1'],
	},
	{
		title: 'a node that is lost',
		objects: [silentNode('NodeLost', 'nothing is heard of the node; its pods are replaced', true)],
		answer: 'Node node-a has been lost for 20 s: nothing is heard of the node; its pods are replaced.',
		chain: ['node/node-a'],
		next: ['it comes back when its agent is heard; troupe agent on that host starts it'],
	},
	{
		title: 'a node whose Docker Engine is gone',
		objects: [
			aNode({
				status: {
					conditions: [
						ready,
						{
							type: 'DockerNotReady',
							status: 'True',
							reason: 'EngineGone',
							message: "Docker's Engine cannot be reached: there is nothing at unix:///d: start Docker",
							lastTransitionTime: at(5),
						},
					],
				},
			}),
		],
		answer: "Node node-a runs no pods of Docker now: Docker's Engine cannot be reached: there is nothing at unix:///d: start Docker.",
		chain: ['node/node-a'],
		next: ['as soon as its Docker Engine answers, they go on; those that run, run on'],
	},
	{
		title: 'a node that is cordoned',
		objects: [aNode({spec: {unschedulable: true}})],
		answer: 'Node node-a takes no new pods: it is cordoned; 0 pods of before stay.',
		chain: ['node/node-a'],
		next: ['troupe uncordon node-a opens it again'],
	},
	{
		title: 'a healthy node',
		objects: [node, readyOf('a', set)],
		answer: 'Nothing is wrong with Node node-a: it is heard, and has 1 pod.',
		chain: ['node/node-a'],
		next: null,
	},
	{
		title: 'a namespace that a finalizer holds',
		objects: [
			{...aNamespace('old'), metadata: {...aNamespace('old').metadata, ...deleting}},
			podWith('a', runs(), {metadata: {namespace: 'old', ...deleting, deletionGracePeriodSeconds: 0, finalizers: ['example.com/backup']}}),
			podWith('b', runs(), {metadata: {namespace: 'old', ...deleting}}),
		],
		answer:
			'Namespace old is being deleted: 2 objects are left: 2 pods; pod/a is being deleted: its finalizer example.com/backup holds it.',
		chain: ['namespace/old', 'pod/a'],
		next: ['it goes when nothing is left in it'],
	},
	{
		title: 'a budget that allows nothing, since a pod crashes',
		objects: [
			aBudget({
				spec: {minAvailable: 2},
				status: {
					expectedPods: 2,
					currentHealthy: 1,
					desiredHealthy: 2,
					conditions: [{type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods'}],
				},
			}),
			readyOf('a', set),
			crashed('b'),
			node,
		],
		answer:
			'PodDisruptionBudget web allows no evictions: 1 of its 2 pods is healthy, and 2 must be; pod/b crashes: its container app exited with 3 after 40 ms, 4 times; its last words: `Error: no DATABASE_URL`.',
		chain: ['poddisruptionbudget/web', 'pod/b', 'container app'],
		next: ['it allows one when enough of them are ready'],
	},
	{
		title: 'a function that nobody calls',
		objects: [aFunction({desired: 0, instances: 0, ready: 0, conditions: [withCode]})],
		answer: 'Nothing is wrong with Function add: nobody calls it; the next call begins an instance.',
		chain: ['function/add'],
		next: null,
	},
	{
		title: 'a function with a trigger for a kind that there is not',
		objects: [
			kindWith(
				...(['troupe.dev/v1', 'Function', 'add'] as const),
				{userUploadFilePath: 'add', triggers: [{name: 'all', objects: {kind: 'Unicorn'}}]},
				{conditions: [withCode]},
			),
		],
		answer: 'Function add has a trigger "all" that never sees anything: there is no kind "Unicorn".',
		chain: ['function/add'],
		next: ['its objects.kind has to be one that there is'],
	},
	{
		title: 'a workflow with a trigger for a kind that is misspelt',
		objects: [
			kindWith(
				...(['troupe.dev/v1', 'Workflow', 'order'] as const),
				{
					definition: {},
					triggers: [
						{name: 'pods', schedule: '* * * * *'},
						{name: 'all', objects: {kind: 'Podd'}},
					],
				},
				{revisionName: 'order-1'},
			),
		],
		answer: 'Workflow order has a trigger "all" that never sees anything: there is no kind "Podd".',
		chain: ['workflow/order'],
		next: ['its objects.kind has to be one that there is, such as pods'],
	},
	{
		title: 'a function whose code nobody has uploaded',
		objects: [aFunction({conditions: [{type: 'Callable', status: 'False', reason: 'NoCode', message: 'its code is not here'}]})],
		answer: 'Function add cannot be called: its code is not in the cluster.',
		chain: ['function/add'],
		next: ['troupe apply -f with its manifest uploads the folder that it names'],
	},
	{
		title: 'a function whose instances are refused',
		objects: [
			aFunction({
				conditions: [
					{
						type: 'Callable',
						status: 'False',
						reason: 'FailedCreate',
						message: 'Error creating: replicasets.apps "add-1" is forbidden: no more of them',
					},
				],
			}),
		],
		answer: 'Function add gets no instances: its ReplicaSet is refused: no more of them.',
		chain: ['function/add'],
	},
	{
		title: 'a function that is called for the first time',
		objects: [aFunction({desired: 2, conditions: [withCode]})],
		answer: 'Function add has no instance yet: the first one is being made.',
		chain: ['function/add'],
	},
	{
		title: 'a function whose pods are refused',
		objects: [
			aFunction({desired: 1, instances: 0, ready: 0, conditions: [withCode]}),
			webSet('add-1', {
				metadata: {ownerReferences: [ownedBy(called)]},
				spec: {replicas: 1},
				status: {
					replicas: 0,
					readyReplicas: 0,
					conditions: [{type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'no more of them'}],
				},
			}),
		],
		answer: 'Function add has 0 of 1 instance ready: its ReplicaSet has 0 of 1 pod: its pods are refused: no more of them.',
		chain: ['function/add', 'replicaset/add-1'],
	},
	{
		title: 'a function whose code cannot be loaded, in Node.js',
		objects: [
			called,
			setOfCalled,
			podWith(
				'add-1-a',
				backOff(ended(1, {message: "func.mjs:1\nSyntaxError: Unexpected token ')'\n    at wrapSafe (node:internal)\n\nNode.js v20.20.2"})),
				{owner: setOfCalled},
			),
			node,
		],
		answer:
			"Function add has 0 of 1 instance ready: its instance crashes; container app of pod add-1-a exited with 1 after 40 ms, 4 times; its last words: `SyntaxError: Unexpected token ')'`.",
		chain: ['function/add', 'replicaset/add-1', 'pod/add-1-a', 'container app'],
		next: restart,
	},
	{
		title: 'a function that takes calls and shares them with a version that there is not',
		objects: [
			aFunction({
				desired: 2,
				instances: 2,
				ready: 2,
				conditions: [
					withCode,
					{type: 'TrafficKnown', status: 'False', reason: 'UnknownRevision', message: 'spec.traffic names revision 9'},
				],
			}),
		],
		answer: 'Function add does not share its calls as it should: spec.traffic names revision 9.',
		chain: ['function/add'],
		next: ['troupe rollout history tells which versions there are'],
	},
	{
		title: 'a ConfigMap that a pod names',
		objects: [
			kindWith('v1', 'ConfigMap', 'menu', undefined, undefined),
			podWith('a', runs(), {spec: {volumes: [{name: 'm', configMap: {name: 'menu'}}]}}),
		],
		answer: 'Nothing is wrong with ConfigMap menu: 1 pod names it.',
		chain: ['configmap/menu'],
		next: null,
	},
	{
		title: 'an autoscaler whose target is not there',
		objects: [autoscaled(['AbleToScale', 'False', 'FailedGetScale', 'deployment "web" not found'])],
		answer: 'HorizontalPodAutoscaler web scales nothing: deployment "web" not found.',
		chain: ['horizontalpodautoscaler/web'],
		next: ['it tries again every few seconds'],
	},
	{
		title: 'an autoscaler of what is switched off',
		objects: [autoscaled(['ScalingActive', 'False', 'ScalingDisabled', 'x'])],
		answer: 'HorizontalPodAutoscaler web is switched off: what it scales has 0 replicas.',
		chain: ['horizontalpodautoscaler/web'],
		next: ['it goes on once that is scaled to 1 or more'],
	},
	{
		title: 'the second autoscaler of one target',
		objects: [autoscaled(['ScalingActive', 'False', 'AmbiguousSelector', 'deployment/web is scaled by hpa/first already'])],
		answer: 'HorizontalPodAutoscaler web scales nothing: deployment/web is scaled by hpa/first already.',
		chain: ['horizontalpodautoscaler/web'],
		next: ['delete one of the two'],
	},
	{
		title: 'an autoscaler of pods that request nothing',
		objects: [autoscaled(['ScalingActive', 'False', 'FailedGetResourceMetric', 'missing request for cpu in container a of Pod b'])],
		answer: 'HorizontalPodAutoscaler web does not know what its pods use: missing request for cpu in container a of Pod b.',
		chain: ['horizontalpodautoscaler/web'],
		next: ['say in the template what each container requests (resources.requests): a part of that is what is measured'],
	},
	{
		title: 'an autoscaler of which nobody says how long the queue is',
		objects: [autoscaled(['ScalingActive', 'False', 'FailedGetExternalMetric', 'no message came on "jobs" in the last 60 s'])],
		answer: 'HorizontalPodAutoscaler web does not know what it scales by: no message came on "jobs" in the last 60 s.',
		chain: ['horizontalpodautoscaler/web'],
		next: ['it looks again every few seconds, and takes no pods away until it knows'],
	},
	{
		title: 'an autoscaler that was overruled, and has overruled',
		objects: [autoscaled(['ScalingActive', 'True', 'ValidMetricFound', ''])],
		answer:
			'Nothing is wrong with HorizontalPodAutoscaler web: it keeps deployment/web at 4 replicas (cpu: 90%/50%); its last change was from 1 to 4: replicas of deployment/web were set to 1 by eve.',
		chain: ['horizontalpodautoscaler/web'],
		next: null,
	},
	{
		title: 'a Deployment that an autoscaler scales',
		objects: [
			aDeployment({spec: {replicas: 3, template}, status: {readyReplicas: 3, updatedReplicas: 3, replicas: 3}}),
			webSet('web-7f', {status: {replicas: 3, readyReplicas: 3}}),
			...['a', 'b', 'c'].map(name => readyOf(`web-7f-${name}`, set)),
			node,
			autoscaled(['ScalingActive', 'True', 'ValidMetricFound', '']),
			anHpa({name: 'later', metadata: {creationTimestamp: '2023-11-14T22:00:01Z'}}),
		],
		answer: 'Nothing is wrong with Deployment web: all 3 of its pods are ready; horizontalpodautoscaler/web says how many there are.',
		chain: ['deployment/web', 'horizontalpodautoscaler/web'],
		next: null,
	},
	{
		title: 'a StatefulSet that an autoscaler scales, and whose pod crashes',
		objects: [
			stateful(),
			readyOf('db-0', stateful()),
			crashed('db-1', stateful()),
			node,
			anHpa({name: 'by-memory', spec: {scaleTargetRef: {apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db'}}}),
		],
		answer: 'StatefulSet db waits for pod db-1: it crashes; container app of pod db-1 exited with 3',
		chain: ['statefulset/db', 'horizontalpodautoscaler/by-memory', 'pod/db-1', 'container app'],
		next: restart,
	},
	{
		title: 'a single pod of which an autoscaler makes copies',
		objects: [
			aReadyPod({name: 'solo'}),
			node,
			anHpa({name: 'copies', spec: {scaleTargetRef: {apiVersion: 'v1', kind: 'Pod', name: 'solo'}}}),
		],
		answer: 'Nothing is wrong with Pod solo: it is ready on node node-a; horizontalpodautoscaler/copies says how many there are.',
		chain: ['pod/solo', 'horizontalpodautoscaler/copies'],
	},
	{
		title: 'a SlurmJob whose login node is not there',
		objects: [
			aSlurmJob(
				{},
				{
					phase: 'Running',
					jobId: '7',
					conditions: [
						{type: 'Reachable', status: 'False', reason: 'Unreachable', message: 'login:22 cannot be reached: connect ECONNREFUSED'},
					],
				},
			),
		],
		answer: 'SlurmJob matrix does not go on (Running): login:22 cannot be reached: connect ECONNREFUSED.',
		chain: ['slurmjob/matrix'],
		next: ['it is tried again'],
	},
	{
		title: 'a SlurmJob that waits in the queue',
		objects: [
			aSlurmJob({}, {phase: 'Queued', jobId: '7', state: 'PENDING', reason: 'Resources', queuePosition: 3, estimatedStart: at(-90)}),
		],
		answer: 'SlurmJob matrix waits in the queue of Slurm: Resources, place 3.',
		chain: ['slurmjob/matrix'],
		next: ['Slurm starts it', 90],
	},
	{
		title: 'a SlurmJob that does not compile',
		objects: [
			aSlurmJob(
				{},
				{
					phase: 'Failed',
					outcome: {phase: 'Failed', reason: 'CompileFailed', message: 'compileCommands ended with exit code 1: no such file: matrix.cu'},
				},
			),
		],
		answer: 'SlurmJob matrix has failed: compileCommands ended with exit code 1: no such file: matrix.cu.',
		chain: ['slurmjob/matrix'],
		next: ['troupe logs slurmjob/matrix shows what it has written'],
	},
	{
		title: 'a pod that is over',
		objects: [podWith('a', statusOf(ended(0)), {spec: {restartPolicy: 'Never'}, status: {phase: 'Succeeded'}})],
		answer: 'Pod a is over: all its containers ended well.',
		chain: ['pod/a'],
		next: null,
	},
	{
		title: 'a deployment that is gone, as it was last',
		isGone: true,
		objects: [web, set, crashed('web-7f-a'), node],
		answer:
			'Deployment web does not progress: 1 of its 3 pods crashes; container app of pod web-7f-a exited with 3 after 40 ms, 4 times; its last words: `Error: no DATABASE_URL`.',
		chain: ['deployment/web', 'replicaset/web-7f', 'pod/web-7f-a', 'container app'],
	},
];
