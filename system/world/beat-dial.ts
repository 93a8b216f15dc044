// How a beat dials on the fake bus. A way that is cut swallows the first packet of a connection, which is sent again as TCP does; so
// are the few that follow until the broker has taken the login.

import type {BeatConnectionEvents, BeatDial} from '../presence/beat-dialler.js';
import type {Cancel} from '../time/clock.js';
import type {World} from './world.js';
import type {Dial, WorldConnection} from './broker.js';
import type {WorldProcess} from './process.js';

export type BeatDialOptions = {readonly world: World; readonly process: WorldProcess; readonly node: string; readonly dial: Dial};

export type WorldBeatDial = {
	readonly dial: BeatDial;
	/** The sockets break; while `barred` nothing is reached. */
	readonly cut: (barred: boolean) => void;
	readonly unbar: () => void;
};

/** The first packet of a connection, and any later one, is sent again after so long, doubling. */
const synAgainMs = 1_000;
const packetAgainMs = 200;
/** What TLS and the login take where the way is short, and how often a packet goes to and fro for them. */
const handshakeMs = 10;
const trips = 3;

export function worldBeatDial(options: BeatDialOptions): WorldBeatDial {
	const open = new Set<Attempt>();
	let barred = false;
	return {
		dial(_url, lane, on) {
			const attempt = new Attempt(options, lane, () => barred, {
				...on,
				closed() {
					open.delete(attempt);
					on.closed();
				},
			});
			open.add(attempt);
			return {
				say: (topic, payload) => attempt.say(topic, payload),
				close() {
					open.delete(attempt);
					attempt.end();
				},
				abandon() {
					open.delete(attempt);
					attempt.abandon();
				},
			};
		},
		cut(now) {
			barred = now;
			for (const attempt of [...open]) attempt.cut();
		},
		unbar: () => void (barred = false),
	};
}

class Attempt {
	readonly #options: BeatDialOptions;
	readonly #lane: string;
	readonly #on: BeatConnectionEvents;
	readonly #isBarred: () => boolean;
	readonly #broker;
	#cancel: Cancel;
	#connection: WorldConnection | undefined;
	#isOver = false;

	constructor(options: BeatDialOptions, lane: string, isBarred: () => boolean, on: BeatConnectionEvents) {
		this.#options = options;
		this.#lane = lane;
		this.#isBarred = isBarred;
		this.#on = on;
		this.#broker = options.dial();
		this.#cancel = this.#after(0, () => this.#reach());
	}

	say(topic: string, payload: string): void {
		const {world} = this.#options;
		if (!world.chance(world.packets.words ?? 0)) this.#connection?.publish(topic, payload, false);
		this.#connection?.ping();
	}

	end(): void {
		this.#isOver = true;
		this.#cancel();
		this.#connection?.end();
	}

	abandon(): void {
		this.#isOver = true;
		this.#cancel();
		this.#connection?.destroy();
	}

	cut(): void {
		this.#connection?.destroy();
		this.#close();
	}

	#after(ms: number, then: () => void): Cancel {
		return this.#options.process.workerClock.after(ms, then);
	}

	#close(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#cancel();
		this.#on.closed();
	}

	#reach(): void {
		const {host} = this.#options.process;
		if (this.#broker?.isOpen !== true) return this.#close();
		const roundTripMs = 2 * (host.latencyMs + this.#broker.process.host.latencyMs);
		this.#pass(synAgainMs, roundTripMs, () => {
			this.#on.reached();
			this.#pass(packetAgainMs, trips * roundTripMs + handshakeMs, () => this.#logIn());
		});
	}

	/** Gets a packet through, and its answer back. */
	#pass(againMs: number, tookMs: number, then: () => void): void {
		const {world, process} = this.#options;
		const isPassable = !this.#isBarred() && this.#broker !== undefined && world.network.isWhole(process.host, this.#broker.process.host);
		this.#cancel = isPassable ? this.#after(tookMs, then) : this.#after(againMs, () => this.#pass(2 * againMs, tookMs, then));
	}

	#logIn(): void {
		const {process, node} = this.#options;
		if (this.#isOver) return;
		if (this.#broker?.isOpen !== true) return this.#close();
		this.#connection = this.#broker.connect({
			clientId: `${node}-${this.#lane}`,
			login: node,
			process,
			thread: 'worker',
			onPong: () => this.#isOver || this.#on.heard(),
			onClosed: () => this.#close(),
		});
		this.#on.ready();
	}
}
