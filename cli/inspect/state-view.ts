// A state as a tree that folds: a member a line, what is small in one line, what lies deeper than asked for as a count. Pure.

import type {Shown} from '../../api/inspect.js';
import {inOneLine} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';
import {cutLine, type WidthOf} from '../screen/text-width.js';

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
	const lines = isBranch(state) && !isInline(state) ? linesOf(state, '', view, view.depth) : [valueText(state, view.colours)];
	return lines.map(line => `${view.columns === undefined ? line : cutLine(line, view.columns - 1, view.widthOf)}\n`).join('');
}

type Branch = readonly Shown[] | {readonly [member: string]: Shown};

const isBranch = (value: Shown): value is Branch => typeof value === 'object' && value !== null;

const entriesOf = (value: Branch): readonly (readonly [string, Shown])[] =>
	Array.isArray(value)
		? (value as readonly Shown[]).map((one, at) => [`[${at}]`, one] as const)
		: Object.entries(value as {readonly [member: string]: Shown});

function linesOf(value: Branch, indent: string, view: StateView, depth: number): readonly string[] {
	return entriesOf(value).flatMap(([name, one]) => {
		const head = `${indent}${inOneLine(name)}`;
		if (!isBranch(one) || isInline(one)) return [`${head}: ${valueText(one, view.colours)}`];
		if (depth <= 1) return [`${head}  ${view.colours.dim(foldedText(one))}`];
		return [head, ...linesOf(one, `${indent}  `, view, depth - 1)];
	});
}

/** Short, and nothing in it that is no value itself. */
function isInline(value: Branch): boolean {
	const entries = entriesOf(value);
	return entries.every(([, one]) => !isBranch(one) || entriesOf(one).length === 0) && JSON.stringify(value).length <= inlineCharacters;
}

function foldedText(value: Branch): string {
	const {length} = entriesOf(value);
	const noun = Array.isArray(value) ? 'item' : 'member';
	return `… ${length} ${noun}${length === 1 ? '' : 's'}`;
}

/** A value in one line, in JSON but for names of members. */
export function valueText(value: Shown, colours: Colours): string {
	if (typeof value === 'string') return colours.green(inOneLine(JSON.stringify(value)));
	if (value === null) return colours.dim('null');
	if (typeof value === 'number') return colours.cyan(String(value));
	if (typeof value === 'boolean') return colours.yellow(String(value));
	if (Array.isArray(value)) return `[${(value as readonly Shown[]).map(one => valueText(one, colours)).join(', ')}]`;
	const members = Object.entries(value).map(([name, one]) => `${inOneLine(name)}: ${valueText(one, colours)}`);
	return members.length === 0 ? '{}' : `{${members.join(', ')}}`;
}
