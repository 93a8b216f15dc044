// What a function writes, with the id of its call before each line. Lines of calls that run at the same time are never mixed.

import {AsyncLocalStorage} from 'node:async_hooks';

/** A call as its output sees it. */
export type Writer = {
	readonly id: string;
	/** Of each stream the line that has no end yet. */
	readonly rest: Map<NodeJS.WriteStream, string>;
	/** It threw where no promise told of it. */
	readonly fail: (error: unknown) => void;
};

const longestLine = 65_536;

const writers = new AsyncLocalStorage<Writer>();

export const callOfNow = (): Writer | undefined => writers.getStore();

/** Runs a call: whatever is written by it, and by what it began, is its own. */
export const during = <Value>(writer: Writer, run: () => Value): Value => writers.run(writer, run);

const streams = new Map<NodeJS.WriteStream, NodeJS.WriteStream['write']>();

/** From here on what calls write to this stream has their ids. */
export function withCallIds(stream: NodeJS.WriteStream): void {
	const write = stream.write.bind(stream);
	streams.set(stream, write);
	stream.write = (chunk: Uint8Array | string, ...rest: readonly unknown[]): boolean => {
		const writer = writers.getStore();
		const encoding = rest.find(each => typeof each === 'string') as BufferEncoding | undefined;
		const done = rest.find(each => typeof each === 'function') as (() => void) | undefined;
		if (writer === undefined) return write(chunk, encoding, done);
		const text = (writer.rest.get(stream) ?? '') + (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
		const end = text.length > longestLine ? text.length : text.lastIndexOf('\n') + 1;
		writer.rest.set(stream, text.slice(end));
		return write(prefixed(writer, text.slice(0, end)), done);
	};
}

/** The call is over: a last line that has no end gets one. */
export function flush({id, rest}: Writer): void {
	for (const [stream, text] of rest) if (text !== '') streams.get(stream)?.(`[${id}] ${text}\n`);
	rest.clear();
}

const prefixed = ({id}: Writer, text: string): string =>
	text === ''
		? ''
		: text
				.replace(/\n$/, '')
				.split('\n')
				.map(line => `[${id}] ${line}\n`)
				.join('');
