// The control plane dies somewhere in the middle of a scale-up; the next one ends with what was asked for, not more.

import {randomInt} from 'node:crypto';
import test from 'ava';
import {isReady} from '../../../bench/rigs/cluster/pods.js';
import {setOf} from '../../../bench/rigs/cluster/manifests.js';
import {lives, processesOf, programsOf} from '../../../bench/rigs/cluster/processes.js';
import {openHome} from '../_rig.js';
import {eventually, followObjects, until, type Following} from '../../../bench/rigs/cluster/waiting.js';

const wanted = 50;
const rounds = 4;

/** What is counted to find a moment for the kill: records, programs on the host, pods that are known to run. */
const sorts = ['seen', 'started', 'running'] as const;

/** Resolves when so many of the pods have come so far. */
async function momentOf(sort: (typeof sorts)[number], count: number, pods: Following, home: string): Promise<void> {
	switch (sort) {
		case 'seen':
			return void (await pods.until(`${count} pods`, found => found.size >= count));
		case 'started':
			return eventually(`${count} programs`, () => programsOf(home).length >= count);
		case 'running':
			return void (await pods.until(`${count} running pods`, found => [...found.values()].filter(isReady).length >= count));
	}
}

test(`a kill during a scale to ${wanted} ends at ${wanted}, none of them twice, none besides`, async t => {
	t.timeout(58_000);
	const cluster = openHome(t);
	await cluster.up();
	let client = await cluster.client();
	await cluster.apply(setOf('many', 0));
	const first = randomInt(0, sorts.length);
	for (let round = 0; round < rounds; round++) {
		const pods = await followObjects(client, 'pods');
		const scaling = cluster.start(['scale', 'rs/many', `--replicas=${wanted}`]);
		const count = randomInt(1, wanted);
		const sort = sorts[(round + first) % sorts.length] ?? 'seen';
		await momentOf(sort, count, pods, cluster.home);
		await cluster.killCluster();
		pods.close();
		await scaling.ended; // It may have had no answer; that a pod was seen says that the scale is committed.
		t.log(`killed when ${count} were ${sort}; programs then: ${programsOf(cluster.home).length}`);

		await cluster.up();
		client = await cluster.client();
		const uids = await until(client, 'pods', `${wanted} running pods`, found => {
			const ready = [...found.values()].filter(isReady);
			return found.size === wanted && ready.length === wanted && ready.map(({metadata}) => metadata.uid);
		});
		const programs = () => programsOf(cluster.home);
		await eventually(
			'there is nothing but these',
			() => programs().length === wanted,
			() => `programs: ${programs().length}`,
		);
		t.deepEqual(
			programs()
				.map(({podUid}) => podUid)
				.toSorted(),
			uids.toSorted(),
		);
		t.is(processesOf(cluster.home).filter(({role}) => role === 'shim').length, wanted);
		await until(
			client,
			'rs',
			'its status to say so',
			sets => (sets.get('many')?.status as {readyReplicas?: number}).readyReplicas === wanted,
		);

		const pids = programs().map(({pid}) => pid);
		await cluster.fine('scale', 'rs/many', '--replicas=0', '--wait');
		await until(client, 'pods', 'no pod to be left', found => found.size === 0);
		t.false(pids.some(lives));
	}
	await cluster.fine('down');
	t.deepEqual(cluster.processes(), []);
});
