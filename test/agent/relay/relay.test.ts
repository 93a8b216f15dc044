// Connections that two nodes share by words alone: bytes arrive as they were sent, each direction ends by itself, and nothing of one that broke stays.

import {once} from 'node:events';
import {statSync} from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import type {Readable} from 'node:stream';
import test from 'ava';
import {limits} from '../../../api/limits.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {serve, twoNodes, type TwoNodes} from './_two-nodes.js';

const bytesOf = (count: number): Buffer => Buffer.from(Array.from({length: count}, (_, i) => (i * 31 + (i >> 8)) & 255));

const isLeft = ({near, far}: TwoNodes): boolean =>
	near.relay.open() + far.relay.open() + far.sessions.count() + far.sessions.connections() + far.sessions.relayed().size > 0;

/** All that comes until its end; the other direction stays. */
function all(socket: Readable): Promise<Buffer> {
	const parts: Buffer[] = [];
	return new Promise((resolve, reject) => {
		socket.on('data', (part: Buffer) => parts.push(part));
		socket.once('end', () => resolve(Buffer.concat(parts))).once('error', reject);
	});
}

/** However it ends. */
const closed = (socket: Readable): Promise<void> =>
	new Promise(resolve => void socket.on('error', () => undefined).once('close', () => resolve()));

test('bytes of both directions arrive as they were sent, and the end of one leaves the other', async t => {
	const world = twoNodes(t);
	const port = await serve(t, socket => {
		void all(socket).then(bytes => socket.end(Buffer.concat([Buffer.from('had '), bytes])));
	});
	const socket = await world.connect(port);
	const sent = bytesOf(3_000_000);
	socket.end(sent);
	t.true((await all(socket)).equals(Buffer.concat([Buffer.from('had '), sent])));
	await eventually('nothing is left', () => !isLeft(world));
});

test('a reader that takes nothing holds up the writer, and all is there when it reads', async t => {
	const world = twoNodes(t);
	let taken = 0;
	const sent = bytesOf(4_000_000);
	const port = await serve(t, socket => {
		socket.end(sent);
		socket.resume();
		taken = socket.writableLength;
	});
	const socket = await world.connect(port);
	const count = (): number => world.said.get('data') ?? 0;
	let before = -1;
	await eventually('nothing moves any more', () => {
		const same = before === count() && count() > 0;
		before = count();
		return same;
	});
	t.true(taken > 0);
	// What is on its way is bounded by the window; the rest is with the kernel and the pod.
	t.true(count() * limits.relayChunkBytes < sent.length, `${count()} messages`);
	socket.end();
	t.true((await all(socket)).equals(sent));
	await eventually('nothing is left', () => !isLeft(world));
});

test('a client that breaks off is a break for the pod, and a pod that breaks off one for the client', async t => {
	const world = twoNodes(t);
	const ends: (string | undefined)[] = [];
	const port = await serve(t, socket => {
		socket.on('error', (error: NodeJS.ErrnoException) => ends.push(error.code));
		socket.on('end', () => ends.push('end'));
		socket.on('data', data => void (data.toString() === 'break' && socket.resetAndDestroy()));
		socket.write('there');
	});
	const first = await world.connect(port);
	await once(first, 'data');
	first.resetAndDestroy();
	await eventually('the pod sees it', () => ends.length > 0);
	t.deepEqual(ends, ['ECONNRESET']);
	const second = await world.connect(port);
	let hasEnded = false;
	second.on('end', () => (hasEnded = true));
	second.resume();
	second.write('break');
	await closed(second);
	t.false(hasEnded);
	await eventually('nothing is left', () => !isLeft(world));
});

test('a port at which nobody listens, a pod that is not there, and an agent that is not, are told at once', async t => {
	const world = twoNodes(t);
	const port = await serve(t, socket => void socket.destroy());
	const problemOf = async (place: {node: string; address: string; port: number}): Promise<string> => {
		const [error] = (await once(world.near.dial(place), 'error')) as [Error];
		return error.message;
	};
	t.regex(await problemOf({node: 'far', address: 'pod', port: 1}), /connection refused/);
	t.regex(await problemOf({node: 'far', address: 'other', port}), /other/);
	await world.near.relay.close();
	t.regex(await problemOf({node: 'far', address: 'pod', port}), /ENOENT|ECONNREFUSED/);
	t.false(isLeft(world));
});

