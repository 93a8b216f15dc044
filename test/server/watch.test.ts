import {once} from 'node:events';
import http from 'node:http';
import type {IncomingMessage} from 'node:http';
import test, {type ExecutionContext} from 'ava';
import {limits} from '../../api/limits.js';
import {collectionPath, testCluster} from './cluster.js';
import {openDoor, tableAccept, type Door, type ObjectBody, type StatusBody} from './door.js';

const pods = collectionPath('pods', 'default');

type WatchEvent<Body = ObjectBody> = {readonly type: string; readonly object: Body};

/** An open watch, read event by event. */
async function watch<Body = ObjectBody>(t: ExecutionContext, door: Door, query: string, headers = {}, path = pods) {
	const request = http.get(`${door.url}${path}?watch=true${query}`, {
		headers: {authorization: door.authorization, ...headers},
		agent: false,
	});
	const [response] = (await once(request, 'response')) as [IncomingMessage];
	t.teardown(() => request.destroy());
	const lines = linesOf(response);
	return {
		response,
		request,
		next: async (): Promise<WatchEvent<Body>> => {
			const {value, done} = await lines.next();
			if (done === true) throw new Error('the watch is over');
			return JSON.parse(value) as WatchEvent<Body>;
		},
		isOver: async (): Promise<boolean> => (await lines.next()).done === true,
	};
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string, void> {
	let rest = '';
	for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
		const parts = (rest + chunk).split('\n');
		rest = parts.pop() ?? '';
		yield* parts;
	}
}

const shown = ({type, object}: WatchEvent): string => `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`;

test('a watch without a version begins with what there is, then follows', async t => {
	const door = await openDoor(t);
	door.cluster.pod('a');
	for (const query of ['', '&resourceVersion=0', '&resourceVersion=']) {
		const {next} = await watch(t, door, query);
		t.is(shown(await next()), 'ADDED a 3');
	}
	const {next, response} = await watch(t, door, '');
	t.is(response.headers['content-type'], 'application/json');
	await next();
	door.cluster.pod('b');
	door.cluster.pod('hidden', {}, 'other');
	const {object} = {object: door.cluster.control.index.get('pods/default/a')};
	if (object === undefined) return t.fail();
	door.cluster.put({...object, metadata: {...object.metadata, labels: {x: 'y'}}});
	door.cluster.drop('pods/default/a');
	t.deepEqual([shown(await next()), shown(await next()), shown(await next())], ['ADDED b 4', 'MODIFIED a 6', 'DELETED a 7']);
});

test('a watch from a version replays what came after it, and only that', async t => {
	const door = await openDoor(t);
	for (const name of ['a', 'b', 'c']) door.cluster.pod(name);
	const {next} = await watch(t, door, '&resourceVersion=4');
	t.is(shown(await next()), 'ADDED c 5');
	door.cluster.pod('d');
	t.is(shown(await next()), 'ADDED d 6');
});

test('coming into a selection is ADDED, leaving it is DELETED with the version of the change', async t => {
	const door = await openDoor(t);
	const pod = door.cluster.pod('a');
	const {next} = await watch(t, door, '&resourceVersion=3&labelSelector=app%3Dweb');
	const labelled = door.cluster.put({...pod, metadata: {...pod.metadata, labels: {app: 'web'}}});
	door.cluster.put({...labelled, status: {phase: 'Running'}});
	door.cluster.put({...labelled, metadata: {...labelled.metadata, labels: {app: 'db'}}});
	door.cluster.drop('pods/default/a');
	door.cluster.pod('b', {metadata: {labels: {app: 'web'}}});
	const events = [await next(), await next(), await next(), await next()];
	t.deepEqual(events.map(shown), ['ADDED a 4', 'MODIFIED a 5', 'DELETED a 6', 'ADDED b 8']);
	t.deepEqual(events[2]?.object.metadata.labels, {app: 'web'});
});

test('a field selector of one name follows that name alone', async t => {
	const door = await openDoor(t);
	door.cluster.pod('a');
	door.cluster.pod('b');
	const {next} = await watch(t, door, '&resourceVersion=0&fieldSelector=metadata.name%3Db');
	t.is(shown(await next()), 'ADDED b 4');
	door.cluster.drop('pods/default/a');
	door.cluster.drop('pods/default/b');
	t.is(shown(await next()), 'DELETED b 6');
});

test('a version that is gone, or not reached yet, is an ERROR event of code 410 and the end', async t => {
	const door = await openDoor(t, testCluster(undefined, 3));
	for (let i = 0; i < 10; i++) door.cluster.pod(`p${i}`);
	for (const version of [1, 9999]) {
		const {next, isOver, response} = await watch<StatusBody>(t, door, `&resourceVersion=${version}`);
		t.is(response.statusCode, 200);
		const {type, object} = await next();
		t.is(type, 'ERROR');
		t.like(object, {kind: 'Status', code: 410, reason: 'Expired', message: `too old resource version: ${version} (9)`});
		t.true(await isOver());
	}
});

