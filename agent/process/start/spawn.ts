// Starts the shim of one attempt: makes its files, opens its descriptors, and leaves the agent with nothing but a lifeline.

import {spawn, type ChildProcess} from 'node:child_process';
import {closeSync, constants, existsSync, fchownSync, mkdirSync, openSync, rmSync, writeSync} from 'node:fs';
import {attemptFolder, lifelineFile, logFile, stateFile, stdinEndFile, stdinFile} from '../../attempts.js';
import {openBothEnds} from '../attempts/lifelines.js';
import {beginningLine} from '../attempts/state-file.js';
import {makeFifos, type Stock} from '../attempts/stock.js';
import {covered} from '../../os/isolated-stdio.js';
import type {User} from '../../os/user.js';
import type {Beginning} from '../users/privileges.js';
import type {ShimCommand} from './shim.js';
import type {Assignable} from './assignable.js';

export type SpawnPlan = {
	readonly folder: string;
	readonly attempt: number;
	readonly command: ShimCommand;
	/** `kept`: what the agent writes into the FIFO beside the attempts is read, until it writes to the one that ends it. `open`: nothing is ever written. */
	readonly input: 'none' | 'open' | 'kept';
	/** A folder that has to be there and empty. */
	readonly privateRoot: string | undefined;
	/** The shim has a /proc of its own. */
	readonly isApart: boolean;
	/** Written down, for what joins it later. */
	readonly beginning: Beginning;
	/** Who may open the log through /dev/stdout; undefined: the agent's own user runs the program. */
	readonly logOwner: User | undefined;
	/** Who the shim itself runs as; undefined: as the agent. */
	readonly shimUser: User | undefined;
	/** How a runner that waits already can become its program; undefined: none can. */
	readonly assignable?: Assignable | undefined;
};

export type Shim = {
	/** Its reading end, which ends at once when the shim did not start. */
	readonly lifeline: number;
	/** SIGKILL to it and all that has not left its group. */
	readonly kill: () => void;
};

/** `onError` says why the shim did not start. Throws errno exceptions. */
export function spawnShim(plan: SpawnPlan, stock: Stock, onError: (error: Error) => void): Shim {
	const {folder, attempt, command} = plan;
	const open: number[] = [];
	const kept = (descriptor: number): number => {
		open.push(descriptor);
		return descriptor;
	};
	let lifeline: number | undefined;
	try {
		if (!existsSync(folder)) stock.put('containers', folder);
		else if (!existsSync(lifelineFile(folder))) makeFifos([lifelineFile(folder)]);
		const target = attemptFolder(folder, attempt);
		if (existsSync(target)) rmSync(target, {recursive: true, force: true}); // Left by a start that failed.
		stock.put('attempts', target);
		const state = kept(openSync(stateFile(folder, attempt), constants.O_WRONLY | constants.O_APPEND));
		writeSync(state, beginningLine(plan.beginning));
		const log = kept(openSync(logFile(folder, attempt), constants.O_WRONLY | constants.O_APPEND));
		if (plan.logOwner !== undefined) fchownSync(log, plan.logOwner.uid, plan.logOwner.gid);
		if (plan.privateRoot !== undefined) mkdirSync(plan.privateRoot, {recursive: true, mode: 0o700});
		const proc = plan.isApart ? [kept(openSync('/proc', constants.O_RDONLY | constants.O_DIRECTORY))] : [];
		const ends = openBothEnds(lifelineFile(folder));
		kept(ends.forShim);
		lifeline = ends.forAgent;
		const shim = spawn(command.file, command.args, {
			cwd: '/',
			env: command.env,
			detached: true,
			stdio: covered([openInput(folder, plan.input, kept), log, 'ignore', state, ends.forShim, ...proc], kept),
			...plan.shimUser,
		});
		shim.once('error', onError).unref();
		return {lifeline, kill: () => killGroupOf(shim)};
	} catch (error) {
		if (lifeline !== undefined) closeSync(lifeline);
		throw error;
	} finally {
		for (const descriptor of open) closeSync(descriptor);
	}
}

/** Of a child that leads a group, as long as it runs itself: its number is no other process's until then. */
export function killGroupOf({pid, exitCode, signalCode}: ChildProcess): void {
	try {
		if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
	} catch {
		// Over.
	}
}

/** The process of the group that keeps input open has a writing end of its own, so the program finds the end of it once that one is gone. */
function openInput(folder: string, input: SpawnPlan['input'], kept: (descriptor: number) => number): number | 'ignore' {
	if (input === 'none') return 'ignore';
	const missing = [stdinFile(folder), stdinEndFile(folder)].filter(file => !existsSync(file));
	if (missing.length > 0) makeFifos(missing);
	// Both ends at once never wait for another.
	const both = kept(openSync(stdinFile(folder), constants.O_RDWR));
	return input === 'open' ? both : kept(openSync(stdinFile(folder), constants.O_RDONLY));
}
