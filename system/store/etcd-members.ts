// The members of one etcd cluster: one is used until it fails, then the next; while none can be reached, calls wait a growing pause.

import {limits} from '../../api/limits.js';
import type {Clock} from '../time/clock.js';
import {exponentialBackoffMs} from '../kernel/restart-policy.js';

export type CallFailure = Error & {
	/** Whether the request may have been, or may yet be, taken. */
	readonly mayBeTaken: boolean;
	/** Any other member would say the same. */
	readonly isRefusal: boolean;
};

type Closeable = {readonly close: () => void};

export class Members<Client extends Closeable> {
	readonly #clients: readonly Client[];
	readonly #clock: Clock;
	readonly #failureOf: (error: unknown) => CallFailure;
	#current = 0;
	/** How often in a row no member was reached, and until when none is asked again. */
	#failures = 0;
	#quietUntilMs = 0;

	constructor(clients: readonly Client[], clock: Clock, failureOf: (error: unknown) => CallFailure) {
		this.#clients = clients;
		this.#clock = clock;
		this.#failureOf = failureOf;
	}

	/** What changes nothing may be asked of one member after the other. */
	async read<Value>(call: (client: Client) => Promise<Value>): Promise<Value> {
		await this.#pause();
		return this.#try(call, () => true);
	}

	/** Asked again only where it has surely not been sent. */
	async write<Value>(call: (client: Client) => Promise<Value>): Promise<Value> {
		await this.#pause();
		return this.#try(call, ({mayBeTaken}) => !mayBeTaken);
	}

	/** At once and at one member only: its caller has a pace of its own. */
	urgent<Value>(call: (client: Client) => Promise<Value>): Promise<Value> {
		return this.#try(call, () => false);
	}

	close(): void {
		for (const client of this.#clients) client.close();
	}

	async #try<Value>(call: (client: Client) => Promise<Value>, again: (failure: CallFailure) => boolean): Promise<Value> {
		for (let tries = 1; ; tries++) {
			const at = this.#current;
			const client = this.#clients[at];
			if (client === undefined) throw this.#failureOf(new Error('no member is known'));
			try {
				const value = await call(client);
				this.#failures = 0;
				return value;
			} catch (error) {
				const failure = this.#failureOf(error);
				if (failure.isRefusal) throw failure;
				// Another call may have moved on already.
				if (this.#current === at) this.#current = (at + 1) % this.#clients.length;
				const isLast = tries >= this.#clients.length;
				if (isLast) this.#rest();
				if (isLast || !again(failure)) throw failure;
			}
		}
	}

	#rest(): void {
		const pauseMs = exponentialBackoffMs(++this.#failures, limits.storeBackoffFirstMs, limits.storeBackoffMaxMs);
		this.#quietUntilMs = this.#clock.monotonicMs() + pauseMs;
	}

	#pause(): Promise<void> {
		const waitMs = this.#quietUntilMs - this.#clock.monotonicMs();
		if (waitMs <= 0) return Promise.resolve();
		return new Promise(resolve => void this.#clock.after(waitMs, resolve));
	}
}
