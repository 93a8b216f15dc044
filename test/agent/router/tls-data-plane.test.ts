// TLS by the real data plane: it goes on while agents come and go, and the next data plane takes it over, connections that are being made included.

import {readFileSync, readdirSync, statSync} from 'node:fs';
import {mkdtempSync, rmSync} from 'node:fs';
import {request} from 'node:https';
import {createServer} from 'node:net';
import {once} from 'node:events';
import os from 'node:os';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import test, {type ExecutionContext} from 'ava';
import {base64Of} from '../../../api/base64.js';
import {succeeded} from '../../../api/errors.js';
import {objectKey} from '../../../api/keys.js';
import type {Network, NetworkChange} from '../../../actors/node/runtime/network-port.js';
import type {OpenCertificate} from '../../../actors/node/runtime/secrets-port.js';
import {createNodeNetwork} from '../../../agent/node-network.js';
import {endDataPlanes} from '../../../agent/network/feed/data-plane-process.js';
import {readRecord, socketOf} from '../../../agent/network/feed/record.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import type {ServerCertificate} from '../../../server/certificates.js';
import {systemClock} from '../../../system/time/clock.js';
import {certificateFor} from './_certificates.js';
import {endpoint, ingressObject} from './_router.js';

async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const {port} = server.address() as {port: number};
	server.close();
	return port;
}

async function bed(t: ExecutionContext, {cert, key}: ServerCertificate) {
	const folder = path.join(mkdtempSync(path.join(os.tmpdir(), 'troupe-tls-')), 'network');
	const [tls, target] = [await freePort(), await endpoint(t, (_request, response) => void response.end('hello'))];
	const agents: Network[] = [];
	t.teardown(async () => {
		await Promise.all(agents.map(each => each.close()));
		await endDataPlanes(folder, systemClock);
		rmSync(path.dirname(folder), {recursive: true, force: true});
	});
	const opened = succeeded({version: '1', data: {'tls.crt': base64Of(cert), 'tls.key': base64Of(key)}});
	const certificateKey = objectKey('certificates', 'default', 'web-tls');
	const backend = {service: {name: 'web', port: {number: 80}}};
	const rules = [{host: 'a.test', http: {paths: [{path: '/', pathType: 'Prefix' as const, backend}]}}];
	const changes: readonly NetworkChange[] = [
		{
			key: objectKey('services', 'default', 'web'),
			object: {type: 'service', namespace: 'default', name: 'web', spec: {ports: [{port: 80}]}},
		},
		{
			key: objectKey('endpointslices', 'default', 'web-1'),
			object: {
				type: 'endpoints',
				namespace: 'default',
				name: 'web-1',
				service: 'web',
				addressType: 'IPv4',
				endpoints: [{addresses: ['127.0.0.1'], conditions: {ready: true}, nodeName: 'vm'}],
				ports: [{name: '', port: target.port, protocol: 'TCP'}],
			},
		},
		{key: certificateKey, object: {type: 'certificate', namespace: 'default', name: 'web-tls', version: '1', isTls: true}},
		{
			key: objectKey('ingresses', 'default', 'web'),
			object: ingressObject('web', {rules, tls: [{hosts: ['a.test'], secretName: 'web-tls'}]}),
		},
	];
	return {
		folder,
		tls,
		certificateKey,
		/** An agent that knows all of it; `open` says how it comes by the certificate. */
		agent: async (identity = 'one', open: OpenCertificate = (_wanted, done) => done(opened)): Promise<Network> => {
			const routerTls = {host: '127.0.0.1', port: tls};
			const network = createNodeNetwork({
				settings: {identity, folder, node: 'vm', router: undefined, routerTls},
				clock: systemClock,
				info: {pods: 'shared', services: 'proxy', certificates: true},
				openCertificate: open,
				onWarning: () => undefined,
			});
			agents.push(network);
			await new Promise(resolve => network.run({type: 'network.replace', changes}, resolve));
			return network;
		},
	};
}

/** A connection of its own each time. Rejects with why there is no answer. */
const asked = (port: number, ca: string): Promise<string> =>
	new Promise((resolve, reject) => {
		const headers = {Host: 'a.test'};
		request({host: '127.0.0.1', port, servername: 'a.test', ca, headers, agent: false}, answer => {
			text(answer).then(resolve, reject);
		})
			.on('error', reject)
			.end();
	});

const pidOf = (folder: string): number | undefined => readRecord(folder).serving?.pid;

test('TLS goes on without an agent, with one that cannot open the certificate, and through the next data plane, without a refusal', async t => {
	t.timeout(60_000);
	const its = await certificateFor(['a.test']);
	const {folder, tls, agent, certificateKey} = await bed(t, its);
	const first = await agent();
	await eventually('the route is served', () =>
		asked(tls, its.ca).then(
			words => words === 'hello',
			() => false,
		),
	);
	const before = pidOf(folder);
	await first.close();
	t.is(await asked(tls, its.ca), 'hello', 'without an agent');
	const second = await agent('one', () => undefined);
	t.is(await asked(tls, its.ca), 'hello', 'with one that opens nothing');
	t.is(pidOf(folder), before);

	let isOver = false;
	const failures: unknown[] = [];
	let answers = 0;
	const clients = Array.from({length: 8}, async () => {
		while (!isOver)
			await asked(tls, its.ca).then(
				() => (answers += 1),
				(error: unknown) => failures.push(error),
			);
	});
	await second.close();
	const third = await agent('two', () => undefined);
	await eventually('another data plane serves', () => pidOf(folder) !== before);
	const atHandOver = answers;
	await eventually('it answers', () => answers > atHandOver + 100);
	isOver = true;
	await Promise.all(clients);
	t.deepEqual(failures, []);

	// The key is in the memory of the processes and nowhere else.
	const [marker = ''] = /^[A-Za-z0-9+/]{40}/m.exec(its.key) ?? [];
	t.is(marker.length, 40);
	const pid = pidOf(folder) ?? 0;
	t.is(statSync(socketOf(folder, pid)).mode & 0o777, 0o600);
	const files = readdirSync(folder).map(name => path.join(folder, name));
	const texts = [...files.filter(file => statSync(file).isFile()), `/proc/${pid}/cmdline`, `/proc/${pid}/environ`].map(file =>
		readFileSync(file, 'latin1'),
	);
	t.deepEqual(
		texts.filter(each => each.includes(marker)),
		[],
	);

	await new Promise(resolve => third.run({type: 'network.change', changes: [{key: certificateKey, object: undefined}]}, resolve));
	await eventually('the host is refused', () =>
		asked(tls, its.ca).then(
			() => false,
			(error: Error) => error.message.includes('unrecognized name'),
		),
	);
});
