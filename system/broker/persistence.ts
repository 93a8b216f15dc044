// What aedes wants kept (the interface of aedes-persistence 11, promises): sessions of clients that asked for one, in memory
// and bounded. Retained messages are handled outside: they are stored through `storeRetained`, and replayed by the broker at
// its own pace, so the stream that aedes would send at once and unpaced is empty. Wills live with their connection; a broker
// that is alone has none of other brokers to publish.

import {Readable} from 'node:stream';
import type {Login} from './ports.js';
import type {Retained} from './retained-tree.js';
import {withOwnPayload, type KeptPacket} from './session-queue.js';
import {Sessions, type QueuedFor, type Session, type SessionsOptions} from './sessions.js';

export type PersistenceOptions = Omit<SessionsOptions, 'onForgotten'> & {readonly onRetained: (message: Retained) => void};

export type {KeptPacket} from './session-queue.js';

type ClientRef = {readonly id: string};
type Subscription = {readonly topic: string; readonly qos: 0 | 1 | 2};

const nothing = Promise.resolve();

/** What has a message id was on its way already [MQTT-3.3.1-1]. */
const asSentAgain = (packet: KeptPacket): KeptPacket =>
	packet.messageId === undefined || packet.cmd === 'pubrel' ? packet : {...packet, dup: true};

/** All that waits, also what comes meanwhile. It ends when everything has been sent: streams take packets before they send them. */
async function* catchUp(session: Session): AsyncGenerator<KeptPacket> {
	let taken = 0;
	for (;;) {
		const packet = session.queue.find(({order = 0}) => order > taken);
		if (packet !== undefined) {
			taken = packet.order ?? 0;
			yield asSentAgain(packet);
		} else if (session.sentOrder < taken) await new Promise<void>(resolve => (session.onSent = resolve));
		else break;
	}
	session.isCatchingUp = false;
}

export class Persistence {
	readonly #options: PersistenceOptions;
	/** QoS 2 message ids taken and not yet released, by client; aedes bounds how many. */
	readonly #incoming = new Map<string, Set<number>>();
	readonly #sessions: Sessions;

	constructor(options: PersistenceOptions) {
		this.#options = options;
		this.#sessions = new Sessions({...options, onForgotten: clientId => void this.#incoming.delete(clientId)});
	}

	/** Another login never gets what was queued for this one, also if it has the same name. */
	claim(clientId: string, {name, credential}: Login): void {
		const owner = this.#sessions.of(clientId)?.owner;
		if (owner !== undefined && (owner.login !== name || owner.credential !== credential)) this.#sessions.forget(clientId);
	}

	/** The login is no more, and nothing is kept for it. */
	dropOf(login: string): void {
		this.#sessions.forgetOf(login);
	}

	/** A filter that was granted to a client that keeps a session. */
	keep(clientId: string, filter: string, qos: 0 | 1 | 2): void {
		this.#sessions.keep(clientId, filter, qos);
	}

	/** How many are kept, and what they cost. */
	sessions(): number {
		return this.#sessions.count();
	}

	bytes(): number {
		return this.#sessions.bytes();
	}

	/** Whether a QoS 2 message of that id came already and was not released. */
	hasIncoming(clientId: string, messageId: number): boolean {
		return this.#incoming.get(clientId)?.has(messageId) === true;
	}

	/** Whether a publish that is on its way to a client reaches it from its queue, or has done so. */
	comesFromQueue(clientId: string, brokerCounter: number | undefined): boolean {
		const session = this.#sessions.of(clientId);
		const kept = session?.queue.find(packet => packet.brokerCounter === brokerCounter);
		return session !== undefined && kept !== undefined && (session.isCatchingUp || kept.messageId !== undefined);
	}

	// From here on: called by aedes.
	async setup(): Promise<void> {
		await nothing; // aedes looks whether it is an async function.
	}

