// Who is woken by which change, and who is left asleep.

import test from 'ava';
import type {ApiObject} from '../../api/object.js';
import {wakesOf} from '../../actors/control/wakes.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {
	aClusterConfig,
	aNamespace,
	aNode,
	aPod,
	aPriorityClass,
	aReadyPod,
	aReplicaSet,
	drop,
	indexOf,
	now,
	ownedBy,
	put,
	scheduled,
} from './_objects.js';

const set = aReplicaSet();
const owned = {labels: {app: 'web'}, ownerReferences: [ownedBy(set)]};
const prefix = 'troupe://control/';

/** Addresses woken by the last change, without their prefix, and without repeats. */
const woken = (index: ObjectIndex, change: ReturnType<typeof put>): string[] => [
	...new Set(
		wakesOf(change, index).map(({to, message}) => `${to.slice(prefix.length)}${message.type === 'wake' ? '' : ` ${message.type}`}`),
	),
];

/** Whom it wakes that one object becomes another, in a world with others. */
function change(before: ApiObject | undefined, after: ApiObject | undefined, ...others: readonly ApiObject[]): string[] {
	const index = indexOf(...others, ...(before === undefined ? [] : [before]));
	const object = after ?? before;
	if (object === undefined) throw new Error('something has to change');
	return woken(index, after === undefined ? drop(index, object) : put(index, after)).sort();
}

test('a new pod wakes itself, its owner and the scheduler', t => {
	t.deepEqual(change(undefined, aPod({metadata: owned}), set), ['pods/default.web', 'replicasets/default.web', 'scheduler more']);
});

test('a new pod without an owner wakes the sets that select it, and no others', t => {
	const others = [
		set,
		aReplicaSet({name: 'db'}),
		aReplicaSet({name: 'any', spec: {selector: {matchExpressions: [{key: 'app', operator: 'Exists'}]}}}),
		aReplicaSet({name: 'web', metadata: {namespace: 'shop'}}),
	];
	t.deepEqual(change(undefined, aPod({metadata: {labels: {app: 'web'}}}), ...others), [
		'pods/default.web',
		'replicasets/default.any',
		'replicasets/default.web',
		'scheduler more',
	]);
});

test('a bind wakes the pod and its node, not its owner nor the scheduler', t => {
	t.deepEqual(change(aPod({metadata: owned}), aPod({metadata: owned, spec: {nodeName: 'node-a'}}), set, aNode()), [
		'pods/default.web',
		'sync/node-a dirty',
	]);
});

test('a record looks at its own content, whatever members that is', t => {
	const config: ApiObject = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {...aNamespace().metadata, name: 'c', namespace: 'default'}};
	t.deepEqual(change(config, {...config, data: {a: '2'}} as ApiObject), ['configmaps/default.c']);
	t.deepEqual(change(config, {...config, status: {}}), []);
	const priority = aPriorityClass('high', 10);
	t.deepEqual(change(priority, {...priority, description: 'x'} as ApiObject), ['priorityclasses/high']);
});

test('a status that moves without its readiness wakes nobody', t => {
	const pod = aReadyPod({metadata: owned});
	t.deepEqual(change(pod, {...pod, status: {...pod.status, podIP: '10.0.0.1'}}, set, aNode()), []);
});

test('readiness wakes the owner', t => {
	const pod = aReadyPod({metadata: owned});
	const unready = {...pod, status: {...pod.status, conditions: [scheduled]}};
	t.deepEqual(change(pod, unready, set), ['replicasets/default.web']);
	t.deepEqual(change(unready, pod, set), ['replicasets/default.web']);
});

test('a pod that is over wakes its owner and, since its room is free, the scheduler', t => {
	const pod = aReadyPod({metadata: owned});
	t.deepEqual(change(pod, {...pod, status: {phase: 'Failed', conditions: [scheduled]}}, set), [
		'replicasets/default.web',
		'scheduler nodeChanged',
	]);
});

test('a deletion that begins wakes the pod, its owner, its node and, for those that are spread, the scheduler', t => {
	const pod = aReadyPod({metadata: owned});
	t.deepEqual(change(pod, {...pod, metadata: {...pod.metadata, deletionTimestamp: now, deletionGracePeriodSeconds: 30}}, set), [
		'pods/default.web',
		'replicasets/default.web',
		'scheduler nodeChanged',
		'sync/node-a dirty',
	]);
});

