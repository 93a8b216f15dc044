// The fake bus: an MQTT broker as far as the actor systems rely on one. Wills, retained messages, take-over, connections that are cut
// one by one; order within a connection, none between two. It shares one contract suite with the real broker.

import {topicMatches} from '../../api/mqtt-filter.js';
import type {World} from './world.js';
import type {Wire, WorldHost} from './network.js';
import type {WorldProcess} from './process.js';

/** Packets between systems pass by reference. */
export type Payload = unknown;

export type Will = {readonly topic: string; readonly payload: Payload; readonly retain: boolean};

export type ConnectOptions = {
	/** A second connection of a client's name ends the first. */
	readonly clientId: string;
	/** Who it is to the broker; the client's name where none is given. */
	readonly login?: string;
	readonly process: WorldProcess;
	/** Which thread holds the socket. */
	readonly thread?: 'main' | 'worker';
	readonly will?: Will;
	/** The answer to a ping. */
	readonly onPong?: () => void;
	/** The connection broke; not called after the client itself has ended it. */
	readonly onClosed: () => void;
};

export type Listener = (topic: string, payload: Payload, retained: boolean) => void;

/** Where to dial; undefined: no broker takes it. Called anew for each attempt. */
export type Dial = () => WorldBroker | undefined;

/** Retained messages that the broker does not keep itself. */
export type RetainedWords = (filter: string) => Iterable<{readonly topic: string; readonly payload: Payload}>;

/** The client's end. */
export type WorldConnection = {
	readonly publish: (topic: string, payload: Payload, retain: boolean) => void;
	readonly subscribe: (filter: string, listener: Listener) => () => void;
	/** Asks for an answer. */
	readonly ping: () => void;
	/** In good order: the will is forgotten. */
	readonly end: () => void;
	/** The socket is destroyed: the broker hears of it, and the will is published. */
	readonly destroy: () => void;
};

type Upward =
	| {readonly type: 'publish'; readonly topic: string; readonly payload: Payload; readonly retain: boolean}
	| {readonly type: 'subscribe' | 'unsubscribe'; readonly filter: string}
	| {readonly type: 'ping' | 'disconnect' | 'reset'};
type Downward =
	| {
			readonly topic: string;
			readonly payload: Payload;
			readonly retained: boolean;
			/** Those of the client that match. */
			readonly filters: readonly string[];
			/** The login of the client that has sent it just now, as a message that is not kept. */
			readonly from?: string | undefined;
	  }
	| 'pong'
	| 'reset';

type Route = {readonly session: Session; readonly filters: readonly string[]};

type Session = {
	readonly clientId: string;
	readonly login: string;
	readonly will: Will | undefined;
	readonly filters: Set<string>;
	readonly down: Wire<Downward>;
	readonly ended: () => void;
};

/** How long either end waits for a sign of the other; MQTT's keep-alive of 15 s and a half. */
export const silenceMs = 22_500;

export class WorldBroker {
	readonly #world: World;
	readonly process: WorldProcess;
	readonly #retained = new Map<string, Payload>();
	readonly #sessions = new Map<string, Session>();
	/** Who has subscribed to a topic; forgotten when a client subscribes or leaves. */
	#routes = new Map<string, readonly Route[]>();
	/** What is retained besides. */
	retainedSource: RetainedWords | undefined;
	/** When the last packet of each login came, by the clock of the broker's process. */
	readonly heardAtMs = new Map<string, number>();
	/** For a judge outside the world: a packet of a login has come here. */
	onPacket: ((login: string) => void) | undefined;
	/** The same: a message of that login has come to a client, on that host. */
	onDelivery: ((clientId: string, from: string, host: WorldHost) => void) | undefined;
	#closed = false;

	constructor(world: World, process: WorldProcess) {
		this.#world = world;
		this.process = process;
		process.onDeath(() => this.close());
	}

	get isOpen(): boolean {
		return !this.#closed && this.process.liveness() === 'running';
	}

