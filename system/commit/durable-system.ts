// An actor system whose objects survive: store, pipeline, index, wakes, events and journal around one tree.
//
// The order at start is a promise: the new epoch is written first, then everything is loaded, and only then does the tree begin.

import type {Outcome} from '../../api/errors.js';
import {parseStoreKey, storePrefix, type Address, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ActorSystemOptions, Origin} from '../kernel/actor-options.js';
import {ActorSystem} from '../kernel/actor-system.js';
import type {Message} from '../kernel/behavior.js';
import type {Cancel} from '../time/clock.js';
import {Departed} from './departed.js';
import type {Schemas} from './epoch.js';
import {EventLog, type ObjectEvent} from './event-log.js';
import {Journal} from './journal.js';
import {createMandate} from '../leadership/mandate.js';
import {ObjectIndex, type Change, type Known, type TermsOf} from '../index/object-index.js';
import {startPipeline, type Pipeline} from './pipeline.js';
import {recordsFrom} from '../store/store-calls.js';
import type {LoadOutcome, Meta, Snapshot, StoreDriver} from '../store/store.js';
import type {WatchRing} from '../index/watch-ring.js';

export type Wake = {readonly to: Address; readonly message: Message};

/** What a kind of system is made of: its behaviours and what its objects mean to them. */
export type SystemDesign = Pick<ActorSystemOptions, 'behaviors' | 'collectionOf' | 'recordOf'> &
	Schemas & {
		readonly root: string;
		readonly termsOf: TermsOf;
		/** The actors that a committed change concerns. */
		readonly wakesOf: (change: Change, known: Known) => Iterable<Wake>;
		/** Whether changes are kept for watchers. */
		readonly watched: boolean;
		/** Whether every record is woken now and then, behind every wake. */
		readonly resync: boolean;
	};

/** `mayAct` is asked before each commit as well. */
export type DurableSystemOptions = Omit<ActorSystemOptions, 'behaviors' | 'collectionOf' | 'recordOf' | 'persistent'> & {
	readonly design: SystemDesign;
	/** The root's input, once the epoch is known. */
	readonly inputOf: (meta: Meta) => unknown;
	readonly driver: StoreDriver;
	/** The term is over; called once. Its owner then kills the system. */
	readonly onFenced: (message: string) => void;
	/** Called in order of version once a batch is durable. */
	readonly onChange?: (change: Change) => void;
	readonly onEvent?: (key: ObjectKey, event: ObjectEvent) => void;
	/** Records that are neither objects nor events. */
	readonly onRecord?: (storeKey: string, body: string) => void;
};

export type DurableSystem = {
	readonly system: ActorSystem;
	readonly index: ObjectIndex;
	readonly ring: WatchRing;
	readonly events: EventLog;
	readonly journal: Journal;
	readonly departed: Departed;
	readonly pipeline: Pipeline;
	/** The records of the store whose keys begin so, for those that are only read when somebody asks. */
	readonly recordsFrom: (prefix: string) => Promise<LoadOutcome>;
	/** All that is stored as of one moment, for a backup; everything runs on meanwhile. */
	readonly snapshot: () => Promise<Snapshot>;
	/** Starts the tree; everything is loaded by then. */
	readonly begin: () => void;
	/** Stops the tree and finishes what is being written; the driver stays open. */
	readonly stop: (done: () => void) => void;
	/** Drops everything at once, as the death of the process would. */
	readonly kill: () => void;
};

