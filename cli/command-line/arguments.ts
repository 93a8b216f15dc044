// The words after a verb become flags and inputs. The only importer of meow, which is loaded where there is a flag for it to read: that
// takes as long as all the rest of a short command.
//
// meow tells of an unknown flag by ending the process and of a bad one by a stack trace; both are found here before, so that
// every problem is one clear line with what would be right.

import {didYouMean} from '../../api/suggest.js';
import {type Flags, type FlagSpec, type FlagSpecs, usageError} from '../command.js';
import {foreignFlags, foreignForms} from './foreign-words.js';

export type Arguments = {
	readonly flags: Flags;
	readonly inputs: readonly string[];
	/** Those of them that came after `--`; undefined when there was none. */
	readonly afterDashes: readonly string[] | undefined;
};

/** Reads the arguments of the command of this name. Rejects with ERR_USAGE and a line for each problem. */
export async function parseArguments(argv: readonly string[], specs: FlagSpecs, command = ''): Promise<Arguments> {
	const end = argv.indexOf('--');
	const before = end < 0 ? argv : argv.slice(0, end);
	const after = end < 0 ? [] : argv.slice(end + 1);
	const {words, problems} = spelledOut(before, specs, command);
	if (problems.length > 0) throw usageError(problems.join('\n'));
	const {input, flags} = words.some(word => word.startsWith('--')) ? await callMeow(words, specs) : {input: words, flags: {}};
	const values = flags as Readonly<Record<string, unknown>>;
	const wrong = Object.entries(specs).flatMap(([name, spec]) => problemOf(name, spec, values[camel(name)]));
	if (wrong.length > 0) throw usageError(wrong.join('\n'));
	return {flags: accessors(specs, values, words), inputs: [...input, ...after], afterDashes: end < 0 ? undefined : after};
}

/** Every flag as `--name=value`, which is read in one way only; unknown ones and missing values are problems. */
function spelledOut(argv: readonly string[], specs: FlagSpecs, command: string): {words: string[]; problems: string[]} {
	const words: string[] = [];
	const problems: string[] = [];
	for (let at = 0; at < argv.length; at++) {
		const word = argv[at] ?? '';
		if (!/^-./.test(word)) {
			words.push(word);
			continue;
		}
		for (const flag of word.startsWith('--') ? [longFlag(word, specs, command)] : shortFlags(word, specs, command)) {
			if (typeof flag === 'string') {
				problems.push(flag);
				continue;
			}
			const next = argv[at + 1];
			if (flag.rest !== undefined) withValue(flag.name, flag.spec, flag.rest, word, words, problems);
			else if (flag.spec.type === 'boolean') words.push(`--${flag.name}=${flag.negated !== true}`);
			else if (flag.spec.bare !== undefined) words.push(`--${flag.name}=${flag.spec.bare}`);
			else if (next === undefined || isFlagWord(next, specs))
				problems.push(`${flag.written} needs a value: ${flag.written} ${flag.spec.value ?? 'VALUE'}`);
			else {
				withValue(flag.name, flag.spec, next, word, words, problems);
				at++;
			}
			if (flag.spec.bare !== undefined && flag.rest === undefined && next !== undefined && flag.spec.choices?.includes(next) === true)
				problems.push(`${word} ${next} is read as two words; write ${word}=${next}`);
		}
	}
	return {words, problems};
}

/** Not `1e3`, `0x10` or `5.0`. Fractions are the commands' own to refuse: they know the range. */
const isPlainNumber = (text: string): boolean => /^-?\d+(\.\d*[1-9])?$/.test(text);

type FlagWord = {
	readonly name: string;
	readonly spec: FlagSpec;
	readonly rest: string | undefined;
	/** As it was typed. */
	readonly written: string;
	readonly negated?: boolean;
};

function withValue(name: string, spec: FlagSpec, value: string, word: string, words: string[], problems: string[]): void {
	const {type} = spec;
	if (type === 'boolean' && value !== 'true' && value !== 'false') problems.push(`--${name} is true or false, got "${word}"`);
	else if (value === '') problems.push(`--${name} needs a value: --${name} ${spec.value ?? 'VALUE'}`);
	else if (type === 'number' && !isPlainNumber(value)) problems.push(`--${name} must be a number in plain digits, got "${value}"`);
	else words.push(`--${name}=${value}`);
}

