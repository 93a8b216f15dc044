// The syntax of JSONPath as the States Language has it: a parser of our own, since no expression is ever evaluated as code and all is bounded.

import {limits} from '../limits.js';

export type Segment =
	/** `.name`, `['name']`, or several: `['a','b']`. */
	| {readonly type: 'names'; readonly names: readonly string[]}
	/** `[0]`, `[-1]`, or several: `[0,2]`. */
	| {readonly type: 'indexes'; readonly indexes: readonly number[]}
	/** `[1:3]`. */
	| {readonly type: 'slice'; readonly from: number | undefined; readonly to: number | undefined}
	/** `.*`, `[*]`. */
	| {readonly type: 'all'}
	/** `[?(…)]`. */
	| {readonly type: 'filter'; readonly filter: Filter}
	/** `..`: the value and all below it, to which the next segment is applied. */
	| {readonly type: 'below'};

/** `$` is the state's input, `$$` the context object. */
export type Path = {readonly root: '$' | '$$'; readonly segments: readonly Segment[]};

export type Filter =
	| {readonly type: 'and' | 'or'; readonly parts: readonly Filter[]}
	| {readonly type: 'not'; readonly part: Filter}
	| {readonly type: 'exists'; readonly operand: FilterPath}
	| {readonly type: 'compare'; readonly operator: FilterOperator; readonly left: Operand; readonly right: Operand};

export type FilterOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** From the item that is looked at, or from the root. */
export type FilterPath = {readonly type: 'path'; readonly from: '@' | '$'; readonly segments: readonly Segment[]};

export type Operand = FilterPath | {readonly type: 'literal'; readonly value: string | number | boolean | null};

/** Where a parser stands in a text. */
export type Cursor = {readonly text: string; at: number};

/** Why a text is no path, or no intrinsic. */
export class SyntaxProblem extends Error {}

const wrong = (cursor: Cursor, message: string): SyntaxProblem => new SyntaxProblem(`${message} (character ${cursor.at + 1})`);

/** A path that has one value or none: no segment of it stands for several. */
export const isDefinite = (segments: readonly Segment[]): boolean =>
	segments.every(segment =>
		segment.type === 'names' ? segment.names.length === 1 : segment.type === 'indexes' && segment.indexes.length === 1,
	);

/** Throws SyntaxProblem for a text that is no path. */
export function parsePathText(text: string): Path {
	if (text.length > limits.statesPathCharacters) throw new SyntaxProblem(`has more than ${limits.statesPathCharacters} characters`);
	const cursor: Cursor = {text, at: 0};
	const path = readPath(cursor);
	if (cursor.at < text.length) throw wrong(cursor, `unexpected ${JSON.stringify(text[cursor.at])}`);
	return path;
}

/** Reads as far as the path goes. */
export function readPath(cursor: Cursor): Path {
	if (!takes(cursor, '$')) throw wrong(cursor, 'a path begins with "$"');
	const root = takes(cursor, '$') ? '$$' : '$';
	return {root, segments: readSegments(cursor, 0)};
}

/** Whether the text goes on with this, which is then read. */
export function takes(cursor: Cursor, token: string): boolean {
	if (!cursor.text.startsWith(token, cursor.at)) return false;
	cursor.at += token.length;
	return true;
}

export function skipSpaces(cursor: Cursor): void {
	while (/[ \t\n\r]/.test(cursor.text[cursor.at] ?? '')) cursor.at++;
}

function readSegments(cursor: Cursor, depth: number): readonly Segment[] {
	const segments: Segment[] = [];
	for (;;) {
		if (takes(cursor, '..')) {
			segments.push({type: 'below'});
			segments.push(takes(cursor, '[') ? readBracket(cursor, depth) : readDotted(cursor));
		} else if (takes(cursor, '.')) segments.push(readDotted(cursor));
		else if (takes(cursor, '[')) segments.push(readBracket(cursor, depth));
		else return segments;
	}
}

/** Letters of any script, digits, `_` and `-`; all other names are written in brackets. */
const plainName = /[\p{L}\p{N}_-]+/uy;

function readDotted(cursor: Cursor): Segment {
	if (takes(cursor, '*')) return {type: 'all'};
	plainName.lastIndex = cursor.at;
	const name = plainName.exec(cursor.text)?.[0];
	if (name === undefined) throw wrong(cursor, "the name of a member is missing; names with other signs are written as ['name']");
	cursor.at += name.length;
	if (cursor.text[cursor.at] === '(')
		throw wrong(cursor, `${JSON.stringify(name)} is called as a function; functions are intrinsics such as States.ArrayLength($.list)`);
	return {type: 'names', names: [name]};
}

function readBracket(cursor: Cursor, depth: number): Segment {
	skipSpaces(cursor);
	const segment = readInBrackets(cursor, depth);
	skipSpaces(cursor);
	if (!takes(cursor, ']')) throw wrong(cursor, '"]" is missing');
	return segment;
}

