// What every record does with a write, whatever its kind.

import test from 'ava';
import type {Draft} from '../../api/object.js';
import {objectBehavior} from '../../actors/control/objects/object.js';
import {podController} from '../../actors/control/pods/pod.js';
import {replySelf, tell} from '../../system/kernel/behavior.js';
import {play} from '../../system/kernel/play.js';
import {aContainer, aNode, aPod, aReplicaSet, contextWith, indexOf, now} from './_objects.js';
import {commit, settle, tellRecord} from './_records.js';

const replyTo = {to: 'troupe://control/edge', as: 'edge', id: '1'};
const pod = objectBehavior(podController);
const draft: Draft = {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'web', namespace: 'default'}, spec: {containers: [aContainer()]}};

const failureOf = (effects: readonly unknown[]): unknown => {
	const [effect] = effects as readonly {readonly outcome?: {readonly error?: {readonly code: string}}}[];
	return effect?.outcome?.error?.code;
};

test('a created object gets what only the server sets, and is answered as committed', t => {
	const {object, effects, stopped} = play(pod, {object: draft, replyTo}, [], contextWith(indexOf()));
	t.like(object?.metadata, {name: 'web', namespace: 'default', generation: 1, creationTimestamp: now, resourceVersion: ''});
	t.regex(object?.metadata.uid ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/);
	t.like(object, {spec: {restartPolicy: 'Always', terminationGracePeriodSeconds: 30}, status: {phase: 'Pending'}});
	t.deepEqual(effects, replySelf(replyTo));
	t.false(stopped);
});

test('what a client sends as uid, generation, times or status of a new object is dropped', t => {
	const sent = {
		...draft,
		metadata: {...draft.metadata, uid: 'mine', generation: 9, creationTimestamp: '1999-01-01T00:00:00Z'},
		status: {phase: 'Running'},
	};
	const {object} = play(pod, {object: sent}, [], contextWith(indexOf()));
	t.not(object?.metadata.uid, 'mine');
	t.like(object, {metadata: {generation: 1, creationTimestamp: now}, status: {phase: 'Pending'}});
});

test('a create that is refused leaves nothing behind', t => {
	const {object, effects, stopped} = play(pod, {object: {...draft, spec: {containers: []}}, replyTo}, [], contextWith(indexOf()));
	t.is(object, undefined);
	t.true(stopped);
	t.is(failureOf(effects), 'ERR_INVALID');
});

test('a dry run of a create answers with the object and keeps nothing', t => {
	const {object, effects, stopped} = play(pod, {object: draft, dryRun: true, replyTo}, [], contextWith(indexOf()));
	t.is(object, undefined);
	t.true(stopped);
	t.like(effects[0], {type: 'reply', outcome: {ok: true, value: {metadata: {name: 'web', generation: 1}}}});
});

test('a second create that waited for the first is answered with a conflict', t => {
	const present = aPod();
	const {object, effects} = tellRecord(present, [{type: 'create', object: draft, replyTo}], contextWith(indexOf(present)));
	t.is(object, present);
	t.is(failureOf(effects), 'ERR_ALREADY_EXISTS');
});

test('a replace changes the spec and raises the generation', t => {
	const set = aReplicaSet();
	const message = {type: 'replace', object: {...set, spec: {...set.spec, replicas: 5}}, replyTo};
	const {object, effects} = tellRecord(set, [message], contextWith(indexOf(set)));
	t.like(object, {metadata: {generation: 2, uid: set.metadata.uid}, spec: {replicas: 5}});
	t.deepEqual(effects, replySelf(replyTo));
});

test('labels, annotations and status leave the generation alone', t => {
	const set = aReplicaSet();
	const known = contextWith(indexOf(set));
	const labelled = tellRecord(set, [{type: 'patch', patch: {metadata: {labels: {a: 'b'}, annotations: {c: 'd'}}}}], known);
	t.like(labelled.object?.metadata, {generation: 1, labels: {a: 'b'}, annotations: {c: 'd'}});
	const status = tellRecord(set, [{type: 'patch', subresource: 'status', patch: {status: {replicas: 3}}}], known);
	t.like(status.object, {metadata: {generation: 1}, status: {replicas: 3}});
	t.deepEqual(status.effects, [tell(known.self, {type: 'wake'})], 'the record sets right at once what somebody else said of it');
});

