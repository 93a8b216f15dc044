// Lines at the bottom of a terminal that are drawn anew in place. What else is written goes above them: `terminal.ts` takes them
// away before and puts them back after.
//
// Control sequences are ECMA-48's: CUU (cursor up), EL (erase to the end of the line), ED (erase to the end of the screen).

import type {Writable} from 'node:stream';
import {cutLine, widthAtMost, widthOfLine, type WidthOf} from './text-width.js';

/** A stream that people see. */
export type Screen = Writable & {readonly columns?: number; readonly rows?: number};

export type Region = {
	readonly columns: () => number;
	readonly rows: () => number;
	/** Draws these lines in place of those before, cut to what fits. */
	readonly draw: (lines: readonly string[], widthOf?: WidthOf) => void;
	/** Takes the lines away. */
	readonly clear: () => void;
	/** Leaves the lines as they are; what comes is written below. */
	readonly keep: () => void;
	/** Calls back whenever the terminal got another size, until what is returned is called. */
	readonly onResize: (callback: () => void) => () => void;
	/** Whether it can show more than ASCII. */
	readonly unicode: boolean;
};

export type OwnedRegion = Region & {
	/** For the time of other output. */
	readonly hide: () => void;
	readonly show: () => void;
};

const usualColumns = 80;
const usualRows = 24;

/** A region of a stream. `mayDraw` says whether a line can begin where the cursor is. */
export function regionOf(stream: Screen, unicode: boolean, mayDraw: () => boolean): OwnedRegion {
	let wanted: readonly string[] = [];
	let measure: WidthOf = widthAtMost;
	/** What is on the screen now: the width of each line. */
	let drawn: readonly number[] = [];
	/** Drawn lines that a lower window has pushed out above its top: a higher one brings them back. */
	let above: readonly number[] = [];
	const columns = (): number => stream.columns ?? usualColumns;
	const rows = (): number => stream.rows ?? usualRows;
	/** Terminals wrap the lines anew when they get narrower; the last column stays free, where some wrap early. */
	const heightOf = (width: number): number => Math.max(1, Math.ceil(width / columns()));
	const toTop = (): string => {
		const lines = [...above, ...drawn];
		const height = lines.reduce((sum, width) => sum + heightOf(width), 0);
		let hidden = height - rows();
		above = lines.filter(width => {
			const isHidden = hidden > 0;
			hidden -= heightOf(width);
			return isHidden;
		});
		const up = Math.min(height, rows()) - 1;
		return up > 0 ? `\r\u001b[${up}A` : '\r';
	};
	const show = (): void => {
		if (!mayDraw() || (wanted.length === 0 && drawn.length === 0)) return;
		const fitting = wanted.slice(0, Math.max(1, rows() - 1)).map(line => cutLine(line, columns() - 1, measure));
		stream.write(`${drawn.length === 0 ? '' : toTop()}${fitting.map(line => `${line}\u001b[K`).join('\n')}\u001b[J`);
		drawn = fitting.map(line => widthOfLine(line, measure));
	};
	const hide = (): void => {
		if (drawn.length > 0) stream.write(`${toTop()}\u001b[J`);
		drawn = [];
		above = []; // What is written next goes between.
	};
	return {
		columns,
		rows,
		unicode,
		draw(lines, widthOf = widthAtMost) {
			wanted = lines;
			measure = widthOf;
			if (lines.length === 0) hide();
			else show();
		},
		clear() {
			wanted = [];
			hide();
		},
		keep() {
			// Drawn once more: a Ctrl-C that the terminal echoed stands behind the last line.
			show();
			if (drawn.length > 0) stream.write('\n');
			wanted = [];
			drawn = [];
			above = [];
		},
		onResize(callback) {
			stream.on('resize', callback);
			return () => stream.off('resize', callback);
		},
		hide,
		show,
	};
}
