// The one way to know or wait for time. The virtual world has its own.

export type Cancel = () => void;

export type Clock = {
	/** Wall time, milliseconds since 1970. For people and for deadlines that must survive a restart. */
	readonly nowMs: () => number;
	/** Milliseconds that never jump. For durations. */
	readonly monotonicMs: () => number;
	/** Calls back once, after so many milliseconds, unless cancelled. */
	readonly after: (delayMs: number, callback: () => void) => Cancel;
};

const longestTimeoutMs = 2_147_483_647;

export const systemClock: Clock = {
	nowMs: () => Date.now(),
	monotonicMs: () => performance.now(),
	after(delayMs, callback) {
		const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), longestTimeoutMs));
		return () => clearTimeout(timer);
	},
};
