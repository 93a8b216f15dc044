// The scheduler in a whole cluster: pods that count more get their place, taints make pods leave, a change of the strategy counts at once.

import test from 'ava';
import type {Json} from '../../../api/object.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {isReady} from '../../../bench/rigs/cluster/pods.js';
import {openFileHome} from '../_rig.js';
import {until} from '../../../bench/rigs/cluster/waiting.js';

const {client} = openFileHome(test, '--runtime=simulated', '--simulated-nodes=2');

const post = (path: string, body: Json): Promise<unknown> => client().json({method: 'POST', path, body});
const patch = (path: string, body: Json): Promise<unknown> =>
	client().json({method: 'PATCH', path, contentType: 'application/merge-patch+json', body});

/** A simulated node has 64 cpu. */
const aPod = (name: string, cpu: string, spec: {readonly [field: string]: Json} = {}): Promise<unknown> =>
	post('/api/v1/namespaces/default/pods', {
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {name},
		spec: {
			containers: [{name: 'main', image: 'x', command: ['serve'], resources: {requests: {cpu}}}],
			terminationGracePeriodSeconds: 1,
			...spec,
		},
	});

const reasonOf = (pod: Pod | undefined): string | undefined =>
	pod?.status?.conditions?.find(({type, reason}) => type === 'PodScheduled' && reason === 'Unschedulable')?.message;

test.serial('a pod of a higher priority takes the place of a lower one, and the room that this one had', async t => {
	await post('/apis/scheduling.k8s.io/v1/priorityclasses', {
		apiVersion: 'scheduling.k8s.io/v1',
		kind: 'PriorityClass',
		metadata: {name: 'high'},
		value: 1000,
	});
	for (const n of [1, 2, 3]) await aPod(`low-${n}`, '60');
	const addresses = await until(client(), 'pods', 'all to run', found => {
		const pods = [1, 2, 3].map(n => found.get(`low-${n}`) as Pod);
		return pods.every(isReady) && pods.map(({status}) => status?.podIP);
	});
	t.is(new Set(addresses).size, 3, 'nodes that only pretend share a network');
	await aPod('high', '60', {priorityClassName: 'high'});
	const node = await until(client(), 'pods', 'the high one to run', found => {
		const high = found.get('high') as Pod | undefined;
		return found.size === 3 && high !== undefined && isReady(high) && high.spec?.nodeName;
	});
	t.truthy(node);
});

test.serial('a pod that fits nowhere says why and is bound when there is room; a taint makes pods leave', async t => {
	await aPod('waits', '10', {tolerations: [{key: 'maintenance', operator: 'Exists'}]});
	const why = await until(client(), 'pods', 'a reason', found => reasonOf(found.get('waits') as Pod));
	t.regex(why ?? '', /^0\/3 nodes fit: sim-1: too little cpu is free for 10; sim-2: .*; vm: /);
	const pods = (await client().json({path: '/api/v1/namespaces/default/pods'})) as {readonly items: readonly Pod[]};
	const low = pods.items.find(({metadata}) => metadata.name.startsWith('low-'));
	await patch(`/api/v1/nodes/${low?.spec?.nodeName ?? ''}`, {spec: {taints: [{key: 'maintenance', effect: 'NoExecute'}]}});
	const place = await until(
		client(),
		'pods',
		'the waiting pod to have a node',
		found => (found.get('waits') as Pod | undefined)?.spec?.nodeName,
	);
	t.is(place ?? '', low?.spec?.nodeName ?? 'nowhere');
});

test.serial('a strategy that is set counts for the next pod', async t => {
	await patch('/apis/troupe.dev/v1/clusterconfigs/cluster', {spec: {scheduler: {strategy: 'most-pods'}}});
	const waits = (await client().json({path: '/api/v1/namespaces/default/pods/waits'})) as Pod;
	await aPod('one', '1', {tolerations: [{operator: 'Exists'}]});
	await aPod('two', '1', {tolerations: [{operator: 'Exists'}]});
	const places = await until(client(), 'pods', 'both to be bound', found => {
		const nodes = ['one', 'two'].flatMap(name => (found.get(name) as Pod | undefined)?.spec?.nodeName ?? []);
		return nodes.length === 2 && nodes;
	});
	t.is(places[0], places[1]);
	t.truthy(waits.spec?.nodeName);
});
