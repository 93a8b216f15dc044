// An agent fetches Secrets from a real gateway over HTTPS, whichever server leads, and says why not when it cannot.

import test, {type ExecutionContext} from 'ava';
import {base64Of} from '../../api/base64.js';
import type {Draft} from '../../api/object.js';
import {createSecretFetch} from '../../agent/secret-fetch.js';
import {ensureCertificates} from '../../server/certificates.js';
import {createGateway, type Upstream} from '../../server/gateway.js';
import {sealsOf} from '../../server/seal.js';
import {sealedDraft} from '../../server/secrets.js';
import {systemClock} from '../../system/time/clock.js';
import {testCluster} from './cluster.js';
import {plainVault} from './support.js';

const credential = 'credential-of-node-a';
const seals = sealsOf(new Uint8Array(32));

const certificate = ensureCertificates({cluster: plainVault(), own: plainVault()}, {names: [], nowMs: Date.now()});

async function openServer(t: ExecutionContext, upstream: () => Upstream): Promise<string> {
	const {ca, cert, key} = await certificate;
	const gateway = createGateway({upstream, tls: {ca, cert, key}, version: '0.1.0', clock: systemClock});
	const {port} = await gateway.listen('127.0.0.1', 0);
	t.teardown(() => gateway.close());
	return `https://127.0.0.1:${port}`;
}

function leader(): () => Upstream {
	const cluster = testCluster();
	const env = [{name: 'P', valueFrom: {secretKeyRef: {name: 'db', key: 'password'}}}];
	const envFrom = [{secretRef: {name: 'missing'}}];
	cluster.pod('web', {spec: {containers: [{name: 'main', image: 'none', command: ['true'], env, envFrom}], nodeName: 'node-a'}});
	const at = {namespace: 'default', name: 'db'};
	const draft: Draft = sealedDraft(
		seals,
		{apiVersion: 'v1', kind: 'Secret', metadata: at, data: {password: base64Of('s3cr3t')}} as Draft,
		at,
	);
	const metadata = {...at, uid: 'uid-of-db', resourceVersion: '', generation: 3, creationTimestamp: ''};
	cluster.put({...draft, metadata});
	return () => ({
		type: 'serving',
		control: cluster.control,
		inspection: cluster.inspection,
		access: undefined,
		seals,
		authenticate: token => (token === credential ? {name: 'node-a', role: 'node', node: 'node-a'} : undefined),
	});
}

const fetcher = async (servers: readonly string[], own = credential) =>
	createSecretFetch({node: 'node-a', credential: own, ca: (await certificate).ca, servers: () => servers, clock: systemClock});

test('a Secret comes with its version, from the server that leads', async t => {
	const standby = await openServer(t, () => ({type: 'standby', leader: undefined}));
	const fetch = await fetcher([standby, 'https://127.0.0.1:1', await openServer(t, leader())]);
	const expected = {ok: true, value: {version: 'uid-of-db.3', data: {password: base64Of('s3cr3t')}}} as const;
	t.deepEqual(await fetch('default', 'db'), expected);
	t.deepEqual(await fetch('default', 'db'), expected);
});

test('what is not there or not for this node is told apart from a control plane that cannot be asked', async t => {
	const server = await openServer(t, leader());
	const codeOf = async (servers: readonly string[], name: string, own?: string): Promise<string> => {
		const outcome = await (await fetcher(servers, own))('default', name);
		return outcome.ok ? 'ok' : outcome.error.code;
	};
	t.is(await codeOf([server], 'missing'), 'ERR_NOT_FOUND');
	t.is(await codeOf([server], 'unnamed'), 'ERR_FORBIDDEN');
	t.is(await codeOf([server], 'db', 'wrong'), 'ERR_NOT_REACHABLE');
	t.is(await codeOf(['https://127.0.0.1:1'], 'db'), 'ERR_NOT_REACHABLE');
	t.is(await codeOf([], 'db'), 'ERR_NOT_REACHABLE');
});

test('a server with another authority is not asked for anything', async t => {
	const server = await openServer(t, leader());
	const other = await ensureCertificates({cluster: plainVault(), own: plainVault()}, {names: [], nowMs: Date.now()});
	const fetch = createSecretFetch({node: 'node-a', credential, ca: other.ca, servers: () => [server], clock: systemClock});
	t.like(await fetch('default', 'db'), {ok: false, error: {code: 'ERR_NOT_REACHABLE'}});
});
