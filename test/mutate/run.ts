// Runs tests in a copy of the project, each run in a lane of its own, so that nothing of it goes on.

import {spawn} from 'node:child_process';
import {rmSync} from 'node:fs';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import type {Mistake} from './mistake.js';
import {makeTree, plant, root} from './tree.js';
import {verdictOf, type Verdict} from './verdict.js';

export type Result = {readonly verdict: Verdict | 'out of time'; readonly seconds: number; readonly report: string};

/** For a run, and for the time in it in which no test ends: then those that wait have failed. */
const deadlineMs = 120_000;
const silenceMs = 30_000;

const lane = path.join(root, 'build/test/lane/main.js');
const ava = 'node_modules/ava/entrypoints/cli.mjs';

/** Those of a file, or of these titles in it; without a mistake in the project as it is. */
export async function run(test: string, titles: readonly string[], mistake?: Mistake): Promise<Result> {
	const beganMs = performance.now();
	const tree = makeTree();
	try {
		if (mistake !== undefined) plant(tree, mistake);
		const {report, isLate} = await reportOf(tree, wordsOf(test, titles));
		const seconds = (performance.now() - beganMs) / 1_000;
		const verdict = verdictOf(report);
		return {verdict: isLate && verdict !== 'killed' ? 'out of time' : verdict, seconds, report};
	} finally {
		rmSync(tree, {recursive: true, force: true, maxRetries: 3});
	}
}

function wordsOf(test: string, titles: readonly string[]): readonly string[] {
	const config = test.startsWith('test/real/') ? ['--config', 'ava.real.config.js'] : [];
	return [
		...config,
		`--timeout=${silenceMs}ms`,
		...titles.flatMap(title => ['--match', title]),
		path.join('build', test.replace(/\.ts$/, '.js')),
	];
}

async function reportOf(tree: string, words: readonly string[]): Promise<{readonly report: string; readonly isLate: boolean}> {
	const child = spawn(process.execPath, [lane, process.execPath, ava, ...words], {cwd: tree, stdio: ['ignore', 'pipe', 'pipe']});
	let isLate = false;
	const timer = setTimeout(() => {
		isLate = true;
		child.kill();
	}, deadlineMs);
	const [report, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
	clearTimeout(timer);
	return {report: report + errors, isLate};
}
