import test from 'ava';
import {createFrames, type FramePiece} from '../../../agent/docker/engine/frames.js';
import {frame} from './_log-engine.js';

/** What comes of these bytes in pieces of so many. */
function read(bytes: Buffer, size: number): readonly FramePiece[] {
	const pieces: FramePiece[] = [];
	const feed = createFrames(piece => pieces.push(piece));
	for (let at = 0; at < bytes.length; at += size) feed(bytes.subarray(at, at + size));
	return pieces;
}

test('frames come whole, each stream apart, wherever they are cut', t => {
	const bytes = Buffer.concat([frame('stdout', 'one'), frame('stderr', ''), frame('stderr', 'two'), frame('stdout', 'three')]);
	for (let size = 1; size <= bytes.length; size++) {
		const frames: [string, string][] = [];
		for (const {stream, data, isFirst} of read(bytes, size)) {
			if (isFirst) frames.push([stream, '']);
			const last = frames.at(-1);
			if (last !== undefined) last[1] += data.toString();
		}
		t.deepEqual(frames, [
			['stdout', 'one'],
			['stderr', ''],
			['stderr', 'two'],
			['stdout', 'three'],
		]);
	}
});

test('nothing of a frame waits for its end, however long it says it is', t => {
	const head = Buffer.from([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
	const pieces = read(Buffer.concat([head, Buffer.from('abc')]), 2);
	t.deepEqual(Buffer.concat(pieces.map(({data}) => data)).toString(), 'abc');
	t.deepEqual(
		pieces.map(({isFirst, isLast}) => [isFirst, isLast]),
		[
			[true, false],
			[false, false],
		],
	);
});

test('what is no frame is refused', t => {
	for (const text of ['HTTP/1.1 200 OK', '\u0001\u0001\u0000\u0000aaaa', '\u0009\u0000\u0000\u0000\u0000\u0000\u0000\u0001x'])
		t.throws(() => read(Buffer.from(text, 'latin1'), 64), {message: /something else than frames/});
});
