// What is started again, when, and when to give up: arithmetic, pure. Actors (restarts.ts, parking.ts) and containers share it; what connects
// to another host waits by `exponentialBackoffMs`, too.

import type {Strategy} from './behavior.js';

/** Of children in the order of their start: those that are started again because one of them is. After OTP's `supervisor`. */
export function affectedBy<Child>(strategy: Strategy, children: readonly Child[], failed: Child): readonly Child[] {
	switch (strategy) {
		case 'oneForOne':
			return [failed];
		case 'oneForAll':
			return children;
		case 'restForOne':
			return children.slice(children.indexOf(failed));
	}
}

/** Times of the restarts that still count, oldest first. */
export type RestartWindow = readonly number[];

/**
 * Adds a restart to the window and says whether the intensity is exceeded: more than `intensity` restarts within
 * `windowMs`. After OTP's `supervisor:add_restart`.
 */
export function addRestart(
	window: RestartWindow,
	nowMs: number,
	{intensity, windowMs}: {readonly intensity: number; readonly windowMs: number},
): {readonly window: RestartWindow; readonly exceeded: boolean} {
	const recent = [...window.filter(at => nowMs - at <= windowMs), nowMs];
	return {window: recent, exceeded: recent.length > intensity};
}

/** The wait before retry number `retry` (from 1): first, doubling, at most `maxMs`. */
export const exponentialBackoffMs = (retry: number, firstMs: number, maxMs: number): number =>
	Math.min(maxMs, firstMs * 2 ** Math.min(30, Math.max(0, retry - 1)));

export type BackoffPolicy = {readonly firstMs: number; readonly maxMs: number; readonly resetMs: number};

/** How often something was restarted in a row. Zero after it was well for `resetMs`. */
export type Streak = {readonly restarts: number};

/** The streak after an end that followed `upMs` of running. */
export const streakAfter = (streak: Streak, upMs: number, {resetMs}: BackoffPolicy): Streak =>
	upMs >= resetMs ? {restarts: 1} : {restarts: streak.restarts + 1};

/** The wait before the restart a streak is at: the first is at once, the second after `firstMs`, then doubling. */
export const restartDelayMs = ({restarts}: Streak, {firstMs, maxMs}: BackoffPolicy): number =>
	restarts <= 1 ? 0 : exponentialBackoffMs(restarts - 1, firstMs, maxMs);
