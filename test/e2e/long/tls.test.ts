// Hosts over TLS from Secrets: by a command and an Ingress, changed while clients ask, going on while everything but the node's cache is killed; and
// the private key is nowhere but in the memory of those who serve.

import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {request} from 'node:https';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import {connect} from 'node:tls';
import test from 'ava';
import type {NodeObject} from '../../../api/kinds/node.js';
import {readRecord} from '../../../agent/network/feed/record.js';
import {homeOf} from '../../../cli/files/home.js';
import {conditionOf} from '../../../api/conditions.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {certificateFor} from '../../agent/router/_certificates.js';
import {ask} from '../../server/support.js';
import {root} from '../_readme.js';
import {openEar} from '../_ear.js';
import {openHome} from '../_rig.js';
import {commandLines, filesThatShow, recordsOf, shows} from '../_traces.js';

/** Of its own loopback address, where nobody else listens. */
const at = {address: '127.0.0.90', port: 18_443};
const hosts = ['shop.test', 'second.test', 'third.test'] as const;

const answerOf = (ca: string, host: string): Promise<string> =>
	new Promise((resolve, reject) => {
		request({host: at.address, port: at.port, servername: host, ca, headers: {host}, agent: false}, answer => {
			text(answer).then(resolve, reject);
		})
			.on('error', reject)
			.end();
	});

const isServed = (ca: string, host: string): Promise<boolean> =>
	answerOf(ca, host).then(
		words => words.startsWith('hello from shop-'),
		() => false,
	);

/** Names of the certificate; or why there is none. */
const shownFor = (servername: string): Promise<string> =>
	new Promise(resolve => {
		const socket = connect({host: at.address, port: at.port, servername, rejectUnauthorized: false});
		socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
		socket.once('secureConnect', () => {
			resolve(socket.getPeerCertificate().subjectaltname ?? '');
			socket.destroy();
		});
	});

const ingressOf = (host: string) => ({
	apiVersion: 'networking.k8s.io/v1',
	kind: 'Ingress',
	metadata: {name: host},
	spec: {
		rules: [{host, http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name: 'shop', port: {number: 8000}}}}]}}],
		tls: [{hosts: [host], secretName: host}],
	},
});

