// Listening sockets of this process, as nothing hands them over.

import {createSocket} from 'node:dgram';
import {createServer} from 'node:net';
import type {Listeners} from '../../../agent/network/listeners/listeners.js';

export const plainListeners = (): Listeners => ({
	tcp: (place, onConnection) =>
		new Promise((resolve, reject) => {
			const server = createServer({allowHalfOpen: true, noDelay: true}, onConnection);
			server.once('error', reject).listen({host: place.address, port: place.port}, () => {
				resolve({place, close: () => void server.close()});
			});
		}),
	udp: (place, onMessage) =>
		new Promise((resolve, reject) => {
			const socket = createSocket('udp4', onMessage);
			socket.once('error', reject).bind({address: place.address, port: place.port, exclusive: true}, () => {
				resolve({place, send: (data, to) => socket.send(data, to.port, to.address), close: () => void socket.close()});
			});
		}),
});
