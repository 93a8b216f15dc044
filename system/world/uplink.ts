// How a system of the virtual world is on the fake bus. A node has three connections, as an agent does: control with a will, bulk, and
// beat in a thread of its own; each comes back when it is lost. Control has one, to its own broker or to one elsewhere.

import {limits} from '../../api/limits.js';
import {createAnnouncer} from '../presence/announcer.js';
import {standInBeat} from '../presence/beat.js';
import {openBeatLine} from '../presence/beat-line.js';
import {laneFilters, laneTopic, senderOf, writerOf} from '../links/broker-link.js';
import {createHeard} from '../links/heard.js';
import type {Lane, Link, Links, Packet} from '../links/link.js';
import type {PubSub} from '../links/pubsub.js';
import type {Cancel} from '../time/clock.js';
import {exponentialBackoffMs} from '../kernel/restart-policy.js';
import type {World} from './world.js';
import {worldBeatDial} from './beat-dial.js';
import type {Dial, Listener, Payload, Will, WorldBroker, WorldConnection} from './broker.js';
import type {WorldProcess} from './process.js';

export type LineOptions = {
	readonly world: World;
	readonly process: WorldProcess;
	readonly clientId: string;
	readonly login?: string;
	readonly dial: Dial;
	/** The will of this attempt, counted from 1. */
	readonly will?: (connection: number) => Will;
	readonly onOpen?: (connection: WorldConnection, count: number) => void;
	/** The topic of every message that is no retained one. */
	readonly onTopic?: (topic: string) => void;
};

/** One connection that comes back, with its subscriptions. */
export class Line {
	readonly #options: LineOptions;
	readonly #subscriptions = new Set<{readonly filter: string; readonly listener: Listener}>();
	readonly #whenOpen = new Set<() => void>();
	#connection: WorldConnection | undefined;
	#broker: WorldBroker | undefined;
	#count = 0;
	#failures = 0;
	#barred = false;
	#closed = false;
	#pongs = 0;
	#cancelRetry: Cancel = () => undefined;
	#isVerifying = false;

	constructor(options: LineOptions) {
		this.#options = options;
		this.#dial();
	}

	get isOpen(): boolean {
		return this.#connection !== undefined;
	}

	publish(topic: string, payload: Payload, retain: boolean): void {
		this.#connection?.publish(topic, payload, retain);
	}

	subscribe(filter: string, listener: Listener): () => void {
		const subscription = {filter, listener: this.#noted(listener)};
		this.#subscriptions.add(subscription);
		const end = this.#connection?.subscribe(filter, subscription.listener);
		return () => {
			this.#subscriptions.delete(subscription);
			end?.();
		};
	}

	#noted(listener: Listener): Listener {
		const {onTopic} = this.#options;
		if (onTopic === undefined) return listener;
		return (topic, payload, retained) => {
			if (!retained) onTopic(topic);
			listener(topic, payload, retained);
		};
	}

