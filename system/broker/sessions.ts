// Sessions of clients that asked for one: their filters, and what waits while the client is away. In memory and bounded.

import {topicMatches} from '../../api/mqtt-filter.js';
import {costOf, createSessionBytes, filterCost, type KeptPacket, type SessionBytes} from './session-queue.js';

export type SessionLimits = {
	readonly sessions: number;
	readonly sessionsPerLogin: number;
	/** Of one session. */
	readonly messages: number;
	readonly bytes: number;
	readonly bytesPerLogin: number;
	readonly bytesInAll: number;
};

/** A connected client, as sessions need to know it. */
export type SessionOwner = {
	readonly login: string;
	/** Another one of the same name is another login. */
	readonly credential: string | undefined;
	/** Whether a message on this topic may reach the login; asked for messages that are queued. */
	readonly allowed: (topic: string) => boolean;
};

export type SessionsOptions = SessionLimits & {
	/** The live connection of a client id. */
	readonly ownerOf: (clientId: string) => SessionOwner | undefined;
	readonly onDropped: (clientId: string) => void;
	/** Nothing is kept of this client any more. */
	readonly onForgotten: (clientId: string) => void;
};

/** A session that wants a message, and the best QoS any of its filters asks for. */
export type QueuedFor = {readonly clientId: string; readonly topic: string; readonly qos: 0 | 1 | 2};

export type Session = {
	readonly owner: SessionOwner;
	readonly filters: Map<string, 0 | 1 | 2>;
	queue: KeptPacket[];
	/** What filters and queue cost. */
	bytes: number;
	/** Of the last packet that was queued, and of the last one that was sent since its client came. */
	lastOrder: number;
	sentOrder: number;
	/** Its client is back, and gets the queue first: what is published meanwhile goes the same way [MQTT-4.6.0-6]. */
	isCatchingUp: boolean;
	onSent: () => void;
};

const newSession = (owner: SessionOwner): Session => ({
	owner,
	filters: new Map(),
	queue: [],
	bytes: 0,
	lastOrder: 0,
	sentOrder: 0,
	isCatchingUp: false,
	onSent: () => undefined,
});

/** It is on its way, or needs no way any more. */
function noteSent(session: Session, {order = 0}: KeptPacket): void {
	if (order <= session.sentOrder) return;
	session.sentOrder = order;
	session.onSent();
}

/** By client id. */
export class Sessions {
	readonly #options: SessionsOptions;
	readonly #sessions = new Map<string, Session>();
	/** What they cost, all together and by login. */
	readonly #held: SessionBytes;

	constructor(options: SessionsOptions) {
		this.#options = options;
		this.#held = createSessionBytes(options);
	}

	of(clientId: string): Session | undefined {
		return this.#sessions.get(clientId);
	}

	count(): number {
		return this.#sessions.size;
	}

	/** What they cost, all together. */
	bytes(): number {
		return this.#held.all();
	}

	forget(clientId: string): void {
		const session = this.#sessions.get(clientId);
		if (session !== undefined) this.#charge(session, -session.bytes);
		this.#sessions.delete(clientId);
		this.#options.onForgotten(clientId);
	}

	forgetOf(login: string): void {
		for (const clientId of this.#idsOf(login)) this.forget(clientId);
	}

	/** A filter of a connected client, whose session is made when there is room among those of its login, and among all. */
	keep(clientId: string, filter: string, qos: 0 | 1 | 2): void {
		const session = this.#sessionFor(clientId);
		if (session !== undefined && (session.filters.has(filter) || this.#charge(session, filterCost(filter))))
			session.filters.set(filter, qos);
	}

	dropFilters(clientId: string, filters: readonly string[]): void {
		const session = this.#sessions.get(clientId);
		for (const filter of filters) if (session?.filters.delete(filter) === true) this.#charge(session, -filterCost(filter));
	}

	/** Those that want a message at more than QoS 0. */
	wanting(topic: string): QueuedFor[] {
		const found: QueuedFor[] = [];
		if (topic.startsWith('$')) return found;
		for (const [clientId, {filters}] of this.#sessions) {
			let best: 0 | 1 | 2 = 0;
			for (const [filter, qos] of filters) if (qos > best && topicMatches(filter, topic)) best = qos;
			if (best > 0) found.push({clientId, topic, qos: best});
		}
		return found;
	}

	enqueue(clientId: string, packet: KeptPacket): void {
		const session = this.#sessions.get(clientId);
		if (session === undefined || !session.owner.allowed(packet.topic ?? '')) return;
		if (session.queue.length >= this.#options.messages || !this.#charge(session, costOf(packet))) return this.#options.onDropped(clientId);
		// From a queue it comes as a message of an established subscription [MQTT-3.3.1-9].
		session.lastOrder += 1;
		session.queue.push({...packet, retain: false, messageId: undefined, order: session.lastOrder});
	}

	dropWhere(clientId: string, matches: (packet: KeptPacket) => boolean): KeptPacket | undefined {
		const session = this.#sessions.get(clientId);
		const found = session?.queue.find(matches);
		if (session === undefined || found === undefined) return undefined;
		session.queue = session.queue.filter(packet => packet !== found);
		this.#charge(session, -costOf(found));
		noteSent(session, found);
		return found;
	}

	/** The same publish, or the PUBLISH that this PUBREL goes on with. */
	replaceIn(session: Session, packet: KeptPacket): void {
		const {queue} = session;
		const isPublish = packet.brokerCounter !== undefined;
		const at = queue.findIndex(kept =>
			isPublish ? kept.brokerCounter === packet.brokerCounter : kept.messageId !== undefined && kept.messageId === packet.messageId,
		);
		const kept = queue[at];
		if (kept === undefined) return;
		noteSent(session, kept);
		if (isPublish) {
			kept.messageId = packet.messageId;
			return;
		}
		const release = {...packet, ...(kept.order === undefined ? {} : {order: kept.order})};
		queue[at] = release;
		this.#charge(session, costOf(release) - costOf(kept));
	}

	/** Counts more of a session, or less; false where there is no room. */
	#charge(session: Session, more: number): boolean {
		const {login} = session.owner;
		if (more > 0 && (session.bytes + more > this.#options.bytes || !this.#held.take(login, more))) return false;
		if (more < 0) this.#held.release(login, -more);
		session.bytes += more;
		return true;
	}

	/** Where there are so many of these, the oldest one without a client makes room; false if none can. */
	#hasRoom(ids: readonly string[], most: number): boolean {
		if (ids.length < most) return true;
		const idle = ids.find(id => this.#options.ownerOf(id) === undefined);
		if (idle !== undefined) this.forget(idle);
		return idle !== undefined;
	}

	#idsOf(login: string): string[] {
		return [...this.#sessions].filter(([, {owner}]) => owner.login === login).map(([id]) => id);
	}

	#sessionFor(clientId: string): Session | undefined {
		const known = this.#sessions.get(clientId);
		const owner = this.#options.ownerOf(clientId);
		if (known !== undefined || owner === undefined) return known;
		if (
			!this.#hasRoom(this.#idsOf(owner.login), this.#options.sessionsPerLogin) ||
			!this.#hasRoom([...this.#sessions.keys()], this.#options.sessions)
		)
			return undefined;
		const session = newSession(owner);
		this.#sessions.set(clientId, session);
		return session;
	}
}
