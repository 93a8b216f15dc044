// The `troupe` command: finds the verb, reads its arguments, runs it, and turns errors into lines and exit codes.

import {homedir} from 'node:os';
import {AppError, rowOf} from '../api/errors.js';
import type {CommandSpec} from './command.js';
import {commands, findCommand} from './commands.js';
import {commandHelp, overview} from './help.js';
import {homeRoot} from './home.js';
import {processTitle} from './process-title.js';
import {terminalOf, type Terminal} from './terminal.js';
import {usageError} from './usage.js';

/** As a shell shows the end by Ctrl-C. */
const interruptedExitCode = 130;

const terminal = terminalOf(process, process.env);

/** Runs the words of a command line and answers with the exit code. */
async function main(argv: readonly string[]): Promise<number> {
	const [first = 'help', ...rest] = argv;
	if (first === 'help') return help(rest);
	if (first === '--help' || first === '-h') return help([]);
	const command = findCommand(first === '--version' || first === '-v' ? 'version' : first);
	if (command === undefined) throw await unknownCommand(first);
	const words = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
	if (words.includes('--help') || words.includes('-h')) return help([command.name]);
	return run(command, rest);
}

function help(names: readonly string[]): Promise<number> {
	const [name] = names;
	if (name === undefined) {
		terminal.out(overview(commands));
		return Promise.resolve(0);
	}
	const command = findCommand(name);
	if (command === undefined) return unknownCommand(name).then(error => Promise.reject(error));
	terminal.out(commandHelp(command));
	return Promise.resolve(0);
}

async function unknownCommand(name: string): Promise<AppError> {
	if (name.startsWith('-')) return usageError(`the command comes first, as in: troupe get pods ${name}; troupe help lists the commands`);
	const {didYouMean} = await import('../api/suggest.js');
	const near = didYouMean(
		name,
		commands.map(command => command.name),
	);
	return usageError(`unknown command "${name}"${near === '' ? '; troupe help lists them' : near}`);
}

async function run(command: CommandSpec, argv: readonly string[]): Promise<number> {
	if (command.ownSignals !== true) process.once('SIGINT', () => process.exit(interruptedExitCode));
	const [{parseArguments}, {run}] = await Promise.all([import('./arguments.js'), command.load()]);
	const {flags, inputs} = parseArguments(argv, command.flags);
	process.title = processTitle(command.name); // meow has set another: in `ps`, and for `down`, this is what the process is.
	const home = homeRoot(command.name, flags.text('home'), process.env['TROUPE_HOME'], homedir());
	return run({inputs, flags, terminal, environment: process.env, home});
}

/** The error of a person or a server is its message; anything else is a bug, and its stack is what a report needs. */
function report(error: unknown, to: Terminal): number {
	if (error instanceof AppError) {
		to.error(error.message);
		return rowOf(error.code).exitCode;
	}
	to.error(`this is a bug in troupe: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
	return 1;
}

/** `troupe get pods | head`: whoever read has enough. Anything else is told: the disk that takes the output is full, say. */
function endWithoutOutput(error: NodeJS.ErrnoException): void {
	if (error.code === 'EPIPE') process.exit(0);
	terminal.error(`the output cannot be written: ${error.message}`);
	process.exit(1);
}

process.stdout.on('error', endWithoutOutput);
process.stderr.on('error', endWithoutOutput);

try {
	process.exitCode = await main(process.argv.slice(2));
} catch (error) {
	// Whatever is still open: what has failed must not linger, deaf to signals.
	process.exit(report(error, terminal));
}
