// How an Engine sends two streams over one connection: frames of a header and so many bytes. Source: "Stream format" of the Engine's API,
// ContainerAttach.

export type FrameStream = 'stdout' | 'stderr';

/** A piece of one frame. An empty frame is a piece that is both. */
export type FramePiece = {readonly stream: FrameStream; readonly data: Buffer; readonly isFirst: boolean; readonly isLast: boolean};

const headerBytes = 8;

/** 0 is what was typed, where it is echoed; 3 is what goes wrong in the Engine itself. */
const streamOf: Readonly<Record<number, FrameStream>> = {0: 'stdout', 1: 'stdout', 2: 'stderr', 3: 'stderr'};

/**
 * What comes out is fed chunk by chunk. No more than a header is kept, however long a frame says it is. Throws an Error where the bytes are no
 * frames; nothing can be read after that.
 */
export function createFrames(onPiece: (piece: FramePiece) => void): (chunk: Buffer) => void {
	let header = Buffer.alloc(0);
	let stream: FrameStream = 'stdout';
	let left = 0;
	let isFirst = true;

	function begin(): void {
		const next = streamOf[header[0] ?? -1];
		if (next === undefined || header[1] !== 0 || header[2] !== 0 || header[3] !== 0) {
			throw new Error('the Engine sent something else than frames of output');
		}
		stream = next;
		left = header.readUInt32BE(4);
		isFirst = true;
		if (left === 0) onPiece({stream, data: Buffer.alloc(0), isFirst: true, isLast: true});
	}

	return chunk => {
		for (let at = 0; at < chunk.length;) {
			if (left === 0) {
				if (header.length === headerBytes) header = Buffer.alloc(0);
				const part = chunk.subarray(at, at + headerBytes - header.length);
				header = Buffer.concat([header, part]);
				at += part.length;
				if (header.length === headerBytes) begin();
				continue;
			}
			const data = chunk.subarray(at, at + left);
			at += data.length;
			left -= data.length;
			onPiece({stream, data, isFirst, isLast: left === 0});
			isFirst = false;
		}
	};
}
