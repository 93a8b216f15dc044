// An agent fetches the code of functions from a real gateway over HTTPS, whichever server leads, into its cache.

import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {createArtifactCache} from '../../agent/functions/artifact-cache.js';
import {createArtifactFetch} from '../../agent/functions/artifact-fetch.js';
import {functionAnnotation} from '../../api/function-instance.js';
import {artifactStoreKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {ensureCertificates} from '../../server/certificates.js';
import {createGateway, type Upstream} from '../../server/gateway.js';
import {systemClock} from '../../system/time/clock.js';
import {anArchive, bytesOf, keptArtifacts} from './_artifacts.js';
import {testCluster} from './cluster.js';
import {plainVault} from './support.js';

const credential = 'credential-of-node-a';
const certificate = ensureCertificates({cluster: plainVault(), own: plainVault()}, {names: [], nowMs: Date.now()});
const standby = (): Upstream => ({type: 'standby', leader: undefined});

async function openServer(t: ExecutionContext, upstream: () => Upstream): Promise<string> {
	const {ca, cert, key} = await certificate;
	const gateway = createGateway({upstream, tls: {ca, cert, key}, version: '0.1.0', clock: systemClock});
	const {port} = await gateway.listen('127.0.0.1', 0);
	t.teardown(() => gateway.close());
	return `https://127.0.0.1:${port}`;
}

/** A server that has the artifact, and a pod of it on node-a. */
async function opened(t: ExecutionContext) {
	const archive = await anArchive(t, 'fetched', 2 * limits.artifactChunkBytes);
	const kept = keptArtifacts();
	await kept.store.put(archive.digest, archive.bytes);
	const cluster = testCluster();
	const annotation = JSON.stringify({artifact: archive.digest, runtime: 'python', concurrency: 1, timeoutMs: 1_000});
	cluster.pod('one', {
		metadata: {annotations: {[functionAnnotation]: annotation}},
		spec: {containers: [{name: 'function', image: 'none'}], nodeName: 'node-a'},
	});
	const server = await openServer(t, () => ({
		type: 'serving',
		control: cluster.control,
		inspection: cluster.inspection,
		access: undefined,
		artifacts: kept.store,
		authenticate: token => (token === credential ? {name: 'node-a', role: 'node', node: 'node-a'} : undefined),
	}));
	return {...kept, archive, cluster, server};
}

const fetcher = async (servers: readonly string[], own = credential) =>
	createArtifactFetch({node: 'node-a', credential: own, ca: (await certificate).ca, servers: () => servers, clock: systemClock});

test('code comes from the server that leads', async t => {
	const {archive, server} = await opened(t);
	const fetch = await fetcher([await openServer(t, standby), 'https://127.0.0.1:1', server]);
	for (let time = 0; time < 2; time++) {
		const fetched = await fetch(archive.digest);
		t.true(fetched.ok);
		t.deepEqual(fetched.ok && (await bytesOf(fetched.value)), archive.bytes);
	}
});

test('code that is not for this node is told apart from a control plane that cannot be asked for it', async t => {
	const {archive, server, store, cluster} = await opened(t);
	const codeOf = async (servers: readonly string[], own?: string): Promise<string> => {
		const fetched = await (await fetcher(servers, own))(archive.digest);
		return fetched.ok ? 'ok' : fetched.error.code;
	};
	t.is(await codeOf(['https://127.0.0.1:1']), 'ERR_NOT_REACHABLE');
	t.is(await codeOf([]), 'ERR_NOT_REACHABLE');
	t.is(await codeOf([await openServer(t, standby)]), 'ERR_NOT_REACHABLE');
	t.is(await codeOf([server], 'wrong'), 'ERR_NOT_REACHABLE');
	await store.remove(archive.digest);
	t.is(await codeOf([server]), 'ERR_NOT_FOUND');
	cluster.drop('pods/default/one');
	t.is(await codeOf([server]), 'ERR_FORBIDDEN');
});

test('code that is cut off on its way is not kept, and comes whole the next time', async t => {
	const {archive, server, bodies} = await opened(t);
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-code-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const cache = createArtifactCache({folder, fetch: await fetcher([server]), clock: systemClock});
	const last = artifactStoreKey(archive.hex, 2);
	const body = bodies.get(last) ?? '';
	bodies.delete(last);
	await t.throwsAsync(cache.ensure(archive.digest), {message: /cannot be fetched/});
	bodies.set(last, body);
	t.deepEqual(readFileSync(await cache.ensure(archive.digest)), archive.bytes);
});
