// A record whose create was refused: what it still hears while it rests, and what ends its rest.

import test from 'ava';
import {kindByPlural} from '../../api/catalogue.js';
import {failure} from '../../api/errors.js';
import type {CronJob} from '../../api/kinds/cronjob.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ResourceQuota} from '../../api/kinds/resourcequota.js';
import {limits} from '../../api/limits.js';
import {podOf as podDraft} from '../../actors/control/workloads/pod-creation.js';
import {withinQuotas} from '../../actors/control/objects/quota.js';
import {wakesOf} from '../../actors/control/wakes.js';
import type {Effect, Reply} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {
	aContainer,
	aNamespace,
	aQuota,
	aReadyPod,
	aReplicaSet,
	contextWith,
	drop,
	indexOf,
	now,
	nowMs,
	openWrites,
	ownedBy,
	put,
} from './_objects.js';
import {restored, tellRecord} from './_records.js';

const set = aReplicaSet({spec: {replicas: 3}});
const labels = {app: 'web'};
const mine = (name: string) => aReadyPod({name, metadata: {labels, ownerReferences: [ownedBy(set)]}});
const wake = {type: 'wake'};

const two = aQuota('budget', {pods: '2'});
const unsaid = aQuota('budget', {pods: '9', 'requests.cpu': '1'});

/** The answer to a create of the set's, as the collection of pods gives it. */
function answer(index: ObjectIndex, quota: ResourceQuota): Reply<unknown, 'outcome'> {
	const pods = kindByPlural('pods');
	if (pods === undefined) throw new Error('there are no pods');
	const outcome = withinQuotas(pods, podDraft(set, 'web-x'), [quota], [], index);
	return {type: 'outcome', id: 'create/web-x', outcome};
}

const creates = (effects: readonly Effect[]): number => effects.filter(({type}) => type === 'create').length;
const retryMs = (effects: readonly Effect[]): number[] =>
	effects.flatMap(effect => (effect.type === 'wakeAt' && effect.name === 'retry' ? [effect.atMs - nowMs] : []));

/** The set after a refusal by that quota, with two pods that fill it. */
function refused(quota: ResourceQuota) {
	const index = indexOf(aNamespace(), set, quota, mine('a'), mine('b'));
	const {state} = tellRecord(set, [answer(index, quota), wake], contextWith(index));
	return {index, state};
}

test('a set whose create was refused says how many pods it has, and asks for none before its time', t => {
	const {index, state} = refused(two);
	t.like(state.object, {status: {replicas: 2, readyReplicas: 2, conditions: [{type: 'ReplicaFailure', status: 'True'}]}});
	put(index, {...mine('b'), status: {phase: 'Running', conditions: []}});
	const looked = tellRecord(set, [wake], contextWith(index), state);
	t.like(looked.object, {status: {replicas: 2, readyReplicas: 1}});
	t.is(creates(looked.effects), 0);
	t.is(creates(tellRecord(set, [{type: 'retry'}], contextWith(index), state).effects), 1);
});

test('a set that rests takes surplus away', t => {
	const {index, state} = refused(two);
	for (const name of ['c', 'd']) put(index, mine(name));
	const {effects, state: after} = tellRecord(set, [wake], contextWith(index), state);
	t.deepEqual(
		effects.map(({type}) => type),
		['delete'],
	);
	t.is(after.failures.rounds, 1);
});

test('a set that got its pods in another way rests no more, and says nothing of a failure', t => {
	const {index, state} = refused(two);
	put(index, mine('c'));
	const {state: done, effects} = tellRecord(set, [wake], contextWith(index), state);
	t.like(done, {rest: undefined, failures: {rounds: 0}});
	t.deepEqual(effects, [{type: 'tell', to: contextWith(index).self, message: wake}]);
	t.deepEqual((tellRecord(set, [wake], contextWith(index), done).object as ReplicaSet).status?.conditions, []);
});

test('a set that rests looks again when a write of its own is done: its last pod may have come by it', t => {
	const {index, state} = refused(two);
	const context = contextWith(index);
	put(index, mine('c'));
	const adopting = contextWith(index, {pending: openWrites([{type: 'update', key: 'pods/default/c', message: wake, id: 'adopt/c'}])});
	const {state: meanwhile} = tellRecord(set, [wake], adopting, state);
	t.like(meanwhile, {failures: {rounds: 1}, rest: {from: 'creates'}}, 'it may fail yet');
	const done = {type: 'outcome', id: 'adopt/c', outcome: {ok: true, value: mine('c')}};
	const {effects, state: after} = tellRecord(set, [done], context, meanwhile);
	t.deepEqual(effects, [{type: 'tell', to: context.self, message: wake}]);
	t.like(tellRecord(set, [wake], context, after).state, {failures: {rounds: 0}, rest: undefined});
});

test('a place in the quota ends the rest', t => {
	const {index, state} = refused(two);
	drop(index, mine('b'));
	const {effects, state: after} = tellRecord(set, [wake], contextWith(index), state);
	t.is(creates(effects), 1, 'one alone: there may be no second place');
	t.like(after, {rest: undefined, failures: {rounds: 1}});
});

test('a quota that is another one, or gone, ends the rest', t => {
	for (const quota of [two, unsaid]) {
		const raised = {...quota, metadata: {...quota.metadata, generation: quota.metadata.generation + 1}, spec: {hard: {pods: '3'}}};
		for (const after of [raised, {...quota, metadata: {...quota.metadata, uid: 'another'}}, undefined]) {
			const {index, state} = refused(quota);
			t.is(creates(tellRecord(set, [wake], contextWith(index), state).effects), 0);
			if (after === undefined) drop(index, quota);
			else put(index, after);
			t.is(creates(tellRecord(set, [wake], contextWith(index), state).effects), 1);
		}
	}
});

