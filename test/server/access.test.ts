// Tokens over HTTP, joining, the authority, and what a standby says.

import http, {type IncomingMessage} from 'node:http';
import https from 'node:https';
import {connect} from 'node:net';
import tls from 'node:tls';
import {once} from 'node:events';
import test, {type ExecutionContext} from 'ava';
import {pinOfJoinToken} from '../../api/join-token.js';
import {brokerConfigPath, type BrokerConfigAnswer} from '../../api/broker-config.js';
import {caPath, joinPath, tokensPath, type JoinAnswer, type TokenAnswer, type TokenRow} from '../../api/join.js';
import {ensureCertificates, pinOf} from '../../server/certificates.js';
import {createGateway, type Upstream} from '../../server/gateway.js';
import {connectionBounds, type ConnectionBounds} from '../../server/listener.js';
import {createMqttGate} from '../../server/mqtt-gate.js';
import {openTokens} from '../../server/tokens.js';
import {passwordField, passwordHash, tokenHash} from '../../server/mosquitto-hash.js';
import {systemClock} from '../../system/time/clock.js';
import type {OutsideUrl} from '../../system/links/outside-url.js';
import {testCluster} from './cluster.js';
import type {StatusBody} from './door.js';
import {ask, plainVault, vaults} from './support.js';

const certificates = ensureCertificates(vaults(), {names: [], nowMs: systemClock.nowMs()});

/** A server of a cluster with the node `vm` in its own process; the clock of its tokens can be moved on. */
async function openServer(t: ExecutionContext, bounds: ConnectionBounds = connectionBounds, broker?: OutsideUrl) {
	const certificate = await certificates;
	const cluster = testCluster();
	const clock = {nowMs: 1_000_000};
	const tokens = openTokens(plainVault(), () => clock.nowMs);
	const admin = await tokens.issue('admin', 'admin');
	const cut: string[] = [];
	const access = {
		tokens,
		ca: certificate.ca,
		servers: () => ['https://a:1', 'https://b:2'],
		broker,
		isOwnNode: (name: string) => name === 'vm',
		cut: (login: string) => void cut.push(login),
	};
	const serving: Upstream = {
		type: 'serving',
		control: cluster.control,
		inspection: cluster.inspection,
		authenticate: tokens.authenticate,
		access,
	};
	const state: {upstream: Upstream} = {upstream: serving};
	const gate = createMqttGate(systemClock);
	const gateway = createGateway({
		upstream: () => state.upstream,
		tls: certificate,
		onMqtt: socket => gate.attach(socket, 'test'),
		version: '0.1.0',
		clock: systemClock,
		bounds,
	});
	const {port} = await gateway.listen('127.0.0.1', 0);
	t.teardown(() => gateway.close());
	const call = async <Body>(status: number, token: string | undefined, method: string, path: string, body?: object): Promise<Body> => {
		const answer = await ask(`https://127.0.0.1:${port}${path}`, {
			method,
			ca: certificate.ca,
			headers: {
				...(token === undefined ? {} : {authorization: `Bearer ${token}`}),
				...(body === undefined ? {} : {'content-type': 'application/json'}),
			},
			...(body === undefined ? {} : {body: JSON.stringify(body)}),
		});
		t.is(answer.status, status, `${method} ${path}: ${answer.text}`);
		return JSON.parse(answer.text) as Body;
	};
	return {port, certificate, cluster, clock, tokens, admin, cut, state, serving, gate, gateway, call};
}

test('a token says which topics of users it may use, and how fast', async t => {
	const {call, admin, tokens} = await openServer(t);
	const topics = {publish: ['sensors/#'], subscribe: ['alerts/+'], messagesPerSecond: 10, bytesPerSecond: 20_000};
	const made = await call<TokenAnswer>(201, admin, 'POST', tokensPath, {name: 'gw', role: 'tool', topics});
	t.deepEqual(made.topics, topics);
	t.deepEqual(tokens.authenticate(made.token)?.topics, topics);
	const {tokens: rows} = await call<{tokens: TokenRow[]}>(200, admin, 'GET', tokensPath);
	t.deepEqual(rows.find(({name}) => name === 'gw')?.topics, topics);
	const wrong = await call<StatusBody>(400, admin, 'POST', tokensPath, {name: 'x', role: 'tool', topics: {publish: ['troupe/v1/#']}});
	t.regex(wrong.message, /publish must be filters such as/);
	t.regex((await call<StatusBody>(400, admin, 'POST', tokensPath, {join: true, topics})).message, /topics belong to a token with a name/);
});

