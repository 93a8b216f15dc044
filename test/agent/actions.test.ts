import http from 'node:http';
import type {AddressInfo, Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {runNetworkAction, type NetworkAction} from '../../agent/actions.js';
import type {ActionResult} from '../../actors/node/runtime/runtime-port.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {systemClock} from '../../system/time/clock.js';

const run = (action: NetworkAction, timeoutMs = 10_000): Promise<ActionResult> =>
	new Promise(resolve => runNetworkAction(action, timeoutMs, systemClock, resolve));

const get = (port: number, path: string, rest: Partial<Extract<NetworkAction, {type: 'httpGet'}>> = {}): NetworkAction => ({
	type: 'httpGet',
	host: '127.0.0.1',
	port,
	path,
	scheme: 'HTTP',
	headers: [],
	...rest,
});

/** A server whose connections are counted. */
async function serve(t: ExecutionContext, handler: http.RequestListener): Promise<{port: number; server: http.Server; open: Set<Socket>}> {
	const server = http.createServer(handler).listen(0, '127.0.0.1');
	const open = new Set<Socket>();
	server.on('connection', socket => {
		open.add(socket);
		socket.on('error', () => undefined).once('close', () => open.delete(socket));
	});
	await new Promise(resolve => server.once('listening', resolve));
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	return {port: (server.address() as AddressInfo).port, server, open};
}

const withStatus =
	(status: number, headers: http.OutgoingHttpHeaders = {}): http.RequestListener =>
	(_request, response) =>
		void response.writeHead(status, headers).end('body');

for (const [status, ok] of [
	[200, true],
	[204, true],
	[304, true],
	[399, true],
	[400, false],
	[404, false],
	[503, false],
] as const) {
	test(`an answer with status ${status} is ${ok ? 'good' : 'bad'}`, async t => {
		const {port} = await serve(t, withStatus(status));
		const result = await run(get(port, '/healthz'));
		t.is(result.ok, ok);
		t.is(result.message, `GET http://127.0.0.1:${port}/healthz: status ${status}`);
	});
}

test('a redirect is followed on the same host, and good enough to another one', async t => {
	const {port} = await serve(t, (request, response) => {
		const {url = ''} = request;
		if (url === '/moved') response.writeHead(302, {location: '/broken'}).end();
		else if (url === '/away') response.writeHead(302, {location: 'http://elsewhere.invalid/'}).end();
		else if (url === '/round') response.writeHead(301, {location: '/round'}).end();
		else response.writeHead(500).end();
	});
	t.false((await run(get(port, '/moved'))).ok, 'what it leads to counts');
	t.true((await run(get(port, '/away'))).ok);
	t.regex((await run(get(port, '/round'))).message, /stopped after 10 redirects/);
});

test('the time is held, whether nothing comes or no end of it, and no connection is left', async t => {
	const {port, open} = await serve(t, (request, response) => {
		if (request.url === '/drips') response.writeHead(200).write('x');
	});
	for (const path of ['/silent', '/drips']) {
		const result = await run(get(port, path), 60);
		t.false(result.ok);
		t.regex(result.message, /no answer within 60 ms/);
	}
	// The server may see a connection only after it was given up.
	await t.notThrowsAsync(eventually('no connection is left', () => open.size === 0));
});

test('no more of a body is read than counts', async t => {
	const {port} = await serve(t, (_request, response) => {
		response.writeHead(200).on('error', () => undefined);
		const write = (): void => void (response.destroyed || response.write('x'.repeat(4_096), () => setImmediate(write)));
		write();
	});
	t.true((await run(get(port, '/'))).ok);
});

test('an answer that breaks off is bad', async t => {
	const {port} = await serve(t, (_request, response) => {
		response.writeHead(200, {'content-length': 100}).write('x', () => response.destroy());
	});
	t.false((await run(get(port, '/'))).ok);
});

test('headers are sent as given, and their values are never told', async t => {
	let seen: http.IncomingHttpHeaders = {};
	const {port} = await serve(t, (request, response) => {
		seen = request.headers;
		response.end();
	});
	const headers = [
		{name: 'Host', value: 'web.example'},
		{name: 'X-Word', value: 'one'},
		{name: 'x-word', value: 'two'},
	];
	t.true((await run(get(port, '/', {headers}))).ok);
	t.is(seen.host, 'web.example');
	t.is(seen['x-word'], 'one, two');
	const wrong = await run(get(port, '/', {headers: [{name: 'Authorization', value: 'Bearer geheim\n'}]}));
	t.false(wrong.ok);
	t.regex(wrong.message, /authorization/i);
	t.notRegex(wrong.message, /geheim/);
});

test('no path makes another host of a request, and a query is not told', async t => {
	const paths: (string | undefined)[] = [];
	const {port} = await serve(t, (request, response) => {
		paths.push(request.url);
		response.writeHead(500).end();
	});
	for (const path of ['//elsewhere.invalid/x', '@elsewhere.invalid/', 'plain', '/a b?token=geheim#part']) {
		t.notRegex((await run(get(port, path))).message, /geheim/);
	}
	t.deepEqual(paths, ['//elsewhere.invalid/x', '/@elsewhere.invalid/', '/plain', '/a%20b?token=geheim']);
});

test('a server without TLS is told from one that is not there', async t => {
	const {port, server} = await serve(t, withStatus(200));
	t.regex((await run(get(port, '/', {scheme: 'HTTPS'}))).message, /does not speak TLS/);
	await new Promise(resolve => server.close(resolve));
	t.is((await run(get(port, '/'))).message, `GET http://127.0.0.1:${port}/: connection refused`);
	t.deepEqual(await run({type: 'tcpSocket', host: '127.0.0.1', port}), {
		ok: false,
		message: `connect to 127.0.0.1:${port}: connection refused`,
	});
});

test('a connection that is taken is enough for tcpSocket, and is closed again', async t => {
	const {port, open} = await serve(t, withStatus(200));
	t.deepEqual(await run({type: 'tcpSocket', host: '127.0.0.1', port}), {ok: true, message: ''});
	// The server may see a connection only after it was given up.
	await t.notThrowsAsync(eventually('no connection is left', () => open.size === 0));
});

test('what cannot be asked at all is a result too', async t => {
	t.false((await run({type: 'tcpSocket', host: '127.0.0.1', port: 99_999})).ok);
	t.false((await run(get(99_999, '/'))).ok);
	t.false((await run(get(80, '/', {host: 'no such host'}))).ok);
});
