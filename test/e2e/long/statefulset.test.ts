// A StatefulSet of real processes: names and host names that stay, in order, and never two programs of one name.

import test from 'ava';
import type {Pod} from '../../../api/kinds/pod.js';
import type {StatefulSet} from '../../../api/kinds/statefulset.js';
import type {ApiObject} from '../../../api/object.js';
import {isReady} from '../../../bench/rigs/cluster/pods.js';
import {programsOf} from '../../../bench/rigs/cluster/processes.js';
import {eventually, followObjects, until} from '../../../bench/rigs/cluster/waiting.js';
import {openFileHome} from '../_rig.js';

const {cluster, client} = openFileHome(test);

const member = (argument: string, replicas: number, more: object = {}) => ({
	apiVersion: 'apps/v1',
	kind: 'StatefulSet',
	metadata: {name: 'db'},
	spec: {
		serviceName: 'db',
		replicas,
		selector: {matchLabels: {app: 'db'}},
		template: {
			metadata: {labels: {app: 'db'}},
			spec: {
				terminationGracePeriodSeconds: 1,
				containers: [{name: 'main', image: 'any', command: ['sh', '-c', 'echo "$HOSTNAME"; exec sleep "$1"', 'sh', argument]}],
			},
		},
		...more,
	},
});

type Pods = ReadonlyMap<string, ApiObject>;

const names = (pods: Pods): readonly string[] => [...pods.keys()].toSorted();
const argumentOf = (pod: ApiObject | undefined): string | undefined => (pod as Pod | undefined)?.spec?.containers[0]?.command?.[4];
const allReady = (pods: Pods, count: number): boolean => pods.size === count && [...pods.values()].every(pod => isReady(pod));

test.serial('pods come in their order, are replaced from the last to the first, and go from the last on', async t => {
	const following = await followObjects(client(), 'pods');
	t.teardown(following.close);
	await cluster.apply(member('100001', 3));
	await following.until('three', pods => allReady(pods, 3));
	t.deepEqual(names(following.objects), ['db-0', 'db-1', 'db-2']);
	const added = following.changes.filter(({type}) => type === 'ADDED').map(({object}) => object.metadata.name);
	t.deepEqual(added, ['db-0', 'db-1', 'db-2']);
	t.is(await cluster.fine('logs', 'db-1'), 'db-1\n');
	await eventually('the set says so', async () => /^db +3\/3 /m.test(await cluster.fine('get', 'sts')));

	const from = following.changes.length;
	await cluster.apply(member('100002', 3));
	await following.until('new ones', pods => allReady(pods, 3) && [...pods.values()].every(pod => argumentOf(pod) === '100002'));
	// From the record of the watch: an identity is never there twice, never more than one is missing, and the last goes first.
	const present = new Map<string, boolean>(['db-0', 'db-1', 'db-2'].map(name => [name, true]));
	const order: string[] = [];
	for (const {type, object} of following.changes.slice(from)) {
		const {name, deletionTimestamp} = object.metadata;
		if (type === 'ADDED') {
			t.false(present.has(name), `${name} came before the one before was gone`);
			order.push(name);
		}
		if (type === 'DELETED') present.delete(name);
		else present.set(name, deletionTimestamp === undefined && isReady(object));
		t.true([...present.values()].filter(Boolean).length >= 2, `at ${type} ${name}`);
	}
	t.deepEqual(order, ['db-2', 'db-1', 'db-0']);
	const {status} = await until(client(), 'sts', 'its end', sets => {
		const set = sets.get('db') as StatefulSet | undefined;
		return set?.status?.currentRevision === set?.status?.updateRevision && set;
	});
	t.like(status, {replicas: 3, readyReplicas: 3, currentReplicas: 3, updatedReplicas: 3});

	await cluster.fine('scale', 'sts/db', '--replicas', '1');
	await following.until('one', pods => allReady(pods, 1));
	t.deepEqual(names(following.objects), ['db-0']);
	await eventually('one program', () => programsOf(cluster.home).length === 1);
	await cluster.fine('delete', 'pod', 'db-0');
	await following.until('the same name again', pods => allReady(pods, 1));
	t.deepEqual(names(following.objects), ['db-0']);
	t.regex(await cluster.fine('describe', 'sts', 'db'), /^Update Revision: +db-\w+ \(1 pod\)$/m);

	await cluster.fine('delete', 'sts', 'db');
	await following.until('nothing', pods => pods.size === 0);
	await eventually('nothing runs', () => programsOf(cluster.home).length === 0);
});

test.serial('in parallel all come at once; with a partition the first stay as they are', async t => {
	const partitioned = {
		podManagementPolicy: 'Parallel',
		updateStrategy: {type: 'RollingUpdate', rollingUpdate: {partition: 2}},
		ordinals: {start: 3},
	};
	await cluster.apply(member('100001', 3, partitioned));
	await until(client(), 'pods', 'three', pods => allReady(pods, 3));
	await cluster.apply(member('100002', 3, partitioned));
	const pods = await until(
		client(),
		'pods',
		'a new last one',
		found => allReady(found, 3) && argumentOf(found.get('db-5')) === '100002' && new Map(found),
	);
	t.deepEqual([...pods].map(([name, pod]) => [name, argumentOf(pod)]).toSorted(), [
		['db-3', '100001'],
		['db-4', '100001'],
		['db-5', '100002'],
	]);
	await cluster.fine('delete', 'pod', 'db-4');
	const again = await until(client(), 'pods', 'the same as before', found => allReady(found, 3) && new Map(found));
	t.is(argumentOf(again.get('db-4')), '100001');
	await cluster.fine('delete', 'sts', 'db');
	await until(client(), 'pods', 'nothing to be left', found => found.size === 0);
});
