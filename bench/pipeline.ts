// The commit pipeline against the driver under it, LevelDB and etcd: writes of 1 kB objects by some writers, each of which waits for its
// answer.

import path from 'node:path';
import {limits} from '../api/limits.js';
import {systemClock} from '../system/time/clock.js';
import {connectEtcd} from '../system/store/etcd-client.js';
import {createEtcdStore} from '../system/store/etcd-store.js';
import {openLevelStore} from '../system/store/level-store.js';
import {noMeta} from '../system/store/meta.js';
import type {Meta, StoreDriver} from '../system/store/store.js';
import {startEtcd} from './rigs/servers/etcd.js';
import type {Benchmark} from './harness/benchmark.js';
import {temporaryFolder} from './rigs/cluster/cluster.js';
import {objectOf, openWriters} from './rigs/writers.js';
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
	const write = await openWriters(scope, await openDriver(scope, open, 'pipeline'));
	const floor = openFloor(await openDriver(scope, open, 'floor'));
	const rows: Row[] = [];
	for (const writers of writersOf) {
		const ours: number[] = [];
		const bare: number[] = [];
		for (let round = 0; round < rounds; round++) {
			bare.push(await floor(Math.min(writers, limits.batchOperations)));
			ours.push(await write({writers, ms: spellMs}));
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
