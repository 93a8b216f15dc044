// Pods that a disruption budget holds back for now. A watch of the budget tells when it lets the next ones go: it is not asked for each pod
// again and again.

import type {Pod} from '../../api/kinds/pod.js';
import type {PodDisruptionBudget} from '../../api/kinds/poddisruptionbudget.js';
import {limits} from '../../api/limits.js';
import type {Client} from '../client.js';
import {resourceOf} from '../cluster/resources.js';
import {deadlineOf, waitUntil} from '../objects/wait.js';

/** Who holds a pod back, and why in the server's words. */
export type Held = {readonly budget: string; readonly cause: string};

const budgets = resourceOf('poddisruptionbudgets');

/** Pods that wait for budgets, each budget followed once. */
export class HeldPods {
	readonly #client: Client;
	readonly #signal: AbortSignal;
	/** Asks for the eviction of a pod again; resolves when that is decided, with who holds it still. */
	readonly #evict: (pod: Pod) => Promise<Held | undefined>;
	/** By budget: what waits for it. */
	readonly #waiting = new Map<string, Pod[]>();
	readonly #causes = new Map<string, string>();

	constructor(client: Client, signal: AbortSignal, evict: (pod: Pod) => Promise<Held | undefined>) {
		this.#client = client;
		this.#signal = signal;
		this.#evict = evict;
	}

	/** Why the pod waits; undefined where it does not. */
	causeOf({metadata: {uid}}: Pod): string | undefined {
		return this.#causes.get(uid);
	}

	/** Resolves when no pod waits for this pod's budget any more: at once where another waits for it already. Throws what asking again throws. */
	async add(pod: Pod, {budget, cause}: Held): Promise<void> {
		const {namespace = '', uid} = pod.metadata;
		const key = `${namespace}/${budget}`;
		this.#causes.set(uid, cause);
		const others = this.#waiting.get(key);
		if (others !== undefined) {
			others.push(pod);
			return;
		}
		const waiting = [pod];
		this.#waiting.set(key, waiting);
		while (waiting.length > 0 && !this.#signal.aborted) {
			const allowed = await opening(this.#client, namespace, budget, this.#signal);
			const next = waiting.splice(0, Math.min(allowed, limits.evictionsUnderWay));
			await Promise.all(next.map(each => this.#again(each)));
		}
		this.#waiting.delete(key);
	}

	async #again(pod: Pod): Promise<void> {
		const held = await this.#evict(pod);
		if (held === undefined) this.#causes.delete(pod.metadata.uid);
		else await this.add(pod, held);
	}
}

/**
 * How many pods the budget lets go, as soon as it lets any: all of them when it is gone, and also after a while without news, since not all
 * that matters shows in it. 0 when the signal came first.
 */
async function opening(client: Client, namespace: string, name: string, signal: AbortSignal): Promise<number> {
	const patience = AbortSignal.any([signal, deadlineOf(`${limits.budgetAgainMs / 1_000}s`).signal]);
	let allowed = Number.POSITIVE_INFINITY;
	try {
		await waitUntil(
			client,
			{
				resource: budgets,
				namespace,
				query: {fieldSelector: `metadata.name=${name}`},
				isDone(objects) {
					const [budget] = [...objects.values()] as readonly PodDisruptionBudget[];
					allowed = budget === undefined ? Number.POSITIVE_INFINITY : (budget.status?.disruptionsAllowed ?? 0);
					return allowed > 0;
				},
				what: `budget ${name}`,
			},
			{signal: patience, text: ''},
		);
		return allowed;
	} catch (error) {
		if (signal.aborted) return 0;
		if (!patience.aborted) throw error;
		return Number.POSITIVE_INFINITY;
	}
}
