// The host dies under a busy cluster, again and again, at random moments: everything comes back, nothing twice.

import {randomInt} from 'node:crypto';
import test from 'ava';
import {isReady, untilAnswers} from '../../bench/rigs/cluster/pods.js';
import {obedientPod, setOf} from '../../bench/rigs/cluster/manifests.js';
import {processesOf, programsOf} from '../../bench/rigs/cluster/processes.js';
import {openHome} from '../e2e/_rig.js';
import {eventually, followObjects, until} from '../../bench/rigs/cluster/waiting.js';

const rounds = 10;

test(`everything is back after each of ${rounds} losses of power in the middle of changes`, async t => {
	const cluster = openHome(t);
	await cluster.up();
	let client = await cluster.client();
	await cluster.apply(obedientPod('web'), setOf('many', 5));
	const uid = await until(client, 'pods', 'the first run', pods => isReady(pods.get('web')) && pods.get('web')?.metadata.uid);
	for (let round = 1; round <= rounds; round++) {
		const wanted = randomInt(0, 40);
		const pods = await followObjects(client, 'pods');
		const scaling = cluster.start(['scale', 'rs/many', `--replicas=${wanted}`]);
		const changes = pods.changes.length + randomInt(0, 100);
		const isOver = () => [...pods.objects.values()].filter(isReady).length === wanted + 1 && pods.objects.size === wanted + 1;
		await pods.until('a number of changes, or the end of them', () => pods.changes.length >= changes || isOver());
		await cluster.killEverything();
		pods.close();
		const {code} = await scaling.ended;
		t.deepEqual(processesOf(cluster.home), []);

		await cluster.up();
		client = await cluster.client();
		const sets = await until(client, 'rs', 'the set', found => found.get('many'));
		const replicas = (sets.spec as {replicas: number}).replicas;
		if (code === 0) t.is(replicas, wanted, 'an acknowledged scale is not lost');
		const running = await until(client, 'pods', `${replicas + 1} running pods`, found => {
			const ready = [...found.values()].filter(isReady);
			return found.size === replicas + 1 && ready.length === found.size && ready;
		});
		await eventually(
			'there is one program for each',
			() => programsOf(cluster.home).length === running.length,
			() => `${programsOf(cluster.home).length} programs`,
		);
		t.deepEqual(
			programsOf(cluster.home)
				.map(({podUid}) => podUid)
				.toSorted(),
			running.map(({metadata}) => metadata.uid).toSorted(),
		);
		const web = running.find(({metadata}) => metadata.name === 'web');
		t.is(web?.metadata.uid, uid);
		await untilAnswers(web, programsOf(cluster.home).find(({podUid}) => podUid === uid)?.pid);
		t.log(`round ${round}: died on the way to ${wanted}, came back with ${replicas}`);
	}
	await cluster.fine('down', '--pods');
	t.deepEqual(processesOf(cluster.home), []);
});
