// Which processes belong to a lane of tests: by its folder for temporary files, in which everything that it starts has something.

import {readFileSync, readdirSync, readlinkSync} from 'node:fs';
import process from 'node:process';

export type Process = {readonly pid: number; readonly words: string};

/** 0 where it is gone. */
export function parentOf(pid: number): number {
	return Number(/^PPid:\s+(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** Those whose words, environment, working directory or open files name the folder; what another user runs is not seen. */
export function processesOf(folder: string): Process[] {
	return readdirSync('/proc')
		.map(Number)
		.filter(pid => pid > 1 && pid !== process.pid)
		.map(pid => ({pid, words: read(`/proc/${pid}/cmdline`).split('\0').join(' ').trim()}))
		.filter(({pid, words}) => words !== '' && (words.includes(folder) || names(pid, folder)));
}

const names = (pid: number, folder: string): boolean =>
	read(`/proc/${pid}/environ`).includes(folder) ||
	[`/proc/${pid}/cwd`, ...filesOf(pid)].some(link => `${target(link)}/`.startsWith(`${folder}/`));

const filesOf = (pid: number): string[] => orElse(() => readdirSync(`/proc/${pid}/fd`).map(name => `/proc/${pid}/fd/${name}`), []);
const target = (link: string): string => orElse(() => readlinkSync(link), '');
const read = (file: string): string => orElse(() => readFileSync(file, 'latin1'), '');

/** Processes come and go while they are looked at. */
function orElse<Value>(look: () => Value, otherwise: Value): Value {
	try {
		return look();
	} catch {
		return otherwise;
	}
}
