// A StatefulSet: pods with names that they keep, made, taken away and replaced in their order, never two of one name.

import test from 'ava';
import type {Pod, PodStatus} from '../../api/kinds/pod.js';
import type {StatefulSetSpec} from '../../api/kinds/statefulset.js';
import {limits} from '../../api/limits.js';
import {timestampOf, type ApiObject} from '../../api/object.js';
import {wakesOf} from '../../actors/control/wakes.js';
import {creates, look} from './_daemonsets.js';
import {aPod, drop, indexOf, now, nowMs, openWrites, ownedBy, put, ready, scheduled} from './_objects.js';
import {aStatefulSet, deletions, names, templateOf, World} from './_statefulsets.js';

const starting: PodStatus = {phase: 'Pending', conditions: [scheduled]};

test('the pods have numbers, names, host names and labels of their own, and are exclusive', t => {
	const world = new World({podManagementPolicy: 'Parallel'});
	const [first, second] = creates(world.look(), 'Pod');
	t.like(second, {
		metadata: {
			name: 'db-1',
			labels: {
				app: 'db',
				'controller-revision-hash': world.revision.metadata.name,
				'statefulset.kubernetes.io/pod-name': 'db-1',
				'apps.kubernetes.io/pod-index': '1',
			},
			annotations: {'troupe.dev/exclusive': 'true'},
			ownerReferences: [ownedBy(world.set)],
		},
		spec: {hostname: 'db-1'},
	});
	t.is(first?.metadata.name, 'db-0');
	t.regex(world.revision.metadata.name, /^db-[a-z0-9]{10}$/);
});

test('their headless Service names them, if anything can be called so', t => {
	const specWith = (serviceName: string): object => creates(new World({serviceName}).look(), 'Pod')[0]?.spec as object;
	t.like(specWith('db'), {hostname: 'db-0', subdomain: 'db'});
	for (const none of ['', 'no such.name']) t.false(Object.hasOwn(specWith(none), 'subdomain'));
});

test('the template may say that they are not exclusive', t => {
	const annotations = {'troupe.dev/exclusive': 'false'};
	const world = new World({template: {...templateOf('program'), metadata: {labels: {app: 'db'}, annotations}}});
	t.deepEqual(creates(world.look(), 'Pod')[0]?.metadata.annotations, annotations);
});

test('OrderedReady makes the next pod once the one before can be relied on', t => {
	const world = new World();
	const first = world.look();
	t.deepEqual(names(first), ['db-0']);
	t.deepEqual(world.look({pending: openWrites(first)}), []);
	world.pod(0, {status: starting});
	t.deepEqual(world.look(), []);
	put(world.index, {...world.get(0), status: {phase: 'Running', conditions: [scheduled, ready]}});
	t.deepEqual(names(world.look()), ['db-1']);
	world.pod(1);
	world.pod(2);
	t.deepEqual(world.look(), []);
	t.like(world.set.status, {
		replicas: 3,
		readyReplicas: 3,
		availableReplicas: 3,
		currentReplicas: 3,
		updatedReplicas: 3,
		observedGeneration: 1,
	});
	t.is(world.set.status?.currentRevision, world.revision.metadata.name);
});

test('it waits for minReadySeconds, and no longer', t => {
	const world = new World({minReadySeconds: 10});
	world.pod(0, {status: {phase: 'Running', conditions: [scheduled, {...ready, lastTransitionTime: timestampOf(nowMs)}]}});
	const effects = world.look();
	t.deepEqual(names(effects), []);
	t.true(effects.some(effect => effect.type === 'wakeAt' && effect.atMs === nowMs + 10_000));
	t.like(world.set.status, {readyReplicas: 1, availableReplicas: 0});
	t.deepEqual(names(world.look({nowMs: nowMs + 10_000})), ['db-1']);
});

test('Parallel makes all at once, as many as may be under way', t => {
	const world = new World({replicas: 40, podManagementPolicy: 'Parallel'});
	const effects = world.look();
	t.is(names(effects).length, limits.firstCreates);
	t.deepEqual(world.look({pending: openWrites(effects)}), []);
});

