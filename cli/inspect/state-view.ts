// A state as a tree that folds: a member a line, what is small in one line, what lies deeper than asked for as a count. Pure.

import type {Shown} from '../../api/inspect.js';
import {inOneLine} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';
import {cutLine, type WidthOf} from '../screen/text-width.js';
import {foldedText, partsOf, valueText, type Parts} from './shown-parts.js';

export type StateView = {
	/** Levels that are unfolded. */
	readonly depth: number;
	readonly columns: number | undefined;
	readonly widthOf: WidthOf;
	readonly colours: Colours;
};

/** What fits in a line is shown in one. */
const inlineCharacters = 60;

export function drawState(state: Shown, view: StateView): string {
	const parts = partsOf(state);
	const lines = parts === undefined || isInline(state, parts) ? [valueText(state, view.colours)] : linesOf(parts, '', view, view.depth);
	return lines.map(line => `${view.columns === undefined ? line : cutLine(line, view.columns - 1, view.widthOf)}\n`).join('');
}

function linesOf({isList, entries, more}: Parts, indent: string, view: StateView, depth: number): readonly string[] {
	const lines = entries.flatMap(([name, value]) => {
		const head = `${indent}${isList ? `[${name}]` : inOneLine(name)}`;
		const parts = partsOf(value);
		if (parts === undefined || isInline(value, parts)) return [`${head}: ${valueText(value, view.colours)}`];
		if (depth <= 1) return [`${head}  ${view.colours.dim(foldedText(parts))}`];
		const label = parts.label === '' ? '' : `  ${view.colours.dim(inOneLine(parts.label))}`;
		return [`${head}${label}`, ...linesOf(parts, `${indent}  `, view, depth - 1)];
	});
	return more > 0 ? [...lines, `${indent}${view.colours.dim(`… ${more} more`)}`] : lines;
}

/** Short, and with nothing in it that has parts itself. */
const isInline = (value: Shown, {entries}: Parts): boolean =>
	entries.every(([, one]) => (partsOf(one)?.entries.length ?? 0) === 0) && JSON.stringify(value).length <= inlineCharacters;
