// The stream the broker sees in place of a client's socket.
//
// Inwards every byte passes the intake before the broker's parser. Outwards a buffer always accepts, because the
// broker stops reading from every publisher whose message waits for a slow subscriber; who lets too much wait, or takes
// nothing for too long, is destroyed instead. Closing without an error hands over what waits first (a CONNACK that refuses).

import {Duplex} from 'node:stream';
import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../time/clock.js';
import {Intake, type IntakeQuota} from './intake.js';
import type {Pace} from './pace.js';
import type {GuardProblem} from './packet-guard.js';

export type CutReason = GuardProblem | 'greedy' | 'overflow' | 'stalled';

export type ClientStreamOptions = {
	readonly inner: Duplex;
	readonly clock: Clock;
	readonly pace: Pace;
	readonly onCut: (reason: CutReason) => void;
	/** Told how many bytes more wait for the client, or fewer. */
	readonly onPending?: (change: number) => void;
};

const sliceBytes = limits.brokerWriteBytes;
/** What one waiting chunk costs beside its bytes. */
const chunkOverhead = 64;
const nothing = Buffer.alloc(0);
/** CONNACK with return code 1. */
const unacceptableVersion = Buffer.from([0x20, 2, 0, 1]);

export class ClientStream extends Duplex {
	readonly #inner: Duplex;
	readonly #clock: Clock;
	readonly #onCut: (reason: CutReason) => void;
	readonly #onPending: (change: number) => void;
	#toldBytes = 0;
	#isFirst = false;
	readonly #intake: Intake;
	#stallMs: number = limits.toolStallMs;
	#heardMs: number;
	#queue: Buffer[] = [];
	#head = 0;
	#waitingBytes = 0;
	#writtenBytes = 0;
	#blocked = false;
	#batching = false;
	#progressMs = 0;
	#cancelStall: Cancel | undefined;
	#cancelLinger: Cancel | undefined;
	#cancelRest: Cancel | undefined;
	#waiter: {readonly bytes: number; readonly callback: () => void} | undefined;

	constructor({inner, clock, pace, onCut, onPending = () => undefined}: ClientStreamOptions) {
		// `write` answers true whatever waits: this buffer has its own bound. Inwards one turn's bytes wait for the parser at most.
		super({readableHighWaterMark: 1, writableHighWaterMark: Number.MAX_SAFE_INTEGER});
		this.#inner = inner;
		this.#clock = clock;
		this.#heardMs = clock.monotonicMs();
		this.#onCut = onCut;
		this.#onPending = onPending;
		this.#intake = new Intake({
			clock,
			pace,
			hand: bytes => void this.push(bytes),
			onEnd: () => void this.push(null),
			onProblem: problem => (problem === 'version' ? this.#refuseVersion() : this.cut(problem)),
			onReading: isReading => (isReading ? inner.resume() : inner.pause()),
		});
		inner.on('data', this.#take);
		inner.on('end', () => this.#intake.end());
		inner.on('drain', () => this.#unblock());
		inner.on('error', () => this.destroy());
		inner.on('close', () => {
			this.#cancelLinger?.();
			if (this.#intake.isBusy()) this.#hearRest();
			else this.destroy();
		});
	}

	/** The client is known: its own bounds, and its own patience. */
	login(quota: IntakeQuota, stallMs: number): void {
		this.#intake.login(quota);
		this.#isFirst = quota.rank === 'node';
		this.#stallMs = stallMs;
	}

	/** The broker has carried out the last SUBSCRIBE or UNSUBSCRIBE. */
	listDone(): void {
		this.#intake.listDone();
	}

	/** A node's. */
	get isFirst(): boolean {
		return this.#isFirst;
	}

	/** When anything came in last (monotonic). */
	get heardMs(): number {
		return this.#heardMs;
	}

	/** Bytes that the client has yet to take, with what keeping them costs. */
	get pendingBytes(): number {
		return this.#waitingBytes + this.#writtenBytes;
	}

	/** Calls back once when less than so much waits; at once if so already, never after the end. One caller at a time. */
	whenBelow(bytes: number, callback: () => void): void {
		if (this.destroyed) return;
		if (this.pendingBytes < bytes) callback();
		else this.#waiter = {bytes, callback};
	}

	/** Ends everything now, the socket too. */
	cut(reason?: CutReason): void {
		if (reason !== undefined && !this.destroyed) this.#onCut(reason);
		this.#inner.destroy();
		this.destroy();
	}

	override _read(): void {
		this.#intake.want();
	}

	override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
		this.#add(chunk);
		callback();
		this.#flush();
	}

	override _writev(chunks: {chunk: Buffer}[], callback: () => void): void {
		for (const {chunk} of chunks) this.#add(chunk);
		callback();
		this.#flush();
	}

	override _final(callback: () => void): void {
		this.#writeRest();
		this.#inner.end();
		callback();
	}

	override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
		this.#cancelStall?.();
		this.#cancelRest?.();
		this.#waiter = undefined;
		this.#inner.off('data', this.#take);
		this.#intake.close();
		if (error !== null || this.#inner.destroyed) this.#inner.destroy();
		else this.#linger();
		this.#queue = [];
		this.#waitingBytes = 0;
		this.#writtenBytes = 0;
		this.#tellPending();
		callback(error);
	}

	readonly #take = (chunk: Buffer): void => {
		this.#heardMs = this.#clock.monotonicMs();
		this.#intake.take(chunk);
	};

	/** What a client sent before it went is heard before its end is, if that does not take long. */
	#hearRest(): void {
		this.#intake.end();
		this.#cancelRest = this.#clock.after(limits.toolStallMs, () => this.destroy());
	}

