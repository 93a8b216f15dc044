// Joins one system to the others: one stream per peer over one link, tells, asks and replies as bodies.

import {Buffer} from 'node:buffer';
import {failure} from '../api/errors.js';
import type {Address} from '../api/keys.js';
import {limits} from '../api/limits.js';
import type {Json, JsonObject} from '../api/object.js';
import type {ActorSystem} from './actor-system.js';
import type {Message} from './behavior.js';
import type {Clock} from './clock.js';
import type {Link} from './link.js';
import type {Envelope} from './mailbox.js';
import {Stream} from './stream.js';

export type BusOptions = {
	readonly boot: string;
	readonly clock: Clock;
	readonly link: Link;
	/** Which messages a peer may send to which path; everything else is refused and counted. */
	readonly accepts: (from: string, path: Address, message: Message) => boolean;
	/** Message types that may be handled twice, and so are sent again to a peer that restarted. */
	readonly idempotent?: ReadonlySet<string>;
	/** Whether bodies are measured. In one process they pass by reference and only their number is bounded. */
	readonly measure: boolean;
};

export class Bus {
	readonly #options: BusOptions;
	readonly #streams = new Map<string, Stream>();
	#system: ActorSystem | undefined;
	readonly counters = {refused: 0, full: 0};

	constructor(options: BusOptions) {
		this.#options = options;
		options.link.onPacket((from, packet) => this.#streamTo(from).receive(packet));
	}

	/** The system whose messages these are; set once, before anything is sent. */
	join(system: ActorSystem): void {
		this.#system = system;
	}

	/** The systems this one has heard of. */
	peers(): string[] {
		return [...this.#streams].filter(([, stream]) => stream.peerBoot !== undefined).map(([peer]) => peer);
	}

	send(to: string, address: Address, {message, from, cause}: Envelope): void {
		const body = {to: address, from, cause, message: message as unknown as JsonObject};
		const bytes = this.#options.measure ? Buffer.byteLength(JSON.stringify(body)) : 0;
		if (bytes > limits.streamBodyBytes || !this.#streamTo(to).offer(body, bytes)) {
			this.counters.full++;
			const error = failure('ERR_NOT_REACHABLE', {
				message: `"${to}" takes no more messages: ${limits.streamWindowMessages} wait for it already`,
			});
			this.#system?.refuse(address, {message, from, cause, outside: false}, 'busy', error);
		}
	}

	async close(): Promise<void> {
		for (const stream of this.#streams.values()) stream.close();
		this.#streams.clear();
		await this.#options.link.close();
	}

	#streamTo(peer: string): Stream {
		const known = this.#streams.get(peer);
		if (known !== undefined) return known;
		const {boot, clock, link} = this.#options;
		const stream = new Stream({
			boot,
			clock,
			send: packet => link.send(peer, packet),
			deliver: body => this.#take(peer, body),
			onPeerRestart: bodies => this.#peerRestarted(peer, bodies),
		});
		this.#streams.set(peer, stream);
		return stream;
	}

	#take(peer: string, body: Json): void {
		const parts = bodyOf(body);
		const prefix = `troupe://${peer}/`;
		if (parts === undefined || !parts.from.startsWith(prefix) || !this.#options.accepts(peer, parts.to, parts.message)) {
			this.counters.refused++;
			return;
		}
		const {to, from, cause, message} = parts;
		this.#system?.route(to, {message, from, cause, outside: false});
	}

	#peerRestarted(peer: string, bodies: readonly Json[]): void {
		for (const body of bodies) {
			const parts = bodyOf(body);
			if (parts !== undefined && this.#options.idempotent?.has(parts.message.type) === true) this.#streamTo(peer).offer(body, 0);
		}
		this.#system?.failAsksOf(peer);
	}
}

function bodyOf(body: Json): {to: Address; from: Address; cause: string; message: Message} | undefined {
	if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
	const {to, from, cause, message} = body as JsonObject;
	if (typeof to !== 'string' || typeof from !== 'string' || typeof cause !== 'string') return undefined;
	if (typeof message !== 'object' || message === null || typeof (message as JsonObject)['type'] !== 'string') return undefined;
	return {to, from, cause, message: message as unknown as Message};
}
