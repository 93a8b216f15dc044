// Two texts as a unified diff, as `diff -u` writes it (POSIX, `diff -U 3`). Pure.

import {structuredPatch, type StructuredPatchHunk} from 'diff';
import {limits} from '../../api/limits.js';
import type {Colours} from '../screen/terminal.js';

/** Lines around what differs. */
const context = 3;

export type Text = {readonly name: string; readonly text: string};

/**
 * The diff with its two head lines; undefined when the texts are the same. With more than `limits.diffChanges` lines gone and new, where
 * looking for the fewest takes too long, all goes and comes from the first line that differs to the last.
 */
export function unifiedDiff(before: Text, after: Text, colours: Colours): string | undefined {
	const bounds = {context, maxEditLength: limits.diffChanges};
	const patch = structuredPatch(before.name, after.name, before.text, after.text, undefined, undefined, bounds);
	const hunks = patch?.hunks ?? [middleHunk(linesOf(before.text), linesOf(after.text))];
	if (hunks.length === 0) return undefined;
	const head = [`--- ${before.name}`, `+++ ${after.name}`].map(colours.bold);
	return [...head, ...hunks.flatMap(hunk => drawn(hunk, colours))].map(line => `${line}\n`).join('');
}

/** What is between the lines that both begin with and those that both end with. */
function middleHunk(before: readonly string[], after: readonly string[]): StructuredPatchHunk {
	const shorter = Math.min(before.length, after.length);
	let head = 0;
	while (head < shorter && before[head] === after[head]) head++;
	let tail = 0;
	while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
	const above = before.slice(Math.max(0, head - context), head);
	const gone = before.slice(head, before.length - tail);
	const come = after.slice(head, after.length - tail);
	const below = before.slice(before.length - tail).slice(0, context);
	const around = above.length + below.length;
	return {
		oldStart: head - above.length + 1,
		oldLines: around + gone.length,
		newStart: head - above.length + 1,
		newLines: around + come.length,
		lines: [
			...above.map(line => ` ${line}`),
			...gone.map(line => `-${line}`),
			...come.map(line => `+${line}`),
			...below.map(line => ` ${line}`),
		],
	};
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

function drawn({oldStart, oldLines, newStart, newLines, lines}: StructuredPatchHunk, {red, green, cyan}: Colours): readonly string[] {
	// A side without lines is named by the line before it.
	const range = (start: number, count: number): string => `${count === 0 ? start - 1 : start}${count === 1 ? '' : `,${count}`}`;
	return [
		cyan(`@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`),
		...lines.map(line => (line.startsWith('-') ? red(line) : line.startsWith('+') ? green(line) : line)),
	];
}
