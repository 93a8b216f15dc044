// Three nodes whose links to the server take 50 ms each way and lose two packets of a hundred: what has to move moves, nothing else does.

import test from 'ava';
import {disturb} from '../../bench/rigs/fleet/open.js';
import type {DisturbanceName, Run} from '../../bench/rigs/fleet/run.js';

const names: readonly DisturbanceName[] = ['link is cut for 3 s', 'host dies', 'control plane is killed'];

test('slow links that lose packets: nobody is given up who lives, and a host that dies is replaced', async t => {
	const runs: Run[] = [];
	await disturb(t, names, 1, run => runs.push(run), {nodes: 3, link: {lossPercent: 2, delayMs: 50}});
	t.log(runs);
	t.deepEqual(
		runs.map(({disturbance, harmed}) => [disturbance, ...harmed]),
		names.map(name => [name]),
	);
	t.true(runs.every(({lost, replacedMs}) => lost === 0 || replacedMs !== undefined));
});
