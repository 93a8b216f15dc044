// What a command of the CLI is: its words in one list, its work in a file of its own that is loaded when it is asked for.

import {AppError} from '../api/errors.js';
import type {Terminal} from './screen/terminal.js';

/** As a shell shows the end by Ctrl-C. */
export const interruptedExitCode = 130;

export type FlagSpec = {
	readonly type: 'string' | 'boolean' | 'number';
	/** The one-letter form. */
	readonly short?: string;
	/** May be given several times. */
	readonly multiple?: true;
	/** The only values there are. */
	readonly choices?: readonly string[];
	/** What the flag alone means; a value is then given as `--flag=VALUE`. Of strings. */
	readonly bare?: string;
	/** What the value is called in the help text; of strings and numbers. */
	readonly value?: string;
	readonly about: string;
};

/** Flags by their name as typed, without the dashes: `field-selector`. */
export type FlagSpecs = {readonly [name: string]: FlagSpec};

export type CommandSpec = {
	readonly name: string;
	/** Other names that people know it by. */
	readonly aliases?: readonly string[];
	readonly summary: string;
	/** Lines after `troupe NAME`. */
	readonly usage: readonly string[];
	/** Whole lines that work when typed. */
	readonly examples: readonly string[];
	readonly flags: FlagSpecs;
	/** Of a command that has verbs of its own: the help of one of them; undefined where there is none of that name. */
	readonly helpOf?: (verb: string) => string | undefined;
	/** The least exit code of a failure, where 1 says something else: `diff`. */
	readonly failureExitCode?: 2;
	/** What Ctrl-C does is the command's own affair. */
	readonly ownSignals?: true;
	readonly load: () => Promise<{readonly run: Run}>;
};

/** The flags as given, by the name of their spec. Asking for a flag that the command does not have is a bug. */
export type Flags = {
	readonly text: (name: string) => string | undefined;
	readonly texts: (name: string) => readonly string[];
	readonly number: (name: string) => number | undefined;
	/** Whether a boolean was given as true; `undefined` when it was not given. */
	readonly given: (name: string) => boolean | undefined;
	readonly on: (name: string) => boolean;
	/** All that were given, each spelled out: `--name=value`. */
	readonly words: readonly string[];
};

export type Invocation = {
	readonly inputs: readonly string[];
	/** Those of them that came after `--`; undefined when there was none. */
	readonly afterDashes?: readonly string[] | undefined;
	readonly flags: Flags;
	readonly terminal: Terminal;
	/** Environment variables, read once. */
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** `--home`, TROUPE_HOME, or ~/.troupe: an absolute path. */
	readonly home: string;
};

/** Does the work and answers with the exit code. Errors of people and servers are thrown as AppError. */
export type Run = (invocation: Invocation) => Promise<number>;

// ---- the two errors that a command line itself makes: it was used wrongly (exit code 2), or it did not get there (1) ----------------

/** Wrong usage of the command line. Several problems are several lines. */
export const usageError = (message: string): AppError => new AppError('ERR_USAGE', {message});

/** What was asked for did not happen. */
export const failedError = (message: string): AppError => new AppError('ERR_INTERNAL', {message});

/** An error that a person is told as it is; any other, a bug, is thrown on. */
export function asAppError(error: unknown): AppError {
	if (error instanceof AppError) return error;
	throw error;
}

/** Of a request whose words were checked before it was sent: what the server has against it is how things are. Others as they are. */
export const asState = (error: unknown): unknown =>
	error instanceof AppError && error.code === 'ERR_BAD_REQUEST' ? failedError(error.message) : error;
