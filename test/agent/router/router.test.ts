// The router with real sockets: what comes through whole, what is refused, what is tried again, and what is not.

import {readFileSync} from 'node:fs';
import {createServer as createNetServer, connect} from 'node:net';
import {once} from 'node:events';
import {request as httpRequest, Agent, type IncomingMessage} from 'node:http';
import {setTimeout as soon} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {answering, ask, askRaw, dnsObject, endpoint, ingressObject, listen, routerWorld, siteOf} from './_router.js';

const described = (request: IncomingMessage): string =>
	JSON.stringify({method: request.method, url: request.url, headers: request.headers, raw: request.rawHeaders});

test('a request reaches its service with what it said, and who asks', async t => {
	const world = await routerWorld(t);
	const {port} = await endpoint(t, (request, response) => void response.setHeader('X-Answer', 'yes').end(described(request)));
	await world.serve('web', port);
	const answer = await ask(world.port, {
		path: '/a/b?c=d',
		headers: {'X-Own': '1', 'X-Forwarded-For': '10.9.8.7', Connection: 'x-hop', 'X-Hop': '1', TE: 'gzip'},
	});
	t.is(answer.status, 200);
	t.is(answer.headers['x-answer'], 'yes');
	const {method, url, headers} = JSON.parse(answer.body) as {method: string; url: string; headers: Record<string, string>};
	t.is(method, 'GET');
	t.is(url, '/a/b?c=d');
	t.like(headers, {
		host: 'a.test',
		'x-own': '1',
		'x-forwarded-for': '10.9.8.7, 127.0.0.1',
		'x-forwarded-proto': 'http',
		'x-forwarded-host': 'a.test',
		'x-forwarded-port': String(world.port),
	});
	t.is(headers['x-hop'], undefined);
	t.is(headers['te'], undefined);
});

test('what no route or no endpoint answers is said, as text or as a page, and is in the access log', async t => {
	const world = await routerWorld(t, [
		siteOf('web'),
		dnsObject('deep', {host: 'b.test', paths: [{subPath: '/x', svcName: 'web', svcPort: 80}]}),
	]);
	t.is((await ask(world.port)).status, 503);
	const html = await ask(world.port, {host: 'b.test', path: '/%3Cscript%3E', headers: {Accept: 'text/html', 'User-Agent': 'a"b\\c'}});
	t.is(html.status, 404);
	t.regex(html.headers['content-type'] ?? '', /text\/html/);
	t.notRegex(html.body, /<script>/);
	t.regex(
		(await ask(world.port, {host: 'c.test', path: '/?secret=1'})).body,
		/404 Not Found: no Dns and no Ingress has a route for "\/" of "c\.test"\nrequest id: \w+-\w+\n/,
	);
	t.is((await ask(world.port, {method: 'HEAD', host: 'c.test'})).body, '');
	const lines = await logged(t, world.accessLog, 4);
	t.regex(
		lines[1] ?? '',
		/^127\.0\.0\.1 [0-9a-f]+-\w+ - \[\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d \+0000\] "GET \/%3Cscript%3E HTTP\/1\.1" 404 - "-" "a\\"b\\\\c"$/,
	);
	t.notRegex(lines.join('\n'), /secret/);
});

/** Lines are written together, a moment later. */
async function logged(t: ExecutionContext, file: string, count: number): Promise<readonly string[]> {
	for (const deadline = Date.now() + 10_000; Date.now() < deadline; await soon(50)) {
		const lines = await Promise.resolve()
			.then(() =>
				readFileSync(file, 'utf8')
					.split('\n')
					.filter(line => line !== ''),
			)
			.catch(() => []);
		if (lines.length >= count) return lines;
	}
	t.fail('the access log did not get its lines');
	return [];
}