test('numbers begin where they shall', t => {
	const world = new World({ordinals: {start: 5}});
	t.deepEqual(names(world.look()), ['db-5']);
	for (const ordinal of [5, 6, 7]) world.pod(ordinal);
	t.deepEqual(world.look(), []);
	world.change({ordinals: {start: 6}});
	t.deepEqual(names(world.look()), ['db-8']);
	world.pod(8);
	t.deepEqual(deletions(world.look()), ['db-5']);
});

test('a name is taken until its pod is gone for good', t => {
	const world = new World();
	for (const ordinal of [0, 1, 2]) world.pod(ordinal, ordinal === 1 ? {deletionTimestamp: now} : {});
	t.deepEqual(world.look(), []);
	t.like(world.set.status, {replicas: 3, readyReplicas: 2});
	world.remove(1);
	t.deepEqual(names(world.look()), ['db-1']);
});

test('a name that another object has is waited for', t => {
	const world = new World();
	const other = aPod({name: 'db-0'});
	put(world.index, other);
	t.deepEqual(world.look(), []);
	const change = drop(world.index, other);
	t.true(wakesOf(change, world.index).some(({to}) => to.endsWith('/statefulsets/default.db')));
	t.deepEqual(names(world.look()), ['db-0']);
});

test('a pod that is over goes and comes again', t => {
	for (const phase of ['Failed', 'Succeeded'] as const) {
		const world = new World();
		world.pod(0, {status: {phase, conditions: []}});
		t.deepEqual(deletions(world.look()), ['db-0']);
		world.remove(0);
		t.deepEqual(names(world.look()), ['db-0']);
	}
});

test('scaled down it takes the last away first, one at a time, and only while all others can be relied on', t => {
	const world = new World({replicas: 4});
	for (const ordinal of [0, 1, 2, 3]) world.pod(ordinal);
	world.change({replicas: 1});
	const first = world.look();
	t.deepEqual(deletions(first), ['db-3']);
	t.deepEqual(world.look({pending: openWrites(first)}), []);
	put(world.index, {...world.get(0), status: starting});
	t.deepEqual(world.look(), []);
	put(world.index, {...world.get(0), status: {phase: 'Running', conditions: [scheduled, ready]}});
	world.remove(3);
	t.deepEqual(deletions(world.look()), ['db-2']);
	world.remove(2, 1);
	t.deepEqual(world.look(), []);
});

test('scaled down in parallel all go at once', t => {
	const world = new World({replicas: 4, podManagementPolicy: 'Parallel'});
	for (const ordinal of [0, 1, 2, 3]) world.pod(ordinal, ordinal === 0 ? {status: starting} : {});
	world.change({replicas: 1});
	t.deepEqual(deletions(world.look()), ['db-3', 'db-2', 'db-1']);
});

/** A set of three ready pods that gets another template. */
function updating(spec: Partial<StatefulSetSpec> = {}): World {
	const world = new World(spec);
	for (const ordinal of [0, 1, 2]) world.pod(ordinal);
	world.look();
	world.change({template: templateOf('newer')});
	return world;
}

test('an update goes from the last to the first, one at a time', t => {
	const world = updating();
	const [old, fresh] = [world.set.status?.currentRevision, world.revision.metadata.name];
	for (const ordinal of [2, 1, 0]) {
		t.deepEqual(deletions(world.look()), [`db-${ordinal}`]);
		t.like(world.set.status, {currentRevision: old, updateRevision: fresh, updatedReplicas: 2 - ordinal, currentReplicas: ordinal + 1});
		world.remove(ordinal);
		t.deepEqual(names(world.look()), [`db-${ordinal}`]);
		world.pod(ordinal, {status: starting});
		t.deepEqual(world.look(), []);
		put(world.index, {...world.get(ordinal), status: {phase: 'Running', conditions: [scheduled, ready]}});
	}
	// The old revision is not the current one any more: that is looked at again.
	t.like(world.look(), [{type: 'tell', message: {type: 'wake'}}]);
	t.like(world.set.status, {currentRevision: fresh, updateRevision: fresh, currentReplicas: 3, updatedReplicas: 3});
	t.deepEqual(world.look(), []);
});

