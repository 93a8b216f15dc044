// Connections to instances of functions, from the server: to those of a node in this process directly, to others as sessions over the node's one
// connection. One that has answered is kept for the next call to the same instance.

import {Agent, type AgentOptions, type ClientRequestArgs} from 'node:http';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import type {Slot} from '../../actors/control/functions/function-message.js';
import {AppError, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {SessionStream} from '../../system/links/session-stream.js';
import type {Clock} from '../../system/time/clock.js';
import type {ControlPlane} from '../control-plane.js';
import {askNode} from '../http/node-ask.js';
import {remoteOf, type Asker} from '../http/node-session.js';

/** Connects to an instance at a node of this process; undefined where the node is elsewhere. */
export type ConnectHere = (node: string) => ((uid: string) => Promise<Socket>) | undefined;

export type InstanceRequest = ClientRequestArgs & {readonly slot: Slot};

type ConnectionsOptions = {readonly control: ControlPlane; readonly clock: Clock; readonly connectHere: ConnectHere};

/** Nothing of a request has reached the instance. */
export class InstanceNotReached extends Error {}

/** An instance that ends a connection answers nothing more on it, though it could still be written to. After whoever reads has seen the end. */
const closedWithItsEnd = <Stream extends Duplex>(stream: Stream): Stream => stream.once('end', () => setImmediate(() => stream.destroy()));

export class InstanceConnections extends Agent {
	readonly #options: ConnectionsOptions;

	constructor(options: ConnectionsOptions) {
		super({keepAlive: true, maxFreeSockets: limits.routerRestingPerEndpoint, scheduling: 'lifo', timeout: limits.routerRestMs});
		this.#options = options;
	}

	override getName(options?: AgentOptions): string {
		return (options as InstanceRequest | undefined)?.slot.uid ?? '';
	}

	override createConnection(options: ClientRequestArgs, done: (error: Error | null, stream: Duplex) => void): undefined {
		const {slot} = options as InstanceRequest;
		const {connectHere} = this.#options;
		const connect = connectHere(slot.node) ?? ((uid: string): Promise<Duplex> => this.#connectThere(slot.node, uid));
		connect(slot.uid).then(
			stream => done(null, closedWithItsEnd(stream)),
			(error: unknown) => done(new InstanceNotReached((error as Error).message), undefined as unknown as Duplex),
		);
		return undefined;
	}

	async #connectThere(node: string, uid: string): Promise<Duplex> {
		const {control, clock} = this.#options;
		const ask: Asker = (message, waitMs = 0) =>
			askNode({control}, {node, message, waitMs, cause: 'a call of a function', what: 'its functions are'});
		const opened: Outcome<{readonly session: string}> = await ask(
			{type: 'forwardOpen', request: {uid, port: 'function'}},
			limits.forwardConnectMs,
		);
		if (!opened.ok) throw AppError.of(opened.error);
		const remote = remoteOf(ask, opened.value.session);
		return new SessionStream(
			{
				read: then => void remote.read().then(then),
				write: (data, isLast, then) => void remote.write(data, isLast).then(then),
				keep: () => void remote.keep(),
				close: () => void remote.close(),
			},
			clock,
		);
	}
}
