// A node that is short of memory ends pods, the least important first, and takes no new ones until it has enough.

import {existsSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {ApiObject} from '../../api/object.js';
import {conditionOf} from '../../api/conditions.js';
import type {NodeObject} from '../../api/kinds/node.js';
import {phaseOf, pidsWhenRunning} from '../../bench/rigs/cluster/pods.js';
import {podOf, setOf} from '../../bench/rigs/cluster/manifests.js';
import {programsOf} from '../../bench/rigs/cluster/processes.js';
import {eventually, followObjects} from '../../bench/rigs/cluster/waiting.js';
import {openHome} from './_rig.js';

const important = {apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: {name: 'important'}, value: 1_000};

test('pods of a node that is short of memory are evicted by priority, and it takes others when it has enough', async t => {
	t.timeout(120_000);
	const cluster = openHome(t);
	await cluster.up();
	await cluster.apply(important);
	await cluster.apply(podOf('late', ['sleep', '100000'], {priorityClassName: 'important'}));
	await cluster.apply(podOf('early', ['sleep', '100000']));
	await cluster.apply(setOf('set', 1));
	const first = await cluster.client();
	await pidsWhenRunning(first, 'late');
	await pidsWhenRunning(first, 'early');
	await eventually('all run', () => programsOf(cluster.home).length === 3);
	await cluster.fine('down');

	await cluster.up('--eviction-hard=memory.available<99%');
	const client = await cluster.client();
	const nodes = await followObjects(client, 'nodes');
	const pressed = await nodes.until('the node is short', found =>
		[...found.values()].find(({status}) => conditionOf((status as NodeObject['status'])?.conditions, 'MemoryPressure')?.status === 'True'),
	);
	t.true((pressed as NodeObject).spec?.taints?.some(({key}) => key === 'node.kubernetes.io/memory-pressure'));
	const pods = await followObjects(client, 'pods');
	const isEvicted = (name: string) =>
		pods.until(`${name} is evicted`, found => {
			const pod = found.get(name);
			return phaseOf(pod) === 'Failed' ? pod : undefined;
		});
	const early = await isEvicted('early');
	const late = await isEvicted('late');
	t.like(early.status, {reason: 'Evicted'});
	t.regex(
		String((late.status as {message?: string}).message),
		/^the node was low on resource: memory; threshold: 99%, available: \d+Ki; the pod was using \d+Ki, its request is 0Ki$/,
	);
	const order = pods.changes.flatMap(({object}) => (phaseOf(object) === 'Failed' ? [object.metadata.name] : []));
	t.true(order.indexOf('early') < order.indexOf('late'), order.join(' '));
	await pods.until('the set has one that waits', found =>
		[...found.values()].some(pod => pod.metadata.name.startsWith('set-') && phaseOf(pod) === 'Pending'),
	);
	await eventually('nothing runs', () => programsOf(cluster.home).length === 0);
	const folderOf = ({metadata}: ApiObject): string => path.join(cluster.home, 'data', 'runtime', metadata.uid);
	await eventually('what they had on the disk is gone', () => ![early, late].some(pod => existsSync(folderOf(pod))));
	t.regex(
		(await cluster.start(['logs', 'early']).ended).err,
		/logs "early" not found: its node was short of something, has evicted the pod/,
	);
	t.regex(await cluster.fine('get', 'pods'), /^early +0\/1 +Evicted /m);
	t.regex(await cluster.fine('get', 'events', '-A'), /NodeHasInsufficientMemory/);
	t.regex(await cluster.fine('why', 'pod/early'), /low on resource: memory/);
	pods.close();
	nodes.close();
	await cluster.fine('down');

	await cluster.up('--eviction-hard=none');
	const again = await followObjects(await cluster.client(), 'pods');
	await again.until('the set runs', found =>
		[...found.values()].some(pod => pod.metadata.name.startsWith('set-') && phaseOf(pod) === 'Running'),
	);
	again.close();
	t.regex(await cluster.fine('describe', 'node'), /MemoryPressure +False/);
});