test('below the partition pods stay as they are, and come again as they were', t => {
	const world = updating({updateStrategy: {type: 'RollingUpdate', rollingUpdate: {partition: 2}}});
	t.deepEqual(deletions(world.look()), ['db-2']);
	world.remove(2);
	t.is(creates(world.look(), 'Pod')[0]?.metadata.labels?.['controller-revision-hash'], world.revision.metadata.name);
	world.pod(2);
	t.deepEqual(world.look(), []);
	t.like(world.set.status, {currentReplicas: 2, updatedReplicas: 1});
	world.remove(1);
	const [again] = creates(world.look(), 'Pod') as unknown as readonly Pod[];
	t.is(again?.metadata.name, 'db-1');
	t.is(again?.spec?.containers[0]?.image, 'program');
	t.is(again?.metadata.labels?.['controller-revision-hash'], world.set.status?.currentRevision);
});

test('several may be missing during an update', t => {
	t.deepEqual(deletions(updating({updateStrategy: {rollingUpdate: {maxUnavailable: 2}}}).look()), ['db-2', 'db-1']);
	t.deepEqual(deletions(updating({updateStrategy: {rollingUpdate: {maxUnavailable: '67%'}}}).look()), ['db-2', 'db-1']);
	const parallel = updating({podManagementPolicy: 'Parallel', updateStrategy: {rollingUpdate: {maxUnavailable: 2}}});
	put(parallel.index, {...parallel.get(0), status: starting});
	t.deepEqual(deletions(parallel.look()), ['db-2']);
});

test('OnDelete of a StatefulSet replaces only what somebody deletes', t => {
	const world = updating({updateStrategy: {type: 'OnDelete'}});
	t.deepEqual(world.look(), []);
	world.remove(1);
	t.is(creates(world.look(), 'Pod')[0]?.metadata.labels?.['controller-revision-hash'], world.revision.metadata.name);
});

test('a revision is kept while pods are of it, or will be again', t => {
	const world = updating({revisionHistoryLimit: 0});
	t.deepEqual(deletions(world.look()), ['db-2']);
	t.is([...world.index.list('controllerrevisions')].length, 2);
	world.remove(2, 1, 0);
	// The current one is what an unfinished update goes back to.
	t.deepEqual(deletions(world.look()), []);
	for (const ordinal of [0, 1, 2]) world.pod(ordinal);
	world.look();
	t.is(deletions(world.look()).length, 1);
});

test('only pods with a name of the set are taken', t => {
	const world = new World();
	const labels = {app: 'db'};
	for (const name of ['db-1', 'other', 'db-01', 'db-x']) put(world.index, aPod({name, metadata: {labels}}));
	t.deepEqual(
		world.look().flatMap(effect => (effect.type === 'update' ? [effect.id] : [])),
		['adopt/uid-of-db-1'],
	);
});

test('of a complete set of a thousand the change of one pod walks none of them', t => {
	const world = new World({replicas: 1_000, podManagementPolicy: 'Parallel'});
	for (let ordinal = 0; ordinal < 1_000; ordinal++) world.pod(ordinal);
	world.look();
	put(world.index, {...world.get(500), status: {phase: 'Running', conditions: [scheduled]}});
	let visits = 0;
	const counted = new Proxy(world.index, {
		get(target, name) {
			const value: unknown = Reflect.get(target, name, target);
			if (typeof value !== 'function') return value;
			return (...words: readonly unknown[]): unknown => {
				const found: unknown = Reflect.apply(value as (...all: readonly unknown[]) => unknown, target, words);
				if (name === 'list' || name === 'byTerm' || name === 'select' || name === 'byOwner')
					return [...(found as Iterable<ApiObject>)].map(each => {
						visits++;
						return each;
					});
				return found;
			};
		},
	});
	t.deepEqual(world.look({known: counted}), []);
	t.like(world.set.status, {replicas: 1_000, readyReplicas: 999});
	t.true(visits <= 5, `${visits} visits`);
	world.remove(500);
	t.deepEqual(names(world.look()), ['db-500']);
});

test('a set that crashed asks for the same names again, and a set that is being deleted for nothing', t => {
	const world = new World({podManagementPolicy: 'Parallel'});
	t.deepEqual(names(world.look()), names(world.look()));
	const leaving = aStatefulSet({}, {deletionTimestamp: now, finalizers: ['held/by']});
	t.deepEqual(look(indexOf(leaving), leaving).effects, []);
});
