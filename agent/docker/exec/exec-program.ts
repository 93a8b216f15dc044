// One program beside that of a container, through the Engine: what it writes, where it may be read no faster than it is taken, and its code.

import type {Duplex} from 'node:stream';
import {limits} from '../../../api/limits.js';
import {succeeded} from '../../../api/errors.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import type {ExecProgram, NewSession, Stream} from '../../exec-sessions.js';
import {explained} from '../../os/explained.js';
import type {TerminalSize} from '../../terminal-size.js';
import type {Engine} from '../engine/engine.js';
import {createFrames} from '../engine/frames.js';
import {openStream} from '../engine/streams.js';
import {detachKeys} from './detach-keys.js';
import {failureOf, mayBeFailure} from './exec-failure.js';
import {createExecProcess, inspectExec, type ExecProcess} from './exec-process.js';

/** Where programs are started, and what becomes of their ends. */
export type Beside = {
	readonly engine: Engine;
	readonly clock: Clock;
	/** Something that ends by itself in a bounded time. */
	readonly track: (work: Promise<unknown>) => void;
};

export type Wanted = {
	readonly engineId: string;
	readonly argv: readonly string[];
	/** `NAME=VALUE`: what the Engine does not know of the container's own environment. */
	readonly env: readonly string[];
	readonly stdin: boolean;
	readonly terminal: TerminalSize | undefined;
};

export type ProgramListener = {
	readonly onOutput: (stream: Stream, data: Buffer) => void;
	/** Once, after the last output. */
	readonly onEnd: (exitCode: number) => void;
};

export type StartedProgram = ExecProgram & {
	/** To be called at once. */
	readonly listen: (listener: ProgramListener) => void;
	readonly stdin: NonNullable<NewSession['stdin']>;
	readonly resize: NonNullable<NewSession['resize']>;
	/** Finds out its process, so that it can be killed without the Engine. Never rejects. */
	readonly learn: () => Promise<void>;
	/** Whether the Engine says that it runs. Rejects with an EngineError. */
	readonly isRunning: (timeoutMs: number) => Promise<boolean>;
};

/** Rejects with an EngineError; what the Engine starts nevertheless is killed. */
export async function startProgram(beside: Beside, wanted: Wanted, signal: AbortSignal): Promise<StartedProgram> {
	const {engine, clock, track} = beside;
	const {argv, env, stdin, terminal, engineId} = wanted;
	const size = terminal === undefined ? {} : {ConsoleSize: [terminal.rows, terminal.columns] as [number, number]};
	const {id} = await engine.call('make a program of exec', limits.engineStreamMs, docker =>
		docker.getContainer(engineId).exec({
			Cmd: [...argv],
			Env: [...env],
			AttachStdin: stdin,
			AttachStdout: true,
			AttachStderr: true,
			Tty: terminal !== undefined,
			DetachKeys: detachKeys,
			...size,
		}),
	);
	const process = createExecProcess(engine, clock, id, engineId);
	try {
		const stream = await openStream(engine, {
			what: 'start a program of exec',
			timeoutMs: limits.engineStreamMs,
			signal,
			open: (docker, abortSignal) =>
				docker.getExec(id).start({hijack: true, stdin: true, Tty: terminal !== undefined, abortSignal, ...size}),
		});
		return new EngineProgram(beside, wanted, {id, process, stream});
	} catch (error) {
		track(process.kill());
		throw error;
	}
}

type Started = {readonly id: string; readonly process: ExecProcess; readonly stream: Duplex};

class EngineProgram implements StartedProgram {
	readonly #beside: Beside;
	readonly #wanted: Wanted;
	readonly #started: Started;
	#listener: ProgramListener = {onOutput: () => undefined, onEnd: () => undefined};
	#isOver = false;
	/** The first output, while it may be the Engine's own and is not passed on. */
	#held: {readonly stream: Stream; readonly data: Buffer} | undefined;
	/** What may be the Engine's own words, also after they were passed on. */
	#words: string | undefined;
	#hasHeard = false;
	#cancelHold: Cancel = () => undefined;
	#problem: string | undefined;
	#resizing: Promise<void> = Promise.resolve();
	readonly stdin: StartedProgram['stdin'];

	constructor(beside: Beside, wanted: Wanted, started: Started) {
		this.#beside = beside;
		this.#wanted = wanted;
		this.#started = started;
		const {stream} = started;
		const isTerminal = wanted.terminal !== undefined;
		this.stdin = {
			get destroyed() {
				return stream.destroyed || stream.writableEnded;
			},
			write: (data, done) => void stream.write(data, () => done()),
			// Of a terminal the Engine ends the output with the input, so its end is typed.
			destroy: () => void (isTerminal ? stream.write('\u0004') : stream.end()),
		};
	}

