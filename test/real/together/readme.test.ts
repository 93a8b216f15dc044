// The README once more, with the real curl, and with those of its commands that need mosquitto_sub and kubectl.

import test from 'ava';
import {readSteps, type Step} from '../../e2e/_readme.js';
import {openStage} from '../../e2e/_stage.js';
import {walk} from '../../e2e/_tour.js';
import {hasKubectl} from '../_kubectl.js';

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
