// A store whose commits are timed.

import type {Clock} from '../time/clock.js';
import type {CommitOutcome, StoreDriver} from './store.js';

export type Committed = {readonly outcome: CommitOutcome['type']; readonly seconds: number; readonly writes: number};

/** The same store; `told` of each commit once its outcome is known. */
export const measuredStore = (driver: StoreDriver, clock: Clock, told: (committed: Committed) => void): StoreDriver => ({
	...driver,
	commit(batch, done) {
		const begunAtMs = clock.monotonicMs();
		driver.commit(batch, outcome => {
			told({outcome: outcome.type, seconds: (clock.monotonicMs() - begunAtMs) / 1_000, writes: batch.writes.length});
			done(outcome);
		});
	},
});
