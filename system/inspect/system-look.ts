// Looks at a system as a whole: what it counts, its dead letters, and the commits of one object.

import {performance} from 'node:perf_hooks';
import process from 'node:process';
import type {DeadLetterLook, JournalLook, LookAnswer, SystemStats} from '../../api/inspect.js';
import type {ObjectKey} from '../../api/keys.js';
import type {ActorSystem} from '../kernel/actor-system.js';
import type {Cell} from '../kernel/cell.js';
import type {Kernel} from '../kernel/kernel.js';
import {cut} from './tree-look.js';

/** What the process takes, and the share of the time its event loop was busy since this was asked last. */
export type Usage = () => Pick<SystemStats, 'memoryBytes' | 'cpuMs' | 'loopBusy'>;

export function createUsage(): Usage {
	let last = performance.eventLoopUtilization();
	return () => {
		const now = performance.eventLoopUtilization();
		const {utilization} = performance.eventLoopUtilization(now, last);
		last = now;
		const {user, system} = process.cpuUsage();
		const loopBusy = Math.round(utilization * 1_000) / 1_000;
		return {memoryBytes: process.memoryUsage.rss(), cpuMs: Math.round((user + system) / 1_000), loopBusy};
	};
}

export function statsLook(
	{name, kernel, options: {clock}}: ActorSystem,
	usage: Usage,
	startedMs: number,
	counters: (() => {readonly [name: string]: number}) | undefined,
): SystemStats {
	return {
		system: name,
		actors: kernel.cells.size,
		upMs: Math.round(clock.monotonicMs() - startedMs),
		counters: {...kernel.counters, ...counters?.()},
		...usage(),
	};
}

export const deadLettersLook = ({deadLetters, counters}: Kernel): LookAnswer['deadletters'] => ({
	letters: deadLetters.all().map(({messageType: type, ...letter}): DeadLetterLook => ({...letter, type})),
	total: counters.deadLetters,
});

export function journalLook({key}: Cell, journalOf: ((key: ObjectKey) => readonly JournalLook[]) | undefined): LookAnswer['journal'] {
	const entries = key === undefined ? [] : (journalOf?.(key) ?? []);
	return {
		entries: entries.map(({version, atMs, type, from, cause}) => ({version, atMs, type: cut(type), from: cut(from), cause: cut(cause)})),
	};
}
