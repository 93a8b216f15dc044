// What a client sends of an image, on its way into the Engine: a piece at a time, counted, and watched.

import {PassThrough, type Readable} from 'node:stream';
import {limits} from '../../../api/limits.js';
import type {NewSession} from '../../exec-sessions.js';
import type {Clock} from '../../../system/time/clock.js';

export type ImageInput = {
	/** What the Engine reads. */
	readonly stream: Readable;
	/** The end that the session writes to; a write is answered when the Engine has taken what was before it. */
	readonly stdin: NonNullable<NewSession['stdin']>;
	/** Why it was ended from here, where it was. */
	readonly problem: () => Error | undefined;
	/** Why it does not go on; undefined: it does, or all of it is there. */
	readonly stall: () => string | undefined;
	/** Nobody reads it any more. */
	readonly end: () => void;
};

/** `what` it is, for people. */
export function createImageInput(clock: Clock, maxBytes: number, what: string): ImageInput {
	const stream = new PassThrough();
	let bytes = 0;
	let heardMs = clock.monotonicMs();
	let isWhole = false;
	let problem: Error | undefined;
	stream.on('error', () => undefined); // Of what is written after its end.
	const fail = (why: string): void => {
		problem ??= new Error(why);
		stream.destroy(problem);
	};
	return {
		stream,
		stdin: {
			get destroyed() {
				return isWhole || stream.destroyed;
			},
			write(data, done) {
				bytes += data.length;
				if (bytes > maxBytes) fail(`${what} is larger than ${maxBytes} bytes`);
				stream.write(data, () => {
					heardMs = clock.monotonicMs();
					done();
				});
			},
			destroy() {
				isWhole = true;
				stream.end();
			},
		},
		problem: () => problem,
		stall() {
			const silentMs = clock.monotonicMs() - heardMs;
			if (isWhole || stream.destroyed || silentMs < limits.imageInputStallMs) return undefined;
			const whose = stream.writableNeedDrain ? "Docker's Engine has taken nothing" : 'its client has sent nothing';
			return `${what} does not go on: ${whose} for ${Math.round(silentMs / 1_000)} s`;
		},
		end: () => void stream.destroy(),
	};
}
