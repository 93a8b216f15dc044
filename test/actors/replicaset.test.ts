// So many pods as wanted, whatever happens, and never two creates for one gap.

import test from 'ava';
import {failure} from '../../api/errors.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {limits} from '../../api/limits.js';
import {timestampOf, type ApiObject} from '../../api/object.js';
import type {Effect, Pending} from '../../system/kernel/behavior.js';
import type {Known} from '../../system/index/object-index.js';
import {aPod, aReadyPod, aReplicaSet, contextWith, indexOf, now, nowMs, openWrites, ownedBy, put, scheduled} from './_objects.js';
import {settle, tellRecord} from './_records.js';

const set = aReplicaSet({spec: {replicas: 3}});
const labels = {app: 'web'};
const owned = {labels, ownerReferences: [ownedBy(set)]};

function effectsOf(object: ApiObject, known: Known, pending: ReadonlyMap<string, Pending> = new Map()): readonly Effect[] {
	return tellRecord(object, [{type: 'wake'}], contextWith(known, {pending})).effects;
}

const deletions = (effects: readonly Effect[]): string[] => effects.flatMap(effect => (effect.type === 'delete' ? [effect.uid] : []));
const namesOf = (effects: readonly Effect[]): string[] =>
	effects.flatMap(effect => (effect.type === 'create' ? [effect.object.metadata.name ?? ''] : []));

test('missing pods are created from the template, owned by the set', t => {
	const [first, ...others] = effectsOf(set, indexOf(set));
	t.is(others.length, 2);
	t.like(first, {
		type: 'create',
		object: {
			apiVersion: 'v1',
			kind: 'Pod',
			metadata: {namespace: 'default', labels, ownerReferences: [ownedBy(set)]},
			spec: set.spec?.template.spec,
		},
	});
	for (const name of namesOf([first as Effect, ...others])) t.regex(name, /^web-[a-z0-9]{5}$/);
});

test('what is asked for and not yet there is not asked for twice', t => {
	const index = indexOf(set);
	const first = effectsOf(set, index);
	t.deepEqual(effectsOf(set, index, openWrites(first)), []);
	t.is(effectsOf(set, index, openWrites(first.slice(1))).length, 1);
});

test('each pod that was made or is to go is told by its name, as one of many, also while the set rests', t => {
	const pod = aPod({name: 'web-x', metadata: owned});
	const outcome = (id: string, value: unknown) => ({type: 'outcome', id, outcome: {ok: true, value}});
	const refused = {type: 'outcome', id: 'create/y', outcome: {ok: false, error: failure('ERR_STORE', {message: 'full'})}};
	const told = (id: string, reason: string, message: string): void => {
		const event = {type: 'event', event: 'Normal', reason, message, aspect: 'web-x', isOneOfMany: true} as const;
		const news = (...before: readonly {readonly type: string}[]) =>
			tellRecord(set, [...before, outcome(id, pod)], contextWith(indexOf(set))).effects.filter(({type}) => type === 'event');
		t.deepEqual(news(), [event]);
		t.deepEqual(news(refused), [event]);
	};
	told('create/web-x', 'SuccessfulCreate', 'Created pod: web-x');
	told(`delete/${pod.metadata.uid}`, 'SuccessfulDelete', 'Deleted pod: web-x');
	for (const other of [outcome('adopt/u', pod), outcome('create/web', set), outcome('delete/u', null)])
		t.deepEqual(
			tellRecord(set, [other], contextWith(indexOf(set))).effects.filter(({type}) => type === 'event'),
			[],
		);
});

test('pods that end and pods that are over do not count', t => {
	const index = indexOf(
		set,
		aReadyPod({name: 'a', metadata: owned}),
		aReadyPod({name: 'b', metadata: {...owned, deletionTimestamp: now}}),
		aReadyPod({name: 'c', metadata: owned, status: {phase: 'Failed', conditions: []}}),
	);
	t.is(namesOf(effectsOf(set, index)).length, 2);
});

test('an exclusive pod keeps its place until it is gone for good', t => {
	const annotations = {'troupe.dev/exclusive': 'true'};
	const {template, ...rest} = set.spec ?? {};
	const sole = {...set, spec: {...rest, replicas: 1, template: {...template, metadata: {labels, annotations}}}} as ApiObject;
	const leaving = aReadyPod({name: 'a', metadata: {...owned, annotations, deletionTimestamp: now}});
	t.deepEqual(namesOf(effectsOf(sole, indexOf(sole, leaving))), []);
	t.is(namesOf(effectsOf(sole, indexOf(sole))).length, 1);
});