	listen(listener: ProgramListener): void {
		this.#listener = listener;
		const {stream} = this.#started;
		const feed =
			this.#wanted.terminal === undefined
				? createFrames(piece => void (piece.data.length > 0 && this.#hear(piece.stream, piece.data)))
				: (data: Buffer): void => this.#hear('stdout', data);
		stream.on('data', (data: Buffer) => this.#feed(feed, data)).on('error', () => undefined);
		stream.once('close', () => void this.#close());
	}

	pause(paused: boolean): void {
		if (paused) this.#started.stream.pause();
		else this.#started.stream.resume();
	}

	kill(): void {
		if (!this.#isOver) this.#beside.track(this.#started.process.kill());
	}

	learn(): Promise<void> {
		return this.#started.process.learn();
	}

	drop(): void {
		this.#isOver = true;
		this.#cancelHold();
		this.#started.stream.destroy();
	}

	async isRunning(timeoutMs: number): Promise<boolean> {
		return (await inspectExec(this.#beside.engine, this.#started.id, timeoutMs)).Running;
	}

	/** A terminal that is over is no failure. One after the other: an Engine may do two at a time in any order. */
	resize(rows: number, columns: number, done: Parameters<StartedProgram['resize']>[2]): void {
		const {engine} = this.#beside;
		const sent = (): Promise<unknown> =>
			engine.call('resize a terminal', limits.beginMs, docker => docker.getExec(this.#started.id).resize({h: rows, w: columns}));
		this.#resizing = this.#resizing.then(sent).then(
			() => undefined,
			() => undefined,
		);
		void this.#resizing.then(() => done(succeeded(null)));
	}

	#feed(feed: (data: Buffer) => void, data: Buffer): void {
		try {
			feed(data);
		} catch (error) {
			this.#problem = explained(error);
			this.#started.stream.destroy();
		}
	}

	#hear(stream: Stream, data: Buffer): void {
		if (this.#isOver) return;
		if (!this.#hasHeard && mayBeFailure(data)) {
			this.#held = {stream, data: Buffer.from(data)};
			this.#words = data.toString();
			this.#cancelHold = this.#beside.clock.after(limits.execDrainMs, () => void this.#judge());
		} else {
			this.#release();
			this.#listener.onOutput(stream, data);
		}
		this.#hasHeard = true;
	}

	/** A busy Engine ends its output late: what it says of no process is its own, and waits for that. Never rejects. */
	async #judge(): Promise<void> {
		const info = await inspectExec(this.#beside.engine, this.#started.id, limits.engineStreamMs).catch(() => undefined);
		if (info?.Pid !== 0) this.#release();
	}

	#release(): void {
		this.#cancelHold();
		const held = this.#held;
		this.#held = undefined;
		if (held !== undefined && !this.#isOver) this.#listener.onOutput(held.stream, held.data);
	}

	/** The Engine has ended the output, or went. Never rejects. */
	async #close(): Promise<void> {
		if (this.#isOver) return;
		try {
			if (this.#problem !== undefined) throw new Error(this.#problem);
			const {ExitCode, Pid} = await this.#ended();
			const failure = this.#words !== undefined && Pid === 0 ? failureOf(this.#words) : undefined;
			if (failure === undefined) this.#end(ExitCode ?? 255);
			else if (this.#held === undefined) this.#end(failure.exitCode);
			else this.#fail(failure.message, failure.exitCode);
		} catch (error) {
			this.kill();
			this.#fail(`exec: ${explained(error)}`, 126);
		}
	}

	/** As the Engine tells it a little after the output, at the latest. Rejects with an EngineError, or when it runs on. */
	async #ended(): ReturnType<typeof inspectExec> {
		const {engine, clock} = this.#beside;
		const untilMs = clock.monotonicMs() + limits.execEndMs;
		for (;;) {
			const info = await inspectExec(engine, this.#started.id, limits.engineStreamMs);
			if (!info.Running) return info;
			if (clock.monotonicMs() > untilMs) throw new Error("Docker's Engine has ended the output of a program that runs on");
			await new Promise<void>(resolve => clock.after(limits.beginLookMs, resolve));
		}
	}

	#fail(message: string, exitCode: number): void {
		this.#held = undefined;
		const isTerminal = this.#wanted.terminal !== undefined;
		if (!this.#isOver) this.#listener.onOutput(isTerminal ? 'stdout' : 'stderr', Buffer.from(`${message}${isTerminal ? '\r\n' : '\n'}`));
		this.#end(exitCode);
	}

	#end(exitCode: number): void {
		if (this.#isOver) return;
		this.#release();
		this.drop();
		this.#listener.onEnd(exitCode);
	}
}
