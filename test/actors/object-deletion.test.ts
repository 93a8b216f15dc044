// How objects end: grace, finalizers, owners, namespaces.

import test from 'ava';
import type {ApiObject} from '../../api/object.js';
import {replySelf} from '../../system/kernel/behavior.js';
import {aNamespace, aNode, aPod, aReadyPod, aReplicaSet, contextWith, drop, indexOf, keyOf, now, nowMs, ownedBy, put} from './_objects.js';
import {commit, settle, tellRecord, type Told} from './_records.js';

const replyTo = {to: 'troupe://control/edge', as: 'edge', id: '1'};
const deleteWith = (options: object = {}): Told => ({type: 'delete', ...options});
const deleting = {deletionTimestamp: '2023-11-14T22:13:50Z', deletionGracePeriodSeconds: 30};

test('an object that nothing holds is removed at once, and answered as it was', t => {
	const set = aReplicaSet();
	const {object, effects} = tellRecord(set, [deleteWith({replyTo})], contextWith(indexOf(set)));
	t.is(object, undefined);
	t.deepEqual(effects, replySelf(replyTo));
});

test('a bound pod lingers for its grace, an unbound one is removed at once', t => {
	const unbound = aPod();
	t.is(tellRecord(unbound, [deleteWith()], contextWith(indexOf(unbound))).object, undefined);
	const bound = aReadyPod();
	const {object} = tellRecord(bound, [deleteWith()], contextWith(indexOf(bound, aNode())));
	t.like(object?.metadata, {deletionTimestamp: '2023-11-14T22:13:50Z', deletionGracePeriodSeconds: 30, generation: 1});
});

test('the grace asked for counts more than that of the spec; 0 removes at once', t => {
	const bound = aReadyPod();
	const context = contextWith(indexOf(bound, aNode()));
	t.is(tellRecord(bound, [deleteWith({graceSeconds: 5})], context).object?.metadata.deletionGracePeriodSeconds, 5);
	t.is(tellRecord(bound, [deleteWith({graceSeconds: 0})], context).object, undefined);
});

test('a second delete shortens the grace and never lengthens it', t => {
	const pod = aReadyPod({metadata: deleting});
	const context = contextWith(indexOf(pod, aNode()), {nowMs: nowMs + 10_000});
	const shorter = tellRecord(pod, [deleteWith({graceSeconds: 5})], context).object;
	t.like(shorter?.metadata, {deletionGracePeriodSeconds: 5, deletionTimestamp: '2023-11-14T22:13:35Z'});
	t.is(tellRecord(pod, [deleteWith({graceSeconds: 60})], context).object, pod);
	t.is(tellRecord(pod, [deleteWith()], context).object, pod);
	t.is(tellRecord(pod, [deleteWith({graceSeconds: 0})], context).object, undefined);
});

test('a pod on a node that nobody registered is removed at once: nobody could say that it is gone', t => {
	const pod = aReadyPod();
	t.is(tellRecord(pod, [deleteWith()], contextWith(indexOf(pod))).object, undefined);
});

test('a pod that waits for its node to end it is removed when the node is removed', t => {
	const pod = aReadyPod({metadata: deleting});
	const node = aNode();
	const index = indexOf(pod, node);
	t.is(settle(index, pod), pod);
	drop(index, node);
	t.is(settle(index, pod), undefined);
});

test('finalizers hold an object until the last is taken away', t => {
	const set = aReplicaSet({metadata: {finalizers: ['a.example/x', 'b.example/y']}});
	const index = indexOf(set);
	const marked = commit(index, set, deleteWith());
	t.is(marked?.metadata.deletionTimestamp, now);
	const half = marked && commit(index, marked, {type: 'patch', patch: {metadata: {finalizers: ['b.example/y']}}});
	t.deepEqual(half?.metadata.finalizers, ['b.example/y']);
	t.is(half && commit(index, half, {type: 'patch', patch: {metadata: {finalizers: null}}}), undefined);
	t.is(index.get(keyOf(set)), undefined);
});

test('a gone pod stays while finalizers hold it, and goes with the last of them', t => {
	const pod = aReadyPod({metadata: {...deleting, finalizers: ['a.example/x']}});
	const index = indexOf(pod, aNode());
	const gone = commit(index, pod, {type: 'gone', uid: pod.metadata.uid, node: 'node-a'});
	t.is(gone?.metadata.deletionGracePeriodSeconds, 0);
	t.is(gone && commit(index, gone, {type: 'gone', uid: pod.metadata.uid, node: 'node-a'}), gone);
	t.is(gone && commit(index, gone, {type: 'patch', patch: {metadata: {finalizers: []}}}), undefined);
});

function family(dependents: number): {readonly set: ApiObject; readonly pods: readonly ApiObject[]} {
	const set = aReplicaSet();
	const pods = Array.from({length: dependents}, (_, i) =>
		aPod({name: `web-${i}`, metadata: {labels: {app: 'web'}, ownerReferences: [ownedBy(set)]}}),
	);
	return {set, pods};
}

test('a background delete removes the owner at once; its dependents find that it is gone', t => {
	const {set, pods} = family(1);
	const [pod] = pods;
	const index = indexOf(set, ...pods);
	t.is(commit(index, set, deleteWith({propagation: 'Background'})), undefined);
	const {object, effects} = tellRecord(pod as ApiObject, [{type: 'wake'}], contextWith(index));
	t.is(object, undefined);
	t.deepEqual(effects, [{type: 'event', event: 'Normal', reason: 'GarbageCollected', message: 'its owner ReplicaSet "web" is gone'}]);
});

