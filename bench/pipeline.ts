// The commit pipeline against the driver under it, LevelDB and etcd: writes of 1 kB objects by some writers, each of which waits for its
// answer.

import path from 'node:path';
import type {ApiObject} from '../api/object.js';
import {limits} from '../api/limits.js';
import {systemClock} from '../system/time/clock.js';
import {connectEtcd} from '../system/store/etcd-client.js';
import {createEtcdStore} from '../system/store/etcd-store.js';
import {openLevelStore} from '../system/store/level-store.js';
import {noMeta} from '../system/store/meta.js';
import {ObjectIndex} from '../system/index/object-index.js';
import {startPipeline, type Pipeline} from '../system/commit/pipeline.js';
import {systemRandom} from '../system/time/random.js';
import type {Meta, StoreDriver} from '../system/store/store.js';
import {startEtcd} from './rigs/servers/etcd.js';
import type {Benchmark} from './harness/benchmark.js';
import {temporaryFolder} from './rigs/cluster/cluster.js';
import type {Scope} from './harness/scope.js';
import {ratios, type Row} from './harness/table.js';

const writersOf = [1, 100, 1_000] as const;
const defaultRounds = 5;
/** Of one side in one round. */
const spellMs = 500;

export const pipelineBenchmark: Benchmark = {
	name: 'pipeline',
	about: 'writes of 1 kB objects through the commit pipeline: LevelDB with sync, etcd of one member',
	async run({rounds = defaultRounds}, scope) {
		const folder = temporaryFolder(scope, 'pipeline');
		const level = await measured('LevelDB', rounds, scope, name => openLevelStore(path.join(folder, name)));
		try {
			const etcd = await startEtcd({teardown: scope.defer});
			const open = (name: string): StoreDriver => createEtcdStore(connectEtcd(`${etcd.url}/${name}`, systemClock), systemClock);
			return [...level, ...(await measured('etcd', rounds, scope, open))];
		} catch (error) {
			return [...level, {what: 'etcd', values: [], unit: 'writes/s', note: error instanceof Error ? error.message : String(error)}];
		}
	},
};

type Open = (name: string) => StoreDriver | Promise<StoreDriver>;

async function measured(store: string, rounds: number, scope: Scope, open: Open): Promise<readonly Row[]> {
	const pipeline = await openPipeline(scope, await openDriver(scope, open, 'pipeline'));
	const floor = openFloor(await openDriver(scope, open, 'floor'));
	const rows: Row[] = [];
	for (const writers of writersOf) {
		const ours: number[] = [];
		const bare: number[] = [];
		for (let round = 0; round < rounds; round++) {
			bare.push(await floor(Math.min(writers, limits.batchOperations)));
			ours.push(await write(pipeline, writers));
		}
		rows.push(
			{what: `${store}: ${writers} writers`, values: ours, unit: 'writes/s'},
			{what: `${store} alone, batches of ${Math.min(writers, limits.batchOperations)}`, values: bare, unit: 'writes/s'},
			{what: `${store}: ${writers} writers / the driver alone`, values: ratios(ours, bare), unit: 'x'},
		);
	}
	return rows;
}

async function openDriver(scope: Scope, open: Open, name: string): Promise<StoreDriver> {
	const driver = await open(name);
	scope.defer(() => driver.close());
	return driver;
}

const neverFenced = (message: string): never => {
	throw new Error(message);
};

async function openPipeline(scope: Scope, driver: StoreDriver): Promise<Pipeline> {
	const pipeline = await new Promise<Pipeline>((resolve, reject) => {
		startPipeline(
			{
				driver,
				index: new ObjectIndex(),
				clock: systemClock,
				random: systemRandom,
				defer: callback => void setImmediate(callback),
				schemaVersionOf: () => 1,
				upgrade: () => neverFenced('there is one schema only'),
				onApplied: () => undefined,
				onFenced: neverFenced,
			},
			outcome => (outcome.ok ? resolve(outcome.value) : reject(new Error(outcome.error.message))),
		);
	});
	scope.defer(() => new Promise<void>(resolve => pipeline.stop(resolve)));
	return pipeline;
}

const filler = 'x'.repeat(760);

/** One kilobyte as JSON, another one each time. */
const objectOf = (writer: number, turn: number): ApiObject => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {
		name: `pod-${writer}`,
		namespace: 'default',
		uid: `00000000-0000-4000-8000-${String(writer).padStart(12, '0')}`,
		resourceVersion: '',
		generation: turn,
		creationTimestamp: '2020-01-01T00:00:00Z',
	},
	spec: {filler, turn},
});

/** Writes a second by so many writers, each with one write open. */
function write(pipeline: Pipeline, writers: number): Promise<number> {
	const startedAt = performance.now();
	let written = 0;
	let open = writers;
	return new Promise((resolve, reject) => {
		const next = (writer: number): void => {
			pipeline.submit({
				key: `pods/default/pod-${writer}`,
				object: objectOf(writer, ++written),
				done(outcome) {
					if (!outcome.ok) return reject(new Error(outcome.error.message));
					if (performance.now() - startedAt < spellMs) return next(writer);
					if (--open === 0) resolve((written * 1_000) / (performance.now() - startedAt));
				},
			});
		};
		for (let writer = 0; writer < writers; writer++) next(writer);
	});
}

/** Writes a second in batches of so many, one batch after the other. */
function openFloor(driver: StoreDriver): (size: number) => Promise<number> {
	let meta: Meta = noMeta;
	const commit = (size: number): Promise<void> => {
		const expected = meta;
		const next: Meta = {version: expected.version + size, epoch: 1, lineage: 'bench'};
		const writes = Array.from({length: size}, (_, at) => ({
			key: `/troupe/registry/pods/default/pod-${at}`,
			body: () => JSON.stringify(objectOf(at, next.version)),
		}));
		return new Promise((resolve, reject) => {
			driver.commit({writes, expected, next}, outcome => {
				if (outcome.type !== 'committed') return reject(new Error(outcome.message));
				meta = next;
				resolve();
			});
		});
	};
	return async size => {
		const startedAt = performance.now();
		let written = 0;
		while (performance.now() - startedAt < spellMs) {
			await commit(size);
			written += size;
		}
		return (written * 1_000) / (performance.now() - startedAt);
	};
}
