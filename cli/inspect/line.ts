// One line of the inspector's shell becomes words: quotes as in a POSIX shell, and JSON that needs none. Pure.
//
// `tell scheduler {"type": "wake"}` are three words: what begins with a bracket goes on to its end, spaces and quotes included.

export type Word = {
	readonly text: string;
	/** Where it begins in the line. */
	readonly from: number;
};

export type Line = {
	readonly words: readonly Word[];
	/** What the line leaves open: the last word is then not whole. */
	readonly open: 'quote' | 'bracket' | undefined;
	/** Whether the line ends within its last word, which more letters would make longer. */
	readonly isInWord: boolean;
};

const blank = /\s/;

/** Reads a line. What comes after a `#` that begins a word is a comment. */
export function parseLine(line: string): Line {
	const words: Word[] = [];
	let at = 0;
	for (;;) {
		while (at < line.length && blank.test(line[at] ?? '')) at++;
		if (at >= line.length || line[at] === '#') return {words, open: undefined, isInWord: false};
		const from = at;
		const read = line[at] === '{' || line[at] === '[' ? readBrackets(line, at) : readWord(line, at);
		words.push({text: read.text, from});
		at = read.end;
		if (read.open !== undefined || at >= line.length) return {words, open: read.open, isInWord: true};
	}
}

type Read = {readonly text: string; readonly end: number; readonly open: Line['open']};

/** Up to the bracket that closes the first; brackets in strings are letters. */
function readBrackets(line: string, from: number): Read {
	let depth = 0;
	let isInString = false;
	for (let at = from; at < line.length; at++) {
		const letter = line[at] ?? '';
		if (isInString) {
			if (letter === '\\') at++;
			else if (letter === '"') isInString = false;
		} else if (letter === '"') isInString = true;
		else if (letter === '{' || letter === '[') depth++;
		else if (letter === '}' || letter === ']') depth--;
		if (depth === 0) return {text: line.slice(from, at + 1), end: at + 1, open: undefined};
	}
	return {text: line.slice(from), end: line.length, open: 'bracket'};
}

function readWord(line: string, from: number): Read {
	let text = '';
	let quote: string | undefined;
	let at = from;
	for (; at < line.length; at++) {
		const letter = line[at] ?? '';
		if (letter === '\\' && quote !== "'") text += line[++at] ?? '';
		else if (letter === quote) quote = undefined;
		else if (quote !== undefined) text += letter;
		else if (letter === '"' || letter === "'") quote = letter;
		else if (blank.test(letter)) break;
		else text += letter;
	}
	return {text, end: at, open: quote === undefined ? undefined : 'quote'};
}

/** The word as it has to be typed: quoted where the line would read it otherwise. */
export const quoted = (word: string): string =>
	word !== '' && /^[^\s"'\\#{[][^\s"'\\]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
