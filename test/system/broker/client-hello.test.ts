import type {Socket} from 'node:net';
import {Duplex} from 'node:stream';
import {setImmediate as nextTurn} from 'node:timers/promises';
import test from 'ava';
import {limits} from '../../../api/limits.js';
import {whenHello} from '../../../system/broker/client-hello.js';

/** A connection, what comes on it, and what was made of that. */
function aConnection() {
	const told: string[] = [];
	const socket = new Duplex({read: () => undefined});
	whenHello(
		socket as unknown as Socket,
		() => told.push('hello'),
		bytes => told.push(`other ${bytes.toString('latin1')}`),
	);
	const sends = async (...bytes: readonly number[]): Promise<void> => {
		socket.push(Buffer.from(bytes));
		await nextTurn();
	};
	return {socket, told, sends};
}

test('a hello is told when all of it is there, and all of it is read again', async t => {
	const {socket, told, sends} = aConnection();
	for (const byte of [22, 3, 1, 0, 6, 1, 0, 0, 2, 7]) await sends(byte);
	t.deepEqual(told, []);
	await sends(7);
	t.deepEqual(told, ['hello']);
	t.deepEqual([...(socket.read() as Buffer)], [22, 3, 1, 0, 6, 1, 0, 0, 2, 7, 7]);
});

test('what is no TLS is told with what came', async t => {
	const {told, sends} = aConnection();
	await sends(...Buffer.from('GET'));
	t.deepEqual(told, ['other GET']);
});

test('a hello that does not end is cut off at its bound, not before', async t => {
	const {socket, told, sends} = aConnection();
	// A message of 16 MB, in records that are as long as they may be.
	const record = [22, 3, 1, 0x40, 0, ...Array.from({length: 16_384}, () => 0xff)];
	await sends(...record);
	t.false(socket.destroyed);
	for (let bytes = record.length; bytes <= limits.helloBytes; bytes += record.length) await sends(...record);
	t.true(socket.destroyed);
	t.deepEqual(told, []);
});
