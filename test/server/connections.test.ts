import {once} from 'node:events';
import http, {IncomingMessage, ServerResponse} from 'node:http';
import {connect, Socket, type AddressInfo} from 'node:net';
import tls from 'node:tls';
import test, {type ExecutionContext} from 'ava';
import {createGateway} from '../../server/gateway.js';
import {write} from '../../server/http/stream.js';
import {boundConnections, connectionBounds, listenOn, type ConnectionBounds} from '../../server/listener.js';
import {ensureCertificates} from '../../server/certificates.js';
import {limits} from '../../api/limits.js';
import {createRunning} from '../../server/running.js';
import {systemClock} from '../../system/time/clock.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {createNewcomers} from '../../system/broker/newcomers.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {aPod, collectionPath, testCluster} from './cluster.js';
import {openDoor, type Door} from './door.js';
import {ask, vaults} from './support.js';

const pods = collectionPath('pods', 'default');

async function raw(port: number, text: string): Promise<Socket> {
	const socket = connect(port, '127.0.0.1');
	socket.on('error', () => undefined);
	await once(socket, 'connect');
	socket.write(text);
	return socket;
}

async function textOf(socket: Socket): Promise<string> {
	let text = '';
	socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
	await new Promise<void>(resolve => socket.once('close', resolve));
	return text;
}

/** Served as ever; a door with short bounds may cut also those that are only slow, on a machine that is busy. */
async function stillServes(t: ExecutionContext, {call}: Door): Promise<void> {
	for (let status: number | undefined; status !== 200;) {
		status = (await call('GET', pods).catch(() => undefined))?.status;
		t.true([undefined, 408, 200].includes(status), String(status));
	}
}

test('a client that goes in the middle of its body leaves the door as it was', async t => {
	const {port, authorization, json, bugs, cluster} = await openDoor(t);
	const head = `POST ${pods} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`;
	for (const text of [`${head}Content-Length: 1000\r\n\r\n{"kind":`, `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"kin`]) {
		const socket = await raw(port, text);
		await json(200, 'GET', pods);
		socket.destroy();
	}
	await json(201, 'POST', pods, aPod('web'));
	t.is(cluster.asked.length, 1);
	t.deepEqual(bugs, []);
});

test('what is no HTTP is answered with a 400 and the end', async t => {
	const {port, json, bugs} = await openDoor(t);
	for (const text of ['\0\x01\x02rubbish\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', `GET / HTTP/1.1\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`])
		t.regex(await textOf(await raw(port, text)), /^HTTP\/1\.1 4\d\d |^$/);
	await json(200, 'GET', pods);
	t.deepEqual(bugs, []);
});

test('an absolute or odd target and odd methods are refused calmly', async t => {
	const {port, authorization, bugs} = await openDoor(t);
	const rest = `HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${authorization}\r\n\r\n`;
	for (const [line, status] of [
		['GET *', 404],
		['OPTIONS *', 404],
		['GET //api', 404],
		['GET /api/v1/%', 404],
		['GET /?%zz=1', 404],
		['GET http://evil.example/api', 200],
		['TRACE /api', 405],
		['HEAD /api', 405],
	] as const)
		t.regex(await textOf(await raw(port, `${line} ${rest}`)), new RegExp(`^HTTP/1\\.1 ${status} `), line);
	t.regex(await textOf(await raw(port, `CONNECT x:1 ${rest}`)), /^$|^HTTP\/1\.1 4/);
	t.deepEqual(bugs, []);
});

test('rubbish behind a good request ends its own connection, after the answer', async t => {
	const {port, authorization, json, bugs} = await openDoor(t);
	const good = `GET /api HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`;
	const text = await textOf(await raw(port, `${good}\x16\x03\x01rubbish\r\n\r\n`));
	t.regex(text, /^HTTP\/1\.1 200 OK\r\n[^]*"APIVersions"/);
	t.is(text.match(/HTTP\/1\.1 200/g)?.length, 1);
	await json(200, 'GET', pods);
	t.deepEqual(bugs, []);
});

test('a body in pieces that never ends is refused at its bound, and its connection ends', async t => {
	const {port, authorization, json, bugs, cluster} = await openDoor(t);
	const head = `POST ${pods} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`;
	const socket = await raw(port, `${head}Transfer-Encoding: chunked\r\n\r\n`);
	const piece = Buffer.from(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
	let isOver = false;
	const answer = textOf(socket).finally(() => (isOver = true));
	while (!isOver) {
		if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), answer]);
		await new Promise(setImmediate);
	}
	t.regex(await answer, /^HTTP\/1\.1 413 [^]*larger than \d+ bytes|^$/);
	t.true(socket.bytesWritten < 2 * limits.discardedBodyBytes);
	await json(200, 'GET', pods);
	t.is(cluster.asked.length, 0);
	t.deepEqual(bugs, []);
});