test('while nothing is passed on each end finds out by itself', async t => {
	const clock = new ManualClock();
	const world = twoNodes(t, clock);
	const port = await serve(t, socket => void socket.write('there'));
	const socket = await world.connect(port);
	await once(socket, 'data');
	t.is(world.near.relay.open() + world.far.relay.open(), 2);
	world.cut(true);
	const over = closed(socket);
	// Both ask, and hear nothing.
	for (let i = 0; i < 2 * limits.relayKeeps + 2; i++) {
		clock.advance(limits.relayKeepMs);
		await new Promise(setImmediate);
	}
	await over;
	await eventually('nothing is left', () => !isLeft(world));
});

test('a node hears and says nothing of connections that it has no part in, and nothing out of order', async t => {
	const world = twoNodes(t);
	const port = await serve(t, socket => void socket.on('data', data => socket.write(data)));
	const socket = await world.connect(port);
	const sessions: string[] = [];
	const {relay} = world.far;
	const take = (from: string, session: string, step: object): Promise<string> =>
		new Promise(resolve =>
			relay.take({type: 'relay.take', from, session, step: step as never}, outcome => resolve(outcome.ok ? 'ok' : outcome.error.code)),
		);
	t.is(await take('stranger', 'any', {step: 'data', number: 1, data: 'AAAA'}), 'ERR_NOT_FOUND');
	t.is(await take('stranger', 'own', {step: 'open', uid: 'pod', port}), 'ok');
	t.is(await take('stranger', 'own', {step: 'open', uid: 'pod', port}), 'ERR_ALREADY_EXISTS');
	t.is(await take('near', 'own', {step: 'data', number: 1, data: 'AAAA'}), 'ERR_NOT_FOUND');
	t.is(await take('stranger', 'own', {step: 'data', number: 2, data: 'AAAA'}), 'ERR_BAD_REQUEST', 'one is missing');
	t.is(await take('stranger', 'own', {step: 'data', number: 1, data: 'AAAA'}), 'ERR_NOT_FOUND', 'it is over');
	t.deepEqual(sessions, []);
	const [echo] = await Promise.all([once(socket, 'data'), Promise.resolve(socket.write('still'))]);
	t.is(String(echo[0]), 'still');
});

test('a node gets so many connections and no more, and others get theirs', async t => {
	const world = twoNodes(t);
	const port = await serve(t, () => undefined);
	const open = (from: string, session: string): Promise<string> =>
		new Promise(resolve =>
			world.far.relay.take({type: 'relay.take', from, session, step: {step: 'open', uid: 'pod', port}}, outcome =>
				resolve(outcome.ok ? 'ok' : outcome.error.code),
			),
		);
	const many = await Promise.all(Array.from({length: limits.relayPerNode + 5}, (_, i) => open('greedy', `s${i}`)));
	t.is(many.filter(each => each === 'ok').length, limits.relayPerNode);
	t.true(many.every(each => each === 'ok' || each === 'ERR_BUSY'));
	t.is(await open('modest', 's'), 'ok');
	t.is(world.far.sessions.connections(), 0, 'people have theirs');
});

test('the socket is for its own user alone, and who says nothing of the protocol is let go', async t => {
	const {near} = twoNodes(t);
	const file = path.join(near.folder, 'relay');
	await eventually('it listens', () => statSync(file, {throwIfNoEntry: false}) !== undefined);
	await eventually('it is closed to others', () => (statSync(file).mode & 0o777) === 0o600);
	for (const bytes of [
		Buffer.from('GET / HTTP/1.1\r\n\r\n'),
		Buffer.from([0, 0, 0, 0]),
		Buffer.from([0, 0, 0, 2, 123, 125]),
		Buffer.from([0, 0, 0, 2, 91, 93]),
	]) {
		const socket = net.connect(file);
		socket.write(bytes);
		await closed(socket);
	}
	t.is(near.relay.open(), 0);
});
