// A pipeline over a memory store in time of its own: nothing runs until the test says so.

import type {Failure, Outcome} from '../../../api/errors.js';
import type {ApiObject, JsonObject} from '../../../api/object.js';
import type {Random} from '../../../system/time/random.js';
import type {Clock} from '../../../system/time/clock.js';
import {createMemoryStore, emptyMemoryStore, type MemoryStoreData} from '../../../system/store/memory-store.js';
import {ObjectIndex, type Change} from '../../../system/index/object-index.js';
import {startPipeline, type Pipeline, type PipelineOptions} from '../../../system/commit/pipeline.js';
import type {StoreDriver} from '../../../system/store/store.js';

/** Deferred functions in order, then timers in order of time. */
export type World = {
	readonly clock: Clock;
	readonly defer: (callback: () => void) => void;
	/** Runs one thing; false when nothing is left. */
	readonly step: () => boolean;
	readonly run: () => void;
	/** Drops all that was to come, as the end of a process would. */
	readonly die: () => void;
};

export function createWorld(startMs = 1_000): World {
	let nowMs = startMs;
	let deferred: (() => void)[] = [];
	let timers: {readonly atMs: number; readonly callback: () => void}[] = [];
	const clock: Clock = {
		nowMs: () => nowMs,
		monotonicMs: () => nowMs,
		after(delayMs, callback) {
			const timer = {atMs: nowMs + Math.max(0, delayMs), callback};
			timers.push(timer);
			return () => void (timers = timers.filter(other => other !== timer));
		},
	};
	const step = (): boolean => {
		const callback = deferred.shift();
		if (callback !== undefined) {
			callback();
			return true;
		}
		const [timer] = timers.toSorted((a, b) => a.atMs - b.atMs);
		if (timer === undefined) return false;
		timers = timers.filter(other => other !== timer);
		nowMs = Math.max(nowMs, timer.atMs);
		timer.callback();
		return true;
	};
	return {
		clock,
		defer: callback => void deferred.push(callback),
		step,
		run() {
			while (step());
		},
		die() {
			deferred = [];
			timers = [];
		},
	};
}

/** Mulberry32: small and good enough to choose faults by. */
export function randomFrom(seed: number): Random {
	let state = seed >>> 0;
	const next = (): number => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
	return {next, uuid: () => `uuid-${Math.floor(next() * 1e9)}`};
}

export const aPod = (name: string, spec: JsonObject = {}): ApiObject => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '', generation: 1, creationTimestamp: '2030-01-01T00:00:00Z'},
	spec,
});

export const podKey = (name: string): string => `pods/default/${name}`;

export type Started = {
	readonly outcome: Outcome<Pipeline>;
	readonly index: ObjectIndex;
	readonly records: readonly [string, string][];
	/** What `onApplied` was told, one entry a batch. */
	readonly applied: (readonly Change[])[];
	readonly fenced: string[];
};

/** Runs the world until the start has its outcome. */
export function start(world: World, driver: StoreDriver, over: Partial<PipelineOptions> = {}): Started {
	const index = new ObjectIndex();
	const records: [string, string][] = [];
	const applied: (readonly Change[])[] = [];
	const fenced: string[] = [];
	let outcome: Outcome<Pipeline> | undefined;
	const options: PipelineOptions = {
		driver,
		index,
		defer: world.defer,
		clock: world.clock,
		random: randomFrom(1),
		onApplied: changes => void applied.push(changes),
		onFenced: message => void fenced.push(message),
		onRecord: (key, body) => void records.push([key, body]),
		schemaVersionOf: plural => (plural === 'pods' ? 1 : undefined),
		upgrade: (_plural, _from, object) => object,
		...over,
	};
	startPipeline(options, done => (outcome = done));
	while (outcome === undefined && world.step());
	if (outcome === undefined) throw new Error('the start has no outcome');
	return {outcome, index, records, applied, fenced};
}

export type Run = Omit<Started, 'outcome'> & {
	readonly world: World;
	readonly data: MemoryStoreData;
	readonly pipeline: Pipeline;
	/** What was answered, in order: the version or the code. */
	readonly answers: (readonly [string, number | Failure['code']])[];
	readonly write: (name: string, spec?: JsonObject) => void;
	readonly remove: (name: string) => void;
	readonly put: (key: string, body: string | undefined) => void;
};

/** A started pipeline with short ways to write. `wrap` puts something around the memory driver. */
export function startedPipeline(
	wrap: (driver: StoreDriver, world: World) => StoreDriver = driver => driver,
	data = emptyMemoryStore(),
	over: Partial<PipelineOptions> = {},
): Run {
	const world = createWorld();
	const {outcome, ...rest} = start(world, wrap(createMemoryStore(world.defer, data), world), over);
	if (!outcome.ok) throw new Error(outcome.error.message);
	const pipeline = outcome.value;
	const answers: [string, number | Failure['code']][] = [];
	const submit = (name: string, object: ApiObject | undefined): void =>
		pipeline.submit({
			key: podKey(name),
			object,
			done: result => void answers.push([name, result.ok ? result.change.version : result.error.code]),
		});
	return {
		...rest,
		world,
		data,
		pipeline,
		answers,
		write: (name, spec) => submit(name, aPod(name, spec)),
		remove: name => submit(name, undefined),
		put: (key, body) =>
			pipeline.put(
				key,
				body === undefined ? undefined : () => body,
				result => void answers.push([key, result.ok ? result.value : result.error.code]),
			),
	};
}
