// The README once more, with the real curl, and with those of its commands that need mosquitto_sub and kubectl.

import {spawnSync} from 'node:child_process';
import test from 'ava';
import {readSteps, type Step} from '../e2e/_readme.js';
import {openStage} from '../e2e/_stage.js';
import {walk} from '../e2e/_tour.js';

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
if (!hasKubectl) process.stdout.write('KUBECTL IS NOT INSTALLED: THE COMMANDS OF THE README THAT NEED IT ARE SKIPPED\n');

const isPossible = ({command}: Step): boolean => hasKubectl || !command.startsWith('kubectl ');

test('all commands of the README work, those for mosquitto_sub and kubectl too', async t => {
	const stage = openStage({realCurl: true});
	t.teardown(stage.close);
	const steps = readSteps().filter(isPossible);
	t.true(steps.some(({command}) => command.startsWith('mosquitto_sub ')));
	await walk(stage, steps, ({step, ran, problem}) => {
		t.is(problem, undefined, `README.md:${step.line} $ ${step.command}\n${ran.out}`);
	});
});
