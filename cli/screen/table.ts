// Tables as kubectl draws them: upper-case heads, columns three spaces apart, nothing after the last one. Pure.

import {withControlsShown} from './control-characters.js';
import type {Colours} from './terminal.js';
import type {WidthOf} from './text-width.js';

export type {WidthOf} from './text-width.js';

const gap = '   ';

/** Widths that fit every cell; the last column is as wide as it likes. */
export const widthsOf = (rows: readonly (readonly string[])[], widthOf: WidthOf): readonly number[] =>
	rows.reduce<number[]>((widths, row) => row.map((cell, at) => Math.max(widths[at] ?? 0, widthOf(cell))), []);

/** One line, line end included. `paint` colours a cell after its width was taken. */
export function drawRow(
	cells: readonly string[],
	widths: readonly number[],
	widthOf: WidthOf,
	paint: (cell: string, column: number) => string = cell => cell,
): string {
	const line = cells.map((cell, at) => {
		const padding = at === cells.length - 1 ? 0 : Math.max(0, (widths[at] ?? 0) - widthOf(cell));
		return paint(cell, at) + ' '.repeat(padding);
	});
	return line.join(gap).trimEnd() + '\n';
}

/** Head and rows. */
export function drawTable(
	head: readonly string[],
	rows: readonly (readonly string[])[],
	widthOf: WidthOf,
	paint?: (cell: string, column: number) => string,
): string {
	const widths = widthsOf([head, ...rows], widthOf);
	return drawRow(head, widths, widthOf) + rows.map(row => drawRow(row, widths, widthOf, paint)).join('');
}

/** Null is blank; a line end in a cell would break the table, a control character command the terminal. */
export function cellText(value: unknown): string {
	if (value === null || value === undefined) return '';
	return inOneLine(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Text of others in one line, with control characters shown. */
export const inOneLine = (text: string): string => withControlsShown(text.replace(/[\t\n\r]+/g, ' '));

const fine = /^(Running|Ready|Active|Succeeded|Completed|Normal|True)$/;
const pending = /^(Pending|ContainerCreating|Terminating|NotReady|SchedulingDisabled|Ready,SchedulingDisabled|Unknown|Warning|retry .*)$/i;

/** The colour of a status word: fine, on the way, or wrong. */
export function paintStatus(word: string, colours: Colours): string {
	if (word === '') return word;
	if (fine.test(word)) return colours.green(word);
	return pending.test(word) ? colours.yellow(word) : colours.red(word);
}
