// SPDY/3.1 as it comes off the wire: in pieces, compressed, wrong, and hostile.

import {constants, createDeflate, deflateRawSync, inflateSync} from 'node:zlib';
import test from 'ava';
import {limits} from '../../api/limits.js';
import {dictionary, dictionaryId} from '../../server/spdy/dictionary.js';
import {
	createFrameReader,
	dataFrame,
	goAwayFrame,
	pingFrame,
	rstStreamFrame,
	synReplyFrame,
	synStreamFrame,
	type Frame,
} from '../../server/spdy/frames.js';
import {createHeaderReader, createHeaderWriter} from '../../server/spdy/header-blocks.js';
import {SpdyError} from '../../server/spdy/spdy-error.js';
import {seededRandom} from '../../system/time/random.js';

const framesOf = (pieces: readonly Buffer[]): readonly Frame[] => {
	const frames: Frame[] = [];
	const read = createFrameReader(frame => frames.push(frame));
	for (const piece of pieces) read(piece);
	return frames;
};

const whole = (frames: readonly Frame[]): readonly unknown[] => {
	const joined: {type: string; stream?: number; text?: string; isLast?: boolean}[] = [];
	for (const frame of frames) {
		const last = joined.at(-1);
		if (frame.type !== 'data') joined.push(frame);
		else if (last?.type === 'data' && last.stream === frame.stream && last.isLast === false) {
			last.text += frame.bytes.toString('latin1');
			last.isLast = frame.isLast;
		} else joined.push({type: 'data', stream: frame.stream, text: frame.bytes.toString('latin1'), isLast: frame.isLast});
	}
	return joined;
};

const some = (): Buffer =>
	Buffer.concat([
		pingFrame(7),
		synStreamFrame(1, Buffer.from('block'), true),
		dataFrame(3, Buffer.from('hello'), false),
		dataFrame(3, Buffer.alloc(0), true),
		rstStreamFrame(3, 5),
		synReplyFrame(5, Buffer.from('x')),
		goAwayFrame(5, 0),
		dataFrame(9, Buffer.alloc(1_000, 'y'), true),
	]);

test('frames come out as they went in, however the bytes are cut', t => {
	const expected = whole(framesOf([some()]));
	t.like(expected, [
		{type: 'ping', id: 7},
		{type: 'synStream', stream: 1, isLast: true},
		{type: 'data', stream: 3, text: 'hello', isLast: true},
		{type: 'rstStream', stream: 3, status: 5},
		{type: 'synReply', stream: 5},
		{type: 'goAway'},
		{type: 'data', stream: 9, isLast: true},
	]);
	const random = seededRandom(1);
	for (let round = 0; round < 300; round++) {
		const pieces: Buffer[] = [];
		const bytes = some();
		for (let at = 0; at < bytes.length;) {
			const size = round === 0 ? 1 : Math.floor(random.next() * 60);
			pieces.push(bytes.subarray(at, at + size));
			at += size;
		}
		t.deepEqual(whole(framesOf(pieces)), expected);
	}
});

test('a control frame that is too long, too short or of another version ends the connection', t => {
	const long = pingFrame(1);
	long.writeUInt32BE(limits.spdyControlBytes + 1, 4);
	t.throws(() => framesOf([long]), {instanceOf: SpdyError, message: /too long/});
	const short = Buffer.from(pingFrame(1).subarray(0, 10));
	short.writeUInt32BE(2, 4);
	t.throws(() => framesOf([short]), {instanceOf: SpdyError, message: /too short/});
	const other = pingFrame(1);
	other.writeUInt16BE(0x8002, 0);
	t.throws(() => framesOf([other]), {instanceOf: SpdyError, message: /SPDY\/2/});
});

const headers = new Map([
	['streamtype', 'error'],
	['port', '80'],
	['requestid', '0'],
]);

/** As zlib's own compressor writes them, block after block. */
async function compressed(blocks: readonly Buffer[]): Promise<readonly Buffer[]> {
	const deflate = createDeflate({dictionary});
	const written: Buffer[] = [];
	for (const block of blocks) {
		const chunks: Buffer[] = [];
		const take = (chunk: Buffer): void => void chunks.push(chunk);
		deflate.on('data', take);
		deflate.write(block);
		await new Promise<void>(resolve => deflate.flush(constants.Z_SYNC_FLUSH, resolve));
		await new Promise(setImmediate);
		deflate.off('data', take);
		written.push(Buffer.concat(chunks));
	}
	return written;
}

