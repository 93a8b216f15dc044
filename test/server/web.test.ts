import type {Duplex} from 'node:stream';
import {connect} from 'node:net';
import {once} from 'node:events';
import test, {type ExecutionContext} from 'ava';
import {WebSocket} from 'ws';
import {systemClock} from '../../system/time/clock.js';
import {createNewcomers} from '../../system/broker/newcomers.js';
import {ensureCertificates} from '../../server/certificates.js';
import {createMqttSockets} from '../../server/mqtt-socket.js';
import {createWeb} from '../../server/web.js';
import {ask, vaults} from './support.js';

async function web(t: ExecutionContext, payloadBytes = 1000, tls?: {cert: string; key: string}, connections = 100) {
	const newcomers = createNewcomers({clock: systemClock, bounds: {connections, loginMs: 60_000}});
	const streams: Duplex[] = [];
	const sockets = createMqttSockets({onStream: stream => streams.push(stream), payloadBytes});
	const door = createWeb({
		about: () => ({version: '0.1.0', api: 'https://127.0.0.1:1<script>', mqtt: 'mqtt://127.0.0.1:2'}),
		onRequest: (_request, response) => void response.end(),
		onMqttUpgrade: sockets.upgrade,
		tls,
		serves: name => name === 'x',
		newcomers,
		clock: systemClock,
	});
	const {port} = await door.listen('127.0.0.1', 0);
	t.teardown(() => {
		sockets.close();
		return door.close();
	});
	return {port, url: `http://127.0.0.1:${port}`, mqtt: `ws://127.0.0.1:${port}/mqtt`, streams, door};
}

test('health and the page are there for everybody, anything else is not', async t => {
	const {url} = await web(t);
	t.is((await ask(`${url}/healthz`)).text, 'ok\n');
	const page = await ask(`${url}/?x=1`);
	t.is(page.status, 200);
	t.regex(page.text, /Troupe 0\.1\.0/);
	t.false(page.text.includes('<script>'));
	t.is((await ask(`${url}/healthz`, {method: 'POST', body: 'x'})).status, 405);
	t.is((await ask(`${url}/api/v1/pods`)).status, 404);
});

test('over TLS, whoever speaks plain http is told what the port speaks', async t => {
	const {ca, cert, key} = await ensureCertificates(vaults(), {names: [], nowMs: systemClock.nowMs()});
	const {url} = await web(t, 1000, {cert, key});
	const {status, text} = await ask(`${url}/healthz`);
	t.deepEqual([status, text], [400, 'this port speaks TLS: use https:// in the address\n']);
	t.is((await ask(`${url.replace('http:', 'https:')}/healthz`, {ca})).text, 'ok\n');
});

test('a web socket with subprotocol mqtt is a byte stream both ways', async t => {
	const {mqtt, streams} = await web(t);
	const client = new WebSocket(mqtt, ['mqtt']);
	await once(client, 'open');
	t.is(client.protocol, 'mqtt');
	const [stream] = streams;
	if (stream === undefined) return t.fail('no stream');
	client.send(Buffer.from([0x10, 0x02]));
	const [received] = (await once(stream, 'data')) as [Buffer];
	t.deepEqual([...received], [0x10, 0x02]);
	stream.write(Buffer.from([0x20, 0x03]));
	const [answered] = (await once(client, 'message')) as [Buffer];
	t.deepEqual([...answered], [0x20, 0x03]);
	client.terminate();
	await once(stream, 'close');
	t.true(stream.destroyed);
});

const refusal = async (socket: WebSocket): Promise<number | undefined> => {
	const [, response] = (await once(socket, 'unexpected-response')) as [unknown, {statusCode?: number}];
	socket.on('error', () => undefined);
	socket.terminate();
	return response.statusCode;
};

test('a page of another site, a missing subprotocol and another path are refused', async t => {
	const {mqtt, port, url, streams} = await web(t);
	t.is(await refusal(new WebSocket(mqtt, ['mqtt'], {origin: 'http://evil.example'})), 403);
	t.is(await refusal(new WebSocket(mqtt, ['mqtt'], {origin: 'null'})), 403);
	t.is(await refusal(new WebSocket(mqtt)), 400);
	t.is(await refusal(new WebSocket(mqtt, ['chat'])), 400);
	t.is(await refusal(new WebSocket(`ws://127.0.0.1:${port}/other`, ['mqtt'])), 404);
	t.is(streams.length, 0);
	const same = new WebSocket(mqtt, ['mqtt'], {origin: url});
	await once(same, 'open');
	same.terminate();
});

