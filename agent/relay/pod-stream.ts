// A connection to a port of a pod of this node as a stream: what the runtime has as a session, read as far as the stream is taken.

import {Duplex} from 'node:stream';
import type {Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ExecOutput, Runtime} from '../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../system/time/clock.js';

export class PodStream extends Duplex {
	readonly #run: Runtime['run'];
	readonly #clock: Clock;
	readonly #session: string;
	#isReading = false;
	#isOver = false;
	#cancelKeep: Cancel = () => undefined;

	constructor(run: Runtime['run'], clock: Clock, session: string) {
		super({allowHalfOpen: true});
		this.#run = run;
		this.#clock = clock;
		this.#session = session;
		this.#keep();
	}

	override _read(): void {
		if (this.#isReading || this.#isOver) return;
		this.#isReading = true;
		const command = {type: 'exec.read', session: this.#session, maxBytes: limits.relayChunkBytes, waitMs: limits.execReadMs} as const;
		this.#run<'exec.read'>(command, outcome => {
			this.#isReading = false;
			this.#take(outcome);
		});
	}

	override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
		this.#put(chunk, false, done);
	}

	override _final(done: (error?: Error | null) => void): void {
		this.#put(Buffer.alloc(0), true, done);
	}

	override _destroy(error: Error | null, done: (error: Error | null) => void): void {
		this.#cancelKeep();
		this.#run<'exec.close'>({type: 'exec.close', session: this.#session}, () => undefined);
		done(error);
	}

	#put(bytes: Buffer, isLast: boolean, done: (error?: Error | null) => void): void {
		const command = {type: 'exec.write', session: this.#session, data: bytes.toString('base64'), isLast} as const;
		this.#run<'exec.write'>(command, outcome => done(outcome.ok ? null : new Error(outcome.error.message)));
	}

	#take(outcome: Outcome<ExecOutput>): void {
		if (this.destroyed) return;
		if (!outcome.ok) return void this.destroy(new Error(outcome.error.message));
		const {parts, isLast, end} = outcome.value;
		if (end !== undefined && end.exitCode !== 0) return void this.destroy(new Error('the connection to the pod broke'));
		const bytes = parts.filter(({stream}) => stream === 'stdout').map(({data}) => Buffer.from(data, 'base64'));
		for (const each of bytes) this.push(each);
		if (isLast === true || end !== undefined) {
			this.#isOver = true;
			this.push(null);
		} else if (bytes.length === 0) this._read();
	}

	/** A session that nobody reads is ended; this one is held up, or its other direction goes on. */
	#keep(): void {
		this.#cancelKeep = this.#clock.after(limits.execAliveMs, () => {
			if (!this.#isReading) this.#run<'exec.read'>({type: 'exec.read', session: this.#session, maxBytes: 0, waitMs: 0}, () => undefined);
			this.#keep();
		});
	}
}
