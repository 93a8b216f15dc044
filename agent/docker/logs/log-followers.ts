// Copies the logs of running containers out of the Engine, each by a connection that it keeps open.
//
// What it keeps true: a log goes on exactly after its last copied message, whichever of agent, Engine and connection was away in between, as long as
// the Engine has kept what was written (json-file: some megabytes); what is not written yet is not read, so the Engine keeps it.

import path from 'node:path';
import type {Readable} from 'node:stream';
import {limits} from '../../../api/limits.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import {createDeferred, type Deferred} from '../../../system/time/deferred.js';
import {hasCode} from '../../../system/files/errno.js';
import {logFile} from '../../attempts.js';
import {explained} from '../../os/explained.js';
import {EngineError, type Engine} from '../engine/engine.js';
import {openStream} from '../engine/streams.js';
import {LogCopy} from './log-copy.js';
import {createLogMessages} from './log-messages.js';

/** One attempt, whose log is `logFile(folder, attempt)`. */
export type FollowedAttempt = {readonly folder: string; readonly attempt: number; readonly engineId: string; readonly tty: boolean};

export type LogFollowers = {
	/** It runs: copies what it writes, after what was copied before. One that waits for the Engine waits no longer. */
	readonly follow: (attempt: FollowedAttempt) => void;
	/** It is over: resolves when all that it wrote is copied, after `logDrainMs` at the latest; then the rest still comes. Never rejects. */
	readonly finish: (attempt: FollowedAttempt) => Promise<void>;
	/** Resolves when all that it wrote is copied, or cannot be had in a longer time: until then the Engine has to keep it. Never rejects. */
	readonly rest: (attempt: FollowedAttempt) => Promise<void>;
	/** Of the container in this folder: the attempt whose last lines are still being copied after its end was told. */
	readonly copying: (folder: string) => {readonly attempt: number; readonly onEnded: Set<() => void>} | undefined;
	/** What is in this folder is being removed: resolves when nothing of it is written any more. */
	readonly drop: (folder: string) => Promise<void>;
	/** Resolves when how far each log has come is noted. */
	readonly close: () => Promise<void>;
};

export type LogFollowing = {
	readonly engine: Engine;
	readonly clock: Clock;
	/** From where on a log is rotated. */
	readonly limitBytes: number;
	readonly onWarning: (message: string) => void;
};

type Follower = {
	readonly attempt: FollowedAttempt;
	readonly log: string;
	/** Resolved when nothing more comes. */
	readonly over: Deferred;
	/** Aborted: nothing of it is wanted any more. */
	readonly dropped: AbortController;
	/** Called when nothing more comes. */
	readonly onEnded: Set<() => void>;
	/** Its container is over. */
	isEnding: boolean;
	stopPause: () => void;
	hasWarned: boolean;
};

export function createLogFollowers(following: LogFollowing): LogFollowers {
	const all = new Map<string, Follower>();

	function join(attempt: FollowedAttempt): Follower {
		const log = logFile(attempt.folder, attempt.attempt);
		const current = all.get(log);
		if (current !== undefined) return current;
		const follower = followerOf(attempt, log);
		all.set(log, follower);
		void copyAll(following, follower).finally(() => {
			all.delete(log);
			follower.over.resolve();
			for (const callback of follower.onEnded) callback();
		});
		return follower;
	}

	async function drop(isMeant: (follower: Follower) => boolean): Promise<void> {
		const meant = [...all.values()].filter(isMeant);
		for (const {dropped, stopPause} of meant) {
			dropped.abort();
			stopPause();
		}
		await Promise.all(meant.map(({over}) => over.promise));
	}

	return {
		follow: attempt => join(attempt).stopPause(),
		finish(attempt) {
			const follower = join(attempt);
			follower.isEnding = true;
			follower.stopPause();
			return within(following.clock, limits.logDrainMs, follower.over.promise);
		},
		rest(attempt) {
			const follower = all.get(logFile(attempt.folder, attempt.attempt));
			return follower === undefined ? Promise.resolve() : within(following.clock, limits.logRestMs, follower.over.promise);
		},
		copying(folder) {
			const newest = [...all.values()].filter(({attempt, isEnding}) => isEnding && attempt.folder === folder).at(-1);
			return newest === undefined ? undefined : {attempt: newest.attempt.attempt, onEnded: newest.onEnded};
		},
		drop: folder => drop(({log}) => log.startsWith(`${folder}${path.sep}`)),
		close: () => drop(() => true),
	};
}