test('hosts are served over TLS with Secrets that change and go, and go on without control plane, agent and data plane of before', async t => {
	t.timeout(240_000);
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-tls-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const server = openHome(t);
	const serving = server.start(['server', '--api=127.0.0.1:0', '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0']);
	await serving.says(/troupe/);
	await eventually('the server is ready', async () => (await server.troupe('get', 'nodes')).code === 0);
	const ear = await openEar(t, server);
	await ear.listen('troupe/#');
	const join = /troupe-join\S+/.exec(await server.fine('token', 'create', '--join'))?.[0] ?? '';
	const host = openHome(t);
	const flags = ['agent', '--runtime=process', '--router=off', `--router-tls=${at.address}:${at.port}`];
	const joining = host.start([...flags, `--join=${server.endpoints().api}`, `--token=${join}`, '--node=node-a']);
	await server.fine('apply', '-f', path.join(root, 'examples/service.yaml'));

	const [first, second] = await Promise.all([certificateFor(hosts), certificateFor([...hosts, 'changed.test'])]);
	writeFileSync(path.join(folder, 'crt'), first.cert);
	writeFileSync(path.join(folder, 'key'), first.key);
	const files = ['--cert', path.join(folder, 'crt'), '--key', path.join(folder, 'key')];
	for (const name of hosts.slice(0, 2)) await server.fine('create', 'secret', 'tls', name, ...files);
	await server.apply(...hosts.map(ingressOf));
	for (const name of hosts.slice(0, 2)) await eventually(`${name} is served`, () => isServed(first.ca, name));
	t.is(await shownFor('third.test'), 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'its Secret is not there');
	const degraded = async (): Promise<string> => {
		const {status} = JSON.parse(await server.fine('get', 'node', 'node-a', '-o', 'json')) as NodeObject;
		return conditionOf(status?.conditions, 'NetworkDegraded')?.message ?? '';
	};
	await eventually('that is said of the node', async () =>
		(await degraded()).includes('ingress default/third.test is not served over TLS, Secret default/third.test: there is no such Secret'),
	);
	await server.fine('create', 'secret', 'tls', 'third.test', ...files);
	await eventually('it is served as soon as it is there', () => isServed(first.ca, 'third.test'));

	// A Secret changes while clients ask: they get one or the other, and each an answer.
	let isOver = false;
	const failures: unknown[] = [];
	const clients = Array.from({length: 3}, async () => {
		while (!isOver) await answerOf(first.ca, 'shop.test').catch((error: unknown) => failures.push(error));
	});
	const entries = {'tls.crt': second.cert, 'tls.key': second.key};
	const changed = {apiVersion: 'v1', kind: 'Secret', metadata: {name: 'shop.test'}, type: 'kubernetes.io/tls', stringData: entries};
	await server.apply(changed);
	await eventually('clients are shown the other certificate', async () => (await shownFor('shop.test')).includes('changed.test'));
	isOver = true;
	await Promise.all(clients);
	t.deepEqual(failures, []);
	t.notRegex(await shownFor('second.test'), /changed/);

	await server.fine('delete', 'secret', 'third.test');
	await eventually('a host whose Secret went is refused', async () => (await shownFor('third.test')).includes('UNRECOGNIZED_NAME'));
	await eventually('and that is said', async () => (await degraded()).includes('default/third.test: there is no such Secret'));
	// Another client than those of this library.
	writeFileSync(path.join(folder, 'ca'), first.ca);
	const resolve = `shop.test:${at.port}:${at.address}`;
	const curl = ['-sS', '--cacert', path.join(folder, 'ca'), '--resolve', resolve, `https://shop.test:${at.port}/`];
	t.regex(execFileSync('curl', curl, {encoding: 'utf8'}), /^hello from shop-/);

	// The keys are nowhere: not with actors, in topics, stores, caches, logs, command lines.
	const words = [first.key, second.key].map(key => /^[A-Za-z0-9+/]{40}/m.exec(key)?.[0] ?? t.fail());
	const {api} = server.endpoints();
	const told: string[] = [];
	for (const place of [
		'control/secrets/default.shop.test',
		'control/ingresses/default.shop.test',
		'control/sync/node-a',
		'node-a/network',
		'node-a/named',
		'node-a/named/certificates.default.shop.test',
	])
		for (const verb of ['state', 'mailbox', 'journal']) {
			const {status, text: shown} = await ask(`${api}/apis/troupe.dev/v1/actors/${place}?verb=${verb}`, {
				ca: readFileSync(path.join(server.home, 'ca.crt'), 'utf8'),
				headers: {authorization: `Bearer ${server.token()}`},
			});
			t.is(status, 200, `${place} ${verb}`);
			told.push(shown);
		}
	for (const args of [
		['tree'],
		['describe', 'secret', 'shop.test'],
		['describe', 'ingress', 'shop.test'],
		['describe', 'node', 'node-a'],
		['events'],
	])
		told.push(JSON.stringify(await server.troupe(...args)));
	t.deepEqual(
		told.filter(shown => shows(shown, words)),
		[],
	);

	// All die; what the node has kept sealed is enough.
	const before = readRecord(homeOf(host.home).network).serving?.pid ?? 0;
	serving.kill('SIGKILL');
	joining.kill('SIGKILL');
	await Promise.all([serving.ended, joining.ended]);
	t.true(await isServed(second.ca, 'shop.test'), 'with the data plane alone');
	const again = host.start(flags);
	await eventually('the next agent has adopted it', () => isServed(second.ca, 'shop.test'));
	process.kill(before, 'SIGKILL');
	await eventually('another data plane serves', async () => {
		const {serving: now} = readRecord(homeOf(host.home).network);
		return now !== undefined && now.pid !== before && (await isServed(second.ca, 'shop.test'));
	});
	t.regex(await shownFor('shop.test'), /changed/);
	t.is(await shownFor('third.test'), 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
	t.deepEqual(
		ear.heard.filter(({topic, text: heard}) => shows(topic + heard, words)),
		[],
	);
	t.false(shows(commandLines(), words));
	again.kill('SIGTERM');
	t.false(shows(JSON.stringify(await again.ended), words));
	for (const home of [server.home, host.home]) t.deepEqual(filesThatShow(home, words), []);
	t.false(shows(await recordsOf(path.join(server.home, 'data/control')), words));
	t.false(shows(await recordsOf(path.join(host.home, 'data/node')), words));
});
