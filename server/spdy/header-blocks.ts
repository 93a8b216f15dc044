// The header blocks of SPDY/3: pairs of texts, compressed in one go over the whole connection.
//
// Each block of a sender ends at a whole byte (zlib's sync flush), so all that the next one needs of those before is what was last decompressed:
// every block is opened by itself, with that as its dictionary, and with a bound.

import {constants, inflateRawSync} from 'node:zlib';
import {limits} from '../../api/limits.js';
import {dictionary, dictionaryId} from './dictionary.js';
import {SpdyError} from './spdy-error.js';

export type SpdyHeaders = ReadonlyMap<string, string>;

/** Opens the blocks of one sender, which have to be given in order. Throws SpdyError. */
export function createHeaderReader(): (block: Buffer) => SpdyHeaders {
	let before: Buffer = dictionary;
	let isFirst = true;
	return block => {
		const bytes = opened(isFirst ? withoutBeginning(block) : block, before);
		isFirst = false;
		before = Buffer.concat([before, bytes]).subarray(-windowBytes);
		return headersIn(bytes);
	};
}

/** How far deflate looks back. */
const windowBytes = 32_768;

/** Two bytes: deflate, with a dictionary; and which one. */
function withoutBeginning(block: Buffer): Buffer {
	const isZlib = block.length >= 6 && ((block[0] ?? 0) & 15) === 8 && ((block[1] ?? 0) & 32) !== 0 && block.readUInt16BE(0) % 31 === 0;
	if (!isZlib || block.readUInt32BE(2) !== dictionaryId) throw new SpdyError('the headers are not compressed as those of SPDY/3 are');
	return block.subarray(6);
}

function opened(block: Buffer, before: Buffer): Buffer {
	try {
		return inflateRawSync(block, {
			dictionary: before,
			finishFlush: constants.Z_SYNC_FLUSH,
			maxOutputLength: limits.spdyHeaderBytes,
		});
	} catch (error) {
		throw new SpdyError(`the headers cannot be read: ${(error as Error).message}`);
	}
}

/** A count, and so many pairs, each with its length before it. */
function headersIn(bytes: Buffer): SpdyHeaders {
	let at = 0;
	const number = (): number => {
		if (at + 4 > bytes.length) throw new SpdyError('the headers end too soon');
		at += 4;
		return bytes.readUInt32BE(at - 4);
	};
	const text = (): string => {
		const length = number();
		if (length > bytes.length - at) throw new SpdyError('the headers end too soon');
		at += length;
		return bytes.toString('latin1', at - length, at);
	};
	const headers = new Map<string, string>();
	for (let left = number(); left > 0; left--) headers.set(text().toLowerCase(), text());
	if (at !== bytes.length) throw new SpdyError('there is more in the headers than their count says');
	return headers;
}

/** Writes the blocks of one sender. What we say is short: it is stored as it is. */
export function createHeaderWriter(): (headers: SpdyHeaders) => Buffer {
	let isFirst = true;
	return headers => {
		const texts = [...headers].flat().flatMap(each => [numberOf(each.length), Buffer.from(each, 'latin1')]);
		const beginning = isFirst ? [Buffer.from([0x78, 0xbb]), numberOf(dictionaryId)] : [];
		isFirst = false;
		// An empty block behind it, as a sync flush has it: Go's decompressor hands out nothing before it sees one.
		return Buffer.concat([...beginning, stored(Buffer.concat([numberOf(headers.size), ...texts])), stored(Buffer.alloc(0))]);
	};
}

/** A block of deflate that is not compressed. */
function stored(bytes: Buffer): Buffer {
	const head = Buffer.alloc(5);
	head.writeUInt16LE(bytes.length, 1);
	head.writeUInt16LE(~bytes.length & 0xffff, 3);
	return Buffer.concat([head, bytes]);
}

function numberOf(value: number): Buffer {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value);
	return bytes;
}
