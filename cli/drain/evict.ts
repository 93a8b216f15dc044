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
	const seen = new Map(known.map(pod => [pod.metadata.uid, pod]));
	const gone = new Set<string>();
	const asked = new Set<string>();
	/** Pods that wait for their turn. */
	const queue: (() => void)[] = [];
	const failure = createDeferred();
	/** What has failed goes on with nothing: another node may be next. */
	const over = new AbortController();
	const signal = AbortSignal.any([deadline.signal, over.signal]);
	let working = 0;
	let left = known;
	const held = new HeldPods(client, signal, inTurn);

	try {
		const wanted: Wanted = {
			resource: pods,
			namespace: undefined,
			query: podsOf(node, options),
			isDone: objects => look([...objects.values()] as readonly Pod[]),
			what: () => `${left.length} of ${seen.size} pods to go: ${left.map(pod => standingText(pod, held.causeOf(pod))).join(', ')}`,
		};
		await Promise.race([failure.promise, waitUntil(client, wanted, {...deadline, signal})]);
	} finally {
		over.abort();
	}

	function look(there: readonly Pod[]): boolean {
		const {evict, refusals} = choosePods(there, options);
		if (refusals.length > 0) throw failedError(refusals.join('\n'));
		left = evict;
		const uids = new Set(evict.map(({metadata}) => metadata.uid));
		for (const pod of evict) {
			const {uid, deletionTimestamp} = pod.metadata;
			seen.set(uid, pod);
			if (asked.has(uid) || deletionTimestamp !== undefined) continue;
			asked.add(uid);
			void inTurn(pod)
				.then(cause => (cause === undefined ? undefined : hold(pod, cause)))
				.catch((error: unknown) => failure.reject(error));
		}
		for (const [uid, pod] of seen) {
			if (uids.has(uid) || gone.has(uid)) continue;
			gone.add(uid);
			watcher.onGone(pod);
		}
		watcher.onProgress({total: seen.size, gone: gone.size, left: left.map(podName)});
		return left.length === 0;
	}

	/** One that waits for a budget takes nobody's turn. */
	async function hold(pod: Pod, by: Held): Promise<void> {
		watcher.onHeld(pod, by.cause);
		await held.add(pod, by);
	}

	/** After a failure the turn is not given on: nothing more is asked. */
	async function inTurn(pod: Pod): Promise<Held | undefined> {
		await new Promise<void>(turn => {
			queue.push(turn);
			work();
		});
		const by = await evictOne(client, pod, options, {signal});
		working--;
		work();
		return by;
	}

	function work(): void {
		while (working < limits.evictionsUnderWay && !signal.aborted) {
			const turn = queue.shift();
			if (turn === undefined) return;
			working++;
			turn();
		}
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
