// Connections to ports of pods: to those of the pod and to no other program's, byte for byte, each direction for itself.

import {once} from 'node:events';
import net, {type AddressInfo} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {succeeded, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ExecOutput} from '../../actors/node/runtime/runtime-port.js';
import {createSessions} from '../../agent/exec-sessions.js';
import {createConnections} from '../../agent/forward/connections.js';
import {createLookups} from '../../agent/forward/lookups.js';
import {listenersIn} from '../../agent/os/listening.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {freePort} from '../../bench/rigs/servers/server.js';
import {systemClock} from '../../system/time/clock.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {processWorld} from './process-world.js';
import {driver} from './runtime-contract.js';

const codeOf = <Value>(outcome: Outcome<Value>): string => (outcome.ok ? 'ok' : outcome.error.code);

/** A server of this process; its port. */
async function serve(t: ExecutionContext, host: string, answer: (socket: net.Socket) => void): Promise<number> {
	const sockets = new Set<net.Socket>();
	const server = net.createServer({allowHalfOpen: true}, socket => {
		sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
		answer(socket);
	});
	server.listen(0, host);
	await once(server, 'listening');
	t.teardown(() => {
		for (const socket of sockets) socket.destroy();
		server.close();
	});
	return (server.address() as AddressInfo).port;
}

/** Sessions over connections to this host's own loopback. */
function opened(t: ExecutionContext, clock = systemClock) {
	const sessions = createSessions(clock);
	const connections = createConnections(sessions, clock);
	t.teardown(() => {
		connections.end();
		sessions.closeAll();
	});
	const open = (port: number, addresses: readonly string[] = ['127.0.0.1']): Promise<Outcome<{readonly session: string}>> =>
		new Promise(resolve => connections.open({port}, () => Promise.resolve(addresses), resolve));
	const session = async (port: number): Promise<string> => {
		const outcome = await open(port);
		if (!outcome.ok) throw new Error(outcome.error.message);
		return outcome.value.session;
	};
	const read = (id: string): Promise<Outcome<ExecOutput>> =>
		new Promise(resolve => sessions.read(id, limits.execChunkBytes, 20_000, resolve));
	const write = (id: string, data: Buffer, isLast = false): Promise<Outcome<null>> =>
		new Promise(resolve => sessions.write(id, data, isLast, resolve));
	return {sessions, connections, open, session, read, write};
}

/** All that comes, and how it ended. */
async function readAll(read: () => Promise<Outcome<ExecOutput>>): Promise<{bytes: Buffer; lasts: number; exitCode: number}> {
	const chunks: Buffer[] = [];
	for (let lasts = 0; ;) {
		const outcome = await read();
		if (!outcome.ok) throw new Error(outcome.error.message);
		const {parts, isLast, end} = outcome.value;
		for (const {stream, data} of parts) if (stream === 'stdout') chunks.push(Buffer.from(data, 'base64'));
		if (isLast === true) lasts++;
		if (end !== undefined) return {bytes: Buffer.concat(chunks), lasts, exitCode: end.exitCode};
	}
}

const large = Buffer.from(Array.from({length: 3_000_000}, (_, at) => (at * 7 + (at >> 8)) % 256));

test('a client that has said all still hears the answer, whole', async t => {
	const port = await serve(t, '127.0.0.1', socket => {
		const chunks: Buffer[] = [];
		socket.on('data', chunk => chunks.push(chunk)).on('end', () => socket.end(Buffer.concat(chunks)));
	});
	const {session, read, write, sessions} = opened(t);
	const id = await session(port);
	for (let at = 0; at < large.length; at += limits.execChunkBytes)
		t.deepEqual(await write(id, large.subarray(at, at + limits.execChunkBytes)), succeeded(null));
	await write(id, Buffer.alloc(0), true);
	const {bytes, exitCode} = await readAll(() => read(id));
	t.true(bytes.equals(large));
	t.is(exitCode, 0);
	t.is(sessions.connections(), 0);
});

