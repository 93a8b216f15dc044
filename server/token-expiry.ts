// Tokens that expire end what they have open, as a deletion does: one timer, for the next of them.

import {limits} from '../api/limits.js';
import type {Cancel, Clock} from '../system/time/clock.js';
import type {TokenInfo} from './tokens.js';

export type TokenExpiry = {
	/** These are the tokens now. One that expired meanwhile is told first, even where it is among them no more. */
	readonly follow: (tokens: readonly TokenInfo[]) => void;
	readonly stop: () => void;
};

/** Tells each name once, when its token expires. */
export function followExpiry(clock: Pick<Clock, 'nowMs' | 'after'>, onExpired: (name: string) => void): TokenExpiry {
	let pending: ReadonlyMap<string, number> = new Map();
	let cancel: Cancel = () => undefined;
	const look = (): void => {
		cancel();
		const nowMs = clock.nowMs();
		const due = [...pending].filter(([, atMs]) => atMs <= nowMs);
		pending = new Map([...pending].filter(([, atMs]) => atMs > nowMs));
		// Expiry is wall time, which may be set while the timer runs: it is looked at again, at the latest, a while later.
		const waitMs = Math.min(...pending.values()) - nowMs;
		cancel = pending.size === 0 ? () => undefined : clock.after(Math.min(waitMs, limits.tokenLookMs), look);
		for (const [name] of due) onExpired(name);
	};
	return {
		follow(tokens) {
			look();
			const nowMs = clock.nowMs();
			pending = new Map(
				tokens.flatMap(({name, expiresAtMs}) => (expiresAtMs === undefined || expiresAtMs <= nowMs ? [] : [[name, expiresAtMs]])),
			);
			look();
		},
		stop() {
			pending = new Map();
			cancel();
		},
	};
}
