// Two texts as a unified diff, as `diff -u` writes it (POSIX, `diff -U 3`). Pure.

import type {Colours} from '../screen/terminal.js';
import {compareLines, type Line} from './lines.js';

const contextLines = 3;

/** The diff with its two head lines; undefined when the texts are the same. */
export function unifiedDiff(before: Text, after: Text, colours: Colours): string | undefined {
	const lines = compareLines(linesOf(before.text), linesOf(after.text));
	if (lines.every(({type}) => type === 'same')) return undefined;
	const head = [`--- ${before.name}`, `+++ ${after.name}`].map(colours.bold);
	return [...head, ...hunksOf(lines).flatMap(hunk => drawn(hunk, colours))].map(line => `${line}\n`).join('');
}

export type Text = {readonly name: string; readonly text: string};

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

type Hunk = {readonly lines: readonly Line[]; readonly before: number; readonly after: number};

/** Changes that are so near each other that the lines between them would be shown twice are one hunk. */
function hunksOf(lines: readonly Line[]): readonly Hunk[] {
	const changed = lines.flatMap(({type}, at) => (type === 'same' ? [] : [at]));
	const ranges: [number, number][] = [];
	for (const at of changed) {
		const last = ranges.at(-1);
		const [from, to] = [Math.max(0, at - contextLines), Math.min(lines.length, at + contextLines + 1)];
		if (last !== undefined && from <= last[1]) last[1] = to;
		else ranges.push([from, to]);
	}
	return ranges.map(([from, to]) => {
		const earlier = lines.slice(0, from);
		return {
			lines: lines.slice(from, to),
			before: earlier.filter(({type}) => type !== 'new').length,
			after: earlier.filter(({type}) => type !== 'gone').length,
		};
	});
}

function drawn({lines, before, after}: Hunk, {red, green, cyan}: Colours): readonly string[] {
	const counts = [lines.filter(({type}) => type !== 'new').length, lines.filter(({type}) => type !== 'gone').length] as const;
	const range = (start: number, count: number): string => `${count === 0 ? start : start + 1}${count === 1 ? '' : `,${count}`}`;
	return [
		cyan(`@@ -${range(before, counts[0])} +${range(after, counts[1])} @@`),
		...lines.map(({type, text}) => (type === 'same' ? ` ${text}` : type === 'gone' ? red(`-${text}`) : green(`+${text}`))),
	];
}
