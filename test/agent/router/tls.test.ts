// The router over TLS, with real sockets and real certificates: which one a client gets, what is refused, what changes while connections run.

import {once} from 'node:events';
import {existsSync, readFileSync} from 'node:fs';
import {request as httpsRequest, Agent} from 'node:https';
import {connect as connectPlain} from 'node:net';
import {text} from 'node:stream/consumers';
import {connect, type ConnectionOptions, type TLSSocket} from 'node:tls';
import test from 'ava';
import type {IngressSpec} from '../../../api/kinds/ingress.js';
import {limits} from '../../../api/limits.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {certificateFor, certificateObject, endedCertificateFor} from './_certificates.js';
import {answering, ask, endpoint, ingressObject, routerWorld, siteOf, type Answer} from './_router.js';

const tlsSpec = (hosts: readonly string[], secretName: string, service = 'web'): IngressSpec => ({
	rules: hosts.map(host => ({
		host,
		http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name: service, port: {number: 80}}}}]},
	})),
	tls: [{hosts: [...hosts], secretName}],
});

type Asked = {readonly host?: string; readonly path?: string; readonly method?: string; readonly body?: string; readonly agent?: Agent};

const askTls = (port: number, ca: string, {host = 'a.test', path = '/', method = 'GET', body, agent}: Asked = {}): Promise<Answer> =>
	new Promise((resolve, reject) => {
		const request = httpsRequest(
			{host: '127.0.0.1', port, servername: host, ca, path, method, headers: {Host: host}, agent: agent ?? false},
			response => {
				text(response).then(words => resolve({status: response.statusCode ?? 0, headers: response.headers, body: words}), reject);
			},
		);
		request.on('error', reject);
		request.end(body);
	});

/** The names that the certificate has which a client is shown for a host; or the alert. */
const shownTo = (port: number, options: ConnectionOptions): Promise<string> =>
	new Promise(resolve => {
		const socket = connect({host: '127.0.0.1', port, rejectUnauthorized: false, ...options});
		socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
		socket.once('secureConnect', () => {
			resolve(socket.getPeerCertificate().subjectaltname ?? '');
			socket.destroy();
		});
	});

const noName = 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME';

test('a host with a certificate is served over TLS, its service is told so, and the plain router serves it as before', async t => {
	const {ca, ...its} = await certificateFor(['a.test']);
	const world = await routerWorld(t);
	t.is(world.tlsPort(), 0, 'nothing listens before there is a certificate');
	const {port} = await endpoint(t, (request, response) => {
		void text(request).then(body => response.end(JSON.stringify({...request.headers, body})));
	});
	await world.serve('web', port);
	await world.put(certificateObject('web-tls', its), ingressObject('web', tlsSpec(['a.test'], 'web-tls')));
	const answer = await askTls(world.tlsPort(), ca, {method: 'POST', path: '/x?y=1', body: 'z'.repeat(300_000)});
	t.is(answer.status, 200);
	const told = JSON.parse(answer.body) as Record<string, string>;
	t.like(told, {'x-forwarded-proto': 'https', 'x-forwarded-port': String(world.tlsPort()), 'x-forwarded-host': 'a.test'});
	t.is(told['body']?.length, 300_000);
	t.like(JSON.parse((await ask(world.port)).body), {'x-forwarded-proto': 'http', 'x-forwarded-port': String(world.port)});
	await eventually('both are in the access log', () => {
		const log = existsSync(world.accessLog) ? readFileSync(world.accessLog, 'utf8') : '';
		return log.includes('"POST /x HTTP/1.1" 200') && log.includes('"GET / HTTP/1.1" 200');
	});
	t.deepEqual([...world.problems], []);
});

