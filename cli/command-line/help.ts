// The help texts, made from the list of commands. Pure.

import type {CommandSpec, FlagSpec, FlagSpecs} from '../command.js';

const indent = (line: string): string => `  ${line}`;

/** Two columns, the second aligned; within so many columns of a screen it goes on below itself. */
export function twoColumns(rows: readonly (readonly [string, string])[], columns = Number.POSITIVE_INFINITY): string[] {
	const width = Math.max(0, ...rows.map(([left]) => left.length));
	const room = columns - width - 6;
	return rows.flatMap(([left, right]) =>
		brokenAt(right, room < leastRoom ? Number.POSITIVE_INFINITY : room).map((text, at) =>
			indent(`${(at === 0 ? left : '').padEnd(width)}   ${text}`),
		),
	);
}

/** Narrower than this lines are better left to the terminal. */
const leastRoom = 20;

/** Lines of at most so many characters, broken between words. */
export function brokenAt(text: string, room: number): readonly string[] {
	const lines: string[] = [];
	for (const word of text.split(' ')) {
		const last = lines.at(-1);
		if (last !== undefined && last.length + 1 + word.length <= room) lines[lines.length - 1] = `${last} ${word}`;
		else lines.push(word);
	}
	return lines;
}

/** What `troupe` alone shows. */
export const overview = (commands: readonly CommandSpec[]): string =>
	[
		'Troupe runs programs as supervised actors.',
		'',
		'Usage: troupe COMMAND [arguments]',
		'',
		'Commands:',
		...twoColumns(commands.map(({name, summary}) => [name, summary])),
		'',
		'Begin with:',
		...['troupe up', 'troupe apply -f examples/hello.yaml', 'troupe get pods'].map(indent),
		'',
		'troupe help COMMAND tells more about one of them.',
		'',
	].join('\n');

/** What `troupe help NAME` and `troupe NAME --help` show. */
export const commandHelp = ({name, aliases = [], summary, usage, examples, flags}: CommandSpec): string =>
	[
		`troupe ${name}: ${summary}${aliases.length === 0 ? '' : ` (also: ${aliases.join(', ')})`}`,
		'',
		'Usage:',
		...usage.map(line => indent(`troupe ${name} ${line}`)),
		'',
		'Examples:',
		...examples.map(indent),
		'',
		'Flags:',
		...flagLines(flags),
		'',
	].join('\n');

/** A line for each flag. */
export const flagLines = (flags: FlagSpecs, columns?: number): readonly string[] =>
	twoColumns(
		Object.entries(flags).map(([flag, spec]) => [flagWords(flag, spec), spec.about]),
		columns,
	);

function flagWords(name: string, {short, type, value, bare}: FlagSpec): string {
	const words = short === undefined ? `    --${name}` : `-${short}, --${name}`;
	if (bare !== undefined) return `${words}[=${value ?? 'VALUE'}]`;
	return type === 'boolean' ? words : `${words} ${value ?? 'VALUE'}`;
}
