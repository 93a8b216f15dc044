// What `top` shows, whatever it is of.

import type {Invocation} from '../command.js';
import {sparkline} from '../screen/sparkline.js';

/** A row, and what it is sorted by. */
export type Row = {readonly cells: readonly string[]; readonly cpu: number; readonly memory: number};

export type View = {
	/** As `-o json` has it. */
	readonly whole: unknown;
	/** Said where there are no rows. */
	readonly empty: string;
	readonly heads: readonly string[];
	readonly rows: readonly Row[];
};

export const isWide = ({flags}: Invocation): boolean => flags.text('output') === 'wide';

/** Whether the last minutes are drawn: people see them, scripts ask for them. */
export const showsPast = (invocation: Invocation): boolean => invocation.terminal.screen !== undefined || isWide(invocation);

/** Characters of a line of bars. */
export const pastSteps = 20;

/** Bars of figures that stand for so many steps each. */
export const barsOf = ({terminal}: Invocation, figures: readonly (number | null)[]): string =>
	sparkline(figures, terminal.screen?.unicode ?? true);
