// The main loop's side of the beat: it moves a counter, and a thread that lives beside it sees whether it does.

import {Worker} from 'node:worker_threads';
import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../time/clock.js';

export type BeatThreadOptions = {
	readonly servers: () => readonly string[];
	readonly node: string;
	readonly password: string;
	readonly boot: string;
	readonly ca?: string | undefined;
	readonly clock: Clock;
	/** The beat's connection stands, or is lost. */
	readonly onLine?: (stands: boolean) => void;
	/** The beat was not answered for a while: the others may be in the same trouble, and for longer. */
	readonly onSilent?: () => void;
	/** The thread ended by itself, which it should not; it is started again. */
	readonly onProblem?: (problem: string) => void;
};

export type BeatWork = {
	readonly servers: readonly string[];
	readonly node: string;
	readonly password: string;
	readonly boot: string;
	readonly ca?: string | undefined;
	readonly movement: Int32Array<SharedArrayBuffer>;
};

export type BeatMessage =
	| {readonly type: 'servers'; readonly servers: readonly string[]}
	| {readonly type: 'silence'; readonly isSilent: boolean}
	| {readonly type: 'pace'; readonly graceMs: number}
	| {readonly type: 'close'};

/** What the thread says. */
export type BeatNews = 'stands' | 'lost' | 'silent';

export type BeatThread = {
	/** It does not beat, and makes no connection. */
	readonly silence: (isSilent: boolean) => void;
	/** A silent node has so long. */
	readonly hurry: (graceMs: number) => void;
	/** Says goodbye and ends the thread; however often it is called. */
	readonly close: () => Promise<void>;
};

/** It holds a connection and two timers. */
const resourceLimits = {maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1};

export function startBeatThread({servers, clock, onLine, onSilent, onProblem, ...login}: BeatThreadOptions): BeatThread {
	const movement = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
	let told = servers();
	let silent = false;
	let graceMs: number = limits.nodeGraceMs;
	let closed = false;
	let cancelMove: Cancel = () => undefined;
	let cancelStart: Cancel | undefined;

	const start = (): Worker => {
		const workerData: BeatWork = {...login, servers: told, movement};
		const worker = new Worker(new URL('./beat-worker.js', import.meta.url), {workerData, resourceLimits, env: {}, execArgv: []});
		if (graceMs !== limits.nodeGraceMs) worker.postMessage({type: 'pace', graceMs} satisfies BeatMessage);
		if (silent) worker.postMessage({type: 'silence', isSilent: true} satisfies BeatMessage);
		worker.on('message', (news: BeatNews) => (news === 'silent' ? onSilent?.() : onLine?.(news === 'stands')));
		worker.on('error', (error: Error) => onProblem?.(`the thread of the beat failed: ${error.message}`));
		worker.once('exit', () => {
			if (closed) return;
			onLine?.(false);
			cancelStart = clock.after(limits.movementMs, () => (thread = start()));
		});
		return worker;
	};
	let thread = start();

	const move = (): void => {
		cancelMove = clock.after(limits.movementMs, move);
		Atomics.add(movement, 0, 1);
		const current = servers();
		if (current.join() === told.join()) return;
		told = current;
		say({type: 'servers', servers: told});
	};
	const say = (message: BeatMessage): void => thread.postMessage(message);
	move();

	const end = async (): Promise<void> => {
		closed = true;
		cancelMove();
		cancelStart?.();
		if (thread.threadId < 0) return;
		const exit = new Promise<void>(resolve => void thread.once('exit', () => resolve()));
		const cancel = clock.after(limits.linkCloseMs, () => void thread.terminate());
		say({type: 'close'});
		await exit;
		cancel();
	};
	let closing: Promise<void> | undefined;
	return {
		silence(isSilent) {
			silent = isSilent;
			say({type: 'silence', isSilent});
		},
		hurry(told) {
			if (told === graceMs) return;
			graceMs = told;
			say({type: 'pace', graceMs});
		},
		close: () => (closing ??= end()),
	};
}
