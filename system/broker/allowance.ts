// The work that a login may ask for over time: so much a second, more at once after a rest. Its connections share it; who finds nothing
// left waits, in order.

import type {Cancel, Clock} from '../time/clock.js';

/** In units of work: about what a publish of QoS 0 costs. */
export type AllowanceBounds = {
	readonly perSecond: number;
	/** What is left after a long rest. */
	readonly atOnce: number;
	/** What a single demand may cost beyond what is left: the next ones wait for it, never for longer than this takes. */
	readonly debt: number;
};

export type Allowance = {
	/** Calls back when something is left; at once if so already. */
	readonly whenLeft: (callback: () => void) => void;
	readonly spend: (work: number) => void;
	/** For work that was asked of this login: its answers cost it nothing. */
	readonly earn: (work: number) => void;
	/** Nothing was asked for so long that a new one would be the same. */
	readonly isWhole: () => boolean;
};

export function createAllowance(clock: Pick<Clock, 'monotonicMs' | 'after'>, {perSecond, atOnce, debt}: AllowanceBounds): Allowance {
	let left = atOnce;
	let atMs = clock.monotonicMs();
	let waiting: (() => void)[] = [];
	let cancel: Cancel | undefined;

	const refill = (): number => {
		const nowMs = clock.monotonicMs();
		left = Math.min(atOnce, left + ((nowMs - atMs) * perSecond) / 1_000);
		atMs = nowMs;
		return left;
	};

	/** All that wait go on together: what they then spend is owed before the next ones do. */
	const look = (): void => {
		cancel = undefined;
		const missing = 1 - refill();
		if (missing > 0) {
			cancel = clock.after(Math.ceil((missing * 1_000) / perSecond), look);
			return;
		}
		const released = waiting;
		waiting = [];
		for (const callback of released) callback();
	};

	return {
		whenLeft(callback) {
			if (waiting.length === 0 && refill() >= 1) return callback();
			waiting.push(callback);
			if (cancel === undefined) look();
		},
		spend(work) {
			left = Math.max(-debt, refill() - work);
		},
		earn(work) {
			left = Math.min(atOnce, refill() + work);
		},
		isWhole: () => waiting.length === 0 && refill() >= atOnce,
	};
}

/** For those whose work is bounded by their turns alone. */
export const unbounded: Allowance = {
	whenLeft: callback => callback(),
	spend: () => undefined,
	earn: () => undefined,
	isWhole: () => true,
};

export type Allowances = {
	/** That of a login; as long as one of its connections is open, always the same. */
	readonly of: (login: string, bounds: AllowanceBounds | undefined) => Allowance;
	/** Forgets those that are whole again, of logins that have nothing open. */
	readonly tidy: (open?: ReadonlySet<string>) => void;
};

/** One for each login, also while it is not connected: who comes back finds what it left. */
export function createAllowances(clock: Pick<Clock, 'monotonicMs' | 'after'>): Allowances {
	const all = new Map<string, Allowance>();
	return {
		of(login, bounds) {
			if (bounds === undefined) return unbounded;
			const found = all.get(login) ?? createAllowance(clock, bounds);
			all.set(login, found);
			return found;
		},
		tidy(open) {
			for (const [login, allowance] of all) if (open?.has(login) !== true && allowance.isWhole()) all.delete(login);
		},
	};
}
