// The socket at which the runner of an instance takes calls, as its agent reaches it.
//
// What it keeps true: a connection is to a socket of the pod's own user and to nothing else, whatever a program has put in its place.

import {closeSync, constants, fstatSync, openSync, watch} from 'node:fs';
import net from 'node:net';
import {O_PATH} from '../os/beneath.js';
import {explained} from '../os/explained.js';
import {clear, socketName, socketOf, type RunnerPlace} from './runner-place.js';
import type {CallsEnd} from './when-listens.js';

/** A runner that listens is another one than the last: its socket, and one that was not ready yet, go before it begins. */
export async function clearSockets(home: string): Promise<void> {
	for (const file of [socketOf(home), `${socketOf(home)}.new`]) await clear(file);
}

/** Each direction of it ends by itself. Rejects with Errors for people. */
export async function connectRunner({home, owner}: RunnerPlace): Promise<net.Socket> {
	let descriptor: number | undefined;
	try {
		// By its descriptor: of a path a socket takes 107 bytes, and what has the name may be another thing in a moment.
		descriptor = openSync(socketOf(home), O_PATH | constants.O_NOFOLLOW);
		const stats = fstatSync(descriptor);
		if (!stats.isSocket() || (owner !== undefined && stats.uid !== owner))
			throw new Error('what is in the place of its socket is none of its own');
		return await connected(`/proc/self/fd/${descriptor}`);
	} catch (error) {
		throw new Error(`the runner of the function takes no connections: ${reasonOf(error)}`, {cause: error});
	} finally {
		if (descriptor !== undefined) closeSync(descriptor);
	}
}

const reasons: Readonly<Record<string, string>> = {ENOENT: 'it does not listen', ECONNREFUSED: 'it does not listen'};

const reasonOf = (error: unknown): string => reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? explained(error);

function connected(file: string): Promise<net.Socket> {
	return new Promise((resolve, reject) => {
		const socket = net.connect({path: file, allowHalfOpen: true});
		const fail = (error: Error): void => reject(error);
		socket.once('error', fail).once('connect', () => {
			socket.off('error', fail);
			resolve(socket);
		});
	});
}

/** The end of calls that a runner is. */
export const runnerEnd = (place: RunnerPlace): CallsEnd => ({
	connect: () => connectRunner(place),
	watch(look, fail) {
		const watcher = watch(place.home, {persistent: false}, (_event, name) => void (name === socketName && look()));
		watcher.on('error', fail);
		return () => watcher.close();
	},
	late: 'the function was not loaded',
	ended: 'its runner ended before it took calls',
});
