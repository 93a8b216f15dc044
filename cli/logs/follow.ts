// Logs as they are written: new pods as they come, until nothing is left that could write.

import type {AppError} from '../../api/errors.js';
import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {systemClock} from '../../system/time/clock.js';
import type {Client} from '../client.js';
import {getOne} from '../cluster/lists.js';
import {withNearest} from '../cluster/nearest.js';
import {resourceOf} from '../cluster/resources.js';
import type {Terminal} from '../screen/terminal.js';
import {failedError} from '../command.js';
import {followContainer, type FollowContext} from './container.js';
import {patienceOf, type Patience} from './patience.js';
import {followPods, type FollowedPods} from './pods.js';
import {createSignal} from './signal.js';
import {containersOf, sinks} from './streams.js';
import type {LogWish, PodSearch} from './wish.js';

export type Following = Pick<FollowContext, 'client' | 'terminal' | 'namespace' | 'wish'> & {readonly searches: readonly PodSearch[]};

/** Resolves when all that was found has ended for good. Throws when the cluster does not answer for long. */
export async function followLogs(following: Following): Promise<void> {
	const {client, terminal, namespace, searches} = following;
	const patience = troubleTeller(terminal);
	const signal = createSignal();
	const followed = await followPods(client, namespace, searches, patience, signal);
	try {
		await followAll(following, {followed, signal, patience});
	} finally {
		followed.close();
	}
}

type News = Pick<FollowContext, 'followed' | 'signal' | 'patience'>;

async function followAll({client, terminal, namespace, searches, wish}: Following, {followed, signal, patience}: News): Promise<void> {
	for (const search of searches) await noteMissing(client, terminal, namespace, search, followed);
	const mayBeSeveral = searches.length > 1 || wish.allContainers || searches.some(({name}) => name === undefined);
	const sinkOf = sinks(terminal, wish, wish.prefix ?? mayBeSeveral);
	const active = new Set<string>();
	const over = new Set<string>();
	let failure: Error | undefined;
	let isFirst = true;
	let isNoted = false;
	const begin = ({key, pod, container}: Place): void => {
		active.add(key);
		const one = {pod, container, sink: sinkOf(pod, container), isNamed: mayBeSeveral};
		void followContainer({client, terminal, namespace, wish, followed, signal, patience}, one)
			.catch((error: unknown) => (failure ??= error instanceof Error ? error : new Error(String(error))))
			.finally(() => {
				active.delete(key);
				over.add(key);
				signal.raise();
			});
	};
	const placesIn = placesOf(wish, terminal);
	for (;;) {
		const news = placesIn(followed).filter(({key}) => !active.has(key) && !over.has(key));
		if (isFirst && news.length > wish.atATime) throw tooMany(news.length, wish.atATime);
		isFirst = false;
		for (const place of news.slice(0, wish.atATime - active.size)) begin(place);
		const isFull = news.some(({key}) => !active.has(key));
		if (isFull && !isNoted) terminal.note(`note: ${wish.atATime} containers are followed, others wait; --max-log-requests takes more`);
		isNoted ||= isFull;
		if (over.size > 0 && active.size === 0) return;
		await signal.raised();
		const failed = failure ?? followed.failure();
		if (failed !== undefined) throw failed;
	}
}

type Place = {readonly key: string; readonly pod: Pod; readonly container: string};

/** Every container that is meant, in an order that does not depend on who came first. */
function placesOf(wish: LogWish, terminal: Terminal): (followed: FollowedPods) => readonly Place[] {
	/** By uid: which container of a pod is meant is told once. */
	const known = new Map<string, readonly string[]>();
	return ({pods}) =>
		[...pods.values()]
			.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
			.flatMap(pod => {
				const {uid} = pod.metadata;
				const containers = known.get(uid) ?? containersOf(pod, wish, terminal);
				known.set(uid, containers);
				return containers.map(container => ({key: `${uid}/${container}`, pod, container}));
			});
}

/** Says once that it goes on trying, however many connections were cut at the same time. */
function troubleTeller(terminal: Terminal): () => Patience {
	let quietUntilMs = 0;
	return () =>
		patienceOf((error: AppError) => {
			const nowMs = systemClock.monotonicMs();
			if (nowMs >= quietUntilMs) terminal.note(`note: ${error.message}; it is tried again`);
			quietUntilMs = nowMs + limits.repeatedLogMs;
		});
}

/** A person who waits for what is not there should know it: the name may be wrong. */
async function noteMissing(
	client: Client,
	terminal: Terminal,
	namespace: string,
	{name, what, isMeant}: PodSearch,
	{pods}: FollowedPods,
): Promise<void> {
	const isThere = [...pods.values()].some(pod => isMeant(pod) && (name === undefined || pod.metadata.name === name));
	if (isThere) return;
	const why = name === undefined ? `there are no ${what}` : await nearest(client, namespace, name);
	terminal.note(`note: ${why}; waiting`);
}

async function nearest(client: Client, namespace: string, name: string): Promise<string> {
	try {
		await getOne(client, resourceOf('pods'), namespace, name);
		return `pod "${name}" is new`;
	} catch (error) {
		return ((await withNearest(client, error)) as Error).message;
	}
}

const tooMany = (count: number, atATime: number): AppError =>
	failedError(
		`these are ${count} containers, and ${atATime} are followed at a time; --max-log-requests ${count} takes them all, -l or -c picks fewer`,
	);
