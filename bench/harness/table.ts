// How figures are shown: one row a figure, with how often it was taken, its median and range, its goal and whether it was met.

export type Goal = {readonly atMost: number} | {readonly atLeast: number};

export type Row = {
	readonly what: string;
	/** One value a repetition; none: it could not be measured, and the note says why. */
	readonly values: readonly number[];
	readonly unit: string;
	/** Judged on the median. */
	readonly goal?: Goal;
	readonly note?: string;
};

const head = ['figure', 'n', 'median', 'min - max', 'unit', 'goal', 'met', ''];

/** The middle value; the mean of the two middle ones of an even number. NaN of none. */
export const median = (values: readonly number[]): number => (percentile(values, 0.5, 'low') + percentile(values, 0.5, 'high')) / 2;

/** The nearest-rank percentile, `fraction` from 0 to 1; of two neighbours the lower or the higher one. */
export function percentile(values: readonly number[], fraction: number, side: 'low' | 'high' = 'high'): number {
	const sorted = [...values].sort((a, b) => a - b);
	const place = (sorted.length - 1) * fraction;
	return sorted[side === 'low' ? Math.floor(place) : Math.ceil(place)] ?? Number.NaN;
}

/** Each value of one list by the one of the same round in the other. */
export const ratios = (ours: readonly number[], theirs: readonly number[]): readonly number[] =>
	ours.flatMap((value, round) => {
		const other = theirs[round];
		return other === undefined ? [] : [value / other];
	});

export const isMet = (value: number, goal: Goal): boolean => ('atMost' in goal ? value <= goal.atMost : value >= goal.atLeast);

/** A table under a title, ready to be printed. */
export function tableOf(title: string, rows: readonly Row[]): string {
	const lines = [head, ...rows.map(cellsOf)];
	const widths = head.map((_, column) => Math.max(...lines.map(line => (line[column] ?? '').length)));
	const drawn = lines.map(line =>
		line
			.map((cell, column) => padded(cell, widths[column] ?? 0, column))
			.join('  ')
			.trimEnd(),
	);
	return [title, ...drawn, ''].join('\n');
}

const firstNumber = 1;
const lastNumber = 3;

const padded = (cell: string, width: number, column: number): string =>
	column >= firstNumber && column <= lastNumber ? cell.padStart(width) : cell.padEnd(width);

function cellsOf({what, values, unit, goal, note = ''}: Row): readonly string[] {
	if (values.length === 0) return [what, '0', '-', '-', unit, goalText(goal), goal === undefined ? '' : 'unknown', note];
	const middle = median(values);
	const met = goal === undefined ? '' : isMet(middle, goal) ? 'yes' : 'NO';
	const range = `${numberText(Math.min(...values))} - ${numberText(Math.max(...values))}`;
	return [what, String(values.length), numberText(middle), range, unit, goalText(goal), met, note];
}

function goalText(goal: Goal | undefined): string {
	if (goal === undefined) return '';
	return 'atMost' in goal ? `<= ${numberText(goal.atMost)}` : `>= ${numberText(goal.atLeast)}`;
}

/** Three significant digits, whole numbers in full. */
function numberText(value: number): string {
	if (!Number.isFinite(value)) return '-';
	if (Number.isInteger(value) || Math.abs(value) >= 100) return String(Math.round(value));
	return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