const shortBounds = {...connectionBounds, headersMs: 200, requestMs: 400, checkMs: 50};

test('a silent connection, headers that trickle and a body that never ends are cut off in time', async t => {
	const door = await openDoor(t, testCluster(), shortBounds);
	const {port, authorization, bugs} = door;
	const head = `POST ${pods} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n`;
	for (const text of ['', head, `${head}Content-Length: 1000\r\n\r\n{"kind":`])
		t.regex(await textOf(await raw(port, text)), /^HTTP\/1\.1 408 |^$/);
	await stillServes(t, door);
	t.deepEqual(bugs, []);
});

/** Requests on one connection, one after the other; undefined: it was closed. */
async function keptClient(port: number): Promise<{status: (path: string) => Promise<number | undefined>; socket: Socket}> {
	const socket = await raw(port, '');
	return {
		socket,
		async status(path) {
			socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n\r\n`);
			const [data] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [Buffer | boolean];
			return data instanceof Buffer ? Number(data.toString().split(' ')[1]) : undefined;
		},
	};
}

test('those that have not logged in make room for each other, and take nothing from those that have', async t => {
	const newcomers = createNewcomers({clock: systemClock, bounds: {connections: 2, loginMs: 60_000}});
	const {port, json} = await openDoor(t, testCluster(), undefined, newcomers);
	const known = await keptClient(port);
	t.is(await known.status(pods), 200);
	const idle = [await raw(port, ''), await raw(port, 'GET /api HTTP/1.1\r\n'), await raw(port, '')];
	t.teardown(() => idle.forEach(socket => socket.destroy()));
	await textOf(idle[0] ?? known.socket);
	t.is(await known.status(pods), 200);
	await json(200, 'GET', pods);
	known.socket.destroy();
});

test('an answer to somebody who has not logged in is the last one of its connection', async t => {
	const {port} = await openDoor(t);
	for (const path of ['/healthz', '/api'])
		t.regex(await textOf(await raw(port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)), /^HTTP\/1\.1 (200|401) [^]*connection: close/i);
});

test('of a login with too many connections the longest idle one ends; where all are busy a further one is told to come again', async t => {
	const {port, url, authorization} = await openDoor(t, testCluster(), {...connectionBounds, connections: 3, perLogin: 2});
	const [first, second] = [await keptClient(port), await keptClient(port)];
	for (const each of [first, second, first]) t.is(await each.status(pods), 200);
	const third = await keptClient(port);
	t.is(await third.status(`${pods}?watch=true`), 200);
	await textOf(second.socket);
	t.is(await first.status(`${pods}?watch=true`), 200);
	const refused = await ask(`${url}${pods}`, {headers: {authorization}});
	t.deepEqual([refused.status, refused.headers['retry-after']], [429, '1']);
	t.regex(refused.text, /root.* has too many connections/);
	t.is((await ask(`${url}${pods}`, {headers: {authorization: 'Bearer viewer'}})).status, 200);
	first.socket.destroy();
	third.socket.destroy();
});

test('requests that are sent ahead are answered one after the other, and too many of them end the connection', async t => {
	let [under, most] = [0, 0];
	const answers: (() => void)[] = [];
	const server = http.createServer();
	const listener = (_request: IncomingMessage, response: ServerResponse): void => {
		under += 1;
		most = Math.max(most, under);
		answers.push(() => {
			under -= 1;
			response.end('ok');
		});
	};
	// Nobody is late here: what is cut was cut for what it has sent.
	const newcomers = createNewcomers({clock: new ManualClock()});
	boundConnections(server, {bounds: connectionBounds, newcomers, upgraded: new Set(), listener});
	await listenOn(server, '127.0.0.1', 0);
	t.teardown(() => server.close());
	const {port} = server.address() as AddressInfo;
	const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
	const patient = await raw(port, request.repeat(3));
	for (let answered = 0; answered < 3; answered += 1) {
		await eventually('a request is under way', () => answers.length > answered);
		answers[answered]?.();
		await once(patient, 'data');
	}
	t.is(most, 1);
	patient.destroy();
	const greedy = await raw(port, request.repeat(limits.httpRequestsAhead + 2));
	await textOf(greedy);
	await eventually('only one was begun', () => answers.length === 4);
	t.is(most, 1);
});

test('a header that is too large is answered with 431, also where it is sent to its end', async t => {
	const {port, json, bugs} = await openDoor(t);
	for (const size of [20_000, 1_000_000])
		t.regex(await textOf(await raw(port, `GET /api HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(size)}\r\n\r\n`)), /^HTTP\/1\.1 431 /);
	await json(200, 'GET', pods);
	t.deepEqual(bugs, []);
});

test('nobody acts as somebody else: a request that says so is refused, not carried out as the login', async t => {
	const {url, authorization, cluster} = await openDoor(t);
	for (const name of ['Impersonate-User', 'Impersonate-Group', 'impersonate-uid', 'Impersonate-Extra-scopes']) {
		const answer = await ask(`${url}${pods}`, {headers: {authorization, [name]: 'eve'}});
		t.is(answer.status, 403, name);
		t.regex(answer.text, /"reason":"Forbidden"/);
		t.regex(answer.text, /Impersonate headers/);
	}
	t.is((await ask(`${url}${pods}`, {headers: {'impersonate-user': 'eve'}})).status, 401);
	t.deepEqual(cluster.asked, []);
});

/** All of the answer, chunk by chunk with a turn of the loop between; how much it was. */
async function readSlowly(port: number): Promise<number> {
	const slow = await new Promise<IncomingMessage>((resolve, reject) =>
		http.get({port, path: '/slow', agent: false}, resolve).once('error', reject),
	);
	let read = 0;
	for await (const chunk of slow as AsyncIterable<Buffer>) {
		read += chunk.length;
		await new Promise(resolve => setImmediate(resolve));
	}
	return read;
}

test('a reader that takes nothing is cut off; one that is slow, and an answer with nothing to say, are not', async t => {
	const size = 30_000_000;
	let quiet: ServerResponse | undefined;
	let stuckClosed: Promise<void> | undefined;
	const server = http.createServer();
	const listener = (request: IncomingMessage, response: ServerResponse): void => {
		if (request.url === '/quiet') {
			quiet = response;
			return void response.flushHeaders();
		}
		if (request.url === '/stuck') stuckClosed = new Promise(resolve => response.once('close', resolve));
		void (async () => {
			for (let sent = 0; sent < size && (await write(response, Buffer.alloc(100_000)));) sent += 100_000;
			response.end();
		})();
	};
	const bounds = {...connectionBounds, stallMs: 500};
	const newcomers = createNewcomers({clock: systemClock, bounds: {connections: 9, loginMs: 300_000}});
	boundConnections(server, {bounds, newcomers, upgraded: new Set(), listener});
	await listenOn(server, '127.0.0.1', 0);
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	const {port} = server.address() as AddressInfo;

	const listening = await raw(port, 'GET /quiet HTTP/1.1\r\nHost: x\r\n\r\n');
	await once(listening, 'data');
	const stuck = await raw(port, 'GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n');
	stuck.pause();
	// A machine so busy that nobody moves for as long as the bound lets a slow reader look like a stuck one.
	let read = 0;
	for (let attempt = 1; read < size && attempt <= 5; attempt++) read = await readSlowly(port).catch(() => 0);
	t.is(read, size);

	await stuckClosed;
	stuck.destroy();
	t.false(quiet?.destroyed);
	quiet?.end('something to say');
	const [data] = (await once(listening, 'data')) as [Buffer];
	t.regex(data.toString(), /something to say/);
	listening.destroy();
});

test('over TLS a known client is served, and one that says nothing, or never all of it, is cut off', async t => {
	const {ca, cert, key} = await ensureCertificates(vaults(), {names: [], nowMs: systemClock.nowMs()});
	const {control, inspection} = testCluster();
	const open = async (bounds: ConnectionBounds): Promise<number> => {
		const gateway = createGateway({
			upstream: () => ({
				type: 'serving',
				control,
				inspection,
				authenticate: token => (token === 'x' ? {name: 'root', role: 'admin'} : undefined),
				access: undefined,
			}),
			tls: {ca, cert, key},
			version: '0.1.0',
			clock: systemClock,
			bounds,
		});
		t.teardown(() => gateway.close());
		return (await gateway.listen('127.0.0.1', 0)).port;
	};
	const port = await open(connectionBounds);
	const url = `https://localhost:${port}`;
	t.is((await ask(`${url}/healthz`, {ca})).text, 'ok');
	t.is((await ask(`${url}/api`, {ca, headers: {authorization: 'Bearer x'}})).status, 200);
	t.is((await ask(`${url}/api`, {ca})).status, 401);
	const old = tls.connect({port, host: '127.0.0.1', ca, maxVersion: 'TLSv1.1', minVersion: 'TLSv1'});
	await t.throwsAsync(once(old, 'secureConnect'));
	const hasty = await open(shortBounds);
	const silent = await raw(hasty, '');
	t.is(await textOf(silent), '');
	const trickling = tls.connect({port: hasty, host: '127.0.0.1', ca});
	await once(trickling, 'secureConnect');
	trickling.write('GET /api HTTP/1.1\r\nHost: x\r\nX-Slow: ');
	t.regex(await textOf(trickling), /^HTTP\/1\.1 408 |^$/);
});

