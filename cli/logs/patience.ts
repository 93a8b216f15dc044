// How long a command that follows goes on when the cluster does not answer: again and again, less and less often, but not for ever.

import {AppError, rowOf} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {systemClock} from '../../system/time/clock.js';

export type Patience = {
	/** Resolves when it is time for the next try. Throws the error when no try can help, or when it took too long. */
	readonly wait: (error: unknown) => Promise<void>;
};

/** `onTrouble` is told of the first failure in a row. */
export function patienceOf(onTrouble: (error: AppError) => void): Patience {
	let delayMs: number = limits.logAgainFirstMs;
	let sinceMs: number | undefined;
	return {
		async wait(error) {
			if (!(error instanceof AppError) || !canPass(error)) throw error;
			const nowMs = systemClock.monotonicMs();
			if (sinceMs === undefined) onTrouble(error);
			sinceMs ??= nowMs;
			if (nowMs - sinceMs > limits.logGiveUpMs) throw error;
			await sleep(delayMs);
			delayMs = Math.min(delayMs * 2, limits.logAgainMaxMs);
		},
	};
}

/** A version that is too old is answered by a new list. */
const canPass = ({code}: AppError): boolean => rowOf(code).retryable || rowOf(code).exitCode === 5;

/** Resolves after so long. */
const sleep = (ms: number): Promise<void> => new Promise(resolve => void systemClock.after(ms, () => resolve()));