test('surplus goes: without a node first, then what does not run, what is not ready, the youngest', t => {
	const one = aReplicaSet({spec: {replicas: 0}});
	const notReady = {phase: 'Running', conditions: [scheduled]} as const;
	const pods = [
		aReadyPod({name: 'old', metadata: {...owned, creationTimestamp: '2023-01-01T00:00:00Z'}}),
		aReadyPod({name: 'young', metadata: {...owned, creationTimestamp: '2023-02-01T00:00:00Z'}}),
		aReadyPod({name: 'unready', metadata: {...owned, creationTimestamp: '2022-01-01T00:00:00Z'}, status: notReady}),
		aReadyPod({name: 'starting', metadata: owned, status: {phase: 'Pending', conditions: [scheduled]}}),
		aPod({name: 'unbound', metadata: owned}),
	];
	const order = ['uid-of-unbound', 'uid-of-starting', 'uid-of-unready', 'uid-of-young', 'uid-of-old'];
	t.deepEqual(deletions(effectsOf(one, indexOf(one, ...pods))), order);
	const three = aReplicaSet({spec: {replicas: 3}});
	t.deepEqual(deletions(effectsOf(three, indexOf(three, ...pods))), order.slice(0, 2));
});

test('of many too many the right ones go, in their order', t => {
	const none = aReplicaSet({spec: {replicas: 0}});
	const days = Array.from({length: 500}, (_, i) => (i * 179) % 500); // Each once, in no order.
	const pods = days.map(day => {
		const creationTimestamp = timestampOf(nowMs - day * 86_400_000) ?? now;
		const status = day % 3 === 0 ? {status: {phase: 'Running', conditions: [scheduled]} as const} : {};
		return aReadyPod({name: `p${day}`, metadata: {...owned, creationTimestamp}, ...status});
	});
	const unready = days.filter(day => day % 3 === 0).sort((a, b) => a - b);
	t.deepEqual(
		deletions(effectsOf(none, indexOf(none, ...pods))),
		unready.slice(0, limits.pendingWrites).map(day => `uid-of-p${day}`),
	);
});

test('more surplus is chosen when half of what may be under way is done, or when all that is left has room', t => {
	const none = aReplicaSet({spec: {replicas: 0}});
	const pods = Array.from({length: 150}, (_, i) => aReadyPod({name: `s${i}`, metadata: owned}));
	const asked = effectsOf(none, indexOf(none, ...pods));
	const after = (done: number, index: Known): number => deletions(effectsOf(none, index, openWrites(asked.slice(done)))).length;
	const gone = new Set(deletions(asked));
	const without = (count: number): readonly Pod[] => pods.filter(({metadata}) => ![...gone].slice(0, count).includes(metadata.uid));
	t.is(after(20, indexOf(none, ...without(20))), 0);
	t.is(after(50, indexOf(none, ...without(50))), 50);
	const few = without(0).slice(0, 110);
	const first = effectsOf(none, indexOf(none, ...few));
	const left = few.filter(({metadata}) => !deletions(first).slice(0, 10).includes(metadata.uid));
	t.is(deletions(effectsOf(none, indexOf(none, ...left), openWrites(first.slice(10)))).length, 10);
});

test('a pod whose deletion is asked for is neither deleted again nor counted as staying', t => {
	const two = aReplicaSet({spec: {replicas: 2}});
	const index = indexOf(two, ...['a', 'b', 'c', 'd'].map(name => aReadyPod({name, metadata: owned})));
	const first = effectsOf(two, index);
	t.is(deletions(first).length, 2);
	t.deepEqual(effectsOf(two, index, openWrites(first)), []);
});

test('a deletion that is asked for may fail: nothing is made in its place before it is committed', t => {
	const pods = ['a', 'b', 'c'].map(name => aReadyPod({name, metadata: owned}));
	const one = aReplicaSet({spec: {replicas: 1}});
	const asked = openWrites(effectsOf(one, indexOf(one, ...pods)));
	t.is(asked.size, 2);
	const three = aReplicaSet({spec: {replicas: 3}});
	t.deepEqual(namesOf(effectsOf(three, indexOf(three, ...pods), asked)), []);
	const left = pods.map(pod => ({...pod, metadata: {...pod.metadata, ...(pod.metadata.name === 'a' ? {} : {deletionTimestamp: now})}}));
	t.is(namesOf(effectsOf(three, indexOf(three, ...left))).length, 2);
});

