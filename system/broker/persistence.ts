// What aedes wants kept (the interface of aedes-persistence 11, promises): sessions of clients that asked for one, in memory
// and bounded. Retained messages are handled outside: they are stored through `storeRetained`, and replayed by the broker at
// its own pace, so the stream that aedes would send at once and unpaced is empty. Wills live with their connection; a broker
// that is alone has none of other brokers to publish.

import {Readable} from 'node:stream';
import {topicMatches} from '../../api/mqtt-filter.js';
import type {Login} from './ports.js';
import type {Retained} from './retained-tree.js';
import {costOf, createSessionBytes, filterCost, withOwnPayload, type KeptPacket} from './session-queue.js';

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

export type PersistenceOptions = SessionLimits & {
	/** The live connection of a client id. */
	readonly ownerOf: (clientId: string) => SessionOwner | undefined;
	readonly onRetained: (message: Retained) => void;
	readonly onDropped: (clientId: string) => void;
};

export type {KeptPacket} from './session-queue.js';

type ClientRef = {readonly id: string};
type Subscription = {readonly topic: string; readonly qos: 0 | 1 | 2};

/** A session that wants a message, and the best QoS any of its filters asks for. */
type QueuedFor = {readonly clientId: string; readonly topic: string; readonly qos: 0 | 1 | 2};

