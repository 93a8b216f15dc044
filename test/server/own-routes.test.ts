import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {readBackup} from '../../system/store/backup.js';
import {aNode} from '../actors/_objects.js';
import {aPod, aReplicaSet} from './cluster.js';
import {openDoor, tableAccept, type StatusBody} from './door.js';

test('a document of a dialect is shown as it would be read, and nothing is kept', async t => {
	const {json, cluster} = await openDoor(t);
	const read = await json<{object: {kind: string}; notes: string[]; renamed: unknown[]}>(200, 'POST', '/troupe/v1/normalise', {
		...aReplicaSet('web', 1),
		apiVersion: 'v1',
		kind: 'Replicaset',
	});
	t.is(read.object.kind, 'ReplicaSet');
	t.is(read.notes.length, 1);
	t.deepEqual((await json<{notes: string[]}>(200, 'POST', '/troupe/v1/normalise', aPod('x'))).notes, []);
	t.is((await json<StatusBody>(422, 'POST', '/troupe/v1/normalise', {kind: 5})).reason, 'Invalid');
	t.deepEqual(cluster.asked, []);
});

test('a backup holds every object as of one version, and is for admins only', async t => {
	const {json, call, cluster} = await openDoor(t);
	for (let at = 0; at < 300; at++) cluster.pod(`p${at}`);
	const {status, text} = await call('GET', '/troupe/v1/backup');
	t.is(status, 200);
	const {head, records} = await readBackup(asBytes(text));
	t.is(head.meta.version, cluster.control.index.version);
	let count = 0;
	for await (const {body} of records) {
		t.is(typeof (JSON.parse(body) as {kind: string}).kind, 'string');
		count++;
	}
	t.is(count, cluster.control.index.size);
	for (const login of ['editor', 'viewer', 'tool', 'node-a'])
		await json(403, 'GET', '/troupe/v1/backup', undefined, {authorization: `Bearer ${login}`});
	t.is((await json<StatusBody>(405, 'POST', '/troupe/v1/backup', {})).reason, 'MethodNotAllowed');
});

async function* asBytes(text: string): AsyncIterable<Uint8Array> {
	yield await Promise.resolve(Buffer.from(text));
}

test('counters and limits are there to read', async t => {
	const {json, cluster} = await openDoor(t);
	t.deepEqual(await json(200, 'GET', '/troupe/v1/counters'), {commits: cluster.control.index.version});
	t.deepEqual(await json<unknown>(200, 'GET', '/troupe/v1/limits'), {...limits});
});

test('a program is told as whom it may speak MQTT, and where', async t => {
	const {json} = await openDoor(t);
	t.deepEqual(await json<unknown>(200, 'GET', '/troupe/v1/mqtt'), {login: 'root', role: 'admin', broker: null});
});

test('events are v1 Events, selectable by what they are about', async t => {
	const {json, cluster} = await openDoor(t);
	const uid = cluster.pod('web').metadata.uid;
	const at = {count: 3, firstAtMs: 1_700_000_000_000, lastAtMs: 1_700_000_060_000};
	cluster.events.set('pods/default/web', [{type: 'Warning', reason: 'BackOff', message: 'restarting', ...at}]);
	cluster.events.set('pods/other/gone', [{type: 'Normal', reason: 'Killing', message: 'stopped', ...at, lastAtMs: 1_700_000_000_000}]);
	cluster.events.set('namespaces/_/default', [{type: 'Normal', reason: 'Made', message: 'made', ...at}]);
	type EventBody = {
		kind: string;
		reason: string;
		count: number;
		metadata: {name: string; namespace: string};
		involvedObject: {kind: string; name: string; uid?: string; apiVersion: string; fieldPath?: string};
		lastTimestamp: string;
	};
	type Events = {kind: string; items: EventBody[]};
	const all = await json<Events>(200, 'GET', '/api/v1/events');
	t.is(all.kind, 'EventList');
	t.is(all.items.length, 3);
	t.is(all.items[0]?.reason, 'Killing');
	const selector = `involvedObject.uid=${uid},involvedObject.name=web,involvedObject.namespace=default,involvedObject.kind=Pod`;
	const about = await json<Events>(200, 'GET', `/api/v1/namespaces/default/events?fieldSelector=${encodeURIComponent(selector)}&limit=500`);
	t.is(about.items.length, 1);
	const [event] = about.items;
	t.like(event, {kind: 'Event', reason: 'BackOff', count: 3, lastTimestamp: '2023-11-14T22:14:20Z'});
	t.deepEqual(event?.involvedObject as unknown, {kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'web', uid});
	t.deepEqual(await json<EventBody>(200, 'GET', `/api/v1/namespaces/default/events/${event?.metadata.name ?? ''}`), event);
	await json(404, 'GET', '/api/v1/namespaces/default/events/nothing');
	type TableBody = {rows: {cells: unknown[]}[]};
	const table = await json<TableBody>(200, 'GET', '/api/v1/namespaces/other/events', undefined, tableAccept);
	t.deepEqual(table.rows[0]?.cells.slice(1, 6), ['Normal', 'Killing', 'pod/gone', '', 'stopped']);
	const aspects = [
		{fieldPath: 'spec.containers{a}'},
		{fieldPath: 'spec.containers{b}'},
		{fieldPath: 'spec.containers{b}', aspect: 'liveness'},
	];
	cluster.events.set(
		'pods/default/web',
		aspects.map(aspect => ({type: 'Warning', reason: 'Unhealthy', message: 'failed', ...aspect, ...at})),
	);
	const ofAll = (await json<Events>(200, 'GET', '/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind%3DPod')).items;
	t.is(new Set(ofAll.map(({metadata: {name}}) => name)).size, 3);
	const ofB = encodeURIComponent('involvedObject.fieldPath=spec.containers{b}');
	const {items} = await json<Events>(200, 'GET', `/api/v1/namespaces/default/events?fieldSelector=${ofB}`);
	t.deepEqual(
		items.map(({involvedObject: {fieldPath}}) => fieldPath),
		['spec.containers{b}', 'spec.containers{b}'],
	);
	await json(405, 'GET', '/api/v1/events?watch=true');
	await json(405, 'POST', '/api/v1/namespaces/default/events', {});
});

test('a silent node is confirmed as lost by the detector alone; whoever may only look may not', async t => {
	const {json, cluster} = await openDoor(t);
	const path = '/troupe/v1/nodes/node-a/confirm-lost';
	t.is((await json<StatusBody>(404, 'POST', path)).message, 'nodes "node-a" not found');
	const lost = cluster.put(aNode());
	const detector = 'troupe://control/detector';
	cluster.answers.set(detector, () => succeeded(lost));
	t.like(await json(200, 'POST', path), {kind: 'Node', metadata: {name: 'node-a'}});
	t.like(cluster.asked.at(-1), {
		to: detector,
		message: {type: 'confirmLost', node: 'node-a'},
		options: {cause: 'http root POST nodes/_/node-a/confirm-lost'},
	});
	cluster.answers.set(detector, () => failed('ERR_CONFLICT', {resource: 'nodes', name: 'node-a', message: 'it is heard'}));
	t.regex((await json<StatusBody>(409, 'POST', path)).message, /nodes "node-a": it is heard/);
	cluster.answers.delete(detector);
	await json(503, 'POST', path);
	await json(403, 'POST', path, undefined, {authorization: 'Bearer viewer'});
	await json(405, 'GET', path);
});
