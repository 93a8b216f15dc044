import {Duplex} from 'node:stream';
import {setImmediate as nextTurn} from 'node:timers/promises';
import test from 'ava';
import {limits} from '../../api/limits.js';
import {sayGoodbye} from '../../server/goodbye.js';

/** A connection, what was answered on it, and what the other side sends. */
function aConnection() {
	let answer = '';
	const socket = new Duplex({
		allowHalfOpen: true,
		autoDestroy: false,
		read: () => undefined,
		write(chunk: Buffer, _encoding, done) {
			answer += chunk.toString();
			done();
		},
	});
	const sends = async (bytes: number): Promise<void> => {
		socket.push(Buffer.alloc(bytes));
		await nextTurn();
	};
	return {socket, sends, answer: () => answer};
}

test('whoever is refused is answered, and heard as far as a bound', async t => {
	const {socket, sends, answer} = aConnection();
	sayGoodbye(socket, 503);
	t.is(answer(), 'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
	await sends(limits.discardedBodyBytes);
	t.false(socket.destroyed);
	await sends(1);
	t.true(socket.destroyed);
});

test('the end of the other side is the end of the connection', async t => {
	const {socket} = aConnection();
	sayGoodbye(socket, 431);
	socket.push(null);
	await nextTurn();
	t.true(socket.destroyed);
});
