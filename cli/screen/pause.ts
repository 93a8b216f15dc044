// A wait that may be cut short.

import {systemClock} from '../../system/time/clock.js';

/** Resolves after so long, or when the signal fires. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
	new Promise(resolve => {
		if (signal.aborted) return resolve();
		const done = (): void => {
			cancel();
			signal.removeEventListener('abort', done);
			resolve();
		};
		const cancel = systemClock.after(ms, done);
		signal.addEventListener('abort', done);
	});
