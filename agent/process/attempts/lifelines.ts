// A lifeline is a FIFO that only the shim holds open for writing: its end is the shim's death, told at once, to whichever
// agent reads it. It carries no data, only "look at the state file".
//
// Nothing can block or be missed: the agent opens it for reading and writing (which never waits) and for reading before the
// shim exists, and drops its own writing end after the shim has inherited it.

import {closeSync, constants, openSync, readSync} from 'node:fs';
import {Socket} from 'node:net';
import {hasCode} from '../../../system/files/errno.js';

/**
 * Opens the reading end. Undefined: no shim holds the other one, or there is no such FIFO. Throws other errno exceptions: what
 * cannot be looked at must not pass for dead.
 */
export function openLifeline(file: string): number | undefined {
	let descriptor: number | undefined;
	try {
		descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
		if (readSync(descriptor, Buffer.allocUnsafe(64)) > 0) return descriptor;
		closeSync(descriptor);
		return undefined;
	} catch (error) {
		if (hasCode(error, 'EAGAIN')) return descriptor; // Nothing to read, and a shim that could write.
		if (descriptor !== undefined) closeSync(descriptor);
		if (hasCode(error, 'ENOENT')) return undefined;
		throw error;
	}
}

/** Both ends before the shim is there; the caller closes `forShim` once it was spawned. Throws errno exceptions. */
export function openBothEnds(file: string): {readonly forShim: number; readonly forAgent: number} {
	const forShim = openSync(file, constants.O_RDWR);
	try {
		return {forShim, forAgent: openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)};
	} catch (error) {
		closeSync(forShim);
		throw error;
	}
}

/** Calls `onNews` at each sign and `onEnd` once. The descriptor is the watcher's from now on. */
export function watchLifeline(descriptor: number, onNews: () => void, onEnd: () => void): {readonly close: () => void} {
	const socket = new Socket({fd: descriptor, readable: true, writable: false});
	let open = true;
	const end = (): void => {
		if (!open) return;
		open = false;
		socket.destroy();
		onEnd();
	};
	socket.on('data', onNews);
	socket.once('end', end);
	socket.once('error', end);
	return {
		close() {
			open = false;
			socket.destroy();
		},
	};
}