	/** A packet that has left this connection and arrives long after those behind it. */
	publishLate(topic: string, payload: Payload, delayMs: number): void {
		const broker = this.#broker;
		const {world, process, clientId, login = clientId} = this.#options;
		if (this.#connection === undefined || broker === undefined) return;
		world.clock.after(delayMs, () => {
			// No packet passes a cut, lest control be told what it has not heard.
			if (world.network.cutSinceMs(process.host, broker.process.host) === undefined) broker.inject(topic, payload, login);
		});
	}

	/** Calls back at each new connection. */
	whenOpen(listener: () => void): void {
		this.#whenOpen.add(listener);
	}

	/** The socket breaks; while `barred` the line does not come back. */
	cut(barred: boolean): void {
		this.#barred = barred;
		const connection = this.#connection;
		this.#connection = undefined;
		connection?.destroy();
		if (connection !== undefined) this.#retry(0);
	}

	unbar(): void {
		this.#barred = false;
	}

	/** Asks for an answer, and makes another connection when none came for so long or there is none by then; a few times at most. */
	verify(withinMs: number): void {
		if (!this.#isVerifying) this.#verify(withinMs, 0);
	}

	#verify(withinMs: number, round: number): void {
		const before = this.#pongs;
		this.#isVerifying = true;
		this.#connection?.ping();
		this.#options.process.clock.after(withinMs, () => {
			this.#isVerifying = false;
			if (this.#closed || (this.isOpen && this.#pongs !== before)) return;
			if (this.isOpen) this.cut(this.#barred);
			this.#failures = 0;
			this.#retry(0);
			if (round < limits.linkVerifications) this.#verify(limits.beatConnectMs * 2 ** round, round + 1);
		});
	}

	/** Ends in good order. */
	close(): void {
		this.#closed = true;
		this.#connection?.end();
		this.#connection = undefined;
	}

	#dial(sinceMs = this.#options.process.clock.monotonicMs()): void {
		const {world, process, clientId, login = clientId, will, onOpen} = this.#options;
		if (this.#closed || this.#connection !== undefined) return;
		const broker = this.#barred ? undefined : this.#options.dial();
		if (broker?.isOpen !== true) return this.#retry(0);
		// A host that cannot be reached refuses nothing: it lets one wait.
		if (!world.network.isWhole(process.host, broker.process.host)) return this.#dialAgain(sinceMs);
		this.#failures = 0;
		this.#broker = broker;
		const count = ++this.#count;
		const connection = broker.connect({
			clientId,
			login,
			process,
			onPong: () => void (this.#pongs += 1),
			...(will === undefined ? {} : {will: will(count)}),
			onClosed: () => {
				if (this.#connection !== connection) return;
				this.#connection = undefined;
				this.#retry(0);
			},
		});
		this.#connection = connection;
		this.#pongs++;
		for (const {filter, listener} of this.#subscriptions) connection.subscribe(filter, listener);
		onOpen?.(connection, count);
		for (const listener of this.#whenOpen) listener();
	}

	/** As TCP does with the first packet: it is sent again after a second, and two more. */
	#dialAgain(sinceMs: number): void {
		const {clock} = this.#options.process;
		const elapsedMs = clock.monotonicMs() - sinceMs;
		if (elapsedMs >= limits.linkConnectMs) return this.#retry(0);
		this.#cancelRetry();
		this.#cancelRetry = clock.after(elapsedMs === 0 ? 1_000 : 2_000, () => this.#dial(sinceMs));
	}

	#retry(afterMs: number): void {
		const waitMs = exponentialBackoffMs(++this.#failures, limits.linkReconnectFirstMs, limits.linkReconnectMaxMs);
		this.#cancelRetry();
		this.#cancelRetry = this.#options.process.clock.after(afterMs + waitMs, () => this.#dial());
	}
}

/** A link over a line, with the world's packet faults below the stream. */
function linkOver(world: World, self: string, line: Line, lane: Lane): Link {
	const topics = new Map<string, string | undefined>();
	const topicTo = (to: string): string | undefined => {
		if (!topics.has(to)) topics.set(to, laneTopic(to, self, lane));
		return topics.get(to);
	};
	return {
		send(to, sent) {
			const packet = world.serialises ? (JSON.parse(JSON.stringify(sent)) as Packet) : sent;
			const {drop, repeat, delay, delayMs} = world.packets;
			const topic = topicTo(to);
			if (topic === undefined || world.chance(drop)) return;
			if (world.chance(delay)) line.publishLate(topic, packet, world.random.next() * delayMs);
			else line.publish(topic, packet, false);
			if (world.chance(repeat)) line.publishLate(topic, packet, world.random.next() * delayMs);
		},
		onPacket(listener) {
			for (const filter of laneFilters(self, lane))
				line.subscribe(filter, (topic, payload) => {
					const from = senderOf(topic);
					if (from !== undefined) listener(from, payload as Packet);
				});
		},
		onConnected: listener => line.whenOpen(listener),
		verify: withinMs => line.verify(withinMs),
		close() {
			line.close();
			return Promise.resolve();
		},
	};
}

const pubSubOver = (line: Line): PubSub => ({
	publish: (topic, payload, {retain}) => line.publish(topic, payload, retain),
	subscribe: (filter, listener) => line.subscribe(filter, (topic, payload) => listener(topic, payload as string)),
});

/** A connection that can be broken alone. */
export type Breakable = Pick<Line, 'cut' | 'unbar'>;

export type WorldUplink = {
	readonly links: Links;
	readonly pubsub: PubSub;
	readonly lines: {readonly [name: string]: Breakable};
	/** Says that it will be back, and ends its connections in good order. */
	readonly leave: () => void;
};

export type ControlUplink = WorldUplink & {readonly heardSince: (atMs: number) => readonly string[]};

/** Control's place on the bus. Of nodes it knows what came over it, as with a broker elsewhere. */
export function controlUplink(world: World, process: WorldProcess, self: string, dial: Dial): ControlUplink {
	const heard = createHeard(process.clock);
	const line = new Line({world, process, clientId: self, dial, onTopic: topic => heard.note(writerOf(topic))});
	const links = {control: linkOver(world, self, line, 'control'), bulk: linkOver(world, self, line, 'bulk')};
	return {links, pubsub: pubSubOver(line), lines: {control: line}, leave: () => line.close(), heardSince: heard.since};
}

export type NodeUplinkOptions = {
	readonly world: World;
	readonly process: WorldProcess;
	readonly node: string;
	readonly boot: string;
	readonly dial: Dial;
};

/** An agent's three connections, its presence and its beat. */
export function nodeUplink({world, process, node, boot, dial}: NodeUplinkOptions): WorldUplink {
	let open: WorldConnection | undefined;
	const isLost = (): boolean => world.chance(world.packets.words ?? 0);
	const announcer = createAnnouncer({
		node,
		boot,
		publish: (topic, payload, {retain}) => void (isLost() || open?.publish(topic, payload, retain)),
	});
	const control = new Line({
		world,
		process,
		clientId: node,
		dial,
		will: announcer.will,
		onOpen(connection) {
			open = connection;
			announcer.online();
		},
	});
	control.subscribe(announcer.topic, (_topic, payload) => announcer.hear(payload as string));
	const bulk = new Line({world, process, clientId: `${node}-bulk`, login: node, dial});
	const beatHere = standInBeat({
		node,
		boot,
		clock: process.clock,
		publish: (topic, payload) => void (isLost() || control.publish(topic, payload, false)),
	});
	beatHere(true);
	const beat = worldBeatDial({world, process, node, dial});
	const closeBeat = openBeatLine({
		servers: () => ['whoever leads'],
		dial: beat.dial,
		clock: process.workerClock,
		random: process.random,
		node,
		boot,
		stillMs: process.stillMs,
		onLine: stands => process.enter(() => beatHere(!stands)),
		onSilent: () =>
			process.enter(() => {
				control.verify(limits.controlAnswerMs);
				bulk.verify(limits.bulkAnswerMs);
			}),
	});
	const links = {control: linkOver(world, node, control, 'control'), bulk: linkOver(world, node, bulk, 'bulk')};
	const leave = (): void => {
		announcer.restarting();
		closeBeat();
		for (const line of [control, bulk]) line.close();
	};
	return {links, pubsub: pubSubOver(control), lines: {control, bulk, beat}, leave};
}
