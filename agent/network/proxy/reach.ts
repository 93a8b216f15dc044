// From a client that waits to a connection with one of the endpoints: the first that takes it.

import {connect, type Socket} from 'node:net';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import type {EndpointPlace} from '../services/served-port.js';

export type Reached = {readonly endpoint: EndpointPlace; readonly socket: Socket};

/** Tries one after the other, each once, until one is reached, there is none left, or the time for all is over. Undefined: none was. */
export async function reach(
	endpoints: Iterable<EndpointPlace>,
	isWaiting: () => boolean,
	clock: Clock,
	onFailed: () => void,
): Promise<Reached | undefined> {
	const untilMs = clock.monotonicMs() + limits.proxyReachMs;
	for (const endpoint of endpoints) {
		const leftMs = Math.min(limits.proxyConnectMs, untilMs - clock.monotonicMs());
		if (leftMs <= 0 || !isWaiting()) return undefined;
		const socket = await connected(endpoint, leftMs, clock);
		if (socket !== undefined) return {endpoint, socket};
		onFailed();
	}
	return undefined;
}

function connected({address, port}: EndpointPlace, withinMs: number, clock: Clock): Promise<Socket | undefined> {
	return new Promise(resolve => {
		const socket = connect({
			host: address,
			port,
			allowHalfOpen: true,
			noDelay: true,
			keepAlive: true,
			keepAliveInitialDelay: limits.proxyKeepAliveMs,
		});
		const settle = (outcome: Socket | undefined): void => {
			cancel();
			socket.removeAllListeners('connect').removeAllListeners('error');
			if (outcome === undefined) socket.on('error', () => undefined).destroy();
			resolve(outcome);
		};
		const cancel = clock.after(withinMs, () => settle(undefined));
		socket.once('connect', () => settle(socket)).once('error', () => settle(undefined));
	});
}
