// One connection to a port here, led to a port of a pod over a WebSocket of its own.

import type {Socket} from 'node:net';
import {remoteProtocol} from '../../api/remote-channels.js';
import type {Client} from '../client.js';
import {openSession} from '../exec/remote.js';
import {pathOf, resourceOf} from '../cluster/resources.js';

export type PodPort = {readonly namespace: string; readonly pod: string; readonly port: number};

/** Until both ends have said all, or one breaks. Rejects with AppErrors where it could not be led there. */
export async function forward(client: Client, {namespace, pod, port}: PodPort, socket: Socket): Promise<void> {
	// What breaks here is told to the other end by its close.
	socket.on('error', () => undefined);
	const path = pathOf(resourceOf('pods'), namespace, pod, 'portforward');
	try {
		const remote = await client.socket({path, query: {port}}, remoteProtocol);
		const isGone = (): boolean => socket.destroyed;
		if (isGone()) return remote.close(1000);
		socket.once('close', () => remote.close(1000));
		const {ended} = openSession(remote, {
			input: socket.iterator({destroyOnReturn: false}) as AsyncIterable<Uint8Array>,
			output: bytes => written(socket, bytes),
			errors: () => Promise.resolve(),
			onOutputEnd: () => void socket.end(),
		});
		const exitCode = await ended;
		if (exitCode === 0) socket.end();
		else socket.resetAndDestroy();
	} catch (error) {
		// A client that went first was told all it wanted.
		if (socket.destroyed) return;
		socket.resetAndDestroy();
		throw error;
	}
}

/** When more can be taken; at once where nobody takes any more. */
const written = (socket: Socket, bytes: Uint8Array): Promise<void> =>
	new Promise(resolve => {
		if (socket.destroyed || socket.writableEnded || socket.write(bytes)) return resolve();
		const settle = (): void => {
			socket.off('drain', settle).off('close', settle);
			resolve();
		};
		socket.once('drain', settle).once('close', settle);
	});
