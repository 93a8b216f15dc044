// WebSockets (RFC 6455), opened by either side. The only importer of ws.
//
// A socket here says when a message has left for the kernel, so that nothing is read faster than the other side takes it.

import type {IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import {createWebSocketStream, WebSocket, WebSocketServer} from 'ws';

/** Messages both ways. */
export type MessageSocket = {
	/** Sends a binary message; resolves when it is on its way, with false when the other side is gone. */
	readonly send: (bytes: Uint8Array) => Promise<boolean>;
	/** Each message, and whether it is binary. Nothing is read before there is a listener. */
	readonly onMessage: (listener: (bytes: Buffer, isBinary: boolean) => void) => void;
	/** Once, with the code of RFC 6455, section 7.4: 1006 when it was cut. */
	readonly onClose: (listener: (code: number, reason: string) => void) => void;
	/** Reads nothing, so that the other side has to wait; its pings are not answered meanwhile. */
	readonly pause: () => void;
	readonly resume: () => void;
	/** Says that this side lives, without being asked. */
	readonly pong: () => void;
	/** Says goodbye; what was sent before arrives. */
	readonly close: (code: number, reason?: string) => void;
	/** Cuts it. */
	readonly cut: () => void;
};

export type UpgradeOptions = {
	/** What is spoken: the answer names it. */
	readonly subprotocol: string;
	readonly payloadBytes: number;
};

export type Upgrader<Opened> = {
	/** Makes a WebSocket of a request that was checked with `isWebSocket`; `onOpen` is called at once, or never when the client has gone. */
	readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, onOpen: (opened: Opened) => void) => void;
	/** Cuts every connection. */
	readonly close: () => void;
};

/** Upgrades to messages. */
export const messageUpgrader = (options: UpgradeOptions): Upgrader<MessageSocket> => upgraderOf(options, messagesOf);

/** Upgrades to a stream of bytes, whatever the messages they come in. */
export const streamUpgrader = (options: UpgradeOptions): Upgrader<Duplex> =>
	upgraderOf(options, webSocket => createWebSocketStream(webSocket));

function upgraderOf<Opened>({subprotocol, payloadBytes}: UpgradeOptions, opened: (webSocket: WebSocket) => Opened): Upgrader<Opened> {
	const server = new WebSocketServer({
		noServer: true,
		maxPayload: payloadBytes,
		perMessageDeflate: false,
		handleProtocols: () => subprotocol,
	});
	// A name with a slash, as Kubernetes has one, is none to ws: it hears nothing of it, and it is named beside.
	const isHidden = subprotocol.includes('/');
	if (isHidden) server.on('headers', headers => headers.push(`Sec-WebSocket-Protocol: ${subprotocol}`));
	return {
		upgrade(request, socket, head, onOpen) {
			if (isHidden) delete request.headers['sec-websocket-protocol'];
			server.handleUpgrade(request, socket, head, webSocket => onOpen(opened(webSocket)));
		},
		close() {
			for (const client of server.clients) client.terminate();
			server.close();
		},
	};
}

/** Whether a request can become a WebSocket (RFC 6455, section 4.2.1). */
export const isWebSocket = ({method, headers}: IncomingMessage): boolean =>
	method === 'GET' &&
	headers.upgrade?.toLowerCase() === 'websocket' &&
	headers['sec-websocket-version'] === '13' &&
	/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '');

/** The subprotocols that a client offers. */
export const offeredSubprotocols = ({headers}: IncomingMessage): readonly string[] =>
	(headers['sec-websocket-protocol'] ?? '').split(',').map(name => name.trim());

export type DialOptions = {
	readonly subprotocol: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly payloadBytes: number;
	readonly timeoutMs: number;
	/** Of TLS. */
	readonly ca?: string;
	readonly cert?: string;
	readonly key?: string;
	readonly rejectUnauthorized: boolean;
};

export type Dialled =
	| {readonly type: 'open'; readonly socket: MessageSocket}
	/** The server answered by HTTP instead; its body is still to be read. */
	| {readonly type: 'answered'; readonly answer: IncomingMessage};

/** Opens a WebSocket at a `wss:` or `ws:` URL. Rejects with the error of the connection. */
export function dialWebSocket(url: URL, {subprotocol, payloadBytes, timeoutMs, ...options}: DialOptions): Promise<Dialled> {
	return new Promise((resolve, reject) => {
		const webSocket = new WebSocket(url, subprotocol, {
			...options,
			maxPayload: payloadBytes,
			handshakeTimeout: timeoutMs,
			perMessageDeflate: false,
		});
		webSocket.once('open', () => {
			webSocket.off('error', reject);
			// What came with the handshake waits for a listener.
			webSocket.pause();
			resolve({type: 'open', socket: messagesOf(webSocket)});
		});
		webSocket.once('unexpected-response', (_request, answer) => resolve({type: 'answered', answer}));
		webSocket.once('error', reject);
	});
}

function messagesOf(webSocket: WebSocket): MessageSocket {
	// What is wrong with the connection shows in its close; without a listener the error would end the process.
	webSocket.on('error', () => webSocket.terminate());
	const closed = new Promise<readonly [code: number, reason: string]>(resolve => {
		webSocket.once('close', (code, reason) => resolve([code, reason.toString()]));
	});
	return {
		send: bytes => new Promise(resolve => webSocket.send(bytes, {binary: true}, error => resolve(error === undefined || error === null))),
		onMessage(listener) {
			webSocket.on('message', (data: Buffer, isBinary) => listener(data, isBinary));
			webSocket.resume();
		},
		onClose: listener => void closed.then(([code, reason]) => listener(code, reason)),
		pause: () => webSocket.pause(),
		resume: () => webSocket.resume(),
		pong() {
			if (webSocket.readyState === WebSocket.OPEN) webSocket.pong();
		},
		close: (code, reason) => webSocket.close(code, reason),
		cut: () => webSocket.terminate(),
	};
}
