// The interactive shell: node:repl with the inspector's own lines in the place of JavaScript. It brings history, Tab and line editing.
//
// Ctrl-C ends what is on (a trace, a watch), not the shell. Lines that are typed meanwhile are run afterwards.

import {closeSync, openSync} from 'node:fs';
import {Recoverable, start, type REPLServer} from 'node:repl';
import {clearLine, cursorTo} from 'node:readline';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {isYes} from './ask-line.js';
import {complete} from './completions.js';
import {parseLine} from './line.js';
import {page} from './pager.js';
import {shownPlace} from './places.js';
import {runLine} from './run-line.js';
import type {Shell} from './verb.js';

type ReplOptions = {
	readonly shell: Omit<Shell, 'confirm' | 'page' | 'exit'>;
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** Where lines are kept from one time to the next; undefined: nowhere. */
	readonly historyFile: string | undefined;
};

/** Resolves when it is left. */
export function runRepl({shell: parts, environment, historyFile}: ReplOptions): Promise<void> {
	const {terminal, session, memory} = parts;
	const promptText = (): string => `${terminal.colours.bold(shownPlace(memory.here))}> `;
	let running: AbortController | undefined;
	let isLeft = false;
	let queue: Promise<void> = Promise.resolve();

	const server: REPLServer = start({
		input: process.stdin,
		output: process.stdout,
		terminal: true,
		prompt: promptText(),
		preview: false,
		ignoreUndefined: true,
		eval: (line, _context, _file, done) => {
			// A message may go over several lines; a quote that is open is a slip, which the line's own error tells.
			if (parseLine(line).open === 'bracket') return done(new Recoverable(new SyntaxError('the line goes on')), undefined);
			// Left: there is no next prompt.
			queue = queue.then(() => run(line)).then(() => (isLeft ? undefined : done(null, undefined)));
		},
		completer: (line: string, done: (error: Error | null, found: [string[], string]) => void) => {
			void complete(line, shell).then(({words, typed}) => done(null, [[...words], typed]));
		},
	});
	const shell: Shell = {
		...parts,
		confirm: question => asked(server, question, running?.signal),
		page: text => page(text, terminal, environment, () => letGo(server)),
		exit: () => {
			isLeft = true;
			server.close();
		},
	};

	async function run(line: string): Promise<void> {
		running = new AbortController();
		try {
			await runLine(line, shell, running.signal);
		} catch (error) {
			terminal.error(error instanceof AppError ? error.message : `this is a bug in troupe: ${stackOf(error)}`);
		} finally {
			running = undefined;
			server.setPrompt(promptText());
		}
	}

	for (const name of Object.keys(server.commands)) if (name !== 'exit') delete (server.commands as Record<string, unknown>)[name];
	server.defineCommand('help', word => {
		queue = queue.then(() => run(`help ${word}`)).then(() => server.displayPrompt());
	});
	const whenIdle = server.listeners('SIGINT');
	server.removeAllListeners('SIGINT');
	server.on('SIGINT', () => {
		if (running !== undefined) running.abort();
		else for (const listener of whenIdle) (listener as () => void).call(server);
	});
	session.onNews(line => {
		if (running !== undefined) return terminal.note(line);
		clearLine(process.stdout, 0);
		cursorTo(process.stdout, 0);
		terminal.note(line);
		server.prompt(true);
	});
	if (historyFile !== undefined) keepHistory(server, historyFile, line => terminal.note(line));
	return new Promise(resolve => {
		server.once('exit', () => {
			running?.abort();
			void queue.then(resolve);
		});
	});
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** A question that is answered by `y` or `yes`. */
function asked(server: REPLServer, question: string, signal: AbortSignal | undefined): Promise<boolean> {
	return new Promise(resolve => {
		signal?.addEventListener('abort', () => resolve(false));
		server.question(question, signal === undefined ? {} : {signal}, answer => resolve(isYes(answer)));
	});
}

/** Another program has the keyboard until what is returned is called. */
function letGo(server: REPLServer): () => void {
	server.pause();
	process.stdin.setRawMode(false);
	return () => {
		process.stdin.setRawMode(true);
		server.resume();
	};
}

/** Lines from the file, and back into it; for its owner's eyes alone, since a message that was typed may tell something. */
function keepHistory(server: REPLServer, file: string, onProblem: (line: string) => void): void {
	Object.assign(server, {historySize: limits.inspectHistory});
	try {
		closeSync(openSync(file, 'a', 0o600));
	} catch (error) {
		onProblem(`what is typed is not kept: ${error instanceof Error ? error.message : String(error)}`);
		return;
	}
	server.setupHistory(file, error => {
		if (error !== null) onProblem(`what is typed is not kept: ${error.message}`);
	});
}
