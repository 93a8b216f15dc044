// What a call waited for that found no ready instance: its time in parts, by how far the instance that took it was. Pure.

import type {ColdPhases} from '../../api/function-figures.js';

/** When an instance got so far, by a clock that never jumps: -Infinity: before it was followed, Infinity: it has not. */
export type InstanceTimes = {
	/** It has a node. */
	readonly placedAtMs: number;
	/** Its program runs. */
	readonly runsAtMs: number;
	readonly readyAtMs: number;
};

/** Of one of which nothing is known: it was ready before. */
const longReady: InstanceTimes = {placedAtMs: -Infinity, runsAtMs: -Infinity, readyAtMs: -Infinity};

export const noPhases: ColdPhases = {placeMs: 0, startMs: 0, readyMs: 0, slotMs: 0};

/**
 * Of a call that began at `fromMs` and was given its slot at `toMs`. What was over before the call began takes none of its time, so that the four are what it
 * waited: whole milliseconds, none below 0.
 */
export function coldPhasesOf(fromMs: number, toMs: number, {placedAtMs, runsAtMs, readyAtMs}: InstanceTimes = longReady): ColdPhases {
	const waitedMs = Math.round(toMs - fromMs);
	const within = (atMs: number, mostMs: number): number => Math.min(Math.max(0, Math.round(atMs - fromMs)), mostMs);
	const untilReadyMs = within(readyAtMs, waitedMs);
	const untilRunsMs = within(runsAtMs, untilReadyMs);
	const untilPlacedMs = within(placedAtMs, untilRunsMs);
	return {
		placeMs: untilPlacedMs,
		startMs: untilRunsMs - untilPlacedMs,
		readyMs: untilReadyMs - untilRunsMs,
		slotMs: waitedMs - untilReadyMs,
	};
}

export const withPhases = (sum: ColdPhases, more: ColdPhases): ColdPhases => ({
	placeMs: sum.placeMs + more.placeMs,
	startMs: sum.startMs + more.startMs,
	readyMs: sum.readyMs + more.readyMs,
	slotMs: sum.slotMs + more.slotMs,
});

export const waitedMsOf = ({placeMs, startMs, readyMs, slotMs}: ColdPhases): number => placeMs + startMs + readyMs + slotMs;
