// The frames of SPDY/3.1, read from and written to a stream of bytes. Source: SPDY Protocol, draft 3.1, section 2.
//
// Bytes may come in pieces of any size. What is said in control frames is short here and bounded; data is handed on as it comes.

import {limits} from '../../api/limits.js';
import {SpdyError} from './spdy-error.js';

export type Frame =
	/** A piece of the data of a stream; empty ones only where it ends. */
	| {readonly type: 'data'; readonly stream: number; readonly bytes: Buffer; readonly isLast: boolean}
	| {readonly type: 'synStream'; readonly stream: number; readonly isLast: boolean; readonly block: Buffer}
	| {readonly type: 'synReply' | 'headers'; readonly stream: number; readonly isLast: boolean; readonly block: Buffer}
	| {readonly type: 'rstStream'; readonly stream: number; readonly status: number}
	| {readonly type: 'ping'; readonly id: number}
	| {readonly type: 'goAway'}
	/** Settings and windows: hints that nothing here depends on. */
	| {readonly type: 'other'};

/** Why a stream is reset. */
export const resets = {protocolError: 1, refusedStream: 3, cancel: 5, internalError: 6} as const;

const controlTypes = {synStream: 1, synReply: 2, rstStream: 3, settings: 4, ping: 6, goAway: 7, headers: 8, windowUpdate: 9} as const;

const headBytes = 8;
const isControl = 0x8000_0000;
const version = 3;
const fin = 1;

/** Takes the bytes of one sender and hands on its frames. Throws SpdyError; nothing more may be given to it then. */
export function createFrameReader(onFrame: (frame: Frame) => void): (bytes: Buffer) => void {
	/** Of a head, or of a control frame with its head, that has not come whole. */
	let rest: Buffer = Buffer.alloc(0);
	let data: {readonly stream: number; readonly isLast: boolean; left: number} | undefined;

	/** What of the bytes belongs to data that has begun; the bytes after it. */
	function takeData(bytes: Buffer): Buffer {
		if (data === undefined) return bytes;
		const piece = bytes.subarray(0, data.left);
		data.left -= piece.length;
		const {stream, isLast, left} = data;
		if (left === 0) data = undefined;
		if (piece.length > 0 || (isLast && left === 0)) onFrame({type: 'data', stream, bytes: piece, isLast: isLast && left === 0});
		return bytes.subarray(piece.length);
	}

	return bytes => {
		let left = takeData(bytes);
		if (rest.length > 0) left = Buffer.concat([rest, left]);
		while (left.length >= headBytes) {
			const [first, second] = [left.readUInt32BE(0), left.readUInt32BE(4)];
			const length = second & 0xff_ffff;
			if ((first & isControl) === 0) {
				data = {stream: first, isLast: ((second >>> 24) & fin) !== 0, left: length};
				left = takeData(left.subarray(headBytes));
				continue;
			}
			if (((first >>> 16) & 0x7fff) !== version) throw new SpdyError(`this is SPDY/${(first >>> 16) & 0x7fff}; SPDY/3.1 is spoken here`);
			if (length > limits.spdyControlBytes) throw new SpdyError(`a control frame of ${length} bytes is too long`);
			if (left.length < headBytes + length) break;
			onFrame(controlOf(first & 0xffff, ((second >>> 24) & fin) !== 0, left.subarray(headBytes, headBytes + length)));
			left = left.subarray(headBytes + length);
		}
		// A copy: what is left must not keep all the bytes it came with.
		rest = Buffer.from(left);
	};
}

function controlOf(type: number, isLast: boolean, body: Buffer): Frame {
	const numberAt = (at: number): number => {
		if (body.length < at + 4) throw new SpdyError(`a control frame of type ${type} is too short`);
		return body.readUInt32BE(at);
	};
	const streamOf = (): number => numberAt(0) & 0x7fff_ffff;
	switch (type) {
		case controlTypes.synStream: {
			numberAt(6);
			return {type: 'synStream', stream: streamOf(), isLast, block: body.subarray(10)};
		}
		case controlTypes.synReply:
			return {type: 'synReply', stream: streamOf(), isLast, block: body.subarray(4)};
		case controlTypes.headers:
			return {type: 'headers', stream: streamOf(), isLast, block: body.subarray(4)};
		case controlTypes.rstStream:
			return {type: 'rstStream', stream: streamOf(), status: numberAt(4)};
		case controlTypes.ping:
			return {type: 'ping', id: numberAt(0)};
		case controlTypes.goAway:
			return {type: 'goAway'};
		default:
			return {type: 'other'};
	}
}

// ---- written ---------------------------------------------------------------------------------------------------------------

/** At most 16 MB. */
export const dataFrame = (stream: number, bytes: Uint8Array, isLast: boolean): Buffer =>
	Buffer.concat([headOf(stream, isLast ? fin : 0, bytes.length), bytes]);

/** Opens a stream, as a client does. */
export const synStreamFrame = (stream: number, block: Uint8Array, isLast: boolean): Buffer =>
	controlFrame(controlTypes.synStream, Buffer.concat([numbers(stream, 0), Buffer.alloc(2), block]), isLast);

export const synReplyFrame = (stream: number, block: Uint8Array): Buffer =>
	controlFrame(controlTypes.synReply, Buffer.concat([numbers(stream), block]));

export const rstStreamFrame = (stream: number, status: number): Buffer => controlFrame(controlTypes.rstStream, numbers(stream, status));

export const pingFrame = (id: number): Buffer => controlFrame(controlTypes.ping, numbers(id));

/** `stream`: the last that was taken. */
export const goAwayFrame = (stream: number, status: 0 | 1): Buffer => controlFrame(controlTypes.goAway, numbers(stream, status));

const controlFrame = (type: number, body: Buffer, isLast = false): Buffer =>
	Buffer.concat([headOf((isControl | (version << 16) | type) >>> 0, isLast ? fin : 0, body.length), body]);

const headOf = (first: number, flags: number, length: number): Buffer => numbers(first, ((flags << 24) | length) >>> 0);

function numbers(...values: readonly number[]): Buffer {
	const bytes = Buffer.alloc(values.length * 4);
	values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4));
	return bytes;
}
