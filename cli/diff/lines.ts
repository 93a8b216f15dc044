// Which lines went and which came: the greedy algorithm of E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986). Pure.

import {limits} from '../../api/limits.js';

/** One line of a comparison. */
export type Line = {readonly type: 'same' | 'gone' | 'new'; readonly text: string};

/** The lines of both texts in one row, with as few of them gone and new as there can be; with too many changes, whole. */
export function compareLines(before: readonly string[], after: readonly string[]): readonly Line[] {
	let head = 0;
	while (head < before.length && head < after.length && before[head] === after[head]) head++;
	let tail = 0;
	const most = Math.min(before.length, after.length) - head;
	while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
	return [
		...before.slice(0, head).map(same),
		...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
		...before.slice(before.length - tail).map(same),
	];
}

const same = (text: string): Line => ({type: 'same', text});
const gone = (text: string): Line => ({type: 'gone', text});
const come = (text: string): Line => ({type: 'new', text});

function middle(before: readonly string[], after: readonly string[]): readonly Line[] {
	const whole = [...before.map(gone), ...after.map(come)];
	if (before.length === 0 || after.length === 0) return whole;
	const trace = searched(before, after);
	return trace === undefined ? whole : walkedBack(before, after, trace);
}

/** How far each diagonal was reached, after so many changes; undefined when there are more changes than `limits.diffChanges`. */
function searched(before: readonly string[], after: readonly string[]): readonly ReadonlyMap<number, number>[] | undefined {
	const trace: ReadonlyMap<number, number>[] = [];
	let reached: ReadonlyMap<number, number> = new Map([[1, 0]]);
	for (let changes = 0; changes <= limits.diffChanges; changes++) {
		const next = new Map<number, number>();
		for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
			let x = startOf(reached, diagonal, changes);
			while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x++;
			next.set(diagonal, x);
			if (x >= before.length && x - diagonal >= after.length) return [...trace, reached];
		}
		trace.push(reached);
		reached = next;
	}
	return undefined;
}

const isInsertion = (reached: ReadonlyMap<number, number>, diagonal: number, changes: number): boolean =>
	diagonal === -changes || (diagonal !== changes && (reached.get(diagonal - 1) ?? 0) < (reached.get(diagonal + 1) ?? 0));

const startOf = (reached: ReadonlyMap<number, number>, diagonal: number, changes: number): number =>
	isInsertion(reached, diagonal, changes) ? (reached.get(diagonal + 1) ?? 0) : (reached.get(diagonal - 1) ?? 0) + 1;

function walkedBack(before: readonly string[], after: readonly string[], trace: readonly ReadonlyMap<number, number>[]): readonly Line[] {
	const lines: Line[] = [];
	let x = before.length;
	let y = after.length;
	for (let changes = trace.length - 1; changes >= 0; changes--) {
		const reached = trace[changes] ?? new Map<number, number>();
		const diagonal = x - y;
		const inserted = isInsertion(reached, diagonal, changes);
		const fromDiagonal = inserted ? diagonal + 1 : diagonal - 1;
		const fromX = changes === 0 ? 0 : (reached.get(fromDiagonal) ?? 0);
		const fromY = changes === 0 ? 0 : fromX - fromDiagonal;
		while (x > fromX && y > fromY) {
			lines.push(same(before[x - 1] ?? ''));
			x--;
			y--;
		}
		if (changes === 0) break;
		lines.push(inserted ? come(after[y - 1] ?? '') : gone(before[x - 1] ?? ''));
		x = fromX;
		y = fromY;
	}
	return lines.reverse();
}
