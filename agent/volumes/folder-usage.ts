// How much of the disk a folder takes with all that is in it, counted by du(1): a process of its own, which follows no link, enters no other file
// system, counts a file with several names once, and gets to the end of folders that are too deep for a path.
//
// Programs may have as many files as they like and change them meanwhile: it runs at the lowest priority with little memory, and it is ended at
// a deadline. Where it looks at something that never answers, it cannot even be killed: then it is left alone, and few such are left.

import {spawn, type ChildProcess} from 'node:child_process';
import {setPriority} from 'node:os';
import {limits} from '../../api/limits.js';
import {valueOr} from '../../api/value-or.js';
import type {Clock} from '../../system/time/clock.js';
import {findTool} from '../os/tools.js';

export type FolderUsage = {
	/** Bytes: what it can read of it, where the agent may not read all. Rejects with Errors that say why there is no count. */
	readonly count: (folder: string) => Promise<number>;
	/** Ends what runs. */
	readonly close: () => void;
};

export function openFolderUsage(clock: Clock, deadlineMs: number = limits.volumeCountMs): FolderUsage {
	/** What runs, and what was killed and has not ended, by folder. */
	const running = new Map<string, ChildProcess>();
	return {
		async count(folder) {
			if (running.has(folder)) throw new Error('the count before it has not ended: something in it does not answer');
			if (running.size >= limits.volumeCounts) throw new Error(`${running.size} counts of other volumes have not ended`);
			const counter = begun(folder, deadlineMs);
			running.set(folder, counter);
			counter.once('exit', () => running.delete(folder));
			counter.once('error', () => running.delete(folder));
			return await total(counter, clock, deadlineMs);
		},
		close() {
			for (const counter of running.values()) counter.kill('SIGKILL');
		},
	};
}

/** A count that has lost its agent, and so its deadline, ends after as much time of a processor. */
function begun(folder: string, deadlineMs: number): ChildProcess {
	const du = findTool('du');
	if (du === undefined) throw new Error('this node has no du(1)');
	const prlimit = findTool('prlimit');
	const words = [du, '-s', '-k', '-x', '--', folder];
	const bounds = [`--as=${limits.volumeCountBytes}`, `--cpu=${Math.ceil(deadlineMs / 1_000)}`];
	const [program = du, ...rest] = prlimit === undefined ? words : [prlimit, ...bounds, '--', ...words];
	// What it says of files that went meanwhile may be of any length.
	const counter = spawn(program, rest, {cwd: '/', env: {}, stdio: ['ignore', 'pipe', 'ignore']});
	const {pid} = counter;
	if (pid !== undefined) valueOr(undefined, () => setPriority(pid, 19));
	return counter;
}

/** The line it ends with is `<kibibytes> <folder>`; also where it could not look at everything. */
function total(counter: ChildProcess, clock: Clock, deadlineMs: number): Promise<number> {
	return new Promise((resolve, reject) => {
		let said = '';
		counter.stdout?.setEncoding('latin1').on('data', (text: string) => {
			said = `${said}${text}`.slice(0, 32);
		});
		const cancel = clock.after(deadlineMs, () => {
			counter.kill('SIGKILL');
			counter.stdout?.destroy();
			counter.unref();
			reject(new Error(`it took longer than ${deadlineMs} ms`));
		});
		counter.once('error', error => {
			cancel();
			reject(error);
		});
		counter.once('close', (code, signal) => {
			cancel();
			const kibibytes = /^(\d{1,12})\s/.exec(said)?.[1];
			if (kibibytes === undefined) reject(new Error(`du ended with ${signal ?? `code ${code ?? ''}`} and said nothing`));
			else resolve(Number(kibibytes) * 1_024);
		});
	});
}