type Session = {
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

const nothing = Promise.resolve();

/** What has a message id was on its way already [MQTT-3.3.1-1]. */
const asSentAgain = (packet: KeptPacket): KeptPacket =>
	packet.messageId === undefined || packet.cmd === 'pubrel' ? packet : {...packet, dup: true};

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

export type Persistence = ReturnType<typeof createPersistence>;

export function createPersistence({ownerOf, onRetained, onDropped, ...bounds}: PersistenceOptions) {
	const sessions = new Map<string, Session>();
	/** QoS 2 message ids taken and not yet released, by client; aedes bounds how many. */
	const incoming = new Map<string, Set<number>>();
	const held = createSessionBytes(bounds);

	/** Counts more of a session, or less; false where there is no room. */
	const count = (session: Session, more: number): boolean => {
		const {login} = session.owner;
		if (more > 0 && (session.bytes + more > bounds.bytes || !held.take(login, more))) return false;
		if (more < 0) held.release(login, -more);
		session.bytes += more;
		return true;
	};

	const forget = (clientId: string): void => {
		const session = sessions.get(clientId);
		if (session !== undefined) count(session, -session.bytes);
		sessions.delete(clientId);
		incoming.delete(clientId);
	};

	/** Where there are so many of these, the oldest one without a client makes room; false if none can. */
	const hasRoom = (ids: readonly string[], most: number): boolean => {
		if (ids.length < most) return true;
		const idle = ids.find(id => ownerOf(id) === undefined);
		if (idle !== undefined) forget(idle);
		return idle !== undefined;
	};

	const idsOf = (login: string): string[] => [...sessions].filter(([, {owner}]) => owner.login === login).map(([id]) => id);

	/** The session of a connected client, made when there is room among those of its login, and among all. */
	const sessionFor = (clientId: string): Session | undefined => {
		const known = sessions.get(clientId);
		const owner = ownerOf(clientId);
		if (known !== undefined || owner === undefined) return known;
		if (!hasRoom(idsOf(owner.login), bounds.sessionsPerLogin) || !hasRoom([...sessions.keys()], bounds.sessions)) return undefined;
		const session = newSession(owner);
		sessions.set(clientId, session);
		return session;
	};

	const enqueue = (clientId: string, packet: KeptPacket): void => {
		const session = sessions.get(clientId);
		if (session === undefined || !session.owner.allowed(packet.topic ?? '')) return;
		if (session.queue.length >= bounds.messages || !count(session, costOf(packet))) return onDropped(clientId);
		// From a queue it comes as a message of an established subscription [MQTT-3.3.1-9].
		session.lastOrder += 1;
		session.queue.push({...packet, retain: false, messageId: undefined, order: session.lastOrder});
	};

	const dropWhere = (clientId: string, matches: (packet: KeptPacket) => boolean): KeptPacket | undefined => {
		const session = sessions.get(clientId);
		const found = session?.queue.find(matches);
		if (session === undefined || found === undefined) return undefined;
		session.queue = session.queue.filter(packet => packet !== found);
		count(session, -costOf(found));
		noteSent(session, found);
		return found;
	};

	/** The same publish, or the PUBLISH that this PUBREL goes on with. */
	const replaceIn = (session: Session, packet: KeptPacket): void => {
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
		count(session, costOf(release) - costOf(kept));
	};

	return {
		/** Another login never gets what was queued for this one, also if it has the same name. */
		claim(clientId: string, {name, credential}: Login): void {
			const owner = sessions.get(clientId)?.owner;
			if (owner !== undefined && (owner.login !== name || owner.credential !== credential)) forget(clientId);
		},
		/** The login is no more, and nothing is kept for it. */
		dropOf(login: string): void {
			for (const clientId of idsOf(login)) forget(clientId);
		},
		/** A filter that was granted to a client that keeps a session. */
		keep(clientId: string, filter: string, qos: 0 | 1 | 2): void {
			const session = sessionFor(clientId);
			if (session === undefined) return;
			if (session.filters.has(filter) || count(session, filterCost(filter))) session.filters.set(filter, qos);
		},
		sessions: () => sessions.size,
		/** What they cost, all together. */
		bytes: held.all,
		/** Whether a publish that is on its way to a client reaches it from its queue, or has done so. */
		comesFromQueue(clientId: string, brokerCounter: number | undefined): boolean {
			const session = sessions.get(clientId);
			const kept = session?.queue.find(packet => packet.brokerCounter === brokerCounter);
			return session !== undefined && kept !== undefined && (session.isCatchingUp || kept.messageId !== undefined);
		},

		// From here on: called by aedes.
		async setup(): Promise<void> {
			await nothing;
		},
		storeRetained(packet: KeptPacket): Promise<void> {
			// The payload is a slice of what came in one read; a copy lets go of the rest.
			onRetained({topic: packet.topic ?? '', payload: Buffer.from(packet.payload ?? ''), qos: packet.qos ?? 0, by: packet.clientId});
			return nothing;
		},
		createRetainedStreamCombi: (): Readable => Readable.from([]),

		/** Called for each filter of a packet with all of them, refused ones among them: `keep` is told of each by itself. */
		addSubscriptions: (): Promise<void> => nothing,
		removeSubscriptions(client: ClientRef, filters: readonly string[]): Promise<void> {
			const session = sessions.get(client.id);
			for (const filter of filters) if (session?.filters.delete(filter) === true) count(session, -filterCost(filter));
			return nothing;
		},
		subscriptionsByClient(client: ClientRef): Promise<Subscription[]> {
			const session = sessions.get(client.id);
			// Its client is here again: after this its filters are served, then its queue is sent.
			if (session !== undefined) session.isCatchingUp = true;
			return Promise.resolve([...(session?.filters ?? [])].map(([topic, qos]) => ({topic, qos})));
		},
		/** A clean session begins: nothing of an older one stays [MQTT-3.1.2-6]. */
		cleanSubscriptions(client: ClientRef): Promise<void> {
			forget(client.id);
			return nothing;
		},
		subscriptionsByTopic(topic: string): Promise<QueuedFor[]> {
			const found: QueuedFor[] = [];
			if (topic.startsWith('$')) return Promise.resolve(found);
			for (const [clientId, session] of sessions) {
				let best: 0 | 1 | 2 = 0;
				for (const [filter, qos] of session.filters) if (qos > best && topicMatches(filter, topic)) best = qos;
				if (best > 0) found.push({clientId, topic, qos: best});
			}
			return Promise.resolve(found);
		},

		outgoingEnqueue(subscription: {clientId: string}, packet: KeptPacket): Promise<void> {
			enqueue(subscription.clientId, withOwnPayload(packet));
			return nothing;
		},
		outgoingEnqueueCombi(subscriptions: readonly QueuedFor[], packet: KeptPacket): Promise<void> {
			const own = subscriptions.length === 0 ? packet : withOwnPayload(packet);
			for (const {clientId, qos} of subscriptions) enqueue(clientId, {...own, qos: Math.min(qos, packet.qos ?? 0) as 0 | 1 | 2});
			return nothing;
		},
		/** A packet that found no room is unknown here; its client gets it all the same. */
		outgoingUpdate(client: ClientRef, packet: KeptPacket): Promise<void> {
			const session = sessions.get(client.id);
			if (session === undefined) return nothing;
			replaceIn(session, packet);
			return nothing;
		},
		outgoingClearMessageId(client: ClientRef, packet: KeptPacket): Promise<KeptPacket | undefined> {
			const {messageId} = packet;
			return Promise.resolve(messageId === undefined ? undefined : dropWhere(client.id, kept => kept.messageId === messageId));
		},
		outgoingStream(client: ClientRef): Readable {
			const session = sessions.get(client.id);
			if (session === undefined) return Readable.from([]);
			session.sentOrder = 0;
			return Readable.from(catchUp(session));
		},

		incomingStorePacket(client: ClientRef, packet: KeptPacket): Promise<void> {
			const ids = incoming.get(client.id) ?? new Set();
			incoming.set(client.id, ids.add(packet.messageId ?? 0));
			const idle = incoming.size > bounds.sessions ? [...incoming.keys()].find(id => ownerOf(id) === undefined) : undefined;
			if (idle !== undefined) incoming.delete(idle);
			return nothing;
		},
		incomingGetPacket(client: ClientRef, packet: KeptPacket): Promise<KeptPacket> {
			const known = incoming.get(client.id)?.has(packet.messageId ?? 0) === true;
			return known ? Promise.resolve({messageId: packet.messageId}) : Promise.reject(new Error('no such packet'));
		},
		incomingDelPacket(client: ClientRef, packet: KeptPacket): Promise<void> {
			const ids = incoming.get(client.id);
			const known = ids?.delete(packet.messageId ?? 0) === true;
			if (ids?.size === 0) incoming.delete(client.id);
			return known ? nothing : Promise.reject(new Error('no such packet'));
		},
		cleanIncoming(client: ClientRef): Promise<void> {
			incoming.delete(client.id);
			return nothing;
		},

		putWill: (): Promise<void> => nothing,
		delWill: (): Promise<void> => nothing,
		streamWill: (): Readable => Readable.from([]),
	};
}
