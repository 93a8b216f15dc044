// Joins one system to the others: a stream per peer and lane, tells, asks and replies as bodies.
//
// Each lane is a stream of its own: what one of them loses or holds up does not concern the other, and messages between two actors
// always take the same one, so that they arrive in order.

import {Buffer} from 'node:buffer';
import {failure, type Failure} from '../../api/errors.js';
import {parseAddress, type Address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';
import type {ActorSystem} from '../kernel/actor-system.js';
import type {Message} from '../kernel/behavior.js';
import type {Clock} from '../time/clock.js';
import type {Lane, LaneOf, Link, Links} from './link.js';
import {withSpan, type Envelope, type Span} from '../kernel/mailbox.js';
import {Joiner, partOf, partsOf, type Part} from './body-parts.js';
import {Stream} from './stream.js';

/** Of all peers, or by name. */
export type Measure = boolean | ((peer: string) => boolean);

export type BusOptions = {
	readonly boot: string;
	readonly clock: Clock;
	readonly links: Links;
	/** The default is control for everything. */
	readonly laneOf?: LaneOf;
	/** Whether there is such a peer; of others nothing is taken, and nothing kept. The default is every one that comes. */
	readonly isPeer?: (peer: string) => boolean;
	/** Which messages a peer may send to which path; everything else is refused and counted. */
	readonly accepts: (from: string, path: Address, message: Message) => boolean;
	/** Message types that may be handled twice, and so are sent again to a peer that restarted. */
	readonly idempotent?: ReadonlySet<string>;
	/** Message types of which never many wait, as both ends see to; all others count against the bound of the mailbox. */
	readonly bounded?: ReadonlySet<string>;
	/** Whether bodies to a peer are measured. In one process they pass by reference and only their number is bounded. */
	readonly measure: Measure;
	/** The longest body of a packet: a larger one goes in parts. Without it one may have what goes into a packet between systems of the cluster. */
	readonly bodyBytes?: number;
	/** What is between this system and a peer begins anew: the peer restarted, or was silent for so long that it was forgotten. */
	readonly onBegin?: (peer: string) => void;
};

/** A lane of this system: its streams by peer, and of which peers a body is not whole yet. */
type Way = {
	readonly lane: Lane;
	readonly link: Link;
	readonly streams: Map<string, Stream>;
	readonly joiners: Map<string, Joiner>;
};

const wayOf = (lane: Lane, link: Link): Way => ({lane, link, streams: new Map(), joiners: new Map()});

export class Bus {
	readonly #options: BusOptions;
	readonly #ways: readonly Way[];
	readonly #control: Way;
	readonly #bulk: Way | undefined;
	#closed = false;
	/** How often a peer was forgotten: one that was is met as by another boot of this system, for nothing of before is known. */
	#forgotten = 0;
	#system: ActorSystem | undefined;
	readonly counters = {refused: 0, full: 0};

	constructor(options: BusOptions) {
		const {control, bulk} = options.links;
		this.#options = options;
		this.#control = wayOf('control', control);
		this.#bulk = bulk === undefined ? undefined : wayOf('bulk', bulk);
		this.#ways = this.#bulk === undefined ? [this.#control] : [this.#control, this.#bulk];
		for (const way of this.#ways) {
			way.link.onPacket((from, packet) => {
				if (!this.#closed && (options.isPeer?.(from) ?? true)) this.#streamTo(from, way).receive(packet);
			});
			way.link.onConnected?.(() => {
				for (const stream of way.streams.values()) stream.greet();
			});
		}
	}

	/** The system whose messages these are; set once, before anything is sent. */
	join(system: ActorSystem): void {
		this.#system = system;
	}

	/** The systems this one has heard of. */
	peers(): string[] {
		const isMet = ([, stream]: [string, Stream]): boolean => stream.peerBoot !== undefined;
		return [...new Set(this.#ways.flatMap(({streams}) => [...streams].filter(isMet).map(([peer]) => peer)))];
	}

	send(to: string, address: Address, {message, from, cause, span}: Envelope): void {
		const body = {to: address, from, cause, message: message as unknown as JsonObject, ...(span === undefined ? {} : {span})};
		const error = this.#offer(to, body, this.#wayOf(from, address));
		if (error === undefined) return;
		this.counters.full++;
		this.#system?.refuse(address, {message, from, cause, outside: false}, 'busy', error);
	}

	/** Why the body was not taken over, if it was not. */
	#offer(to: string, body: Json, way: Way): Failure | undefined {
		if (this.#closed) return failure('ERR_NOT_REACHABLE', {message: `"${to}" is not reachable: this system has left the bus`});
		const bytes = this.#bytesOf(to, body);
		const {bodyBytes} = this.#options;
		const most = bodyBytes === undefined ? limits.streamBodyBytes : limits.partedBodyBytes;
		if (bytes > most) {
			const message = `a message for "${to}" has ${bytes} bytes; one may have up to ${most}`;
			return failure('ERR_TOO_LARGE', {message});
		}
		const stream = this.#streamTo(to, way);
		const isWhole = bodyBytes === undefined || bytes <= bodyBytes;
		const isTaken = isWhole
			? stream.offer(body, bytes)
			: stream.offerAll(partsOf(body, bodyBytes).map(part => ({body: part, bytes: bodyBytes})));
		if (isTaken) return undefined;
		return failure('ERR_NOT_REACHABLE', {message: `"${to}" takes no more messages: it has not taken those that wait for it`});
	}

	#bytesOf(peer: string, body: Json): number {
		const {measure} = this.#options;
		const isMeasured = typeof measure === 'boolean' ? measure : measure(peer);
		return isMeasured ? Buffer.byteLength(JSON.stringify(body)) : 0;
	}

	/** The peer is gone for good: what waits for it, and what is known of it, goes. */
	forget(peer: string): void {
		for (const way of this.#ways) if (way.streams.has(peer)) this.#forget(peer, way);
	}

	async close(): Promise<void> {
		this.#closed = true;
		for (const {streams, joiners} of this.#ways) {
			for (const stream of streams.values()) stream.close();
			streams.clear();
			joiners.clear();
		}
		await Promise.all(this.#ways.map(({link}) => link.close()));
	}

	/** The lane of what goes from one actor to another; without a bulk link everything takes the other. */
	#wayOf(from: Address, to: Address): Way {
		const isBulk = this.#options.laneOf?.(from, to) === 'bulk';
		return isBulk && this.#bulk !== undefined ? this.#bulk : this.#control;
	}

	#streamTo(peer: string, way: Way): Stream {
		const known = way.streams.get(peer);
		if (known !== undefined) return known;
		const {boot, clock} = this.#options;
		const stream = new Stream({
			boot: this.#forgotten === 0 ? boot : `${boot}.${this.#forgotten}`,
			clock,
			send: packet => way.link.send(peer, packet),
			deliver: body => this.#take(peer, body, way),
			bytesOf: body => this.#bytesOf(peer, body),
			onPeerRestart: bodies => this.#peerRestarted(peer, bodies, way),
			// On a link that was away TCP waits for up to as long again, also where the beat's connection was luckier.
			onLate: () => way.link.verify?.(way === this.#bulk ? limits.bulkAnswerMs : limits.controlAnswerMs),
			onSilent: () => this.#forget(peer, way),
		});
		way.streams.set(peer, stream);
		return stream;
	}

	#take(peer: string, received: Json, way: Way): void {
		const part = partOf(received);
		const body = part === undefined ? received : this.#joined(peer, part, way);
		if (body === undefined) return;
		const parts = bodyOf(body);
		if (parts === undefined || !this.#isTaken(peer, parts)) {
			this.counters.refused++;
			return;
		}
		const {to, from, cause, message, span} = parts;
		const outside = this.#options.bounded?.has(message.type) !== true;
		if (this.#system?.receive(peer, to, withSpan({message, from, cause, outside}, span)) === false) this.counters.refused++;
	}

	/** The body that is whole with this part; undefined where it is not, or too much waits to be whole. */
	#joined(peer: string, part: Part, {joiners}: Way): Json | undefined {
		const joiner = joiners.get(peer) ?? new Joiner();
		const body = joiner.take(part);
		joiners.set(peer, joiner);
		const isKept = joiner.bytes > 0 && this.#partedBytes() <= limits.partedBodiesBytes;
		if (!isKept) joiners.delete(peer);
		if (body !== false && (body !== undefined || isKept)) return body;
		this.counters.refused++;
		return undefined;
	}

	/** What waits for its last part, of all peers. */
	#partedBytes(): number {
		return this.#ways.flatMap(({joiners}) => [...joiners.values()]).reduce((sum, {bytes}) => sum + bytes, 0);
	}

	/** A peer speaks for itself alone, to this system alone, and has answers sent to no other system. */
	#isTaken(peer: string, {to, from, message}: Body): boolean {
		const isOfPeer = (each: Address): boolean => parseAddress(each)?.system === peer;
		if (!isOfPeer(from) || parseAddress(to)?.system !== this.#system?.name) return false;
		if (message.replyTo !== undefined && !isOfPeer(message.replyTo.to)) return false;
		return this.#options.accepts(peer, to, message);
	}

	/** Only what took this lane: the other one finds out for itself, and may have met the new boot before. */
	#peerRestarted(peer: string, bodies: readonly Json[], way: Way): void {
		for (const body of bodies) {
			const parts = bodyOf(body);
			if (parts !== undefined && this.#options.idempotent?.has(parts.message.type) === true) this.#offer(peer, body, way);
		}
		this.#begin(peer, way);
	}

	/** A peer that never comes back must not be waited for and sent to for ever. */
	#forget(peer: string, way: Way): void {
		way.streams.get(peer)?.close();
		way.streams.delete(peer);
		way.joiners.delete(peer);
		this.#forgotten++;
		this.#begin(peer, way);
	}

	#begin(peer: string, way: Way): void {
		this.#system?.peerRestarted(peer, (from, to) => this.#wayOf(from, to) === way);
		if (way.lane === 'control') this.#options.onBegin?.(peer);
	}
}

