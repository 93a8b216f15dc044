// Watches the logs of running containers grow: notes when what was written, and rotates what has grown too large.
//
// A silent log costs nothing: the kernel tells of the first thing that is written (inotify). Then the log is looked at every
// `logLookMs` until it is silent again, so that one that is written without a pause does not wake the agent at each write. The times are
// the file's own, so a late look makes none of them late.

import {statSync, watch, type FSWatcher} from 'node:fs';
import {limits} from '../../../api/limits.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import {hasCode} from '../../../system/files/errno.js';
import {explained} from '../os/explained.js';
import {addMark, readMarks, trimMarks} from './log-times.js';
import {rotateLog} from './log-rotation.js';
import {extentOf} from './logs.js';

export type LogWatch = {
	/** From now on; what was written before is marked at once. */
	readonly follow: (log: string) => void;
	/** Nothing is written any more. */
	readonly finish: (log: string) => void;
	readonly close: () => void;
};

/** Where nothing is watched. */
export const noLogWatch: LogWatch = {follow: () => undefined, finish: () => undefined, close: () => undefined};

type Watched = {
	readonly log: string;
	markedEnd: number;
	markedAtMs: number;
	marks: number;
	watcher: FSWatcher | undefined;
	cancel: Cancel;
	rotating: boolean;
};

export function createLogWatch(clock: Clock, limitBytes: number, onWarning: (message: string) => void): LogWatch {
	const all = new Map<string, Watched>();
	let hasWarned = false;

	function follow(log: string): void {
		if (all.has(log)) return;
		const marks = readMarks(log);
		const {end = 0, atMs = 0} = marks.at(-1) ?? {};
		const watched = {
			log,
			markedEnd: end,
			markedAtMs: atMs,
			marks: marks.length,
			watcher: undefined,
			cancel: () => undefined,
			rotating: false,
		};
		all.set(log, watched);
		rest(watched);
	}

	/** Until the kernel tells; where it cannot, until it is time to look again. */
	function rest(watched: Watched): void {
		try {
			watched.watcher = watch(watched.log, {persistent: false}, () => lookOften(watched)).on('error', () => lookOften(watched));
		} catch (error) {
			if (hasCode(error, 'ENOENT')) return drop(watched); // Its container was removed.
			if (!hasWarned) onWarning(`logs are looked at only every ${limits.logCheckMs} ms: ${explained(error)}`);
			hasWarned = true;
			watched.cancel = clock.after(limits.logCheckMs, () => lookOften(watched));
		}
		if (look(watched)) lookOften(watched); // What came before the watch.
	}

	function lookOften(watched: Watched): void {
		watched.watcher?.close();
		watched.watcher = undefined;
		watched.cancel();
		if (!all.has(watched.log)) return;
		look(watched);
		watched.cancel = clock.after(limits.logLookMs, () => (look(watched) ? lookOften(watched) : rest(watched)));
	}

	/** Whether its end is elsewhere since the last look. */
	function look(watched: Watched): boolean {
		try {
			return mark(watched);
		} catch (error) {
			// Without its marks a log is still a log.
			if (!hasCode(error, 'ENOENT')) onWarning(`a log was not looked at: ${explained(error)}`);
			return false;
		}
	}

	function mark(watched: Watched): boolean {
		const {log} = watched;
		const {size, mtimeMs} = statSync(log);
		if (size >= limitBytes) rotate(watched);
		const extent = extentOf(log);
		const {end} = extent;
		if (end === watched.markedEnd) return false;
		if (end < watched.markedEnd) watched.marks = trimMarks(log, extent, limits.logMarks); // The program cut its own log.
		watched.markedEnd = end;
		// The program may have set the time of its log, too.
		watched.markedAtMs = Math.max(watched.markedAtMs, Math.trunc(Math.min(mtimeMs, clock.nowMs())));
		addMark(log, {end, atMs: watched.markedAtMs});
		if (++watched.marks > limits.logMarks) watched.marks = trimMarks(log, extent, limits.logMarks);
		return true;
	}

	function rotate(watched: Watched): void {
		if (watched.rotating) return;
		watched.rotating = true;
		rotateLog(watched.log, limitBytes)
			.catch((error: unknown) => {
				if (all.has(watched.log)) onWarning(`a log was not rotated: ${explained(error)}`);
			})
			.finally(() => void (watched.rotating = false));
	}

	function drop(watched: Watched): void {
		all.delete(watched.log);
		watched.watcher?.close();
		watched.cancel();
	}

	return {
		follow,
		finish(log) {
			const watched = all.get(log);
			if (watched === undefined) return;
			look(watched);
			drop(watched);
		},
		close() {
			for (const watched of [...all.values()]) drop(watched);
		},
	};
}
