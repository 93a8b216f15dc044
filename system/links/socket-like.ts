// A stream that HTTP's client takes for a socket of TCP: it tells of silence, and the wishes that only TCP can fulfil are taken and mean nothing.

import {Duplex} from 'node:stream';
import type {Cancel, Clock} from '../time/clock.js';

export class SocketLike extends Duplex {
	/** Of silence, until 'timeout'; 0: for ever. */
	timeout = 0;
	readonly #clock: Clock;
	#cancelTimeout: Cancel = () => undefined;

	constructor(clock: Clock) {
		super({allowHalfOpen: true});
		this.#clock = clock;
	}

	setTimeout(ms: number, onTimeout?: () => void): this {
		this.timeout = ms;
		if (onTimeout !== undefined) {
			if (ms === 0) this.removeListener('timeout', onTimeout);
			else this.once('timeout', onTimeout);
		}
		this.stir();
		return this;
	}

	setNoDelay(): this {
		return this;
	}

	setKeepAlive(): this {
		return this;
	}

	ref(): this {
		return this;
	}

	unref(): this {
		return this;
	}

	/** Something moved. */
	protected stir(): void {
		this.#cancelTimeout();
		if (this.timeout > 0 && !this.destroyed) this.#cancelTimeout = this.#clock.after(this.timeout, () => this.emit('timeout'));
	}

	override _destroy(error: Error | null, done: (error: Error | null) => void): void {
		this.#cancelTimeout();
		done(error);
	}
}
