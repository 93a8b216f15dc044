// The claims of a StatefulSet's pods: made before their pods, kept when those go, and lost only where the set says so.

import test from 'ava';
import type {PersistentVolumeClaim} from '../../api/kinds/persistentvolumeclaim.js';
import type {StatefulSet, StatefulSetSpec} from '../../api/kinds/statefulset.js';
import {limits} from '../../api/limits.js';
import type {ApiObject, Draft, OwnerReference} from '../../api/object.js';
import {objectAddress, objectKey} from '../../api/keys.js';
import {wakesOf} from '../../actors/control/wakes.js';
import type {Effect, Message} from '../../system/kernel/behavior.js';
import {FakeCluster} from './_cluster.js';
import {creates, look, made} from './_daemonsets.js';
import {contextWith, drop, now, openWrites, ownedBy, put} from './_objects.js';
import {tellRecord} from './_records.js';
import {deletions, names, World} from './_statefulsets.js';
import {claimDraft, claimIn, claimKeyOf, nodeOfPod, remove, volumesIn, whyNot} from './_storage.js';

type Policy = NonNullable<StatefulSetSpec['persistentVolumeClaimRetentionPolicy']>;

const template = (name: string, metadata: object = {}) => ({
	apiVersion: 'v1' as const,
	kind: 'PersistentVolumeClaim' as const,
	metadata: {name, ...metadata},
	spec: {accessModes: ['ReadWriteOnce' as const], resources: {requests: {storage: '1Gi'}}},
});

/** A set of three with a claim each. */
const worldWith = (policy: Policy = {}, spec: Partial<StatefulSetSpec> = {}): World =>
	new World({
		podManagementPolicy: 'Parallel',
		volumeClaimTemplates: [template('data')],
		persistentVolumeClaimRetentionPolicy: policy,
		...spec,
	});

const claimName = (ordinal: number): string => `data-db-${ordinal}`;

/** Claims as the set makes them, committed, or with other owners. */
function withClaims(world: World, ordinals: readonly number[], ownerReferences?: readonly OwnerReference[]): void {
	for (const ordinal of ordinals) {
		const claim = made(claimDraft(claimName(ordinal)));
		put(world.index, {...claim, metadata: {...claim.metadata, ...(ownerReferences === undefined ? {} : {ownerReferences})}});
	}
}

const claimOf = (world: World, ordinal: number): ApiObject => {
	const claim = world.index.get(claimKeyOf(claimName(ordinal)));
	if (claim === undefined) throw new Error(`no claim ${ordinal}`);
	return claim;
};

const own = (world: World, ordinal: number, ownerReferences: readonly OwnerReference[]): void => {
	const claim = claimOf(world, ordinal);
	put(world.index, {...claim, metadata: {...claim.metadata, ownerReferences}});
};

/** A set of three pods, each with its claim. */
function whole(policy: Policy = {}, spec: Partial<StatefulSetSpec> = {}): World {
	const world = worldWith(policy, spec);
	withClaims(world, [0, 1, 2], policy.whenDeleted === 'Delete' ? [ownedBy(world.set)] : undefined);
	for (const ordinal of [0, 1, 2]) world.pod(ordinal);
	world.look();
	return world;
}

/** Whom claims are given to: by the claim's name, the names of its owners. */
const given = (effects: readonly Effect[]): Record<string, readonly string[]> =>
	Object.fromEntries(
		effects.flatMap(effect => {
			if (effect.type !== 'update' || !effect.key.startsWith('persistentvolumeclaims/')) return [];
			const {patch} = effect.message as unknown as {patch: {metadata: {ownerReferences: readonly OwnerReference[] | null}}};
			const owners = patch.metadata.ownerReferences ?? [];
			return [[effect.key.slice(effect.key.lastIndexOf('/') + 1), owners.map(({kind, name}) => `${kind}/${name}`)]];
		}),
	);

const claimNames = (effects: readonly Effect[]): readonly string[] =>
	creates(effects, 'PersistentVolumeClaim').map(({metadata}) => metadata.name ?? '');

// ---- made before their pods ----------------------------------------------------------------------------------------------

