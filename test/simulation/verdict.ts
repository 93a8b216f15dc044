// What must hold once all is quiet: what was asked for is there, it runs where it should, nothing else is left, and nobody writes.

import {isConditionTrue} from '../../api/conditions.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {cpuMillis} from '../../api/quantity.js';
import {isLost} from '../../actors/control/pods/eviction.js';
import {requirementsOf} from '../../actors/control/pods/pod-requirements.js';
import type {Promised} from './clients.js';
import type {Stage} from './acts.js';
import type {SimulatedCluster, SimulatedNode} from './cluster.js';
import {hasSidecars, sidecarNames} from './sidecars.js';

/** What is not as it should be; empty when all is. */
export function unsettled({cluster, clients, watcher}: Stage): string[] {
	if (cluster.control === undefined) return ['I5: control did not come back'];
	return [
		...[...clients.sets].flatMap(([name, promised]) => ofSet(cluster, name, promised)),
		...cluster.invariants.rollouts.unsettled(),
		...clients.named.unsettled(),
		...clients.jobs.unsettled(),
		...clients.services.unsettled(),
		...cluster.invariants.bounds.unsettled(),
		...cluster.invariants.autoscaled.unsettled(),
		...clients.claims.unsettled(name => clients.deletePod(name, undefined)),
		...[...clients.pods].flatMap(([name, state]) => ofPod(cluster, name, state)),
		...cluster.nodes.flatMap(node => ofNode(cluster, node)),
		...waiting(cluster),
		...[...clients.closed].map(name => {
			clients.openNode(name);
			return `I5: ${name} may still have a taint`;
		}),
		...clients.configureAll().map(name => `I5: ${name} is to be made again`),
		...(clients.releaseAll() ? ['I5: a pod is still held'] : []),
		...cluster.programs.ends.ofAll(cluster.pods(), cluster.nodes),
		...(watcher?.missedSilently(cluster.invariants.changes) ?? []).map(change => `I3: ${change} was missed and no gap shows it`),
	];
}

/** I2 and I5: what was acknowledged is there, and as many pods run as were asked for. */
function ofSet(cluster: SimulatedCluster, name: string, {replicas, open, program}: Promised): string[] {
	const found: string[] = [];
	const set = cluster.objects('replicasets').find(({metadata}) => metadata.name === name) as ReplicaSet | undefined;
	const wanted = set?.spec?.replicas;
	if (wanted !== replicas && ![...open.values()].includes(wanted))
		found.push(`I2: ${name}: ${replicas ?? 'its deletion'} was acknowledged, found ${wanted ?? 'nothing'}`);
	const pods = cluster.pods().filter(({metadata}) => metadata.labels?.['set'] === name);
	if (pods.length !== (wanted ?? 0)) found.push(`I5: ${name}: ${wanted ?? 0} pods are wanted, there are ${pods.length}`);
	if (program === 'fails') return found;
	for (const pod of pods)
		if (!isReady(pod)) found.push(`I5: ${name}: pod ${pod.metadata.name} is not ready: ${JSON.stringify(pod.status)}`);
	if (set !== undefined && set.status?.readyReplicas !== wanted)
		found.push(`I5: ${name}: its status says ${set.status?.readyReplicas} of ${wanted} ready`);
	return found;
}

function ofPod(cluster: SimulatedCluster, name: string, state: 'promised' | 'leaving' | 'deleted'): string[] {
	const pod = cluster.pods().find(({metadata}) => metadata.name === name);
	if (state === 'promised' && pod === undefined) return [`I2: pod ${name} was acknowledged and is gone`];
	if (state === 'deleted' && pod !== undefined) return [`I2: the deletion of pod ${name} was acknowledged and it is there`];
	return pod === undefined || isReady(pod) ? [] : [`I5: pod ${name} is not ready: ${JSON.stringify(pod.status)}`];
}