test('a program that has said all is still told the rest, and its end comes when both are through', async t => {
	let heard = '';
	const port = await serve(t, '127.0.0.1', socket => {
		socket.end('bye');
		socket.on('data', chunk => (heard += chunk.toString()));
	});
	const {session, read, write, sessions} = opened(t);
	const id = await session(port);
	const looks: ExecOutput[] = [];
	while (!looks.some(look => look.isLast)) {
		const look = await read(id);
		if (!look.ok) throw new Error(look.error.message);
		looks.push(look.value);
	}
	t.true(looks.every(({end}) => end === undefined));
	await write(id, Buffer.from('still '));
	await write(id, Buffer.from('here'), true);
	t.deepEqual(await readAll(() => read(id)), {bytes: Buffer.alloc(0), lasts: 0, exitCode: 0});
	await eventually('the rest to be heard', () => heard === 'still here');
	t.is(sessions.connections(), 0);
});

test('a connection that breaks is no end like others', async t => {
	const port = await serve(t, '127.0.0.1', socket => void socket.once('data', () => socket.resetAndDestroy()));
	const {session, read, write} = opened(t);
	const id = await session(port);
	await write(id, Buffer.from('x'));
	t.is((await readAll(() => read(id))).exitCode, 1);
});

test('what no client reads holds the program up, and a session that is closed closes its connection', async t => {
	let sent = 0;
	let isClosed = false;
	const port = await serve(t, '127.0.0.1', socket => {
		const pour = (): void => {
			while (!socket.destroyed && socket.write(large.subarray(0, 65_536))) sent += 65_536;
		};
		socket.on('drain', pour).on('close', () => (isClosed = true));
		pour();
	});
	const {session, sessions} = opened(t);
	const id = await session(port);
	let before = -1;
	await eventually('the program to be held up', () => {
		const isStill = before === sent && sent > 0;
		before = sent;
		return isStill;
	});
	// What the kernel holds, and what the session does.
	t.true(sent < 64 * 1_048_576, String(sent));
	sessions.close(id);
	await eventually('the connection to be closed', () => isClosed);
});

test('what is refused is told with the port and the reason, and so many are open at a time', async t => {
	const port = await serve(t, '127.0.0.1', () => undefined);
	const {open, connections, sessions} = opened(t);
	const closed = await serve(t, '127.0.0.1', () => undefined);
	for (const wrong of [0, -1, 65_536, 1.5, Number.NaN]) t.is(codeOf(await open(wrong)), 'ERR_BAD_REQUEST', String(wrong));
	const refused = await open(closed, []);
	t.like(refused, {ok: false, error: {code: 'ERR_NOT_REACHABLE'}});
	t.regex(refused.ok ? '' : JSON.stringify(refused.error.details), new RegExp(`port ${closed} of the pod .*connection refused`));
	const some = await Promise.all(Array.from({length: limits.forwardSessions}, () => open(port)));
	t.true(some.every(({ok}) => ok));
	t.is(codeOf(await open(port)), 'ERR_BUSY');
	t.is(sessions.count(), 0, 'programs have room of their own');
	sessions.closeAll();
	t.is(codeOf(await open(port)), 'ok');
	connections.end();
	t.is(codeOf(await open(port)), 'ERR_NOT_REACHABLE');
});

test('what does not come to be is given up in time', async t => {
	const clock = new ManualClock();
	const connections = createConnections(createSessions(clock), clock);
	const outcome = new Promise<Outcome<unknown>>(resolve => connections.open({port: 9}, () => new Promise(() => undefined), resolve));
	clock.advance(limits.forwardConnectMs);
	t.is(codeOf(await outcome), 'ERR_NOT_REACHABLE');
});

