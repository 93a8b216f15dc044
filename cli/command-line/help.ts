// The help texts, made from the list of commands. Pure.

import type {CommandSpec, FlagSpec, FlagSpecs} from '../command.js';

const indent = (line: string): string => `  ${line}`;

/** Two columns, the second aligned. */
export function twoColumns(rows: readonly (readonly [string, string])[]): string[] {
	const width = Math.max(0, ...rows.map(([left]) => left.length));
	return rows.map(([left, right]) => indent(`${left.padEnd(width)}   ${right}`));
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
export const flagLines = (flags: FlagSpecs): readonly string[] =>
	twoColumns(Object.entries(flags).map(([flag, spec]) => [flagWords(flag, spec), spec.about]));

function flagWords(name: string, {short, type, value, bare}: FlagSpec): string {
	const words = short === undefined ? `    --${name}` : `-${short}, --${name}`;
	if (bare !== undefined) return `${words}[=${value ?? 'VALUE'}]`;
	return type === 'boolean' ? words : `${words} ${value ?? 'VALUE'}`;
}
