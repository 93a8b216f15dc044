// What processes use, one by one: where no control group counts it for all of them. What a process had used that has ended, and that no other of them
// waited for, is missing.

import {limits} from '../../api/limits.js';
import type {Figures} from './group-files.js';
import {processBytes, processNanos} from './proc-figures.js';
import {readSmall} from './small-file.js';

/** Of more than so many processes there are no figures. */
export function figuresOfProcesses(pids: readonly number[]): Figures {
	if (pids.length === 0 || pids.length > limits.usageProcesses) return {cpuNanos: undefined, memoryBytes: undefined};
	return {cpuNanos: sumOf(pids, 'stat', processNanos), memoryBytes: sumOf(pids, 'status', processBytes)};
}

/** Those that have ended meanwhile aside; undefined where none is left. */
function sumOf(pids: readonly number[], file: string, figureIn: (text: string) => number | undefined): number | undefined {
	const figures = pids.flatMap(pid => figureIn(readSmall(`/proc/${pid}/${file}`) ?? '') ?? []);
	return figures.length === 0 ? undefined : figures.reduce((sum, figure) => sum + figure, 0);
}
