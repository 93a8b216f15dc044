// `npm run mutate -- [WORD ...] [--jobs N] [--verbose]`: plants each mistake of the catalogue, or those that have a word in their line or their
// files, and runs the test that has to notice it.

import os from 'node:os';
import {parseArgs} from 'node:util';
import {mistakes} from './catalogue.js';
import type {Mistake} from './mistake.js';
import {run} from './run.js';
import {killerIn} from './verdict.js';

const {values, positionals} = parseArgs({
	allowPositionals: true,
	options: {jobs: {type: 'string', default: String(os.availableParallelism())}, verbose: {type: 'boolean', default: false}},
});

const isWanted = ({what, file, test}: Mistake): boolean =>
	positionals.length === 0 || positionals.some(word => [what, file, test].some(text => text.includes(word)));

const wanted = mistakes.filter(isWanted);
const jobs = Number(values.jobs);
if (!Number.isSafeInteger(jobs) || jobs < 1) refuse(`--jobs must be a whole number from 1, got "${values.jobs}"`);
else if (wanted.length === 0) refuse(`no mistake has ${positionals.map(word => `"${word}"`).join(' or ')} in its line or its files`);
else process.exitCode = await runAll(wanted);

function refuse(message: string): void {
	console.error(message);
	process.exitCode = 2;
}

/** The exit code. */
async function runAll(all: readonly Mistake[]): Promise<number> {
	const beganMs = performance.now();
	const unsound = await unsoundTests(all);
	const left: Mistake[] = [];
	await inJobs(all, async mistake => {
		if (!(await isKilled(mistake, unsound))) left.push(mistake);
	});
	const seconds = Math.round((performance.now() - beganMs) / 1_000);
	console.log(`\n${all.length} mistakes, ${all.length - left.length} killed, ${left.length} not, in ${seconds} s`);
	for (const {what, file} of left) console.log(`  not killed: ${what} (${file})`);
	return left.length === 0 ? 0 : 1;
}

/** A test that fails by itself kills nothing. */
async function unsoundTests(all: readonly Mistake[]): Promise<ReadonlySet<string>> {
	const unsound = new Set<string>();
	await inJobs([...new Set(all.map(({test}) => test))], async test => {
		const titles = all.filter(each => each.test === test).map(({title}) => title);
		const named = titles.filter(title => title !== undefined);
		const {verdict, report} = await run(test, named.length < titles.length ? [] : [...new Set(named)]);
		if (verdict === 'survived') return;
		unsound.add(test);
		console.log(`${test} does not pass without any mistake: ${verdict}\n${report}`);
	});
	return unsound;
}

async function isKilled(mistake: Mistake, unsound: ReadonlySet<string>): Promise<boolean> {
	const {what, file, test, title} = mistake;
	const tell = (verdict: string, seconds: number, by = ''): void =>
		console.log(`${verdict.padEnd(13)} ${seconds.toFixed(1).padStart(5)} s  ${what} (${file})\n${' '.repeat(23)}${test}: ${by}`);
	if (unsound.has(test)) {
		tell('not run', 0);
		return false;
	}
	const {verdict, seconds, report} = await run(test, title === undefined ? [] : [title], mistake);
	tell(verdict, seconds, killerIn(report));
	if (values.verbose || (verdict !== 'killed' && verdict !== 'survived')) console.log(report);
	return verdict === 'killed';
}

async function inJobs<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
	const left = [...items];
	const worker = async (): Promise<void> => {
		for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
	};
	await Promise.all(Array.from({length: jobs}, worker));
}
