// A connection at a node that is a session there, as a stream: read as far as the stream is taken, written one piece at a time.

import type {Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../time/clock.js';
import {SocketLike} from './socket-like.js';

export type SessionOutput = {
	readonly parts: readonly {readonly stream: 'stdout' | 'stderr'; readonly data: string}[];
	/** No more comes, and its input is taken still. */
	readonly isLast?: true;
	readonly end: {readonly exitCode: number} | undefined;
};

/** The session, at its node. Calls back once each. */
export type SessionEnds = {
	/** What has come since the last look; waits for some. */
	readonly read: (done: (outcome: Outcome<SessionOutput>) => void) => void;
	/** Done when it was taken. */
	readonly write: (data: Buffer, isLast: boolean, done: (outcome: Outcome<unknown>) => void) => void;
	/** It lives, though nobody reads. */
	readonly keep: () => void;
	readonly close: () => void;
};

export class SessionStream extends SocketLike {
	readonly #session: SessionEnds;
	readonly #clock: Clock;
	#isReading = false;
	#isOver = false;
	#cancelKeep: Cancel = () => undefined;

	constructor(session: SessionEnds, clock: Clock) {
		super(clock);
		this.#session = session;
		this.#clock = clock;
		this.#keep();
	}

	override _read(): void {
		if (this.#isReading || this.#isOver) return;
		this.#isReading = true;
		this.#session.read(outcome => {
			this.#isReading = false;
			this.#take(outcome);
		});
	}

	override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
		// HTTP's client ends a request with an empty piece, and does not expect that this takes time.
		if (chunk.length === 0) done();
		else this.#put(chunk, false, done);
	}

	override _final(done: (error?: Error | null) => void): void {
		this.#put(Buffer.alloc(0), true, done);
	}

	override _destroy(error: Error | null, done: (error: Error | null) => void): void {
		this.#cancelKeep();
		this.#session.close();
		super._destroy(error, done);
	}

	#put(bytes: Buffer, isLast: boolean, done: (error?: Error | null) => void): void {
		this.stir();
		this.#session.write(bytes, isLast, outcome => done(outcome.ok ? null : new Error(outcome.error.message)));
	}

	#take(outcome: Outcome<SessionOutput>): void {
		if (this.destroyed) return;
		if (!outcome.ok) return void this.destroy(new Error(outcome.error.message));
		const {parts, isLast, end} = outcome.value;
		if (end !== undefined && end.exitCode !== 0) return void this.destroy(new Error('the connection to the pod broke'));
		const bytes = parts.filter(({stream}) => stream === 'stdout').map(({data}) => Buffer.from(data, 'base64'));
		if (bytes.length > 0) this.stir();
		for (const each of bytes) this.push(each);
		if (isLast === true || end !== undefined) {
			this.#isOver = true;
			this.push(null);
		} else if (bytes.length === 0) this._read();
	}

	/** A session that nobody reads is ended; this one is held up, or its other direction goes on. */
	#keep(): void {
		this.#cancelKeep = this.#clock.after(limits.execAliveMs, () => {
			if (!this.#isReading) this.#session.keep();
			this.#keep();
		});
	}
}