test('a grace that is shortened wakes the pod and its node', t => {
	const pod = aReadyPod({metadata: {...owned, deletionTimestamp: now, deletionGracePeriodSeconds: 30}});
	t.deepEqual(change(pod, {...pod, metadata: {...pod.metadata, deletionGracePeriodSeconds: 1}}, set), [
		'pods/default.web',
		'sync/node-a dirty',
	]);
});

test('a pod that is removed wakes its owner, its node and, for its room, the scheduler', t => {
	t.deepEqual(change(aReadyPod({metadata: owned}), undefined, set), [
		'replicasets/default.web',
		'scheduler nodeChanged',
		'sync/node-a dirty',
	]);
	t.deepEqual(change(aPod({metadata: owned}), undefined, set), ['replicasets/default.web']);
});

test('labels that change wake the sets of the old and of the new ones, and who wants to be near to or away from such pods', t => {
	const pod = aReadyPod({metadata: {labels: {app: 'web'}}});
	const moved = {...pod, metadata: {...pod.metadata, labels: {app: 'db'}}};
	t.deepEqual(change(pod, moved, set, aReplicaSet({name: 'db'})), [
		'pods/default.web',
		'replicasets/default.db',
		'replicasets/default.web',
		'scheduler nodeChanged',
		'sync/node-a dirty',
	]);
});

test('an owner that is let go of is woken, and so is a set that may adopt', t => {
	const pod = aReadyPod({metadata: {...owned, ownerReferences: [ownedBy(aReplicaSet({name: 'old'}))]}});
	const {ownerReferences: _owners, ...metadata} = pod.metadata;
	t.deepEqual(change(pod, {...pod, metadata}, set, aReplicaSet({name: 'old', spec: {selector: {matchLabels: {app: 'old'}}}})), [
		'pods/default.web',
		'replicasets/default.old',
		'replicasets/default.web',
		'sync/node-a dirty',
	]);
});

test('an owner that is going, or gone, wakes its dependents', t => {
	const pods = ['a', 'b'].map(name => aPod({name, metadata: owned}));
	const going = aReplicaSet({metadata: {deletionTimestamp: now, finalizers: ['orphan']}});
	t.deepEqual(change(set, going, ...pods), ['pods/default.a', 'pods/default.b', 'replicasets/default.web']);
	t.deepEqual(change(going, undefined, ...pods), ['pods/default.a', 'pods/default.b']);
	t.deepEqual(change(set, aReplicaSet({spec: {replicas: 3}}), ...pods), ['replicasets/default.web']);
});

test('a namespace that ends wakes what is in it, and what goes from it wakes the namespace', t => {
	const shop = aNamespace('shop');
	const ending = aNamespace('shop', {deletionTimestamp: now});
	const pod = aPod({metadata: {namespace: 'shop'}});
	const there = aReplicaSet({metadata: {namespace: 'shop'}});
	t.deepEqual(change(shop, ending, pod, there, aPod()), ['namespaces/shop', 'pods/shop.web', 'replicasets/shop.web']);
	t.deepEqual(change(pod, undefined, ending), ['namespaces/shop']);
	t.deepEqual(change(pod, undefined, shop), []);
});

test('a node wakes the scheduler when it becomes usable, and not for other news', t => {
	const node = aNode();
	const cordoned = aNode({spec: {unschedulable: true}});
	t.deepEqual(change(undefined, node), ['nodes/node-a', 'scheduler']);
	t.deepEqual(change(cordoned, aNode()), ['nodes/node-a', 'scheduler']);
	t.deepEqual(change(node, {...node, status: {...node.status, conditions: []}}), ['scheduler']);
	t.deepEqual(change(node, {...node, status: {...node.status, allocatable: {pods: '200'}}}), ['scheduler']);
	t.deepEqual(change(node, {...node, status: {...node.status, runtimeFeatures: ['volumes']}}), ['scheduler']);
	t.deepEqual(change(node, {...node, status: {...node.status, runtimeClasses: ['docker']}}), ['scheduler']);
	t.deepEqual(change(node, {...node, status: {...node.status, addresses: []}}), []);
	t.deepEqual(change(node, aNode({spec: {taints: [{key: 'x', effect: 'NoSchedule'}]}}), aReadyPod()), ['nodes/node-a', 'scheduler']);
	t.deepEqual(change(node, {...node, metadata: {...node.metadata, labels: {disk: 'ssd'}}}), ['nodes/node-a', 'scheduler']);
});