test('pods that match and belong to nobody are adopted, and count at once', t => {
	const orphan = aReadyPod({name: 'stray', metadata: {labels, resourceVersion: '7'}});
	const effects = effectsOf(set, indexOf(set, orphan));
	t.deepEqual(effects[0], {
		type: 'update',
		key: 'pods/default/stray',
		id: 'adopt/uid-of-stray',
		message: {type: 'patch', patch: {metadata: {uid: 'uid-of-stray', resourceVersion: '7', ownerReferences: [ownedBy(set)]}}},
	} as never);
	t.is(namesOf(effects).length, 2);
});

test('an adoption that is under way still counts', t => {
	const one = aReplicaSet();
	const index = indexOf(one, aReadyPod({name: 'stray', metadata: {labels}}));
	const first = effectsOf(one, index);
	t.is(first.length, 1);
	t.deepEqual(effectsOf(one, index, openWrites(first)), []);
});

test('pods of another controller, of another namespace, or on their way out are not adopted', t => {
	const other = aReplicaSet({name: 'other'});
	const none = aReplicaSet({spec: {replicas: 0}});
	const index = indexOf(
		none,
		aReadyPod({name: 'theirs', metadata: {labels, ownerReferences: [ownedBy(other)]}}),
		aReadyPod({name: 'there', metadata: {labels, namespace: 'shop'}}),
		aReadyPod({name: 'ending', metadata: {labels, deletionTimestamp: now}}),
		aReadyPod({name: 'over', metadata: {labels}, status: {phase: 'Succeeded'}}),
		aReadyPod({name: 'different', metadata: {labels: {app: 'db'}}}),
	);
	t.deepEqual(effectsOf(none, index), []);
});

test('a pod that does not match any more is let go and replaced', t => {
	const one = aReplicaSet();
	const strange = aReadyPod({
		name: 'strange',
		metadata: {labels: {app: 'debug'}, ownerReferences: [ownedBy(one), ownedBy(aPod(), {controller: false})]},
	});
	const effects = effectsOf(one, indexOf(one, strange));
	t.like(effects[0], {type: 'update', id: 'release/uid-of-strange', message: {patch: {metadata: {ownerReferences: [{kind: 'Pod'}]}}}});
	t.is(namesOf(effects).length, 1);
	const alone = aReadyPod({name: 'strange', metadata: {labels: {app: 'debug'}, ownerReferences: [ownedBy(one)]}});
	t.like(effectsOf(one, indexOf(one, alone))[0], {message: {patch: {metadata: {ownerReferences: null}}}});
});

test('a set that is being deleted does nothing more', t => {
	const ending = aReplicaSet({spec: {replicas: 3}, metadata: {deletionTimestamp: now, finalizers: ['a.example/x']}});
	t.deepEqual(effectsOf(ending, indexOf(ending)), []);
});

test('the status counts the living and the ready, and is written only when it changes', t => {
	const index = indexOf(
		set,
		aReadyPod({name: 'a', metadata: owned}),
		aPod({name: 'b', metadata: owned}),
		aReadyPod({name: 'c', metadata: owned}),
	);
	const after = settle(index, set);
	t.deepEqual(after?.status, {replicas: 3, fullyLabeledReplicas: 3, readyReplicas: 2, availableReplicas: 2, observedGeneration: 1});
	t.is(after && settle(index, after), after);
});

test('a pod with labels of its own beyond the template’s counts like the others', t => {
	const index = indexOf(
		set,
		aReadyPod({name: 'a', metadata: owned}),
		aReadyPod({name: 'b', metadata: {...owned, labels: {...labels, tier: 'canary'}}}),
		aReadyPod({name: 'c', metadata: {...owned, deletionTimestamp: now, labels: {tier: 'canary', ...labels}}}),
	);
	t.is(namesOf(effectsOf(set, index)).length, 1);
	t.like(settle(index, set)?.status, {replicas: 2, readyReplicas: 2});
});

test('what the index counts follows each change of a pod', t => {
	const pod = aReadyPod({name: 'a', metadata: owned});
	const index = indexOf(set, pod);
	const missing = (): number => namesOf(effectsOf(set, index)).length;
	const afterChange = (change: Partial<typeof pod>): number => {
		put(index, {...pod, ...change});
		return missing();
	};
	t.is(missing(), 2);
	t.is(afterChange({metadata: {...pod.metadata, labels: {...labels, tier: 'canary'}}}), 2);
	t.is(afterChange({metadata: {...pod.metadata, deletionTimestamp: now}}), 3);
	t.is(afterChange({status: {phase: 'Failed', conditions: []}}), 3);
	t.is(afterChange({metadata: {...pod.metadata, ownerReferences: []}, status: {phase: 'Running', conditions: []}}), 2);
	t.is(afterChange({}), 2);
});

