// How an interpreter of Python comes to wait for its pod.
//
// What it keeps true: root runs no interpreter, and nothing that it loads, that others than root may change.

import {execFile} from 'node:child_process';
import {limits} from '../../../api/limits.js';
import {parsedJson} from '../../../api/value-or.js';
import {warmRunnerWords} from '../../functions/runner-files.js';
import type {Namespaces} from '../host/namespaces.js';
import {nobody, type Dropper} from '../users/privileges.js';
import {isChangeable} from './changeable.js';
import {waitingCommand, type ShimCommand} from './shim.js';

/** Undefined: root does not run it. */
export async function waitingPython(program: string, namespaces: Namespaces, dropper: Dropper): Promise<ShimCommand | undefined> {
	const asNobody = dropper({user: nobody, groups: [], mayGain: false});
	if (!(await mayWait(program, asNobody))) return undefined;
	return waitingCommand({argv: warmRunnerWords('python', program), namespaces, hasNetwork: false, cgroups: []});
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
