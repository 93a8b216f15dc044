// A shim whose program waits to be told what it is: spawned before its pod is known, with the files of an attempt in a folder of its own, which
// becomes that of the attempt by its name alone.
//
// What it keeps true: it ends with its agent, however that ends, as long as its program was told nothing; what it was given stands in memory only.

import {spawn, type ChildProcess} from 'node:child_process';
import {
	appendFileSync,
	chownSync,
	closeSync,
	constants,
	existsSync,
	mkdirSync,
	openSync,
	renameSync,
	rmSync,
	statfsSync,
	writeSync,
} from 'node:fs';
import {mkdir} from 'node:fs/promises';
import type {Socket} from 'node:net';
import path from 'node:path';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import {attemptFolder, lifelineFile, logFile, stateFile} from '../../attempts.js';
import type {WarmRunner} from '../../functions/warm/warm-pool.js';
import {networkInode, type NetworkOfProcess} from '../../os/network-namespace.js';
import {lastLinesOf} from '../../logs/last-lines.js';
import {covered} from '../../os/isolated-stdio.js';
import {openBothEnds} from '../attempts/lifelines.js';
import {beginningLine} from '../attempts/state-file.js';
import type {Stock} from '../attempts/stock.js';
import {givenText} from './assignable.js';
import {killGroupOf, type Shim, type SpawnPlan} from './spawn.js';
import {shimDescriptors, type ShimCommand} from './shim.js';

export type WarmShim = WarmRunner & {
	/** A process that is in its network, until it has ended; undefined: it waits in that of its agent. */
	readonly network: NetworkOfProcess | undefined;
	/** Has its program become that of this attempt, by that line. Throws errno exceptions; it is nobody's any more then. */
	readonly become: (plan: Pick<SpawnPlan, 'folder' | 'attempt' | 'command' | 'beginning' | 'logOwner'>, line: string) => Shim;
};

export type WarmShimOptions = {
	readonly command: ShimCommand;
	/** Where it has its files: not there yet. */
	readonly folder: string;
	readonly stock: Stock;
	readonly clock: Clock;
	/** Called once, when its shim has ended, whatever that has become, or could not be started; it calls back. Not where this agent ends before. */
	readonly onOver?: (done: () => void) => void;
};

/** Any number: nothing of another attempt is there. */
const own = 0;

/** Resolves when its program waits. Rejects with Errors, and nothing of it is left then. */
export async function startWarmShim(options: WarmShimOptions): Promise<WarmShim> {
	const {folder, clock, onOver = (done: () => void): void => done()} = options;
	let waiting: Waiting;
	try {
		await mkdir(path.dirname(folder), {recursive: true, mode: 0o700});
		waiting = spawnWaiting(options);
	} catch (error) {
		onOver(() => undefined);
		throw error;
	}
	const {child, control, lifeline, given} = waiting;
	let isHandedOut = false;
	const ended = new Promise<void>(resolve => {
		const finish = (): void => {
			control.destroy();
			if (isHandedOut) return onOver(() => undefined);
			isHandedOut = true;
			for (const descriptor of [lifeline, given]) closeSync(descriptor);
			rmSync(folder, {recursive: true, force: true});
			onOver(resolve);
		};
		child.once('error', finish).once('exit', finish);
	});
	const runner: Omit<WarmShim, 'network'> = {
		isAlive: () => !isHandedOut && child.exitCode === null && child.signalCode === null && !control.destroyed,
		ended,
		end() {
			child.ref();
			killGroupOf(child);
		},
		become(plan, line) {
			isHandedOut = true;
			try {
				writeSync(given, givenText(plan.command));
				place(folder, plan);
				control.end(line, () => control.destroy());
				return {lifeline, kill: () => killGroupOf(child)};
			} catch (error) {
				killGroupOf(child);
				closeSync(lifeline);
				throw error;
			} finally {
				closeSync(given);
				rmSync(folder, {recursive: true, force: true});
			}
		},
	};
	const waits = new Promise<boolean>(resolve => {
		control.once('data', () => resolve(true)).once('close', () => resolve(false));
		const cancel = clock.after(limits.warmRunnerStartMs, () => resolve(false));
		control.once('data', cancel).once('close', cancel);
	});
	if (await waits) {
		// What only waits keeps no agent from its end.
		control.unref();
		child.unref();
		return {...runner, network: networkOf(child)};
	}
	const words = lastLinesOf(logFile(folder, own));
	runner.end();
	await ended;
	throw new Error(words === '' ? 'it does not wait to be told what to be' : words);
}

/** Of one that has just said that it waits. Undefined, too, where it has ended since. */
function networkOf({pid = 0}: ChildProcess): NetworkOfProcess | undefined {
	const [inode, ours] = [pid, process.pid].map(networkInode);
	return inode === undefined || inode === ours ? undefined : {pid, inode};
}

type Waiting = {readonly child: ChildProcess; readonly control: Socket; readonly lifeline: number; readonly given: number};

/** Throws errno exceptions, and leaves nothing then. */
function spawnWaiting({command, folder, stock}: WarmShimOptions): Waiting {
	const open: number[] = [];
	const kept = (descriptor: number): number => {
		open.push(descriptor);
		return descriptor;
	};
	const ours: number[] = [];
	try {
		stock.put('containers', folder);
		stock.put('attempts', attemptFolder(folder, own));
		const state = kept(openSync(stateFile(folder, own), constants.O_WRONLY | constants.O_APPEND));
		const log = kept(openSync(logFile(folder, own), constants.O_WRONLY | constants.O_APPEND));
		const proc = kept(openSync('/proc', constants.O_RDONLY | constants.O_DIRECTORY));
		const given = openInMemory();
		ours.push(given);
		const ends = openBothEnds(lifelineFile(folder));
		kept(ends.forShim);
		ours.push(ends.forAgent);
		const child = spawn(command.file, command.args, {
			cwd: '/',
			env: command.env,
			detached: true,
			stdio: covered(['ignore', log, 'ignore', state, ends.forShim, proc, given, 'pipe'], kept),
		});
		const control = (child.stdio as readonly unknown[])[shimDescriptors.control] as Socket;
		// That it is over is told by its end.
		control.on('error', () => undefined);
		return {child, control, lifeline: ends.forAgent, given};
	} catch (error) {
		for (const descriptor of ours) closeSync(descriptor);
		rmSync(folder, {recursive: true, force: true});
		throw error;
	} finally {
		for (const descriptor of open) closeSync(descriptor);
	}
}

/** Both are open at the shim already: only their names change. */
function place(from: string, {folder, attempt, beginning, logOwner}: Parameters<WarmShim['become']>[0]): void {
	if (!existsSync(folder)) mkdirSync(folder, {mode: 0o700});
	const target = attemptFolder(folder, attempt);
	if (existsSync(target)) rmSync(target, {recursive: true, force: true}); // Left by a start that failed.
	appendFileSync(stateFile(from, own), beginningLine(beginning));
	if (logOwner !== undefined) chownSync(logFile(from, own), logOwner.uid, logOwner.gid);
	renameSync(lifelineFile(from), lifelineFile(folder));
	renameSync(attemptFolder(from, own), target);
}

const sharedMemory = '/dev/shm';
/** Source: linux/magic.h, asm-generic/fcntl.h. */
const tmpfsType = 0x01021994;
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;

/** A file that has no name and is on no disk. Throws Errors. */
function openInMemory(): number {
	if (statfsSync(sharedMemory).type !== tmpfsType) throw new Error(`${sharedMemory} is not in memory`);
	return openSync(sharedMemory, constants.O_RDWR | O_TMPFILE, 0o600);
}