	storeRetained(packet: KeptPacket): Promise<void> {
		// The payload is a slice of what came in one read; a copy lets go of the rest.
		this.#options.onRetained({
			topic: packet.topic ?? '',
			payload: Buffer.from(packet.payload ?? ''),
			qos: packet.qos ?? 0,
			by: packet.clientId,
		});
		return nothing;
	}

	createRetainedStreamCombi(): Readable {
		return Readable.from([]);
	}

	/** Called for each filter of a packet with all of them, refused ones among them: `keep` is told of each by itself. */
	addSubscriptions(): Promise<void> {
		return nothing;
	}

	removeSubscriptions(client: ClientRef, filters: readonly string[]): Promise<void> {
		this.#sessions.dropFilters(client.id, filters);
		return nothing;
	}

	subscriptionsByClient(client: ClientRef): Promise<Subscription[]> {
		const session = this.#sessions.of(client.id);
		// Its client is here again: after this its filters are served, then its queue is sent.
		if (session !== undefined) session.isCatchingUp = true;
		return Promise.resolve([...(session?.filters ?? [])].map(([topic, qos]) => ({topic, qos})));
	}

	/** A clean session begins: nothing of an older one stays [MQTT-3.1.2-6]. */
	cleanSubscriptions(client: ClientRef): Promise<void> {
		this.#sessions.forget(client.id);
		return nothing;
	}

	subscriptionsByTopic(topic: string): Promise<QueuedFor[]> {
		return Promise.resolve(this.#sessions.wanting(topic));
	}

	outgoingEnqueue(subscription: {clientId: string}, packet: KeptPacket): Promise<void> {
		this.#sessions.enqueue(subscription.clientId, withOwnPayload(packet));
		return nothing;
	}

	outgoingEnqueueCombi(subscriptions: readonly QueuedFor[], packet: KeptPacket): Promise<void> {
		const own = subscriptions.length === 0 ? packet : withOwnPayload(packet);
		for (const {clientId, qos} of subscriptions)
			this.#sessions.enqueue(clientId, {...own, qos: Math.min(qos, packet.qos ?? 0) as 0 | 1 | 2});
		return nothing;
	}

	/** A packet that found no room is unknown here; its client gets it all the same. */
	outgoingUpdate(client: ClientRef, packet: KeptPacket): Promise<void> {
		const session = this.#sessions.of(client.id);
		if (session !== undefined) this.#sessions.replaceIn(session, packet);
		return nothing;
	}

	outgoingClearMessageId(client: ClientRef, packet: KeptPacket): Promise<KeptPacket | undefined> {
		const {messageId} = packet;
		return Promise.resolve(messageId === undefined ? undefined : this.#sessions.dropWhere(client.id, kept => kept.messageId === messageId));
	}

	outgoingStream(client: ClientRef): Readable {
		const session = this.#sessions.of(client.id);
		if (session === undefined) return Readable.from([]);
		session.sentOrder = 0;
		return Readable.from(catchUp(session));
	}

	incomingStorePacket(client: ClientRef, packet: KeptPacket): Promise<void> {
		const ids = this.#incoming.get(client.id) ?? new Set();
		this.#incoming.set(client.id, ids.add(packet.messageId ?? 0));
		const idle =
			this.#incoming.size > this.#options.sessions
				? [...this.#incoming.keys()].find(id => this.#options.ownerOf(id) === undefined)
				: undefined;
		if (idle !== undefined) this.#incoming.delete(idle);
		return nothing;
	}

	incomingGetPacket(client: ClientRef, packet: KeptPacket): Promise<KeptPacket> {
		const known = this.#incoming.get(client.id)?.has(packet.messageId ?? 0) === true;
		return known ? Promise.resolve({messageId: packet.messageId}) : Promise.reject(new Error('no such packet'));
	}

	incomingDelPacket(client: ClientRef, packet: KeptPacket): Promise<void> {
		const ids = this.#incoming.get(client.id);
		const known = ids?.delete(packet.messageId ?? 0) === true;
		if (ids?.size === 0) this.#incoming.delete(client.id);
		return known ? nothing : Promise.reject(new Error('no such packet'));
	}

	cleanIncoming(client: ClientRef): Promise<void> {
		this.#incoming.delete(client.id);
		return nothing;
	}

	putWill(): Promise<void> {
		return nothing;
	}

	delWill(): Promise<void> {
		return nothing;
	}

	streamWill(): Readable {
		return Readable.from([]);
	}
}
