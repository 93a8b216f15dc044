// Links that come and go: a server and four nodes, each on a host of its own. `npm run bench -- flapping` does the same two hundred times.
// One link that does nothing else is the harder case, and only the bench's: where its host sees it, the kernel looks for its neighbour
// once a second.

import test from 'ava';
import {disturb} from '../../bench/rigs/fleet/open.js';
import {flappingNames, type Run} from '../../bench/rigs/fleet/run.js';

const rounds = {inTurn: 8, unseen: 4};

test('a link that comes and goes is no dead host: nothing is replaced', async t => {
	t.timeout(280_000);
	const [inTurn, , unseen] = flappingNames;
	const runs: Run[] = [];
	const names = [...Array.from({length: rounds.inTurn}, () => inTurn), ...Array.from({length: rounds.unseen}, () => unseen)];
	await disturb(t, names, 1, run => runs.push(run), {nodes: 4});
	t.is(runs.length, names.length);
	t.deepEqual(
		runs.flatMap(({disturbance, harmed}) => harmed.map(pod => `${disturbance}: ${pod}`)),
		[],
	);
});
