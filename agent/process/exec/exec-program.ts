// One program beside that of a container, until it is over: what it writes, where it may be read no faster than it is taken, and its code.

import os from 'node:os';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import {killBeside, type Spawned} from './beside.js';
import {terminalBelow} from './terminal-size.js';

export type Stream = 'stdout' | 'stderr';

export type ProgramListener = {
	readonly onOutput: (stream: Stream, data: Buffer) => void;
	/** Once, after the last output. */
	readonly onEnd: (exitCode: number) => void;
	/** It could not be spawned; nothing else comes. */
	readonly onError: (error: Error) => void;
	/** Just before it is killed. */
	readonly onKill?: (leader: number) => void;
};

export type ExecProgram = {
	/** While paused nothing is read, and the program waits when its pipe is full. */
	readonly pause: (paused: boolean) => void;
	/** SIGKILL; what was written before still comes. */
	readonly kill: () => void;
	/** Nothing is told any more. */
	readonly drop: () => void;
};

/**
 * It is over when its process is and its output was read to the end. What it has left behind may hold its output open: then it is waited
 * for no longer than `execDrainMs` of silence.
 */
export function followProgram(
	{child, pipes}: Spawned,
	clock: Clock,
	isAlone: boolean,
	{onOutput, onEnd, onError, onKill}: ProgramListener,
): ExecProgram {
	const streams = {stdout: pipes.stdout, stderr: pipes.stderr};
	let openStreams = 2;
	let heard = 0;
	let exitCode: number | undefined;
	let isOver = false;
	let isPaused = false;
	let cancel: () => void = () => undefined;

	const end = (code: number): void => {
		if (isOver) return;
		drop();
		onEnd(code);
	};
	/** Each output begins the silence anew. */
	const drain = (): void => {
		const code = exitCode;
		if (code === undefined || isOver) return;
		cancel();
		const before = heard;
		// A loop that was held up has the timer before what came meanwhile: that is read first.
		cancel = clock.after(limits.execDrainMs, () =>
			setImmediate(() => void (isOver || (isPaused || heard !== before ? drain() : end(code)))),
		);
	};
	const endIfRead = (): void => {
		if (exitCode !== undefined && openStreams === 0) end(exitCode);
	};
	for (const stream of ['stdout', 'stderr'] as const) {
		streams[stream].on('data', (data: Buffer) => {
			if (isOver) return;
			heard++;
			onOutput(stream, data);
			drain();
		});
		streams[stream].once('close', () => {
			openStreams--;
			endIfRead();
		});
	}
	child.once('error', error => {
		if (isOver) return;
		drop();
		onError(error);
	});
	child.once('exit', (code, signal) => {
		exitCode = code ?? 128 + (signal === null ? 0 : os.constants.signals[signal]);
		// Without a control group or a namespace nobody would find later what it leaves behind.
		if (isAlone) killBeside(child, undefined);
		drain();
		endIfRead();
	});

	function drop(): void {
		isOver = true;
		cancel();
		pipes.destroy();
	}

	return {
		pause(paused) {
			isPaused = paused;
			for (const readable of Object.values(streams))
				if (paused) readable.pause();
				else readable.resume();
		},
		kill() {
			const {pid} = child;
			if (exitCode !== undefined || pid === undefined) return;
			onKill?.(pid);
			killBeside(child, terminalBelow(pid));
		},
		drop,
	};
}