test('as long as there is no certificate handshakes wait instead of failing; a stranger may go meanwhile', async t => {
	const {ca, cert, key} = await ensureCertificates(vaults(), {names: [], nowMs: systemClock.nowMs()});
	const mqtt: tls.TLSSocket[] = [];
	const gateway = createGateway({
		upstream: () => ({type: 'standby', leader: undefined}),
		tls: 'later',
		onMqtt: socket => void mqtt.push(socket),
		version: '0.1.0',
		clock: systemClock,
	});
	t.teardown(() => gateway.close());
	const {port} = await gateway.listen('127.0.0.1', 0);
	const gone = tls.connect({port, host: '127.0.0.1', ca});
	gone.on('error', () => undefined);
	await once(gone, 'connect');
	gone.destroy();
	let isAnswered = false;
	const asked = ask(`https://localhost:${port}/api`, {ca}).finally(() => (isAnswered = true));
	const client = tls.connect({port, host: '127.0.0.1', ca, ALPNProtocols: ['mqtt']});
	client.on('error', () => undefined);
	t.teardown(() => client.destroy());
	await once(client, 'connect');
	// A server that answers at once would have: another connection goes all the way there and back.
	await textOf(await raw(port, 'GET / HTTP/1.1\r\n\r\n'));
	t.false(isAnswered);
	const shaken = once(client, 'secureConnect');
	gateway.useCertificate({ca, cert, key});
	await shaken;
	await eventually('MQTT is handed on', () => mqtt.length === 1);
	const {status, headers} = await asked;
	t.deepEqual([status, headers['retry-after']], [503, '1']);
});

