// Answers that are being made, so that what they are made of can be closed after them.

import type {ServerResponse} from 'node:http';
import {limits} from '../api/limits.js';
import type {Clock} from '../system/time/clock.js';

export type Running = {
	readonly add: (response: ServerResponse) => void;
	/** Resolves when there are none, at the latest after `limits.httpCloseMs`. */
	readonly settled: (clock: Clock) => Promise<void>;
};

export function createRunning(): Running {
	const running = new Set<ServerResponse>();
	let onNone = (): void => undefined;
	return {
		add(response) {
			running.add(response);
			response.once('close', () => {
				running.delete(response);
				if (running.size === 0) onNone();
			});
		},
		settled: clock =>
			new Promise(resolve => {
				const cancel = clock.after(limits.httpCloseMs, resolve);
				onNone = () => {
					cancel();
					resolve();
				};
				if (running.size === 0) onNone();
			}),
	};
}
