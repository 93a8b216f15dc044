// Connections to endpoints. One that has answered is kept for the next request; it is closed when it has rested for long, when its endpoint is none
// any more, and when enough others rest.

import {Agent, type ClientRequest, type ClientRequestArgs} from 'node:http';
import {connect} from 'node:net';
import type {Duplex} from 'node:stream';
import {limits} from '../../../api/limits.js';
import type {Dial} from '../../relay/dial.js';
import type {Clock} from '../../../system/time/clock.js';
import type {Endpoint, Endpoints} from './endpoints.js';
import type {Backend} from './routes.js';

/** What a request to an endpoint says of it, for its connection. */
export type EndpointRequest = ClientRequestArgs & {readonly backend: Backend; readonly endpoint: Endpoint};

/** The endpoint does not take the connection. */
export class ConnectTimeout extends Error {}

export class Connections extends Agent {
	readonly isKept: boolean;
	readonly #endpoints: Endpoints;
	readonly #clock: Clock;
	readonly #dial: Dial;
	readonly #uses = new WeakMap<Duplex, Pick<EndpointRequest, 'backend' | 'endpoint'>>();
	readonly #resting = new Set<Duplex>();

	/** Without `keepAlive` each request has a connection of its own. */
	constructor(endpoints: Endpoints, clock: Clock, dial: Dial, keepAlive: boolean) {
		super({keepAlive, maxFreeSockets: limits.routerRestingPerEndpoint, scheduling: 'lifo', timeout: limits.routerRestMs});
		this.isKept = keepAlive;
		this.#endpoints = endpoints;
		this.#clock = clock;
		this.#dial = dial;
		if (keepAlive) endpoints.onChange(() => this.#closeUnused());
	}

	override createConnection(options: ClientRequestArgs): Duplex {
		const {backend, endpoint} = options as EndpointRequest;
		const socket = this.#connected(endpoint);
		const cancel = this.#clock.after(limits.routerConnectMs, () => void socket.destroy(new ConnectTimeout()));
		socket.once('connect', cancel);
		socket.once('close', () => {
			cancel();
			this.#resting.delete(socket);
		});
		this.#uses.set(socket, {backend, endpoint});
		return socket;
	}

	/** Asked when a connection has nothing to do. */
	override keepSocketAlive(socket: Duplex): boolean {
		if (this.#resting.size >= limits.routerResting || !this.#isUsed(socket)) return false;
		// It answers, which its types do not say, whether the endpoint is going to keep the connection, too.
		if (!(super.keepSocketAlive(socket) as unknown as boolean)) return false;
		this.#resting.add(socket);
		return true;
	}

	override reuseSocket(socket: Duplex, request: ClientRequest): void {
		this.#resting.delete(socket);
		super.reuseSocket(socket, request);
	}

	#connected({address, port, via}: Endpoint): Duplex {
		return via === undefined ? connect({host: address, port, noDelay: true}) : this.#dial({node: via, address, port});
	}

	#isUsed(socket: Duplex): boolean {
		const use = this.#uses.get(socket);
		return use !== undefined && this.#endpoints.isUsed(use.backend, use.endpoint);
	}

	#closeUnused(): void {
		for (const socket of this.#resting) if (!this.#isUsed(socket)) socket.destroy();
	}
}