	#refuseVersion(): void {
		this.#onCut('version');
		this.#inner.write(unacceptableVersion);
		this.destroy();
	}

	/** Hands over the rest and waits for the other side to close, reading on so that no reset overtakes the last packet. */
	#linger(): void {
		this.#writeRest();
		this.#inner.end();
		this.#inner.resume();
		this.#cancelLinger = this.#clock.after(limits.toolStallMs, () => this.#inner.destroy());
	}

	#writeRest(): void {
		while (this.#waitingBytes > 0) this.#inner.write(this.#nextSlice());
	}

	#add(chunk: Buffer): void {
		this.#queue.push(chunk);
		this.#waitingBytes += chunk.length + chunkOverhead;
	}

	/** The first write of a turn goes out at once, the others of that turn together. */
	#flush(): void {
		if (this.pendingBytes > limits.clientBufferBytes) return this.cut('overflow');
		this.#tellPending();
		if (this.#batching) return;
		this.#batching = true;
		this.#pump();
		setImmediate(() => {
			this.#batching = false;
			if (!this.destroyed) this.#pump();
		});
	}

	#pump(): void {
		while (this.#waitingBytes > 0 && !this.#blocked) {
			const slice = this.#nextSlice();
			if (this.#writtenBytes === 0) this.#progressMs = this.#clock.monotonicMs();
			this.#writtenBytes += slice.length;
			this.#blocked = !this.#inner.write(slice, () => this.#progress(slice.length));
		}
		if (this.#writtenBytes > 0) this.#watchStall();
	}

	#tellPending(): void {
		const change = this.pendingBytes - this.#toldBytes;
		this.#toldBytes += change;
		if (change !== 0) this.#onPending(change);
	}

	#unblock(): void {
		this.#blocked = false;
		if (!this.destroyed) this.#pump();
	}

	#nextSlice(): Buffer {
		const chunks: Buffer[] = [];
		let bytes = 0;
		while (bytes < sliceBytes) {
			const chunk = this.#queue[this.#head];
			if (chunk === undefined) break;
			const room = sliceBytes - bytes;
			if (chunk.length > room && chunks.length > 0) break;
			const part = chunk.length > room ? chunk.subarray(0, room) : chunk;
			if (part === chunk) this.#shift();
			else this.#queue[this.#head] = chunk.subarray(room);
			this.#waitingBytes -= part.length + (part === chunk ? chunkOverhead : 0);
			chunks.push(part);
			bytes += part.length;
		}
		const [only] = chunks;
		return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, bytes);
	}

	/** Removes the first chunk; the array is moved together only when half of it is used up. */
	#shift(): void {
		this.#queue[this.#head] = nothing;
		this.#head += 1;
		if (this.#head * 2 < this.#queue.length) return;
		this.#queue = this.#queue.slice(this.#head);
		this.#head = 0;
	}

	#progress(bytes: number): void {
		if (this.destroyed) return;
		this.#writtenBytes -= bytes;
		this.#progressMs = this.#clock.monotonicMs();
		this.#tellPending();
		const waiter = this.#waiter;
		if (waiter === undefined || this.pendingBytes >= waiter.bytes) return;
		this.#waiter = undefined;
		waiter.callback();
	}

	/** One timer at most: it looks at the last progress when it fires and sleeps for the rest. */
	#watchStall(): void {
		if (this.#cancelStall !== undefined) return;
		const restMs = this.#progressMs + this.#stallMs - this.#clock.monotonicMs();
		this.#cancelStall = this.#clock.after(Math.max(1, restMs), () => {
			this.#cancelStall = undefined;
			if (this.#writtenBytes === 0) return;
			if (this.#clock.monotonicMs() - this.#progressMs < this.#stallMs) this.#watchStall();
			// It may be this process that stood still: what the client took meanwhile is told in the next turn.
			else setImmediate(() => this.#judgeStall());
		});
	}

	#judgeStall(): void {
		if (this.destroyed || this.#writtenBytes === 0) return;
		if (this.#clock.monotonicMs() - this.#progressMs >= this.#stallMs) this.cut('stalled');
		else this.#watchStall();
	}
}
