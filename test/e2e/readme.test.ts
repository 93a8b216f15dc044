// Every command of the README is typed as it stands there, in order, against a real cluster.

import test from 'ava';
import {readSteps} from './_readme.js';
import {openStage} from './_stage.js';
import {walk} from './_tour.js';

test('the commands of the README work in their order and print what it shows', async t => {
	t.timeout(120_000);
	const stage = openStage({realCurl: false});
	t.teardown(stage.close);
	const steps = readSteps().filter(({tools}) => !tools);
	t.true(steps.length > 15, 'the README has a tour');
	await walk(stage, steps, ({step, ran, problem}) => {
		t.is(problem, undefined, `README.md:${step.line} $ ${step.command}\n${ran.out}`);
	});
});
