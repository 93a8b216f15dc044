// A node of real processes in a folder of its own, which is gone after the test, and its processes with it.

import {readFileSync, readdirSync, readlinkSync, writeFileSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {releaseMemory} from '../../agent/volumes/memory.js';
import {createProcessRuntime, type ProcessRuntime, type ProcessRuntimeOptions} from '../../agent/process-runtime.js';
import {stopEverything} from '../../agent/process/containers/stop-everything.js';
import {systemClock} from '../../system/time/clock.js';
import type {World} from './runtime-contract.js';

type Clean = (clean: () => Promise<void>) => void;

export type ProcessWorld = Omit<World, 'runtime'> & {
	readonly runtime: () => ProcessRuntime;
	readonly directory: string;
	readonly warnings: string[];
};

export function processWorld(teardown: Clean, options: Partial<ProcessRuntimeOptions> = {}): ProcessWorld {
	const directory = path.join(os.tmpdir(), `troupe-test-${process.pid}-${crypto.randomUUID()}`);
	const warnings: string[] = [];
	const make = (): ProcessRuntime =>
		createProcessRuntime({
			directory,
			clock: systemClock,
			path: process.env['PATH'],
			stockFolders: 2,
			homes: `${directory}-homes`,
			onWarning: message => warnings.push(message),
			...options,
		});
	let runtime = make();
	teardown(async () => {
		await runtime.close();
		await stopEverything(directory, {clock: systemClock, graceMs: 0});
		await releaseMemory(directory);
		for (const folder of [directory, `${directory}-homes`]) await rm(folder, {recursive: true, force: true});
	});
	return {
		directory,
		warnings,
		runtime: () => runtime,
		settle: promise => promise,
		kill: (_id, {pid}) => void process.kill(pid, 'SIGKILL'),
		stopAgent: () => runtime.close(),
		startAgent() {
			runtime = make();
		},
		reboot: () => killUnseen(directory),
		gone: ({pid}) => whenTrue(() => !isThere(pid)),
	};
}

/** The types of what a node of this host and user says of itself. */
export async function conditionsHere(): Promise<readonly string[]> {
	let clean: () => Promise<void> = () => Promise.resolve();
	const {conditions} = processWorld(later => (clean = later))
		.runtime()
		.info();
	await clean();
	return conditions.map(({type}) => type);
}

/** Ends everything as a power cut does: no shim writes a code, and the next boot has another id. */
async function killUnseen(directory: string): Promise<void> {
	for (const file of stateFiles(directory)) {
		const text = readFileSync(file, 'latin1');
		const [, pid, group] = /^process (\d+) \(.*\) \S \d+ (\d+) /m.exec(text) ?? [];
		if (pid === undefined || group === undefined) continue;
		process.kill(Number(group), 'SIGSTOP'); // So that the shim sees nothing.
		process.kill(-Number(group), 'SIGKILL');
		await whenTrue(() => !isThere(Number(pid)));
		writeFileSync(file, text.replace(/^(running \d+) \S+/m, '$1 00000000-0000-0000-0000-000000000000'));
	}
}

/** The parent of a program. */
export const shimOf = (pid: number): number => Number(/^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]);

export const stateFiles = (directory: string): string[] =>
	readdirSync(directory, {recursive: true, encoding: 'utf8'})
		.filter(name => !name.startsWith('.') && path.basename(name) === 'state')
		.map(name => path.join(directory, name));

/** Whether a process lives; a zombie does not. */
export function isThere(pid: number): boolean {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
		return !/^[ZX]$/.test(stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3));
	} catch {
		return false;
	}
}

/** The leader of the group that a container's program, which is not in a terminal, is in: the shim, or what stands outside of its namespaces. */
export const groupOf = (pid: number): number => Number(/^\d+ \(.*\) \S \d+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]);

/**
 * The number on this node of a process that says a number of itself, beside another one of its container; 0 when it is not there. Where
 * containers have no namespaces it is the same number.
 */
export function pidOnNode(inside: number, beside: number): number {
	const namespaceOf = (pid: number | 'self'): string => readlinkSync(`/proc/${pid}/ns/pid`);
	const wanted = namespaceOf(beside);
	if (wanted === namespaceOf('self')) return isThere(inside) ? inside : 0;
	const isIt = (pid: number): boolean => {
		try {
			return namespaceOf(pid) === wanted && new RegExp(`^NSpid:.*\\s${inside}$`, 'm').test(readFileSync(`/proc/${pid}/status`, 'latin1'));
		} catch {
			return false; // It has ended, or is another user's.
		}
	};
	return readdirSync('/proc').map(Number).filter(Boolean).find(isIt) ?? 0;
}

const deadlineMs = 30_000;

/** The kernel tells nobody of the end of a process that is not its child, so this looks at each turn of the loop. Rejects after 30 s. */
export async function whenTrue(condition: () => boolean): Promise<void> {
	const untilMs = systemClock.monotonicMs() + deadlineMs;
	while (!condition()) {
		if (systemClock.monotonicMs() >= untilMs) throw new Error(`waited too long until ${condition.toString()}`);
		await nextTurn();
	}
}
