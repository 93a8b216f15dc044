// The syntax of intrinsic functions: `States.Format('Hello, {}', $.name)`. Parsed into data; nothing of it is run as code.

import {limits} from '../limits.js';
import {didYouMean} from '../suggest.js';
import {readNumber, readPath, skipSpaces, SyntaxProblem, takes, type Cursor, type Path} from './path-syntax.js';

export type IntrinsicName = keyof typeof intrinsicArguments;

export type Intrinsic = {readonly type: 'call'; readonly name: IntrinsicName; readonly arguments: readonly Argument[]};

export type Argument =
	| Intrinsic
	| {readonly type: 'path'; readonly path: Path; readonly text: string}
	/** A text as it is written, with its backslashes: `States.Format` reads them itself. */
	| {readonly type: 'text'; readonly written: string}
	| {readonly type: 'value'; readonly value: number | boolean | null};

/** How many arguments each takes, at least and at most. */
export const intrinsicArguments = {
	'States.Format': [1, 64],
	'States.StringToJson': [1, 1],
	'States.JsonToString': [1, 1],
	'States.Array': [0, 64],
	'States.ArrayPartition': [2, 2],
	'States.ArrayContains': [2, 2],
	'States.ArrayRange': [3, 3],
	'States.ArrayGetItem': [2, 2],
	'States.ArrayLength': [1, 1],
	'States.ArrayUnique': [1, 1],
	'States.Base64Encode': [1, 1],
	'States.Base64Decode': [1, 1],
	'States.Hash': [2, 2],
	'States.JsonMerge': [3, 3],
	'States.MathRandom': [2, 3],
	'States.MathAdd': [2, 2],
	'States.StringSplit': [2, 2],
	'States.UUID': [0, 0],
} as const satisfies {readonly [name: string]: readonly [number, number]};

const names = Object.keys(intrinsicArguments) as readonly IntrinsicName[];

/** Whether a text is meant as an intrinsic, rightly written or not. */
export const looksIntrinsic = (text: string): boolean => /^\s*[A-Za-z]/.test(text);

/** Throws SyntaxProblem for a text that is no intrinsic. */
export function parseIntrinsic(text: string): Intrinsic {
	if (text.length > limits.statesIntrinsicCharacters)
		throw new SyntaxProblem(`has more than ${limits.statesIntrinsicCharacters} characters`);
	const cursor: Cursor = {text, at: 0};
	skipSpaces(cursor);
	const call = readCall(cursor, 1);
	skipSpaces(cursor);
	if (cursor.at < text.length) throw new SyntaxProblem(`unexpected ${JSON.stringify(text[cursor.at])} after the intrinsic`);
	return call;
}

function readCall(cursor: Cursor, depth: number): Intrinsic {
	if (depth > limits.statesIntrinsicDepth)
		throw new SyntaxProblem(`intrinsics are nested deeper than ${limits.statesIntrinsicDepth} levels`);
	const word = /[A-Za-z][A-Za-z0-9.]*/y;
	word.lastIndex = cursor.at;
	const written = word.exec(cursor.text)?.[0] ?? '';
	const name = names.find(each => each === written);
	if (name === undefined) throw new SyntaxProblem(`there is no intrinsic ${JSON.stringify(written)}${didYouMean(written, names)}`);
	cursor.at += written.length;
	skipSpaces(cursor);
	if (!takes(cursor, '(')) throw new SyntaxProblem(`"(" is missing after ${name}`);
	const call: Intrinsic = {type: 'call', name, arguments: readArguments(cursor, name, depth)};
	checkCount(call);
	return call;
}

function readArguments(cursor: Cursor, name: string, depth: number): readonly Argument[] {
	skipSpaces(cursor);
	if (takes(cursor, ')')) return [];
	const read: Argument[] = [];
	do {
		skipSpaces(cursor);
		read.push(readArgument(cursor, depth));
		skipSpaces(cursor);
	} while (takes(cursor, ','));
	if (!takes(cursor, ')')) throw new SyntaxProblem(`")" is missing at the end of ${name}`);
	return read;
}

function readArgument(cursor: Cursor, depth: number): Argument {
	const sign = cursor.text[cursor.at] ?? '';
	if (sign === '$') {
		const from = cursor.at;
		const path = readPath(cursor);
		return {type: 'path', path, text: cursor.text.slice(from, cursor.at)};
	}
	if (sign === "'") return {type: 'text', written: readWritten(cursor)};
	for (const [word, value] of [
		['true', true],
		['false', false],
		['null', null],
	] as const)
		if (takes(cursor, word)) return {type: 'value', value};
	const value = readNumber(cursor);
	if (value !== undefined) return {type: 'value', value};
	if (/[A-Za-z]/.test(sign)) return readCall(cursor, depth + 1);
	throw new SyntaxProblem("an argument is a path, a text in '…', a number, true, false, null or an intrinsic");
}

/** Backslashes stay in it. */
function readWritten(cursor: Cursor): string {
	const from = ++cursor.at;
	for (; cursor.at < cursor.text.length; cursor.at++) {
		if (cursor.text[cursor.at] === "'") return cursor.text.slice(from, cursor.at++);
		if (cursor.text[cursor.at] === '\\') cursor.at++;
	}
	throw new SyntaxProblem("the closing ' is missing");
}

function checkCount({name, arguments: given}: Intrinsic): void {
	const [least, most] = intrinsicArguments[name];
	if (given.length < least || given.length > most)
		throw new SyntaxProblem(`${name} takes ${least === most ? least : `${least} to ${most}`} arguments, got ${given.length}`);
	const [template] = given;
	if (name !== 'States.Format' || template?.type !== 'text') return;
	const places = placesOf(template.written).filter(part => part === place).length;
	if (places !== given.length - 1)
		throw new SyntaxProblem(`the text of States.Format has ${places} places {}, and there are ${given.length - 1} arguments for them`);
}

/** Where `States.Format` puts an argument. */
export const place: unique symbol = Symbol('{}');

/** The parts of a text of `States.Format`: pieces of text, and the places between them. */
export function placesOf(written: string): readonly (string | typeof place)[] {
	const parts: (string | typeof place)[] = [];
	let text = '';
	for (let at = 0; at < written.length; at++) {
		const sign = written[at] ?? '';
		if (sign === '\\') text += written[++at] ?? '';
		else if (sign === '{' && written[at + 1] === '}') {
			parts.push(text, place);
			text = '';
			at++;
		} else text += sign;
	}
	return [...parts, text];
}

/** A text without its backslashes. */
export const unescaped = (written: string): string => written.replace(/\\([^])/g, '$1');
