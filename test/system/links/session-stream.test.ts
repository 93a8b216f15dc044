// A session at a node as a stream that HTTP's client takes for a connection.

import http from 'node:http';
import net from 'node:net';
import type {Duplex} from 'node:stream';
import test from 'ava';
import {succeeded} from '../../../api/errors.js';
import {SessionStream, type SessionEnds, type SessionOutput} from '../../../system/links/session-stream.js';
import {systemClock} from '../../../system/time/clock.js';

/** A session as a node has it: a connection that is read by questions, whose writes are acknowledged later. */
function sessionTo(port: number): SessionEnds & {readonly closed: Promise<void>} {
	const socket = net.connect({port, host: '127.0.0.1', allowHalfOpen: true});
	let come: Buffer[] = [];
	let isOver = false;
	let asked: ((outcome: {readonly ok: true; readonly value: SessionOutput}) => void) | undefined;
	const answer = (): void => {
		if (asked === undefined || (come.length === 0 && !isOver)) return;
		const parts = come.map(data => ({stream: 'stdout', data: data.toString('base64')}) as const);
		const done = asked;
		asked = undefined;
		come = [];
		done(succeeded({parts, ...(isOver ? {isLast: true as const} : {}), end: undefined}));
	};
	socket.on('data', data => {
		come.push(data);
		answer();
	});
	socket.on('end', () => {
		isOver = true;
		answer();
	});
	socket.on('error', () => undefined);
	return {
		closed: new Promise(resolve => void socket.once('close', () => resolve())),
		read(done) {
			asked = done;
			setImmediate(answer);
		},
		write(data, isLast, done) {
			const taken = (): void => void setImmediate(() => done(succeeded(null)));
			if (isLast) socket.end(taken);
			else socket.write(data, taken);
		},
		keep: () => undefined,
		close: () => void socket.destroy(),
	};
}

const listening = async (server: http.Server | net.Server): Promise<number> => {
	await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
	return (server.address() as net.AddressInfo).port;
};

test('requests follow each other on one kept session', async t => {
	const server = http.createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => response.end(Buffer.concat(chunks)));
	});
	const port = await listening(server);
	let sessions = 0;
	class OverSessions extends http.Agent {
		override createConnection(_options: http.ClientRequestArgs, done?: (error: Error | null, stream: Duplex) => void): undefined {
			sessions += 1;
			done?.(null, new SessionStream(sessionTo(port), systemClock));
			return undefined;
		}
	}
	const agent = new OverSessions({keepAlive: true, timeout: 60_000});
	t.teardown(() => {
		agent.destroy();
		server.close();
	});
	const post = (body: string): Promise<string> =>
		new Promise((resolve, reject) => {
			const request = http.request({agent, method: 'POST', path: '/', host: 'x'}, answer => {
				let text = '';
				answer.setEncoding('utf8').on('data', (piece: string) => void (text += piece));
				answer.once('end', () => resolve(text));
			});
			request.once('error', reject);
			request.end(body);
		});
	for (let i = 0; i < 50; i++) {
		t.is(await post(`${i}`), `${i}`);
		// It is free once the end of its request was taken, too.
		await new Promise(resolve => void setImmediate(() => setImmediate(() => setImmediate(resolve))));
	}
	t.true(sessions <= 2, `${sessions} sessions`);
	const large = 'x'.repeat(3_000_000);
	t.is(await post(large), large);
});

test('a stream that is destroyed closes its session', async t => {
	const server = net.createServer(socket => void socket.on('error', () => undefined));
	const port = await listening(server);
	t.teardown(() => void server.close());
	const session = sessionTo(port);
	const stream = new SessionStream(session, systemClock);
	stream.destroy();
	await t.notThrowsAsync(session.closed);
	t.true(stream.destroyed);
});
