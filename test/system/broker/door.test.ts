// The doors of MQTT's own: whoever comes in counts from its first packet on, and has its time to shake hands.

import {once} from 'node:events';
import {connect, createServer, type AddressInfo, type Socket} from 'node:net';
import tls from 'node:tls';
import test, {type ExecutionContext} from 'ava';
import {ensureCertificates} from '../../../server/certificates.js';
import {openDoor, type Door, type TlsPair} from '../../../system/broker/door.js';
import {systemClock} from '../../../system/time/clock.js';
import {createNewcomers, type NewcomerBounds} from '../../../system/broker/newcomers.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {vaults} from '../../server/support.js';

const make = () => ensureCertificates(vaults(), {names: [], nowMs: systemClock.nowMs()});
const certificates = Promise.all([make(), make()]);

async function open(t: ExecutionContext, bounds: NewcomerBounds, pair?: TlsPair): Promise<{door: Door; sockets: Socket[]}> {
	const sockets: Socket[] = [];
	const door = await openDoor(
		{host: '127.0.0.1', port: 0, tls: pair, newcomers: createNewcomers({clock: systemClock, bounds})},
		socket => sockets.push(socket),
		error => t.fail(error.message),
	);
	t.teardown(() => {
		for (const socket of sockets) socket.destroy();
		return door.close();
	});
	return {door, sockets};
}

/** Says nothing. */
async function dial(t: ExecutionContext, {port}: Door): Promise<Socket> {
	const socket = connect(port, '127.0.0.1')
		.on('error', () => undefined)
		.resume();
	t.teardown(() => socket.destroy());
	await once(socket, 'connect');
	return socket;
}

for (const way of ['plain', 'TLS'] as const)
	test(`${way}: of those that have not logged in, the oldest makes room; those that have stay`, async t => {
		const [pair] = await certificates;
		const logins: (() => void)[] = [];
		const newcomers = createNewcomers({clock: systemClock, bounds: {connections: 2, loginMs: 60_000}});
		const tlsPair = way === 'TLS' ? pair : undefined;
		const taken = (socket: Socket, _about: string, onLogin: () => void): void => {
			t.teardown(() => socket.destroy());
			logins.push(onLogin);
		};
		const door = await openDoor({host: '127.0.0.1', port: 0, tls: tlsPair, newcomers}, taken, error => t.fail(error.message));
		t.teardown(() => door.close());
		const known =
			way === 'TLS' ? tls.connect({port: door.port, host: '127.0.0.1', ca: pair.ca, ALPNProtocols: ['mqtt']}) : await dial(t, door);
		t.teardown(() => known.destroy());
		await eventually('the connection is taken', () => logins.length === 1);
		logins[0]?.();
		const [oldest, older, old] = [await dial(t, door), await dial(t, door), await dial(t, door)];
		if (!oldest.closed) await once(oldest, 'close');
		t.deepEqual([known.closed, older.closed, old.closed], [false, false, false]);
	});

test('whoever does not shake hands in time is cut, also in the middle of its hello', async t => {
	const [pair] = await certificates;
	const {door, sockets} = await open(t, {connections: 2, loginMs: 50}, pair);
	await once(await dial(t, door), 'close');
	const slow = await dial(t, door);
	// Where it was cut before this arrives, the kernel answers that it is too late.
	const cut = new Promise(resolve => slow.once('close', resolve));
	slow.write(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252]));
	await cut;
	t.deepEqual(sockets, []);
});

test('a hello in pieces of one byte, in records of their own, is answered', async t => {
	const [pair] = await certificates;
	const {door} = await open(t, {connections: 9, loginMs: 10_000}, pair);
	const hello = await helloOf();
	const socket = await dial(t, door);
	socket.setNoDelay(true);
	const answered = once(socket, 'data');
	for (const byte of hello.subarray(5)) socket.write(Buffer.from([22, 3, 1, 0, 1, byte]));
	const [answer] = (await answered) as [Buffer];
	t.is(answer[0], 22);
});

/** What a client says first: one record. */
async function helloOf(): Promise<Buffer> {
	const server = createServer();
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const client = tls.connect({port: (server.address() as AddressInfo).port, host: '127.0.0.1', rejectUnauthorized: false});
	client.on('error', () => undefined);
	const [socket] = (await once(server, 'connection')) as [Socket];
	const [hello] = (await once(socket, 'data')) as [Buffer];
	client.destroy();
	socket.destroy();
	server.close();
	return hello;
}

test('another certificate is shown from the next handshake on', async t => {
	const [before, after] = await certificates;
	const {door} = await open(t, {connections: 9, loginMs: 5_000}, before);
	const shakes = async (ca: string): Promise<Socket> => {
		const socket = tls.connect({port: door.port, host: '127.0.0.1', ca, ALPNProtocols: ['mqtt']});
		t.teardown(() => socket.destroy());
		await once(socket, 'secureConnect');
		return socket;
	};
	const early = await shakes(before.ca);
	door.useCertificate(after);
	await shakes(after.ca);
	await t.throwsAsync(shakes(before.ca));
	t.false(early.destroyed);
});
