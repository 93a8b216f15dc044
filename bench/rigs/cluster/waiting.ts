// The one place where tests and rigs wait: for events of the API with a deadline, and for what the kernel tells nobody, by looking.

import type {ApiObject} from '../../../api/object.js';
import type {Client} from '../../../cli/client.js';
import type {List} from '../../../cli/cluster/lists.js';
import {pathOf, resourceOf} from '../../../cli/cluster/resources.js';
import {watch} from '../../../cli/cluster/watch.js';
import {systemClock} from '../../../system/time/clock.js';

const deadlineMs = 20_000;
const lookMs = 20;
/** How long one look may take. */
const longestLookMs = 60_000;

/** Looks again and again until it is so. Rejects after 20 s, or what is given; `about` tells then how things stood. */
export function eventually(
	what: string,
	isSo: () => boolean | Promise<boolean>,
	about: () => string = () => '',
	withinMs = deadlineMs,
): Promise<void> {
	const untilMs = systemClock.monotonicMs() + withinMs;
	return new Promise((resolve, reject) => {
		const look = async (): Promise<void> => {
			const fromMs = systemClock.monotonicMs();
			if (await within(`a look whether ${what}`, Promise.resolve(isSo()), about, longestLookMs)) return resolve();
			const nowMs = systemClock.monotonicMs();
			// A look that costs much is not what the machine shall be busy with.
			if (nowMs < untilMs) systemClock.after(Math.max(lookMs, 5 * (nowMs - fromMs)), again);
			else reject(new Error(`waited too long until ${what}. ${about()}`));
		};
		const again = (): void => void look().catch(reject);
		again();
	});
}

/** What the promise gives. Rejects after a minute, or what is given; `about` tells then how things stood. */
export async function within<Value>(
	what: string,
	promise: Promise<Value>,
	about: () => string = () => '',
	withinMs = 60_000,
): Promise<Value> {
	let cancel = (): void => undefined;
	const late = new Promise<never>((_resolve, reject) => {
		cancel = systemClock.after(withinMs, () => reject(new Error(`waited too long for ${what}. ${about()}`)));
	});
	try {
		return await Promise.race([promise, late]);
	} finally {
		cancel();
	}
}

export type Change = {readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ApiObject};

export type Following = {
	/** What was there at the beginning, as ADDED, and every change since. */
	readonly changes: readonly Change[];
	/** By name: what is there now. */
	readonly objects: ReadonlyMap<string, ApiObject>;
	/** Resolves as soon as it is so. Rejects after 20 s, or when the watch ended. */
	readonly until: <Found>(what: string, look: (objects: ReadonlyMap<string, ApiObject>) => Found | undefined | false) => Promise<Found>;
	readonly close: () => void;
};

/** Follows all objects of a kind in a namespace by a list and the watch that goes on from it. */
export async function followObjects(client: Client, kind: string, namespace = 'default'): Promise<Following> {
	const resource = resourceOf(kind);
	const path = pathOf(resource, namespace);
	const list = (await client.json({path})) as List;
	const objects = new Map<string, ApiObject>();
	const changes: Change[] = [];
	const waiting = new Set<() => void>();
	const abort = new AbortController();
	let ending: string | undefined;
	const take = (change: Change): void => {
		changes.push(change);
		const {name} = change.object.metadata;
		if (change.type === 'DELETED') objects.delete(name);
		else objects.set(name, change.object);
		for (const look of waiting) look();
	};
	for (const object of list.items ?? []) take({type: 'ADDED', object});
	const pump = async (): Promise<void> => {
		try {
			const query = {resourceVersion: list.metadata?.resourceVersion};
			for await (const {type, object} of watch(client, {path, query, signal: abort.signal})) take({type, object: object as ApiObject});
			ending = 'the server ended the watch';
		} catch (error) {
			ending = error instanceof Error ? error.message : String(error);
		}
		for (const look of waiting) look();
	};
	void pump();
	return {
		changes,
		objects,
		until: (what, look) =>
			new Promise((resolve, reject) => {
				const finish = (settle: () => void): void => {
					cancel();
					waiting.delete(check);
					settle();
				};
				const fail = (why: string): void =>
					finish(() => reject(new Error(`${why}, waiting for ${what}; there is: ${JSON.stringify([...objects.values()].map(shortened))}`)));
				const cancel = systemClock.after(deadlineMs, () => fail('too long'));
				const check = (): void => {
					const found = look(objects);
					if (found !== undefined && found !== false) finish(() => resolve(found));
					else if (ending !== undefined) fail(ending);
				};
				waiting.add(check);
				check();
			}),
		close: () => abort.abort(),
	};
}

/** What a failed wait tells of an object. */
function shortened({metadata: {name, deletionTimestamp}, status}: ApiObject): object {
	const {phase, containerStatuses, conditions, ...rest} = (status ?? {}) as {[field: string]: unknown};
	if (containerStatuses === undefined) return {name, deletionTimestamp, phase, conditions, ...rest};
	return {name, deletionTimestamp, phase, containerStatuses};
}

/** Follows just until it is so; resolves with what was found. */
export async function until<Found>(
	client: Client,
	kind: string,
	what: string,
	look: (objects: ReadonlyMap<string, ApiObject>) => Found | undefined | false,
	namespace?: string,
): Promise<Found> {
	const following = await followObjects(client, kind, namespace);
	try {
		return await following.until(what, look);
	} finally {
		following.close();
	}
}
