// Which server calls functions for this router: the one that leads, as the agent has told where servers are.
//
// What it keeps true: nothing is sent to a server that has not shown lately that it leads; while none does, nobody waits for one who can do without,
// and looking for one costs a handshake a second at most.

import type {ClientRequestArgs} from 'node:http';
import {Agent, get, request as httpsRequest, type RequestOptions} from 'node:https';
import {isIP} from 'node:net';
import type {Duplex} from 'node:stream';
import {serversKey, type NetworkServers} from '../../../actors/protocol/network-object.js';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import type {NetworkIndex} from '../index/network-index.js';
import {ConnectTimeout} from './connections.js';

export type FunctionServer = {
	/** Of this node, there. */
	readonly login: Pick<NetworkServers, 'node' | 'credential'>;
	readonly place: Pick<RequestOptions, 'host' | 'port' | 'servername'>;
	/** For what may be sent again; and for anything else, each request on a connection of its own. */
	readonly kept: Agent;
	readonly single: Agent;
};

export type FunctionServers = {
	/** Undefined: none leads. With `isUrgent` that is found out anew, if it is time to, before it is said. */
	readonly find: (isUrgent: boolean) => Promise<FunctionServer | undefined>;
	/** It has taken no connection, or has said that it does not lead. */
	readonly lost: (server: FunctionServer) => void;
};

export const requestToServer = httpsRequest;

type State = {
	readonly told: NetworkServers;
	readonly kept: Agent;
	readonly single: Agent;
	leader: FunctionServer | undefined;
	/** When it was last looked for, and whether in vain. */
	lookedMs: number;
	isNone: boolean;
	looking: Promise<FunctionServer | undefined> | undefined;
};

export function createFunctionServers(index: Pick<NetworkIndex, 'get'>, clock: Clock): FunctionServers {
	let state: State | undefined;

	/** Others, or another login: nothing of before counts. */
	const current = (): State | undefined => {
		const told = index.get(serversKey);
		if (told === state?.told) return state;
		state?.kept.destroy();
		state = told?.type === 'servers' ? stateOf(told, clock) : undefined;
		return state;
	};
	const look = (its: State): Promise<FunctionServer | undefined> => {
		its.looking ??= leadingOf(its, clock).then(found => {
			its.looking = undefined;
			its.leader = found;
			its.isNone = found === undefined;
			its.lookedMs = clock.monotonicMs();
			return found;
		});
		return its.looking;
	};
	return {
		find(isUrgent) {
			const its = current();
			if (its === undefined) return Promise.resolve(undefined);
			const restedMs = clock.monotonicMs() - its.lookedMs;
			if (its.leader !== undefined && restedMs <= limits.routerServerLookMs) return Promise.resolve(its.leader);
			if (!its.isNone) return look(its);
			const looking = its.looking ?? (restedMs > limits.routerServerAgainMs ? look(its) : undefined);
			return isUrgent && looking !== undefined ? looking : Promise.resolve(undefined);
		},
		lost(server) {
			if (state?.leader === server) state.leader = undefined;
		},
	};
}

const stateOf = (told: NetworkServers, clock: Clock): State => ({
	told,
	kept: new ServerConnections(told.ca, clock, true),
	single: new ServerConnections(told.ca, clock, false),
	leader: undefined,
	lookedMs: 0,
	isNone: false,
	looking: undefined,
});

/** All are asked at once: one that hangs holds up no other. */
function leadingOf({told, kept, single}: State, clock: Clock): Promise<FunctionServer | undefined> {
	const asked = told.servers.slice(0, limits.serversKept).map(async url => {
		const place = placeOf(url);
		await seenLeading(place, told.ca, clock);
		return {login: told, place, kept, single};
	});
	return Promise.any(asked).catch(() => undefined);
}

/** Node would take the name of the certificate from the Host of the client. */
function placeOf(url: string): FunctionServer['place'] {
	const {hostname, port} = new URL(url);
	const host = hostname.replace(/^\[|\]$/g, '');
	return {host, port: port === '' ? 443 : Number(port), servername: isIP(host) === 0 ? host : ''};
}

/** Rejects where it does not lead, or does not say so in time. */
function seenLeading(place: RequestOptions, ca: string, clock: Clock): Promise<void> {
	return new Promise((resolve, reject) => {
		const request = get({...place, path: '/readyz', ca, agent: false}, answer => {
			answer.resume();
			if (answer.statusCode === 200) resolve();
			else reject(new Error(`it does not lead: ${answer.statusCode}`));
		});
		const cancel = clock.after(limits.routerConnectMs, () => void request.destroy(new ConnectTimeout()));
		request.once('close', cancel);
		request.on('error', reject);
	});
}

class ServerConnections extends Agent {
	readonly #clock: Clock;

	constructor(ca: string, clock: Clock, keepAlive: boolean) {
		super({keepAlive, ca, maxFreeSockets: limits.routerRestingPerEndpoint, scheduling: 'lifo', timeout: limits.routerRestMs});
		this.#clock = clock;
	}

	override createConnection(options: ClientRequestArgs, done?: (error: Error | null, stream: Duplex) => void): Duplex | null | undefined {
		const socket = super.createConnection(options, done);
		const cancel = this.#clock.after(limits.routerConnectMs, () => void socket?.destroy(new ConnectTimeout()));
		socket?.once('secureConnect', cancel).once('close', cancel);
		return socket;
	}
}
