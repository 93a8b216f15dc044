// The routes of artifacts: who may upload, find and fetch them, and what is refused.

import http from 'node:http';
import test, {type ExecutionContext} from 'ava';
import {functionAnnotation} from '../../api/function-instance.js';
import {artifactStoreKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {systemClock} from '../../system/time/clock.js';
import {anArchive, keptArtifacts} from './_artifacts.js';
import {testCluster, type TestCluster} from './cluster.js';
import {openDoor, type StatusBody} from './door.js';

const root = '/troupe/v1/artifacts';
const as = (login: string) => ({authorization: `Bearer ${login}`});

async function opened(t: ExecutionContext, cluster?: TestCluster) {
	const kept = keptArtifacts(systemClock);
	return {...kept, ...(await openDoor(t, cluster, undefined, undefined, kept.store))};
}

const instance = (name: string, artifact: string, nodeName?: string) =>
	[
		name,
		{
			metadata: {annotations: {[functionAnnotation]: JSON.stringify({artifact, runtime: 'python', concurrency: 1, timeoutMs: 1_000})}},
			spec: {containers: [{name: 'function', image: 'none'}], ...(nodeName === undefined ? {} : {nodeName})},
		},
	] as const;

test('an artifact is uploaded once, and found from then on', async t => {
	const {call, json, store, bugs} = await opened(t);
	const {hex, digest, bytes} = await anArchive(t, 'uploaded');
	t.is((await json<StatusBody>(404, 'GET', `${root}/${hex}`)).message, `artifacts "${digest}" not found`);
	t.deepEqual(await json(201, 'PUT', `${root}/${hex}`, bytes), {bytes: bytes.length});
	t.true(store.has(digest));
	t.deepEqual(await json(200, 'PUT', `${root}/${hex}`, bytes), {bytes: bytes.length});
	t.deepEqual(await json(200, 'PUT', `${root}/${hex}`), {bytes: bytes.length}, 'the body is not looked at');
	for (const login of ['editor', 'viewer', 'admin'])
		t.deepEqual(await json(200, 'GET', `${root}/${hex}`, undefined, as(login)), {bytes: bytes.length});
	for (const login of ['viewer', 'tool', 'node-a']) {
		const other = await anArchive(t, login);
		t.is((await call('PUT', `${root}/${other.hex}`, other.bytes, as(login))).status, 403);
		t.false(store.has(other.digest));
	}
	t.is((await call('GET', `${root}/${hex}`, undefined, as('node-a'))).status, 403);
	t.deepEqual(bugs, []);
});

test('a body that is no archive of this digest is refused, and nothing is kept', async t => {
	const {json, call, bodies, bugs} = await opened(t);
	const {hex, bytes} = await anArchive(t, 'right');
	const other = await anArchive(t, 'wrong');
	for (const body of [other.bytes, Buffer.from('text'), bytes.subarray(0, 20), Buffer.alloc(0)])
		await json(422, 'PUT', `${root}/${hex}`, body);
	for (const name of ['a', hex.toUpperCase(), `${hex}0`, `sha256:${hex}`])
		t.is((await call('PUT', `${root}/${name}`, bytes)).status, 400, name);
	t.is(bodies.size, 0);
	t.deepEqual(bugs, []);
});

test('a body that says that it is too large is refused before it comes, and one that does not say so when it is', async t => {
	const {port, authorization, bodies, json} = await opened(t);
	const {hex, bytes} = await anArchive(t, 'large');
	const refused = (headers: http.OutgoingHttpHeaders, send: (request: http.ClientRequest) => void): Promise<number | string | undefined> =>
		new Promise(resolve => {
			const request = http.request(
				{port, method: 'PUT', path: `${root}/${hex}`, headers: {authorization, ...headers}, agent: false},
				response => {
					response.resume();
					resolve(response.statusCode);
					request.destroy();
				},
			);
			request.on('error', ({code}: NodeJS.ErrnoException) => resolve(code));
			send(request);
		});
	t.is(await refused({'content-length': limits.archivePackedBytes + 1}, request => request.flushHeaders()), 413);
	const piece = Buffer.alloc(1_048_576);
	const endless = (request: http.ClientRequest): void => {
		if (!request.destroyed) request.write(piece, () => endless(request));
	};
	// Who goes on sending may not get to read it.
	t.true([413, 'EPIPE', 'ECONNRESET'].includes((await refused({}, endless)) ?? ''));
	t.is(bodies.size, 0);
	await json(201, 'PUT', `${root}/${hex}`, bytes);
});

test('only so many uploads are under way, and one that breaks off gives its place back', async t => {
	const {port, authorization, json, store} = await opened(t);
	const {hex, bytes} = await anArchive(t, 'crowd');
	const begun = Array.from({length: limits.artifactUploads}, () => {
		const request = http.request({port, method: 'PUT', path: `${root}/${hex}`, headers: {authorization}, agent: false});
		request.on('error', () => undefined);
		request.write(bytes.subarray(0, 10));
		return request;
	});
	const isFull = (): boolean => {
		const end = store.addUpload();
		end?.();
		return end === undefined;
	};
	while (!isFull()) await new Promise(resolve => setImmediate(resolve));
	t.regex((await json<StatusBody>(429, 'PUT', `${root}/${hex}`, bytes)).message, /4 uploads of code are under way/);
	for (const request of begun) request.destroy();
	while (isFull()) await new Promise(resolve => setImmediate(resolve));
	await json(201, 'PUT', `${root}/${hex}`, bytes);
});

test('a store without room says so, and the artifact is not there', async t => {
	const {json, takes} = await opened(t);
	const {hex, bytes} = await anArchive(t, 'no room');
	takes(1);
	t.regex((await json<StatusBody>(500, 'PUT', `${root}/${hex}`, bytes)).message, /the disk is full/);
	await json(404, 'GET', `${root}/${hex}`);
});

test('a node fetches what a pod of it is run from, and nothing else', async t => {
	const cluster = testCluster();
	const {store, url, call, json, bugs} = await opened(t, cluster);
	const [mine, others] = [await anArchive(t, 'mine', 2 * limits.artifactChunkBytes), await anArchive(t, 'of others')];
	for (const {digest, bytes} of [mine, others]) await store.put(digest, bytes);
	cluster.pod(...instance('bound', mine.digest, 'node-a'));
	cluster.pod(...instance('waiting', others.digest));
	cluster.pod(...instance('elsewhere', others.digest, 'node-b'));
	const at = (node: string, hex: string): string => `/troupe/v1/nodes/${node}/artifacts/${hex}`;

	const answer = await fetch(url + at('node-a', mine.hex), {headers: as('node-a')});
	t.is(answer.status, 200);
	t.is(answer.headers.get('content-type'), 'application/gzip');
	t.deepEqual(Buffer.from(await answer.arrayBuffer()), mine.bytes);

	const refused = await json<StatusBody>(403, 'GET', at('node-a', others.hex), undefined, as('node-a'));
	t.regex(refused.message, /no pod that is bound to node "node-a" is run from it/);
	for (const login of ['node-b', 'admin', 'editor'])
		t.is((await call('GET', at('node-a', mine.hex), undefined, as(login))).status, 403, login);
	await json(400, 'GET', at('node-a', 'x'), undefined, as('node-a'));

	cluster.drop('pods/default/bound');
	await json(403, 'GET', at('node-a', mine.hex), undefined, as('node-a'));
	cluster.pod(...instance('lost', mine.digest, 'node-a'));
	await store.remove(mine.digest);
	await json(404, 'GET', at('node-a', mine.hex), undefined, as('node-a'));
	t.deepEqual(bugs, []);
});

test('an artifact that cannot be read to its end is cut off, so that it is taken for no whole one', async t => {
	const cluster = testCluster();
	const {store, url, bodies} = await opened(t, cluster);
	const archive = await anArchive(t, 'torn', 3 * limits.artifactChunkBytes);
	await store.put(archive.digest, archive.bytes);
	bodies.delete(artifactStoreKey(archive.hex, 2));
	cluster.pod(...instance('bound', archive.digest, 'node-a'));
	await t.throwsAsync(async () => {
		const answer = await fetch(`${url}/troupe/v1/nodes/node-a/artifacts/${archive.hex}`, {headers: as('node-a')});
		await answer.arrayBuffer();
	});
});
