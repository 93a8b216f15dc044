// What nodes and pods use, on topics.

import test from 'ava';
import {succeeded} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {startUsageTopics} from '../../server/usage-topics.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {aNode} from '../actors/_objects.js';
import {testCluster} from './cluster.js';

const used = {cpuNanocores: 5e7, windowMs: 5_000, memoryBytes: 1_024};

test('what nodes and pods use is measured and published while somebody listens, and else not', async t => {
	const cluster = testCluster();
	const clock = new ManualClock();
	const published: [string, unknown][] = [];
	let wanted = /^$/;
	cluster.put(aNode());
	const uids = ['web', 'half', 'waiting'].map(name => {
		const pod = cluster.pod(name);
		const status = {phase: name === 'waiting' ? 'Pending' : 'Running'};
		return cluster.put({...pod, spec: {...(pod.spec as object), nodeName: 'node-a'}, status}).metadata.uid;
	});
	const [web = '', half = '', waiting = ''] = uids;
	cluster.answers.set('troupe://node-a/usage', () =>
		succeeded({
			atMs: 7,
			node: {...used, memoryBytes: 9},
			containers: [
				{uid: web, container: 'a', ...used},
				{uid: web, container: 'b', ...used},
				{uid: half, container: 'a', ...used},
				{uid: half, container: 'b'},
				{uid: waiting, container: 'a', ...used},
			],
		}),
	);
	const end = startUsageTopics({
		control: cluster.control,
		clock,
		isWanted: filter => wanted.test(filter),
		publish: (topic, payload, {retain}) => {
			t.false(retain);
			published.push([topic.replace('troupe/v1/', ''), JSON.parse(String(payload))]);
		},
	});
	const ofNode: [string, unknown] = ['metrics/nodes/node-a', {cpuNanocores: 5e7, memoryBytes: 9, atMs: 7}];
	const ofPod: [string, unknown] = ['metrics/pods/default/web', {cpuNanocores: 1e8, memoryBytes: 2_048, atMs: 7}];
	for (const [filter, expected] of [
		[/^$/, []],
		[/nodes/, [ofNode]],
		[/pods/, [ofPod]],
		[/./, [ofNode, ofPod]],
	] as const) {
		wanted = filter;
		published.length = 0;
		const asked = cluster.asked.length;
		await eventually('the next round is due', () => clock.nextAtMs() !== undefined);
		clock.advance(limits.usageTopicsMs);
		await eventually('the round is over', () => clock.nextAtMs() !== undefined);
		t.deepEqual(published, [...expected]);
		t.is(cluster.asked.length - asked, expected.length === 0 ? 0 : 1);
	}
	clock.advance(limits.usageTopicsMs);
	end();
	published.length = 0;
	await new Promise(resolve => setImmediate(resolve));
	t.deepEqual(published, []);
	t.is(clock.nextAtMs(), undefined);
});