test('what runs is waited for, within a bound; where nothing runs nobody waits', async t => {
	const clock = new ManualClock();
	const running = createRunning();
	await running.settled(clock);
	const [first, second] = [new ServerResponse(new IncomingMessage(new Socket())), new ServerResponse(new IncomingMessage(new Socket()))];
	for (const each of [first, second]) running.add(each);
	let count = 0;
	const both = running.settled(clock).then(() => (count += 1));
	first.emit('close');
	t.is(count, 0);
	second.emit('close');
	await both;
	t.is(clock.nextAtMs(), undefined);
	running.add(second);
	const late = running.settled(clock);
	clock.advance(limits.httpCloseMs);
	await late;
	t.is(clock.nextAtMs(), undefined);
});

test('a door that settles ends what goes on', async t => {
	const {gateway, port} = await openDoor(t);
	const head = `GET ${pods}?watch=true HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer admin\r\n\r\n`;
	const watching = await raw(port, head);
	await once(watching, 'data');
	await gateway.settle();
	await textOf(watching);
	t.true(watching.destroyed);
});

const upgradeOf = (path: string, more = ''): string =>
	`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nConnection: Upgrade\r\nUpgrade: x\r\n${more}\r\n`;

test('an upgrade that nobody speaks is answered like any request, and the connection ends', async t => {
	const {port, url, authorization} = await openDoor(t);
	t.regex(await textOf(await raw(port, upgradeOf('/api'))), /^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n[^]*"APIVersions"/i);
	t.regex(await textOf(await raw(port, upgradeOf('/nowhere'))), /^HTTP\/1\.1 404 /);
	const withBody = upgradeOf('/api', 'Content-Length: 5\r\n').replace('GET', 'POST') + 'hello';
	t.regex(await textOf(await raw(port, withBody)), /^HTTP\/1\.1 400 [^]*cannot carry a body/);
	t.is((await ask(`${url}/api`, {headers: {authorization}})).status, 200);
});

test('a door that closes ends an upgrade that is being answered', async t => {
	const {port, gateway} = await openDoor(t);
	const socket = await raw(port, upgradeOf('/api/v1/pods?watch=true'));
	await once(socket, 'data');
	const closed = once(socket, 'close');
	await gateway.close();
	await closed;
	t.true(socket.destroyed);
});
