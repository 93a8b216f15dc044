// Routes to functions: by the server that leads, and where none does by instances on this node.

import {mkdtempSync, rmSync} from 'node:fs';
import {
	createServer as createHttpServer,
	request as httpRequest,
	type IncomingMessage,
	type RequestListener,
	type ServerResponse,
} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import {createServer as createNetServer} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import test, {type ExecutionContext} from 'ava';
import type {NetworkObject, PlacedInstance} from '../../../actors/protocol/network-object.js';
import {socketOf} from '../../../agent/functions/runner-place.js';
import {answeredHeader, clientAuthorization, standbyHeader} from '../../../api/routed-call.js';
import {createDeferred} from '../../../system/time/deferred.js';
import {certificateFor} from './_certificates.js';
import {answering, ask, askRaw, dnsObject, endpoint, listen, routerWorld, type World} from './_router.js';

const route = dnsObject('fn', {host: 'a.test', paths: [{subPath: '/', funcName: 'hello'}]});

type Call = {readonly url: string; readonly method: string; readonly headers: IncomingMessage['headers']; readonly body: string};

type FakeServer = {readonly url: string; readonly calls: Call[]; leads: boolean; readonly close: () => void};

/** A server of a cluster, as far as routers see one. */
async function fakeServer(t: ExecutionContext, answer: RequestListener = answeredBy('server')): Promise<FakeServer> {
	const {cert, key} = await certificateFor([]);
	const calls: Call[] = [];
	const fake = {calls, leads: true};
	const server = createTlsServer({cert, key}, (request, response) => {
		if (request.url === '/readyz') return void response.writeHead(fake.leads ? 200 : 503).end();
		if (!fake.leads) return void response.writeHead(503, {[standbyHeader]: ''}).end('standby');
		const {url = '', method = '', headers} = request;
		void text(request).then(body => {
			calls.push({url, method, headers, body});
			answer(request, response);
		});
	});
	const port = await listen(t, server);
	const close = (): void => {
		server.close();
		server.closeAllConnections();
	};
	return Object.assign(fake, {url: `https://127.0.0.1:${port}`, close});
}

const answeredBy =
	(words: string, more: Record<string, string> = {}): RequestListener =>
	(_request, response) =>
		void response.writeHead(200, {[answeredHeader]: 'yes', ...more}).end(words);

async function told(...servers: readonly {readonly url: string}[]): Promise<NetworkObject> {
	const {ca} = await certificateFor([]);
	return {type: 'servers', name: 'servers', node: 'vm', credential: 'secret-of-vm', ca, servers: servers.map(({url}) => url)};
}

/** A runner at its socket. */
async function fakeInstance(
	t: ExecutionContext,
	uid: string,
	listener: RequestListener,
	fields: Partial<PlacedInstance> = {},
): Promise<PlacedInstance> {
	const home = mkdtempSync(path.join(tmpdir(), 'instance-'));
	const server = createHttpServer(listener);
	await new Promise<void>(resolve => server.listen(socketOf(home), resolve));
	t.teardown(() => {
		server.close();
		server.closeAllConnections();
		rmSync(home, {recursive: true, force: true});
	});
	const owner = process.getuid?.() ?? 0;
	return {uid, namespace: 'default', function: 'hello', concurrency: 10, timeoutMs: 30_000, home, owner, ...fields};
}

const instances = (...all: readonly PlacedInstance[]): NetworkObject => ({type: 'instances', name: 'instances', instances: all});

const nowhere = {url: 'https://127.0.0.1:1'};

const world = (t: ExecutionContext, ...objects: readonly NetworkObject[]): Promise<World> => routerWorld(t, [route, ...objects]);

test('a call goes to the server that leads, with what the client has sent and the login of the node', async t => {
	const standby = await fakeServer(t);
	standby.leads = false;
	const leader = await fakeServer(t, answeredBy('from the function', {'x-own': '1', 'x-troupe-refused': 'no'}));
	const {port, accessLog} = await world(t, await told(nowhere, standby, leader));
	const headers = {
		authorization: 'Bearer of-the-client',
		'x-troupe-trigger': 'forged',
		[clientAuthorization]: 'forged',
		'x-own': 'kept',
		'content-type': 'text/plain',
	};
	const answer = await ask(port, {path: '/a%20b//c?d=e', method: 'POST', headers, body: 'words'});
	t.deepEqual([answer.status, answer.body, answer.headers['x-own']], [200, 'from the function', '1']);
	t.false(Object.keys(answer.headers).some(name => name.includes('troupe')));
	t.is(standby.calls.length, 0);
	const [call] = leader.calls;
	t.like(call, {url: '/troupe/v1/nodes/vm/functions/default/hello/a%20b//c?d=e', method: 'POST', body: 'words'});
	t.like(call?.headers, {
		host: 'a.test',
		authorization: 'Bearer secret-of-vm',
		[clientAuthorization]: 'Bearer of-the-client',
		'x-own': 'kept',
		'x-forwarded-for': '127.0.0.1',
		'x-forwarded-host': 'a.test',
		'x-forwarded-proto': 'http',
	});
	t.is(call?.headers['x-troupe-trigger'], undefined);
	t.truthy(accessLog);
});

