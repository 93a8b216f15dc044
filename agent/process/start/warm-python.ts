// Runners of functions in Python that wait for their pods, on a node where that can be.
//
// What it keeps true: root runs no interpreter, and nothing that it loads, that others than root may change; nothing is left of what an earlier
// agent had begun.

import {execFile} from 'node:child_process';
import {existsSync, lstatSync, readlinkSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {limits} from '../../../api/limits.js';
import {parsedJson} from '../../../api/value-or.js';
import type {Clock} from '../../../system/time/clock.js';
import {warmRunnerWords} from '../../functions/runner-files.js';
import {createWarmPool, type WarmPool} from '../../functions/warm/warm-pool.js';
import type {Stock} from '../attempts/stock.js';
import type {Host} from '../host/host.js';
import {isOpen} from '../mounts/mount-plan.js';
import {nobody} from '../users/privileges.js';
import {waitingCommand} from './shim.js';
import {startWarmShim, type WarmShim} from './warm-shim.js';

export type WarmPythonOptions = {
	/** The runtime's own. */
	readonly directory: string;
	readonly count: number;
	readonly host: Host;
	readonly stock: Stock;
	readonly clock: Clock;
	readonly onWarning: (message: string) => void;
};

/** Where the agent is not root, or cannot make namespaces, it never has any. Throws errno exceptions. */
export function createWarmPython({directory, count, host, stock, clock, onWarning}: WarmPythonOptions): WarmPool<WarmShim> {
	const folder = path.join(directory, '.warm');
	rmSync(folder, {recursive: true, force: true});
	const {namespaces, dropper, agent} = host;
	const canBe = namespaces !== undefined && dropper !== undefined && agent.uid === 0;
	let serial = 0;
	return createWarmPool({
		count: canBe ? count : 0,
		async start(program) {
			if (namespaces === undefined || dropper === undefined) return undefined;
			const asNobody = dropper({user: nobody, groups: [], mayGain: false});
			if (!(await mayWait(program, asNobody))) return undefined;
			const command = waitingCommand(warmRunnerWords(program), namespaces);
			return startWarmShim({command, folder: path.join(folder, String(++serial)), stock, clock});
		},
		clock,
		onWarning,
	});
}

/** What an interpreter says of itself: where it loads modules from, and whether it can enter a namespace. */
const trial = `
import json, sys
try:
    import ctypes, resource
    can = hasattr(ctypes.CDLL(None), "setns")
except Exception:
    can = False
print(json.dumps([can, sys.path]))
`;

/** Whether root may have this interpreter wait; `asNobody` are the words before what it is asked by. */
export async function mayWait(program: string, asNobody: readonly string[]): Promise<boolean> {
	if (isChangeable(program)) return false;
	const [file = program, ...words] = [...asNobody, program, '-I', '-B', '-c', trial];
	const said = parsedJson(await outputOf(file, words));
	const [can, paths] = Array.isArray(said) ? (said as readonly unknown[]) : [];
	return can === true && Array.isArray(paths) && paths.every(each => typeof each === 'string' && !isChangeable(each));
}

const outputOf = (file: string, words: readonly string[]): Promise<string> =>
	new Promise(resolve => {
		const options = {
			cwd: '/',
			env: {},
			timeout: limits.warmRunnerStartMs,
			killSignal: 'SIGKILL',
			maxBuffer: limits.warmRunnerLineBytes,
		} as const;
		execFile(file, words, options, (error, stdout) => resolve(error === null ? stdout : ''));
	});

/** As many links as the kernel follows. */
const mostLinks = 40;

/** Whether others than root may put something else there: at the end, at any link on the way, or where there is nothing yet. */
function isChangeable(file: string, links = 0): boolean {
	if (!path.isAbsolute(file) || links > mostLinks) return true;
	const above = path.dirname(file);
	const stats = lstatSync(file, {throwIfNoEntry: false});
	if (stats === undefined) return above === file || isChangeable(above, links);
	if (existsSync(above) && isOpen(realpathSync(above))) return true;
	return stats.isSymbolicLink() ? isChangeable(path.resolve(above, readlinkSync(file)), links + 1) : isOpen(file);
}