test('all that the refusal said was lacking has to be there again', t => {
	const both = aQuota('budget', {pods: '2', 'requests.cpu': '2'});
	const [container] = [aContainer({resources: {requests: {cpu: '1'}}})];
	const asking = {...set, spec: {...set.spec, replicas: 3, template: {metadata: {labels}, spec: {containers: [container]}}}} as ReplicaSet;
	const pod = (name: string, cpu: string) => ({
		...mine(name),
		spec: {...mine(name).spec, containers: [aContainer({resources: {requests: {cpu}}})]},
	});
	const index = indexOf(aNamespace(), asking, both, pod('a', '1'), pod('b', '1'));
	const pods = kindByPlural('pods');
	const outcome = pods && withinQuotas(pods, podDraft(asking, 'web-x'), [both], [], index);
	t.deepEqual(outcome?.ok === false && (outcome.error.details['quota'] as {requested: object}).requested, {pods: 1, 'requests.cpu': 1000});
	const {state} = tellRecord(asking, [{type: 'outcome', id: 'create/web-x', outcome}], contextWith(index));
	drop(index, pod('b', '1'));
	put(index, {...pod('a', '2'), spec: pod('a', '2').spec});
	t.is(creates(tellRecord(asking, [wake], contextWith(index), state).effects), 0);
	put(index, pod('a', '1'));
	t.is(creates(tellRecord(asking, [wake], contextWith(index), state).effects), 1);
});

test('a place that was free before the refusal came is tried soon, however often it failed', t => {
	const index = indexOf(aNamespace(), set, two, mine('a'), mine('b'));
	const refusal = answer(index, two);
	const often = {...restored(set), failures: {rounds: 9, last: 'x'}};
	t.deepEqual(retryMs(tellRecord(set, [refusal], contextWith(index), often).effects), [limits.actorBackoffMaxMs]);
	drop(index, mine('b'));
	t.deepEqual(retryMs(tellRecord(set, [refusal], contextWith(index), often).effects), [limits.actorBackoffFirstMs]);
});

test('what failed otherwise than by a create is not asked for at each wake', t => {
	const stray = aReadyPod({name: 'stray', metadata: {labels}});
	const index = indexOf(set, stray);
	const store = failure('ERR_STORE', {message: 'disk full'});
	const {state} = tellRecord(set, [{type: 'outcome', id: 'adopt/x', outcome: {ok: false, error: store}}], contextWith(index));
	const looked = tellRecord(set, [wake], contextWith(index), state);
	t.deepEqual(looked.effects, []);
	t.is(looked.object, set);
});

const cron = {
	apiVersion: 'batch/v1',
	kind: 'CronJob',
	metadata: {name: 'night', namespace: 'default', uid: 'uid-of-night', generation: 1, resourceVersion: '1', creationTimestamp: now},
	spec: {schedule: '* * * * *', jobTemplate: {spec: {template: {spec: {containers: [aContainer()], restartPolicy: 'Never'}}}}},
} as unknown as CronJob;

test('a kind whose status goes with what it asks for rests as a whole', t => {
	const index = indexOf(cron);
	const forbidden = failure('ERR_FORBIDDEN', {message: 'no'});
	const context = contextWith(index, {nowMs: nowMs + 600_000});
	const {state} = tellRecord(cron, [{type: 'outcome', id: 'create/night-1', outcome: {ok: false, error: forbidden}}], context);
	const looked = tellRecord(cron, [wake], context, state);
	t.deepEqual(looked.effects, []);
	t.is(looked.object, cron);
	t.is(creates(tellRecord(cron, [{type: 'retry'}], context, state).effects), 1);
});

test('a record that rests is removed when what it waited for in its deletion is over', t => {
	const going = {...cron, metadata: {...cron.metadata, deletionTimestamp: now, finalizers: ['foregroundDeletion']}} as unknown as CronJob;
	const state = {...restored(going), rest: {from: 'everything', quota: undefined} as const};
	t.is(tellRecord(going, [wake], contextWith(indexOf(going)), state).object, undefined);
});

test('a quota that has room again, is another one or goes wakes those that have too few, and nobody else', t => {
	const status = (used: string) => ({hard: {pods: '4'}, used: {pods: used}});
	const short = {...aReplicaSet({name: 'short', spec: {replicas: 3}}), status: {replicas: 2}};
	const whole = {...aReplicaSet({name: 'whole', spec: {replicas: 3}}), status: {replicas: 3}};
	const elsewhere = {...aReplicaSet({name: 'far', spec: {replicas: 3}, metadata: {namespace: 'shop'}}), status: {replicas: 0}};
	const full = {...aQuota('budget', {pods: '4'}), status: status('4')};
	const woken = (after: ResourceQuota | undefined): string[] => {
		const index = indexOf(aNamespace(), short, whole, elsewhere, full);
		const change = after === undefined ? drop(index, full) : put(index, after);
		return wakesOf(change, index).flatMap(({to}) => (to.includes('/replicasets/') ? [to.slice(to.lastIndexOf('/') + 1)] : []));
	};
	t.deepEqual(woken({...full, status: status('3')}), ['default.short']);
	t.deepEqual(woken({...full, spec: {hard: {pods: '5'}}}), ['default.short']);
	t.deepEqual(woken(undefined), ['default.short']);
	t.deepEqual(woken({...full, status: status('5')}), []);
});
