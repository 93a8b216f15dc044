// A store as bad as real ones get: it refuses, and it falls silent before or after a batch is taken, or long before it. Wraps any
// driver; what it lets through is as true as the driver below.

import type {Random} from '../time/random.js';
import type {Clock} from '../time/clock.js';
import type {StoreDriver} from './store.js';

export type StoreFaults = {
	readonly random: Random;
	readonly clock: Clock;
	/** Share of the batches that surely fail, from 0 to 1. */
	readonly failRate: number;
	/** Share of the batches whose outcome is not told: taken, or lost, or (with `lateMs`) taken later; each as likely. */
	readonly unknownRate: number;
	/** Share of the questions for `meta` that get no answer; 0 if not given. */
	readonly readFailRate?: number;
	/** How long a batch takes, milliseconds; 0 if not given. */
	readonly latencyMs?: number;
	/** How long after its time-out a batch that is on its way may still arrive. */
	readonly lateMs?: number;
};

const timedOut = 'the store did not answer in time';

export function faultyStore(driver: StoreDriver, faults: StoreFaults): StoreDriver {
	const {random, clock, failRate, unknownRate, readFailRate = 0, latencyMs = 0, lateMs} = faults;
	const later = (callback: () => void): void => void clock.after(latencyMs, callback);
	const fates = lateMs === undefined ? (['taken', 'lost'] as const) : (['taken', 'lost', 'late'] as const);
	const fate = (): 'taken' | 'lost' | 'late' => fates[Math.floor(random.next() * fates.length)] ?? 'lost';

	return {
		...driver,
		name: `faulty ${driver.name}`,
		commit(batch, done) {
			const roll = random.next();
			if (roll < failRate) return later(() => done({type: 'failed', message: 'the store refused the batch'}));
			if (roll >= failRate + unknownRate) return later(() => driver.commit(batch, done));
			const unknown = (): void => done({type: 'unknown', message: timedOut});
			switch (fate()) {
				case 'taken':
					return later(() => driver.commit(batch, unknown));
				case 'lost':
					return later(unknown);
				case 'late':
					clock.after(latencyMs + random.next() * (lateMs ?? 0), () => driver.commit(batch, () => undefined));
					return later(unknown);
			}
		},
		readMeta(done) {
			if (random.next() < readFailRate) later(() => done({ok: false, message: timedOut}));
			else later(() => driver.readMeta(done));
		},
	};
}
