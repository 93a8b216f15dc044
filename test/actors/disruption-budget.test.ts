// How many pods may be evicted, and that the last of them is given out once.

import test from 'ava';
import type {Pod} from '../../api/kinds/pod.js';
import type {PodDisruptionBudget, PodDisruptionBudgetStatus} from '../../api/kinds/poddisruptionbudget.js';
import {limits} from '../../api/limits.js';
import {timestampOf, type ApiObject} from '../../api/object.js';
import {watchesOf} from '../../actors/control/kinds.js';
import {budgetsOf} from '../../actors/control/pods/disruption-budget.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {aBudget, aPod, aReadyPod, aReplicaSet, contextWith, drop, indexOf, keyOf, now, nowMs, ownedBy, put} from './_objects.js';
import {commit, tellRecord} from './_records.js';

const set = aReplicaSet({spec: {replicas: 3}});
const labels = {app: 'web'};
const owned = {labels, ownerReferences: [ownedBy(set)]};
const names = ['a', 'b', 'c'];
const threeReady = names.map(name => aReadyPod({name, metadata: owned}));
const replyTo = {to: 'troupe://control/edge', as: 'edge', id: '1'};
const unready = {phase: 'Running', conditions: [{type: 'Ready', status: 'False'}]} as const;

const statusOf = (object: ApiObject | undefined): PodDisruptionBudgetStatus => (object as PodDisruptionBudget).status as never;

/** The status after the budget looked. */
const counted = (budget: PodDisruptionBudget, index: ObjectIndex, atMs = nowMs): PodDisruptionBudgetStatus =>
	statusOf(commit(index, budget, {type: 'wake'}, {nowMs: atMs}));

const asking = (pod: Pod, more: object = {}) => ({
	type: 'disrupt',
	pod: pod.metadata.name,
	uid: pod.metadata.uid,
	dryRun: false,
	replyTo,
	...more,
});

/** Asks for an eviction, commits what comes of it, and tells the answer. */
function ask(index: ObjectIndex, budget: PodDisruptionBudget, pod: Pod, more: object = {}, atMs = nowMs): unknown {
	const present = (index.get(keyOf(budget)) ?? budget) as PodDisruptionBudget;
	const played = tellRecord(present, [asking(pod, more)], contextWith(index, {nowMs: atMs}));
	if (played.object !== undefined && played.object !== present) put(index, played.object);
	const [effect] = played.effects;
	if (effect?.type === 'replySelf') return 'given';
	return effect?.type === 'reply' && !effect.outcome.ok ? (effect.outcome.error.details['cause'] ?? effect.outcome.error.message) : effect;
}

const [a, b] = threeReady as [Pod, Pod, Pod];

test('what may go is what is healthy beyond what has to stay, of the scale of what made the pods', t => {
	const cases: readonly (readonly [spec: object, status: readonly number[]])[] = [
		[{maxUnavailable: 1}, [1, 3, 2, 3]],
		[{maxUnavailable: '50%'}, [2, 3, 1, 3]],
		[{maxUnavailable: '100%'}, [3, 3, 0, 3]],
		[{maxUnavailable: 0}, [0, 3, 3, 3]],
		[{minAvailable: 2}, [1, 3, 2, 3]],
		[{minAvailable: '34%'}, [1, 3, 2, 3]],
		[{minAvailable: '100%'}, [0, 3, 3, 3]],
		[{minAvailable: 5}, [0, 3, 5, 3]],
	];
	for (const [spec, expected] of cases) {
		const budget = aBudget({spec});
		const {disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods, conditions, observedGeneration} = counted(
			budget,
			indexOf(set, budget, ...threeReady),
		);
		t.deepEqual([disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods], expected, JSON.stringify(spec));
		const [status, reason] = disruptionsAllowed > 0 ? ['True', 'SufficientPods'] : ['False', 'InsufficientPods'];
		t.like(conditions, [{type: 'DisruptionAllowed', status, reason}]);
		t.is(observedGeneration, 1);
	}
});