	/** All connections end, and nothing more comes from here, wills least of all. */
	close(): void {
		this.#closed = true;
		for (const session of [...this.#sessions.values()]) this.#drop(session, true);
	}

	/** Logins of which a packet came at that time or later, by the clock of the broker's process. */
	heardSince(atMs: number): string[] {
		return [...this.heardAtMs].filter(([, heardMs]) => heardMs >= atMs).map(([login]) => login);
	}

	get clients(): readonly string[] {
		return [...this.#sessions.keys()];
	}

	retained(filter: string): readonly (readonly [topic: string, payload: Payload])[] {
		return [...this.#retained].filter(([topic]) => topicMatches(filter, topic));
	}

	/** Ends the connection of a client, as a broken socket does: both ends notice. */
	cutClient(clientId: string): void {
		const session = this.#sessions.get(clientId);
		if (session !== undefined) this.#drop(session, true);
	}

	/** A connection that is open at once; whether the broker can be reached is the caller's to know. */
	connect({clientId, login = clientId, process, thread = 'main', will, onPong, onClosed}: ConnectOptions): WorldConnection {
		const listeners = new Map<string, Set<Listener>>();
		let open = true;
		const enter = thread === 'main' ? process.enter : process.enterWorker;
		const closed = (): void => {
			if (!open) return;
			open = false;
			up.close();
			down.close();
			enter(onClosed);
		};
		const hear = (item: Downward): void => {
			enter(() => {
				if (!open) return;
				if (item === 'reset') return closed();
				if (item === 'pong') return onPong?.();
				if (item.from !== undefined) this.onDelivery?.(clientId, item.from, process.host);
				for (const filter of item.filters)
					for (const listener of [...(listeners.get(filter) ?? [])]) listener(item.topic, item.payload, item.retained);
			});
		};
		const down = this.#world.network.wire<Downward>(this.process.host, process.host, hear, () => watch());
		const session: Session = {clientId, login, will, filters: new Set(), down, ended: () => up.close()};
		const up = this.#world.network.wire<Upward>(process.host, this.process.host, item => {
			this.process.enter(() => {
				if (this.#closed) return;
				if (item.type !== 'reset') {
					this.heardAtMs.set(login, this.process.clock.monotonicMs());
					this.onPacket?.(login);
				}
				this.#take(session, item);
			});
		});
		/** Each end gives up what was silent for too long. */
		const watch = (): void => {
			const sinceMs = up.cutSinceMs() ?? down.cutSinceMs();
			if (sinceMs === undefined || !open) return;
			this.#world.clock.after(silenceMs, () => {
				if (up.cutSinceMs() === sinceMs) this.process.enter(() => this.#drop(session, true));
				if (up.cutSinceMs() === sinceMs || down.cutSinceMs() === sinceMs) closed();
			});
		};
		const destroy = (how: 'disconnect' | 'reset'): void => {
			if (!open) return;
			open = false;
			down.close();
			up.send({type: how});
		};
		process.onDeath(() => destroy('reset'));
		// Who stands still sends no sign of life.
		process.onStill(now => {
			if (!open || (now === 'frozen' && thread === 'worker')) return;
			this.#world.clock.after(silenceMs, () => {
				if (process.stillMs() >= silenceMs) this.process.enter(() => this.#drop(session, true));
			});
		});
		this.process.enter(() => this.#open(session));
		watch();
		return {
			publish: (topic, payload, retain) => void (open && up.send({type: 'publish', topic, payload, retain})),
			subscribe(filter, listener) {
				const known = listeners.get(filter) ?? new Set();
				listeners.set(filter, known.add(listener));
				if (open) up.send({type: 'subscribe', filter});
				return () => {
					known.delete(listener);
					if (known.size > 0) return;
					listeners.delete(filter);
					if (open) up.send({type: 'unsubscribe', filter});
				};
			},
			ping: () => void (open && up.send({type: 'ping'})),
			end: () => destroy('disconnect'),
			destroy: () => destroy('reset'),
		};
	}

	/** Takes a packet from nowhere, as one that was on its way for long. */
	inject(topic: string, payload: Payload, from?: string): void {
		this.process.enter(() => this.#publish(topic, payload, false, from));
	}

	/** The publish of a system in the broker's own process. */
	publish(topic: string, payload: Payload, retain: boolean): void {
		this.process.enter(() => this.#publish(topic, payload, retain));
	}

	#open(session: Session): void {
		if (this.#closed) return session.down.send('reset'); // It ended while the connection was on its way.
		const former = this.#sessions.get(session.clientId);
		if (former !== undefined) this.#drop(former, true);
		this.#sessions.set(session.clientId, session);
	}

	#take(session: Session, item: Upward): void {
		if (this.#sessions.get(session.clientId) !== session) return;
		switch (item.type) {
			case 'publish':
				return this.#publish(item.topic, item.payload, item.retain, session.login);
			case 'subscribe':
				session.filters.add(item.filter);
				this.#routes = new Map();
				for (const [topic, payload] of this.retained(item.filter))
					session.down.send({topic, payload, retained: true, filters: [item.filter]});
				for (const {topic, payload} of this.retainedSource?.(item.filter) ?? [])
					session.down.send({topic, payload, retained: true, filters: [item.filter]});
				return;
			case 'unsubscribe':
				session.filters.delete(item.filter);
				this.#routes = new Map();
				return;
			case 'ping':
				return session.down.send('pong');
			case 'disconnect':
				return this.#forget(session);
			case 'reset':
				return this.#drop(session, false);
		}
	}

	#publish(topic: string, payload: Payload, retain: boolean, sender?: string): void {
		if (this.#closed) return;
		const from = retain ? undefined : sender;
		if (retain && payload === '') this.#retained.delete(topic);
		else if (retain) this.#retained.set(topic, payload);
		for (const {session, filters} of this.#routesOf(topic)) session.down.send({topic, payload, retained: false, filters, from});
	}

	#routesOf(topic: string): readonly Route[] {
		const known = this.#routes.get(topic);
		if (known !== undefined) return known;
		const found = [...this.#sessions.values()].flatMap((session): Route[] => {
			const filters = [...session.filters].filter(filter => topicMatches(filter, topic));
			return filters.length === 0 ? [] : [{session, filters}];
		});
		this.#routes.set(topic, found);
		return found;
	}

	#drop(session: Session, tell: boolean): void {
		if (this.#sessions.get(session.clientId) !== session) return;
		this.#forget(session);
		if (tell) session.down.send('reset');
		const {will} = session;
		if (will !== undefined) this.#publish(will.topic, will.payload, will.retain);
	}

	#forget(session: Session): void {
		this.#sessions.delete(session.clientId);
		this.#routes = new Map();
		session.ended();
	}
}
