// A small, steady load on a web app from several networks at once, and what of it was lost, when, where and how.

import path from 'node:path';
import {lives} from '../cluster/processes.js';
import type {Owner} from '../owner.js';
import {startPart, type Remote} from '../remote.js';
import type {LoadPart} from './load-program.js';

export type Question = {
	readonly url: string;
	/** As the `Host` of the request, where it is not that of the address. */
	readonly host?: string | undefined;
	readonly timeoutMs: number;
};

/** One way to the app, and how often it is taken. */
export type Way = Question & {readonly name: string; readonly isKept: boolean; readonly everyMs: number};

export type Loss = {
	readonly way: string;
	/** When it was sent, in milliseconds since the epoch. */
	readonly atMs: number;
	readonly afterMs: number;
	readonly error: string;
};

export type LossesOfWay = {
	readonly way: string;
	readonly sent: number;
	readonly answered: number;
	/** Those that found their kept connection closed, and were answered on another one. */
	readonly again: number;
	readonly lostCount: number;
	/** Of those that were answered. */
	readonly slowestMs: number;
	/** The first of them. */
	readonly lost: readonly Loss[];
};

/** What one client has seen. */
export type Seen = {readonly client: string; readonly ways: readonly LossesOfWay[]};

export type Client = {
	readonly name: string;
	/** So many requests, each on a connection of its own; who answered, or `none: …`. */
	readonly ask: (question: Question, count: number) => Promise<readonly string[]>;
	readonly begin: (ways: readonly Way[]) => Promise<void>;
	readonly end: () => Promise<Seen>;
};

/**
 * A client in a network: `words` stand before its command, as of `nsenter`. Its process begins when it is first asked for, and anew where its host has
 * died; it ends with the owner.
 */
export function clientIn(owner: Owner, name: string, words: () => readonly string[] | Promise<readonly string[]>): Client {
	let part: Remote<LoadPart> | undefined;
	const its = async (): Promise<Remote<LoadPart>> => {
		if (part !== undefined && lives(part.pid)) return part;
		return (part = startPart(owner, program, ['--max-semi-space-size=1'], await words()));
	};
	return {
		name,
		ask: async (question, count) => (await its()).call('ask', {...question, count}),
		begin: async ways => (await its()).call('begin', ways),
		end: async () => ({client: name, ways: await (await its()).call('end', undefined)}),
	};
}

const program = path.join(import.meta.dirname, 'load-program.js');

/** All losses, the earliest first, each with its client. */
export const lossesOf = (seen: readonly Seen[]): readonly (Loss & {readonly client: string})[] =>
	seen.flatMap(({client, ways}) => ways.flatMap(({lost}) => lost.map(each => ({client, ...each})))).toSorted((a, b) => a.atMs - b.atMs);

/** By the ways' names, over all clients: for people. */
export function summaryOf(seen: readonly Seen[]): readonly string[] {
	const all = seen.flatMap(({ways}) => ways);
	return [...new Set(all.map(({way}) => way))].map(name => {
		const its = all.filter(({way}) => way === name);
		const sum = (of: (each: LossesOfWay) => number): number => its.reduce((total, each) => total + of(each), 0);
		const slowest = Math.max(...its.map(({slowestMs}) => slowestMs));
		return `${name}: ${sum(({sent}) => sent)} asked, ${sum(({lostCount}) => lostCount)} lost, ${sum(({again}) => again)} sent again, the slowest after ${slowest} ms`;
	});
}
