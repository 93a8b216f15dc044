// Something has changed: the follower that waits looks again.

import {systemClock} from '../../system/time/clock.js';

export type Signal = {
	readonly raise: () => void;
	/** Resolves at the next raise, or after so long. */
	readonly raised: (withinMs?: number) => Promise<void>;
};

export function createSignal(): Signal {
	const waiting = new Set<() => void>();
	return {
		raise() {
			for (const wake of [...waiting]) wake();
		},
		raised: withinMs =>
			new Promise(resolve => {
				const wake = (): void => {
					waiting.delete(wake);
					cancel();
					resolve();
				};
				const cancel = withinMs === undefined ? () => undefined : systemClock.after(withinMs, wake);
				waiting.add(wake);
			}),
	};
}
