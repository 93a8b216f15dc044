// A body that is larger than a packet of its sender may be goes in parts, one after the other on the same stream, and is put together at the
// other end. The stream sees to order and loss: a part that does not follow the one before is of a body that was given up.

import {limits} from '../../api/limits.js';
import {isObject, type Json} from '../../api/object.js';
import {decodeJson} from './packet-codec.js';

/** The parts of a body, each a body of at most so many bytes. */
export function partsOf(body: Json, bytes: number): readonly Json[] {
	const whole = Buffer.from(JSON.stringify(body));
	// Base64 needs four characters for three bytes.
	const each = Math.max(1, Math.floor(((bytes - headBytes) * 3) / 4));
	const count = Math.ceil(whole.length / each);
	return Array.from({length: count}, (_, part) => ({
		part,
		of: count,
		text: whole.subarray(part * each, (part + 1) * each).toString('base64'),
	}));
}

/** What a part has around its text. */
const headBytes = 64;

export type Part = {readonly part: number; readonly of: number; readonly text: string};

/** Undefined: the body is none. */
export function partOf(body: Json): Part | undefined {
	if (!isObject(body)) return undefined;
	const {part, of, text} = body;
	return typeof part === 'number' && typeof of === 'number' && typeof text === 'string' ? {part, of, text} : undefined;
}

/** Puts together what comes from one peer on one stream. */
export class Joiner {
	#texts: string[] = [];
	#bytes = 0;

	/** What waits for its last part. */
	get bytes(): number {
		return this.#bytes;
	}

	/** The body, with its last part; undefined while there are others to come. False: this part is of no body. */
	take({part, of, text}: Part): Json | undefined | false {
		if (part === 0) this.clear();
		// Parts without a text would take no bytes, however many come.
		const isSound = text !== '' && part === this.#texts.length && part < of && of <= limits.bodyParts;
		if (!isSound || this.#bytes + text.length > limits.partedBodyBytes * 2) {
			this.clear();
			return false;
		}
		this.#texts.push(text);
		this.#bytes += text.length;
		if (part + 1 < of) return undefined;
		const whole = Buffer.concat(this.#texts.map(each => Buffer.from(each, 'base64')));
		this.clear();
		return decodeJson(whole) ?? false;
	}

	clear(): void {
		this.#texts = [];
		this.#bytes = 0;
	}
}
