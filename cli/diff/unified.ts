// Two texts as a unified diff, as `diff -u` writes it (POSIX, `diff -U 3`). Pure.

import {structuredPatch, type StructuredPatchHunk} from 'diff';
import {limits} from '../../api/limits.js';
import type {Colours} from '../screen/terminal.js';

export type Text = {readonly name: string; readonly text: string};

/**
 * The diff with its two head lines; undefined when the texts are the same. With more than `limits.diffChanges` lines gone and new, where
 * looking for the fewest takes too long, one text goes and the other comes as a whole.
 */
export function unifiedDiff(before: Text, after: Text, colours: Colours): string | undefined {
	const bounds = {context: 3, maxEditLength: limits.diffChanges};
	const patch = structuredPatch(before.name, after.name, before.text, after.text, undefined, undefined, bounds);
	const hunks = patch?.hunks ?? [wholeHunk(before.text, after.text)];
	if (hunks.length === 0) return undefined;
	const head = [`--- ${before.name}`, `+++ ${after.name}`].map(colours.bold);
	return [...head, ...hunks.flatMap(hunk => drawn(hunk, colours))].map(line => `${line}\n`).join('');
}

function wholeHunk(before: string, after: string): StructuredPatchHunk {
	const [gone, come] = [linesOf(before), linesOf(after)];
	const lines = [...gone.map(line => `-${line}`), ...come.map(line => `+${line}`)];
	return {oldStart: 1, oldLines: gone.length, newStart: 1, newLines: come.length, lines};
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
