// The size of a terminal, as people's programs tell it.

export type TerminalSize = {readonly rows: number; readonly columns: number};

/** What fits a terminal, and the size of old terminals otherwise: the kernel counts in 16 bits, and 0 means that the size is not known. */
export function sizeOf({rows, columns}: TerminalSize): TerminalSize {
	const fits = (value: number): boolean => Number.isSafeInteger(value) && value > 0 && value < 65_536;
	return {rows: fits(rows) ? rows : 24, columns: fits(columns) ? columns : 80};
}
