// Every command of docs/first-hour.md is typed as it stands there, mistakes included, and prints the screen that is shown.

import {readFileSync, readdirSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {root, stepsOf} from '../../e2e/_readme.js';
import {freePorts, openStage} from '../../e2e/_stage.js';
import {walk} from '../../e2e/_tour.js';

const page = 'docs/first-hour.md';
const text = readFileSync(path.join(root, page), 'utf8');

test('the commands of the first hour work, or fail, in their order and print what the page shows', async t => {
	t.timeout(240_000);
	const stage = openStage({realCurl: false, upFlags: freePorts});
	t.teardown(stage.close);
	const steps = stepsOf(text);
	let typed = 0;
	await walk(stage, steps, ({step, ran, problem}) => {
		typed++;
		t.is(problem, undefined, `${page}:${step.line} $ ${step.command}\n${ran.out}`);
	});
	t.is(typed, steps.length);
});

test('the first hour makes ten mistakes, has no command that is not typed, and uses all of its files', t => {
	t.deepEqual(
		[...text.matchAll(/^\*\*Mistake (\d+): /gm)].map(([, number]) => Number(number)),
		Array.from({length: 10}, (_, at) => at + 1),
	);
	const blocks = [...text.matchAll(/^```(.*)$/gm)].map(match => match[1] ?? '').filter((_info, at) => at % 2 === 0);
	t.deepEqual([...new Set(blocks)].toSorted(), ['console', 'console fails']);
	const commands = stepsOf(text).map(({command}) => command);
	for (const file of readdirSync(path.join(root, 'examples/first-hour'))) {
		t.true(
			commands.some(command => command.includes(`examples/first-hour/${file}`)),
			file,
		);
	}
});
