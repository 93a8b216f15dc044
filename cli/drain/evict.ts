// Evicts the pods of one node and follows them until they are gone: what happens is heard by a watch, never asked for.

import {AppError, rowOf} from '../../api/errors.js';
import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import type {JsonObject} from '../../api/object.js';
import {systemClock} from '../../system/time/clock.js';
import type {Client} from '../client.js';
import {causesOf} from '../cluster/status-error.js';
import {createDeferred} from '../../system/time/deferred.js';
import {pathOf, resourceOf} from '../cluster/resources.js';
import {failedError} from '../command.js';
import {waitUntil, type Deadline, type Wanted} from '../objects/wait.js';
import {choosePods, podName, type DrainFlags} from './choose.js';
import {HeldPods, type Held} from './held.js';
import {Turns} from './turns.js';

export type DrainOptions = DrainFlags & {
	/** Seconds; undefined: what each pod asks for. */
	readonly graceSeconds: number | undefined;
	readonly podSelector: string | undefined;
	/** By DELETE instead of an Eviction. */
	readonly disableEviction: boolean;
	readonly dryRun: boolean;
};

export type DrainProgress = {
	readonly total: number;
	readonly gone: number;
	/** `namespace/name` of those still there. */
	readonly left: readonly string[];
};

export type Watcher = {
	readonly onGone: (pod: Pod) => void;
	/** A disruption budget holds the pod back: told once. */
	readonly onHeld: (pod: Pod, cause: string) => void;
	readonly onProgress: (progress: DrainProgress) => void;
};

const pods = resourceOf('pods');

/** The query that finds the pods of a node. */
export const podsOf = (node: string, {podSelector}: DrainOptions) => ({
	fieldSelector: `spec.nodeName=${node}`,
	labelSelector: podSelector,
});

/**
 * Resolves when the node has none of these pods any more, those that came meanwhile included. Throws when one cannot be evicted, or
 * when the deadline passed.
 */
export async function evictAll(
	client: Client,
	{node, known}: {readonly node: string; readonly known: readonly Pod[]},
	options: DrainOptions,
	watcher: Watcher,
	deadline: Deadline,
): Promise<void> {
	/** What has failed goes on with nothing: another node may be next. */
	const over = new AbortController();
	const signal = AbortSignal.any([deadline.signal, over.signal]);
	const evictions = new Evictions(client, known, options, watcher, signal);
	const wanted: Wanted = {
		resource: pods,
		namespace: undefined,
		query: podsOf(node, options),
		isDone: objects => evictions.look([...objects.values()] as readonly Pod[]),
		what: () => evictions.standing(),
	};
	try {
		await Promise.race([evictions.failed, waitUntil(client, wanted, {...deadline, signal})]);
	} finally {
		over.abort();
	}
}

/** The pods of one node on their way out. */
class Evictions {
	readonly #client: Client;
	readonly #options: DrainOptions;
	readonly #watcher: Watcher;
	readonly #signal: AbortSignal;
	readonly #turns: Turns;
	readonly #held: HeldPods;
	readonly #failure = createDeferred();
	/** By uid: all that ever were there. */
	readonly #seen: Map<string, Pod>;
	readonly #gone = new Set<string>();
	readonly #asked = new Set<string>();
	#left: readonly Pod[];

	constructor(client: Client, known: readonly Pod[], options: DrainOptions, watcher: Watcher, signal: AbortSignal) {
		this.#client = client;
		this.#options = options;
		this.#watcher = watcher;
		this.#signal = signal;
		this.#turns = new Turns(limits.evictionsUnderWay, signal);
		this.#held = new HeldPods(client, signal, pod => this.#inTurn(pod));
		this.#seen = new Map(known.map(pod => [pod.metadata.uid, pod]));
		this.#left = known;
	}

	/** Never resolves; rejects when a pod cannot be evicted. */
	get failed(): Promise<void> {
		return this.#failure.promise;
	}

