// How a container ended, from what the Engine says of it. Pure.

import type {ContainerExit, RunningContainer} from '../../../actors/node/runtime/runtime-port.js';
import type {Inspected} from '../engine/calls.js';

export type Ended = {
	readonly attempt: number;
	readonly exitCode: number | undefined;
	readonly wasOomKilled: boolean;
	readonly startedAtMs: number;
	readonly finishedAtMs: number;
	/** Undefined: nobody has heard that it started. */
	readonly ran: Pick<RunningContainer, 'handle' | 'imageId'> | undefined;
};

export function exitOf({attempt, exitCode, wasOomKilled, startedAtMs, finishedAtMs, ran}: Ended): ContainerExit {
	return {
		attempt,
		exitCode,
		signal: signalOf(exitCode),
		startedAtMs,
		// Two clocks of the Engine may differ by their rounding.
		finishedAtMs: Math.max(startedAtMs, finishedAtMs),
		reason: reasonOf(exitCode, wasOomKilled),
		...(ran === undefined ? {} : {handle: ran.handle, imageId: ran.imageId}),
	};
}

function reasonOf(exitCode: number | undefined, wasOomKilled: boolean): string {
	if (exitCode === undefined) return 'Unknown';
	if (exitCode === 0) return 'Completed';
	return wasOomKilled ? 'OOMKilled' : 'Error';
}

/** As a shell shows it: 128 and the number of a signal, of which there are 64. */
const signalOf = (exitCode: number | undefined): number | undefined =>
	exitCode !== undefined && exitCode > 128 && exitCode <= 192 ? exitCode - 128 : undefined;

/** In ms; `0001-01-01T00:00:00Z` is how the Engine says that it has not happened. */
export function timeOf(text: string): number | undefined {
	const ms = Date.parse(text);
	return Number.isNaN(ms) || ms <= 0 ? undefined : ms;
}

/** The same container, had it been started then. */
export const startedAt = (inspected: Inspected, atMs: number): Inspected => ({
	...inspected,
	State: {...inspected.State, StartedAt: new Date(atMs).toISOString()},
});
