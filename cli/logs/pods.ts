// The pods whose logs are followed, as they are now, for as long as the command runs.

import type {Pod} from '../../api/kinds/pod.js';
import type {Client} from '../client.js';
import type {List} from '../cluster/lists.js';
import {pathOf, resourceOf} from '../cluster/resources.js';
import {watch} from '../cluster/watch.js';
import type {Patience} from './patience.js';
import type {Signal} from './signal.js';
import type {PodSearch} from './wish.js';

export type FollowedPods = {
	/** By uid. */
	readonly pods: ReadonlyMap<string, Pod>;
	/** Why they cannot be followed any more. */
	readonly failure: () => Error | undefined;
	/** Ends the watch. */
	readonly close: () => void;
};

/** Lists the pods of a search; what is not found is no error. */
export async function listPods(client: Client, namespace: string, {query, isMeant}: PodSearch): Promise<readonly Pod[]> {
	const list = (await client.json({path: pathOf(resourceOf('pods'), namespace), query})) as List;
	return ((list.items ?? []) as readonly Pod[]).filter(isMeant);
}

/** Follows all searches, and raises the signal at each change. Resolves when each was listed once; throws when that fails. */
export async function followPods(
	client: Client,
	namespace: string,
	searches: readonly PodSearch[],
	patience: () => Patience,
	signal: Signal,
): Promise<FollowedPods> {
	const pods = new Map<string, Pod>();
	const closing = new AbortController();
	let failure: Error | undefined;
	const path = pathOf(resourceOf('pods'), namespace);

	/** What the list has not is gone. */
	async function list({query, isMeant}: PodSearch, mine: Set<string>): Promise<string | undefined> {
		const {items, metadata} = (await client.json({path, query})) as List;
		const found = new Map(((items ?? []) as readonly Pod[]).filter(isMeant).map(pod => [pod.metadata.uid, pod]));
		for (const uid of [...mine])
			if (!found.has(uid)) {
				mine.delete(uid);
				pods.delete(uid);
			}
		for (const [uid, pod] of found) {
			mine.add(uid);
			pods.set(uid, pod);
		}
		signal.raise();
		return metadata?.resourceVersion;
	}

	async function follow(search: PodSearch, mine: Set<string>, from: string | undefined): Promise<void> {
		for (let version = from, tries = patience(); !closing.signal.aborted;) {
			try {
				const query = {...search.query, resourceVersion: version};
				for await (const {type, object} of watch(client, {path, query, signal: closing.signal})) {
					const pod = object as Pod;
					const {uid} = pod.metadata;
					if (type === 'DELETED') {
						mine.delete(uid);
						pods.delete(uid);
					} else if (search.isMeant(pod)) {
						mine.add(uid);
						pods.set(uid, pod);
					}
					tries = patience();
					signal.raise();
				}
				version = await list(search, mine);
			} catch (error) {
				if (closing.signal.aborted) return;
				await tries.wait(error);
				version = await list(search, mine).catch(() => version);
			}
		}
	}

	const begun = await Promise.all(
		searches.map(async search => {
			const mine = new Set<string>();
			return {search, mine, version: await list(search, mine)};
		}),
	);
	for (const {search, mine, version} of begun)
		void follow(search, mine, version).catch((error: unknown) => {
			failure ??= error instanceof Error ? error : new Error(String(error));
			signal.raise();
		});
	return {pods, failure: () => failure, close: () => closing.abort()};
}
