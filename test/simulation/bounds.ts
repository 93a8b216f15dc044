// Quotas and disruption budgets: what people ask for and evict, and what must hold at every moment. I17 and I18 say it in words.

import {isConditionTrue} from '../../api/conditions.js';
import {objectKey} from '../../api/keys.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {PodDisruptionBudget} from '../../api/kinds/poddisruptionbudget.js';
import type {ResourceQuota} from '../../api/kinds/resourcequota.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {podRequests} from '../../api/pod-resources.js';
import {cpuMillis} from '../../api/quantity.js';
import {matches} from '../../api/selector.js';
import {budgetsOf, isEvictedFreely, type DisruptPod} from '../../actors/control/pods/disruption-budget.js';
import type {SimulatedCluster} from './cluster.js';
import type {Deed} from './plan.js';
import type {Spy} from './spies.js';

type Of<Type extends Deed['type']> = Extract<Deed, {type: Type}>;

const over: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);
const isOver = ({status}: Pod): boolean => over.has(status?.phase ?? '');
const isHealthy = (pod: Pod): boolean =>
	!isOver(pod) && pod.metadata.deletionTimestamp === undefined && isConditionTrue(pod.status?.conditions, 'Ready');

export class Bounds {
	readonly #cluster: SimulatedCluster;
	/** Whether anybody ever asked for a quota: what it refuses is asked for again ever more rarely. */
	isAsked = false;
	/** Since when a quota is there. */
	readonly #sinceMs = new Map<string, number>();
	/** By uid of a budget: pods that were given out and are not deleted yet, and when. */
	readonly #given = new Map<string, Map<string, number>>();
	/** By address of a budget: who was healthy when an eviction was asked for last. */
	readonly #healthy = new Map<string, ReadonlySet<string>>();

	constructor(cluster: SimulatedCluster) {
		this.#cluster = cluster;
	}

	// ---- what clients ask for ------------------------------------------------------------------------------------------

	createQuota({quota: name, hard}: Of<'createQuota'>): void {
		this.isAsked = true;
		const draft = {apiVersion: 'v1', kind: 'ResourceQuota', metadata: {name, namespace: 'default'}, spec: {hard}};
		this.#cluster.create('resourcequotas', draft, () => undefined);
	}

	createBudget({set, minAvailable}: Of<'createBudget'>): void {
		const spec = {minAvailable, selector: {matchLabels: {set}}};
		const draft = {apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: {name: set, namespace: 'default'}, spec};
		this.#cluster.create('poddisruptionbudgets', draft, () => undefined);
	}