function longFlag(word: string, specs: FlagSpecs, command: string): FlagWord | string {
	const equals = word.indexOf('=');
	const name = word.slice(2, equals < 0 ? undefined : equals);
	const rest = equals < 0 ? undefined : word.slice(equals + 1);
	const spec = own(specs, name);
	if (spec !== undefined) return {name, spec, rest, written: word};
	const negated = name.startsWith('no-') ? own(specs, name.slice(3)) : undefined;
	if (negated?.type === 'boolean' && rest === undefined) return {name: name.slice(3), spec: negated, rest, written: word, negated: true};
	return unknownFlag(`--${name}`, specs, command);
}

function unknownFlag(word: string, specs: FlagSpecs, command: string): string {
	const hint = Object.hasOwn(foreignFlags, word) ? foreignFlags[word] : undefined;
	if (hint !== undefined) return `unknown flag "${word}"; ${hint}`;
	if (command === 'exec') return `unknown flag "${word}"; the program and its flags come after --, as in: troupe exec web -- ls -l`;
	const known = Object.keys(specs).map(name => `--${name}`);
	const near = word.startsWith('--') ? didYouMean(word, known) : '';
	return `unknown flag "${word}"${near === '' && command !== '' ? `; troupe help ${command} lists those there are` : near}`;
}

/** `-n x`, `-n=x`, `-nx`; `-it`, `-An x`: flags without a value may be joined, and the last may have one. */
function shortFlags(word: string, specs: FlagSpecs, command: string): readonly (FlagWord | string)[] {
	const flags: (FlagWord | string)[] = [];
	for (let at = 1; at < word.length; at++) {
		const found = Object.entries(specs).find(([, spec]) => spec.short === word[at]);
		if (found === undefined) return [...flags, unknownFlag(at === 1 && word.length === 2 ? word : `-${word[at] ?? ''}`, specs, command)];
		const [name, spec] = found;
		const rest = word.slice(at + 1);
		const written = `-${word[at] ?? ''}`;
		if (rest === '' || (spec.type === 'boolean' && !rest.startsWith('='))) {
			flags.push({name, spec, rest: undefined, written});
			continue;
		}
		return [...flags, {name, spec, rest: rest.startsWith('=') ? rest.slice(1) : rest, written}];
	}
	return flags;
}

const own = (specs: FlagSpecs, name: string): FlagSpec | undefined => (Object.hasOwn(specs, name) ? specs[name] : undefined);

/** `-` is a value (stdin), and so is what looks like a negative number. */
const isFlagWord = (word: string, specs: FlagSpecs): boolean =>
	/^-./.test(word) && !/^-[\d.]/.test(word) && (word.startsWith('--') || Object.values(specs).some(spec => spec.short === word[1]));

/** meow takes one pair of quotes of a value away: those of a text in JSON are not meant. */
const quoted = (word: string): string => word.replace(/^(--[^=]+=)(.*)$/s, '$1"$2"');

async function callMeow(argv: readonly string[], specs: FlagSpecs): Promise<{input: readonly string[]; flags: object}> {
	const {default: meow} = await import('meow');
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
			argv: argv.map(quoted),
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
		const form = spec.choices === undefined || name !== 'output' ? undefined : foreignForms.find(form => String(one).startsWith(form));
		if (form !== undefined)
			return [`--output ${form} is not supported; there are ${spec.choices?.join(', ') ?? ''}: with -o json, jq picks out what is wanted`];
		if (spec.choices !== undefined && !spec.choices.includes(String(one)))
			return [`--${name} must be ${spec.choices.join(', ')}, got "${String(one)}"${didYouMean(String(one), spec.choices)}`];
		return [];
	});
}

function accessors(specs: FlagSpecs, values: Readonly<Record<string, unknown>>, words: readonly string[]): Flags {
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
		words: words.filter(word => word.startsWith('--')),
	};
}

const camel = (name: string): string => name.replace(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase());
const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
