// The instances of a function, and which of them takes the next call.

import {functionInstanceOf} from '../../../api/function-instance.js';
import type {FunctionObject} from '../../../api/kinds/function.js';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import type {Known} from '../../../system/index/object-index.js';
import {isDeleting} from '../objects/garbage.js';
import {isReady, isTerminal} from '../pods/pod-lifecycle.js';
import {ownedPods} from '../workloads/census.js';
import {revisionOf} from '../workloads/revisions.js';
import type {Slot} from './function-message.js';
import {isApart, isNewest, versionOfSet} from './function-version.js';

export type Instance = Slot & {
	readonly revision: number;
	/** The word for it. */
	readonly version: string;
	/** Calls at most. */
	readonly concurrency: number;
	/** It takes calls; one that goes, or is not ready any more, only ends those that it has. */
	readonly takesCalls: boolean;
	/** Of the calls that it has. */
	readonly tickets: readonly string[];
};

export type Instances = ReadonlyMap<string, Instance>;

/** As the index has them now, with the calls that each has. One that is gone stays until its calls are over. */
export function instancesNow(
	fn: FunctionObject | undefined,
	known: Known,
	{instances: old, revision}: {readonly instances: Instances; readonly revision?: number},
): Instances {
	const now = new Map<string, Instance>();
	for (const instance of fn === undefined ? [] : presentOf(fn, known, revision))
		now.set(instance.uid, {...instance, tickets: old.get(instance.uid)?.tickets ?? []});
	for (const [uid, instance] of old) if (!now.has(uid) && instance.tickets.length > 0) now.set(uid, {...instance, takesCalls: false});
	return now;
}

function* presentOf(fn: FunctionObject, known: Known, wanted: number | undefined): Iterable<Omit<Instance, 'tickets'>> {
	for (const set of known.byOwner(fn.metadata.uid)) {
		if (set.kind !== 'ReplicaSet' || !isMeant(fn, set as ReplicaSet, wanted)) continue;
		const [revision, version] = [revisionOf(set), versionOfSet(set as ReplicaSet) ?? ''];
		for (const pod of ownedPods(set, known)) {
			const node = pod.spec?.nodeName;
			const said = functionInstanceOf(pod.metadata.annotations);
			if (node === undefined || said === undefined || isTerminal(pod) || !isReady(pod)) continue;
			const {uid, name} = pod.metadata;
			yield {uid, pod: name, node, revision, version, concurrency: said.concurrency, takesCalls: !isDeleting(pod)};
		}
	}
}

/**
 * Whether instances of the set take calls of the version with that number; undefined: those that say no number, which are for the newest version. Older
 * ones take such calls in its place, unless versions share the calls, or only runs call them that began with them.
 */
export function isMeant(fn: FunctionObject, set: ReplicaSet, wanted: number | undefined): boolean {
	if (wanted !== undefined) return revisionOf(set) === wanted;
	return isNewest(fn, set) || (fn.spec?.traffic === undefined && !isApart(fn, revisionOf(set)));
}

/** What a call wants of its instance. */
export type Wish = {
	readonly avoid: readonly string[];
	/** The only version that it may go to, by its word; undefined: any. */
	readonly version?: string | undefined;
};

/** Of those that have room the newest version's, and of these the least busy one. */
export function leastBusy(instances: Instances, {avoid, version}: Wish): Instance | undefined {
	let best: Instance | undefined;
	for (const instance of instances.values()) {
		const {takesCalls, tickets, concurrency, uid} = instance;
		if (!takesCalls || tickets.length >= concurrency || avoid.includes(uid)) continue;
		if (version !== undefined && instance.version !== version) continue;
		if (best === undefined || isBetter(instance, best)) best = instance;
	}
	return best;
}

const isBetter = (a: Instance, b: Instance): boolean =>
	a.revision !== b.revision ? a.revision > b.revision : a.tickets.length < b.tickets.length;

export const withTicket = (instances: Instances, instance: Instance, ticket: string): Instances =>
	new Map(instances).set(instance.uid, {...instance, tickets: [...instance.tickets, ticket]});

/** Undefined: no instance has that call. */
export function withoutTicket(instances: Instances, ticket: string): Instances | undefined {
	for (const [uid, instance] of instances)
		if (instance.tickets.includes(ticket))
			return new Map(instances).set(uid, {...instance, tickets: instance.tickets.filter(each => each !== ticket)});
	return undefined;
}
