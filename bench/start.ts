// From `troupe up` to ready, in a fresh home and in the same one again; and what a cluster costs that has nothing to do.

import {spawn} from 'node:child_process';
import {readdirSync, readFileSync, statSync} from 'node:fs';
import {createHash} from 'node:crypto';
import path from 'node:path';
import type {Benchmark} from './harness/benchmark.js';
import {pause} from './harness/pause.js';
import {cpuSeconds, peakRssBytes, rssBytes, writtenBytes} from './harness/process-figures.js';
import {createScope, type Scope} from './harness/scope.js';
import type {Row} from './harness/table.js';
import {startCluster, temporaryHome} from './rigs/cluster/cluster.js';
import {main} from './rigs/main-file.js';

const defaultRounds = 5;
/** What follows a start, such as folders made in advance, is over then. */
const settleMs = 5_000;
const mebibyte = 1_048_576;

export const startBenchmark: Benchmark = {
	name: 'start',
	about: 'troupe up to ready, and an idle cluster',
	async run({rounds = defaultRounds, idleSeconds, nodeFlags}, scope) {
		const first: number[] = [];
		const second: number[] = [];
		const floor: number[] = [];
		const overhead: number[] = [];
		for (let round = 0; round < rounds; round++) {
			floor.push(await runNode(bare));
			if (scope.isClosing()) throw new Error('interrupted');
			const inner = createScope();
			scope.defer(inner.close);
			const home = temporaryHome(inner);
			for (const times of [first, second]) {
				const cluster = await startCluster(inner, home, {nodeFlags});
				times.push(cluster.readyMs);
				if (times === second) overhead.push((await runNode([main, 'get', 'pods', `--home=${home}`])) - (await runNode(bare)));
				await cluster.stop();
			}
			await inner.close();
		}
		return [
			{what: 'up to ready, fresh home', values: first, unit: 'ms', goal: {atMost: 1_000}},
			{what: 'up to ready, second start', values: second, unit: 'ms', goal: {atMost: 1_000}},
			{what: 'node that does nothing', values: floor, unit: 'ms'},
			{what: 'troupe get pods, beyond a node that does nothing', values: overhead, unit: 'ms', goal: {atMost: 150}},
			...(await idle(scope, idleSeconds, nodeFlags)),
		];
	},
};

const bare = ['-e', '0'];

/** From the spawn to the end of a process of node, in milliseconds. */
function runNode(words: readonly string[]): Promise<number> {
	const startedAt = performance.now();
	return new Promise((resolve, reject) => {
		spawn(process.execPath, words, {stdio: 'ignore'})
			.once('error', reject)
			.once('exit', () => resolve(performance.now() - startedAt));
	});
}

async function idle(scope: Scope, seconds: number, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	const {pid, home} = await startCluster(scope, temporaryHome(scope), {nodeFlags});
	await pause(settleMs);
	const before = {files: filesIn(home), cpu: cpuSeconds(pid), written: writtenBytes(pid), at: performance.now()};
	await pause(seconds * 1_000);
	const tookSeconds = (performance.now() - before.at) / 1_000;
	const cpuShare = (100 * (cpuSeconds(pid) - before.cpu)) / tookSeconds;
	const written = writtenBytes(pid) - before.written;
	const changed = changes(before.files, filesIn(home));
	const about = `in ${Math.round(tookSeconds)} s`;
	return [
		{
			what: 'RSS when idle',
			values: [rssBytes(pid) / mebibyte],
			unit: 'MiB',
			goal: {atMost: 100},
			note: `peak ${Math.round(peakRssBytes(pid) / mebibyte)}`,
		},
		{what: 'processor when idle', values: [cpuShare], unit: '%', goal: {atMost: 1}, note: about},
		{what: 'written when idle, as the kernel counts', values: [written], unit: 'bytes', goal: {atMost: 0}, note: about},
		{what: 'files of the home that changed', values: [changed.length], unit: '', goal: {atMost: 0}, note: changed.join(' ')},
	];
}

/** Every file below a folder, with a mark of what is in it. */
export function filesIn(folder: string): ReadonlyMap<string, string> {
	const names = readdirSync(folder, {recursive: true, encoding: 'utf8'});
	return new Map(
		names.flatMap(name => {
			const file = path.join(folder, name);
			const stats = statSync(file, {throwIfNoEntry: false});
			return stats?.isFile() === true
				? [[name, `${stats.mtimeMs} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`] as const]
				: [];
		}),
	);
}

/** The files that are not as they were. */
export const changes = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] =>
	[...new Set([...before.keys(), ...after.keys()])].filter(name => before.get(name) !== after.get(name));
