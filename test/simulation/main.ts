// `npm run simulate -- [--seed N] [--seeds COUNT] [--from N]`: long runs, or one seed with its history.

import {parseArgs} from 'node:util';
import {runScenario} from './scenario.js';

const {values} = parseArgs({
	options: {seed: {type: 'string'}, seeds: {type: 'string', default: '5000'}, from: {type: 'string', default: '1'}},
});

if (values.seed === undefined) runMany(Number(values.from), Number(values.seeds));
else runOne(Number(values.seed));

function runOne(seed: number): void {
	const {violations, history, steps, virtualMs} = runScenario(seed, {trace: true});
	console.log(history.join('\n'));
	console.log(`seed ${seed}: ${steps} steps, ${Math.round(virtualMs / 1000)} s of virtual time`);
	for (const violation of violations) console.log(`  broken: ${violation}`);
	if (violations.length > 0) process.exitCode = 1;
}

function runMany(from: number, count: number): void {
	const startedMs = performance.now();
	let failed = 0;
	for (let seed = from; seed < from + count; seed++) {
		const {violations} = runScenario(seed);
		if (violations.length === 0) continue;
		failed++;
		console.log(`seed ${seed}: ${violations[0] ?? ''}${violations.length > 1 ? ` (and ${violations.length - 1} more)` : ''}`);
	}
	const tookMs = performance.now() - startedMs;
	console.log(`${count} seeds, ${failed} failed, ${(tookMs / count).toFixed(1)} ms a seed`);
	if (failed > 0) process.exitCode = 1;
}
