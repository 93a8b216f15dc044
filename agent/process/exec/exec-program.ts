// One program beside that of a container, until it is over: what it writes, where it may be read no faster than it is taken, and its code.

import os from 'node:os';
import {limits} from '../../../api/limits.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import type {ExecProgram, Stream} from '../../exec-sessions.js';
import {killBeside, type Spawned} from './beside.js';
import {terminalBelow} from './terminal-size.js';

export type ProgramListener = {
	readonly onOutput: (stream: Stream, data: Buffer) => void;
	/** Once, after the last output. */
	readonly onEnd: (exitCode: number) => void;
	/** It could not be spawned; nothing else comes. */
	readonly onError: (error: Error) => void;
	/** Just before it is killed. */
	readonly onKill?: (leader: number) => void;
};

/**
 * It is over when its process is and its output was read to the end. What it has left behind may hold its output open: then it is waited
 * for no longer than `execDrainMs` of silence. `isAlone`: the container's end does not find what it leaves behind.
 */
export const followProgram = (spawned: Spawned, clock: Clock, isAlone: boolean, listener: ProgramListener): ExecProgram =>
	new FollowedProgram(spawned, clock, isAlone, listener);

class FollowedProgram implements ExecProgram {
	readonly #spawned: Spawned;
	readonly #clock: Clock;
	readonly #isAlone: boolean;
	readonly #listener: ProgramListener;
	#openStreams = 2;
	#heard = 0;
	#exitCode: number | undefined;
	#isOver = false;
	#isPaused = false;
	#cancel: Cancel = () => undefined;

	constructor(spawned: Spawned, clock: Clock, isAlone: boolean, listener: ProgramListener) {
		this.#spawned = spawned;
		this.#clock = clock;
		this.#isAlone = isAlone;
		this.#listener = listener;
		for (const stream of ['stdout', 'stderr'] as const) {
			spawned.pipes[stream].on('data', (data: Buffer) => this.#hear(stream, data)).once('close', () => this.#hearClose());
		}
		spawned.child.once('error', error => this.#hearError(error)).once('exit', (code, signal) => this.#hearExit(code, signal));
	}

	pause(paused: boolean): void {
		this.#isPaused = paused;
		const {stdout, stderr} = this.#spawned.pipes;
		for (const readable of [stdout, stderr])
			if (paused) readable.pause();
			else readable.resume();
	}

	kill(): void {
		const {child} = this.#spawned;
		if (this.#exitCode !== undefined || child.pid === undefined) return;
		this.#listener.onKill?.(child.pid);
		killBeside(child, terminalBelow(child.pid));
	}

	drop(): void {
		this.#isOver = true;
		this.#cancel();
		this.#spawned.pipes.destroy();
	}

	#hear(stream: Stream, data: Buffer): void {
		if (this.#isOver) return;
		this.#heard++;
		this.#listener.onOutput(stream, data);
		this.#drain();
	}

	#hearClose(): void {
		this.#openStreams--;
		this.#endIfRead();
	}

	#hearError(error: Error): void {
		if (this.#isOver) return;
		this.drop();
		this.#listener.onError(error);
	}

	#hearExit(code: number | null, signal: NodeJS.Signals | null): void {
		this.#exitCode = code ?? 128 + (signal === null ? 0 : os.constants.signals[signal]);
		// Without a control group or a namespace the agent would not find later what it leaves behind.
		if (this.#isAlone) killBeside(this.#spawned.child, undefined);
		this.#drain();
		this.#endIfRead();
	}

	#endIfRead(): void {
		if (this.#exitCode !== undefined && this.#openStreams === 0) this.#end(this.#exitCode);
	}

	/** Each output begins the silence anew. */
	#drain(): void {
		const code = this.#exitCode;
		if (code === undefined || this.#isOver) return;
		this.#cancel();
		const before = this.#heard;
		// A loop that was held up has the timer before what came meanwhile: that is read first.
		this.#cancel = this.#clock.after(limits.execDrainMs, () =>
			setImmediate(() => {
				if (this.#isOver) return;
				if (this.#isPaused || this.#heard !== before) this.#drain();
				else this.#end(code);
			}),
		);
	}

	#end(code: number): void {
		if (this.#isOver) return;
		this.drop();
		this.#listener.onEnd(code);
	}
}