test('a foreground delete keeps the owner until its blocking dependents are gone', t => {
	const {set, pods} = family(2);
	const index = indexOf(set, ...pods);
	const marked = commit(index, set, deleteWith({propagation: 'Foreground'}));
	t.like(marked?.metadata, {finalizers: ['foregroundDeletion'], deletionTimestamp: now});
	for (const pod of pods) {
		t.is(marked && settle(index, marked), marked);
		t.is(settle(index, pod), undefined);
	}
	t.is(marked && settle(index, marked), undefined);
});

test('a foreground delete waits for the dependents of dependents', t => {
	const top = aReplicaSet({name: 'top'});
	const set = aReplicaSet({metadata: {ownerReferences: [ownedBy(top)]}});
	const pod = aPod({metadata: {ownerReferences: [ownedBy(set)]}});
	const index = indexOf(top, set, pod);
	const marked = commit(index, top, deleteWith({propagation: 'Foreground'}));
	const between = settle(index, set);
	t.deepEqual(between?.metadata.finalizers, ['foregroundDeletion']);
	t.is(between && settle(index, between), between);
	t.is(marked && settle(index, marked), marked);
	t.is(settle(index, pod), undefined);
	t.is(between && settle(index, between), undefined);
	t.is(marked && settle(index, marked), undefined);
});

test('owners in a circle do not wait for each other for ever', t => {
	const one = aReplicaSet({name: 'one'});
	const two = aReplicaSet({name: 'two', metadata: {ownerReferences: [ownedBy(one)]}});
	const closed = {...one, metadata: {...one.metadata, ownerReferences: [ownedBy(two)]}};
	const index = indexOf(closed, two);
	const marked = commit(index, closed, deleteWith({propagation: 'Foreground'}));
	t.is(settle(index, two), undefined);
	t.is(marked && settle(index, marked), undefined);
});

test('a foreground delete does not wait for dependents that hold nobody back', t => {
	const set = aReplicaSet();
	const pod = aPod({metadata: {ownerReferences: [ownedBy(set, {blockOwnerDeletion: false})]}});
	const index = indexOf(set, pod);
	const marked = commit(index, set, deleteWith({propagation: 'Foreground'}));
	t.is(marked && settle(index, marked), undefined);
});

test('a foreground delete of an owner without dependents removes it at once', t => {
	const set = aReplicaSet();
	t.is(tellRecord(set, [deleteWith({propagation: 'Foreground'})], contextWith(indexOf(set))).object, undefined);
});

test('an orphaning delete lets go of the dependents, then the owner goes', t => {
	const {set, pods} = family(2);
	const index = indexOf(set, ...pods);
	const marked = commit(index, set, deleteWith({propagation: 'Orphan'}));
	t.deepEqual(marked?.metadata.finalizers, ['orphan']);
	for (const pod of pods) {
		t.is(marked && settle(index, marked), marked);
		const left = settle(index, pod);
		t.false(Object.hasOwn(left?.metadata ?? {}, 'ownerReferences'));
		t.is(left?.metadata.deletionTimestamp, undefined);
	}
	t.is(marked && settle(index, marked), undefined);
	t.is(pods.filter(pod => index.get(keyOf(pod)) !== undefined).length, 2);
});

test('a dependent of two owners stays while one of them does, and forgets one that waits for it', t => {
	const one = aReplicaSet({name: 'one', metadata: {deletionTimestamp: now, finalizers: ['foregroundDeletion']}});
	const two = aReplicaSet({name: 'two'});
	const pod = aPod({metadata: {ownerReferences: [ownedBy(one, {controller: false}), ownedBy(two)]}});
	const index = indexOf(one, two, pod);
	t.deepEqual(settle(index, pod)?.metadata.ownerReferences, [ownedBy(two)]);
	t.is(settle(index, one), undefined);
	const left = aPod({
		name: 'left',
		metadata: {ownerReferences: [ownedBy(aReplicaSet({name: 'no-more'}), {controller: false}), ownedBy(two)]},
	});
	put(index, left);
	t.is(settle(index, left), left);
});

test('what lives in a namespace that ends, or is gone, is deleted', t => {
	const home = aNamespace('shop', {deletionTimestamp: now});
	const pod = aPod({metadata: {namespace: 'shop'}});
	t.is(settle(indexOf(home, pod), pod), undefined);
	t.is(settle(indexOf(pod), pod), undefined);
});

test('a bound pod is deleted with its grace when its owner goes', t => {
	const pod = aReadyPod({metadata: {ownerReferences: [ownedBy(aReplicaSet())]}});
	t.like(settle(indexOf(pod, aNode()), pod)?.metadata, {deletionGracePeriodSeconds: 30});
});

test('an object that is being deleted takes writes and reconciles no more', t => {
	const set = aReplicaSet({spec: {replicas: 5}, metadata: {deletionTimestamp: now, finalizers: ['a.example/x']}});
	const index = indexOf(set);
	t.deepEqual(tellRecord(set, [{type: 'wake'}], contextWith(index)).effects, []);
	t.like(commit(index, set, {type: 'patch', patch: {metadata: {labels: {a: 'b'}}}}), {
		metadata: {labels: {a: 'b'}, deletionTimestamp: now},
	});
});