test('sockets that listen are told from others, and their ports from others', t => {
	const table = [
		'  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
		'   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 101 1 0000 100 0 0 10 0',
		'   1: 00000000:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 102 1 0000 100 0 0 10 0',
		'   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 103 1 0000 100 0 0 10 0',
		'   3: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 104 1 0000 100 0 0 10 0',
		'   4: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 105 1',
		'nonsense :1F90',
		'',
	].join('\n');
	t.deepEqual(listenersIn(table, 8080), [
		{address: '0100007F', inode: '101'},
		{address: '0'.repeat(32), inode: '105'},
	]);
	t.deepEqual(listenersIn(table, 8081), [{address: '00000000', inode: '102'}]);
	t.deepEqual(listenersIn(table, 80), []);
});

test('what was found is asked for once in a while, what was not found again', async t => {
	const clock = new ManualClock();
	const lookup = createLookups(clock);
	let looks = 0;
	const answers: (readonly string[])[] = [[], ['a'], ['b']];
	const look = (): Promise<readonly string[]> => Promise.resolve(answers[looks++] ?? []);
	t.deepEqual(await lookup('k', look), []);
	t.deepEqual(await Promise.all([lookup('k', look), lookup('k', look)]), [['a'], ['a']]);
	t.deepEqual(await lookup('k', look), ['a']);
	clock.advance(limits.forwardLookMs + 1);
	t.deepEqual(await lookup('k', look), ['b']);
	await t.throwsAsync(lookup('other', () => Promise.reject(new Error('gone'))));
	t.deepEqual(await lookup('other', () => Promise.resolve(['c'])), ['c']);
});

test('a pod on the shared network is reached where it listens, and what others listen to is not', async t => {
	const {run, value, ensure, start, aContainer, hear, remove} = driver(processWorld(clean => t.teardown(clean)));
	const everywhere = await serve(t, '0.0.0.0', socket => socket.end('of the host'));
	const port = await serve(t, '127.0.0.1', socket => socket.end('of the host'));
	const program = (address: string, own: number): readonly string[] => [
		process.execPath,
		'-e',
		`require('net').createServer(s => s.on('error', () => {}).end('at ${address}')).listen(${own}, '${address}')`,
	];
	const open = (uid: string, own: number) => run<'forward.open'>({type: 'forward.open', request: {uid, port: own}});
	const saidAt = async (uid: string, own: number): Promise<string> => {
		const {session} = await value(open(uid, own));
		let text = '';
		for (;;) {
			const {parts, isLast, end} = await value(hear(session));
			text += parts.map(({data}) => Buffer.from(data, 'base64').toString()).join('');
			if (isLast === true || end !== undefined) break;
		}
		await run({type: 'exec.close', session});
		return text;
	};
	t.is(codeOf(await open('uid-0', 80)), 'ERR_NOT_FOUND');
	const [free, other] = [await freePort(), await freePort()];
	const {podIP} = await ensure('uid-1');
	await ensure('uid-2');
	await ensure('uid-3');
	await start(aContainer('runs', {uid: 'uid-1', argv: program(podIP, port)}));
	await start(aContainer('runs', {uid: 'uid-2', argv: program('127.0.0.1', free)}));
	await start(aContainer('runs', {uid: 'uid-3', argv: program('::', other)}));
	const listens = (uid: string, own: number): Promise<void> =>
		eventually(`${uid} to listen`, async () => {
			const outcome = await open(uid, own);
			if (outcome.ok) await run({type: 'exec.close', session: outcome.value.session});
			return outcome.ok;
		});
	await Promise.all([listens('uid-1', port), listens('uid-2', free), listens('uid-3', other)]);
	t.is(await saidAt('uid-1', port), `at ${podIP}`, 'its own, though the host listens beside it');
	t.is(await saidAt('uid-2', free), 'at 127.0.0.1', 'loopback, where it is the pod that listens');
	t.is(await saidAt('uid-3', other), 'at ::');
	for (const [uid, own] of [
		['uid-2', port],
		['uid-1', everywhere],
		['uid-1', free],
		['uid-1', other],
	] as const)
		t.is(codeOf(await open(uid, own)), 'ERR_NOT_REACHABLE', `${uid} ${own}`);
	await remove('uid-2');
	t.is(codeOf(await open('uid-2', free)), 'ERR_NOT_FOUND');
});