function readInBrackets(cursor: Cursor, depth: number): Segment {
	if (takes(cursor, '*')) return {type: 'all'};
	if (takes(cursor, '?')) {
		skipSpaces(cursor);
		if (cursor.text[cursor.at] !== '(') throw wrong(cursor, 'a filter is written as [?(…)]');
		return {type: 'filter', filter: readFilter(cursor, depth)};
	}
	const sign = cursor.text[cursor.at];
	if (sign === "'" || sign === '"') return {type: 'names', names: readList(cursor, () => readQuoted(cursor))};
	const first = readInteger(cursor);
	skipSpaces(cursor);
	if (takes(cursor, ':')) {
		skipSpaces(cursor);
		return {type: 'slice', from: first, to: readInteger(cursor)};
	}
	if (first === undefined) throw wrong(cursor, 'a name in quotes, an index, "*" or a filter is missing');
	const rest = takes(cursor, ',') ? readList(cursor, () => demanded(cursor, readInteger(cursor))) : [];
	return {type: 'indexes', indexes: [first, ...rest]};
}

function demanded(cursor: Cursor, value: number | undefined): number {
	if (value === undefined) throw wrong(cursor, 'an index is missing');
	return value;
}

function readList<Item>(cursor: Cursor, read: () => Item): readonly Item[] {
	const items: Item[] = [];
	do {
		skipSpaces(cursor);
		items.push(read());
		skipSpaces(cursor);
	} while (takes(cursor, ','));
	return items;
}

function readInteger(cursor: Cursor): number | undefined {
	const digits = /-?\d{1,9}/y;
	digits.lastIndex = cursor.at;
	const text = digits.exec(cursor.text)?.[0];
	if (text === undefined) return undefined;
	cursor.at += text.length;
	return Number(text);
}

/** A text in quotes, where a backslash takes the next sign as it is. */
export function readQuoted(cursor: Cursor): string {
	const quote = cursor.text[cursor.at++];
	let text = '';
	for (;;) {
		const sign = cursor.text[cursor.at++];
		if (sign === undefined) throw wrong(cursor, `the closing ${quote ?? 'quote'} is missing`);
		if (sign === quote) return text;
		text += sign === '\\' ? (cursor.text[cursor.at++] ?? '') : sign;
	}
}

// ---- filters ------------------------------------------------------------------------------------------------------------------------

function readFilter(cursor: Cursor, depth: number): Filter {
	if (depth >= limits.statesFilterDepth) throw wrong(cursor, `a filter is nested deeper than ${limits.statesFilterDepth} levels`);
	return readJoined(cursor, 'or', () => readJoined(cursor, 'and', () => readTerm(cursor, depth)));
}

function readJoined(cursor: Cursor, type: 'and' | 'or', read: () => Filter): Filter {
	const first = read();
	const parts = [first];
	for (;;) {
		skipSpaces(cursor);
		if (!takes(cursor, type === 'and' ? '&&' : '||')) return parts.length === 1 ? first : {type, parts};
		parts.push(read());
	}
}

function readTerm(cursor: Cursor, depth: number): Filter {
	skipSpaces(cursor);
	if (cursor.text[cursor.at] === '!' && cursor.text[cursor.at + 1] !== '=') {
		cursor.at++;
		if (depth >= limits.statesFilterDepth) throw wrong(cursor, `a filter is nested deeper than ${limits.statesFilterDepth} levels`);
		return {type: 'not', part: readTerm(cursor, depth + 1)};
	}
	if (!takes(cursor, '(')) return readComparison(cursor, depth);
	const inner = readFilter(cursor, depth + 1);
	skipSpaces(cursor);
	if (!takes(cursor, ')')) throw wrong(cursor, '")" is missing');
	return inner;
}

const filterOperators: readonly FilterOperator[] = ['==', '!=', '<=', '>=', '<', '>'];

function readComparison(cursor: Cursor, depth: number): Filter {
	const left = readOperand(cursor, depth);
	skipSpaces(cursor);
	const operator = filterOperators.find(each => takes(cursor, each));
	if (operator !== undefined) {
		skipSpaces(cursor);
		return {type: 'compare', operator, left, right: readOperand(cursor, depth)};
	}
	if (left.type === 'path') return {type: 'exists', operand: left};
	throw wrong(cursor, `one of ${filterOperators.join(' ')} is missing`);
}

function readOperand(cursor: Cursor, depth: number): Operand {
	const sign = cursor.text[cursor.at] ?? '';
	if (sign === '@' || sign === '$') {
		cursor.at++;
		return {type: 'path', from: sign, segments: readSegments(cursor, depth + 1)};
	}
	if (sign === "'" || sign === '"') return {type: 'literal', value: readQuoted(cursor)};
	for (const [word, value] of [
		['true', true],
		['false', false],
		['null', null],
	] as const)
		if (takes(cursor, word)) return {type: 'literal', value};
	const value = readNumber(cursor);
	if (value === undefined) throw wrong(cursor, 'a path from "@" or "$", a number, a text in quotes, true, false or null is missing');
	return {type: 'literal', value};
}

/** A number of JSON; undefined where none is written. */
export function readNumber(cursor: Cursor): number | undefined {
	const digits = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
	digits.lastIndex = cursor.at;
	const text = digits.exec(cursor.text)?.[0];
	const value = Number(text);
	if (text === undefined || !Number.isFinite(value)) return undefined;
	cursor.at += text.length;
	return value;
}
