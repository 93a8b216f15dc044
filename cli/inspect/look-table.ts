// What views of actors share: the screen, tables that fit on it, places and times in cells. Pure.

import {createColors} from 'picocolors';
import {ageOf} from '../../api/duration.js';
import {drawRow, inOneLine, widthsOf} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';
import {fitted, type WidthOf} from '../screen/text-width.js';
import {placeOfAddress} from './places.js';

export type LookView = {
	readonly columns: number | undefined;
	readonly widthOf: WidthOf;
	readonly colours: Colours;
	readonly nowMs: number;
};

export const placeText = (address: string): string => inOneLine(placeOfAddress(address)) || '-';

export type Paint = (cell: string, column: number) => string;

/** Cut to the screen; colours are given after the widths were taken. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], view: LookView, paint?: Paint): string {
	const widths = widthsOf([head, ...rows], view.widthOf);
	const line = (row: readonly string[], painted?: Paint) => `${fitted(drawRow(row, widths, view.widthOf, painted).trimEnd(), view)}\n`;
	return line(head) + rows.map(row => line(row, paint)).join('');
}

export const ago = (ms: number, {nowMs}: LookView): string => `${ageOf(Math.max(0, nowMs - ms))} ago`;

/** Fractions of a second count where something is due. */
export const durationText = (ms: number): string => (ms < 10_000 ? `${(ms / 1_000).toFixed(1)}s` : ageOf(ms));

/** Of cells that are coloured when their widths are known. */
export const plainColours: Colours = createColors(false);