const followerOf = (attempt: FollowedAttempt, log: string): Follower => ({
	attempt,
	log,
	over: createDeferred(),
	dropped: new AbortController(),
	onEnded: new Set(),
	isEnding: false,
	stopPause: () => undefined,
	hasWarned: false,
});

function within(clock: Clock, timeoutMs: number, promise: Promise<void>): Promise<void> {
	const late = createDeferred();
	const cancel = clock.after(timeoutMs, late.resolve);
	return Promise.race([promise, late.promise]).finally(cancel);
}

/** Asks the Engine again and again, until nothing more can come. Never rejects. */
async function copyAll(following: LogFollowing, follower: Follower): Promise<void> {
	let pauseMs: number = limits.logAgainFirstMs;
	while (!follower.dropped.signal.aborted) {
		// An Engine may end a log that it follows before its last lines; asked again after the container's end it sends all it has.
		const isLast = follower.isEnding;
		const {isWhole, isGone, hasCome} = await copyOnce(following, follower);
		if (isGone || (isWhole && isLast)) return;
		if (isWhole && follower.isEnding) continue;
		if (hasCome) pauseMs = limits.logAgainFirstMs;
		await pause(following.clock, follower, pauseMs);
		pauseMs = Math.min(2 * pauseMs, limits.logAgainMaxMs);
	}
}

function pause(clock: Clock, follower: Follower, delayMs: number): Promise<void> {
	if (follower.dropped.signal.aborted) return Promise.resolve();
	return new Promise(resolve => {
		const cancel = clock.after(delayMs, resolve);
		follower.stopPause = () => {
			cancel();
			resolve();
		};
	});
}

type Outcome = {
	/** The Engine has ended it by itself. */
	readonly isWhole: boolean;
	/** There is no such container any more. */
	readonly isGone: boolean;
	/** At all. */
	readonly hasCome: boolean;
};

/** Never rejects. */
async function copyOnce(following: LogFollowing, follower: Follower): Promise<Outcome> {
	let hasCome = false;
	try {
		const copy = new LogCopy(follower.log, following.limitBytes);
		const stream = await open(following.engine, follower, copy.begin());
		await copyStream(following, follower, copy, stream, () => (hasCome = true));
		return {isWhole: true, isGone: false, hasCome};
	} catch (error) {
		warn(following, follower, error);
		return {isWhole: false, isGone: error instanceof EngineError && error.fault === 'notFound', hasCome};
	}
}

const open = (engine: Engine, {attempt: {engineId}, dropped: {signal}}: Follower, since: string | undefined): Promise<Readable> =>
	openStream(engine, {
		what: 'follow the log of a container',
		timeoutMs: limits.engineStreamMs,
		signal,
		open: (docker, abortSignal) => {
			const options = {follow: true, stdout: true, stderr: true, timestamps: true, abortSignal} as const;
			// What dockerode gives is a message of node:http, which its types do not say.
			return docker.getContainer(engineId).logs(since === undefined ? options : {...options, since}) as Promise<Readable>;
		},
	});

/** Until the Engine ends it. What is not written yet is not read. Rejects with errors of the stream, of the disk and of what is no log. */
async function copyStream(
	following: LogFollowing,
	follower: Follower,
	copy: LogCopy,
	stream: Readable,
	onChunk: () => void,
): Promise<void> {
	let cancelSave: Cancel | undefined;
	const save = (): void => {
		cancelSave = undefined;
		try {
			copy.save();
		} catch (error) {
			warn(following, follower, error);
		}
	};
	const messages = createLogMessages(follower.attempt.tty, part => copy.take(part));
	try {
		for await (const chunk of stream) {
			onChunk();
			messages.feed(chunk as Buffer);
			await copy.write();
			// The first of what comes together is noted at once, the rest of it once.
			if (cancelSave === undefined) {
				save();
				cancelSave = following.clock.after(limits.logLookMs, save);
			}
		}
		messages.end();
		await copy.write();
	} finally {
		cancelSave?.();
		stream.destroy();
		await copy.close();
		save();
	}
}

/** Once for each follower: a connection that breaks is the Engine's affair, and told by it. */
function warn({onWarning}: LogFollowing, follower: Follower, error: unknown): void {
	if (follower.hasWarned || follower.dropped.signal.aborted || error instanceof EngineError || hasCode(error, ...broken)) return;
	follower.hasWarned = true;
	onWarning(`a container's log is not copied: ${explained(error)}`);
}

const broken = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'];
