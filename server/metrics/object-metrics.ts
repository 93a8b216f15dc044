// The objects of the cluster in figures: how many of each kind and phase, what containers wait for, and how many replicas there are of those that there
// should be. Nothing is named, so there are as many series with ten objects as with a million.

import {kinds} from '../../api/catalogue.js';
import {conditionOf, isConditionTrue} from '../../api/conditions.js';
import type {KindDefinition} from '../../api/kind.js';
import {parseObjectKey} from '../../api/keys.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {gauge, type Metric, type Sample} from '../../api/metrics.js';
import type {ApiObject, Condition} from '../../api/object.js';
import {unschedulableReason} from '../../actors/control/pods/pod-lifecycle.js';
import {unbound} from '../../actors/control/pods/pod-terms.js';
import type {ObjectIndex} from '../../system/index/object-index.js';

type Phases = {readonly all: readonly string[]; readonly of: (object: ApiObject) => string | undefined};

const byStatus = (...all: readonly string[]): Phases => ({all, of: ({status}) => (status as {readonly phase?: string} | undefined)?.phase});

const conditionsOf = ({status}: ApiObject): readonly Condition[] | undefined =>
	(status as {readonly conditions?: readonly Condition[]} | undefined)?.conditions;

/** By plural; objects of other kinds have no phase. */
const phasesOf: ReadonlyMap<string, Phases> = new Map([
	['pods', byStatus('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown')],
	['namespaces', byStatus('Active', 'Terminating')],
	['persistentvolumes', byStatus('Pending', 'Available', 'Bound', 'Released', 'Failed')],
	['persistentvolumeclaims', byStatus('Pending', 'Bound', 'Lost')],
	['runs', byStatus('Pending', 'Running', 'Suspended', 'Succeeded', 'Failed', 'Cancelled')],
	['nodes', {all: ['Ready', 'NotReady', 'Unknown'], of: nodePhase}],
	['jobs', {all: ['Active', 'Complete', 'Failed'], of: jobPhase}],
]);

function nodePhase(object: ApiObject): string {
	switch (conditionOf((object as NodeObject).status?.conditions, 'Ready')?.status) {
		case 'True':
			return 'Ready';
		case 'False':
			return 'NotReady';
		default:
			return 'Unknown';
	}
}

function jobPhase(job: ApiObject): string {
	return ['Complete', 'Failed'].find(type => isConditionTrue(conditionsOf(job), type)) ?? 'Active';
}

/** Reasons for which a container waits; any other one is `other`. */
const waitingReasons = [
	'ContainerCreating',
	'PodInitializing',
	'CrashLoopBackOff',
	'ImagePullBackOff',
	'ErrImagePull',
	'CreateContainerConfigError',
];
const other = 'other';

/** Kinds with replicas: how many there should be, and how many are ready. */
const replicasOf: ReadonlyMap<string, readonly [string, string]> = new Map([
	['deployments', ['replicas', 'readyReplicas']],
	['statefulsets', ['replicas', 'readyReplicas']],
	['replicasets', ['replicas', 'readyReplicas']],
	['daemonsets', ['desiredNumberScheduled', 'numberReady']],
]);

type Tally = {
	readonly objects: Map<string, Map<string, number>>;
	readonly waiting: Map<string, number>;
	readonly replicas: Map<string, {desired: number; ready: number}>;
	unschedulable: number;
};

/** `pause` lets others run: no more than `limits.metricsTurnObjects` are looked at in a turn. */
export async function objectMetrics(index: ObjectIndex, pause: () => Promise<void>): Promise<readonly Metric[]> {
	const tally = emptyTally();
	let looked = 0;
	for (const {key, object} of index.all()) {
		count(tally, parseObjectKey(key).plural, object);
		if (++looked % limits.metricsTurnObjects === 0) await pause();
	}
	return [
		gauge(
			'troupe_objects',
			'Objects of the cluster, by kind, and by phase where the kind has any.',
			kinds.flatMap(kind => objectSamples(kind, tally)),
		),
		gauge('troupe_scheduler_waiting_pods', 'Pods that have no node.', [{value: index.countByTerm('pods', unbound)}]),
		gauge('troupe_scheduler_unschedulable_pods', 'Pods that fit on no node as it is now.', [{value: tally.unschedulable}]),
		gauge(
			'troupe_containers_waiting',
			'Containers of pods that wait, by reason.',
			[...waitingReasons, other].map(reason => ({labels: {reason}, value: tally.waiting.get(reason) ?? 0})),
		),
		gauge(
			'troupe_replicas',
			'Replicas of all objects of a kind together: those that there should be, and those that are ready.',
			[...tally.replicas].flatMap(([plural, {desired, ready}]) => {
				const kind = kinds.find(each => each.plural === plural)?.kind ?? plural;
				return [
					{labels: {kind, state: 'desired'}, value: desired},
					{labels: {kind, state: 'ready'}, value: ready},
				];
			}),
		),
	];
}

function emptyTally(): Tally {
	const replicas = new Map([...replicasOf.keys()].map(plural => [plural, {desired: 0, ready: 0}]));
	return {objects: new Map(), waiting: new Map(), replicas, unschedulable: 0};
}

function objectSamples({kind, plural}: KindDefinition, {objects}: Tally): readonly Sample[] {
	const counts = objects.get(plural);
	return (phasesOf.get(plural)?.all ?? ['']).map(phase => ({labels: {kind, phase}, value: counts?.get(phase) ?? 0}));
}

function count(tally: Tally, plural: string, object: ApiObject): void {
	const phases = phasesOf.get(plural);
	const said = phases?.of(object) ?? '';
	// One that is not said yet is the first.
	const phase = phases === undefined || phases.all.includes(said) ? said : (phases.all[0] ?? '');
	const counts = tally.objects.get(plural) ?? new Map<string, number>();
	tally.objects.set(plural, counts.set(phase, (counts.get(phase) ?? 0) + 1));
	if (plural === 'pods') return countPod(tally, object as Pod);
	const sum = tally.replicas.get(plural);
	const [desired, ready] = replicasOf.get(plural) ?? [];
	if (sum === undefined || desired === undefined || ready === undefined) return;
	const {spec, status} = object as ApiObject<Partial<Record<string, unknown>>, Partial<Record<string, unknown>>>;
	sum.desired += numberOf((plural === 'daemonsets' ? status : spec)?.[desired]);
	sum.ready += numberOf(status?.[ready]);
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

function countPod(tally: Tally, {status}: Pod): void {
	const scheduled = conditionOf(status?.conditions, 'PodScheduled');
	if (scheduled?.status === 'False' && scheduled.reason === unschedulableReason) tally.unschedulable++;
	for (const {state} of status?.containerStatuses ?? []) {
		const reason = state?.waiting?.reason;
		if (state?.waiting === undefined) continue;
		const known = waitingReasons.includes(reason ?? '') ? (reason ?? other) : other;
		tally.waiting.set(known, (tally.waiting.get(known) ?? 0) + 1);
	}
}
