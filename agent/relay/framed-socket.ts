// A connection inside of a local socket, between a data plane and its agent: first a word of each side, then bytes in frames.
//
// What it keeps true: the end of a direction is said, so one that breaks is never taken for one that has ended; bytes are read no faster than they are
// taken. To those who use it, also to HTTP's client, it is as a socket of TCP is.

import type {Socket} from 'node:net';
import {limits} from '../../api/limits.js';
import {isObject, type JsonObject} from '../../api/object.js';
import {parsedJson} from '../../api/value-or.js';
import {SocketLike} from '../../system/links/socket-like.js';
import type {Clock} from '../../system/time/clock.js';

const lengthBytes = 4;
const nothing = Buffer.alloc(0);

export class FramedSocket extends SocketLike {
	/** Until `connected`. */
	connecting = true;
	bytesRead = 0;
	readonly #socket: Socket;
	readonly #onHead: (head: JsonObject) => void;
	/** Of a length that has not all come, and of the first word. */
	#length = nothing;
	#head: Buffer[] | undefined = [];
	/** Of the frame that comes. */
	#left = 0;
	#hasEnded = false;

	/** `onHead` is called once, with what the other side has said first. */
	constructor(socket: Socket, clock: Clock, onHead: (head: JsonObject) => void) {
		super(clock);
		this.#socket = socket;
		this.#onHead = onHead;
		socket.on('data', data => this.#take(data));
		socket.on('error', error => void this.destroy(error));
		socket.on('close', () => {
			if (!this.#hasEnded || !this.writableFinished) this.destroy(new Error('the connection broke'));
		});
	}

	/** The first word of this side. */
	say(head: object): void {
		this.#send(Buffer.from(JSON.stringify(head)));
	}

	/** From now on it is a connection. */
	connected(): void {
		this.connecting = false;
		this.emit('connect');
	}

	/** Ends it as a loss. */
	resetAndDestroy(): this {
		return this.destroy();
	}

	override ref(): this {
		this.#socket.ref();
		return this;
	}

	override unref(): this {
		this.#socket.unref();
		return this;
	}

	override _read(): void {
		this.#socket.resume();
	}

	override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
		this.stir();
		if (chunk.length === 0) done();
		else this.#send(chunk, done);
	}

	override _final(done: (error?: Error | null) => void): void {
		this.#socket.write(Buffer.alloc(lengthBytes), done);
	}

	override _destroy(error: Error | null, done: (error: Error | null) => void): void {
		if (this.#hasEnded && this.writableFinished) this.#socket.destroySoon();
		else this.#socket.destroy();
		super._destroy(error, done);
	}

	#send(bytes: Buffer, done?: (error?: Error | null) => void): void {
		const length = Buffer.alloc(lengthBytes);
		length.writeUInt32BE(bytes.length);
		this.#socket.cork();
		this.#socket.write(length);
		this.#socket.write(bytes, done);
		this.#socket.uncork();
	}

	#take(data: Buffer): void {
		for (let rest = data; rest.length > 0 && !this.destroyed;) {
			if (this.#left > 0) {
				const part = rest.subarray(0, this.#left);
				rest = rest.subarray(part.length);
				this.#left -= part.length;
				this.#takePart(part);
				continue;
			}
			const part = rest.subarray(0, lengthBytes - this.#length.length);
			rest = rest.subarray(part.length);
			this.#length = Buffer.concat([this.#length, part]);
			if (this.#length.length < lengthBytes) return;
			const length = this.#length.readUInt32BE();
			this.#length = nothing;
			this.#begin(length);
		}
	}

	#begin(length: number): void {
		const isHead = this.#head !== undefined;
		if (this.#hasEnded || (isHead && (length === 0 || length > limits.relayHeadBytes)))
			return void this.destroy(new Error('what came is nothing of this protocol'));
		this.#left = length;
		if (length > 0) return;
		this.#hasEnded = true;
		this.push(null);
	}

	#takePart(part: Buffer): void {
		if (this.#head === undefined) {
			this.bytesRead += part.length;
			this.stir();
			if (!this.push(part)) this.#socket.pause();
			return;
		}
		this.#head.push(part);
		if (this.#left > 0) return;
		const head = parsedJson(Buffer.concat(this.#head).toString('utf8'));
		this.#head = undefined;
		if (isObject(head)) this.#onHead(head);
		else this.destroy(new Error('what came is nothing of this protocol'));
	}
}
