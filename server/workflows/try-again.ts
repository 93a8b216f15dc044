// What could not be begun is tried again, with growing pauses, until it is wanted no more.

import {limits} from '../../api/limits.js';
import type {Clock} from '../../system/time/clock.js';
import {unlessAborted} from './turns.js';

/** What it gives in the end, where undefined is that nothing was begun. Rejects with the reason of the signal once that is aborted. */
export async function untilBegun<Value>(clock: Clock, signal: AbortSignal, act: () => Promise<Value | undefined>): Promise<Value> {
	for (let pauseMs: number = limits.workflowTaskPauseMs; ; pauseMs = Math.min(2 * pauseMs, limits.workflowTaskPauseMostMs)) {
		const value = await act();
		if (value !== undefined) return value;
		await pause(clock, signal, pauseMs);
	}
}

/** Rejects with the reason of the signal once that is aborted. */
export async function pause(clock: Clock, signal: AbortSignal, ms: number): Promise<void> {
	let cancel = (): void => undefined;
	try {
		await unlessAborted(signal, () => new Promise<void>(resolve => void (cancel = clock.after(ms, resolve))));
	} finally {
		cancel();
	}
}
