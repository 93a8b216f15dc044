// A commit that comes to a decision: an outcome that is unknown is read back from `meta` before anything else happens, and
// what cannot be decided ends the writer's term.

import {limits} from '../api/limits.js';
import type {Clock} from './clock.js';
import {aboutMeta, noMeta, sameMeta} from './meta.js';
import type {Batch, Meta, StoreDriver} from './store.js';

export type Settled =
	| {readonly type: 'committed'}
	/** `mayArrive`: not applied when looked at, but perhaps still on its way; its versions must not be given out again. */
	| {readonly type: 'failed'; readonly message: string; readonly mayArrive: boolean}
	/** The term is over; `applied` is unknown when the store could not be asked. */
	| {readonly type: 'ended'; readonly message: string; readonly applied: 'no' | 'unknown'};

export function commitSettled(driver: StoreDriver, clock: Clock, batch: Batch, done: (settled: Settled) => void): void {
	driver.commit(batch, outcome => {
		switch (outcome.type) {
			case 'committed':
				return done({type: 'committed'});
			case 'failed':
				return done({type: 'failed', message: outcome.message, mayArrive: false});
			case 'fenced':
				return done({type: 'ended', message: outcome.message, applied: 'no'});
			case 'unknown':
				return readBack(driver, clock, batch, limits.storeAskAttempts, done);
		}
	});
}

function readBack(driver: StoreDriver, clock: Clock, batch: Batch, attempts: number, done: (settled: Settled) => void): void {
	driver.readMeta(outcome => {
		if (outcome.ok) return done(judged(batch, outcome.meta));
		if (attempts > 1) return void clock.after(limits.storeAskMs, () => readBack(driver, clock, batch, attempts - 1, done));
		const message = `whether the last batch was taken could not be found out: ${outcome.message}`;
		done({type: 'ended', message, applied: 'unknown'});
	});
}

function judged({expected, next}: Batch, found: Meta = noMeta): Settled {
	if (sameMeta(found, next)) return {type: 'committed'};
	if (sameMeta(found, expected)) return {type: 'failed', message: 'the store did not answer in time and has not taken it', mayArrive: true};
	return {type: 'ended', message: `another writer has taken over: the store is at ${aboutMeta(found)}`, applied: 'unknown'};
}
