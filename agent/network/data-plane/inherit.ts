// The successor's end of handing over: takes what the data plane before it has, until that has said that this was all.

import type {Socket as DatagramSocket} from 'node:dgram';
import type {Server} from 'node:net';
import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import {networkChange} from '../feed/messages.js';
import {holdSocket, type HeldSocket} from '../listeners/held-sockets.js';
import type {Inheritance} from './data-plane.js';
import type {Handed, SuccessorNews} from './hand-over.js';

/** Rejects when the other one ends before it has said everything. */
export function inherit(): Promise<Inheritance> {
	const changes: NetworkChange[] = [];
	const sockets: HeldSocket[] = [];
	return new Promise((resolve, reject) => {
		const fail = (): void => reject(new Error('the data plane before this one ended before it had handed over'));
		process.once('disconnect', fail);
		process.on('message', (message: Handed, socket: unknown) => {
			switch (message.type) {
				case 'changes':
					for (const change of message.changes) changes.push(networkChange(change));
					return;
				case 'socket':
					// Its connections wait from this turn on; in the next one they would have found nobody.
					if (socket !== undefined) sockets.push(holdSocket(message.mark, socket as Server | DatagramSocket));
					return;
				case 'serve':
					process.off('disconnect', fail);
					resolve({changes, sockets});
			}
		});
		sayToPredecessor({type: 'began'});
	});
}

/** One that is gone by now needs no word. */
export function sayToPredecessor(news: SuccessorNews): void {
	if (process.connected) process.send?.(news, undefined, undefined, () => undefined);
}
