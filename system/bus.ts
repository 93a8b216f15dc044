// Joins one system to the others: one stream per peer over one link, tells, asks and replies as bodies.

import {Buffer} from 'node:buffer';
import {failure, type Failure} from '../api/errors.js';
import {parseAddress, type Address} from '../api/keys.js';
import {limits} from '../api/limits.js';
import {isObject, type Json, type JsonObject} from '../api/object.js';
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
	#closed = false;
	#system: ActorSystem | undefined;
	readonly counters = {refused: 0, full: 0};

	constructor(options: BusOptions) {
		this.#options = options;
		options.link.onPacket((from, packet) => {
			if (!this.#closed) this.#streamTo(from).receive(packet);
		});
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
		const error = this.#offer(to, body);
		if (error === undefined) return;
		this.counters.full++;
		this.#system?.refuse(address, {message, from, cause, outside: false}, 'busy', error);
	}

	/** Why the body was not taken over, if it was not. */
	#offer(to: string, body: Json): Failure | undefined {
		if (this.#closed) return failure('ERR_NOT_REACHABLE', {message: `"${to}" is not reachable: this system has left the bus`});
		const bytes = this.#options.measure ? Buffer.byteLength(JSON.stringify(body)) : 0;
		if (bytes > limits.streamBodyBytes) {
			const message = `a message for "${to}" has ${bytes} bytes; one may have up to ${limits.streamBodyBytes}`;
			return failure('ERR_TOO_LARGE', {message});
		}
		if (this.#streamTo(to).offer(body, bytes)) return undefined;
		return failure('ERR_NOT_REACHABLE', {message: `"${to}" takes no more messages: it has not taken those that wait for it`});
	}

	async close(): Promise<void> {
		this.#closed = true;
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
		if (parts === undefined || !this.#isTaken(peer, parts)) {
			this.counters.refused++;
			return;
		}
		const {to, from, cause, message} = parts;
		this.#system?.route(to, {message, from, cause, outside: false});
	}

	/** A peer speaks for itself alone, to this system alone, and has answers sent to nobody else. */
	#isTaken(peer: string, {to, from, message}: Body): boolean {
		const isOfPeer = (each: Address): boolean => parseAddress(each)?.system === peer;
		if (!isOfPeer(from) || parseAddress(to)?.system !== this.#system?.name) return false;
		if (message.replyTo !== undefined && !isOfPeer(message.replyTo.to)) return false;
		return this.#options.accepts(peer, to, message);
	}

	#peerRestarted(peer: string, bodies: readonly Json[]): void {
		for (const body of bodies) {
			const parts = bodyOf(body);
			if (parts !== undefined && this.#options.idempotent?.has(parts.message.type) === true) this.#offer(peer, body);
		}
		this.#system?.failAsksOf(peer);
	}
}

type Body = {readonly to: Address; readonly from: Address; readonly cause: string; readonly message: Message};

function bodyOf(body: Json): Body | undefined {
	if (!isObject(body)) return undefined;
	const {to, from, cause, message} = body;
	if (typeof to !== 'string' || typeof from !== 'string' || typeof cause !== 'string') return undefined;
	if (!isObject(message) || typeof message['type'] !== 'string') return undefined;
	const {replyTo} = message;
	if (replyTo !== undefined && !(isObject(replyTo) && ['to', 'as', 'id'].every(each => typeof replyTo[each] === 'string')))
		return undefined;
	return {to, from, cause, message: message as unknown as Message};
}