	/** What is still to go, and why. */
	standing(): string {
		const left = this.#left.map(pod => standingText(pod, this.#held.causeOf(pod)));
		return `${left.length} of ${this.#seen.size} pods to go: ${left.join(', ')}`;
	}

	/** Takes in which pods are there now, and asks those to go that were not asked yet; whether none is left. */
	look(there: readonly Pod[]): boolean {
		const {evict, refusals} = choosePods(there, this.#options);
		if (refusals.length > 0) throw failedError(refusals.join('\n'));
		this.#left = evict;
		for (const pod of evict) this.#ask(pod);
		this.#tellGone(new Set(evict.map(({metadata}) => metadata.uid)));
		this.#watcher.onProgress({total: this.#seen.size, gone: this.#gone.size, left: evict.map(podName)});
		return evict.length === 0;
	}

	#ask(pod: Pod): void {
		const {uid, deletionTimestamp} = pod.metadata;
		this.#seen.set(uid, pod);
		if (this.#asked.has(uid) || deletionTimestamp !== undefined) return;
		this.#asked.add(uid);
		void this.#evict(pod).catch((error: unknown) => this.#failure.reject(error));
	}

	#tellGone(there: ReadonlySet<string>): void {
		for (const [uid, pod] of this.#seen) {
			if (there.has(uid) || this.#gone.has(uid)) continue;
			this.#gone.add(uid);
			this.#watcher.onGone(pod);
		}
	}

	/** One that waits for a budget takes nobody's turn. */
	async #evict(pod: Pod): Promise<void> {
		const by = await this.#inTurn(pod);
		if (by === undefined) return;
		this.#watcher.onHeld(pod, by.cause);
		await this.#held.add(pod, by);
	}

	#inTurn(pod: Pod): Promise<Held | undefined> {
		return this.#turns.run(() => evictOne(this.#client, pod, this.#options, {signal: this.#signal}));
	}
}

const standingText = (pod: Pod, cause: string | undefined): string =>
	`${podName(pod)} (${pod.metadata.deletionTimestamp === undefined ? (cause ?? 'not asked to end yet') : 'terminating'})`;

/** Asks for one eviction; again where that can help. A pod that is gone already is fine; which budget refuses it, is the answer. */
export async function evictOne(
	client: Client,
	pod: Pod,
	options: DrainOptions,
	deadline: Pick<Deadline, 'signal'>,
): Promise<Held | undefined> {
	for (;;) {
		try {
			await client.json({...requestOf(pod, options), signal: deadline.signal});
			return undefined;
		} catch (error) {
			if (deadline.signal.aborted) return undefined; // The wait tells.
			if (!(error instanceof AppError)) throw error;
			if (error.code === 'ERR_NOT_FOUND') return undefined;
			if (error.code === 'ERR_DISRUPTION_BUDGET') return heldBy(error);
			const {retryable, exitCode} = rowOf(error.code);
			if (!retryable || exitCode === 5) throw failedError(`${podName(pod)} cannot be evicted: ${error.message}`);
			await new Promise<void>(resolve => systemClock.after(limits.evictionAgainMs, resolve));
		}
	}
}

function heldBy(error: AppError): Held {
	const {name} = error.failure.details;
	const [cause] = causesOf(error);
	return {budget: typeof name === 'string' ? name : '', cause: cause?.message ?? error.message};
}

function requestOf({metadata: {namespace, name, uid}}: Pod, {graceSeconds, disableEviction, dryRun}: DrainOptions) {
	const deleteOptions: JsonObject = {
		// Another pod of that name is not meant.
		preconditions: {uid},
		...(graceSeconds === undefined ? {} : {gracePeriodSeconds: graceSeconds}),
		...(dryRun ? {dryRun: ['All']} : {}),
	};
	return disableEviction
		? ({method: 'DELETE', path: pathOf(pods, namespace, name), body: deleteOptions} as const)
		: ({
				method: 'POST',
				path: pathOf(pods, namespace, name, 'eviction'),
				body: {apiVersion: 'policy/v1', kind: 'Eviction', metadata: {name, namespace: namespace ?? ''}, deleteOptions},
			} as const);
}