test('the certificate is that of the host: as it is written before *., of the oldest Ingress, else by the names in it', async t => {
	const [exact, wild, younger, own] = await Promise.all([
		certificateFor(['a.b.test']),
		certificateFor(['*.b.test']),
		certificateFor(['younger.test']),
		certificateFor(['Own.test', '*.own.test']),
	]);
	const world = await routerWorld(t, [
		certificateObject('exact', exact),
		certificateObject('wild', wild),
		certificateObject('younger', younger),
		certificateObject('own', own),
		ingressObject('wild', tlsSpec(['*.b.test', 'c.test'], 'wild'), '2026-01-02T00:00:00Z'),
		ingressObject('exact', tlsSpec(['a.b.test'], 'exact'), '2026-01-03T00:00:00Z'),
		ingressObject('younger', tlsSpec(['a.b.test', 'c.test'], 'younger'), '2026-01-04T00:00:00Z'),
		ingressObject('own', {...tlsSpec(['own.test'], 'own'), tls: [{secretName: 'own'}]}),
	]);
	const shown = (servername: string, more: ConnectionOptions = {}) => shownTo(world.tlsPort(), {servername, ...more});
	t.regex(await shown('a.b.test'), /DNS:a\.b\.test/);
	t.regex(await shown('A.B.Test'), /DNS:a\.b\.test/);
	t.regex(await shown('x.b.test'), /DNS:\*\.b\.test/);
	t.regex(await shown('c.test'), /DNS:\*\.b\.test/);
	t.regex(await shown('own.test', {maxVersion: 'TLSv1.2'}), /DNS:Own\.test/i);
	t.regex(await shown('x.own.test'), /DNS:\*\.own\.test/);
	for (const name of ['b.test', 'x.a.b.test', 'younger.test', 'other.test'])
		for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) t.is(await shown(name, {maxVersion}), noName, name);
	t.is(await shownTo(world.tlsPort(), {servername: ''}), 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'a client that names no host');
	t.is(await shown('a.b.test', {ALPNProtocols: ['h2']}), 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL');
	t.regex(await shown('a.b.test', {ALPNProtocols: ['h2', 'http/1.1']}), /DNS:a\.b\.test/);
	const old: ConnectionOptions = {minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0'};
	t.regex(await shown('a.b.test', old), /PROTOCOL_VERSION/);
});

test('a certificate changes for new connections, those that run go on, and one that is gone is refused, also to who was here before', async t => {
	const [first, second] = await Promise.all([certificateFor(['a.test']), certificateFor(['a.test', 'second.test'])]);
	const world = await routerWorld(t);
	const {port} = await endpoint(t, answering('hello'));
	await world.serve('web', port);
	const ingress = ingressObject('web', tlsSpec(['a.test'], 'web-tls'));
	await world.put(certificateObject('web-tls', first), ingress);
	const agent = new Agent({keepAlive: true, maxSockets: 1});
	t.teardown(() => agent.destroy());
	const kept = (): Promise<Answer> => askTls(world.tlsPort(), first.ca, {agent});
	t.is((await kept()).body, 'hello');
	const names = (): Promise<string> => shownTo(world.tlsPort(), {servername: 'a.test'});
	t.notRegex(await names(), /second/);

	await world.put({...certificateObject('web-tls', second), version: '2'});
	t.regex(await names(), /second/);
	t.is((await kept()).body, 'hello');

	// The agent has heard of a newer one and not opened it: this one goes on.
	await world.put({...certificateObject('web-tls', second), version: '3', opened: undefined});
	t.regex(await names(), /second/);

	const before = connect({host: '127.0.0.1', port: world.tlsPort(), servername: 'a.test', ca: first.ca, maxVersion: 'TLSv1.2'});
	await once(before, 'secureConnect');
	const session = before.getSession();
	before.destroy();
	await world.remove(certificateObject('web-tls', second));
	t.is(await names(), noName);
	t.is(await shownTo(world.tlsPort(), {servername: 'a.test', session, maxVersion: 'TLSv1.2'}), noName);
	t.is((await kept()).body, 'hello');
	t.regex(String([...world.problems.values()]), /there is no such Secret/);
	t.is((await ask(world.port)).status, 200);
});

test('a Secret that cannot be served is said by Ingress and Secret, the older Ingress keeps its host, and all others are served', async t => {
	const [good, other, ended] = await Promise.all([
		certificateFor(['good.test']),
		certificateFor(['other.test']),
		endedCertificateFor(['ended.test']),
	]);
	const bad = {
		missing: undefined,
		type: certificateObject('type', good, {isTls: false, opened: undefined}),
		'no-certificate': certificateObject('no-certificate', {cert: 'SECRET-MARKER', key: good.key}),
		'no-key': certificateObject('no-key', {cert: good.cert, key: 'SECRET-MARKER'}),
		'other-key': certificateObject('other-key', {cert: good.cert, key: other.key}),
		chain: certificateObject('chain', {
			cert: `${good.cert}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
			key: good.key,
		}),
		ended: certificateObject('ended', ended),
		empty: certificateObject('empty', {cert: '', key: ''}),
		unreachable: certificateObject('unreachable', good, {opened: undefined, problem: 'no server answers'}),
		waiting: certificateObject('waiting', good, {opened: undefined}),
	};
	const world = await routerWorld(t, [
		certificateObject('good', good),
		ingressObject('good', tlsSpec(['good.test'], 'good')),
		ingressObject('unnamed', {...tlsSpec(['unnamed.test'], ''), tls: [{hosts: ['unnamed.test']}]}),
		...Object.entries(bad).flatMap(([name, object]) => [
			...(object === undefined ? [] : [object]),
			ingressObject(name, tlsSpec([`${name}.test`], name)),
			ingressObject(`younger-${name}`, tlsSpec([`${name}.test`], 'good'), '2027-01-01T00:00:00Z'),
		]),
	]);
	t.regex(await shownTo(world.tlsPort(), {servername: 'good.test'}), /DNS:good\.test/);
	for (const name of [...Object.keys(bad), 'unnamed']) t.is(await shownTo(world.tlsPort(), {servername: `${name}.test`}), noName, name);
	const told = [...world.problems.values()].sort();
	const of = (name: string, why: string): string => `ingress default/${name} is not served over TLS, Secret default/${name}: ${why}`;
	t.deepEqual(
		told,
		[
			of('missing', 'there is no such Secret: make it with troupe create secret tls'),
			of('type', 'its type is not kubernetes.io/tls: delete it, and make it with troupe create secret tls'),
			of('no-certificate', 'its tls.crt is no certificate in PEM'),
			of('no-key', 'its tls.key is no private key in PEM, or has a password'),
			of('other-key', 'its tls.key is not the key of its tls.crt'),
			of('chain', 'its tls.crt or tls.key is refused by OpenSSL: too weak, or a later certificate in it is none'),
			told.find(each => each.includes('ended at')) ?? '',
			of('empty', 'its tls.crt is no certificate in PEM'),
			of('unreachable', 'no server answers'),
			'ingress default/unnamed is not served over TLS: a part of its tls names no Secret; name one in secretName',
		].sort(),
	);
	t.regex(String(told), /Secret default\/ended: its certificate ended at \d{4}-\d\d-\d\dT\S+: renew it/);
	t.false(String(told).includes('MARKER'));
	await world.put(certificateObject('missing', good));
	t.regex(await shownTo(world.tlsPort(), {servername: 'missing.test'}), /DNS:good\.test/);
	t.is(world.problems.size, told.length - 1);
});

test('a client that begins no handshake, ends within it or speaks no TLS costs nothing', async t => {
	const its = await certificateFor(['a.test']);
	const world = await routerWorld(t, [
		certificateObject('web-tls', its),
		ingressObject('web', tlsSpec(['a.test'], 'web-tls')),
		siteOf('web'),
	]);
	const {port} = await endpoint(t, answering('hello'));
	await world.serve('web', port);
	const beganMs = Date.now();
	for (const bytes of [
		'',
		'\x16\x03\x01',
		'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n',
		'\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03',
		'\x80\x2e\x01',
	]) {
		const socket = connectPlain(world.tlsPort(), '127.0.0.1');
		socket.on('error', () => undefined).resume();
		socket.end(Buffer.from(bytes, 'latin1'));
		await once(socket, 'close');
	}
	t.true(Date.now() - beganMs < limits.routerHandshakeMs, 'each is let go as soon as it has ended');
	t.is((await askTls(world.tlsPort(), its.ca)).body, 'hello');
});

test('a WebSocket, and an answer that is a stream, come through TLS', async t => {
	const its = await certificateFor(['a.test']);
	const world = await routerWorld(t, [certificateObject('web-tls', its), ingressObject('web', tlsSpec(['a.test'], 'web-tls'))]);
	const {port, server} = await endpoint(t, (_request, response) => {
		response.write('first');
		response.flushHeaders();
	});
	server.on('upgrade', (_request, socket) => {
		socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
		socket.on('data', (data: Buffer) => socket.write(`echo ${data.toString()}`));
		socket.on('end', () => socket.end());
	});
	await world.serve('web', port);
	const opened = async (): Promise<TLSSocket> => {
		const socket = connect({host: '127.0.0.1', port: world.tlsPort(), servername: 'a.test', ca: its.ca});
		t.teardown(() => socket.destroy());
		await once(socket, 'secureConnect');
		return socket;
	};
	const until = async (socket: TLSSocket, wanted: RegExp): Promise<void> => {
		let all = '';
		while (!wanted.test(all)) all += String((await once(socket, 'data'))[0]);
	};
	const web = await opened();
	web.write('GET /ws HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
	await until(web, /101 Switching/);
	web.write('ping');
	await until(web, /echo ping/);
	web.end();
	await once(web, 'close');
	const stream = await opened();
	stream.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
	await until(stream, /first/);
	t.pass();
});
