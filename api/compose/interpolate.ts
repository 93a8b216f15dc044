// Variables in texts of a compose file: `$NAME`, `${NAME}`, `${NAME:-word}`, `${NAME-word}`, `${NAME:?words}`, `${NAME?words}`,
// `${NAME:+word}`, `${NAME+word}`, and `$$` for a dollar. The syntax is that of the Compose specification, "Interpolation".

import {limits} from '../limits.js';
import {shown} from '../shown.js';

export type Variables = {
	readonly get: (name: string) => string | undefined;
	/** Is told of a variable that is not set and has nothing in its place. */
	readonly missing: (name: string) => void;
	/** How many more characters all texts together may become. */
	left: number;
};

/** What a text stands for; throws no error of its own but `WrongVariable`. */
export function interpolated(text: string, variables: Variables): string {
	return expanded(text, variables, 0);
}

/** What is wrong with a text. */
export class WrongVariable extends Error {}

const name = /[A-Za-z_][A-Za-z0-9_]*/y;
const operator = /:?[-?+]/y;
/** Words in words in words. */
const nesting = 8;

function expanded(text: string, variables: Variables, depth: number): string {
	if (depth > nesting) throw new WrongVariable(`has variables within variables, deeper than ${nesting}`);
	const parts: string[] = [];
	let at = 0;
	for (let dollar = text.indexOf('$'); dollar >= 0; dollar = text.indexOf('$', at)) {
		take(parts, text.slice(at, dollar), variables);
		const [value, end] = variableAt(text, dollar, variables, depth);
		take(parts, value, variables);
		at = end;
	}
	take(parts, text.slice(at), variables);
	return parts.join('');
}

function take(parts: string[], part: string, variables: Variables): void {
	variables.left -= part.length;
	if (variables.left < 0)
		throw new WrongVariable(`is too large with its variables: the file may have ${limits.composeCharacters} characters`);
	parts.push(part);
}

/** The value of what begins with this dollar, and where it ends. */
function variableAt(text: string, dollar: number, variables: Variables, depth: number): readonly [value: string, end: number] {
	const next = text[dollar + 1];
	if (next === '$') return ['$', dollar + 2];
	const isBraced = next === '{';
	const word = matchAt(name, text, dollar + (isBraced ? 2 : 1));
	if (word === '') throw new WrongVariable(`has a "$" that begins no variable: "$$" is a dollar, got ${shown(text.slice(dollar))}`);
	const end = dollar + (isBraced ? 2 : 1) + word.length;
	if (!isBraced) return [valueOf(word, variables), end];
	const close = closingBrace(text, end);
	if (close === undefined) throw new WrongVariable(`has a "\${" without its "}": got ${shown(text.slice(dollar))}`);
	if (close === end) return [valueOf(word, variables), close + 1];
	const sign = matchAt(operator, text, end);
	if (sign === '') throw new WrongVariable(`has no variable that can be read: got ${shown(text.slice(dollar, close + 1))}`);
	return [chosen(word, sign, text.slice(end + sign.length, close), variables, depth), close + 1];
}

function matchAt(pattern: RegExp, text: string, at: number): string {
	pattern.lastIndex = at;
	return pattern.exec(text)?.[0] ?? '';
}

/** Where the brace closes that is open at this place: a word may have variables of its own. */
function closingBrace(text: string, from: number): number | undefined {
	let open = 1;
	for (let at = from; at < text.length; at++) {
		if (text[at] === '$' && text[at + 1] === '{') open++;
		if (text[at] === '}' && --open === 0) return at;
	}
	return undefined;
}

function valueOf(word: string, {get, missing}: Variables): string {
	const value = get(word);
	if (value === undefined) missing(word);
	return value ?? '';
}

/** With a colon an empty variable is as good as none. */
function chosen(word: string, sign: string, other: string, variables: Variables, depth: number): string {
	const value = variables.get(word);
	const isSet = value !== undefined && (value !== '' || !sign.startsWith(':'));
	switch (sign.at(-1)) {
		case '+':
			return isSet ? expanded(other, variables, depth + 1) : '';
		case '?':
			if (!isSet) throw new WrongVariable(`needs the variable ${word}${other === '' ? '' : `: ${expanded(other, variables, depth + 1)}`}`);
			return value;
		default:
			return isSet ? value : expanded(other, variables, depth + 1);
	}
}
