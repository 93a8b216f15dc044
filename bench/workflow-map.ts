// A Map of ten thousand items whose tasks are answered at once: how long it takes, the longest time in which nothing else had its turn, and what it
// costs in memory at its most. Each in a process of its own, beside one writer of the commit pipeline.

import {levelStores, startRuns} from './workflow-steps.js';
import {peakRssBytes, rssBytes} from './harness/process-figures.js';
import {createScope, type Scope} from './harness/scope.js';
import {ratios, type Row} from './harness/table.js';

const count = 10_000;
const megabyte = 1_000_000;
const writesMs = 1_000;

const maps = [
	{concurrency: 40, from: 'task'},
	{concurrency: 1_000, from: 'task'},
	{concurrency: 40, from: 'input'},
	{concurrency: 1_000, from: 'input'},
] as const;

export async function mapRows(scope: Scope, rounds: number, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	const rows: Row[] = [];
	for (const map of maps) {
		const perSecond: number[] = [];
		const writes: number[] = [];
		const longest: number[] = [];
		const grown: number[] = [];
		let commits = 0;
		for (let round = 0; round < rounds; round++) {
			const inner = createScope();
			scope.defer(inner.close);
			const part = await startRuns(inner, levelStores(inner), nodeFlags);
			writes.push(await part.call('writes', {writers: 1, ms: writesMs}));
			const before = rssBytes(part.pid);
			const mapped = await part.call('map', {count, ...map});
			perSecond.push((count * 1_000) / mapped.ms);
			longest.push(mapped.longestMs);
			grown.push((peakRssBytes(part.pid) - before) / megabyte);
			({commits} = mapped);
			await inner.close();
		}
		const what = `Map of ${count} items of ${map.from === 'task' ? 'a task' : "the run's input"}, ${map.concurrency} at once`;
		rows.push(
			{what: `${what}: time`, values: perSecond.map(each => count / each), unit: 's', note: `${commits} commits`},
			{what: `${what}: items`, values: perSecond, unit: '/s'},
			{what: `${what}: items / writes of one writer`, values: ratios(perSecond, writes), unit: 'x'},
			{what: `${what}: the longest step`, values: longest, unit: 'ms', goal: {atMost: 100}},
			{what: `${what}: memory at its most, beyond that before`, values: grown, unit: 'MB'},
		);
	}
	return rows;
}