test('a set that is scaled up and has not its pods yet allows none: pods that are not ready, or end, do not count', t => {
	const five = aReplicaSet({spec: {replicas: 5}});
	const budget = aBudget({spec: {maxUnavailable: 2}});
	t.like(counted(budget, indexOf(five, budget, ...threeReady)), {disruptionsAllowed: 0, desiredHealthy: 3, expectedPods: 5});
	const ending = aReadyPod({name: 'c', metadata: {...owned, deletionTimestamp: now}});
	const starting = aReadyPod({name: 'b', metadata: owned, status: unready});
	t.like(counted(budget, indexOf(set, budget, a, starting, ending)), {disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1});
});

test('of a ReplicaSet that a Deployment made the scale of the Deployment counts', t => {
	const deployment = {...aReplicaSet({name: 'front', spec: {replicas: 6}}), kind: 'Deployment'};
	const ofIt = {...set, metadata: {...set.metadata, ownerReferences: [ownedBy(deployment)]}};
	const budget = aBudget({spec: {maxUnavailable: '50%'}});
	t.like(counted(budget, indexOf(deployment, ofIt, budget, ...threeReady)), {expectedPods: 6, desiredHealthy: 3, disruptionsAllowed: 0});
});

test('where it cannot be told how many pods there should be, none may go, and the budget says why, once', t => {
	const job = {...aReplicaSet({name: 'once'}), apiVersion: 'batch/v1', kind: 'Job'};
	const pods = names.map(name => aReadyPod({name, metadata: {labels, ownerReferences: [ownedBy(job)]}}));
	const budget = aBudget();
	const index = indexOf(job, budget, ...pods);
	const first = tellRecord(budget, [{type: 'wake'}], contextWith(index));
	const why = 'jobs.batch does not implement the scale subresource';
	t.like(first.effects, [{type: 'event', reason: 'CalculateExpectedPodCountFailed'}]);
	t.like(statusOf(first.object).conditions, [{status: 'False', reason: 'SyncFailed', message: why}]);
	put(index, first.object as ApiObject);
	const second = tellRecord(first.object as ApiObject, [{type: 'wake'}], contextWith(index));
	t.deepEqual([second.effects, second.object === first.object], [[], true]);
	t.is(
		ask(index, budget, pods[0] as Pod),
		`The disruption budget web does not allow evicting pods currently because it failed sync: ${why}`,
	);
	const gone = aBudget();
	t.like(counted(gone, indexOf(gone, ...threeReady)).conditions, [{message: 'found no controllers for pod "a"'}]);
});

test('an empty selector is about all pods of the namespace, none about nothing; a budget without pods allows none', t => {
	const others = aReadyPod({name: 'other', metadata: {namespace: 'shop', labels}});
	const lone = aReadyPod({name: 'lone'});
	const all = aBudget({spec: {minAvailable: 1, selector: {}}});
	t.like(counted(all, indexOf(all, set, ...threeReady, lone, others)), {currentHealthy: 4, disruptionsAllowed: 3, expectedPods: 4});
	const {selector: _selector, ...rest} = aBudget({spec: {minAvailable: 0}}).spec ?? {};
	const nothing = {...aBudget(), spec: rest};
	t.like(counted(nothing, indexOf(nothing, lone)), {disruptionsAllowed: 0, expectedPods: 0});
	t.like(tellRecord(nothing, [{type: 'wake'}], contextWith(indexOf(nothing))).effects, [{type: 'event', reason: 'NoPods'}]);
});

test('of two evictions at once one gets the last, and the other is told what is missing', t => {
	const budget = aBudget();
	const index = indexOf(set, budget, ...threeReady);
	t.is(ask(index, budget, a), 'given');
	const status = statusOf(index.get(keyOf(budget)));
	t.like(status, {disruptionsAllowed: 0, currentHealthy: 2, disruptedPods: {a: now}});
	t.is(ask(index, budget, b), 'The disruption budget web needs 2 healthy pods and has 2 currently');
	t.is(statusOf(index.get(keyOf(budget))), status);
});

