// The socket at which the runner of an instance takes calls, as its agent reaches it.
//
// What it keeps true: a connection is to a socket of the pod's own user and to nothing else, whatever a program has put in its place.

import {closeSync, constants, fstatSync, openSync, watch} from 'node:fs';
import net from 'node:net';
import {succeeded, type Outcome} from '../../api/errors.js';
import type {ActionResult} from '../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import {O_PATH} from '../os/beneath.js';
import {explained, systemFailure} from '../os/explained.js';
import {clear, socketName, socketOf, type RunnerPlace} from './runner-place.js';

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
		if (!stats.isSocket() || stats.uid !== owner) throw new Error('what is in the place of its socket is none of its own');
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

export type Waiting = {
	readonly timeoutMs: number;
	readonly clock: Clock;
	readonly whenEnded: (callback: () => void) => Cancel;
};

/**
 * Answers once: well when the runner has taken a connection, not well at the end of the time or of the runner. An error: it cannot be looked for.
 * What comes back answers at once.
 */
export function whenListens(
	place: RunnerPlace,
	{timeoutMs, clock, whenEnded}: Waiting,
	done: (outcome: Outcome<ActionResult>) => void,
): Cancel {
	const releases: Cancel[] = [];
	let isOver = false;
	const finish = (outcome: Outcome<ActionResult>): void => {
		if (isOver) return;
		isOver = true;
		for (const release of releases) release();
		done(outcome);
	};
	const isNot = (message: string): void => finish(succeeded({ok: false, message}));
	const hold = (release: Cancel): void => void (isOver ? release() : releases.push(release));
	const look = oneByOne(async () => {
		if (isOver || !(await takes(place))) return;
		finish(succeeded({ok: true, message: ''}));
	});
	try {
		// Before the first look, so that nothing comes in between.
		const watcher = watch(place.home, {persistent: false}, (_event, name) => void (name === socketName && look()));
		watcher.on('error', error => finish(systemFailure(error)));
		hold(() => watcher.close());
	} catch (error) {
		finish(systemFailure(error));
	}
	hold(clock.after(timeoutMs, () => isNot(`the function was not loaded within ${timeoutMs / 1_000} s`)));
	hold(whenEnded(() => isNot('its runner ended before it took calls')));
	look();
	return () => isNot('its agent stops');
}

const takes = (place: RunnerPlace): Promise<boolean> =>
	connectRunner(place).then(
		socket => {
			socket.on('error', () => undefined).destroy();
			return true;
		},
		() => false,
	);

/** What is asked for while it is done is done once more. */
function oneByOne(act: () => Promise<void>): () => void {
	let isBusy = false;
	let isAsked = false;
	const begin = (): void => {
		isAsked = isBusy;
		if (isBusy) return;
		isBusy = true;
		void act().then(() => {
			isBusy = false;
			if (isAsked) begin();
		});
	};
	return begin;
}