test('a token is made, listed without its text, and taken back with its connections', async t => {
	const {call, admin, cut, tokens} = await openServer(t);
	const made = await call<TokenAnswer>(201, admin, 'POST', tokensPath, {name: 'ci', role: 'edit', ttlSeconds: 60});
	t.deepEqual(made, {name: 'ci', role: 'edit', createdAtMs: 1_000_000, expiresAtMs: 1_060_000, token: made.token});
	t.like(tokens.authenticate(made.token), {name: 'ci', role: 'edit'});
	const listed = JSON.stringify(await call(200, admin, 'GET', tokensPath));
	t.true(listed.includes('"ci"'));
	t.false(/hash|token":"/.test(listed));
	t.is((await call<StatusBody>(409, admin, 'POST', tokensPath, {name: 'ci', role: 'view'})).reason, 'AlreadyExists');
	await call(200, admin, 'DELETE', `${tokensPath}/ci`);
	t.deepEqual(cut, ['ci']);
	await call(401, made.token, 'GET', '/version');
	await call(404, admin, 'DELETE', `${tokensPath}/ci`);
});

test('a watch ends with its token, those of others go on', async t => {
	const {port, certificate, call, admin} = await openServer(t);
	const {token} = await call<TokenAnswer>(201, admin, 'POST', tokensPath, {name: 'ci', role: 'edit'});
	const watch = async (bearer: string): Promise<IncomingMessage> => {
		const request = https.get(`https://127.0.0.1:${port}/api/v1/pods?watch=true`, {
			ca: certificate.ca,
			agent: false,
			headers: {authorization: `Bearer ${bearer}`},
		});
		t.teardown(() => request.destroy());
		const [response] = (await once(request, 'response')) as [IncomingMessage];
		return response.resume();
	};
	const [taken, kept] = await Promise.all([watch(token), watch(admin)]);
	const ended = once(taken, 'end');
	await call(200, admin, 'DELETE', `${tokensPath}/ci`);
	await ended;
	t.true(taken.complete);
	t.false(kept.readableEnded);
});

test('tokens are the affair of admins alone', async t => {
	const {call, tokens} = await openServer(t);
	for (const role of ['edit', 'view', 'tool', 'node', 'join'] as const) {
		const token = await tokens.issue(`a-${role}`, role);
		await call(403, token, 'GET', tokensPath);
		await call(403, token, 'POST', tokensPath, {name: 'x', role: 'admin'});
		await call(403, token, 'DELETE', `${tokensPath}/admin`);
		await call(403, token, 'GET', brokerConfigPath);
	}
	await call(401, undefined, 'GET', tokensPath);
});

