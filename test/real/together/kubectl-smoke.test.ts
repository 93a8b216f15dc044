// The gateway as the real kubectl sees it.

import {execFile, spawn} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import type {ExecutionContext} from 'ava';
import {succeeded} from '../../../api/errors.js';
import {ensureCertificates} from '../../../server/certificates.js';
import {createGateway} from '../../../server/gateway.js';
import {writeKubeconfig} from '../../../server/kubeconfig.js';
import {systemClock} from '../../../system/time/clock.js';
import {aPod, aReplicaSet, testCluster} from '../../server/cluster.js';
import {directory, vaults} from '../../server/support.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {real} from '../_kubectl.js';

const run = promisify(execFile);

type Result = {readonly code: number; readonly stdout: string; readonly stderr: string};

async function cluster(t: ExecutionContext) {
	const home = await directory(t);
	const certificates = await ensureCertificates(vaults(), {names: [], nowMs: systemClock.nowMs()});
	const backend = testCluster(systemClock.nowMs());
	const bugs: unknown[] = [];
	const gateway = createGateway({
		upstream: () => ({
			type: 'serving',
			control: backend.control,
			inspection: backend.inspection,
			authenticate: token => (token === 'troupe-x' ? {name: 'admin', role: 'admin'} : undefined),
			access: undefined,
		}),
		tls: certificates,
		version: '0.1.0',
		clock: systemClock,
		onBug: error => bugs.push(error),
	});
	const {port} = await gateway.listen('127.0.0.1', 0);
	t.teardown(() => gateway.close());
	const {kubeconfig} = await writeKubeconfig(home, {
		server: `https://127.0.0.1:${port}`,
		ca: certificates.ca,
		user: 'admin',
		token: 'troupe-x',
	});
	const environment = {...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: path.join(home, 'cache')};
	const kubectl = async (...words: string[]): Promise<Result> => {
		try {
			return {code: 0, ...(await run('kubectl', words, {env: environment, timeout: 30_000}))};
		} catch (error) {
			const {code, stdout, stderr} = error as {code: number; stdout: string; stderr: string};
			return {code, stdout, stderr};
		}
	};
	const manifest = async (object: unknown): Promise<string> => {
		const file = path.join(home, 'manifest.json');
		await writeFile(file, JSON.stringify(object));
		return file;
	};
	return {backend, bugs, kubectl, manifest, environment};
}

real('create, get, label, scale, describe and delete do what they say', async t => {
	const {kubectl, manifest, backend, bugs} = await cluster(t);
	const created = await kubectl('create', '-f', await manifest(aReplicaSet('web', 2)));
	t.is(created.stdout, 'replicaset.apps/web created\n', created.stderr);
	const again = await kubectl('create', '-f', await manifest(aReplicaSet('web', 2)));
	t.regex(again.stderr, /\(AlreadyExists\)/);
	t.regex((await kubectl('get', 'rs')).stdout, /^NAME +DESIRED.*\nweb +2 /);
	t.regex((await kubectl('get', 'replicasets.apps', 'web', '-o', 'name')).stdout, /^replicaset\.apps\/web\n$/);
	t.is((await kubectl('label', 'rs', 'web', 'tier=front')).stdout, 'replicaset.apps/web labeled\n');
	t.is((await kubectl('scale', 'rs', 'web', '--replicas=5')).stdout, 'replicaset.apps/web scaled\n');
	t.is((await kubectl('scale', 'rs', 'web', '--current-replicas=5', '--replicas=3')).stdout, 'replicaset.apps/web scaled\n');
	t.is((await kubectl('get', 'rs', '-l', 'tier=front', '-o', 'jsonpath={.items[*].spec.replicas}')).stdout, '3');
	t.regex((await kubectl('describe', 'rs', 'web')).stdout, /Replicas: +0 current \/ 3 desired/);
	const deleted = await kubectl('delete', 'rs', 'web');
	t.is(deleted.stdout, 'replicaset.apps "web" deleted\n', deleted.stderr);
	t.regex((await kubectl('get', 'rs', 'web')).stderr, /^Error from server \(NotFound\): replicasets\.apps "web" not found/);
	t.is(backend.control.index.get('replicasets/default/web'), undefined);
	t.deepEqual(bugs, []);
});

