// Five nodes and a server, each on a host of its own (a network namespace), under every disturbance there is: what has to move moves,
// and nothing else does. `npm run bench -- disturbances` does the same fifty times and tells the times.

import test from 'ava';
import {disturb} from '../../bench/rigs/fleet/open.js';
import {disturbanceNames, type Run} from '../../bench/rigs/fleet/run.js';

test('what is lost is replaced; short trouble moves nothing', async t => {
	t.timeout(280_000);
	const runs: Run[] = [];
	await disturb(t, disturbanceNames, 1, run => runs.push(run));
	t.deepEqual(
		runs.map(({disturbance}) => disturbance),
		[...disturbanceNames],
	);
	t.deepEqual(
		runs.flatMap(({disturbance, harmed}) => harmed.map(pod => `${disturbance}: ${pod}`)),
		[],
	);
	t.deepEqual(
		runs.filter(({lost, replacedMs}) => lost > 0 && replacedMs === undefined),
		[],
	);
});
