// Streams of an Engine: logs that are followed, and connections that it hands over ("hijacked") to a program's input and output.

import type {Docker, Engine} from './engine.js';

type Destroyable = {readonly destroy: () => unknown};

/** What is opened, and how: `signal` ends the opening, and what came of it. */
export type Opening<Stream> = {
	/** For people: "follow a log". */
	readonly what: string;
	readonly timeoutMs: number;
	readonly open: (docker: Docker, abortSignal: AbortSignal) => Promise<Stream>;
	readonly signal: AbortSignal;
};

/**
 * Rejects with an EngineError when the Engine has not begun to answer after `timeoutMs`; what it opens after that is closed again. An opened
 * stream has no deadline.
 */
export async function openStream<Stream extends Destroyable>(engine: Engine, opening: Opening<Stream>): Promise<Stream> {
	const {what, timeoutMs, open, signal} = opening;
	const late = new AbortController();
	const either = AbortSignal.any([late.signal, signal]);
	try {
		return await engine.open(what, timeoutMs, async docker => {
			const stream = await open(docker, either);
			if (either.aborted) stream.destroy();
			return stream;
		});
	} catch (error) {
		late.abort();
		throw error;
	}
}
