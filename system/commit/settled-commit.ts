// A commit that comes to a decision: an outcome that is unknown is read back from `meta` before anything else happens, and
// what cannot be decided ends the writer's term.

import {limits} from '../../api/limits.js';
import type {Clock} from '../time/clock.js';
import {aboutMeta, noMeta, sameMeta} from '../store/meta.js';
import type {Batch, Meta, StoreDriver} from '../store/store.js';

export type Settled =
	| {readonly type: 'committed'}
	/** Not applied, and never will be; where its outcome was unknown, `meta` is the fence that stands in its place now. */
	| {readonly type: 'failed'; readonly message: string; readonly meta: Meta | undefined}
	/** The term is over; `applied` is unknown when the store could not be asked. */
	| {readonly type: 'ended'; readonly message: string; readonly applied: 'no' | 'unknown'};

export function commitSettled(driver: StoreDriver, clock: Clock, batch: Batch, done: (settled: Settled) => void): void {
	driver.commit(batch, outcome => {
		switch (outcome.type) {
			case 'committed':
				return done({type: 'committed'});
			case 'failed':
				return done({type: 'failed', message: outcome.message, meta: undefined});
			case 'fenced':
				return done({type: 'ended', message: outcome.message, applied: 'no'});
			case 'unknown':
				return readBack({driver, clock, batch, done}, limits.storeAskAttempts);
		}
	});
}

type Question = {
	readonly driver: StoreDriver;
	readonly clock: Clock;
	readonly batch: Batch;
	readonly done: (settled: Settled) => void;
};

function readBack(question: Question, attempts: number): void {
	const {driver, clock, batch, done} = question;
	driver.readMeta(outcome => {
		const settled = outcome.ok ? judged(batch, outcome.meta) : undefined;
		if (settled !== undefined) return done(settled);
		if (attempts > 1) return void clock.after(limits.storeAskMs, () => fenceOff(question, attempts - 1, outcome.ok));
		const why = outcome.ok ? 'the store takes no other' : outcome.message;
		done({type: 'ended', message: `whether the last batch was taken could not be found out: ${why}`, applied: 'unknown'});
	});
}

/** A batch that is still on its way would arrive after later answers were given: an empty one in its place keeps it out. */
function fenceOff(question: Question, attempts: number, isNeeded: boolean): void {
	const {driver, batch} = question;
	if (!isNeeded) return readBack(question, attempts);
	driver.commit({writes: [], expected: batch.expected, next: fenceAfter(batch)}, () => readBack(question, attempts));
}

const fenceAfter = ({next}: Batch): Meta => ({...next, version: next.version + 1});

/** Undefined: the batch may still arrive. */
function judged(batch: Batch, found: Meta = noMeta): Settled | undefined {
	const fence = fenceAfter(batch);
	if (sameMeta(found, batch.next)) return {type: 'committed'};
	if (sameMeta(found, fence)) return {type: 'failed', message: 'the store did not answer in time and has not taken it', meta: fence};
	if (sameMeta(found, batch.expected)) return undefined;
	return {type: 'ended', message: `another writer has taken over: the store is at ${aboutMeta(found)}`, applied: 'unknown'};
}