test('a table watcher gets one row an event, and the columns once', async t => {
	const door = await openDoor(t);
	type TableBody = {kind: string; columnDefinitions: unknown[]; rows: {cells: unknown[]; object: {metadata: {resourceVersion: string}}}[]};
	const {next} = await watch<TableBody>(t, door, '', tableAccept);
	door.cluster.pod('a');
	door.cluster.drop('pods/default/a');
	const [first, second] = [await next(), await next()];
	t.is(first.object.kind, 'Table');
	t.true(first.object.columnDefinitions.length > 0);
	t.is(first.object.rows[0]?.cells[0], 'a');
	t.deepEqual(second.object.columnDefinitions, []);
	t.is(second.type, 'DELETED');
	t.is(second.object.rows[0]?.object.metadata.resourceVersion, '4');
});

test('timeoutSeconds ends a watch quietly, with a bookmark for those who asked for bookmarks', async t => {
	const door = await openDoor(t);
	door.cluster.pod('a');
	const {isOver} = await watch(t, door, '&resourceVersion=3&timeoutSeconds=1');
	const {next, isOver: isOver2} = await watch(t, door, '&resourceVersion=3&timeoutSeconds=1&allowWatchBookmarks=true');
	t.true(await isOver());
	t.deepEqual(await next(), {type: 'BOOKMARK', object: {kind: 'Pod', apiVersion: 'v1', metadata: {resourceVersion: '3'}}} as never);
	t.true(await isOver2());
});

test('a bookmark has the version of its moment, not that of the beginning, also after changes that are no news of the watch', async t => {
	const door = await openDoor(t);
	door.cluster.pod('a');
	const {next, isOver} = await watch(
		t,
		door,
		'&resourceVersion=3&timeoutSeconds=1&allowWatchBookmarks=true&fieldSelector=metadata.name%3Da',
	);
	door.cluster.pod('b');
	door.cluster.pod('c');
	t.deepEqual(await next(), {type: 'BOOKMARK', object: {kind: 'Pod', apiVersion: 'v1', metadata: {resourceVersion: '5'}}} as never);
	t.true(await isOver());
});

test('initial events end with a bookmark that says so', async t => {
	const door = await openDoor(t);
	door.cluster.pod('a');
	const query = '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
	const {next} = await watch(t, door, query);
	t.is(shown(await next()), 'ADDED a 3');
	t.deepEqual((await next()).object.metadata as unknown, {
		resourceVersion: '3',
		annotations: {'k8s.io/initial-events-end': 'true'},
	});
});

test('a list and a watch from its version miss nothing and repeat nothing', async t => {
	const door = await openDoor(t);
	for (let i = 0; i < 20; i++) door.cluster.pod(`p${i}`);
	const list = await door.json<{metadata: {resourceVersion: string}}>(200, 'GET', pods);
	door.cluster.pod('after');
	const {next} = await watch(t, door, `&resourceVersion=${list.metadata.resourceVersion}`);
	t.regex(shown(await next()), /^ADDED after/);
});

test('a watcher that reads nothing is cut off when too much waits, and one that reads is not', async t => {
	const door = await openDoor(t);
	const stuck = await watch(t, door, '');
	const reader = await watch(t, door, '');
	stuck.response.pause();
	const cut = new Promise<void>(resolve => stuck.response.once('close', resolve));
	stuck.response.on('error', () => undefined);
	const filler = 'x'.repeat(100_000);
	const count = 3 * Math.ceil(limits.watchBufferBytes / filler.length);
	let read = 0;
	for (let i = 0; i < count; i++) {
		door.cluster.pod(`p${i}`, {metadata: {annotations: {filler}}});
		await reader.next();
		read++;
	}
	t.is(read, count);
	stuck.response.resume();
	await cut;
	t.true(stuck.response.errored !== null || !stuck.response.complete);
});

test('a watch over everything there is comes whole to a slow reader, however much it is', async t => {
	const door = await openDoor(t);
	const filler = 'x'.repeat(100_000);
	const count = 2 * Math.ceil(limits.watchBufferBytes / filler.length);
	for (let i = 0; i < count; i++) door.cluster.pod(`p${i}`, {metadata: {annotations: {filler}}});
	const {next} = await watch(t, door, '');
	for (let i = 0; i < count; i++) t.is((await next()).type, 'ADDED');
});

test('a client that goes leaves nothing behind', async t => {
	const door = await openDoor(t);
	const {request} = await watch(t, door, '&allowWatchBookmarks=true&timeoutSeconds=500');
	t.is(door.cluster.watchers(), 1);
	request.destroy();
	while (door.cluster.watchers() > 0) await door.json(200, 'GET', pods);
	t.deepEqual(door.bugs, []);
});

test('closing the door ends watches in order', async t => {
	const door = await openDoor(t);
	const {isOver, response} = await watch(t, door, '');
	const closed = door.gateway.close();
	t.true(await isOver());
	t.true(response.complete);
	await closed;
});
