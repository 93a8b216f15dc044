// Where the output of one container goes: as it is, or line by line, each with a prefix. It knows which byte comes next, so that
// after a cut nothing is lost and nothing comes twice.

import {limits} from '../../api/limits.js';
import {withoutTime} from '../../api/log-place.js';
import {bytesWithControlsShown, withControlsShown} from '../screen/control-characters.js';

export type Sink = {
	/** The next bytes are those of the attempt from this one on. */
	readonly begin: (offset: number) => void;
	/** Resolves when more can be taken. */
	readonly take: (bytes: Uint8Array) => Promise<void>;
	/** Where to go on: everything before it was shown. */
	readonly offset: () => number;
	/** Nothing more comes of this attempt: shows a last line that has no end. */
	readonly end: () => Promise<void>;
};

type Pour = (bytes: Uint8Array) => Promise<void>;

export type SinkOptions = {
	readonly pour: Pour;
	/** Whether control characters are shown: on a terminal, which would obey them. */
	readonly isShown: boolean;
};

/** Byte for byte. */
export function plainSink({pour, isShown}: SinkOptions): Sink {
	let next = 0;
	let shown = isShown ? bytesWithControlsShown() : undefined;
	return {
		begin: offset => void (next = offset),
		async take(bytes) {
			next += bytes.length;
			await pour(shown === undefined ? bytes : shown.next(bytes));
		},
		offset: () => next,
		async end() {
			const rest = shown?.end();
			if (isShown) shown = bytesWithControlsShown();
			if (rest !== undefined && rest.length > 0) await pour(rest);
		},
	};
}

const newline = 0x0a;

export type LineOptions = SinkOptions & {readonly prefix?: string; readonly timed?: boolean};

/** Whole lines, so that those of several containers do not mix. With `timed` each begins with a time that the node put there. */
export function lineSink({pour, isShown, prefix = '', timed = false}: LineOptions): Sink {
	const before = Buffer.from(prefix);
	let next = 0;
	let rest = Buffer.alloc(0);
	const shown = (line: Buffer): Buffer => Buffer.concat([before, isShown ? Buffer.from(withControlsShown(line.toString('utf8'))) : line]);
	const rawLength = (line: Buffer): number => (timed ? withoutTime(line.toString('latin1')).length : line.length);
	const pass = async (lines: readonly Buffer[]): Promise<void> => {
		for (const line of lines) next += rawLength(line);
		if (lines.length > 0) await pour(Buffer.concat(lines.map(shown)));
	};
	const passRest = async (): Promise<void> => {
		const line = rest;
		rest = Buffer.alloc(0);
		next += rawLength(line);
		if (line.length > 0) await pour(Buffer.concat([shown(line), Buffer.from([newline])]));
	};
	return {
		begin(offset) {
			next = offset;
			rest = Buffer.alloc(0);
		},
		async take(bytes) {
			rest = Buffer.concat([rest, bytes]);
			const lines: Buffer[] = [];
			for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
				lines.push(rest.subarray(0, end + 1));
				rest = rest.subarray(end + 1);
			}
			await pass(lines);
			if (rest.length > limits.logLineBytes) await passRest();
		},
		offset: () => next,
		end: passRest,
	};
}
