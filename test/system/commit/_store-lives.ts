// Lives of a control plane over a store that fails: `npm test` has a hundred, the lane of longer tests ten times as many.

import type {TestFn} from 'ava';
import fc from 'fast-check';
import type {Random} from '../../../system/time/random.js';
import {faultyStore} from '../../../system/store/faulty-store.js';
import {createMemoryStore, emptyMemoryStore, type MemoryStoreData} from '../../../system/store/memory-store.js';
import type {Pipeline} from '../../../system/commit/pipeline.js';
import {aPod, createWorld, podKey, randomFrom, start, type Started} from './pipeline-world.js';

const names = ['a', 'b', 'c', 'd', 'e', 'f'];

/** What the writers were told, over all lives of the control plane. */
type Ledger = {
	readonly random: Random;
	readonly problems: string[];
	/** The last acknowledged write of a name; without a value, a removal. */
	readonly durable: Map<string, {readonly version: number; readonly value: number | undefined}>;
	/** Names whose removal was asked for and of which no later write was acknowledged. */
	readonly perhapsRemoved: Set<string>;
	acknowledged: number;
	newestVersion: number;
	lastValue: number;
};

/** Each name has one write in flight, as an actor would, and asks for the next when it is answered. */
function writeOn(ledger: Ledger, pipeline: Pipeline, index: Started['index'], name: string): void {
	const removes = index.get(podKey(name)) !== undefined && ledger.random.next() < 0.2;
	const value = removes ? undefined : ++ledger.lastValue;
	if (removes) ledger.perhapsRemoved.add(name);
	pipeline.submit({
		key: podKey(name),
		object: value === undefined ? undefined : aPod(name, {value}),
		done(outcome) {
			if (outcome.ok) acknowledge(ledger, name, outcome.change.version, value);
			writeOn(ledger, pipeline, index, name);
		},
	});
}

function acknowledge(ledger: Ledger, name: string, version: number, value: number | undefined): void {
	if (version <= ledger.newestVersion) ledger.problems.push(`version ${version} was acknowledged after ${ledger.newestVersion}`);
	ledger.newestVersion = version;
	ledger.acknowledged++;
	ledger.durable.set(name, {version, value});
	if (value !== undefined) ledger.perhapsRemoved.delete(name);
}

/** What was acknowledged must be there, or something newer of which nobody was told. */
function check({durable, perhapsRemoved, problems}: Ledger, index: Started['index']): void {
	for (const [name, {version, value}] of durable) {
		const entry = index.entry(podKey(name));
		const found = (entry?.object.spec as {value: number} | undefined)?.value;
		if (entry === undefined) {
			if (value !== undefined && !perhapsRemoved.has(name)) problems.push(`${name}, version ${version}, is gone`);
		} else if (entry.version < version) problems.push(`${name} went back from version ${version} to ${entry.version}`);
		else if (entry.version === version ? found !== value : (found ?? 0) <= (value ?? 0)) {
			problems.push(`${name} holds ${found} at version ${entry.version}, ${value} was acknowledged at ${version}`);
		}
	}
}

/** One control plane over a store that fails and times out, until it is killed. */
function live(ledger: Ledger, data: MemoryStoreData, startMs: number): void {
	const {random} = ledger;
	const world = createWorld(startMs);
	const faults = {random, clock: world.clock, failRate: 0.1, unknownRate: 0.15, readFailRate: 0.3, latencyMs: 5, lateMs: 25};
	const {outcome, index} = start(world, faultyStore(createMemoryStore(world.defer, data), faults), {random});
	if (!outcome.ok) return;
	check(ledger, index);
	for (const name of names) writeOn(ledger, outcome.value, index, name);
	for (let steps = Math.floor(random.next() * 400); steps > 0 && world.step(); steps--);
}

function livesOf(seed: number): Ledger {
	const ledger: Ledger = {
		random: randomFrom(seed),
		problems: [],
		durable: new Map(),
		perhapsRemoved: new Set(),
		acknowledged: 0,
		newestVersion: 0,
		lastValue: 0,
	};
	const data = emptyMemoryStore();
	for (let life = 0; life < 5; life++) live(ledger, data, 1_000 + life);
	return ledger;
}

/** Declares a test of so many histories, of five lives each. */
export function testLives(test: TestFn, count: number): void {
	test('whatever the store does, acknowledged writes outlive every crash and versions rise', t => {
		let acknowledged = 0;
		fc.assert(
			fc.property(fc.integer({min: 0}), seed => {
				const ledger = livesOf(seed);
				acknowledged += ledger.acknowledged;
				return ledger.problems.length === 0 || (t.log(`seed ${seed}`, ledger.problems), false);
			}),
			{numRuns: count},
		);
		t.true(acknowledged > 30 * count, `only ${acknowledged} writes were acknowledged`);
	});
}
