// Runs of workflows while the control plane is killed: every run ends as it should, and no step whose answer was committed is done again.

import test from 'ava';
import type {Run} from '../../../api/kinds/run.js';
import {eventually, followObjects} from '../../../bench/rigs/cluster/waiting.js';
import {nodeName, openFileHome} from '../_rig.js';
import {openSteps, wrongAbout} from '../_steps.js';

const {cluster} = openFileHome(test, '--network=shared');

test.serial('runs go on where they were after the control plane is killed, and end as they would have', async t => {
	t.timeout(280_000);
	const count = 20;
	const steps = await openSteps(t);
	await steps.begin(cluster, count);
	const {mqtt, api, web} = cluster.endpoints();
	const hostOf = (url: string): string => new URL(url).host;
	for (const part of [0.15, 0.4, 0.7, 0.9]) {
		await eventually(
			`${part} of the calls were made`,
			() => steps.called() >= part,
			() => `${steps.called()} of them`,
			60_000,
		);
		await cluster.killCluster();
		const up = await cluster.troupe(
			...['up', '--detach', `--node=${nodeName}`, '--network=shared'],
			...[`--api=${hostOf(api)}`, `--web=${hostOf(web)}`, `--mqtt=${hostOf(mqtt)}`],
		);
		t.is(up.code, 0, up.err);
	}
	const runs = await followObjects(await cluster.client(), 'runs');
	t.teardown(runs.close);
	const found = await runs.until('all runs are over', objects => {
		const all = [...objects.values()] as readonly Run[];
		return all.every(({status}) => status?.completionTime !== undefined) && all;
	});
	t.is(found.length, count);
	t.deepEqual(wrongAbout(found, steps.keys), []);
	// None has had another attempt.
	t.is(new Set(steps.keys).size, 9 * count);
	t.log(`${steps.keys.length} calls, ${steps.keys.length - new Set(steps.keys).size} of them with a key that was there before`);
});
