// Watches the logs of running containers grow: notes when what was written, and rotates what has grown too large.
//
// A silent log costs nothing: the kernel tells of the first thing that is written (inotify). Then the log is looked at every
// `logLookMs` until it is silent again, so that one that is written without a pause does not wake the agent at each write. The times are
// the file's own, so a late look makes none of them late.

import {statSync, watch, type FSWatcher} from 'node:fs';
import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import {hasCode} from '../../system/files/errno.js';
import {explained} from '../os/explained.js';
import {addMarks, readMarks, trimMarks} from './log-times.js';
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

type State = {
	readonly clock: Clock;
	readonly limitBytes: number;
	readonly onWarning: (message: string) => void;
	readonly all: Map<string, Watched>;
	hasWarned: boolean;
};

export function createLogWatch(clock: Clock, limitBytes: number, onWarning: (message: string) => void): LogWatch {
	const state: State = {clock, limitBytes, onWarning, all: new Map(), hasWarned: false};
	return {
		follow: log => follow(state, log),
		finish(log) {
			const watched = state.all.get(log);
			if (watched === undefined) return;
			look(state, watched);
			drop(state, watched);
		},
		close() {
			for (const watched of [...state.all.values()]) drop(state, watched);
		},
	};
}

function follow(state: State, log: string): void {
	if (state.all.has(log)) return;
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
	state.all.set(log, watched);
	rest(state, watched);
}

/** Until the kernel tells; where it cannot, until it is time to look again. */
function rest(state: State, watched: Watched): void {
	try {
		watched.watcher = watch(watched.log, {persistent: false}, () => lookOften(state, watched)).on('error', () => lookOften(state, watched));
	} catch (error) {
		if (hasCode(error, 'ENOENT')) return drop(state, watched); // Its container was removed.
		if (!state.hasWarned) state.onWarning(`logs are looked at only every ${limits.logCheckMs} ms: ${explained(error)}`);
		state.hasWarned = true;
		watched.cancel = state.clock.after(limits.logCheckMs, () => lookOften(state, watched));
	}
	if (look(state, watched)) lookOften(state, watched); // What came before the watch.
}

function lookOften(state: State, watched: Watched): void {
	watched.watcher?.close();
	watched.watcher = undefined;
	watched.cancel();
	if (!state.all.has(watched.log)) return;
	look(state, watched);
	watched.cancel = state.clock.after(limits.logLookMs, () => (look(state, watched) ? lookOften(state, watched) : rest(state, watched)));
}

/** Whether its end is elsewhere since the last look. */
function look(state: State, watched: Watched): boolean {
	try {
		return mark(state, watched);
	} catch (error) {
		// Without its marks a log is still a log.
		if (!hasCode(error, 'ENOENT')) state.onWarning(`a log was not looked at: ${explained(error)}`);
		return false;
	}
}

function mark(state: State, watched: Watched): boolean {
	const {log} = watched;
	const {size, mtimeMs} = statSync(log);
	if (size >= state.limitBytes) rotate(state, watched);
	const extent = extentOf(log);
	const {end} = extent;
	if (end === watched.markedEnd) return false;
	if (end < watched.markedEnd) watched.marks = trimMarks(log, extent, limits.logMarks); // The program cut its own log.
	watched.markedEnd = end;
	// The program may have set the time of its log, too.
	watched.markedAtMs = Math.max(watched.markedAtMs, Math.trunc(Math.min(mtimeMs, state.clock.nowMs())));
	addMarks(log, [{end, atMs: watched.markedAtMs}]);
	if (++watched.marks > limits.logMarks) watched.marks = trimMarks(log, extent, limits.logMarks);
	return true;
}

function rotate({limitBytes, all, onWarning}: State, watched: Watched): void {
	if (watched.rotating) return;
	watched.rotating = true;
	rotateLog(watched.log, limitBytes)
		.catch((error: unknown) => {
			if (all.has(watched.log)) onWarning(`a log was not rotated: ${explained(error)}`);
		})
		.finally(() => void (watched.rotating = false));
}

function drop({all}: State, watched: Watched): void {
	all.delete(watched.log);
	watched.watcher?.close();
	watched.cancel();
}
