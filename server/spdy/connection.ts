// A connection of SPDY/3.1 at its server: streams that the other side opens, over any stream of bytes.
//
// What it keeps true: so many streams at a time, answers that are not taken hold the other side up, and whatever is wrong ends this connection alone.

import type {Duplex} from 'node:stream';
import {limits} from '../../api/limits.js';
import {endSoon} from '../goodbye.js';
import {createFrameReader, dataFrame, goAwayFrame, pingFrame, resets, rstStreamFrame, synReplyFrame, type Frame} from './frames.js';
import {createHeaderReader, createHeaderWriter, type SpdyHeaders} from './header-blocks.js';

export type StreamListener = {
	readonly onData: (bytes: Buffer, isLast: boolean) => void;
	/** The other side wants no more of it, or is gone. */
	readonly onReset: () => void;
};

export type SpdyStream = {
	readonly headers: SpdyHeaders;
	/** To be called in the turn in which the stream is told. */
	readonly listen: (listener: StreamListener) => void;
	/** Resolves when it has left, with false when the stream is over. */
	readonly send: (bytes: Uint8Array) => Promise<boolean>;
	/** No more is sent. */
	readonly end: () => void;
	readonly reset: (status: number) => void;
	/** The connection is not read as long as any of its streams is held. */
	readonly hold: (isHeld: boolean) => void;
};

export type SpdyConnection = {
	/** Says goodbye; what was sent before arrives. */
	readonly end: () => void;
};

type Open = {listener: StreamListener; isSent: boolean; isHeard: boolean};

const deaf: StreamListener = {onData: () => undefined, onReset: () => undefined};

/** Serves it until it is closed; `onStream` is told of each stream that is opened. */
export function serveSpdy(socket: Duplex, onStream: (stream: SpdyStream) => void): SpdyConnection {
	const streams = new Map<number, Open>();
	const held = new Set<number | 'answers'>();
	const readHeaders = createHeaderReader();
	const writeHeaders = createHeaderWriter();
	let last = 0;
	let answerBytes = 0;
	let isOver = false;

	const hold = (by: number | 'answers', isHeld: boolean): void => {
		if (isHeld) held.add(by);
		else held.delete(by);
		if (held.size > 0) socket.pause();
		else socket.resume();
	};

	const write = (frame: Buffer): Promise<boolean> =>
		new Promise(resolve => {
			if (socket.writable) socket.write(frame, error => resolve(error === undefined || error === null));
			else resolve(false);
		});

	/** What the other side makes us say, and does not take, must not grow. */
	const answer = (frame: Buffer): void => {
		answerBytes += frame.length;
		if (answerBytes > limits.spdyAnswerBytes) hold('answers', true);
		void write(frame).then(() => {
			answerBytes -= frame.length;
			if (answerBytes <= limits.spdyAnswerBytes / 2 && held.has('answers')) hold('answers', false);
		});
	};

	const forget = (id: number): void => {
		streams.delete(id);
		if (held.has(id)) hold(id, false);
	};

	const noteEnds = (id: number, {isSent, isHeard}: Open): void => void (isSent && isHeard && forget(id));

	function open(id: number, headers: SpdyHeaders, isHeard: boolean): void {
		const entry: Open = {listener: deaf, isSent: false, isHeard};
		streams.set(id, entry);
		answer(synReplyFrame(id, writeHeaders(new Map())));
		const isOpen = (): boolean => streams.get(id) === entry && !entry.isSent;
		onStream({
			headers,
			listen(listener) {
				entry.listener = listener;
				if (isHeard) listener.onData(Buffer.alloc(0), true);
			},
			send: bytes => (isOpen() ? write(dataFrame(id, bytes, false)) : Promise.resolve(false)),
			end() {
				if (!isOpen()) return;
				entry.isSent = true;
				void write(dataFrame(id, Buffer.alloc(0), true));
				noteEnds(id, entry);
			},
			reset(status) {
				if (streams.get(id) !== entry) return;
				forget(id);
				answer(rstStreamFrame(id, status));
			},
			hold(isHeld) {
				if (streams.get(id) === entry) hold(id, isHeld);
			},
		});
	}

	function hear(frame: Frame): void {
		switch (frame.type) {
			case 'synStream': {
				const {stream, isLast, block} = frame;
				const headers = readHeaders(block);
				// A client's are odd, and each is higher than those before.
				if (stream % 2 === 0 || stream <= last) return fail();
				last = stream;
				if (streams.size >= limits.spdyStreams) answer(rstStreamFrame(stream, resets.refusedStream));
				else open(stream, headers, isLast);
				return;
			}
			case 'synReply':
			case 'headers':
				// Nothing is in them for us but what the compressor of later ones looks back to.
				return void readHeaders(frame.block);
			case 'data': {
				const entry = streams.get(frame.stream);
				// What was on its way when the stream was reset.
				if (entry === undefined || entry.isHeard) return;
				entry.isHeard = frame.isLast;
				entry.listener.onData(frame.bytes, frame.isLast);
				return noteEnds(frame.stream, entry);
			}
			case 'rstStream': {
				const entry = streams.get(frame.stream);
				forget(frame.stream);
				return entry?.listener.onReset();
			}
			case 'ping':
				return answer(pingFrame(frame.id));
			case 'goAway':
			case 'other':
				return;
		}
	}

	function over(): void {
		if (isOver) return;
		isOver = true;
		const open = [...streams.values()];
		streams.clear();
		for (const {listener} of open) listener.onReset();
	}

	function end(status: 0 | 1): void {
		if (isOver) return;
		void write(goAwayFrame(last, status));
		over();
		held.clear();
		// Its goodbye has to be heard.
		socket.resume();
		endSoon(socket);
	}

	const fail = (): void => end(1);

	const read = createFrameReader(frame => void (isOver || hear(frame)));
	socket.on('data', (bytes: Buffer) => {
		if (isOver) return;
		try {
			read(bytes);
		} catch {
			fail();
		}
	});
	socket.on('error', () => socket.destroy());
	// Sockets of upgraded requests may stay half open: this one has nothing to say to who says nothing.
	socket.on('end', () => {
		over();
		socket.end();
	});
	socket.on('close', over);
	return {end: () => end(0)};
}
