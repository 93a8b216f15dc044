// A store as bad as the world wants it at the moment: it refuses, falls silent before or after it took a batch, is slow, or cannot
// be reached at all. What it lets through is as true as the data below, which outlives every process.

import {createMemoryStore, type MemoryStoreData} from '../store/memory-store.js';
import type {Batch, CommitOutcome, StoreDriver} from '../store/store.js';
import type {Random} from '../time/random.js';
import type {WorldProcess} from './process.js';

/** Shares from 0 to 1. */
export type StoreTrouble = {
	readonly failCommit: number;
	/** The outcome is not told: the batch was taken, was lost, or arrives later. */
	readonly unknownCommit: number;
	readonly commitMs: number;
	/** Nothing is answered but with a time-out. */
	readonly unreachable: boolean;
};

export const wellStore: StoreTrouble = {failCommit: 0, unknownCommit: 0, commitMs: 0, unreachable: false};

export type WorldStoreOptions = {
	readonly process: WorldProcess;
	readonly random: Random;
	readonly data: MemoryStoreData;
	readonly trouble: () => StoreTrouble;
	/** Called once a batch is durable, before any caller is told; a kill of the process here drops all that would follow. */
	readonly onDurable: (batch: Batch) => void;
};

const timedOut = 'the store did not answer in time';
const timeOutMs = 2_000;

export function createWorldStore({process, random, data, trouble, onDurable}: WorldStoreOptions): StoreDriver {
	const driver = createMemoryStore(process.executor.defer, data);
	const later = (ms: number, callback: () => void): void => (ms > 0 ? void process.clock.after(ms, callback) : callback());
	const take = (batch: Batch, done: (outcome: CommitOutcome) => void): void => {
		const before = data.meta;
		driver.commit(batch, done);
		if (data.meta !== before) onDurable(batch);
	};
	const fall = (batch: Batch, done: (outcome: CommitOutcome) => void): void => {
		const silent = (): void => done({type: 'unknown', message: timedOut});
		const fate = Math.floor(random.next() * 3);
		if (fate === 0) take(batch, silent);
		else if (fate === 1) later(trouble().commitMs + 1, silent);
		else {
			process.clock.after(random.next() * timeOutMs, () => take(batch, () => undefined));
			later(trouble().commitMs + 1, silent);
		}
	};
	return {
		...driver,
		name: 'world',
		commit(batch, done) {
			const {failCommit, unknownCommit, commitMs, unreachable} = trouble();
			if (unreachable) return later(timeOutMs, () => done({type: 'unknown', message: timedOut}));
			const roll = failCommit + unknownCommit > 0 ? random.next() : 1;
			if (roll < failCommit) return later(commitMs + 1, () => done({type: 'failed', message: 'the store refused the batch'}));
			if (roll < failCommit + unknownCommit) return fall(batch, done);
			later(commitMs, () => take(batch, done));
		},
		readMeta(done) {
			if (trouble().unreachable) later(timeOutMs, () => done({ok: false, message: timedOut}));
			else later(trouble().commitMs, () => driver.readMeta(done));
		},
		load(prefix, done) {
			if (trouble().unreachable) later(timeOutMs, () => done({ok: false, message: timedOut}));
			else driver.load(prefix, done);
		},
	};
}