test('a claim is made before its pod, with the labels that the set selects by', t => {
	const world = worldWith(
		{},
		{
			podManagementPolicy: 'OrderedReady',
			volumeClaimTemplates: [template('data', {labels: {tier: 'fast', app: 'other'}, annotations: {by: 'hand'}}), template('log')],
		},
	);
	const effects = world.look();
	t.deepEqual(names(effects), []);
	t.deepEqual(claimNames(effects), ['data-db-0', 'log-db-0']);
	t.deepEqual(creates(effects, 'PersistentVolumeClaim')[0], {
		apiVersion: 'v1',
		kind: 'PersistentVolumeClaim',
		metadata: {name: 'data-db-0', namespace: 'default', labels: {tier: 'fast', app: 'db'}, annotations: {by: 'hand'}},
		spec: template('data').spec,
	});
	t.deepEqual(world.look({pending: openWrites(effects)}), []);

	const [data, log] = creates(effects, 'PersistentVolumeClaim') as readonly [Draft, Draft];
	put(world.index, made(data));
	t.deepEqual(claimNames(world.look()), ['log-db-0']);
	t.deepEqual(world.look({pending: openWrites(effects.slice(1))}), []);
	put(world.index, made(log));
	t.deepEqual(names(world.look()), ['db-0']);
});

test('a pod has its claims for volumes, in place of those of the same name', t => {
	const volumes = [
		{name: 'tmp', emptyDir: {}},
		{name: 'data', emptyDir: {}},
	];
	const world = worldWith({}, {replicas: 1, template: {metadata: {labels: {app: 'db'}}, spec: {containers: [], volumes}}});
	withClaims(world, [0]);
	const [pod] = creates(world.look(), 'Pod');
	t.like(pod?.spec, {
		hostname: 'db-0',
		volumes: [
			{name: 'data', persistentVolumeClaim: {claimName: 'data-db-0'}},
			{name: 'tmp', emptyDir: {}},
		],
	});
});

test('a claim that is there is used, also one of somebody else; one that is about to go is waited for', t => {
	const world = worldWith();
	withClaims(world, [0]);
	withClaims(world, [1], [{apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true}]);
	put(world.index, made(claimDraft(claimName(2)), {deletionTimestamp: now, finalizers: ['kubernetes.io/pvc-protection']}));
	const effects = world.look();
	t.deepEqual(names(effects), ['db-0', 'db-1']);
	t.deepEqual(claimNames(effects), []);
	t.deepEqual(given(effects), {});
	const change = drop(world.index, claimOf(world, 2));
	t.true(wakesOf(change, world.index).some(({to}) => to.endsWith('/statefulsets/default.db')));
	t.deepEqual(claimNames(world.look()), ['data-db-2']);
});

test('a claim wakes only the set that its name says, and only when it comes, goes or changes hands', t => {
	const world = worldWith();
	const woken = (name: string, metadata: object = {}): boolean => {
		const claim = made(claimDraft(name), metadata);
		const isWoken = wakesOf(put(world.index, claim), world.index).some(({to}) => to.endsWith('/statefulsets/default.db'));
		const later = put(world.index, {...claim, status: {phase: 'Bound'}});
		t.false(
			wakesOf(later, world.index).some(({to}) => to.endsWith('/statefulsets/default.db')),
			name,
		);
		return isWoken;
	};
	t.true(woken('data-db-7'));
	for (const name of ['data-db', 'log-db-0', 'db-0', 'data-x-db-0', 'data']) t.false(woken(name), name);
});

test('a pod that waits for a node gets the claim that it has lost', t => {
	const world = worldWith();
	withClaims(world, [0, 1]);
	world.pod(0);
	world.pod(1);
	world.pod(2, {status: {phase: 'Pending', conditions: []}});
	t.deepEqual(claimNames(world.look()), ['data-db-2']);
	put(world.index, {...world.get(2), spec: {containers: [], nodeName: 'node-a'}});
	t.deepEqual(claimNames(world.look()), [], 'one that has a node has had it');
});

