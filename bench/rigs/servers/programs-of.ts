// The processes of a rig, found by the folder that is among their words.

import {readFileSync, readdirSync} from 'node:fs';
import path from 'node:path';

/** Whether it has not ended, as far as its parent has to do with that. */
export function isThere(pid: number): boolean {
	try {
		return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
	} catch {
		return false;
	}
}

/** Processes of these programs that have the folder among their words. */
export function programsOf(folder: string, names: readonly string[]): readonly number[] {
	return readdirSync('/proc')
		.map(Number)
		.filter(Boolean)
		.filter(pid => {
			const [program = '', ...words] = wordsOf(pid);
			return names.includes(path.basename(program)) && words.some(word => word.includes(`${folder}/`)) && isThere(pid);
		});
}

function wordsOf(pid: number): readonly string[] {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
	} catch {
		return [];
	}
}

export function childrenOf(pid: number): readonly number[] {
	try {
		return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
	} catch {
		return [];
	}
}

export function tryKill(pid: number): void {
	try {
		process.kill(pid, 'SIGKILL');
	} catch {
		// It has ended.
	}
}