	/** As the eviction subresource does it: the budget is asked, and then the pod is deleted as it was. */
	evict(share: number): void {
		const index = this.#cluster.control?.index;
		const pods = this.#cluster.pods();
		const pod = pods[Math.floor(share * pods.length)];
		if (pod === undefined || index === undefined) return;
		const {name, uid, resourceVersion = ''} = pod.metadata;
		const remove = (preconditions: object): void =>
			this.#cluster.askRecord(objectKey('pods', 'default', name), {type: 'delete', ...preconditions}, outcome =>
				this.#cluster.note(`eviction of ${name}: ${outcome.ok ? 'acknowledged' : outcome.error.message}`),
			);
		const [budget] = budgetsOf(pod, index);
		if (budget === undefined) return;
		if (isEvictedFreely(pod)) return remove({uid, resourceVersion});
		const message: DisruptPod = {type: 'disrupt', pod: name, uid, dryRun: false};
		this.#cluster.askRecord(objectKey('poddisruptionbudgets', 'default', budget.metadata.name), message, outcome => {
			if (!outcome.ok) return this.#cluster.note(`eviction of ${name}: ${outcome.error.message}`);
			const isGiven = Object.hasOwn((outcome.value as PodDisruptionBudget).status?.disruptedPods ?? {}, name);
			remove(isGiven ? {uid} : {uid, resourceVersion});
		});
	}

	/** Once all is quiet quotas go: others may have the places that sets need. */
	unsettled(): string[] {
		return this.#cluster.objects('resourcequotas').map(({metadata}) => {
			this.#cluster.askRecord(objectKey('resourcequotas', 'default', metadata.name), {type: 'delete'}, () => undefined);
			return `I5: quota ${metadata.name} has to go`;
		});
	}

	// ---- what is committed ---------------------------------------------------------------------------------------------

	onChange(before: ApiObject | undefined, after: ApiObject | undefined): void {
		const object = after ?? before;
		if (object?.kind === 'ResourceQuota' && before === undefined) this.#sinceMs.set(object.metadata.uid, this.#nowMs());
		if (object?.kind === 'Pod') this.#onPod(before as Pod | undefined, after as Pod | undefined);
		if (object?.kind === 'PodDisruptionBudget' && after !== undefined) this.#onBudget(before as PodDisruptionBudget, after);
	}

	#nowMs(): number {
		return this.#cluster.world.clock.nowMs();
	}

	#onPod(before: Pod | undefined, after: Pod | undefined): void {
		if (after === undefined || after.metadata.deletionTimestamp !== undefined)
			for (const given of this.#given.values()) given.delete((after ?? before)?.metadata.name ?? '');
		if (before === undefined && after !== undefined) for (const quota of this.#quotas()) this.#checkQuota(quota, after);
	}

	/** One that has been there for as long as what was let through before it may take. */
	#quotas(): ResourceQuota[] {
		const quotas = this.#cluster.objects('resourcequotas') as ResourceQuota[];
		return quotas.filter(({metadata}) => this.#nowMs() - (this.#sinceMs.get(metadata.uid) ?? this.#nowMs()) > limits.askDeadlineMs);
	}

	/** I17: with the new pod there are no more than may be. */
	#checkQuota({metadata, spec}: ResourceQuota, pod: Pod): void {
		const there = [...this.#cluster.invariants.pods()].filter(each => !isOver(each));
		const used = {
			pods: there.length,
			'requests.cpu': there.reduce((sum, each) => sum + (each.spec === undefined ? 0 : podRequests(each.spec).cpuMillis), 0),
		};
		const {pods, 'requests.cpu': cpu} = spec?.hard ?? {};
		if (pods !== undefined && used.pods > Number(pods))
			this.#cluster.invariants.broken(`I17: ${pod.metadata.name} is pod number ${used.pods} with quota ${metadata.name} of ${pods}`);
		if (cpu !== undefined && used['requests.cpu'] > (cpuMillis(String(cpu)) ?? 0))
			this.#cluster.invariants.broken(
				`I17: with ${pod.metadata.name} ${used['requests.cpu']} thousandths of a cpu are asked for, of ${cpu}`,
			);
	}

	/** I18: what is given out leaves as many healthy pods as must be there, as things were when it was decided. */
	#onBudget(before: PodDisruptionBudget | undefined, after: ApiObject): void {
		const {metadata, spec, status} = after as PodDisruptionBudget;
		const known = this.#given.get(metadata.uid) ?? new Map<string, number>();
		this.#given.set(metadata.uid, known);
		const fresh = Object.keys(status?.disruptedPods ?? {}).filter(name => !Object.hasOwn(before?.status?.disruptedPods ?? {}, name));
		const healthy = this.#healthy.get(metadata.name);
		for (const [name, atMs] of known) if (this.#nowMs() - atMs >= limits.disruptionMs) known.delete(name);
		for (const name of fresh) known.set(name, this.#nowMs());
		if (fresh.length === 0 || healthy === undefined || typeof spec?.minAvailable !== 'number') return;
		const left = [...healthy].filter(name => !known.has(name)).length;
		if (left < spec.minAvailable)
			this.#cluster.invariants.broken(
				`I18: ${fresh.join()} may be evicted, and ${left} healthy pods are left of ${spec.minAvailable} with budget ${metadata.name}`,
			);
	}

	/** Of budgets: who is healthy at the moment of a decision. */
	readonly spy: Spy = {
		told: (self, message) => {
			if (message.type !== 'disrupt') return;
			const name = self.slice(self.lastIndexOf('.') + 1);
			const budget = this.#cluster.invariants.truth(objectKey('poddisruptionbudgets', 'default', name)) as PodDisruptionBudget | undefined;
			const selector = budget?.spec?.selector;
			if (selector === undefined) return;
			const pods = [...this.#cluster.invariants.pods()].filter(pod => matches(selector, pod.metadata.labels) && isHealthy(pod));
			this.#healthy.set(name, new Set(pods.map(({metadata}) => metadata.name)));
		},
	};
}