test('trailers, HEAD, answers without a length, and 100-continue come through', async t => {
	const world = await routerWorld(t);
	const {port, server} = await endpoint(t, (request, response) => {
		request.resume().on('end', () => {
			if (request.method === 'HEAD') return void response.writeHead(200, {'Content-Length': '77'}).end();
			response.writeHead(200, {Trailer: 'X-End'});
			response.write('part');
			response.addTrailers({'X-End': `${String(request.headers['expect'])} ${request.trailers['x-last'] ?? ''}`});
			response.end();
		});
	});
	await world.serve('web', port);
	const asked: string[] = [];
	server.on('checkContinue', (request, response) => {
		asked.push('continue');
		response.writeContinue();
		server.emit('request', request, response);
	});
	t.is((await ask(world.port, {method: 'HEAD'})).headers['content-length'], '77');
	const raw = await askRaw(
		world.port,
		'POST / HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\nTrailer: X-Last\r\n\r\n3\r\nabc\r\n0\r\nX-Last: bye\r\n\r\n',
		/X-End: .*\r\n\r\n$/,
	);
	t.regex(raw, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
	t.regex(raw, /4\r\npart\r\n0\r\nX-End: 100-continue bye\r\n\r\n$/);
	t.deepEqual(asked, ['continue']);
	// Trailers that are only promised, without chunks to put them behind.
	const promised = 'POST / HTTP/1.1\r\nHost: a.test\r\nTrailer: X-Last\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx';
	t.regex(await askRaw(world.port, promised), /^HTTP\/1\.1 200 /);
	t.regex(await askRaw(world.port, 'GET / HTTP/1.0\r\nHost: a.test\r\n\r\n'), /200 OK\r\n(?![^]*chunked)[^]*\r\n\r\npart$/);
});

const rubbish: readonly [title: string, bytes: string, status: RegExp][] = [
	['two lengths', 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', / 400 /],
	[
		'a length beside chunks',
		'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
		/ 400 /,
	],
	['an encoding that is not chunked', 'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', / 501 /],
	['an obfuscated encoding', 'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n', / 400 /],
	['an unknown encoding', 'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n', / 400 /],
	['a folded field', 'GET / HTTP/1.1\r\nHost: a.test\r\nX: a\r\n b\r\n\r\n', / 400 /],
	['a bare line feed', 'GET / HTTP/1.1\nHost: a.test\n\n', / 400 /],
	['a bad chunk', 'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', / (400|502) /],
	['no host', 'GET / HTTP/1.1\r\n\r\n', / 400 /],
	['two hosts', 'GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\nConnection: close\r\n\r\n', / 400 /],
	['dots that climb', 'GET /a/../b HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n', / 400 /],
	['CONNECT', 'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n', / 405 /],
	['no HTTP', '\x16\x03\x01\x02\x00', / 400 /],
	['a header that is too gigabyte', `GET / HTTP/1.1\r\nHost: a.test\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, / 431 /],
	['another expectation', 'GET / HTTP/1.1\r\nHost: a.test\r\nExpect: wonders\r\nConnection: close\r\n\r\n', / 417 /],
	[
		'a body with an upgrade',
		'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n\r\nabc',
		/ 400 /,
	],
];

test('requests that could be read in two ways are refused, and reach nobody', async t => {
	const world = await routerWorld(t);
	const seen: string[] = [];
	const port = await listen(
		t,
		createNetServer(socket => {
			socket.on('error', () => undefined).on('data', data => seen.push(data.toString('latin1')));
		}),
	);
	await world.serve('web', port);
	for (const [title, bytes, status] of rubbish) t.regex(await askRaw(world.port, bytes, /^HTTP\/1\.1 \d+[^]*\r\n\r\n/), status, title);
	t.deepEqual(
		seen.filter(text => !/^POST \/ HTTP\/1\.1\r\nHost: a\.test\r\n/.test(text) || text.includes('zz')),
		[],
	);
});

test('two requests on one connection stay two, whatever the first says of its length', async t => {
	const world = await routerWorld(t);
	const seen: string[] = [];
	const {port} = await endpoint(t, (request, response) => {
		request.resume().on('end', () => {
			seen.push(`${request.method} ${request.url}`);
			response.end('ok');
		});
	});
	await world.serve('web', port);
	const inner = 'GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n';
	for (const method of ['POST', 'GET'])
		await askRaw(
			world.port,
			`${method} /one HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive, content-length\r\nContent-Length: ${inner.length}\r\n\r\n${inner}GET /two HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`,
		);
	t.deepEqual(seen, ['POST /one', 'GET /two', 'GET /one', 'GET /two']);
	// Who sends without end before the first is answered is cut off.
	const {port: slow} = await endpoint(t, () => undefined);
	await world.serve('web', slow);
	t.is(await askRaw(world.port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n'.repeat(200)), '');
});

test('a WebSocket goes both ways until one side ends; an endpoint may refuse; h2c is not changed to', async t => {
	const world = await routerWorld(t);
	const {port, server} = await endpoint(t, (request, response) => void response.end(`plain ${request.headers.upgrade ?? 'none'}`));
	server.on('upgrade', (request, socket, head: Buffer) => {
		if (request.url === '/no') return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
		socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\nX-Its: 1\r\n\r\nhi `);
		socket.write(head);
		socket.pipe(socket);
	});
	await world.serve('web', port);
	const asking = (path: string, protocol: string): string =>
		`GET ${path} HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;
	const echoed = await askRaw(world.port, `${asking('/', 'websocket')}early bird`, /early bird$/);
	t.regex(echoed, /^HTTP\/1\.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Its: 1\r\n\r\nhi early bird$/);
	t.regex(await askRaw(world.port, asking('/no', 'websocket')), /^HTTP\/1\.1 403 Forbidden\r\n[^]*no$/);
	t.regex(await askRaw(world.port, asking('/', 'h2c')), /^HTTP\/1\.1 200 OK\r\n[^]*plain none/);
	const socket = connect(world.port, '127.0.0.1');
	socket.write(asking('/', 'websocket'));
	await once(socket, 'data');
	socket.end();
	await once(socket.resume(), 'close');
	const lines = await logged(t, world.accessLog, 4);
	t.is(lines.filter(line => line.includes('" 101 ')).length, 2);
});

test('a GET goes to another endpoint when the first cannot be reached, or ends before it answers; a POST only when nothing was sent', async t => {
	const world = await routerWorld(t);
	const {port: good} = await endpoint(t, (request, response) => {
		request.resume().on('end', () => void response.end('good'));
	});
	const gone = await freePort(t);
	await world.serve('web', gone, good);
	for (let i = 0; i < 4; i++) {
		t.is((await ask(world.port)).body, 'good');
		t.is((await ask(world.port, {method: 'POST', body: 'x'})).body, 'good');
	}
	let cut = 0;
	const cutting = await listen(
		t,
		createNetServer(socket => {
			socket
				.on('error', () => undefined)
				.once('data', () => {
					cut += 1;
					socket.destroy();
				});
		}),
	);
	await world.serve('web', cutting, good);
	const gets = await Promise.all(Array.from({length: 8}, async () => (await ask(world.port)).status));
	t.deepEqual(new Set(gets), new Set([200]));
	t.true(cut > 0);
	const posts: number[] = [];
	for (let i = 0; i < 4; i++) posts.push((await ask(world.port, {method: 'POST', body: 'x'})).status);
	t.deepEqual(posts.sort(), [200, 200, 502, 502]);
});

async function freePort(t: ExecutionContext): Promise<number> {
	const server = createNetServer();
	const port = await listen(t, server);
	await new Promise(resolve => server.close(resolve));
	return port;
}

test('all that an endpoint may answer wrongly is a 502, or an end that the client sees', async t => {
	const world = await routerWorld(t);
	const answers: readonly [string, RegExp][] = [
		['what is this?\r\n\r\n', /^HTTP\/1\.1 502 /],
		['HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', /^HTTP\/1\.1 502 /],
		['HTTP/1.1 099 Odd\r\n\r\n', /^HTTP\/1\.1 502 /],
		['HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n', /^HTTP\/1\.1 502 /],
		['HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf', /^HTTP\/1\.1 200 OK\r\n[^]*half$/],
		['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n', /half\r\n$/],
		[`HTTP/1.1 200 OK\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`, /^HTTP\/1\.1 502 /],
	];
	for (const [answer, wanted] of answers) {
		const port = await listen(
			t,
			createNetServer(socket => {
				socket.on('error', () => undefined).once('data', () => void socket.end(answer));
			}),
		);
		await world.serve('web', port);
		t.regex(await askRaw(world.port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n'), wanted, answer.slice(0, 60));
	}
});

test('a kept connection that the endpoint has closed costs no GET', async t => {
	const world = await routerWorld(t);
	const server = createNetServer(socket => {
		// It ends each connection with its first answer, and does not say so.
		socket
			.on('error', () => undefined)
			.once('data', () => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', () => socket.destroySoon()));
	});
	await world.serve('web', await listen(t, server));
	for (let i = 0; i < 200; i++) t.is((await ask(world.port)).status, 200);
});

test('a kept connection is waited on as long as a new one, whatever time its endpoint keeps it', async t => {
	const world = await routerWorld(t);
	let asked = 0;
	const {port, server} = await endpoint(t, (_request, response) => {
		asked += 1;
		const answer = (): void => void response.setHeader('Keep-Alive', 'timeout=2').end('late');
		if (asked === 1) answer();
		else setTimeout(answer, 2_300);
	});
	let opened = 0;
	server.on('connection', () => (opened += 1));
	await world.serve('web', port);
	t.is((await ask(world.port)).body, 'late');
	t.is((await ask(world.port)).body, 'late');
	t.deepEqual([asked, opened], [2, 1]);
});

test('connections are kept for the next request, and closed when their endpoint goes', async t => {
	const world = await routerWorld(t);
	const {port, server} = await endpoint(t, answering('one'));
	let opened = 0;
	let closed = 0;
	server.keepAliveTimeout = 60_000;
	const ended = new Promise<void>(resolve => {
		server.on('connection', socket => {
			opened += 1;
			socket.on('close', () => {
				closed += 1;
				resolve();
			});
		});
	});
	await world.serve('web', port);
	for (let i = 0; i < 10; i++) t.is((await ask(world.port)).body, 'one');
	t.is(opened, 1);
	t.is(closed, 0);
	await world.serve('web');
	await ended;
	t.is((await ask(world.port)).status, 503);
});

const gigabyte = 1_073_741_824;

test.serial('a body of 1 GiB goes through either way, in little memory', async t => {
	const world = await routerWorld(t);
	const block = Buffer.alloc(1_048_576, 'x');
	const {port} = await endpoint(t, (request, response) => {
		if (request.method === 'POST') {
			let bytes = 0;
			request.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => void response.end(String(bytes)));
			return;
		}
		let left = gigabyte;
		const more = (): void => {
			while (left > 0) {
				left -= block.length;
				if (!response.write(block)) return void response.once('drain', more);
			}
			response.end();
		};
		more();
	});
	await world.serve('web', port);
	let most = 0;
	const before = process.memoryUsage().rss;
	const down = await new Promise<number>((resolve, reject) => {
		httpRequest({host: '127.0.0.1', port: world.port, headers: {Host: 'a.test'}, agent: false}, response => {
			let bytes = 0;
			response.on('data', (chunk: Buffer) => {
				bytes += chunk.length;
				if (bytes % 16_777_216 < chunk.length) most = Math.max(most, process.memoryUsage().rss);
			});
			response.on('end', () => resolve(bytes)).on('error', reject);
		}).end();
	});
	t.is(down, gigabyte);
	const up = await new Promise<string>((resolve, reject) => {
		const request = httpRequest(
			{host: '127.0.0.1', port: world.port, method: 'POST', headers: {Host: 'a.test'}, agent: false},
			response => {
				response.on('data', (chunk: Buffer) => resolve(chunk.toString()));
			},
		);
		request.on('error', reject);
		let left = gigabyte;
		const more = (): void => {
			while (left > 0) {
				left -= block.length;
				if (left % 16_777_216 === 0) most = Math.max(most, process.memoryUsage().rss);
				if (!request.write(block)) return void request.once('drain', more);
			}
			request.end();
		};
		more();
	});
	t.is(up, String(gigabyte));
	t.true(most - before < 150_000_000, `it grew by ${most - before} bytes`);
});

test('thousands of requests over changes of weights, services, hosts and endpoints: none is lost, and all shares are as they were asked for', async t => {
	const world = await routerWorld(t);
	const ports = await Promise.all(
		['a', 'b', 'b', 'a'].map(async words => (await endpoint(t, (_request, response) => void setImmediate(() => response.end(words)))).port),
	);
	const [a1 = 0, b1 = 0, b2 = 0, a2 = 0] = ports;
	await world.serve('a', a1, a2);
	await world.serve('b', b1, b2);
	const split = (weight: number) =>
		dnsObject('site-a.test', {
			host: 'a.test',
			paths: [
				{
					subPath: '/',
					backends: [
						{svcName: 'a', weight: 100 - weight},
						{svcName: 'b', weight, match: {header: {name: 'x-canary', regex: 'b+'}}},
					],
				},
			],
		});
	await world.put(split(50));
	const agent = new Agent({keepAlive: true, maxSockets: 16});
	t.teardown(() => agent.destroy());
	const get = async (headers: Record<string, string> = {}): Promise<string> =>
		await new Promise((resolve, reject) => {
			httpRequest({host: '127.0.0.1', port: world.port, headers: {Host: 'a.test', ...headers}, agent}, response => {
				let words = '';
				response.on('data', (chunk: Buffer) => (words += chunk.toString())).on('end', () => resolve(`${response.statusCode} ${words}`));
			})
				.on('error', reject)
				.end();
		});
	const many = async (count: number): Promise<Record<string, number>> => {
		const seen: Record<string, number> = {};
		for (const answer of await Promise.all(Array.from({length: count}, async () => await get()))) seen[answer] = (seen[answer] ?? 0) + 1;
		return seen;
	};
	const half = await many(1_000);
	t.deepEqual(Object.keys(half).sort(), ['200 a', '200 b']);
	t.true(Math.abs((half['200 b'] ?? 0) - 500) < 80, JSON.stringify(half));
	t.is(await get({'X-Canary': 'bbb'}), '200 b');
	const under = many(4_000);
	for (let i = 0; i <= 40; i++) {
		await world.put(split(i));
		await (i % 2 === 0 ? world.serve('b', b1) : world.serve('b', b1, b2));
		if (i % 5 === 0)
			await world.put(ingressObject('other', {rules: [{host: `h${i}.test`}], defaultBackend: {service: {name: 'a', port: {number: 80}}}}));
		await soon(5);
	}
	t.deepEqual(Object.keys(await under).sort(), ['200 a', '200 b']);
	await world.put(split(0));
	t.deepEqual(await many(200), {'200 a': 200});
});

test('it listens once there is a route', async t => {
	const world = await routerWorld(t, []);
	t.is(world.router.place(), undefined);
	await world.put(siteOf('web'));
	t.not(world.router.place(), undefined);
});