/** The pairs without compression: what our writer stores behind its six and five bytes, and before five. */
const plain = (pairs: ReadonlyMap<string, string>): Buffer => createHeaderWriter()(pairs).subarray(11, -5);

test('headers are read as zlib compresses them, each block with what came before', async t => {
	const all = Array.from({length: 40}, (_, i) => new Map([...headers, ['requestid', String(i)], ['port', String(8_000 + i)]]));
	const read = createHeaderReader();
	for (const [index, block] of (await compressed(all.map(plain))).entries()) t.deepEqual(read(block), all[index]);
	// Further back than deflate looks.
	const large = Array.from({length: 8}, (_, i) => new Map([['name', String(i).repeat(9_000)]]));
	const again = createHeaderReader();
	for (const [index, block] of (await compressed(large.map(plain))).entries()) t.deepEqual(again(block), large[index]);
});

test('headers that we write are read by zlib, and by us', t => {
	const [write, read] = [createHeaderWriter(), createHeaderReader()];
	const blocks = [headers, new Map<string, string>(), headers].map(write);
	for (const block of blocks) t.true(block.length < 200);
	t.deepEqual(read(blocks[0] ?? Buffer.alloc(0)), headers);
	t.is(read(blocks[1] ?? Buffer.alloc(0)).size, 0);
	t.deepEqual(read(blocks[2] ?? Buffer.alloc(0)), headers);
	const open = inflateSync(Buffer.concat(blocks), {dictionary, finishFlush: constants.Z_SYNC_FLUSH});
	t.is(open.length, plain(headers).length * 2 + 4);
});

const zlibHead = (id: number): Buffer => Buffer.from([0x78, 0xbb, id >>> 24, (id >>> 16) & 255, (id >>> 8) & 255, id & 255]);

test('a bomb is refused, and so is what is no header block', t => {
	const wrong = (block: Buffer, message: RegExp): unknown => t.throws(() => createHeaderReader()(block), {instanceOf: SpdyError, message});
	const bomb = deflateRawSync(Buffer.alloc(100_000_000), {dictionary});
	t.true(bomb.length < 100_000);
	wrong(Buffer.concat([zlibHead(dictionaryId), bomb]), /cannot be read/);
	wrong(Buffer.concat([zlibHead(1), bomb]), /not compressed as those of SPDY\/3/);
	wrong(Buffer.alloc(0), /not compressed/);
	const packed = (bytes: readonly number[]): Buffer =>
		Buffer.concat([zlibHead(dictionaryId), deflateRawSync(Buffer.from(bytes), {dictionary})]);
	wrong(packed([0, 0]), /end too soon/);
	wrong(packed([255, 255, 255, 255]), /end too soon/);
	wrong(packed([0, 0, 0, 1, 255, 255, 255, 255, 1]), /end too soon/);
	wrong(packed([0, 0, 0, 0, 1]), /more in the headers/);
});

test('no bytes do more harm than to be refused', t => {
	const random = seededRandom(7);
	const byte = (): number => Math.floor(random.next() * 256);
	const block = createHeaderWriter()(headers);
	let refused = 0;
	for (let round = 0; round < 3_000; round++) {
		const bytes =
			round % 2 === 0 ? Buffer.concat([some(), synStreamFrame(11, block, false)]) : Buffer.from(Array.from({length: 200}, byte));
		for (let changes = Math.floor(random.next() * 6); changes > 0; changes--) bytes[Math.floor(random.next() * bytes.length)] = byte();
		const readHeaders = createHeaderReader();
		let dataBytes = 0;
		const read = createFrameReader(frame => {
			if (frame.type === 'data') dataBytes += frame.bytes.length;
			else if (frame.type === 'synStream' && frame.stream === 11) readHeaders(frame.block);
		});
		try {
			for (let at = 0; at < bytes.length; at += 37) read(bytes.subarray(at, at + 37));
		} catch (error) {
			t.true(error instanceof SpdyError, String(error));
			refused++;
		}
		t.true(dataBytes <= bytes.length);
	}
	t.true(refused > 500 && refused < 3_000, String(refused));
});
