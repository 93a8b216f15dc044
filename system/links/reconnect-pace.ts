// How long to wait before another attempt to connect: longer from round to round, and never quite as long as others wait. Whoever lost the same
// broker at the same moment does not come back to it at one.

import {limits} from '../../api/limits.js';
import {exponentialBackoffMs} from '../kernel/restart-policy.js';
import type {Random} from '../time/random.js';

/** About so long: by chance half as much more or less. */
export const aboutMs = (ms: number, {next}: Pick<Random, 'next'>): number => ms * (0.5 + next());

/** The wait before an attempt, after so many rounds through all servers in vain. */
export const reconnectWaitMs = (rounds: number, random: Pick<Random, 'next'>): number =>
	aboutMs(exponentialBackoffMs(rounds + 1, limits.linkReconnectFirstMs, limits.linkReconnectMaxMs), random);
