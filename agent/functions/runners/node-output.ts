// What a function writes, with the id of its call before each line. Lines of calls that run at the same time are never mixed.

import {AsyncLocalStorage} from 'node:async_hooks';
import {StringDecoder} from 'node:string_decoder';

/** A call as its output sees it. */
export type Writer = {
	readonly id: string;
	/** Of each stream the line that has no end yet. */
	readonly rest: Map<NodeJS.WriteStream, Rest>;
	/** It threw where no promise told of it. */
	readonly fail: (error: unknown) => void;
};

type Rest = {text: string; readonly decoder: StringDecoder};

const longestLine = 65_536;

const writers = new AsyncLocalStorage<Writer>();

export const callOfNow = (): Writer | undefined => writers.getStore();

/** Runs a call: whatever is written by it, and by what it began, is its own. */
export const during = <Value>(writer: Writer, run: () => Value): Value => writers.run(writer, run);

const streams = new Map<NodeJS.WriteStream, NodeJS.WriteStream['write']>();

/** Of Node's own: a pipe that does not block keeps in memory what nobody reads, and loses it at the end of the process. */
type Handle = {readonly _handle?: {readonly setBlocking?: (blocks: boolean) => void}};

/** From here on what calls write to this stream has their ids. */
export function withCallIds(stream: NodeJS.WriteStream): void {
	(stream as Handle)._handle?.setBlocking?.(true);
	const write = stream.write.bind(stream);
	streams.set(stream, write);
	stream.write = (chunk: Uint8Array | string, ...more: readonly unknown[]): boolean => {
		const writer = writers.getStore();
		const encoding = more.find(each => typeof each === 'string') as BufferEncoding | undefined;
		const done = more.find(each => typeof each === 'function') as (() => void) | undefined;
		if (writer === undefined) return write(chunk, encoding, done);
		const rest = writer.rest.get(stream) ?? {text: '', decoder: new StringDecoder()};
		writer.rest.set(stream, rest);
		const text = rest.text + rest.decoder.write(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk));
		const end = text.length > longestLine ? text.length : text.lastIndexOf('\n') + 1;
		rest.text = text.slice(end);
		return write(prefixed(writer, text.slice(0, end)), done);
	};
}

/** The call is over: a last line that has no end gets one. */
export function flush({id, rest}: Writer): void {
	for (const [stream, {text, decoder}] of rest) {
		const last = text + decoder.end();
		if (last !== '') streams.get(stream)?.(`[${id}] ${last}\n`);
	}
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