type Body = {
	readonly to: Address;
	readonly from: Address;
	readonly cause: string;
	readonly message: Message;
	/** Undefined also where it makes no sense: what a trace is told is nothing that a message depends on. */
	readonly span: Span | undefined;
};

function bodyOf(body: Json): Body | undefined {
	if (!isObject(body)) return undefined;
	const {to, from, cause, message} = body;
	if (typeof to !== 'string' || typeof from !== 'string' || typeof cause !== 'string') return undefined;
	if (!isObject(message) || typeof message['type'] !== 'string') return undefined;
	const {replyTo} = message;
	if (replyTo !== undefined && !(isObject(replyTo) && ['to', 'as', 'id'].every(each => typeof replyTo[each] === 'string')))
		return undefined;
	return {to, from, cause, message: message as unknown as Message, span: spanOf(body['span'])};
}

function spanOf(span: unknown): Span | undefined {
	if (!isObject(span)) return undefined;
	const {id, traces, hops} = span;
	if (!isShort(id) || !Array.isArray(traces) || traces.length > limits.traces || !traces.every(isShort)) return undefined;
	return Number.isSafeInteger(hops) && (hops as number) >= 0 ? {id, traces, hops: hops as number} : undefined;
}

const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= limits.shownNameCharacters + 20;
