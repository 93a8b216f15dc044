// What objects cost a cluster that nobody does anything with: its resident memory with them, less that before them.

import path from 'node:path';
import type {Json} from '../../../api/object.js';
import type {Client} from '../../../cli/client.js';
import {pathOf, resourceOf} from '../../../cli/cluster/resources.js';
import {pause} from '../../harness/pause.js';
import {rssBytes} from '../../harness/process-figures.js';
import type {Scope} from '../../harness/scope.js';
import {startCluster, temporaryHome, type BenchCluster} from '../cluster/cluster.js';

/** What follows a start or many writes is over then. */
const settleMs = 5_000;
const collectedMs = 2_000;
/** Writes under way. */
const width = 16;

/** For all of them together. */
export type IdleBytes = {
	/** From the next start of the same cluster until its API answers. */
	readonly answersMs: number;
	/** Beside the objects themselves what is kept of new writes, for watches. */
	readonly written: number;
	/** After the next start of the same cluster: the objects alone. */
	readonly loaded: number;
};

/** What is done with the cluster beside. */
export type Around = {
	readonly before?: (client: Client) => Promise<unknown>;
	/** Until the objects are at rest. */
	readonly after?: (client: Client) => Promise<unknown>;
};

export async function bytesOfIdle(
	scope: Scope,
	kind: string,
	objects: readonly Json[],
	nodeFlags: readonly string[],
	{before, after}: Around = {},
): Promise<IdleBytes> {
	const home = temporaryHome(scope);
	const flags = {nodeFlags: ['--import', path.join(import.meta.dirname, 'collect-on-signal.js'), ...nodeFlags]};
	const first = await startCluster(scope, home, flags);
	const empty = await settledRss(first);
	await before?.(first.client);
	await createAll(first, kind, objects);
	await after?.(first.client);
	const written = (await settledRss(first)) - empty;
	await first.stop();
	const startedAt = performance.now();
	const second = await startCluster(scope, home, flags);
	await second.client.json({path: '/api/v1/namespaces'});
	const answersMs = performance.now() - startedAt;
	const loaded = (await settledRss(second)) - empty;
	await second.stop();
	return {answersMs, written, loaded};
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