test('services and functions share a host by weight', async t => {
	const leader = await fakeServer(t, answeredBy('function'));
	const {port} = await endpoint(t, answering('service'));
	const backends = [
		{svcName: 'web', svcPort: 80, weight: 1},
		{funcName: 'hello', weight: 1},
	];
	const mixed = await routerWorld(t, [dnsObject('mixed', {host: 'a.test', paths: [{subPath: '/', backends}]}), await told(leader)]);
	await mixed.serve('web', port);
	const bodies = new Set<string>();
	for (let i = 0; i < 40; i++) bodies.add((await ask(mixed.port)).body);
	t.deepEqual([...bodies].sort(), ['function', 'service']);
});

test('bodies stream both ways, and who waits to be asked for one is asked', async t => {
	const echo: RequestListener = (request, response) => {
		response.writeHead(200, {[answeredHeader]: 'yes'});
		request.pipe(response);
	};
	const {cert, key} = await certificateFor([]);
	const server = createTlsServer({cert, key}, (request, response) =>
		request.url === '/readyz' ? void response.end() : echo(request, response),
	);
	const leader = {url: `https://127.0.0.1:${await listen(t, server)}`};
	const instance = await fakeInstance(t, 'u1', echo);
	const {port, put} = await world(t, await told(leader));
	const streamed = async (): Promise<void> => {
		const answered = createDeferred<IncomingMessage>();
		const request = httpRequest(
			{port, method: 'POST', headers: {host: 'a.test', expect: '100-continue', 'transfer-encoding': 'chunked'}, agent: false},
			answered.resolve,
		);
		const continued = createDeferred();
		request.on('continue', continued.resolve);
		await continued.promise;
		request.write('one');
		const answer = await answered.promise;
		const [first] = (await answer.take(1).toArray()) as readonly Buffer[];
		t.is(first?.toString(), 'one', 'before the body has ended');
		request.destroy();
	};
	const large = 'x'.repeat(3_000_000);
	t.is((await ask(port, {method: 'POST', body: large})).body.length, large.length);
	await streamed();
	server.close();
	server.closeAllConnections();
	await put(instances(instance), await told(nowhere));
	t.is((await ask(port, {method: 'POST', body: large})).body.length, large.length);
	await streamed();
});

test('while no server answers, instances of this node do, and the server again when it does', async t => {
	const leader = await fakeServer(t);
	const seen: IncomingMessage[] = [];
	const instance = await fakeInstance(t, 'u1', (request, response) => {
		seen.push(request);
		response.end('instance');
	});
	const {port} = await world(t, await told(leader), instances(instance));
	t.is((await ask(port)).body, 'server');
	leader.leads = false;
	t.is((await ask(port)).body, 'instance', 'it says that it does not lead, and the call had no body');
	t.is((await ask(port, {method: 'POST', body: 'words', path: '/x?y', headers: {authorization: 'Bearer mine'}})).body, 'instance');
	t.like(seen[1], {url: '/x?y'});
	t.like(seen[1]?.headers, {host: 'a.test', authorization: 'Bearer mine', 'x-forwarded-for': '127.0.0.1'});
	leader.leads = true;
	let body = 'instance';
	while (body === 'instance') ({body} = await ask(port));
	t.is(body, 'server');
	leader.close();
	t.is((await ask(port)).body, 'instance', 'it takes no connections');
});

test('of a call with a body that a server has refused, since it does not lead, nothing is sent again', async t => {
	const leader = await fakeServer(t);
	const instance = await fakeInstance(t, 'u1', answering('instance'));
	const {port} = await world(t, await told(leader), instances(instance));
	t.is((await ask(port)).body, 'server');
	leader.leads = false;
	const answer = await ask(port, {method: 'POST', body: 'words'});
	t.deepEqual([answer.status, answer.headers['retry-after']], [503, '1']);
	t.is((await ask(port, {method: 'POST', body: 'words'})).body, 'instance');
});

test('a server that hangs is left', async t => {
	const hanging = createNetServer(() => undefined);
	const silent = {url: `https://127.0.0.1:${await listen(t, hanging)}`};
	const instance = await fakeInstance(t, 'u1', answering('instance'));
	const {port} = await world(t, await told(silent), instances(instance));
	t.is((await ask(port, {method: 'POST', body: 'words'})).body, 'instance');
	t.is((await ask(port)).body, 'instance');
});

