// Requests that wait for an answer of an endpoint which gets no new ones any more: its pod may finish them, or its host may be dead, and then nothing
// tells. A connection does: a host that lives takes it or refuses it.

import {connect} from 'node:net';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import {hasCode} from '../../../system/files/errno.js';
import type {Endpoint, Endpoints} from './endpoints.js';
import type {Backend} from './routes.js';

export type Doubts = {
	/** `onLost` is called, at most once, when the endpoint is not used any more and its host is not there. Returns what ends the wait. */
	readonly waitFor: (backend: Backend, endpoint: Endpoint, onLost: () => void) => () => void;
};

type Waiting = {readonly backend: Backend; readonly endpoint: Endpoint; readonly onLost: () => void};

/** `isThere`: whether anything answers for an endpoint. */
export function createDoubts(
	endpoints: Pick<Endpoints, 'isUsed' | 'onChange'>,
	clock: Clock,
	isThere: (endpoint: Endpoint) => Promise<boolean> = endpoint => answers(endpoint, clock),
): Doubts {
	const all = new Map<string, Set<Waiting>>();
	/** Endpoints that are tried, or are to be tried again: as long as somebody waits for them. */
	const tried = new Set<string>();

	const doubted = (name: string): readonly Waiting[] =>
		[...(all.get(name) ?? [])].filter(({backend, endpoint}) => !endpoints.isUsed(backend, endpoint));

	const look = async (name: string): Promise<void> => {
		const [first] = doubted(name);
		if (first === undefined) return void tried.delete(name);
		if (await isThere(first.endpoint)) return void clock.after(limits.routerConnectMs, () => void look(name));
		tried.delete(name);
		for (const waiting of doubted(name)) {
			all.get(name)?.delete(waiting);
			waiting.onLost();
		}
	};
	endpoints.onChange(() => {
		for (const name of all.keys()) {
			if (tried.has(name) || doubted(name).length === 0) continue;
			tried.add(name);
			void look(name);
		}
	});
	return {
		waitFor(backend, endpoint, onLost) {
			// The agents that relay to it notice a dead host themselves, and it cannot be tried from here.
			if (endpoint.via !== undefined) return () => undefined;
			const name = `${endpoint.address}:${endpoint.port}`;
			const waiting: Waiting = {backend, endpoint, onLost};
			const its = all.get(name) ?? new Set();
			all.set(name, its.add(waiting));
			return () => {
				its.delete(waiting);
				if (its.size === 0 && all.get(name) === its) all.delete(name);
			};
		},
	};
}

/** With a connection, or by refusing it. */
function answers({address, port}: Endpoint, clock: Clock): Promise<boolean> {
	return new Promise(resolve => {
		const socket = connect({host: address, port});
		const settle = (outcome: boolean): void => {
			cancel();
			socket.destroy();
			resolve(outcome);
		};
		const cancel = clock.after(limits.routerConnectMs, () => settle(false));
		socket.once('connect', () => settle(true));
		socket.on('error', error => settle(hasCode(error, 'ECONNREFUSED')));
	});
}