/** Takes over the store and loads it; the tree begins with `begin`. */
export function openDurableSystem(options: DurableSystemOptions, done: (outcome: Outcome<DurableSystem>) => void): void {
	const {design, clock} = options;
	const index = new ObjectIndex(design.termsOf);
	const journal = new Journal();
	const departed = new Departed();
	const origins = new Map<ObjectKey, Origin>();
	const eventRecords: [ObjectKey, string][] = [];
	let started: DurableSystem | undefined;
	const mandate = createMandate(options.mayAct ?? always, options.executor.defer, options.onFenced);

	const onApplied = (changes: readonly Change[]): void => {
		for (const change of changes) {
			const {span, ...origin}: Origin = origins.get(change.key) ?? {cause: 'unknown', from: '', type: ''};
			origins.delete(change.key);
			if (design.watched) journal.add(change.key, {version: change.version, atMs: clock.nowMs(), ...origin}, change.after === undefined);
			if (design.watched) departed.take(change, clock.nowMs());
			if (change.before === undefined) started?.events.forget(change.key);
			if (change.after === undefined) started?.events.left(change.key);
			options.onChange?.(change);
			for (const {to, message} of design.wakesOf(change, index)) started?.system.wake(to, message, origin.cause, span);
		}
	};

	const assemble = (pipeline: Pipeline): DurableSystem => {
		const events = new EventLog({
			clock,
			put: (storeKey, body, written) => pipeline.put(storeKey, body, outcome => written(outcome.ok)),
			onEvent(key, event) {
				if (mandate.holds()) options.onEvent?.(key, event);
			},
			isThere: key => index.entry(key) !== undefined,
		});
		for (const [key, body] of eventRecords) events.load(key, body);
		const system = new ActorSystem({
			...options,
			...design,
			mayAct: mandate.holds,
			persistent: {
				known: index,
				submit({origin, done: committed, ...write}) {
					const {key} = write;
					origins.set(key, origin);
					const settled: typeof committed = outcome => {
						if (!outcome.ok) origins.delete(key);
						committed(outcome);
					};
					pipeline.submit({...write, done: settled});
					events.flushWith(key);
				},
				recordEvent: (key, event) => events.record(key, event),
			},
		});
		const resync = design.resync ? startResync(system, index, options) : undefined;
		return {
			system,
			index,
			ring: pipeline.ring,
			events,
			journal,
			departed,
			pipeline,
			recordsFrom: prefix => recordsFrom(options.driver, prefix),
			snapshot: () => options.driver.snapshot(storePrefix),
			begin: () => system.start(design.root, options.inputOf(pipeline.meta)),
			stop: finished => {
				resync?.();
				system.stop(() => events.finish(() => pipeline.stop(finished)));
			},
			kill() {
				resync?.();
				events.close();
				system.close('ERR_OUTCOME_UNKNOWN');
			},
		};
	};

	startPipeline(
		{
			driver: options.driver,
			index,
			clock,
			random: options.random,
			defer: options.executor.defer,
			...(design.watched ? {} : {ringChanges: 0}),
			schemaVersionOf: design.schemaVersionOf,
			upgrade: design.upgrade,
			onApplied,
			mayAct: mandate.holds,
			onFenced: mandate.end,
			onRecord(storeKey, body) {
				const parsed = parseStoreKey(storeKey);
				if (parsed?.holds === 'events') eventRecords.push([parsed.key, body]);
				else options.onRecord?.(storeKey, body);
			},
		},
		outcome => {
			if (!outcome.ok) {
				done(outcome);
				return;
			}
			started = assemble(outcome.value);
			done({ok: true, value: started});
		},
	);
}

const always = (): boolean => true;

/**
 * Wakes every record once in each period, in slices, so that a large cluster is never woken at once. The length of a slice is random
 * within half of it: several leaders do not beat together.
 */
function startResync(system: ActorSystem, index: ObjectIndex, {clock, random, design}: DurableSystemOptions): Cancel {
	let keys: ObjectKey[] = [];
	let perSlice = 0;
	let cancel: Cancel = () => undefined;
	const arm = (): void => {
		cancel = clock.after((limits.resyncMs / limits.resyncSlices) * (0.75 + random.next() / 2), slice);
	};
	const slice = (): void => {
		if (keys.length === 0) {
			keys = [...index.all()].map(({key}) => key);
			perSlice = Math.ceil(keys.length / limits.resyncSlices);
		}
		for (const key of keys.splice(0, perSlice)) {
			const to = design.recordOf?.(key);
			if (to !== undefined) system.wake(to, {type: 'wake'}, 'resync');
		}
		arm();
	};
	arm();
	return () => cancel();
}
