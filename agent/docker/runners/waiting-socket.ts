// The socket at which a runner that waits in its container finds its agent. Its folder is mounted into that container alone.

import {closeSync, constants, openSync} from 'node:fs';
import {createServer, type Socket} from 'node:net';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import {createDeferred} from '../../../system/time/deferred.js';

export const waitingSocketName = '.wait';

export type WaitingSocket = {
	/** Resolves when a runner waits. Rejects with an Error when none does in time. */
	readonly waits: () => Promise<void>;
	/** Resolves when it has taken the line, with its end. Rejects with an Error when it does not in time, or has ended. */
	readonly tell: (line: string) => Promise<void>;
	/** When it is gone, or was never there and never will be. */
	readonly closed: Promise<void>;
	readonly close: () => void;
};

/** What it ever says, and somewhat more: another program says anything. */
const mostCharacters = 64;

/** Rejects with errno exceptions. */
export async function openWaitingSocket(folder: string, clock: Clock): Promise<WaitingSocket> {
	const closed = createDeferred();
	let runner: Socket | undefined;
	let said = '';
	let look = (): void => undefined;
	// By its descriptor: of a path a socket takes 107 bytes.
	const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
	const server = createServer(socket => {
		// Its name goes with it.
		if (runner === undefined) shut();
		else return void socket.destroy();
		runner = socket;
		socket.setEncoding('utf8');
		socket.on('error', () => undefined);
		socket.once('close', end);
		socket.on('data', (piece: string) => {
			said += piece;
			if (said.length > mostCharacters) socket.destroy();
			look();
		});
	});
	let isOpen = true;
	function shut(): void {
		if (!isOpen) return;
		isOpen = false;
		server.close();
		closeSync(descriptor);
	}
	function end(): void {
		closed.resolve();
		look();
	}

	const hears = (wanted: string, ms: number, late: string): Promise<void> =>
		new Promise((resolve, reject) => {
			const cancel = clock.after(ms, () => finish(new Error(late)));
			const finish = (error?: Error): void => {
				cancel();
				look = () => undefined;
				if (error === undefined) resolve();
				else reject(error);
			};
			look = () => {
				if (said === wanted) finish();
				else if (closed.isSettled()) finish(new Error('the runner that waited has ended'));
			};
			look();
		});

	await new Promise<void>((resolve, reject) => {
		server.once('error', error => {
			shut();
			reject(error);
		});
		// For the image's user, whoever that is.
		server.listen({path: `/proc/self/fd/${descriptor}/${waitingSocketName}`, writableAll: true}, resolve);
	});
	return {
		waits: () =>
			hears('ready\n', limits.warmRunnerStartMs, `no runner waits ${limits.warmRunnerStartMs} ms after its container has started`),
		tell(line) {
			said = '';
			runner?.write(line);
			return hears('taken\n', limits.warmRunnerBeginMs, `the runner that waited has not begun within ${limits.warmRunnerBeginMs} ms`);
		},
		closed: closed.promise,
		close() {
			shut();
			if (runner === undefined) end();
			else runner.destroy();
		},
	};
}
