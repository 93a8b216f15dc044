// The data plane's end of the feed: a socket in its home, for its own user alone.

import {chmodSync} from 'node:fs';
import {createServer, type Socket} from 'node:net';
import {limits} from '../../../api/limits.js';
import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import {frameReader, sendFrame} from './frames.js';
import {feedMessageOf, feedProtocol, networkChange, type FeedAnswer, type FeedMessage, type Program} from './messages.js';

export type FeedServerOptions = {
	readonly socket: string;
	readonly identity: string;
	/** All in one, or what has changed; the text says what of it could not be taken. */
	readonly onChanges: (isWhole: boolean, changes: readonly NetworkChange[]) => void;
	/** Rejects with why the other one does not serve. */
	readonly onHandOver: (program: Program) => Promise<void>;
	readonly measure: () => {readonly memoryBytes: number; readonly connections: number};
	readonly problems: () => readonly string[];
};

export type FeedServer = {
	/** The problems are others now. */
	readonly tell: () => void;
	readonly close: () => void;
};

/** Rejects with errno exceptions. */
export async function openFeedServer(options: FeedServerOptions): Promise<FeedServer> {
	const sockets = new Set<Socket>();
	const server = createServer(socket => {
		sockets.add(socket);
		socket.on('error', () => undefined);
		socket.once('close', () => sockets.delete(socket));
		hear(socket, options);
	});
	server.maxConnections = limits.feedConnections;
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(options.socket, resolve);
	});
	chmodSync(options.socket, 0o600);
	return {
		tell() {
			for (const socket of sockets) say(socket, problemsOf(options));
		},
		close() {
			server.close();
			for (const socket of sockets) socket.destroySoon();
		},
	};
}

const say = (socket: Socket, answer: FeedAnswer): void => sendFrame(socket, answer);
const problemsOf = ({problems}: FeedServerOptions): FeedAnswer => ({
	type: 'problems',
	problems: problems().slice(0, limits.networkProblems),
});

function hear(socket: Socket, options: FeedServerOptions): void {
	say(socket, {type: 'hello', protocol: feedProtocol, identity: options.identity, pid: process.pid});
	say(socket, problemsOf(options));
	let portions: NetworkChange[] = [];
	const take = (message: FeedMessage): void => {
		switch (message.type) {
			case 'feed': {
				for (const change of message.changes) portions.push(networkChange(change));
				if (portions.length > limits.networkObjects) return void socket.destroy();
				if (!message.isLast) return;
				const changes = portions;
				portions = [];
				options.onChanges(message.isWhole, changes);
				return say(socket, {type: 'taken', id: message.id});
			}
			case 'ping':
				return say(socket, {type: 'pong', id: message.id, ...options.measure()});
			case 'handOver':
				return void options.onHandOver(message.program).then(
					() => say(socket, {type: 'taken', id: message.id}),
					(error: unknown) => say(socket, {type: 'taken', id: message.id, problem: error instanceof Error ? error.message : String(error)}),
				);
		}
	};
	const read = frameReader(message => {
		const known = feedMessageOf(message);
		if (known !== undefined && !socket.destroyed) take(known);
	});
	// Who says what is no message is no agent.
	socket.on('data', data => {
		if (read(data) !== undefined) socket.destroy();
	});
}
