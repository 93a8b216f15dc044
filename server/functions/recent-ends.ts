// How many calls ended in each step of the last minutes: steps of which nobody asks cost nothing.

import {limits} from '../../api/limits.js';

const steps = limits.usageHistorySteps;
const stepMs = limits.usageHistoryMs / steps;

export type RecentEnds = {
	/** One ended at this time of a clock that never jumps. */
	readonly add: (atMs: number) => void;
	/** Oldest first; the last is the step that is under way. */
	readonly counts: (atMs: number) => readonly number[];
};

export function createRecentEnds(): RecentEnds {
	const counted = new Uint32Array(steps);
	/** The step that `counted` is up to; its place is its remainder. */
	let last = 0;
	const moveTo = (step: number): void => {
		if (step - last >= steps) counted.fill(0);
		else for (let each = last + 1; each <= step; each++) counted[each % steps] = 0;
		last = Math.max(last, step);
	};
	const stepOf = (atMs: number): number => Math.floor(atMs / stepMs);
	return {
		add(atMs) {
			moveTo(stepOf(atMs));
			const place = last % steps;
			counted[place] = (counted[place] ?? 0) + 1;
		},
		counts(atMs) {
			moveTo(stepOf(atMs));
			return Array.from(counted, (_, index) => counted[(last + 1 + index) % steps] ?? 0);
		},
	};
}