test('a node that is removed wakes the pods on it, for those that end wait for nobody any more, its sync and the detector', t => {
	t.deepEqual(change(aNode(), undefined, aReadyPod(), aPod({name: 'elsewhere', spec: {nodeName: 'node-b'}})), [
		'detector nodeDeparted',
		'pods/default.web',
		'scheduler',
		'sync/node-a nodeRemoved',
	]);
});

test('the configuration wakes the scheduler', t => {
	t.deepEqual(change(aClusterConfig('least-pods'), aClusterConfig('round-robin')), ['clusterconfigs/cluster', 'scheduler']);
});

test('a set that writes its own status wakes nobody', t => {
	t.deepEqual(change(set, {...set, status: {replicas: 2}}, aPod({metadata: owned})), []);
});

test('a taint that makes pods leave wakes the pods of its node, and so does its end', t => {
	const tainted = aNode({spec: {taints: [{key: 'x', effect: 'NoExecute'}]}});
	const others = [aReadyPod(), aPod({name: 'elsewhere', spec: {nodeName: 'node-b'}})];
	t.deepEqual(change(aNode(), tainted, ...others), ['nodes/node-a', 'pods/default.web', 'scheduler']);
	t.deepEqual(change(tainted, aNode(), ...others), ['nodes/node-a', 'pods/default.web', 'scheduler']);
});

test('a waiting pod that is changed is looked at anew; one that is told why, or for which room is kept, is not', t => {
	const pod = aPod();
	t.deepEqual(change(pod, aPod({spec: {tolerations: [{operator: 'Exists'}]}})), ['pods/default.web', 'scheduler more']);
	t.deepEqual(change(pod, {...pod, status: {phase: 'Pending', conditions: [{type: 'PodScheduled', status: 'False'}]}}), []);
	t.deepEqual(change(pod, {...pod, status: {phase: 'Pending', nominatedNodeName: 'node-a'}}), []);
});

test('room that was kept for a pod that goes, and a pod that a manifest puts on a node, are news of that node', t => {
	t.deepEqual(change(aPod({status: {nominatedNodeName: 'node-a'}}), undefined), ['scheduler nodeChanged']);
	t.deepEqual(change(undefined, aPod({spec: {nodeName: 'node-a'}})), ['pods/default.web', 'scheduler nodeChanged', 'sync/node-a dirty']);
	t.deepEqual(change(aReadyPod(), aPod()), ['pods/default.web', 'scheduler nodeChanged', 'sync/node-a dirty']);
});

test('room that was kept for a pod and that it does not take is news for others', t => {
	const index = indexOf(aNode({name: 'a'}), aNode({name: 'b'}));
	const kept = {...aPod(), status: {phase: 'Pending', nominatedNodeName: 'a'} as const};
	const news = (after: ApiObject): unknown[] => {
		put(index, kept);
		return wakesOf(put(index, after), index).flatMap(({to, message}) => (to === `${prefix}scheduler` ? [message] : []));
	};
	const changed = [{type: 'nodeChanged', node: 'a'}];
	t.deepEqual(news({...kept, status: {phase: 'Pending'}}), changed);
	t.deepEqual(news({...kept, status: {phase: 'Pending', nominatedNodeName: 'b'}}), changed);
	t.deepEqual(news({...aPod({spec: {nodeName: 'b'}}), status: {phase: 'Pending'}}), changed);
	t.deepEqual(news({...aPod({spec: {nodeName: 'a'}}), status: {phase: 'Pending'}}), []);
});

test('a workload that becomes available wakes the scheduler where a pod waits for it, and a Job that is complete', t => {
	const deployment = (availableReplicas: number): ApiObject => ({
		...aReplicaSet({name: 'db'}),
		kind: 'Deployment',
		spec: {replicas: 1},
		status: {availableReplicas},
	});
	const waits = aPod({name: 'app', metadata: {annotations: {'troupe.dev/depends-on': 'deployment/db'}}});
	t.true(change(deployment(0), deployment(1), waits).includes('scheduler'));
	t.true(change(undefined, deployment(1), waits).includes('scheduler'));
	t.false(change(deployment(1), deployment(2), waits).includes('scheduler'));
	t.false(change(deployment(0), deployment(1), aPod({name: 'app'})).includes('scheduler'));
});