test('at most a hundred writes are open, whatever is wanted', t => {
	const many = aReplicaSet({spec: {replicas: 10_000}});
	const index = indexOf(
		many,
		...Array.from({length: 200}, (_, i) => aReadyPod({name: `w${i}`, metadata: {labels, ownerReferences: [ownedBy(many)]}})),
	);
	const first = effectsOf(many, index);
	t.is(first.length, 100);
	t.deepEqual(effectsOf(many, index, openWrites(first)), []);
	t.is(effectsOf(many, index, openWrites(first.slice(0, 40))).length, 60);
	const none = aReplicaSet({spec: {replicas: 0}});
	const strays = Array.from({length: 150}, (_, i) => aReadyPod({name: `s${i}`, metadata: {labels}}));
	const adoptions = effectsOf(none, indexOf(none, ...strays));
	t.is(adoptions.length, 100);
	t.deepEqual(effectsOf(none, indexOf(none, ...strays), openWrites(adoptions)), []);
	const strangers = Array.from({length: 150}, (_, i) =>
		aReadyPod({name: `s${i}`, metadata: {labels: {app: 'x'}, ownerReferences: [ownedBy(none)]}}),
	);
	t.is(effectsOf(none, indexOf(none, ...strangers)).length, 100);
	const surplus = Array.from({length: 150}, (_, i) => aReadyPod({name: `s${i}`, metadata: owned}));
	t.is(deletions(effectsOf(none, indexOf(none, ...surplus))).length, 100);
});

test('one look at ten thousand pods visits each a few times only', t => {
	const many = aReplicaSet({spec: {replicas: 10_000}});
	const index = indexOf(many);
	for (let i = 0; i < 9_990; i++) put(index, aReadyPod({name: `web-${i}`, metadata: {...owned, resourceVersion: String(i)}}));
	let visits = 0;
	function* counted(objects: Iterable<ApiObject>): Iterable<ApiObject> {
		for (const object of objects) {
			visits++;
			yield object;
		}
	}
	const known: Known = {
		version: index.version,
		get: key => index.get(key),
		byUid: uid => index.byUid(uid),
		byOwner: uid => counted(index.byOwner(uid)),
		list: (plural, namespace) => counted(index.list(plural, namespace)),
		select: (plural, namespace, selector) => counted(index.select(plural, namespace, selector)),
		byTerm: (plural, term) => counted(index.byTerm(plural, term)),
		countByTerm: (plural, term) => index.countByTerm(plural, term),
		sumByTerm: (plural, term) => index.sumByTerm(plural, term),
		countOf: (plural, namespace) => index.countOf(plural, namespace),
		countInNamespace: namespace => index.countInNamespace(namespace),
		inNamespace: namespace => counted(index.inNamespace(namespace)),
		part: (key, name) => index.part(key, name),
		partsOf: key => index.partsOf(key),
	};
	t.is(effectsOf(many, known).length, 10);
	t.true(visits <= 2 * 9_990, `${visits} visits`);
});

test('names come from the interpreter, so that two looks make different ones', t => {
	const context = contextWith(indexOf(set), {nowMs});
	const first = namesOf(tellRecord(set, [{type: 'wake'}], context).effects);
	const second = namesOf(tellRecord(set, [{type: 'wake'}], context).effects);
	t.is(new Set([...first, ...second]).size, 6);
});

test('not more pods are asked for than there are already: a template that is refused is refused a few times', t => {
	const many = aReplicaSet({spec: {replicas: 1000}});
	const mine = {labels, ownerReferences: [ownedBy(many)]};
	const first = effectsOf(many, indexOf(many));
	t.is(namesOf(first).length, limits.firstCreates);
	t.deepEqual(effectsOf(many, indexOf(many), openWrites(first)), []);
	const some = Array.from({length: 20}, (_, i) => aReadyPod({name: `s${i}`, metadata: mine}));
	t.is(namesOf(effectsOf(many, indexOf(many, ...some))).length, 20);
	t.is(namesOf(effectsOf(many, indexOf(many, ...some), openWrites(first))).length, 20 - limits.firstCreates);
});

