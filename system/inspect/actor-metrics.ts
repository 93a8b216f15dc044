// What the actors of some systems do, in figures for a scraper: how many there are of each behaviour, what waits in their mailboxes, what they have counted.
// All systems of one sort are told together: there may be many of them in a process, and few sorts.

import {limits} from '../../api/limits.js';
import {counter, gauge, type Metric, type Sample} from '../../api/metrics.js';
import type {ActorSystem} from '../kernel/actor-system.js';
import type {Counters} from '../kernel/kernel.js';

/** `control`, `node`. */
export type Trees = {readonly [tree: string]: readonly ActorSystem[]};

type Tally = {actors: number; waiting: number};

type TreeTally = {
	readonly ofBehavior: ReadonlyMap<string, Tally>;
	readonly fullest: number;
	readonly parked: number;
};

/** By their member in what a system counts. */
export const actorCounters: readonly {readonly member: keyof Counters; readonly name: string; readonly help: string}[] = [
	{member: 'messages', name: 'troupe_actor_messages_total', help: 'Messages that actors have taken.'},
	{member: 'commits', name: 'troupe_actor_commits_total', help: 'Commits that actors have asked for and got.'},
	{member: 'deadLetters', name: 'troupe_actor_dead_letters_total', help: 'Messages that no actor took.'},
	{member: 'crashes', name: 'troupe_actor_crashes_total', help: 'Steps of actors that threw.'},
	{member: 'staleReplies', name: 'troupe_actor_stale_replies_total', help: 'Answers that came too late.'},
	{member: 'slowSteps', name: 'troupe_actor_slow_steps_total', help: 'Steps of actors that took too long.'},
];

/** `pause` lets others run: no more than `limits.metricsTurnObjects` actors are looked at in a turn. */
export async function actorMetrics(trees: Trees, pause: () => Promise<void>): Promise<readonly Metric[]> {
	const tallies: (readonly [string, TreeTally])[] = [];
	for (const [tree, systems] of Object.entries(trees)) tallies.push([tree, await tallyOf(systems, pause)]);
	const perBehavior = (valueOf: (tally: Tally) => number): readonly Sample[] =>
		tallies.flatMap(([tree, {ofBehavior}]) =>
			[...ofBehavior].map(([behavior, tally]) => ({labels: {tree, behavior}, value: valueOf(tally)})),
		);
	const perTree = (valueOf: (tally: TreeTally) => number): readonly Sample[] =>
		tallies.map(([tree, tally]) => ({labels: {tree}, value: valueOf(tally)}));
	return [
		gauge(
			'troupe_actors',
			'Living actors, by behaviour.',
			perBehavior(({actors}) => actors),
		),
		gauge(
			'troupe_actor_mailbox_messages',
			'Messages that wait in mailboxes, by behaviour.',
			perBehavior(({waiting}) => waiting),
		),
		gauge(
			'troupe_actor_mailbox_fullest_messages',
			'Messages that wait in the fullest mailbox.',
			perTree(({fullest}) => fullest),
		),
		gauge(
			'troupe_actors_parked',
			'Actors that rest, since they crashed again and again.',
			perTree(({parked}) => parked),
		),
		...actorCounters.map(({member, name, help}) =>
			counter(
				name,
				help,
				Object.entries(trees).map(([tree, systems]) => ({
					labels: {tree},
					value: systems.reduce((sum, each) => sum + each.counters[member], 0),
				})),
			),
		),
	];
}

async function tallyOf(systems: readonly ActorSystem[], pause: () => Promise<void>): Promise<TreeTally> {
	const ofBehavior = new Map<string, Tally>();
	let [fullest, parked, looked] = [0, 0, 0];
	for (const {kernel} of systems)
		for (const {behavior, mailbox, parked: rests} of kernel.cells.values()) {
			const tally = ofBehavior.get(behavior.kind) ?? {actors: 0, waiting: 0};
			ofBehavior.set(behavior.kind, tally);
			tally.actors++;
			tally.waiting += mailbox.length;
			fullest = Math.max(fullest, mailbox.length);
			if (rests !== undefined) parked++;
			if (++looked % limits.metricsTurnObjects === 0) await pause();
		}
	return {ofBehavior, fullest, parked};
}