test('what was given once is not given twice to the same pod, and its deletion leaves no entry behind', t => {
	const budget = aBudget();
	const index = indexOf(set, budget, ...threeReady);
	t.is(ask(index, budget, a), 'given');
	const version = index.version;
	t.is(ask(index, budget, a), 'given');
	t.is(index.version, version);
	put(index, aReadyPod({name: 'a', metadata: {...owned, deletionTimestamp: now}}));
	const after = counted(index.get(keyOf(budget)) as PodDisruptionBudget, index);
	t.deepEqual([after.disruptedPods, after.disruptionsAllowed, after.currentHealthy], [undefined, 0, 2]);
	drop(index, a);
	put(index, aReadyPod({name: 'd', metadata: owned}));
	t.is(counted(index.get(keyOf(budget)) as PodDisruptionBudget, index).disruptionsAllowed, 1);
	t.is(ask(index, budget, b), 'given');
});

test('an entry that no deletion follows is given back after two minutes, and the budget looks by then', t => {
	const budget = aBudget();
	const index = indexOf(set, budget, ...threeReady);
	t.is(ask(index, budget, a), 'given');
	const present = index.get(keyOf(budget)) as PodDisruptionBudget;
	t.like(tellRecord(present, [{type: 'wake'}], contextWith(index)).effects, [
		{type: 'wakeAt', name: 'reconcile', atMs: nowMs + limits.disruptionMs},
	]);
	t.is(counted(present, index, nowMs + limits.disruptionMs - 1).disruptionsAllowed, 0);
	const late = tellRecord(present, [{type: 'wake'}], contextWith(index, {nowMs: nowMs + limits.disruptionMs}));
	t.like(late.effects, [{type: 'event', event: 'Warning', reason: 'NotDeleted'}]);
	t.deepEqual([statusOf(late.object).disruptedPods, statusOf(late.object).disruptionsAllowed], [undefined, 1]);
});

test('a pod that was made later is another of that name, and the entry is not about it', t => {
	const budget = aBudget();
	const index = indexOf(set, budget, ...threeReady);
	t.is(ask(index, budget, a), 'given');
	put(index, aReadyPod({name: 'a', metadata: {...owned, uid: 'next', creationTimestamp: timestampOf(nowMs + 5000)}}));
	const present = index.get(keyOf(budget)) as PodDisruptionBudget;
	t.like(counted(present, index, nowMs + 6000), {currentHealthy: 3, disruptionsAllowed: 1});
});

test('a trial is answered like an eviction and takes nothing', t => {
	const budget = aBudget();
	const index = indexOf(set, budget, ...threeReady);
	const {version} = index;
	t.is(ask(index, budget, a, {dryRun: true}), 'given');
	t.is(index.version, version);
	t.is(ask(index, budget, a), 'given');
	t.is(ask(index, budget, b, {dryRun: true}), 'The disruption budget web needs 2 healthy pods and has 2 currently');
});

test('pods that end, are over, have not begun, or are another need no leave', t => {
	const budget = aBudget({spec: {maxUnavailable: 0}});
	const free = [
		aReadyPod({name: 'a', metadata: {...owned, deletionTimestamp: now}}),
		aReadyPod({name: 'b', metadata: owned, status: {phase: 'Failed', conditions: []}}),
		aPod({name: 'c', metadata: owned}),
	];
	const index = indexOf(set, budget, ...free);
	const {version} = index;
	for (const pod of free) t.is(ask(index, budget, pod), 'given', pod.metadata.name);
	t.is(ask(index, budget, aReadyPod({name: 'a', metadata: {uid: 'other'}})), 'given');
	t.is(index.version, version);
});

