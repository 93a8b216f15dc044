// The client's end of a session of exec or attach: input goes there, output comes back, and it ends with an exit code.
//
// Nothing is sent faster than the server takes it, nor read faster than the output is taken.

import type {Readable} from 'node:stream';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {channels, framed} from '../../api/remote-channels.js';
import type {MessageSocket} from '../../system/links/web-socket.js';
import {causesOf, errorOfAnswer, isStatus} from '../cluster/status-error.js';

type Bytes = AsyncIterable<Uint8Array>;

export type RemoteEnds = {
	/** What the program reads; undefined: nothing is asked of it. Destroyed when the session ends. */
	readonly input: (Readable | Bytes) | undefined;
	/** Each resolves when more can be taken. */
	readonly output: (bytes: Uint8Array) => Promise<void>;
	readonly errors: (bytes: Uint8Array) => Promise<void>;
	/** No more output comes; the session may go on. */
	readonly onOutputEnd?: () => void;
};

export type RemoteSession = {
	/** The exit code of the program, when all it wrote was taken. Rejects with AppError when it could not be run or was cut off. */
	readonly ended: Promise<number>;
	readonly resize: (size: TerminalSize) => void;
};

export type TerminalSize = {readonly rows: number; readonly columns: number};

/** Runs a session over a socket that was just opened. */
export function openSession(socket: MessageSocket, {input, output, errors, onOutputEnd = () => undefined}: RemoteEnds): RemoteSession {
	let status: unknown;
	let waitingBytes = 0;
	let taken: Promise<void> = Promise.resolve();
	const take = (pour: (bytes: Uint8Array) => Promise<void>, bytes: Uint8Array): void => {
		waitingBytes += bytes.length;
		if (waitingBytes > limits.execOutputBytes) socket.pause();
		taken = taken.then(async () => {
			await pour(bytes);
			waitingBytes -= bytes.length;
			if (waitingBytes <= limits.execOutputBytes / 2) socket.resume();
		});
	};
	socket.onMessage((message, isBinary) => {
		const [channel] = message;
		const bytes = message.subarray(1);
		if (!isBinary || bytes.length === 0) return;
		if (channel === channels.stdout) take(output, bytes);
		else if (channel === channels.stderr) take(errors, bytes);
		else if (channel === channels.close && bytes[0] === channels.stdout) taken = taken.then(onOutputEnd);
		else if (channel === channels.status) status = parsed(bytes);
	});
	const ended = new Promise<number>((resolve, reject) => {
		socket.onClose(() => {
			if (input !== undefined && 'destroy' in input) input.destroy();
			taken.then(() => resolve(exitCodeOf(status))).catch(reject);
		});
	});
	if (input !== undefined) void send(socket, input);
	return {
		ended,
		resize({rows, columns}) {
			void socket.send(framed(channels.resize, Buffer.from(`${JSON.stringify({Width: columns, Height: rows})}\n`)));
		},
	};
}

/** Sends what comes in, and that no more comes. */
async function send(socket: MessageSocket, input: Bytes): Promise<void> {
	try {
		for await (const bytes of input)
			for (let at = 0; at < bytes.length; at += limits.execInputChunkBytes)
				if (!(await socket.send(framed(channels.stdin, bytes.subarray(at, at + limits.execInputChunkBytes))))) return;
	} catch {
		// The input broke, or was destroyed since the session is over: either way no more comes of it.
	}
	await socket.send(framed(channels.close, new Uint8Array([channels.stdin])));
}

function parsed(bytes: Uint8Array): unknown {
	try {
		return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
	} catch {
		return undefined;
	}
}

/** What the last word says. Without one the session was cut off. */
function exitCodeOf(status: unknown): number {
	if (!isStatus(status))
		throw new AppError('ERR_NOT_REACHABLE', {
			message: 'the connection was cut before the program ended; whether it still runs is not known',
		});
	if ((status as {readonly status?: unknown}).status === 'Success') return 0;
	const error = errorOfAnswer(status.code ?? 500, status);
	const code = causesOf(error).find(({reason}) => reason === 'ExitCode')?.message ?? '';
	if (/^\d{1,3}$/.test(code)) return Number(code);
	throw error;
}
