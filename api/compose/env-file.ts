// Files of variables: `.env` beside a compose file, and those that `env_file` names. Lines `KEY=VALUE`, `export` before them if one likes;
// values as they stand, in single quotes (nothing is read in them) or in double quotes; `#` begins a comment. As docker-compose reads them.

import {limits} from '../limits.js';

export type EnvFile = {
	/** In order; a key alone has no value. */
	readonly entries: readonly (readonly [key: string, value: string | undefined])[];
	/** Lines that are none. */
	readonly wrongLines: readonly number[];
	/** Its variables stand for too much. */
	readonly isTooLarge: boolean;
};

const blank = /(?:\s+|#[^\n]*)*/y;
const key = /(?:export[^\S\n]+)?([^=#\s'"]+)[^\S\n]*(=?)[^\S\n]*/y;
const single = /'([^']*)'/y;
const double = /"((?:[^"\\]|\\[^])*)"/y;
const plain = /[^\n]*/y;
const end = /[^\S\n]*(?:#[^\n]*)?(?:\n|$)/y;

/** What a file says; `${NAME}` in values is `get`, or a key that stands before it. */
export function readEnvFile(source: string, get: (name: string) => string | undefined): EnvFile {
	const text = source.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
	const entries = new Map<string, string | undefined>();
	const wrongLines: number[] = [];
	const room = {left: limits.composeCharacters};
	const valueOf = (name: string): string | undefined => get(name) ?? entries.get(name);
	for (let at = skip(blank, text, 0); at < text.length; at = skip(blank, text, at)) {
		const [entry, next] = entryAt(text, at, value => {
			room.left -= 1;
			return withVariables(value, valueOf, room);
		});
		if (entry === undefined) {
			wrongLines.push(text.slice(0, at).split('\n').length);
			if (wrongLines.length >= limits.problemsShown) break;
		} else entries.set(...entry);
		at = next;
	}
	return {entries: [...entries], wrongLines, isTooLarge: room.left < 0};
}

type Entry = readonly [key: string, value: string | undefined];

function entryAt(text: string, from: number, expand: (value: string) => string): readonly [Entry | undefined, next: number] {
	const found = match(key, text, from);
	const lineEnd = skip(plain, text, from);
	if (found === undefined) return [undefined, lineEnd];
	const [whole, name = '', equals] = found;
	const at = from + whole.length;
	if (equals === '') return /[^\s#]/.test(text.slice(at, lineEnd)) ? [undefined, lineEnd] : [[name, undefined], lineEnd];
	const quoted = match(single, text, at) ?? match(double, text, at);
	if (quoted === undefined) {
		const value = text.slice(at, lineEnd);
		return /^['"]/.test(value) ? [undefined, lineEnd] : [[name, expand(value.replace(/(^|\s+)#.*/, '').trimEnd())], lineEnd];
	}
	const [literal, inner = ''] = quoted;
	const after = at + literal.length;
	if (match(end, text, after) === undefined) return [undefined, skip(plain, text, after)];
	return [[name, literal.startsWith("'") ? inner : expand(unescaped(inner))], skip(plain, text, after)];
}

const escapes: {readonly [letter: string]: string} = {n: '\n', r: '\r', t: '\t', '"': '"', "'": "'", '\\': '\\', $: '$'};
const unescaped = (text: string): string => text.replace(/\\([^])/g, (whole, letter: string) => escapes[letter] ?? whole);

const withVariables = (value: string, get: (name: string) => string | undefined, room: {left: number}): string =>
	value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^}]*))?\}/g, (whole, name: string, otherwise: string | undefined) => {
		const got = get(name) || otherwise || '';
		room.left -= got.length;
		return room.left < 0 ? whole : got;
	});

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
	pattern.lastIndex = at;
	return pattern.exec(text) ?? undefined;
}

/** Where what the pattern matches here ends. */
const skip = (pattern: RegExp, text: string, at: number): number => at + (match(pattern, text, at)?.[0].length ?? 0);