real('apply makes an object, finds it unchanged, and everything is discovered', async t => {
	const {kubectl, manifest, bugs} = await cluster(t);
	const file = await manifest(aPod('web'));
	t.is((await kubectl('apply', '-f', file)).stdout, 'pod/web created\n');
	t.is((await kubectl('apply', '-f', file)).stdout, 'pod/web unchanged\n');
	t.regex((await kubectl('apply', '-f', await manifest({...aPod('web'), spec: {containers: 'x'}}))).stderr, /containers/);
	const resources = await kubectl('api-resources');
	for (const word of ['clusterconfigs', 'events', 'namespaces', 'nodes', 'pods', 'replicasets'])
		t.regex(resources.stdout, new RegExp(`^${word} `, 'm'));
	t.regex((await kubectl('version')).stdout, /Server Version: v1\.32\.0-troupe\.0\.1\.0/);
	t.regex((await kubectl('get', 'all', '-A')).stdout, /pod\/web/);
	t.regex((await kubectl('get', 'ns')).stdout, /^default +/m);
	t.is((await kubectl('get', '--raw', '/healthz')).stdout, 'ok');
	t.deepEqual(bugs, []);
});

real('a deletion waits for what lingers, and ends when it goes', async t => {
	const {kubectl, backend} = await cluster(t);
	backend.pod('web', {metadata: {finalizers: ['example.com/hold']}});
	const deleting = kubectl('delete', 'pod', 'web');
	await eventually('kubectl watches', () => backend.watchers() > 0);
	backend.drop('pods/default/web');
	const {stdout, code} = await deleting;
	t.is(stdout, 'pod "web" deleted\n');
	t.is(code, 0);
});

real('get --watch prints each change once', async t => {
	const {backend, environment} = await cluster(t);
	backend.pod('first');
	const child = spawn('kubectl', ['get', 'pods', '--watch', '-o', 'name'], {env: environment});
	t.teardown(() => child.kill('SIGKILL'));
	let text = '';
	child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
	await eventually('kubectl watches', () => backend.watchers() > 0);
	backend.pod('second');
	await eventually(
		'the second is printed',
		() => text.includes('second'),
		() => text,
	);
	t.is(text, 'pod/first\npod/second\n');
});

real('logs, events and rights come through', async t => {
	const {kubectl, backend} = await cluster(t);
	const pod = backend.pod('web');
	const state = {name: 'main', state: {running: {}}, ready: true, restartCount: 0, image: '', imageID: ''};
	t.regex((await kubectl('logs', 'web')).stderr, /pod web does not have a host assigned/);
	backend.put({...pod, spec: {...(pod.spec as object), nodeName: 'node-a'}, status: {phase: 'Running', containerStatuses: [state]}});
	const data = Buffer.from('hello\n').toString('base64');
	backend.onReadLog(() => succeeded({data, nextOffset: 6, endOffset: 6, end: true, attempt: 0}));
	t.is((await kubectl('logs', '-f', 'web')).stdout, 'hello\n');
	t.is((await kubectl('logs', 'web', '--timestamps', '--since=5m')).stdout, 'hello\n');
	const atMs = systemClock.nowMs();
	const event = {type: 'Warning', reason: 'BackOff', message: 'again', count: 1, firstAtMs: atMs, lastAtMs: atMs} as const;
	backend.events.set('pods/default/web', [event]);
	t.regex((await kubectl('get', 'events')).stdout, /Warning +BackOff +pod\/web +again/);
	t.regex((await kubectl('describe', 'pod', 'web')).stdout, /Warning +BackOff .* again/);
	t.regex((await kubectl('get', 'pods', '--token=wrong')).stderr, /You must be logged in/);
});