test('not more is asked for than may be: claims count, and after a refusal it is one', t => {
	const world = worldWith({}, {replicas: 500});
	const first = world.look();
	t.is(claimNames(first).length, limits.firstCreates);
	t.deepEqual(claimNames(world.look({pending: openWrites(first)})), []);
	const [failing] = first;
	if (failing?.type !== 'create') throw new Error('nothing is created');
	const outcome = {
		type: 'outcome',
		id: failing.id,
		outcome: {ok: false, error: {code: 'ERR_FORBIDDEN', reason: 'Forbidden', message: 'exceeded quota: few', details: {}}},
	} as const;
	const failed = tellRecord(world.set, [outcome], contextWith(world.index));
	t.like(
		failed.effects.find(effect => effect.type === 'event'),
		{reason: 'FailedCreate', message: 'Error creating: exceeded quota: few'},
	);
});

test('a set of many with all it should have looks at no claim', t => {
	const count = 300;
	const world = worldWith({whenDeleted: 'Delete', whenScaled: 'Delete'}, {replicas: count});
	const all = Array.from({length: count}, (_, i) => i);
	withClaims(world, all, [ownedBy(world.set)]);
	for (const ordinal of all) world.pod(ordinal);
	world.look();
	let looked = 0;
	const known = new Proxy(world.index, {
		get(index, member) {
			const value: unknown = Reflect.get(index, member, index);
			if (typeof value !== 'function') return value;
			return (...args: readonly unknown[]): unknown => {
				if (member === 'get' && String(args[0]).startsWith('persistentvolumeclaims/')) looked++;
				return value.apply(index, args) as unknown;
			};
		},
	});
	t.deepEqual(look(known, world.set).effects, []);
	t.is(looked, 0);
	own(world, 17, []);
	t.deepEqual(given(world.look()), {'data-db-17': ['StatefulSet/db']});
});

// ---- kept and lost -------------------------------------------------------------------------------------------------------

test('Retain: claims are nobody’s, whatever becomes of the pods', t => {
	const world = whole();
	t.deepEqual(world.look(), []);
	world.change({replicas: 1});
	const effects = world.look();
	t.deepEqual(deletions(effects).toSorted(), ['db-1', 'db-2']);
	t.deepEqual(given(effects), {});
});

test('whenDeleted: Delete gives claims to the set, those that were there as well, and takes them back', t => {
	const world = whole();
	world.change({persistentVolumeClaimRetentionPolicy: {whenDeleted: 'Delete', whenScaled: 'Retain'}});
	const effects = world.look();
	const all = {'data-db-0': ['StatefulSet/db'], 'data-db-1': ['StatefulSet/db'], 'data-db-2': ['StatefulSet/db']};
	t.deepEqual(given(effects), all);
	t.deepEqual(given(world.look({pending: openWrites(effects)})), {});
	for (const ordinal of [0, 1, 2]) own(world, ordinal, [ownedBy(world.set)]);
	t.deepEqual(world.look(), []);
	world.change({replicas: 2});
	t.deepEqual(deletions(world.look()), ['db-2'], 'with whenScaled: Retain it stays the set’s');
	world.change({replicas: 3, persistentVolumeClaimRetentionPolicy: {whenDeleted: 'Retain', whenScaled: 'Retain'}});
	t.deepEqual(given(world.look()), {'data-db-0': [], 'data-db-1': [], 'data-db-2': []});
	const fresh = worldWith({whenDeleted: 'Delete'});
	t.deepEqual(creates(fresh.look(), 'PersistentVolumeClaim')[0]?.metadata.ownerReferences, [ownedBy(fresh.set)]);
});

