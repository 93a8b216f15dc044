// What the Engine streams while it works: a line of JSON a time. A line that is too long or no JSON is passed over.

import {limits} from '../../../api/limits.js';
import {parsedJson} from '../../../api/value-or.js';

/** The parsed lines, in order. Rejects as the stream does. */
export async function* jsonLines(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<unknown> {
	let rest = '';
	let isTooLong = false;
	const decoder = new TextDecoder();
	for await (const chunk of stream) {
		const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, {stream: true});
		const lines = text.split('\n');
		for (const [i, piece] of lines.entries()) {
			if (i > 0) {
				if (!isTooLong && rest.trim() !== '') yield parsedJson(rest);
				rest = '';
				isTooLong = false;
			}
			if (rest.length + piece.length > limits.engineLineCharacters) isTooLong = true;
			rest = isTooLong ? '' : rest + piece;
		}
	}
	if (!isTooLong && rest.trim() !== '') yield parsedJson(rest);
}
