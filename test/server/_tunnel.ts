// kubectl's end of a tunnel to ports of a pod: streams of SPDY over a WebSocket, or over the connection itself.

import {once} from 'node:events';
import {request, type IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import {createFrameReader, dataFrame, pingFrame, rstStreamFrame, synStreamFrame, type Frame} from '../../server/spdy/frames.js';
import {createHeaderReader, createHeaderWriter} from '../../server/spdy/header-blocks.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';

export const tunnelProtocol = 'SPDY/3.1+portforward.k8s.io';

/** What was heard on a stream. */
export type Heard = {text: string; isOver: boolean; reset: number | undefined; isReplied: boolean};

type Wire = {
	readonly send: (bytes: Buffer) => void;
	readonly onBytes: (listener: (bytes: Buffer) => void) => void;
	readonly cut: () => void;
};

/** What is spoken over an open wire. */
export function speak({send, onBytes, cut}: Wire) {
	const heard = new Map<number, Heard>();
	const pings: number[] = [];
	let isAway = false;
	let next = 1;
	const [writeHeaders, readHeaders] = [createHeaderWriter(), createHeaderReader()];
	const on = (stream: number): Heard => {
		const known = heard.get(stream) ?? {text: '', isOver: false, reset: undefined, isReplied: false};
		heard.set(stream, known);
		return known;
	};
	const hear = (frame: Frame): void => {
		if (frame.type === 'data') {
			on(frame.stream).text += frame.bytes.toString('latin1');
			on(frame.stream).isOver ||= frame.isLast;
		} else if (frame.type === 'rstStream') on(frame.stream).reset = frame.status;
		else if (frame.type === 'synReply') on(frame.stream).isReplied = readHeaders(frame.block).size === 0;
		else if (frame.type === 'ping') pings.push(frame.id);
		else if (frame.type === 'goAway') isAway = true;
	};
	onBytes(createFrameReader(hear));
	const open = (headers: Readonly<Record<string, string>>, isLast = false): number => {
		const stream = next;
		next += 2;
		send(synStreamFrame(stream, writeHeaders(new Map(Object.entries(headers))), isLast));
		return stream;
	};
	return {
		send,
		cut,
		on,
		open,
		pings,
		isAway: () => isAway,
		ping: (id: number) => send(pingFrame(id)),
		/** The two streams of a connection, as kubectl opens them. */
		connect(port: number | string, requestid: string) {
			const error = open({streamtype: 'error', port: String(port), requestid});
			send(dataFrame(error, Buffer.alloc(0), true));
			const data = open({streamtype: 'data', port: String(port), requestid});
			return {
				error: on(error),
				data: on(data),
				say: (text: string | Buffer, isLast = false) => send(dataFrame(data, Buffer.from(text), isLast)),
				reset: () => send(rstStreamFrame(data, 5)),
				heard: (text: string) => eventually(`"${text.slice(0, 50)}" to be heard`, () => on(data).text === text),
				ended: () => eventually('the connection to end', () => on(error).isOver && (on(data).isOver || on(data).reset !== undefined)),
			};
		},
	};
}

export type Tunnel = ReturnType<typeof speak>;

/** Inside of a WebSocket, cut into messages of so many bytes. Rejects with the Status when it is refused. */
export async function tunnelByWebSocket(url: string, path: string, pieceBytes = 60_000, token = 'admin'): Promise<Tunnel> {
	const {answer, socket} = await upgraded(url + path, 'GET', {
		authorization: `Bearer ${token}`,
		upgrade: 'websocket',
		'sec-websocket-version': '13',
		'sec-websocket-key': Buffer.alloc(16, 'k').toString('base64'),
		'sec-websocket-protocol': tunnelProtocol,
	});
	if (answer.headers['sec-websocket-protocol'] !== tunnelProtocol) throw new Error('the subprotocol is not named');
	return speak({
		send(bytes) {
			for (let from = 0; from < bytes.length; from += pieceBytes) socket.write(message(bytes.subarray(from, from + pieceBytes)));
		},
		onBytes(listener) {
			let rest: Buffer = Buffer.alloc(0);
			socket.on('data', (bytes: Buffer) => {
				rest = Buffer.concat([rest, bytes]);
				for (let next = opened(rest); next !== undefined; next = opened(rest)) {
					rest = next.rest;
					if (next.isData) listener(next.bytes);
				}
			});
		},
		cut: () => socket.destroy(),
	});
}

/** A binary message of a client, of less than 64 KiB; ws itself offers no subprotocol of such a name. */
const message = (bytes: Buffer): Buffer =>
	Buffer.concat([Buffer.from([0x82, 0x80 | 126, bytes.length >> 8, bytes.length & 255, 0, 0, 0, 0]), bytes]);

/** The first message of a server; undefined: it has not come whole. */
function opened(bytes: Buffer): {readonly isData: boolean; readonly bytes: Buffer; readonly rest: Buffer} | undefined {
	const [first = 0, second = 0] = bytes;
	const headBytes = second === 127 ? 10 : second === 126 ? 4 : 2;
	if (bytes.length < headBytes) return undefined;
	const length = second === 127 ? Number(bytes.readBigUInt64BE(2)) : second === 126 ? bytes.readUInt16BE(2) : second;
	if (bytes.length < headBytes + length) return undefined;
	return {
		isData: (first & 15) === 2 || (first & 15) === 0,
		bytes: bytes.subarray(headBytes, headBytes + length),
		rest: bytes.subarray(headBytes + length),
	};
}

async function refusalOf(answer: IncomingMessage): Promise<Error> {
	let text = '';
	for await (const chunk of answer) text += String(chunk);
	return Object.assign(new Error('refused'), {answer: JSON.parse(text) as unknown});
}

/** In the place of HTTP. Rejects with the Status when it is refused. */
export async function tunnelBySpdy(url: string, path: string, token = 'admin'): Promise<Tunnel> {
	const headers = {
		authorization: `Bearer ${token}`,
		upgrade: 'SPDY/3.1',
		'x-stream-protocol-version': 'portforward.k8s.io',
	};
	const {answer, socket} = await upgraded(url + path, 'POST', headers);
	if (answer.headers['x-stream-protocol-version'] !== 'portforward.k8s.io') throw new Error('the protocol is not named');
	return speak({
		send: bytes => void socket.write(bytes),
		onBytes: listener => void socket.on('data', listener),
		cut: () => socket.destroy(),
	});
}

async function upgraded(
	url: string,
	method: string,
	headers: Readonly<Record<string, string>>,
): Promise<{answer: IncomingMessage; socket: Duplex}> {
	const asked = request(url, {method, headers: {connection: 'Upgrade', ...headers}});
	asked.end();
	const switched = once(asked, 'upgrade') as Promise<[IncomingMessage, Duplex, Buffer]>;
	const answered = once(asked, 'response') as Promise<[IncomingMessage, undefined, undefined]>;
	const [answer, socket, head] = await Promise.race([switched, answered]);
	if (socket === undefined) throw await refusalOf(answer);
	socket.on('error', () => undefined);
	if (head.length > 0) socket.unshift(head);
	return {answer, socket};
}
