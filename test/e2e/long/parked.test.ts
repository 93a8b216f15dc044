// An actor with a bug: it is parked, its siblings and its own object live on, people see it, and it recovers with the cause.

import path from 'node:path';
import test from 'ava';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import type {ApiObject, Condition} from '../../../api/object.js';
import {setOf} from '../../../bench/rigs/cluster/manifests.js';
import {programsOf} from '../../../bench/rigs/cluster/processes.js';
import {openHome} from '../_rig.js';
import {openEar} from '../_ear.js';
import {eventually, followObjects} from '../../../bench/rigs/cluster/waiting.js';

const failing = (object: ApiObject | undefined): Condition | undefined =>
	((object?.status as {conditions?: readonly Condition[]} | undefined)?.conditions ?? []).find(({type}) => type === 'ActorFailed');
const readyOf = (object: ApiObject | undefined): number | undefined => (object as ReplicaSet | undefined)?.status?.readyReplicas;

test('an actor that throws is parked and seen; siblings, reads, writes and deletion go on; it recovers with the cause', async t => {
	t.timeout(50_000);
	const cluster = openHome(t);
	const up = cluster.startFile(path.join(import.meta.dirname, '../_faulty-up.js'), [cluster.home]);
	await up.says(/get pods .*\n/);
	const client = await cluster.client();
	const sets = await followObjects(client, 'rs');
	const ear = await openEar(t, cluster);
	await ear.listen('troupe/v1/actors/control/lifecycle/#');

	// It throws from its very first step on; the write itself is taken.
	await cluster.apply(setOf('buggy', 13), setOf('sound', 1));
	const parked = await sets.until('buggy to be parked', found => failing(found.get('buggy'))?.status === 'True' && found.get('buggy'));
	t.like(failing(parked), {status: 'True'});
	t.regex(failing(parked)?.message ?? '', /13 replicas bring bad luck/);
	await sets.until('its sibling to work', found => readyOf(found.get('sound')) === 1);
	await eventually('one program', () => programsOf(cluster.home).length === 1);

	const tree = await cluster.fine('tree', 'control');
	t.regex(tree, /default\.buggy +PARKED.*last crash \d+s ago: 13 replicas bring bad luck/);
	t.notRegex(tree, /default\.sound.*(PARKED|crash)/);
	const why = await cluster.fine('why', 'rs/buggy');
	t.regex(why, /^ReplicaSet buggy is not looked after: its actor crashed too often and is parked: .*13 replicas bring bad luck\.$/m);
	t.regex(why, /^Next: it is tried again by itself with a back-off, and at once when its spec changes\.$/m);
	t.regex(await cluster.fine('events', '--for', 'rs/buggy'), /Warning +ActorFailed +replicaset\/buggy/);
	t.regex(await cluster.fine('describe', 'rs', 'buggy'), /ActorFailed +True/);
	const told = await ear.until('the lifecycle topic to tell of parking', heard => heard.some(({text}) => /"parked"/.test(text)) && heard);
	t.true(told.every(({topic}) => topic.startsWith('troupe/v1/actors/control/lifecycle/replicasets/')));

	// Reads and generic writes go on; it stays parked, for the cause is still there.
	await cluster.apply({...setOf('buggy', 13), metadata: {name: 'buggy', labels: {touched: 'yes'}}});
	t.regex(await cluster.fine('get', 'rs', '-l', 'touched=yes', '-o', 'name'), /^replicaset\.apps\/buggy\n$/);
	t.is(failing(sets.objects.get('buggy'))?.status, 'True');
	t.regex(await cluster.fine('scale', 'rs/sound', '--replicas=2', '--wait'), /scaled/, 'a sibling scales meanwhile');

	// The spec write that removes the cause.
	await cluster.fine('scale', 'rs/buggy', '--replicas=2', '--wait');
	await sets.until('its condition to be gone', found => failing(found.get('buggy'))?.status !== 'True');
	const treeNow = await cluster.fine('tree', 'control');
	t.notRegex(treeNow, /PARKED/);
	await eventually('four programs', () => programsOf(cluster.home).length === 4);

	// One that runs already: parked again by a write, its pods untouched, and deletion goes on.
	const before = programsOf(cluster.home).map(({pid}) => pid);
	await cluster.fine('scale', 'rs/buggy', '--replicas=13');
	await sets.until('buggy to be parked again', found => failing(found.get('buggy'))?.status === 'True');
	t.deepEqual(
		programsOf(cluster.home).map(({pid}) => pid),
		before,
	);
	t.regex(await cluster.fine('delete', 'rs/buggy', '--timeout=20s'), /replicaset\.apps "buggy" deleted/);
	await sets.until('the watch to tell that it is gone', found => !found.has('buggy'));
	await eventually('its pods are gone with it', () => programsOf(cluster.home).length === 2);
	sets.close();
	up.kill('SIGTERM');
	t.is((await up.ended).code, 0);
});