/** I9: nobody waits who would fit, were those gone that count less. */
function waiting(cluster: SimulatedCluster): string[] {
	const pods = cluster.pods();
	const nodes = cluster.objects('nodes') as readonly NodeObject[];
	return pods.flatMap(pod => {
		if (pod.spec === undefined || pod.spec.nodeName !== undefined || pod.metadata.deletionTimestamp !== undefined) return [];
		const requirements = requirementsOf(pod.spec);
		const place = nodes.find(({metadata, status}) => {
			const others = pods.flatMap(({spec}) =>
				spec?.nodeName === metadata.name && (spec.priority ?? 0) >= requirements.priority ? [requirementsOf(spec)] : [],
			);
			const free = (cpuMillis(status?.allocatable?.['cpu'] ?? '') ?? 0) - others.reduce((sum, other) => sum + other.cpuMillis, 0);
			return free >= requirements.cpuMillis && !others.some(({ports}) => ports.some(port => requirements.ports.includes(port)));
		});
		return place === undefined ? [] : [`I9: pod ${pod.metadata.name} waits and has its place on ${place.metadata.name}`];
	});
}

const isOver = ({status}: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
const isReady = (pod: Pod): boolean => isConditionTrue(pod.status?.conditions, 'Ready');

/** I5: each pod runs where it is bound, and nothing else is on the host, in the node's cache or among its actors. */
function ofNode(cluster: SimulatedCluster, {name, programs, system}: SimulatedNode): string[] {
	const found: string[] = [];
	const record = cluster.objects('nodes').find(({metadata}) => metadata.name === name) as NodeObject | undefined;
	if (record === undefined || !isConditionTrue(record.status?.conditions, 'Ready') || isLost(record))
		found.push(`I5: the record of ${name} says ${JSON.stringify({taints: record?.spec?.taints, conditions: record?.status?.conditions})}`);
	const pods = new Map(cluster.pods().map(pod => [pod.metadata.uid, pod]));
	for (const uid of programs.pods.keys())
		if (pods.get(uid)?.spec?.nodeName !== name) found.push(`I5: ${name} still holds ${uid}, which is not its pod`);
	for (const object of system?.index.list('assignments') ?? [])
		if (pods.get(object.metadata.uid)?.spec?.nodeName !== name) found.push(`I5: the cache of ${name} still holds ${object.metadata.name}`);
	for (const [uid, {isLost: isDead}] of programs.pods) {
		const pod = pods.get(uid);
		if (isDead && pod !== undefined && !isOver(pod))
			found.push(`I5: the sandbox of ${pod.metadata.name} on ${name} has died, and is as it was`);
	}
	for (const pod of pods.values()) {
		if (pod.spec?.nodeName !== name || pod.spec.containers[0]?.image.startsWith('exit') === true || isOver(pod)) continue;
		for (const container of ['main', ...(hasSidecars(pod) ? sidecarNames : [])]) {
			const running = programs.find({uid: pod.metadata.uid, container});
			if (running === undefined || running.exit !== undefined) found.push(`I5: ${pod.metadata.name}/${container} does not run on ${name}`);
		}
	}
	return found;
}

/** Sets whose programs keep failing write now and then, at the pace of their back-off. */
export const isRestless = ({clients}: Stage): boolean =>
	[...clients.sets.values()].some(({program, replicas, open}) => program === 'fails' && (replicas !== undefined || open.size > 0));

const restMs = 2_000;
/** A node at rest beats, control looks at it and hears itself. */
const stepsAtRest = 270;
const writesOfFailing = 40;

/** I7: when nothing changes any more, nothing is written any more, and nobody is busy; what fails is tried ever more rarely. */
export function restless(stage: Stage, ms = restMs): string[] {
	const {cluster} = stage;
	const before = cluster.control?.pipeline.meta.version ?? 0;
	const stepsBefore = cluster.world.steps;
	cluster.world.run(ms);
	const writes = (cluster.control?.pipeline.meta.version ?? 0) - before;
	const steps = cluster.world.steps - stepsBefore;
	const failing = isRestless(stage);
	const found: string[] = [];
	// What a volume takes of its disk is counted now and then: once it is told, and nothing changes, that is all.
	const counted = ms > restMs ? 2 * cluster.objects('persistentvolumes').length : 0;
	if (writes > (failing ? writesOfFailing * Math.ceil(ms / restMs) : counted))
		found.push(`I7: an idle cluster wrote ${writes} versions in ${ms} ms`);
	if (!failing && steps > (stepsAtRest * cluster.nodes.length * ms) / restMs)
		found.push(`I7: an idle cluster took ${steps} steps in ${ms} ms`);
	return found;
}
