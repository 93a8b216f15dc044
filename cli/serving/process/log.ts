// The log of a cluster's process: one JSON line an entry, in `troupe.log`, never on the terminal.

import {destination, pino, type Logger} from 'pino';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';

export type Log = Pick<Logger, 'info' | 'warn' | 'error' | 'fatal'>;

/** Appends to the file (0600), each line at once: what a dying process said last is what one wants to read. */
export function openLog(file: string): Log {
	const lines = destination({dest: file, mode: 0o600, sync: true, append: true});
	// A full disk costs lines of the log, never the cluster.
	lines.on('error', () => undefined);
	return pino({base: null}, lines);
}

/** Of one sort one entry in so long. */
export function quietly({monotonicMs}: Pick<Clock, 'monotonicMs'>): (sort: string, say: () => void) => void {
	const untilMs = new Map<string, number>();
	return (sort, say) => {
		const nowMs = monotonicMs();
		if (nowMs < (untilMs.get(sort) ?? 0)) return;
		untilMs.set(sort, nowMs + limits.repeatedLogMs);
		say();
	};
}
