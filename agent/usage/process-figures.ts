// What processes use, one by one: where no control group counts it for all of them. What a process had used that has ended, and that no other of them
// waited for, is missing.

import {limits} from '../../api/limits.js';
import type {Figures} from './group-files.js';
import {processBytes, processDisks, processNanos} from './proc-figures.js';
import {readSmall} from './small-file.js';
import type {DiskFigures} from './traffic-figures.js';

/** Of more than so many processes there are no figures. */
export const allFiguresOfProcesses = (pids: readonly number[]): Figures => ({...disksOfProcesses(pids), ...figuresOfProcesses(pids)});

/** The same without disks. */
export function figuresOfProcesses(pids: readonly number[]): Figures {
	if (pids.length === 0 || pids.length > limits.usageProcesses) return {cpuNanos: undefined, memoryBytes: undefined};
	return {cpuNanos: sumOf(pids, 'stat', processNanos), memoryBytes: sumOf(pids, 'status', processBytes)};
}

/** Of those whose files may be read; none where none may. */
export function disksOfProcesses(pids: readonly number[]): Partial<DiskFigures> {
	if (pids.length > limits.usageProcesses) return {};
	const read = pids.flatMap(pid => processDisks(readSmall(`/proc/${pid}/io`) ?? '') ?? []);
	if (read.length === 0) return {};
	return {
		readBytes: read.reduce((sum, {readBytes}) => sum + readBytes, 0),
		writtenBytes: read.reduce((sum, {writtenBytes}) => sum + writtenBytes, 0),
	};
}

/** Those that have ended meanwhile aside; undefined where none is left. */
function sumOf(pids: readonly number[], file: string, figureIn: (text: string) => number | undefined): number | undefined {
	const figures = pids.flatMap(pid => figureIn(readSmall(`/proc/${pid}/${file}`) ?? '') ?? []);
	return figures.length === 0 ? undefined : figures.reduce((sum, figure) => sum + figure, 0);
}
