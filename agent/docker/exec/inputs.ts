// What is written to the input of running containers: through a connection to the Engine for each, opened by the first write and kept as long as the
// container and this agent run. With Docker's StdinOnce the input ends with that connection, otherwise only with the container.

import type {Duplex} from 'node:stream';
import {failed, succeeded} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {ContainerId} from '../../../actors/node/runtime/runtime-port.js';
import type {Done} from '../../handlers.js';
import {explained} from '../../os/explained.js';
import type {Engine} from '../engine/engine.js';
import {openStream} from '../engine/streams.js';
import {detachKeys} from './detach-keys.js';

export type Inputs = {
	/** Answers when it was sent. `isLast`: nothing can be written after it. */
	readonly write: (container: InputContainer, data: Buffer, isLast: boolean, done: Done<null>) => void;
	readonly close: () => void;
};

export type InputContainer = {readonly id: ContainerId; readonly engineId: string; readonly whenEnded: (callback: () => void) => void};

type Input = {readonly stream: Promise<Duplex>; readonly closing: AbortController; bytes: number; isOver: boolean};

export function createInputs(engine: Engine): Inputs {
	const all = new Map<string, Input>();

	function forget(engineId: string): void {
		all.get(engineId)?.closing.abort();
		all.delete(engineId);
	}

	function opened({engineId, whenEnded}: InputContainer): Input {
		const closing = new AbortController();
		const input: Input = {stream: attach(engine, engineId, closing.signal), closing, bytes: 0, isOver: false};
		all.set(engineId, input);
		const isGone = (): void => void (all.get(engineId) === input && !input.isOver && all.delete(engineId));
		whenEnded(() => forget(engineId));
		input.stream.then(stream => void stream.once('close', isGone), isGone);
		return input;
	}

	return {
		write(of, data, isLast, done) {
			const {container} = of.id;
			const refused = (reason: string): void => done(failed('ERR_RUNTIME', {message: `the input of container "${container}" ${reason}`}));
			const input = all.get(of.engineId) ?? opened(of);
			if (input.isOver) return refused('is closed');
			if (input.bytes > 0 && input.bytes + data.length > limits.stdinBytes) {
				return done(failed('ERR_BUSY', {address: `${container}/stdin`, waiting: input.bytes}));
			}
			input.bytes += data.length;
			input.isOver = isLast;
			input.stream
				.then(stream => sent(stream, data, isLast))
				.then(
					() => done(succeeded(null)),
					(error: unknown) => refused(`cannot be written to: ${explained(error)}`),
				)
				.finally(() => (input.bytes -= data.length));
		},
		close() {
			for (const engineId of [...all.keys()]) forget(engineId);
		},
	};
}

/** Nothing comes back by it. */
async function attach(engine: Engine, engineId: string, signal: AbortSignal): Promise<Duplex> {
	const stream = await openStream<Duplex>(engine, {
		what: 'attach to the input of a container',
		timeoutMs: limits.engineStreamMs,
		signal,
		open: (docker, abortSignal) =>
			docker.getContainer(engineId).attach({stream: true, stdin: true, hijack: true, detachKeys, abortSignal}) as Promise<Duplex>,
	});
	// Told to the caller of each write.
	stream.on('error', () => undefined).resume();
	signal.addEventListener('abort', () => stream.destroy(), {once: true});
	return stream;
}

const sent = (stream: Duplex, data: Buffer, isLast: boolean): Promise<void> =>
	new Promise((resolve, reject) => {
		stream.write(data, error => (error instanceof Error ? reject(error) : resolve()));
		if (isLast) stream.end();
	});
