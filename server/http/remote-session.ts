// A session of exec, attach, images or one forwarded connection over a WebSocket, at the server.
//
// Output is asked of the node only when the last piece has left for the client, input is read from the client only as far as the
// program takes it: neither a slow reader nor a slow program fills any buffer.

import {failure, type Failure, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {isObject, type JsonObject} from '../../api/object.js';
import {channels, framed} from '../../api/remote-channels.js';
import type {ExecOutput} from '../../actors/node/runtime/runtime-port.js';
import type {Clock} from '../../system/time/clock.js';
import type {MessageSocket} from '../../system/links/web-socket.js';
import {inputQueue} from './remote-input.js';
import {statusHead, statusOf} from './status.js';

/** The two ends of what runs at the node. */
export type Remote = {
	/** What was written since the last look, in order. */
	readonly read: () => Promise<Outcome<ExecOutput>>;
	/** Tells the node that the session lives, while nothing is read. */
	readonly keep: () => Promise<unknown>;
	/** Resolves when the program has taken it. */
	readonly write: (bytes: Uint8Array, isLast: boolean) => Promise<Outcome<unknown>>;
	readonly resize: (rows: number, columns: number) => Promise<unknown>;
	/** Ends what still runs. */
	readonly close: () => Promise<unknown>;
};

/** Which streams the client asked for. */
export type Wanted = {readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean; readonly tty: boolean};

/** What a session's two directions have in common. */
type Session = {
	readonly socket: MessageSocket;
	readonly remote: Remote;
	readonly wanted: Wanted;
	readonly clock: Clock;
	readonly isOver: () => boolean;
	/** Says how it ended, and ends it. */
	readonly finish: (status: JsonObject) => void;
	/** A node that answers with something else than was agreed on ends this session and nothing more. */
	readonly guard: (work: Promise<void>) => void;
};

/** Runs until the program ends, the client goes, or `end` is called. */
export function runSession(socket: MessageSocket, remote: Remote, wanted: Wanted, clock: Clock): {readonly end: (why: Failure) => void} {
	let isOver = false;
	const over = (): void => {
		if (isOver) return;
		isOver = true;
		void remote.close();
	};
	const finish = (status: JsonObject): void => {
		if (isOver) return;
		over();
		void socket.send(framed(channels.status, Buffer.from(JSON.stringify(status))));
		// The client's goodbye has to be heard.
		socket.resume();
		// What the client says of its terminal's size just now must not cross our goodbye.
		if (wanted.tty) clock.after(limits.execTerminalCloseMs, () => socket.close(1000));
		else socket.close(1000);
	};
	const guard = (work: Promise<void>): void =>
		void work.catch(() => finish(failureStatus(failure('ERR_INTERNAL', {message: wrongAnswer}))));
	socket.onClose(over);
	const session: Session = {socket, remote, wanted, clock, isOver: () => isOver, finish, guard};
	takeInput(session);
	guard(pumpOutput(session));
	return {end: why => finish(failureStatus(why))};
}

const wrongAnswer = 'the node answered with something that is no output';

// ---- output ----------------------------------------------------------------------------------------------------------------

async function pumpOutput({socket, remote, wanted, clock, isOver, finish}: Session): Promise<void> {
	for (;;) {
		const outcome = await remote.read();
		if (isOver()) return;
		if (!outcome.ok) return finish(failureStatus(outcome.error));
		for (const {stream, data} of outcome.value.parts) {
			if (!wanted[stream] || data === '') continue;
			await whileKept(remote, clock, socket.send(framed(channels[stream], Buffer.from(data, 'base64'))));
			if (isOver()) return;
		}
		if (outcome.value.isLast === true) void socket.send(framed(channels.close, new Uint8Array([channels.stdout])));
		if (outcome.value.end !== undefined) return finish(endStatus(outcome.value.end.exitCode));
	}
}

/** A client that takes nothing for a while is slow, not gone: the session must not be taken for one that has no reader. */
export async function whileKept(remote: Pick<Remote, 'keep'>, clock: Clock, sent: Promise<boolean>): Promise<void> {
	let cancel = (): void => undefined;
	const again = (): void => {
		cancel = clock.after(limits.execAliveMs, () => {
			void remote.keep();
			again();
		});
	};
	again();
	await sent;
	cancel();
}

// ---- input -----------------------------------------------------------------------------------------------------------------

function takeInput(session: Session): void {
	const {socket, remote, wanted, isOver, guard} = session;
	const reading = pausing(session);
	const put = wanted.stdin ? inputQueue({write: remote.write, reading, isOver, guard}) : () => undefined;
	const sizes = sizing(session);
	socket.onMessage((bytes, isBinary) => {
		// Of no client that speaks this protocol.
		if (!isBinary) return socket.close(1003, 'binary messages only');
		const [channel] = bytes;
		const rest = bytes.subarray(1);
		if (channel === channels.stdin) put(rest, false);
		else if (channel === channels.close && rest[0] === channels.stdin) put(Buffer.alloc(0), true);
		else if (channel === channels.resize && wanted.tty) sizes(rest);
	});
}

/** Holds the client up. One that is not read hears without asking that it is still listened to: its pings are not seen. */
function pausing({socket, clock, isOver}: Session): {readonly pause: () => void; readonly resume: () => void} {
	let cancel: (() => void) | undefined;
	const alive = (): void => {
		if (isOver()) return;
		socket.pong();
		cancel = clock.after(limits.execAliveMs, alive);
	};
	return {
		pause() {
			if (cancel !== undefined) return;
			socket.pause();
			alive();
		},
		resume() {
			if (cancel === undefined) return;
			cancel();
			cancel = undefined;
			socket.resume();
		},
	};
}

/** The latest size goes; those that came while one was under way are old. */
function sizing({remote, isOver, guard}: Session): (bytes: Buffer) => void {
	let next: {readonly rows: number; readonly columns: number} | undefined;
	let isTelling = false;
	const tell = async (): Promise<void> => {
		isTelling = true;
		while (next !== undefined && !isOver()) {
			const {rows, columns} = next;
			next = undefined;
			await remote.resize(rows, columns);
		}
		isTelling = false;
	};
	return bytes => {
		next = sizeOf(bytes) ?? next;
		if (next !== undefined && !isTelling) guard(tell());
	};
}

const isSize = (value: unknown): value is number => Number.isInteger(value) && Number(value) > 0 && Number(value) <= 65_535;

/** `{"Width":80,"Height":24}`; undefined for anything else. */
function sizeOf(bytes: Buffer): {rows: number; columns: number} | undefined {
	try {
		const value: unknown = JSON.parse(bytes.toString());
		if (!isObject(value)) return undefined;
		const {Width: columns, Height: rows} = value;
		return isSize(columns) && isSize(rows) ? {rows, columns} : undefined;
	} catch {
		return undefined;
	}
}

// ---- the end ---------------------------------------------------------------------------------------------------------------

const failureStatus = (why: Failure): JsonObject => ({...statusOf(why)});

/** As kubectl reads it: the exit code is a cause. */
function endStatus(exitCode: number): JsonObject {
	if (exitCode === 0) return {...statusHead, status: 'Success'};
	return {
		...statusHead,
		status: 'Failure',
		reason: 'NonZeroExitCode',
		message: `command terminated with non-zero exit code: exit status ${exitCode}`,
		details: {causes: [{reason: 'ExitCode', message: String(exitCode)}]},
	};
}
