// What objects cost a cluster that nobody does anything with: its resident memory with them, less that before them.

import path from 'node:path';
import type {Json} from '../../../api/object.js';
import {pathOf, resourceOf} from '../../../cli/cluster/resources.js';
import {pause} from '../../harness/pause.js';
import {rssBytes} from '../../harness/process-figures.js';
import {createScope, type Scope} from '../../harness/scope.js';
import {startCluster, temporaryHome, type BenchCluster} from '../cluster/cluster.js';

/** What follows a start or many writes is over then. */
const settleMs = 5_000;
const collectedMs = 2_000;
/** Writes under way. */
const width = 16;

/** In bytes, for all of them together. */
export async function bytesOfIdle(scope: Scope, kind: string, objects: readonly Json[], nodeFlags: readonly string[]): Promise<number> {
	const inner = createScope();
	scope.defer(inner.close);
	const collects = path.join(import.meta.dirname, 'collect-on-signal.js');
	const cluster = await startCluster(inner, temporaryHome(inner), {nodeFlags: ['--import', collects, ...nodeFlags]});
	const before = await settledRss(cluster);
	await createAll(cluster, kind, objects);
	const after = await settledRss(cluster);
	await inner.close();
	return after - before;
}

async function settledRss({pid}: BenchCluster): Promise<number> {
	await pause(settleMs);
	process.kill(pid, 'SIGUSR2');
	await pause(collectedMs);
	return rssBytes(pid);
}

async function createAll({client}: BenchCluster, kind: string, objects: readonly Json[]): Promise<void> {
	const place = pathOf(resourceOf(kind), 'default');
	const left = objects.values();
	const writer = async (): Promise<void> => {
		for (const body of left) await client.json({method: 'POST', path: place, body});
	};
	await Promise.all(Array.from({length: width}, writer));
}
