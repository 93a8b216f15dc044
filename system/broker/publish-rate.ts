// What a login may publish over time, in messages and in bytes. Its connections share it: who has published more than is due is not read until
// that is made up for, so nothing is lost, and nobody is cut for it.

import {limits} from '../../api/limits.js';
import type {Clock} from '../time/clock.js';
import {createAllowance} from './allowance.js';
import {bytesPerUnit} from './packet-work.js';

export type RateBounds = {readonly messagesPerSecond: number; readonly bytesPerSecond: number};

export type PublishRate = {
	/** Calls back when something may be published; at once if so already. */
	readonly whenLeft: (callback: () => void) => void;
	readonly spend: (bytes: number) => void;
	/** Work of one connection in one turn, so that what it leaves to be waited for takes seconds: meanwhile its pings are not read either. */
	readonly turnWork: number;
	/** Nothing was published for so long that a new one would be the same. */
	readonly isWhole: () => boolean;
};

/** As much as turns and work allow. */
export const unlimited: PublishRate = {
	whenLeft: callback => callback(),
	spend: () => undefined,
	turnWork: Infinity,
	isWhole: () => true,
};

export function createPublishRate(
	clock: Pick<Clock, 'monotonicMs' | 'after'>,
	{messagesPerSecond, bytesPerSecond}: RateBounds,
): PublishRate {
	// What was published is owed in full: each connection leaves a turn or two, and there are so many of one login at most.
	const [messages, bytes] = [messagesPerSecond, bytesPerSecond].map(perSecond =>
		createAllowance(clock, {perSecond, atOnce: perSecond, debt: Infinity}),
	) as [ReturnType<typeof createAllowance>, ReturnType<typeof createAllowance>];
	const perTurn = Math.min(messagesPerSecond, Math.floor(bytesPerSecond / bytesPerUnit));
	return {
		whenLeft: callback => messages.whenLeft(() => bytes.whenLeft(callback)),
		spend(size) {
			messages.spend(1);
			bytes.spend(size);
		},
		turnWork: Math.max(limits.brokerSlowTurnWork, perTurn),
		isWhole: () => messages.isWhole() && bytes.isWhole(),
	};
}

export type PublishRates = {
	/** That of a login; as long as one of its connections is open, always the same. */
	readonly of: (login: string, bounds: RateBounds | undefined) => PublishRate;
	/** Forgets those that are whole again, of logins that have nothing open. */
	readonly tidy: (open: ReadonlySet<string>) => void;
};

/** One for each login, also while it is not connected. A token that says something else is another login. */
export function createPublishRates(clock: Pick<Clock, 'monotonicMs' | 'after'>): PublishRates {
	const all = new Map<string, {readonly login: string; readonly rate: PublishRate}>();
	return {
		of(login, bounds) {
			if (bounds === undefined) return unlimited;
			const key = `${bounds.messagesPerSecond}/${bounds.bytesPerSecond}/${login}`;
			const found = all.get(key) ?? {login, rate: createPublishRate(clock, bounds)};
			all.set(key, found);
			return found.rate;
		},
		tidy(open) {
			for (const [key, {login, rate}] of all) if (!open.has(login) && rate.isWhole()) all.delete(key);
		},
	};
}