for (const whenDeleted of ['Retain', 'Delete'] as const) {
	test(`whenScaled: Delete gives the claim of a pod that is too many to that pod, and only then deletes it (whenDeleted: ${whenDeleted})`, t => {
		const world = whole({whenDeleted, whenScaled: 'Delete'});
		t.deepEqual(world.look(), []);
		world.change({replicas: 2});
		const effects = world.look();
		t.deepEqual(given(effects), {'data-db-2': ['Pod/db-2']});
		t.deepEqual(deletions(effects), []);
		t.deepEqual(deletions(world.look({pending: openWrites(effects)})), []);
		own(world, 2, [ownedBy(world.get(2))]);
		t.deepEqual(deletions(world.look()), ['db-2']);
	});

	test(`a set that has its former size again takes claims back before it does anything else (whenDeleted: ${whenDeleted})`, t => {
		const world = whole({whenDeleted, whenScaled: 'Delete'});
		const owners = whenDeleted === 'Delete' ? ['StatefulSet/db'] : [];
		own(world, 2, [ownedBy(world.get(2))]);
		const effects = world.look();
		t.deepEqual(given(effects), {'data-db-2': owners});
		// Another template: the pod would go, and its claim with it.
		world.change({template: {metadata: {labels: {app: 'db'}}, spec: {containers: []}}});
		t.deepEqual(deletions(world.look({pending: openWrites(effects)})), []);
		put(world.index, {...world.get(2), metadata: {...world.get(2).metadata, deletionTimestamp: now}});
		t.deepEqual(given(world.look()), {'data-db-2': owners}, 'also while the pod ends');
		world.remove(2);
		t.deepEqual(given(world.look()), {'data-db-2': owners}, 'and after that');
		t.deepEqual(names(world.look()), [], 'no pod is made with a claim that is about to go');
		own(world, 2, whenDeleted === 'Delete' ? [ownedBy(world.set)] : []);
		t.deepEqual(names(world.look()), ['db-2']);
	});
}

test('a rollout takes no claims along', t => {
	const world = whole({whenDeleted: 'Delete', whenScaled: 'Delete'}, {updateStrategy: {type: 'RollingUpdate'}});
	world.change({template: {metadata: {labels: {app: 'db'}}, spec: {containers: []}}});
	const effects = world.look();
	t.deepEqual(given(effects), {});
	t.deepEqual(deletions(effects), ['db-2']);
});

test('the claim of a pod that is too many goes with it also where somebody else deletes the pod', t => {
	const world = whole({whenScaled: 'Delete'}, {podManagementPolicy: 'OrderedReady'});
	world.change({replicas: 1});
	put(world.index, {...world.get(1), metadata: {...world.get(1).metadata, deletionTimestamp: now}});
	const effects = world.look();
	t.deepEqual(given(effects), {'data-db-1': ['Pod/db-1'], 'data-db-2': ['Pod/db-2']});
	t.deepEqual(deletions(effects), []);
	world.change({persistentVolumeClaimRetentionPolicy: {whenScaled: 'Retain'}});
	own(world, 1, [ownedBy(world.get(1))]);
	t.deepEqual(given(world.look()), {'data-db-1': []}, 'and does not, should the set think otherwise');
});

test('with whenScaled: Delete a claim whose pod is gone already stays', t => {
	const world = whole({whenScaled: 'Delete'});
	withClaims(world, [3]);
	t.deepEqual(world.look(), []);
});

// ---- in a cluster --------------------------------------------------------------------------------------------------------

const three = ['node-a', 'node-b', 'node-c'];

const setDraft = (replicas: number, spec: object = {}) => ({
	apiVersion: 'apps/v1',
	kind: 'StatefulSet',
	metadata: {name: 'db', namespace: 'default'},
	spec: {
		replicas,
		selector: {matchLabels: {app: 'db'}},
		podManagementPolicy: 'Parallel',
		template: {
			metadata: {labels: {app: 'db'}},
			spec: {terminationGracePeriodSeconds: 1, containers: [{name: 'main', image: 'any', command: ['sleep', '1d']}]},
		},
		volumeClaimTemplates: [template('data')],
		...spec,
	},
});

const setKey = objectKey('statefulsets', 'default', 'db');

function clusterOf(replicas: number, spec: object = {}): FakeCluster {
	const cluster = new FakeCluster({nodes: three});
	cluster.create('statefulsets', setDraft(replicas, spec));
	cluster.pass(10_000);
	return cluster;
}

function patch(cluster: FakeCluster, spec: object): void {
	const outcome = cluster.ask(objectAddress(setKey), {type: 'patch', patch: {spec}});
	if (!outcome.ok) throw new Error(outcome.error.message);
}

const uids = (cluster: FakeCluster): Record<string, string> =>
	Object.fromEntries(cluster.list('persistentvolumeclaims').map(({metadata}) => [metadata.name, metadata.uid]));
const readyPods = (cluster: FakeCluster): number => (cluster.list('statefulsets') as readonly StatefulSet[])[0]?.status?.readyReplicas ?? 0;
const deleteSet = (cluster: FakeCluster, propagation: string): void => {
	cluster.ask(objectAddress(setKey), {type: 'delete', propagation});
};