test('what makes no token is refused with the reason', async t => {
	const {call, admin, cluster} = await openServer(t);
	cluster.put({
		apiVersion: 'v1',
		kind: 'Node',
		metadata: {name: 'host-1', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: ''},
		spec: {},
	});
	for (const [body, wanted] of [
		[{}, /name must be/],
		[{name: 'x', role: 'node'}, /role must be admin, edit, view, tool, metrics, got "node"/],
		[{name: 'x', role: 'join'}, /role must be/],
		[{name: 'control', role: 'view'}, /not "control"/],
		[{name: 'X', role: 'view'}, /token's name must be/],
		[{name: 'x', role: 'view', ttlSeconds: 0}, /ttlSeconds/],
		[{name: 'x', role: 'view', ttlSeconds: 'soon'}, /ttlSeconds/],
		[{join: true, ttlSeconds: 1e12}, /ttlSeconds/],
	] as const)
		t.regex((await call<StatusBody>(400, admin, 'POST', tokensPath, body)).message, wanted);
	t.regex((await call<StatusBody>(409, admin, 'POST', tokensPath, {name: 'host-1', role: 'view'})).message, /cannot be called like a node/);
});

test('the login that asks is deleted only when that is meant', async t => {
	const {call, admin} = await openServer(t);
	t.regex((await call<StatusBody>(400, admin, 'DELETE', `${tokensPath}/admin`)).message, /^"admin" is the login that asks, .*--yes/);
	await call(200, admin, 'GET', tokensPath);
	await call(200, admin, 'DELETE', `${tokensPath}/admin?own=true`);
	await call(401, admin, 'GET', tokensPath);
});

test('a join token does nothing but join, for a day, and pins the authority', async t => {
	const {call, admin, clock, certificate, tokens} = await openServer(t);
	const made = await call<TokenAnswer>(201, admin, 'POST', tokensPath, {join: true});
	t.is(pinOfJoinToken(made.token), pinOf(certificate.ca));
	t.is((made.expiresAtMs ?? 0) - made.createdAtMs, 86_400_000);
	for (const path of ['/api/v1/pods', '/api/v1/nodes', tokensPath, '/apis/troupe.dev/v1/actors']) await call(403, made.token, 'GET', path);

	const joined = await call<JoinAnswer>(201, made.token, 'POST', joinPath, {node: 'host-1.example'});
	t.deepEqual(
		{...joined, credential: ''},
		{node: 'host-1.example', credential: '', ca: certificate.ca, servers: ['https://a:1', 'https://b:2']},
	);
	t.like(tokens.authenticate(joined.credential), {name: 'host-1.example', role: 'node', node: 'host-1.example'});

	clock.nowMs += 86_400_000;
	await call(401, made.token, 'POST', joinPath, {node: 'host-2'});
	const {tokens: left} = await call<{tokens: TokenRow[]}>(200, admin, 'GET', tokensPath);
	t.deepEqual(
		left.map(({name}) => name),
		['admin', 'host-1.example'],
	);
});

test('a name that somebody has cannot be joined under', async t => {
	const {call, admin} = await openServer(t);
	const {token} = await call<TokenAnswer>(201, admin, 'POST', tokensPath, {join: true});
	await call(201, token, 'POST', joinPath, {node: 'host-1'});
	for (const node of ['host-1', 'admin', 'vm'] as const) {
		const {message} = await call<StatusBody>(409, token, 'POST', joinPath, {node});
		const wanted = {
			'host-1': /troupe token delete host-1/,
			admin: /is no node; --node gives/,
			vm: /control plane runs a node of that name itself/,
		};
		t.regex(message, wanted[node]);
	}
	for (const node of ['control', '', 'A', 'a/b', 5, undefined]) await call(400, token, 'POST', joinPath, {node});
	await call(403, admin, 'POST', joinPath, {node: 'host-2'});
	await call(401, undefined, 'POST', joinPath, {node: 'host-2'});
	await call(200, admin, 'DELETE', `${tokensPath}/host-1`);
	await call(201, token, 'POST', joinPath, {node: 'host-1'});
});

test('the authority is shown to everybody', async t => {
	const {port, certificate} = await openServer(t);
	const answer = await ask(`https://127.0.0.1:${port}${caPath}`, {rejectUnauthorized: false});
	t.deepEqual([answer.status, answer.text], [200, certificate.ca]);
	t.is((await ask(`https://127.0.0.1:${port}${caPath}`, {method: 'POST', rejectUnauthorized: false})).status, 405);
});

test('a standby names the leader to everyone, is alive and not ready', async t => {
	const {port, certificate, state, serving, admin, call} = await openServer(t);
	state.upstream = {type: 'standby', leader: 'https://b:2'};
	const url = `https://127.0.0.1:${port}`;
	for (const [path, status] of [
		['/livez', 200],
		['/healthz', 200],
		['/readyz', 503],
	] as const) {
		const answer = await ask(url + path, {ca: certificate.ca});
		t.deepEqual([answer.status, answer.text], [status, 'standby'], path);
	}
	for (const [method, path] of [
		['GET', '/api/v1/pods'],
		['GET', '/nowhere'],
		['POST', joinPath],
	] as const) {
		const answer = await ask(url + path, {method, ca: certificate.ca});
		t.deepEqual([answer.status, answer.headers['retry-after'], answer.headers['troupe-leader']], [503, '1', 'https://b:2']);
		t.regex((JSON.parse(answer.text) as StatusBody).message, /this server is a standby; the leader is https:\/\/b:2/);
	}
	t.is((await ask(url + caPath, {ca: certificate.ca})).status, 200);
	state.upstream = {type: 'standby', leader: undefined};
	t.is((await ask(`${url}/api`, {ca: certificate.ca})).headers['troupe-leader'], '');
	state.upstream = {type: 'standby', leader: undefined, storeAnswers: false};
	const blind = await ask(`${url}/api`, {ca: certificate.ca});
	t.deepEqual([blind.status, blind.headers['troupe-leader']], [503, '']);
	t.is((JSON.parse(blind.text) as StatusBody).message, 'no server leads: the store does not answer');
	state.upstream = serving;
	await call(200, admin, 'GET', '/api');
});

const connectPacket = Buffer.from([0x10, 0x0e, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 2, 0x78, 0x79]);

test('MQTT comes through the same port by ALPN; while nobody leads CONNECT is answered with "server unavailable"', async t => {
	const {port, certificate, gate} = await openServer(t);
	const dial = async (ALPNProtocols: string[]) => {
		const socket = tls.connect({port, host: '127.0.0.1', ca: certificate.ca, ALPNProtocols});
		t.teardown(() => socket.destroy());
		await once(socket, 'secureConnect');
		return socket;
	};
	const refused = await dial(['mqtt']);
	refused.write(connectPacket);
	const [answer] = (await once(refused, 'data')) as [Buffer];
	t.deepEqual([...answer], [0x20, 2, 0, 3]);
	await once(refused, 'close');

	const attached: string[] = [];
	gate.serve({
		attach(stream) {
			stream.on('data', (bytes: Buffer) => attached.push(bytes.toString('hex')));
			stream.write('hello');
		},
	});
	const taken = await dial(['mqtt', 'http/1.1']);
	t.is(taken.alpnProtocol as string, 'http/1.1');
	const mqtt = await dial(['mqtt']);
	t.is(((await once(mqtt, 'data')) as [Buffer])[0].toString(), 'hello');
	const closed = once(mqtt, 'close');
	gate.cut();
	await closed;
});

test('whoever speaks plain http to the port is told what it speaks; rubbish is cut', async t => {
	const {port, certificate} = await openServer(t, {...connectionBounds, headersMs: 1_000});
	const answer = await new Promise<{status: number | undefined; text: string}>((resolve, reject) => {
		http
			.get({port, path: '/healthz', agent: false}, response => {
				let text = '';
				response.on('data', (chunk: Buffer) => (text += chunk.toString()));
				response.on('end', () => resolve({status: response.statusCode, text}));
			})
			.on('error', reject);
	});
	t.deepEqual(answer, {status: 400, text: 'this port speaks TLS: use https:// in the address\n'});
	for (const bytes of [Buffer.from([0x10, 0x0e]), Buffer.from('\0rubbish'), Buffer.from([22, 3, 1, 0, 1, 9])]) {
		const socket = connect(port, '127.0.0.1');
		socket.on('error', () => undefined);
		socket.resume();
		socket.write(bytes);
		await once(socket, 'close');
	}
	const polite = tls.connect({port, host: '127.0.0.1', ca: certificate.ca});
	await once(polite, 'secureConnect');
	t.true(polite.authorized, 'the door still serves');
	polite.destroy();
});

test('a closing door waits for no connection that has said nothing or speaks MQTT', async t => {
	const {port, certificate, gateway} = await openServer(t);
	const silent = connect(port, '127.0.0.1');
	silent.on('error', () => undefined).resume();
	const mqtt = tls.connect({port, host: '127.0.0.1', ca: certificate.ca, ALPNProtocols: ['mqtt']});
	mqtt.on('error', () => undefined).resume();
	await once(mqtt, 'secureConnect');
	const closed = [once(silent, 'close'), once(mqtt, 'close')];
	await gateway.close();
	await Promise.all(closed);
	t.deepEqual([silent.destroyed, mqtt.destroyed], [true, true]);
});

test('the files of a broker elsewhere hold every login by its hash, and control with the password of --broker', async t => {
	const {call, admin, tokens} = await openServer(t, connectionBounds, {url: 'mqtts://[::1]:8884', password: 'pass of control'});
	await tokens.issue('host-1', 'node');
	const read = (query: string) => call<BrokerConfigAnswer>(200, admin, 'GET', `${brokerConfigPath}?folder=/srv/b%20c${query}`);
	const {conf, acl, passwords, tls, controlPassword} = await read('');
	t.true(conf.includes('\nlistener 8884 ::1\n'));
	t.true(conf.includes('\ncertfile /srv/b c/cert.pem\nkeyfile /srv/b c/key.pem\n'));
	t.true(conf.includes('\npassword_file /srv/b c/passwords\nacl_file /srv/b c/acl\n'));
	t.true(tls);
	t.is(controlPassword, undefined);
	t.true(acl.includes('\nuser host-1\n'));
	t.deepEqual(passwords.split('\n').slice(1), [
		`control:${passwordField(passwordHash('pass of control'))}`,
		`admin:${passwordField(tokenHash(admin))}`,
		passwords.split('\n')[3],
		'',
	]);
	t.true((await read('&host=0.0.0.0&port=1')).conf.includes('\nlistener 1 0.0.0.0\n'));
});

test('without a --broker a password is made, another one each time; what would be another line of its settings is refused', async t => {
	const {call, admin} = await openServer(t);
	const read = () => call<BrokerConfigAnswer>(200, admin, 'GET', `${brokerConfigPath}?host=127.0.0.1&port=1884`);
	const [first, second] = [await read(), await read()];
	t.false(first.tls);
	t.true(first.passwords.includes(`\ncontrol:${passwordField(passwordHash(first.controlPassword ?? ''))}\n`));
	t.not(first.controlPassword, second.controlPassword);
	for (const query of [
		'',
		'?host=a%0Ab&port=1',
		'?host=a%20b&port=1',
		'?host=a',
		'?host=a&port=0',
		'?host=a&port=65536',
		'?host=a&port=1&folder=relative',
		'?host=a&port=1&folder=/a%0Auser%20root',
	])
		t.is((await call<StatusBody>(400, admin, 'GET', brokerConfigPath + query)).reason, 'BadRequest');
	t.true((await call<BrokerConfigAnswer>(200, admin, 'GET', `${brokerConfigPath}?host=a&port=1`)).tls);
});
