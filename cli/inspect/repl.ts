// The interactive shell: node:repl with the inspector's own lines in the place of JavaScript. It brings history, Tab and line editing.
//
// Ctrl-C ends what is on (a trace, a watch), not the shell. Lines that are typed meanwhile are run afterwards.

import {closeSync, openSync} from 'node:fs';
import {Recoverable, start, type REPLServer} from 'node:repl';
import {clearLine, cursorTo} from 'node:readline';
import {setImmediate as applied} from 'node:timers/promises';
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
export async function runRepl(options: ReplOptions): Promise<void> {
	const repl = new Repl(options);
	if (options.historyFile !== undefined) repl.keepHistory(options.historyFile);
	await repl.left();
}

class Repl {
	readonly #shell: Shell;
	readonly #server: REPLServer;
	/** Of the line that is run now. */
	#running: AbortController | undefined;
	/** Tabs are answered one after the other. */
	#completing: Promise<void> = Promise.resolve();
	/** Lines are run one after the other. */
	#queue: Promise<void> = Promise.resolve();
	#isLeft = false;
	/** A message over several lines has begun. */
	#goesOn = false;
	/** By Ctrl-C, where nothing was typed; until a line is. */
	#wasInterrupted = false;

	constructor({shell, environment}: ReplOptions) {
		this.#shell = {
			...shell,
			confirm: question => asked(this.#server, question, this.#running?.signal),
			page: text => page(text, shell.terminal, environment, () => letGo(this.#server)),
			exit: () => this.#leave(),
		};
		this.#server = start({
			input: process.stdin,
			output: process.stdout,
			terminal: true,
			prompt: this.#promptText(),
			preview: false,
			ignoreUndefined: true,
			eval: (line, _context, _file, done) => this.#take(line, done),
			completer: (line: string, done: (error: Error | null, found: [string[], string]) => void) => {
				const typed = this.#withoutTabs(line);
				this.#completing = this.#completing.then(async () => {
					done(null, await this.#completed(typed));
					await applied();
				});
			},
		});
		this.#defineHelp();
		this.#takeInterrupts();
		shell.session.onNews(line => this.#tellNews(line));
	}

	keepHistory(file: string): void {
		keepHistory(this.#server, file, line => this.#shell.terminal.note(line));
	}

	/** Resolves when it is left, and the line that was run then has ended. */
	left(): Promise<void> {
		return new Promise(resolve => {
			this.#server.once('exit', () => {
				this.#running?.abort();
				void this.#queue.then(resolve);
			});
		});
	}

	#promptText(): string {
		const {terminal, memory} = this.#shell;
		return `${terminal.colours.bold(shownPlace(memory.here))}> `;
	}

	#leave(): void {
		this.#isLeft = true;
		this.#server.close();
	}

	#take(line: string, done: (error: Error | null, result: undefined) => void): void {
		// A message may go over several lines; a quote that is open is a slip, which the line's own error tells.
		this.#goesOn = parseLine(line).open === 'bracket';
		this.#wasInterrupted = false;
		if (this.#goesOn) return done(new Recoverable(new SyntaxError('the line goes on')), undefined);
		// Left: there is no next prompt.
		this.#queue = this.#queue.then(() => this.#run(line)).then(() => (this.#isLeft ? undefined : done(null, undefined)));
	}

	async #run(line: string): Promise<void> {
		this.#running = new AbortController();
		try {
			await runLine(line, this.#shell, this.#running.signal);
		} catch (error) {
			this.#shell.terminal.error(error instanceof AppError ? error.message : `this is a bug in troupe: ${stackOf(error)}`);
		} finally {
			this.#running = undefined;
			this.#server.setPrompt(this.#promptText());
		}
	}

	/** Of keys that come together node asks for the last alone, and takes a Tab before it as a letter. */
	#withoutTabs(line: string): string {
		const typed = line.replace(/\t+$/, '');
		for (let at = typed.length; at < line.length; at++) this.#server.write(null, {name: 'backspace'});
		return typed;
	}

	/** What fits the line as it was at the Tab; nothing where it is another by now, as when the first of two Tabs has made it longer. */
	async #completed(line: string): Promise<[string[], string]> {
		const isStill = (): boolean => this.#server.line.slice(0, this.#server.cursor) === line;
		const {words, typed} = isStill() ? await complete(line, this.#shell) : {words: [], typed: ''};
		return isStill() ? [[...words], typed] : [[], ''];
	}

	/** Of node's own commands `.exit` stays; `.help` is the inspector's. */
	#defineHelp(): void {
		const {commands} = this.#server;
		for (const name of Object.keys(commands)) if (name !== 'exit') delete (commands as Record<string, unknown>)[name];
		this.#server.defineCommand('help', word => {
			this.#queue = this.#queue.then(() => this.#run(`help ${word}`)).then(() => this.#server.displayPrompt());
		});
	}

	/** Ctrl-C ends the line that is run; at the prompt what is typed is dropped, as node does it. Twice where nothing is typed leaves. */
	#takeInterrupts(): void {
		const whenTyped = this.#server.listeners('SIGINT');
		this.#server.removeAllListeners('SIGINT');
		this.#server.on('SIGINT', () => {
			if (this.#running !== undefined) this.#running.abort();
			else if (this.#server.line === '' && !this.#goesOn) this.#interruptEmpty();
			else {
				this.#goesOn = false;
				for (const listener of whenTyped) (listener as () => void).call(this.#server);
			}
		});
	}

	#interruptEmpty(): void {
		this.#shell.terminal.out('\n');
		if (this.#wasInterrupted) return this.#leave();
		this.#wasInterrupted = true;
		this.#shell.terminal.note('Ctrl-C again leaves, as exit and Ctrl-D do');
		this.#server.displayPrompt();
	}

	/** Above the prompt, and what is typed there already. */
	#tellNews(line: string): void {
		const {terminal} = this.#shell;
		if (this.#running !== undefined) return terminal.note(line);
		clearLine(process.stdout, 0);
		cursorTo(process.stdout, 0);
		terminal.note(line);
		this.#server.prompt(true);
	}
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