test('pods that come again, on whatever template, have their claims and go to their node', t => {
	const cluster = clusterOf(3);
	t.is(readyPods(cluster), 3);
	const before = uids(cluster);
	t.deepEqual(Object.keys(before).toSorted(), ['data-db-0', 'data-db-1', 'data-db-2']);
	t.is(volumesIn(cluster).length, 3);
	const places = cluster.places();
	patch(cluster, {template: {metadata: {annotations: {version: '2'}}}});
	cluster.pass(60_000);
	t.is(readyPods(cluster), 3);
	t.is(cluster.pod('db-0')?.metadata.annotations?.['version'], '2');
	patch(cluster, {replicas: 1});
	cluster.pass(20_000);
	t.is(cluster.list('pods').length, 1);
	patch(cluster, {replicas: 3});
	cluster.pass(20_000);
	t.is(readyPods(cluster), 3);
	t.deepEqual(cluster.places(), places);
	t.deepEqual(uids(cluster), before);
	cluster.start();
	cluster.pass(20_000);
	t.deepEqual(uids(cluster), before);
});

test('a pod whose node is away waits for it, says so, and comes back there', t => {
	const cluster = clusterOf(1);
	const node = nodeOfPod(cluster, 'db-0');
	const {'data-db-0': uid} = uids(cluster);
	cluster.node(node).cut = true;
	cluster.pass(60_000);
	t.is(nodeOfPod(cluster, 'db-0'), '');
	t.regex(whyNot(cluster.pod('db-0')), /had volume node affinity conflict/);
	cluster.heal(node);
	cluster.pass(30_000);
	t.is(nodeOfPod(cluster, 'db-0'), node);
	t.is(uids(cluster)['data-db-0'], uid);
});

test('whenScaled: Delete: claims go with the pods that are too many, and new ones come with new pods', t => {
	const cluster = clusterOf(3, {persistentVolumeClaimRetentionPolicy: {whenScaled: 'Delete'}});
	const before = uids(cluster);
	patch(cluster, {replicas: 1});
	cluster.pass(20_000);
	t.deepEqual(uids(cluster), {'data-db-0': before['data-db-0']});
	patch(cluster, {replicas: 2});
	cluster.pass(20_000);
	t.is(readyPods(cluster), 2);
	t.not(uids(cluster)['data-db-1'], before['data-db-1']);
	t.is(uids(cluster)['data-db-0'], before['data-db-0']);
});

test('whenScaled: Delete: a set that is made larger again before its pods have ended keeps their claims', t => {
	const cluster = clusterOf(3, {persistentVolumeClaimRetentionPolicy: {whenScaled: 'Delete', whenDeleted: 'Delete'}});
	const before = uids(cluster);
	const node = cluster.node(nodeOfPod(cluster, 'db-2'));
	node.cut = true;
	patch(cluster, {replicas: 2});
	cluster.settle();
	t.is(claimIn(cluster, 'data-db-2')?.metadata.ownerReferences?.[0]?.kind, 'Pod');
	t.truthy(cluster.pod('db-2')?.metadata.deletionTimestamp);
	patch(cluster, {replicas: 3});
	cluster.settle();
	t.is(claimIn(cluster, 'data-db-2')?.metadata.ownerReferences?.[0]?.kind, 'StatefulSet');
	cluster.heal(node.name);
	cluster.pass(30_000);
	t.is(readyPods(cluster), 3);
	t.deepEqual(uids(cluster), before);
});

test('whenDeleted: claims go with their set or stay, and stay with --cascade=orphan', t => {
	const end = (whenDeleted: string, propagation: string): FakeCluster => {
		const cluster = clusterOf(2, {persistentVolumeClaimRetentionPolicy: {whenDeleted}});
		deleteSet(cluster, propagation);
		cluster.pass(30_000);
		t.is(cluster.list('statefulsets').length, 0);
		return cluster;
	};
	for (const propagation of ['Background', 'Foreground']) {
		t.deepEqual(Object.keys(uids(end('Retain', propagation))).length, 2, propagation);
		const gone = end('Delete', propagation);
		t.deepEqual(uids(gone), {}, propagation);
		t.is(gone.list('pods').length, 0);
	}
	const orphaned = end('Delete', 'Orphan');
	t.is(orphaned.list('pods').length, 2);
	const before = uids(orphaned);
	t.deepEqual(Object.keys(before).length, 2);
	t.true(orphaned.list('persistentvolumeclaims').every(({metadata}) => (metadata.ownerReferences ?? []).length === 0));
	orphaned.create('statefulsets', setDraft(2));
	orphaned.pass(30_000);
	t.is(readyPods(orphaned), 2);
	t.deepEqual(uids(orphaned), before);
});

