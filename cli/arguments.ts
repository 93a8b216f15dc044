// The words after a verb become flags and inputs. The only importer of meow.
//
// meow tells of an unknown flag by ending the process and of a bad one by a stack trace; both are found here before, so that
// every problem is one clear line with what would be right.

import meow from 'meow';
import {didYouMean} from '../api/suggest.js';
import type {Flags, FlagSpec, FlagSpecs} from './command.js';
import {usageError} from './usage.js';

export type Arguments = {readonly flags: Flags; readonly inputs: readonly string[]};

/** Reads the arguments of one command. Throws ERR_USAGE with a line for each problem. */
export function parseArguments(argv: readonly string[], specs: FlagSpecs): Arguments {
	const end = argv.indexOf('--');
	const before = end < 0 ? argv : argv.slice(0, end);
	const after = end < 0 ? [] : argv.slice(end + 1);
	const {words, problems} = spelledOut(before, specs);
	if (problems.length > 0) throw usageError(problems.join('\n'));
	const {input, flags} = callMeow(words, specs);
	const values = flags as Readonly<Record<string, unknown>>;
	const wrong = Object.entries(specs).flatMap(([name, spec]) => problemOf(name, spec, values[camel(name)]));
	if (wrong.length > 0) throw usageError(wrong.join('\n'));
	return {flags: accessors(specs, values), inputs: [...input, ...after]};
}

/** Every flag as `--name=value`, which is read in one way only; unknown ones and missing values are problems. */
function spelledOut(argv: readonly string[], specs: FlagSpecs): {words: string[]; problems: string[]} {
	const words: string[] = [];
	const problems: string[] = [];
	for (let at = 0; at < argv.length; at++) {
		const word = argv[at] ?? '';
		if (!/^-./.test(word)) {
			words.push(word);
			continue;
		}
		const flag = word.startsWith('--') ? longFlag(word, specs) : shortFlag(word, specs);
		if (typeof flag === 'string') {
			problems.push(flag);
			continue;
		}
		const next = argv[at + 1];
		if (flag.rest !== undefined) withValue(flag.name, flag.spec, flag.rest, word, words, problems);
		else if (flag.spec.type === 'boolean') words.push(`--${flag.name}=${flag.negated !== true}`);
		else if (next === undefined || isFlagWord(next, specs)) problems.push(`${word} needs a value: ${word} ${flag.spec.value ?? 'VALUE'}`);
		else {
			words.push(`--${flag.name}=${next}`);
			at++;
		}
	}
	return {words, problems};
}

type FlagWord = {readonly name: string; readonly spec: FlagSpec; readonly rest: string | undefined; readonly negated?: boolean};

function withValue(name: string, {type}: FlagSpec, value: string, word: string, words: string[], problems: string[]): void {
	if (type !== 'boolean' || value === 'true' || value === 'false') words.push(`--${name}=${value}`);
	else problems.push(`--${name} is true or false, got "${word}"`);
}

function longFlag(word: string, specs: FlagSpecs): FlagWord | string {
	const equals = word.indexOf('=');
	const name = word.slice(2, equals < 0 ? undefined : equals);
	const rest = equals < 0 ? undefined : word.slice(equals + 1);
	const spec = own(specs, name);
	if (spec !== undefined) return {name, spec, rest};
	const negated = name.startsWith('no-') ? own(specs, name.slice(3)) : undefined;
	if (negated?.type === 'boolean' && rest === undefined) return {name: name.slice(3), spec: negated, rest, negated: true};
	return `unknown flag "--${name}"${didYouMean(
		`--${name}`,
		Object.keys(specs).map(known => `--${known}`),
	)}`;
}

/** `-n x`, `-n=x`, `-nx`. One letter a word: joined letters would be read as a value. */
function shortFlag(word: string, specs: FlagSpecs): FlagWord | string {
	const found = Object.entries(specs).find(([, spec]) => spec.short === word[1]);
	if (found === undefined) return `unknown flag "${word}"`;
	const [name, spec] = found;
	if (word.length === 2) return {name, spec, rest: undefined};
	if (spec.type === 'boolean' && word[2] !== '=') return `"${word}" joins two flags; write them apart`;
	return {name, spec, rest: word.slice(word[2] === '=' ? 3 : 2)};
}

const own = (specs: FlagSpecs, name: string): FlagSpec | undefined => (Object.hasOwn(specs, name) ? specs[name] : undefined);

/** `-` is a value (stdin), and so is what looks like a negative number. */
const isFlagWord = (word: string, specs: FlagSpecs): boolean =>
	/^-./.test(word) && !/^-[\d.]/.test(word) && (word.startsWith('--') || Object.values(specs).some(spec => spec.short === word[1]));

function callMeow(argv: readonly string[], specs: FlagSpecs): {input: readonly string[]; flags: object} {
	const flags = Object.fromEntries(
		Object.entries(specs).map(([name, {type, multiple}]) => [
			camel(name),
			{type, ...(multiple === true ? {isMultiple: true as const} : {})},
		]),
	);
	try {
		return meow({
			importMeta: import.meta,
			pkg: {},
			argv,
			flags,
			description: false,
			help: '',
			booleanDefault: undefined,
			autoHelp: false,
			autoVersion: false,
			allowUnknownFlags: false,
		});
	} catch (error) {
		throw usageError(error instanceof Error ? lowerFirst(error.message.replace(/\.$/, '')) : String(error));
	}
}

function problemOf(name: string, spec: FlagSpec, value: unknown): string[] {
	const values = spec.multiple === true && Array.isArray(value) ? (value as readonly unknown[]) : value === undefined ? [] : [value];
	return values.flatMap(one => {
		if (one === '') return [`--${name} needs a value: --${name} ${spec.value ?? 'VALUE'}`];
		if (spec.type === 'number' && !Number.isFinite(one)) return [`--${name} must be a number`];
		if (spec.choices !== undefined && !spec.choices.includes(String(one)))
			return [`--${name} must be ${spec.choices.join(', ')}, got "${String(one)}"${didYouMean(String(one), spec.choices)}`];
		return [];
	});
}

function accessors(specs: FlagSpecs, values: Readonly<Record<string, unknown>>): Flags {
	const valueOf = (name: string, type: FlagSpec['type'], multiple: boolean): unknown => {
		const spec = own(specs, name);
		if (spec?.type !== type || (spec.multiple === true) !== multiple) throw new Error(`the command has no such flag: ${name}`);
		return values[camel(name)];
	};
	const given = (name: string) => valueOf(name, 'boolean', false) as boolean | undefined;
	return {
		text: name => valueOf(name, 'string', false) as string | undefined,
		texts: name => (valueOf(name, 'string', true) as readonly string[] | undefined) ?? [],
		number: name => valueOf(name, 'number', false) as number | undefined,
		given,
		on: name => given(name) === true,
	};
}

const camel = (name: string): string => name.replace(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase());
const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
