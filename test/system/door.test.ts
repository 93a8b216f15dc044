// The doors of MQTT's own: whoever comes in counts from its first packet on, and has its time to shake hands.

import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import tls from 'node:tls';
import test, {type ExecutionContext} from 'ava';
import {ensureCertificates} from '../../server/certificates.js';
import {openDoor, type Door, type DoorBounds, type TlsPair} from '../../system/broker/door.js';
import {systemClock} from '../../system/clock.js';
import {vaults} from '../server/support.js';

const make = () => ensureCertificates(vaults(), {names: [], nowMs: systemClock.nowMs()});
const certificates = Promise.all([make(), make()]);

async function open(t: ExecutionContext, bounds: DoorBounds, pair?: TlsPair): Promise<{door: Door; sockets: Socket[]}> {
	const sockets: Socket[] = [];
	const door = await openDoor(
		{host: '127.0.0.1', port: 0, tls: pair, bounds},
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
	test(`${way}: connections beyond the bound are closed, those that have not shaken hands are counted`, async t => {
		const [pair] = await certificates;
		const {door} = await open(t, {connections: 2, handshakeMs: 60_000}, way === 'TLS' ? pair : undefined);
		const kept = [await dial(t, door), await dial(t, door)];
		await once(await dial(t, door), 'close');
		t.deepEqual(
			kept.map(({closed}) => closed),
			[false, false],
		);
	});

test('whoever does not shake hands in time is cut', async t => {
	const [pair] = await certificates;
	const {door, sockets} = await open(t, {connections: 2, handshakeMs: 50}, pair);
	await once(await dial(t, door), 'close');
	t.deepEqual(sockets, []);
});

test('another certificate is shown from the next handshake on', async t => {
	const [before, after] = await certificates;
	const {door} = await open(t, {connections: 9, handshakeMs: 5_000}, before);
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
