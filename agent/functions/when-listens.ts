// Waiting until an instance takes calls.

import type net from 'node:net';
import {succeeded, type Outcome} from '../../api/errors.js';
import type {ActionResult} from '../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import {systemFailure} from '../os/explained.js';

/** Where an instance takes calls: the socket of its runner, or the port of its program. */
export type CallsEnd = {
	/** Each direction of it ends by itself. Rejects with Errors for people. */
	readonly connect: () => Promise<net.Socket>;
	/** Calls `look` when it may have begun to take them, until it is called off. Throws errno exceptions. */
	readonly watch: (look: () => void, fail: (error: unknown) => void) => Cancel;
	/** What is said at the end of the time, and where it ends before. */
	readonly late: string;
	readonly ended: string;
};

export type Waiting = {
	readonly timeoutMs: number;
	readonly clock: Clock;
	readonly whenEnded: (callback: () => void) => Cancel;
};

/**
 * Answers once: well when it has taken a connection, not well at the end of the time or of what runs there. An error: it cannot be looked for.
 * What comes back answers at once.
 */
export function whenListens(end: CallsEnd, {timeoutMs, clock, whenEnded}: Waiting, done: (outcome: Outcome<ActionResult>) => void): Cancel {
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
		if (isOver || !(await takes(end))) return;
		finish(succeeded({ok: true, message: ''}));
	});
	try {
		// Before the first look, so that nothing comes in between.
		hold(end.watch(look, error => finish(systemFailure(error))));
	} catch (error) {
		finish(systemFailure(error));
	}
	hold(clock.after(timeoutMs, () => isNot(`${end.late} within ${timeoutMs / 1_000} s`)));
	hold(whenEnded(() => isNot(end.ended)));
	look();
	return () => isNot('its agent stops');
}

/** The same, among others that are called off together. */
export function awaitCalls(end: CallsEnd, others: Set<Cancel>, waiting: Waiting, done: (outcome: Outcome<ActionResult>) => void): void {
	let stop: Cancel = () => undefined;
	const stopped: Cancel = () => stop();
	others.add(stopped);
	stop = whenListens(end, waiting, outcome => {
		others.delete(stopped);
		done(outcome);
	});
}

const takes = (end: CallsEnd): Promise<boolean> =>
	end.connect().then(
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