test('an instance gets no more calls than it takes, the one with the fewest is next, and nobody waits', async t => {
	const held: ServerResponse[] = [];
	const three = createDeferred();
	const hold =
		(uid: string): RequestListener =>
		(_request, response) => {
			response.setHeader('x-uid', uid);
			if (held.push(response) === 3) three.resolve();
		};
	const one = await fakeInstance(t, 'u1', hold('u1'), {concurrency: 1});
	const two = await fakeInstance(t, 'u2', hold('u2'), {concurrency: 2});
	const {port} = await world(t, await told(nowhere), instances(one, two));
	const calls = Array.from({length: 3}, () => ask(port));
	await three.promise;
	const refused = await ask(port);
	t.deepEqual([refused.status, refused.headers['retry-after']], [503, '1']);
	t.regex(refused.body, /no instance of it on this node takes a call/);
	for (const response of held) response.end();
	const uids = (await Promise.all(calls)).map(({headers}) => headers['x-uid']);
	t.deepEqual(uids.toSorted(), ['u1', 'u2', 'u2']);
	const later = ask(port);
	while (held.length < 4) await new Promise<void>(resolve => void setImmediate(resolve));
	held[3]?.end();
	t.is((await later).status, 200);
});

test('another instance is tried where one is gone, is not its own, or refuses', async t => {
	const gone = {...(await fakeInstance(t, 'u1', answering('gone'))), home: '/nonexistent'};
	const foreign = await fakeInstance(t, 'u2', answering('foreign'), {owner: 4_000_000});
	const full = await fakeInstance(t, 'u3', (_request, response) => void response.writeHead(429, {'x-troupe-refused': 'busy'}).end());
	const sound = await fakeInstance(t, 'u4', answering('sound'));
	const {port, put} = await world(t, await told(nowhere), instances(gone, foreign, full, sound));
	t.is((await ask(port)).body, 'sound');
	await put(instances(gone, foreign));
	t.is((await ask(port)).status, 503);
});

test('what was sent to an instance is never sent again', async t => {
	let calls = 0;
	const dies = (request: IncomingMessage): void => {
		calls += 1;
		request.socket.destroy();
	};
	const all = await Promise.all(['u1', 'u2'].map(uid => fakeInstance(t, uid, dies)));
	const {port} = await world(t, await told(nowhere), instances(...all));
	t.deepEqual([(await ask(port)).status, calls], [502, 1]);
});

const ownAnswers: readonly [number, number, RegExp][] = [
	[404, 404, /there is no function default\/hello/],
	[413, 413, /the body is larger/],
	[429, 429, /has as many calls waiting/],
	[502, 502, /an instance of function default\/hello ended/],
	[503, 503, /has no instance that takes the call/],
	[504, 504, /did not answer in time/],
	[403, 503, /do not call function default\/hello for this node/],
	[401, 503, /do not call function default\/hello for this node/],
];

for (const [status, shown, words] of ownAnswers)
	test(`what a server says itself with status ${status} is told as ${shown}, and nothing of it`, async t => {
		const leader = await fakeServer(t, (_request, response) => void response.writeHead(status).end('the pod hello-1-x at 10.0.0.1'));
		const {port} = await world(t, await told(leader));
		const answer = await ask(port, {method: 'POST', body: 'words'});
		t.is(answer.status, shown);
		t.regex(answer.body, words);
		t.notRegex(answer.body, /hello-1-x/);
	});

test("an answer of the function with such a status is the function's", async t => {
	const leader = await fakeServer(
		t,
		(_request, response) => void response.writeHead(503, {[answeredHeader]: 'yes', [standbyHeader]: ''}).end('own'),
	);
	const {port} = await world(t, await told(leader));
	const answer = await ask(port);
	t.deepEqual([answer.status, answer.body], [503, 'own']);
});

test('other protocols and methods are refused, and where no server is known that is said', async t => {
	const {port} = await world(t);
	const upgrade = 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
	t.regex(await askRaw(port, upgrade), /^HTTP\/1\.1 501 /);
	t.is((await ask(port, {method: 'OPTIONS'})).status, 405);
	t.is((await ask(port)).status, 503);
});

test('an answer that breaks off is seen by the client not to be whole', async t => {
	const leader = await fakeServer(t, (_request, response) => {
		response.writeHead(200, {[answeredHeader]: 'yes'});
		response.write('a part', () => response.destroy());
	});
	const {port} = await world(t, await told(leader));
	await t.throwsAsync(ask(port));
});

test('another login of the node is used from the next call on', async t => {
	const leader = await fakeServer(t);
	const {port, put} = await world(t, await told(leader));
	await ask(port);
	await put({...((await told(leader)) as Extract<NetworkObject, {type: 'servers'}>), credential: 'renewed'});
	await ask(port);
	t.deepEqual(
		leader.calls.map(({headers}) => headers.authorization),
		['Bearer secret-of-vm', 'Bearer renewed'],
	);
});
