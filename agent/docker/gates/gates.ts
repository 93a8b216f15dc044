// Gates before containers' programs, from this host's side: the file that containers see, a FIFO for each start, and who is let through.
//
// What it keeps true: a container that began with a gate runs nothing of the user's until `pass` has written into its FIFO, whatever becomes of this
// agent and of the Engine. Where `pass` fails or this agent dies, the FIFO's end is closed and the gate ends by itself.

import {
	chmodSync,
	closeSync,
	constants,
	existsSync,
	mkdirSync,
	openSync,
	readlinkSync,
	renameSync,
	rmSync,
	writeFileSync,
	writeSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {limits} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import {hasCode} from '../../../system/files/errno.js';
import type {Clock} from '../../../system/time/clock.js';
import {codeOf, findTool, runTool} from '../../os/tools.js';
import {architectureOf} from '../programs/elf.js';
import {gateBytes, gateClosedCode, gatePath, gateProgram} from '../programs/gate.js';
import {findProgram, type Program} from './find-program.js';
import {setHostname} from './hostname.js';

export type Passing = {
	readonly pid: number;
	readonly fifo: string;
	readonly program: Program;
	/** What the container is to be called; undefined: as it is. */
	readonly hostname: string | undefined;
	/** Called when all is ready, in the same turn in which the program begins. Throws when it may not. */
	readonly mayRun: () => void;
};

export type Gates = {
	/** What containers see at `gatePath`. */
	readonly file: string;
	/** Makes a FIFO there; its folder exists. Rejects with Errors. */
	readonly makeFifo: (file: string) => Promise<void>;
	/** The container has been started: its program begins. Rejects with Errors, also those of `mayRun`; then the gate ends by itself. */
	readonly pass: (passing: Passing) => Promise<void>;
};

/** Of an agent's directory, no pod's name. */
export const gatesFolder = '.gate';

type State = {
	readonly clock: Clock;
	readonly folder: string;
	/** FIFOs that no container has seen. */
	readonly spare: string[];
	made: number;
};

/** Undefined where there can be none: an agent that is not root, a host without the tools, a folder from which nothing may be executed. */
export function openGates(directory: string, clock: Clock): Gates | undefined {
	const architecture = architectureOf(process.arch);
	if (process.getuid?.() !== 0 || architecture === undefined) return undefined;
	if (['nsenter', 'mkfifo'].some(tool => findTool(tool) === undefined)) return undefined;
	const state: State = {clock, folder: path.join(directory, gatesFolder), spare: [], made: 0};
	// What an earlier agent had in stock; its containers have theirs elsewhere.
	rmSync(state.folder, {recursive: true, force: true});
	mkdirSync(state.folder, {recursive: true, mode: 0o700});
	const file = path.join(state.folder, 'gate');
	writeFileSync(file, gateProgram(architecture));
	chmodSync(file, 0o555);
	// It finds no FIFO here.
	if (codeOf([file, 'trial']) !== gateClosedCode) return undefined;
	return {file, makeFifo: target => makeFifo(state, target), pass: passing => pass(state, passing)};
}

/** From the stock: to start a process for each would take longer than to move one. */
async function makeFifo(state: State, target: string): Promise<void> {
	if (state.spare.length === 0) {
		const files = Array.from({length: limits.gateFifos}, () => path.join(state.folder, `fifo-${state.made++}`));
		await runTool('mkfifo', ['-m', '0444', ...files]);
		state.spare.push(...files);
	}
	const spare = state.spare.pop();
	if (spare !== undefined) renameSync(spare, target);
}

/** Whether that process still waits: its file as another mount namespace has it; a program that has begun has another file. */
export const waits = (pid: number): boolean => valueOr('', () => readlinkSync(`/proc/${pid}/exe`)) === gatePath;

async function pass(state: State, {pid, fifo, program, hostname, mayRun}: Passing): Promise<void> {
	const end = await openFifo(state, pid, fifo);
	try {
		if (!waits(pid)) throw new Error(`process ${pid} of this host is not the one that Docker's Engine has started`);
		const file = Buffer.from(`${findProgram(`/proc/${pid}/root`, program)}\0`);
		if (file.length > gateBytes) throw new Error('the path of its program is too long');
		if (hostname !== undefined) await setHostname(pid, hostname);
		mayRun();
		writeSync(end, file);
	} finally {
		closeSync(end);
	}
}

/** Once the gate has opened its end. It does so a moment after the Engine says that the container has started. */
function openFifo(state: State, pid: number, fifo: string): Promise<number> {
	const untilMs = state.clock.monotonicMs() + limits.gateMs;
	return new Promise((resolve, reject) => {
		const look = (): void => {
			try {
				resolve(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
			} catch (error) {
				if (!hasCode(error, 'ENXIO')) reject(error instanceof Error ? error : new Error(String(error)));
				else if (!existsSync(`/proc/${pid}`)) reject(new Error('it ended before its program began'));
				else if (state.clock.monotonicMs() >= untilMs) reject(new Error(`it did not get to its program within ${limits.gateMs} ms`));
				else state.clock.after(limits.gateLookMs, look);
			}
		};
		look();
	});
}
