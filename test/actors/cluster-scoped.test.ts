// Records of nodes, namespaces and the cluster's configuration.

import test from 'ava';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {aRuntimeInfo} from './_agent.js';
import {aClusterConfig, aNamespace, aNode, aPod, aReplicaSet, before, contextWith, drop, indexOf, now} from './_objects.js';
import {commit, settle, tellRecord} from './_records.js';

const replyTo = {to: 'troupe://control/sync/node-a', as: 'heardTaken', id: 'heard'};
const codeOf = ([effect]: readonly Effect[]): string | undefined =>
	effect?.type === 'reply' && !effect.outcome.ok ? effect.outcome.error.code : undefined;
const heard = {type: 'heard', info: aRuntimeInfo(), version: '0.1.0', replyTo};
const unknown = {type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'silent', lastTransitionTime: before} as const;

test('a node whose agent said hello is ready and shows what it has', t => {
	const {object, effects} = tellRecord(aNode({status: {conditions: [unknown], allocatable: {}}}), [heard], contextWith(indexOf()));
	t.like((object as NodeObject).status, {
		capacity: {cpu: '2', memory: '4194304Ki', pods: '110'},
		allocatable: {cpu: '2', memory: '4194304Ki', pods: '110'},
		addresses: [
			{type: 'InternalIP', address: '127.0.0.1'},
			{type: 'Hostname', address: 'node-a'},
		],
	});
	t.deepEqual(
		(object as NodeObject).status?.conditions?.map(({type, status, lastTransitionTime}) => [type, status, lastTransitionTime]),
		[
			['Ready', 'True', now],
			['SharedNetwork', 'True', now],
		],
	);
	t.like(effects, [
		{type: 'event', reason: 'NodeReady'},
		{type: 'replySelf', to: replyTo},
	]);
});

test('a node shows which classes its agent runs; of one that does not say these are processes', t => {
	const classes = (info: object): unknown =>
		(tellRecord(aNode(), [{...heard, info: {...aRuntimeInfo(), ...info}}], contextWith(indexOf())).object as NodeObject).status
			?.runtimeClasses;
	t.deepEqual(classes({classes: ['process', 'docker']}), ['process', 'docker']);
	t.deepEqual(classes({classes: []}), []);
	t.deepEqual(classes({classes: undefined}), ['process']);
});

test('the same hello again writes nothing and is no event', t => {
	const index = indexOf(aNode());
	const first = commit(index, aNode(), heard);
	if (first === undefined) return t.fail();
	const {object, effects} = tellRecord(first, [heard], contextWith(index, {nowMs: Date.parse(now) + 60_000}));
	t.is(object, first);
	t.deepEqual(effects, [{type: 'replySelf', to: replyTo}]);
});

test('what the runtime does not say any more is over', t => {
	const index = indexOf(aNode());
	const first = commit(index, aNode(), heard);
	const {object} = tellRecord(first as NodeObject, [{...heard, info: aRuntimeInfo({conditions: []})}], contextWith(index));
	t.deepEqual(
		(object as NodeObject).status?.conditions?.map(({type}) => type),
		['Ready'],
	);
});

test('that the Engine of a node went and came back are events, each once', t => {
	const index = indexOf(aNode());
	const saying = (classes: readonly string[], conditions: readonly object[] = []) => ({
		...heard,
		info: {...aRuntimeInfo(), classes, conditions},
	});
	const both = ['process', 'docker'];
	const away = {type: 'DockerNotReady', reason: 'EngineGone', message: 'nothing listens'};
	const events = (effects: readonly Effect[]) =>
		effects.flatMap(effect => (effect.type === 'event' ? [[effect.reason, effect.message]] : []));
	const up = commit(index, aNode(), saying(both));
	const gone = tellRecord(up as NodeObject, [saying(['process'], [away])], contextWith(index));
	t.deepEqual(events(gone.effects), [['DockerNotReady', 'nothing listens']]);
	t.like((gone.object as NodeObject).status?.conditions?.[1], {type: 'DockerNotReady', status: 'True', reason: 'EngineGone'});
	t.deepEqual(events(tellRecord(gone.object as NodeObject, [saying(['process'], [away])], contextWith(index)).effects), []);
	const back = tellRecord(gone.object as NodeObject, [saying(both)], contextWith(index));
	t.deepEqual(events(back.effects), [['DockerReady', "Docker's Engine answers again"]]);
	t.is((back.object as NodeObject).status?.conditions?.length, 1);
	t.deepEqual(events(tellRecord(gone.object as NodeObject, [saying(['process'])], contextWith(index)).effects), []);
});

test('a node without usable capacity is refused', t => {
	const node = aNode();
	const {object, effects} = tellRecord(node, [{...heard, info: aRuntimeInfo({cpuMillis: Number.NaN})}], contextWith(indexOf()));
	t.is(object, node);
	t.is(codeOf(effects), 'ERR_BAD_REQUEST');
});

test('a node that nobody has heard is unknown, and keeps everything else', t => {
	const unheard = {type: 'unheard', reason: 'NodeStatusUnknown', message: 'silent'};
	const first = tellRecord(aNode(), [unheard], contextWith(indexOf())).object;
	t.like(first, {
		status: {
			allocatable: {pods: '110'},
			conditions: [{type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime: now}],
		},
	});
	t.is(tellRecord(first as NodeObject, [unheard], contextWith(indexOf())).object, first);
});

test('a namespace that ends stays until nothing is left in it', t => {
	const shop = aNamespace('shop');
	const pods = ['a', 'b'].map(name => aPod({name, metadata: {namespace: 'shop'}}));
	const index = indexOf(shop, ...pods);
	const marked = commit(index, shop, {type: 'delete'});
	const ending = marked && settle(index, marked);
	t.like(ending, {
		metadata: {deletionTimestamp: now},
		status: {phase: 'Terminating', conditions: [{type: 'NamespaceContentRemaining', status: 'True'}]},
	});
	for (const pod of pods) {
		t.is(ending && settle(index, ending), ending);
		drop(index, pod);
	}
	t.is(ending && settle(index, ending), undefined);
});

test('an empty namespace is removed at once', t => {
	const shop = aNamespace('shop');
	t.is(tellRecord(shop, [{type: 'delete'}], contextWith(indexOf(shop, aReplicaSet()))).object, undefined);
});

test('the default namespace and the cluster’s configuration cannot be deleted', t => {
	for (const object of [aNamespace(), aClusterConfig('least-pods')]) {
		const {object: after, effects} = tellRecord(object, [{type: 'delete', replyTo}], contextWith(indexOf(object)));
		t.is(after, object);
		t.is(codeOf(effects), 'ERR_FORBIDDEN');
	}
});

test('a namespace that lives writes nothing when woken', t => {
	const shop = aNamespace('shop');
	t.is(settle(indexOf(shop, aPod({metadata: {namespace: 'shop'}})), shop), shop);
});

test('the configuration says which generation of it counts, once', t => {
	const config = aClusterConfig('round-robin');
	const index = indexOf(config);
	const after = settle(index, config);
	t.deepEqual(after?.status, {observedGeneration: 1});
	t.is(after && settle(index, after), after);
});
