// Which pods a node has to take, and which have to leave it, as its taints say; counted by the world's own clock.

import type {NodeObject, Taint} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import {unreachableTaint} from '../../api/rules/taints.js';
import {nodeKey} from '../../actors/addresses.js';
import type {SimulatedCluster} from './cluster.js';

/** Since when a taint or a pod is there is kept in whole seconds, and committed a little later. */
const earlyMs = 1_500;
/** A taint may be taken away while somebody is being sent away for it. */
const underWayMs = 1_000;
/** How much later than its time a pod may be told to leave. */
const lateMs = 2_000;

/** A cordon is a taint that a pod may bear. */
const cordon = {key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule'} as const;

export class Taints {
	readonly #cluster: SimulatedCluster;
	/** Taints that make pods leave, by node and key. */
	readonly #times = new Map<string, {readonly taint: Taint; readonly sinceMs: number; endedMs: number | undefined}>();
	/** Since when each pod is where it is. */
	readonly #boundMs = new Map<string, number>();

	constructor(cluster: SimulatedCluster) {
		this.#cluster = cluster;
	}

	/** What is learned now happened some time ago. */
	isLoading = false;

	onNode(node: string, object: NodeObject | undefined): void {
		const nowMs = this.isLoading ? Number.NEGATIVE_INFINITY : this.#nowMs();
		const taints = expelling(object);
		for (const [key, time] of this.#times)
			if (key.startsWith(`${node}/`) && !taints.some(taint => key === `${node}/${taint.key}`)) time.endedMs ??= nowMs;
		for (const taint of taints) {
			const key = `${node}/${taint.key}`;
			if (this.#times.get(key)?.endedMs !== undefined || !this.#times.has(key))
				this.#times.set(key, {taint, sinceMs: nowMs, endedMs: undefined});
		}
	}

	/** I9: no pod is bound to a node that takes none, or none that does not bear its taints. */
	onBind(pod: Pod | undefined, node: string): void {
		const record = this.#record(node);
		if (pod === undefined || record === undefined) return;
		const {name} = pod.metadata;
		if (record.spec?.unschedulable === true && borneMs(pod, cordon) === undefined)
			this.#cluster.invariants.broken(`I9: pod ${name} is bound to ${node}, which is cordoned`);
		const taint = record.spec?.taints?.find(each => each.effect !== 'PreferNoSchedule' && borneMs(pod, each) === undefined);
		if (taint !== undefined) this.#cluster.invariants.broken(`I9: pod ${name} is bound to ${node}, and does not bear ${taint.key}`);
	}

	/** I9: nobody is sent away by a taint before its time. */
	onPod(before: Pod | undefined, pod: Pod): void {
		const {uid, name, deletionTimestamp} = pod.metadata;
		const node = pod.spec?.nodeName;
		if (node !== before?.spec?.nodeName) this.#boundMs.set(uid, this.isLoading ? Number.NEGATIVE_INFINITY : this.#nowMs());
		const isSent = pod.status?.conditions?.some(({type, reason}) => type === 'DisruptionTarget' && reason === 'DeletionByTaintManager');
		if (node === undefined || isSent !== true || deletionTimestamp === undefined || before?.metadata.deletionTimestamp !== undefined)
			return;
		if (this.#cluster.hasJumpedClocks) return;
		const taints = [...this.#times].flatMap(([key, {taint, endedMs = Number.POSITIVE_INFINITY}]) =>
			key.startsWith(`${node}/`) && endedMs + underWayMs >= this.#nowMs() ? [taint] : [],
		);
		const isDue = taints.some(taint => this.#untilDueMs(pod, node, taint) <= earlyMs);
		if (!isDue) this.#cluster.invariants.broken(`I9: pod ${name} has to leave ${node} before its time`);
	}

	/** I9: a taint was there for so long, by a control plane that was well: who does not bear it so long has left. */
	onEnd(node: string, forMs: number): void {
		const {hasJumpedClocks, crashesWanted, invariants, hearing} = this.#cluster;
		if (hasJumpedClocks || crashesWanted > 0 || !hearing.isWellFor(forMs + lateMs) || !this.#cluster.isStoreWell) return;
		for (const taint of expelling(this.#record(node)))
			for (const pod of this.#cluster.pods()) {
				const isThere = pod.spec?.nodeName === node && pod.metadata.deletionTimestamp === undefined && !over.has(pod.status?.phase ?? '');
				if (isThere && this.#untilDueMs(pod, node, taint) < -lateMs)
					invariants.broken(`I9: pod ${pod.metadata.name} is still on ${node} and does not bear ${taint.key} any more`);
			}
	}

	/** How long the pod still bears the taint. */
	#untilDueMs(pod: Pod, node: string, taint: Taint): number {
		const sinceMs = Math.max(this.#times.get(`${node}/${taint.key}`)?.sinceMs ?? this.#nowMs(), this.#boundMs.get(pod.metadata.uid) ?? 0);
		return sinceMs + (borneMs(pod, taint) ?? 0) - this.#nowMs();
	}

	#record(node: string): NodeObject | undefined {
		return this.#cluster.invariants.truth(nodeKey(node)) as NodeObject | undefined;
	}

	#nowMs(): number {
		return this.#cluster.world.clock.nowMs();
	}
}

const over: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);

const expelling = (node: NodeObject | undefined): readonly Taint[] =>
	(node?.spec?.taints ?? []).filter(({key, effect}) => effect === 'NoExecute' && key !== unreachableTaint);

/** How long a pod bears a taint; undefined: not at all. */
function borneMs({spec}: Pod, {key, value = '', effect}: Taint): number | undefined {
	const bearing = (spec?.tolerations ?? []).filter(
		toleration =>
			['', key].includes(toleration.key ?? '') &&
			(toleration.effect ?? effect) === effect &&
			(toleration.operator === 'Exists' || (toleration.value ?? '') === value),
	);
	if (bearing.length === 0) return undefined;
	return Math.min(...bearing.map(({tolerationSeconds}) => (tolerationSeconds ?? Number.POSITIVE_INFINITY) * 1_000));
}