test('a pod that is not ready goes while enough others are healthy, or whenever the policy says so', t => {
	const sick = aReadyPod({name: 'c', metadata: owned, status: unready});
	const short = [set, a, sick] as const;
	const enough = aBudget({spec: {minAvailable: 1}});
	t.is(ask(indexOf(enough, ...short), enough, sick), 'given');
	const tooFew = aBudget({spec: {minAvailable: 2}});
	t.is(ask(indexOf(tooFew, ...short), tooFew, sick), 'The disruption budget web needs 2 healthy pods and has 1 currently');
	const always = aBudget({spec: {minAvailable: 2, unhealthyPodEvictionPolicy: 'AlwaysAllow'}});
	t.is(ask(indexOf(always, ...short), always, sick), 'given');
	t.is(ask(indexOf(always, ...short), always, a), 'The disruption budget web needs 2 healthy pods and has 1 currently');
});

test('what a budget keeps of unfinished evictions is bounded', t => {
	const many = Array.from({length: limits.disruptedPods}, (_, at) =>
		aReadyPod({name: `p${at}`, metadata: {labels, creationTimestamp: now}}),
	);
	const disruptedPods = Object.fromEntries(many.map(({metadata}) => [metadata.name, now]));
	const budget = aBudget({spec: {minAvailable: 0}, status: {disruptedPods}});
	const index = indexOf(budget, ...many, aReadyPod({name: 'last', metadata: {labels}}));
	t.regex(String(ask(index, budget, aReadyPod({name: 'last', metadata: {labels}}))), /^DisruptedPods map too big/);
	t.is(index.get(keyOf(budget)), budget);
});

test('an eviction that was given out in the far future holds up nothing', t => {
	const disruptedPods = {a: '9999-01-01T00:00:00Z'};
	const budget = aBudget({spec: {minAvailable: 1}, status: {disruptedPods}});
	const status = counted(budget, indexOf(set, budget, ...threeReady), nowMs);
	t.like(status, {currentHealthy: 3, disruptionsAllowed: 2});
	t.is(status.disruptedPods, undefined);
});

test('only news of its own pods wakes a budget, and of what scales them', t => {
	const budget = aBudget();
	const elsewhere = aBudget({name: 'elsewhere', metadata: {namespace: 'shop'}, spec: {selector: {matchLabels: labels}}});
	const others = aBudget({name: 'others'});
	const whole = aBudget({name: 'whole', spec: {selector: {}}});
	const index = indexOf(set, budget, elsewhere, others, whole, ...threeReady);
	const woken = (plural: string, before: ApiObject | undefined, after: ApiObject | undefined): string[] =>
		watchesOf(plural)
			.flatMap(watch => [...watch({before, after}, index)])
			.filter(({kind}) => kind === 'PodDisruptionBudget')
			.map(({metadata}) => metadata.name);
	const sick = aReadyPod({name: 'a', metadata: owned, status: unready});
	t.deepEqual(woken('pods', undefined, a).sort(), ['web', 'whole']);
	t.deepEqual(woken('pods', a, {...sick, metadata: a.metadata}).sort(), ['web', 'whole']);
	t.deepEqual(woken('pods', a, {...a, status: {...a.status, podIP: '127.0.0.9'}}), []);
	t.deepEqual(woken('pods', a, {...a, metadata: {...a.metadata, labels: {app: 'others'}}}).sort(), ['others', 'web', 'whole']);
	t.deepEqual(woken('replicasets', set, aReplicaSet({spec: {replicas: 4}})).sort(), ['web', 'whole']);
	t.deepEqual(woken('replicasets', set, {...set, status: {replicas: 3}}), []);
	t.deepEqual(
		budgetsOf(a, index)
			.map(({metadata}) => metadata.name)
			.sort(),
		['web', 'whole'],
	);
	t.deepEqual(budgetsOf(aPod({metadata: {namespace: 'empty', labels}}), index), []);
});