test('--cascade=orphan loses no claim that is just being given to the set, whenever it comes', t => {
	const adopting = {type: 'patch', patch: {spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: 'Delete'}}}};
	let adopted = 0;
	for (let steps = 0; steps < 40; steps++) {
		const cluster = new FakeCluster({nodes: ['node-a']});
		cluster.create('statefulsets', setDraft(1));
		cluster.pass(1_000);
		const before = uids(cluster);
		t.deepEqual(Object.keys(before), ['data-db-0']);
		cluster.tell(objectAddress(setKey), adopting, steps);
		if (claimIn(cluster, 'data-db-0')?.metadata.ownerReferences?.[0]?.kind === 'StatefulSet') adopted++;
		deleteSet(cluster, 'Orphan');
		cluster.pass(5_000);
		t.deepEqual([cluster.list('statefulsets').length, cluster.list('pods').length], [0, 1]);
		t.deepEqual(uids(cluster), before, `after ${steps} steps`);
	}
	t.true(adopted > 0 && adopted < 40, 'before, amid and after');
});

for (const [propagation, finalizer] of [
	['Orphan', 'orphan'],
	['Foreground', 'foregroundDeletion'],
] as const)
	test(`an owner waits for what is just being given to it: ${propagation}`, t => {
		const world = whole();
		world.change({persistentVolumeClaimRetentionPolicy: {whenDeleted: 'Delete', whenScaled: 'Retain'}});
		const pending = openWrites(world.look().filter(({type}) => type === 'update'));
		world.remove(0, 1, 2);
		drop(world.index, world.revision);
		t.is(pending.size, 3);
		const after = (messages: readonly Message[], object: ApiObject, writes: typeof pending) =>
			tellRecord(object, messages, contextWith(world.index, {pending: writes})).object;
		const leaving = after([{type: 'delete', propagation} as Message], world.set, pending);
		t.deepEqual(leaving?.metadata.finalizers, [finalizer]);
		if (leaving === undefined) return;
		t.truthy(after([{type: 'wake'}], leaving, pending));
		t.is(after([{type: 'wake'}], leaving, new Map()), undefined);
	});

test('a claim that a quota refuses is told by FailedCreate, and its pod comes once there is room', t => {
	const cluster = new FakeCluster({nodes: three});
	cluster.create('resourcequotas', {
		apiVersion: 'v1',
		kind: 'ResourceQuota',
		metadata: {name: 'few', namespace: 'default'},
		spec: {hard: {persistentvolumeclaims: '1'}},
	});
	cluster.pass(2_000);
	cluster.create('statefulsets', setDraft(2));
	cluster.pass(10_000);
	t.deepEqual(Object.keys(uids(cluster)), ['data-db-0']);
	t.deepEqual(Object.keys(cluster.places()), ['db-0']);
	t.true(cluster.reasons(setKey).includes('FailedCreate'));
	remove(cluster, objectKey('resourcequotas', 'default', 'few'));
	cluster.pass(600_000);
	t.is(readyPods(cluster), 2);
});

test('a user’s deletion of a claim waits for its pod, and the next pod has a new one', t => {
	const cluster = clusterOf(1);
	const {'data-db-0': uid} = uids(cluster);
	cluster.ask(objectAddress(claimKeyOf('data-db-0')), {type: 'delete'});
	cluster.pass(5_000);
	t.is(uids(cluster)['data-db-0'], uid);
	t.truthy((claimIn(cluster, 'data-db-0') as PersistentVolumeClaim).metadata.deletionTimestamp);
	cluster.ask(objectAddress(objectKey('pods', 'default', 'db-0')), {type: 'delete'});
	cluster.pass(20_000);
	t.is(readyPods(cluster), 1);
	t.not(uids(cluster)['data-db-0'], uid);
});
