// What is wrong with manifests, all of it at once: `file:line:column: what`, by place, with a line that sums it up.

import {rowOf, type ErrorCode} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {Terminal} from '../screen/terminal.js';

/** Where something is; a file that cannot be read has no lines. */
export type Place = {readonly file: string; readonly line: number; readonly column: number} | {readonly file: string};

/** One thing that is wrong. */
export type Fault = {readonly place: Place; readonly message: string; readonly code: ErrorCode};

/** `file:line:column`. */
export const placeText = (place: Place): string => ('line' in place ? `${place.file}:${place.line}:${place.column}` : place.file);

export const faultText = ({place, message}: Fault): string => `${placeText(place)}: ${message}`;

/** In the order of the files, then from top to bottom. */
function inOrder(faults: readonly Fault[], files: readonly string[]): readonly Fault[] {
	const orderOf = new Map(files.map((file, at) => [file, at]));
	const keyOf = ({place}: Fault): readonly number[] => [
		orderOf.get(place.file) ?? files.length,
		...('line' in place ? [place.line, place.column] : [0, 0]),
	];
	return faults
		.map(fault => ({fault, key: keyOf(fault)}))
		.sort((a, b) => a.key.reduce((sum, value, at) => (sum === 0 ? value - (b.key[at] ?? 0) : sum), 0))
		.map(({fault}) => fault);
}

/** The exit code of what all of them are; 1 where they are of several sorts. */
export function exitCodeOf(faults: readonly Fault[]): number {
	const codes = new Set(faults.map(({code}) => rowOf(code).exitCode));
	const [only = 1] = codes;
	return codes.size === 1 ? only : 1;
}

/** Tells all faults, at most `limits.problemsShown` in full, and answers with the exit code. */
export function tellFaults(terminal: Pick<Terminal, 'error' | 'note'>, faults: readonly Fault[], files: readonly string[]): number {
	const sorted = [...new Set(inOrder(faults, files).map(faultText))];
	for (const line of sorted.slice(0, limits.problemsShown)) terminal.error(line);
	if (sorted.length > 1) terminal.note(summaryOf(sorted.length, new Set(faults.map(({place}) => place.file)).size));
	return exitCodeOf(faults);
}

function summaryOf(problems: number, files: number): string {
	const shown = problems > limits.problemsShown ? `, ${limits.problemsShown} of them shown` : '';
	return `${problems} problems in ${files} ${files === 1 ? 'file' : 'files'}${shown}; nothing was changed`;
}
