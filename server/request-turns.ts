// Requests that a client sends ahead of its answers (RFC 9112, 9.3.2): each waits until the one before it is answered, so that a
// connection never has more than one under way. Who sends too many ahead is cut off.

import type {IncomingMessage, RequestListener, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import {limits} from '../api/limits.js';

export type RequestTurns = {
	readonly take: (request: IncomingMessage, response: ServerResponse) => void;
	/** What is being answered on a connection. */
	readonly answerOn: (socket: Socket) => ServerResponse | undefined;
};

type Turn = readonly [request: IncomingMessage, response: ServerResponse];

export function createRequestTurns(listener: RequestListener): RequestTurns {
	const current = new WeakMap<Socket, ServerResponse>();
	const ahead = new WeakMap<Socket, Turn[]>();
	const begin = ([request, response]: Turn): void => {
		const {socket} = request;
		current.set(socket, response);
		response.once('close', () => {
			current.delete(socket);
			const next = ahead.get(socket)?.shift();
			// An answer may have been the last one of its connection.
			if (next !== undefined && socket.writable) begin(next);
		});
		listener(request, response);
	};
	return {
		take(request, response) {
			const {socket} = request;
			if (!current.has(socket)) return void (socket.writable && begin([request, response]));
			const waiting = ahead.get(socket) ?? [];
			ahead.set(socket, waiting);
			waiting.push([request, response]);
			if (waiting.length > limits.httpRequestsAhead) socket.destroy();
		},
		answerOn: socket => current.get(socket),
	};
}
