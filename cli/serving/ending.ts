// How a process that serves comes to its end: by a signal, or since something failed for good.

import type {Log} from './log.js';

export type Ending = {
	/** Resolves with the exit code and the reason that people are told. */
	readonly promise: Promise<{readonly code: number; readonly reason: string}>;
	/** What cannot go on must not linger half alive: whoever watches this process starts it again. */
	readonly fail: (message: string) => void;
};

/** The first signal stops in good order; whoever cannot wait may send a second. A terminal that closes is like a SIGTERM. */
export function endingOf(log: Log): Ending {
	let settle: (signal: NodeJS.Signals) => void = () => undefined;
	const promise = new Promise<NodeJS.Signals>(resolve => {
		settle = resolve;
	});
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => settle(signal));
	return {
		promise: promise.then(signal => ({code: 0, reason: `stopping (${signal})`})),
		fail(message) {
			log.fatal(message);
			process.stderr.write(`error: ${message}\n`);
			process.exit(1);
		},
	};
}