test('a message beyond the cap ends that connection and nothing else', async t => {
	const {mqtt, url, streams} = await web(t, 100);
	const client = new WebSocket(mqtt, ['mqtt']);
	await once(client, 'open');
	const [stream] = streams;
	if (stream === undefined) return t.fail('no stream');
	stream.resume();
	client.send(Buffer.alloc(101));
	const [code] = (await once(client, 'close')) as [number];
	t.is(code, 1009);
	if (!stream.destroyed) await once(stream, 'close');
	t.is((await ask(`${url}/healthz`)).status, 200);
});

test('rubbish behind an upgrade ends that connection and nothing else', async t => {
	const {port, url, streams} = await web(t);
	for (const rubbish of [
		Buffer.from([0xff, 0xff, 0xff, 0xff]),
		Buffer.from([0x82, 0x02, 0x10, 0x00]),
		Buffer.from('GET / HTTP/1.1\r\n\r\n'),
	]) {
		const socket = connect(port, '127.0.0.1');
		socket.on('error', () => undefined);
		const closed = once(socket, 'close');
		const key = 'dGhlIHNhbXBsZSBub25jZQ==';
		socket.write(
			`GET /mqtt HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n`,
		);
		const [answer] = (await once(socket, 'data')) as [Buffer];
		t.regex(answer.toString(), /^HTTP\/1\.1 101 /);
		streams.at(-1)?.resume();
		socket.resume();
		socket.write(rubbish);
		await closed;
		t.true(streams.at(-1)?.destroyed);
	}
	t.is((await ask(`${url}/healthz`)).status, 200);
});

test('closing the door cuts upgraded connections and frees the port', async t => {
	const {mqtt, door, port} = await web(t);
	const client = new WebSocket(mqtt, ['mqtt']);
	await once(client, 'open');
	const closed = once(client, 'close');
	await door.close();
	await closed;
	const socket = connect(port, '127.0.0.1');
	const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
	t.is(error.code, 'ECONNREFUSED');
});

test('a port that is taken is told by its number', async t => {
	const {port} = await web(t);
	const other = createWeb({
		about: () => ({version: '', api: '', mqtt: ''}),
		onRequest: (_request, response) => void response.end(),
		onMqttUpgrade: () => undefined,
		tls: undefined,
		serves: () => true,
		newcomers: createNewcomers({clock: systemClock}),
		clock: systemClock,
	});
	await t.throwsAsync(other.listen('127.0.0.1', port), {message: `cannot listen on 127.0.0.1:${port}: the port is in use`});
});

test('a page that has another name point here is not served, nor its web sockets; addresses and our own names are', async t => {
	const {url, port, streams, mqtt} = await web(t);
	for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example', 'localhost.evil.example', 'x:y:z']) {
		const {status, text} = await ask(`${url}/`, {headers: {host}});
		t.is(status, 421, host);
		t.false(text.includes('https://127.0.0.1:1'), host);
		t.is(await refusal(new WebSocket(mqtt, ['mqtt'], {headers: {host}, origin: `http://${host}`})), 421, host);
	}
	t.is(streams.length, 0);
	for (const host of ['localhost', `LOCALHOST:${port}`, 'localhost.', '127.0.0.1', `[::1]:${port}`, '192.0.2.1', 'x', 'X:80'])
		t.is((await ask(`${url}/`, {headers: {host}})).status, 200, host);
});

test('who only connects, and who only upgrades, makes room for the next; who has had an answer is gone', async t => {
	const {url, port, mqtt} = await web(t, 1000, undefined, 3);
	const idle = connect(port, '127.0.0.1').on('error', () => undefined);
	await once(idle, 'connect');
	const [first, second] = [new WebSocket(mqtt, ['mqtt']), new WebSocket(mqtt, ['mqtt'])];
	await Promise.all([once(first, 'open'), once(second, 'open')]);
	const gone = once(idle.resume(), 'close');
	const answer = await ask(`${url}/healthz`);
	await gone;
	t.is(answer.status, 200);
	t.is(answer.headers['connection'], 'close');
	t.deepEqual([first.readyState, second.readyState], [WebSocket.OPEN, WebSocket.OPEN]);
	for (const socket of [first, second]) socket.terminate();
});
