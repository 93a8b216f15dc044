// How long a retrier waits before another attempt.

import {limits} from '../../api/limits.js';
import type {Retrier} from '../../api/states-language/definition.js';

/** `retries` have been before. With full jitter anything up to the delay, by chance. */
export function delayMsOf(retrier: Retrier, retries: number, random: () => number): number {
	const {IntervalSeconds = 1, BackoffRate = 2, MaxDelaySeconds = limits.statesWaitSeconds, JitterStrategy = 'NONE'} = retrier;
	const delay = Math.min(IntervalSeconds * BackoffRate ** retries, MaxDelaySeconds, limits.statesWaitSeconds) * 1_000;
	return Math.round(JitterStrategy === 'FULL' ? random() * delay : delay);
}

/** Tries after the first, where a retrier does not say. */
export const attemptsOf = ({MaxAttempts = 3}: Retrier): number => MaxAttempts;