test('a write that says what is there already keeps the object, and so commits nothing', t => {
	const set = aReplicaSet({metadata: {labels: {a: 'b'}}});
	const context = contextWith(indexOf(set));
	for (const message of [
		{type: 'replace', object: structuredClone(set), replyTo},
		{type: 'patch', patch: {}, replyTo},
		{type: 'patch', patch: {metadata: {labels: {a: 'b'}}, spec: {replicas: 1}}, replyTo},
		{type: 'replace', subresource: 'status', object: structuredClone(set), replyTo},
		{type: 'patch', patch: {metadata: {annotations: null}}, replyTo},
	]) {
		const {object, effects} = tellRecord(set, [message], context);
		t.is(object, set);
		t.deepEqual(effects, replySelf(replyTo));
	}
});

test('a null in a merge patch removes the member', t => {
	const set = aReplicaSet({metadata: {labels: {a: 'b', c: 'd'}}});
	const {object} = tellRecord(set, [{type: 'patch', patch: {metadata: {labels: {a: null}}}}], contextWith(indexOf(set)));
	t.deepEqual(object?.metadata.labels, {c: 'd'});
});

test('a JSON patch is applied to what is committed, whole or not at all, and its versions are preconditions', t => {
	const set = aReplicaSet({metadata: {resourceVersion: '7', labels: {a: 'b'}}});
	const context = contextWith(indexOf(set));
	const sent = (patch: readonly object[], more: object = {}) =>
		tellRecord(set, [{type: 'patch', patchType: 'json', patch, replyTo, ...more}], context);
	const scaled = sent([
		{op: 'test', path: '/spec/replicas', value: 1},
		{op: 'replace', path: '/spec/replicas', value: 4},
		{op: 'remove', path: '/metadata/labels/a'},
	]);
	t.like(scaled.object, {spec: {replicas: 4}, metadata: {generation: 2, labels: undefined}});
	const late = sent([
		{op: 'replace', path: '/spec/replicas', value: 4},
		{op: 'test', path: '/metadata/labels/a', value: 'c'},
	]);
	t.is(late.object, set);
	t.is(failureOf(late.effects), 'ERR_INVALID');
	const past = sent([{op: 'replace', path: '/metadata/resourceVersion', value: '6'}]);
	t.is(past.object, set);
	t.is(failureOf(past.effects), 'ERR_CONFLICT');
	t.is(sent([{op: 'test', path: '/kind', value: 'ReplicaSet'}]).object, set);
	t.is(failureOf(sent([{op: 'remove', path: ''}]).effects), 'ERR_BAD_REQUEST');
});

test('a strategic patch merges lists of what is committed by their keys', t => {
	const set = aReplicaSet({metadata: {resourceVersion: '7', finalizers: ['a.example/x']}});
	const context = contextWith(indexOf(set));
	const sent = (patch: object) => tellRecord(set, [{type: 'patch', patchType: 'strategic', patch, replyTo}], context);
	const [container = {name: ''}] = set.spec?.template.spec.containers ?? [];
	const changed = sent({
		spec: {template: {spec: {containers: [{name: container.name, image: 'other'}]}}},
		metadata: {finalizers: ['a.example/y']},
	});
	t.like(changed.object, {
		metadata: {generation: 2, finalizers: ['a.example/y', 'a.example/x']},
		spec: {template: {spec: {containers: [{...container, image: 'other'}]}}},
	});
	t.is(sent({metadata: {'$setElementOrder/finalizers': ['a.example/x']}}).object, set);
	t.is(failureOf(sent({spec: {template: {spec: {containers: [{}]}}}}).effects), 'ERR_INVALID');
	t.is(failureOf(sent({metadata: {resourceVersion: '6'}}).effects), 'ERR_CONFLICT');
});

test('a Scale that is patched is the object with its replicas', t => {
	const set = aReplicaSet({metadata: {resourceVersion: '7'}});
	const context = contextWith(indexOf(set));
	const sent = (message: object) => tellRecord(set, [{type: 'patch', subresource: 'scale', replyTo, ...message}], context);
	t.like(sent({patch: {spec: {replicas: 3}, status: {replicas: 9}, metadata: {labels: {a: 'b'}}}}).object, {
		spec: {replicas: 3},
		status: {replicas: 0},
		metadata: {generation: 2, labels: undefined},
	});
	t.like(sent({patchType: 'json', patch: [{op: 'replace', path: '/spec/replicas', value: 0}]}).object, {spec: {replicas: 0}});
	t.is(sent({patch: {spec: null}}).object, set);
	t.is(failureOf(sent({patch: {metadata: {resourceVersion: '6'}}}).effects), 'ERR_CONFLICT');
	t.is(failureOf(sent({patch: {spec: {replicas: 'many'}}}).effects), 'ERR_INVALID');
});

