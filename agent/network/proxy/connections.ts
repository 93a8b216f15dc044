// The TCP connections of a node's clients, each with the endpoint it was led to.

import type {Socket} from 'node:net';
import {limits} from '../../../api/limits.js';
import type {Dial} from '../../relay/dial.js';
import type {Clock} from '../../../system/time/clock.js';
import {placeText, type EndpointPlace, type ServedPlace, type ServedPort} from '../services/served-port.js';
import type {Choice} from './choice.js';
import type {Counters} from './counters.js';
import {createHeldBytes} from './held-bytes.js';
import {reach, type Reachable} from './reach.js';
import {relay, reset, type Relay} from './relay.js';

/** What connections and flows need to know of their served port. */
export type PortLook = {
	/** Undefined: there is no such port any more. */
	readonly get: (key: string) => ServedPort | undefined;
	readonly counters: (key: string) => Counters;
	/** Whether this process itself listens there: what is led there comes back. */
	readonly isOwn: (endpoint: EndpointPlace) => boolean;
};

export type Connections = {
	/** A client has come to a place of that port. */
	readonly accept: (key: string, place: ServedPlace, client: Socket) => void;
	/** Endpoints of that port are there no more: what still runs to them is ended as soon as nothing moves. */
	readonly review: (key: string) => void;
	readonly open: () => number;
	readonly cutAll: () => void;
};

type Connection = {readonly endpoint: EndpointPlace; readonly relay: Relay; isLeaving: boolean};

/** `dial`: to endpoints that are reached by the agents. */
export function createConnections(look: PortLook, choice: Choice, clock: Clock, dial: Dial): Connections {
	const byPort = new Map<string, Set<Connection>>();
	const clients = new Set<Socket>();
	const held = createHeldBytes(limits.proxyHeldBytes);

	const begin = async (key: string, place: ServedPlace, client: Socket): Promise<void> => {
		const counters = look.counters(key);
		const served = look.get(key);
		const address = client.remoteAddress ?? '';
		const endpoints = served === undefined ? [] : choice.order(served, place, address);
		const reached = await reach(
			withoutOwn(endpoints),
			() => !client.destroyed,
			clock,
			dial,
			() => (counters.failed += 1),
		);
		if (reached === undefined || client.destroyed) {
			reached?.socket.on('error', () => undefined).destroy();
			if (!client.destroyed) counters.refused += 1;
			reset(client);
			return;
		}
		if (served !== undefined) choice.reached(served, address, reached.endpoint);
		join(key, client, reached.socket, reached.endpoint, counters);
	};
	const withoutOwn = function* (endpoints: Iterable<EndpointPlace>): Generator<EndpointPlace> {
		for (const endpoint of endpoints) if (!look.isOwn(endpoint)) yield endpoint;
	};
	const join = (key: string, client: Socket, server: Reachable, endpoint: EndpointPlace, counters: Counters): void => {
		const connections = byPort.get(key) ?? new Set();
		byPort.set(key, connections);
		const over = (): void => {
			connections.delete(connection);
			counters.open -= 1;
			if (connections.size === 0 && byPort.get(key) === connections) byPort.delete(key);
		};
		const connection: Connection = {endpoint, relay: relay(client, server, counters, held, over), isLeaving: false};
		connections.add(connection);
		counters.connections += 1;
		counters.open += 1;
		if (!isKnown(key, endpoint)) leave(key, connection);
	};
	const isKnown = (key: string, endpoint: EndpointPlace): boolean =>
		look.get(key)?.known.some(known => placeText(known) === placeText(endpoint)) === true;
	/** What an endpoint said before it went still reaches the client; nothing comes from one that is gone. */
	const leave = (key: string, connection: Connection): void => {
		if (connection.isLeaving) return;
		connection.isLeaving = true;
		const moved = connection.relay.moved();
		clock.after(limits.proxyGoneMs, () => {
			connection.isLeaving = false;
			if (byPort.get(key)?.has(connection) !== true || connection.relay.isAnswered() || isKnown(key, connection.endpoint)) return;
			if (connection.relay.moved() === moved) connection.relay.cut();
			else leave(key, connection);
		});
	};
	return {
		accept(key, place, client) {
			// Without a listener it would end the process; what it means is seen at its close.
			client.on('error', () => undefined);
			clients.add(client);
			client.once('close', () => void clients.delete(client));
			client.setNoDelay(true);
			client.setKeepAlive(true, limits.proxyKeepAliveMs);
			void begin(key, place, client);
		},
		review(key) {
			for (const connection of byPort.get(key) ?? []) if (!isKnown(key, connection.endpoint)) leave(key, connection);
		},
		open: () => clients.size,
		cutAll() {
			for (const client of clients) reset(client);
		},
	};
}
