// Loaded into an agent before anything else: at SIGUSR2 its main loop does nothing but turn for ten seconds.

import {isMainThread} from 'node:worker_threads';

export const busyMs = 10_000;

if (isMainThread) {
	process.on('SIGUSR2', () => {
		const untilMs = performance.now() + busyMs;
		while (performance.now() < untilMs);
	});
}