test('after a refusal one pod is asked for, and the set says why there are no more', t => {
	const index = indexOf(set);
	const refused = {type: 'outcome', id: 'create/x', outcome: {ok: false, error: failure('ERR_FORBIDDEN', {message: 'exceeded quota: q'})}};
	const {state} = tellRecord(set, [refused], contextWith(index));
	const again = tellRecord(set, [{type: 'retry'}], contextWith(index), state);
	t.is(namesOf(again.effects).length, 1);
	const {conditions = []} = (again.object as ReplicaSet).status ?? {};
	t.like(conditions[0], {type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota: q'});
	const fine = {type: 'outcome', id: 'create/x', outcome: {ok: true, value: null}};
	const well = tellRecord(again.object as ReplicaSet, [fine, {type: 'wake'}], contextWith(index), again.state);
	t.deepEqual((well.object as ReplicaSet).status?.conditions, []);
});

test('a pod counts as available once it was ready for minReadySeconds, and the set looks again then', t => {
	const slow = aReplicaSet({spec: {replicas: 4, minReadySeconds: 60}});
	const mine = {labels, ownerReferences: [ownedBy(slow)]};
	const since = (name: string, secondsAgo: number): Pod =>
		aReadyPod({
			name,
			metadata: mine,
			status: {phase: 'Running', conditions: [{type: 'Ready', status: 'True', lastTransitionTime: timestampOf(nowMs - secondsAgo * 1000)}]},
		});
	const pods = [since('a', 3600), since('b', 60), since('c', 55), since('d', 3)];
	const {object, effects} = tellRecord(slow, [{type: 'wake'}], contextWith(indexOf(slow, ...pods)));
	t.like((object as ReplicaSet).status, {readyReplicas: 4, availableReplicas: 2});
	t.deepEqual(effects, [{type: 'wakeAt', name: 'reconcile', atMs: Math.floor(nowMs / 1000) * 1000 + 5000, message: {type: 'wake'}}]);
	const stranger = aReadyPod({name: 'x', metadata: {labels: {app: 'x'}, ownerReferences: [ownedBy(slow)]}});
	const walked = tellRecord(slow, [{type: 'wake'}], contextWith(indexOf(slow, ...pods, stranger)));
	t.like((walked.object as ReplicaSet).status, {readyReplicas: 4, availableReplicas: 2});
});

test('the longest minReadySeconds costs no more looks than there are pods', t => {
	const slow = aReplicaSet({spec: {replicas: 2, minReadySeconds: 2 ** 31 - 1}});
	const pods = ['a', 'b'].map(name => aReadyPod({name, metadata: {labels, ownerReferences: [ownedBy(slow)]}}));
	const index = indexOf(slow, ...pods);
	let looks = 0;
	const counting = new Proxy(index, {
		get(target, name) {
			if (++looks > 100) throw new Error('looked too often');
			const member: unknown = Reflect.get(target, name, target);
			return typeof member === 'function' ? (member as (...all: unknown[]) => unknown).bind(target) : member;
		},
	});
	const {object} = tellRecord(slow, [{type: 'wake'}], contextWith(counting));
	t.like((object as ReplicaSet).status, {readyReplicas: 2, availableReplicas: 0});
});

test('the pods of an exclusive set have fixed names: a create that nobody remembers cannot make a second one', t => {
	const annotations = {'troupe.dev/exclusive': 'true'};
	const sole = aReplicaSet({spec: {replicas: 2, template: {metadata: {labels, annotations}, spec: set.spec?.template.spec}}} as never);
	t.deepEqual(namesOf(effectsOf(sole, indexOf(sole))), ['web-0', 'web-1']);
	const first = aReadyPod({name: 'web-0', metadata: {labels, annotations, ownerReferences: [ownedBy(sole)]}});
	t.deepEqual(namesOf(effectsOf(sole, indexOf(sole, first))), ['web-1']);
});

test('a set that asked for more than is wanted now has not settled on its spec yet', t => {
	const five = aReplicaSet({spec: {replicas: 5}});
	const asked = openWrites(effectsOf(five, indexOf(five)));
	const two = {...aReplicaSet({spec: {replicas: 2}}), metadata: {...five.metadata, generation: 2}};
	const {object} = tellRecord(two, [{type: 'wake'}], contextWith(indexOf(two), {pending: asked}));
	t.is((object as ReplicaSet).status?.observedGeneration, undefined);
	const settled = tellRecord(two, [{type: 'wake'}], contextWith(indexOf(two)));
	t.is((settled.object as ReplicaSet).status?.observedGeneration, 2);
});