test('a replace without labels removes them', t => {
	const node = aNode({metadata: {labels: {disk: 'ssd'}}});
	const {labels: _labels, ...metadata} = node.metadata;
	const {object} = tellRecord(node, [{type: 'replace', object: {...node, metadata}}], contextWith(indexOf(node)));
	t.false(Object.hasOwn(object?.metadata ?? {}, 'labels'));
});

test('a status write changes only the status, and a write of the object only the rest', t => {
	const set = aReplicaSet();
	const context = contextWith(indexOf(set));
	const wanted = {...set, spec: {...set.spec, replicas: 9}, status: {replicas: 7}};
	const ofStatus = tellRecord(set, [{type: 'replace', subresource: 'status', object: wanted}], context).object;
	t.like(ofStatus, {spec: {replicas: 1}, status: {replicas: 7}});
	const ofSpec = tellRecord(set, [{type: 'replace', object: wanted}], context).object;
	t.like(ofSpec, {spec: {replicas: 9}, status: {replicas: 0}});
});

test('a status that does not fit the schema is refused', t => {
	const set = aReplicaSet();
	const message = {type: 'patch', subresource: 'status', patch: {status: {replicas: 'many'}}, replyTo};
	const {object, effects} = tellRecord(set, [message], contextWith(indexOf(set)));
	t.is(object, set);
	t.is(failureOf(effects), 'ERR_INVALID');
});

test('preconditions hold for replace, patch and delete', t => {
	const set = aReplicaSet({metadata: {resourceVersion: '7'}});
	const context = contextWith(indexOf(set));
	const stale = {resourceVersion: '6'};
	const other = {uid: 'another'};
	for (const message of [
		{type: 'replace', object: {...set, metadata: {...set.metadata, ...stale}}},
		{type: 'replace', subresource: 'status', object: {...set, metadata: {...set.metadata, ...stale}}},
		{type: 'patch', patch: {metadata: stale, spec: {replicas: 2}}},
		{type: 'patch', patch: {metadata: other, spec: {replicas: 2}}},
		{type: 'delete', ...stale},
		{type: 'delete', ...other},
	]) {
		const {object, effects} = tellRecord(set, [{...message, replyTo}], context);
		t.is(object, set);
		t.is(failureOf(effects), 'ERR_CONFLICT');
	}
	const current = {type: 'patch', patch: {metadata: {resourceVersion: '7', uid: set.metadata.uid}, spec: {replicas: 2}}};
	t.like(tellRecord(set, [current], context).object, {spec: {replicas: 2}});
});

test('dry runs of writes answer and change nothing', t => {
	const set = aReplicaSet();
	const context = contextWith(indexOf(set));
	const patched = tellRecord(set, [{type: 'patch', patch: {spec: {replicas: 4}}, dryRun: true, replyTo}], context);
	t.is(patched.object, set);
	t.like(patched.effects[0], {type: 'reply', outcome: {ok: true, value: {spec: {replicas: 4}}}});
	const deleted = tellRecord(set, [{type: 'delete', dryRun: true, replyTo}], context);
	t.is(deleted.object, set);
	t.deepEqual(deleted.effects, replySelf(replyTo));
});

test('an invalid update is refused whole and names the field', t => {
	const set = aReplicaSet();
	const message = {type: 'patch', patch: {metadata: {labels: {ok: 'yes'}}, spec: {replicas: -1}}, replyTo};
	const {object, effects} = tellRecord(set, [message], contextWith(indexOf(set)));
	t.is(object, set);
	t.like(effects[0], {outcome: {ok: false, error: {code: 'ERR_INVALID'}}});
	t.true(JSON.stringify(effects).includes('spec.replicas'));
});

test('a pod that its manifest binds later counts as scheduled', t => {
	const present = aPod({status: {conditions: [{type: 'PodScheduled', status: 'False', reason: 'Unscheduled', message: 'x'}]}});
	const index = indexOf(present);
	const bound = commit(index, present, {type: 'patch', patch: {spec: {nodeName: 'node-a'}}});
	t.is(bound?.metadata.generation, 2);
	t.like(bound && settle(index, bound), {status: {conditions: [{type: 'PodScheduled', status: 'True', lastTransitionTime: now}]}});
});

test('what is a message of one kind is none of another', t => {
	const set = aReplicaSet();
	t.throws(() => tellRecord(set, [{type: 'bind'}], contextWith(indexOf(set))), {message: 'a ReplicaSet knows no message "bind"'});
});
