// From a client that waits to a connection with one of the endpoints: the first that takes it.

import {connect} from 'node:net';
import type {Duplex} from 'node:stream';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import type {Dial} from '../../relay/dial.js';
import type {EndpointPlace} from '../services/served-port.js';

/** A socket, or what is as one. */
export type Reachable = Duplex & {readonly resetAndDestroy: () => unknown};

export type Reached = {readonly endpoint: EndpointPlace; readonly socket: Reachable};

/** Tries one after the other, each once, until one is reached, there is none left, or the time for all is over. Undefined: none was. */
export async function reach(
	endpoints: Iterable<EndpointPlace>,
	isWaiting: () => boolean,
	clock: Clock,
	dial: Dial,
	onFailed: () => void,
): Promise<Reached | undefined> {
	const untilMs = clock.monotonicMs() + limits.proxyReachMs;
	for (const endpoint of endpoints) {
		const leftMs = Math.min(limits.proxyConnectMs, untilMs - clock.monotonicMs());
		if (leftMs <= 0 || !isWaiting()) return undefined;
		const socket = await connected(() => begin(endpoint, dial), leftMs, clock);
		if (socket !== undefined) return {endpoint, socket};
		onFailed();
	}
	return undefined;
}

function begin({address, port, via}: EndpointPlace, dial: Dial): Reachable {
	if (via !== undefined) return dial({node: via, address, port});
	return connect({
		host: address,
		port,
		allowHalfOpen: true,
		noDelay: true,
		keepAlive: true,
		keepAliveInitialDelay: limits.proxyKeepAliveMs,
	});
}

function connected(open: () => Reachable, withinMs: number, clock: Clock): Promise<Reachable | undefined> {
	return new Promise(resolve => {
		const socket = open();
		const settle = (outcome: Reachable | undefined): void => {
			cancel();
			socket.removeAllListeners('connect').removeAllListeners('error');
			if (outcome === undefined) socket.on('error', () => undefined).destroy();
			resolve(outcome);
		};
		const cancel = clock.after(withinMs, () => settle(undefined));
		socket.once('connect', () => settle(socket)).once('error', () => settle(undefined));
	});
}
