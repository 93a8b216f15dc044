// One command line: finds the verb, reads its arguments, runs it, and turns errors into lines and exit codes.

import {AppError, rowOf} from '../../api/errors.js';
import {type CommandSpec, usageError} from '../command.js';
import {commands, findCommand} from '../commands.js';
import {diskTrouble} from '../files/disk-trouble.js';
import {commandHelp, overview} from './help.js';
import {homeRoot} from '../files/home.js';
import {withoutLeading} from './leading-flags.js';
import type {Terminal} from '../screen/terminal.js';

export type CommandContext = {
	readonly terminal: Terminal;
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** Of the user who runs it. */
	readonly homeFolder: string;
	/** Is told which command it is, before anything of it runs. */
	readonly onCommand?: (command: CommandSpec) => void;
	/** Is told once its words are read. */
	readonly onRead?: (command: CommandSpec) => void;
};

/** How it ended. What failed may have left something open. */
export type Ended = {readonly exitCode: number; readonly failed: boolean};

/** Runs the words of a command line. Errors are told on the terminal; nothing is thrown. */
export async function runCommandLine(argv: readonly string[], context: CommandContext): Promise<Ended> {
	const {terminal} = context;
	const {leading, rest: words} = withoutLeading(argv);
	const [first = 'help', ...others] = words;
	const rest = [...leading, ...others];
	const command = findCommand(first === '--version' || first === '-v' ? 'version' : first);
	try {
		return {exitCode: await dispatch(first, rest, command, context), failed: false};
	} catch (error) {
		return {exitCode: Math.max(report(error, terminal), command?.failureExitCode ?? 0), failed: true};
	}
}

async function dispatch(
	first: string,
	rest: readonly string[],
	command: CommandSpec | undefined,
	context: CommandContext,
): Promise<number> {
	if (first === 'help') return help(rest, context.terminal);
	if (first === '--help' || first === '-h') return help([], context.terminal);
	if (command === undefined) throw await unknownCommand(first, rest);
	const words = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
	if (words.includes('--help') || words.includes('-h'))
		return help([command.name, ...words.filter(word => !word.startsWith('-'))], context.terminal);
	return run(command, rest, context);
}

async function help([name, verb]: readonly string[], terminal: Terminal): Promise<number> {
	const command = name === undefined ? undefined : findCommand(name);
	if (name !== undefined && command === undefined) throw await unknownCommand(name, []);
	const ofVerb = verb === undefined ? undefined : command?.helpOf?.(verb);
	terminal.out(ofVerb ?? (command === undefined ? overview(commands) : commandHelp(command)));
	return 0;
}

/** What may have been meant: another tool's word, a kind that came first, a slip of the finger. */
async function unknownCommand(name: string, rest: readonly string[]): Promise<AppError> {
	if (name.startsWith('-'))
		return usageError(`the command comes first, as in: troupe ${commandFirst(name, rest)}; troupe help lists the commands`);
	const [{didYouMean}, {findKind}, {foreignCommands}] = await Promise.all([
		import('../../api/suggest.js'),
		import('../../api/catalogue.js'),
		import('./foreign-words.js'),
	]);
	const unknown = `unknown command "${name}"`;
	if (findKind(name.split(/[/,]/, 1)[0] ?? '') !== undefined) {
		const [verb = 'get', ...others] = findCommand(rest[0] ?? '') === undefined ? [undefined, ...rest] : rest;
		return usageError(`${unknown}: the command comes before the kind: troupe ${[verb, name, ...others].join(' ')}`);
	}
	if (Object.hasOwn(foreignCommands, name)) return usageError(`${unknown}; there is: ${foreignCommands[name] ?? ''}`);
	const known = commands.flatMap(command => [command.name, ...(command.aliases ?? [])]);
	const near = didYouMean(name, known);
	return usageError(`${unknown}${near === '' ? '; troupe help lists them' : near}`);
}

/** The line with the command in front of its flags; where there is none, an example with these flags. */
function commandFirst(flag: string, rest: readonly string[]): string {
	const at = rest.findIndex(word => findCommand(word) !== undefined);
	return (at < 0 ? ['get', 'pods', flag, ...rest] : [rest[at], ...rest.slice(at + 1), flag, ...rest.slice(0, at)]).join(' ');
}

async function run(command: CommandSpec, argv: readonly string[], context: CommandContext): Promise<number> {
	const {terminal, environment, homeFolder} = context;
	context.onCommand?.(command);
	const [{parseArguments}, {run}] = await Promise.all([import('./arguments.js'), command.load()]);
	const {flags, inputs, afterDashes} = await parseArguments(argv, command.flags, command.name);
	context.onRead?.(command);
	const home = homeRoot(command.name, flags.text('home'), environment['TROUPE_HOME'], homeFolder);
	return run({inputs, afterDashes, flags, terminal, environment, home});
}

/** The error of a person, a server or a disk is its message; anything else is a bug, and its stack is what a report needs. */
function report(error: unknown, to: Terminal): number {
	if (error instanceof AppError) {
		to.error(error.message);
		return rowOf(error.code).exitCode;
	}
	const trouble = diskTrouble(error);
	to.error(trouble ?? `this is a bug in troupe: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
	return 1;
}
