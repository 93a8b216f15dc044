// `troupe repl`: the inspector's shell; with `--command`, or with lines on stdin, the same for scripts.

import path from 'node:path';
import {interruptedExitCode, type Invocation, usageError} from '../command.js';
import {openSession} from '../inspect/open-session.js';
import {root} from '../inspect/places.js';
import {resolve} from '../inspect/resolve.js';
import {runRepl} from '../inspect/repl.js';
import {linesOf, runScript} from '../inspect/script.js';
import {emptyMemory, type Format, type Shell} from '../inspect/verb.js';
import {verbSpecs} from '../inspect/verb-specs.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal, environment, home} = invocation;
	const [word, ...more] = inputs;
	if (more.length > 0) throw usageError('repl takes one place to begin at, as in: troupe repl control/pods');
	const {session, namespace} = await openSession(invocation, 'mqtt');
	let isOver = false;
	const shell: Shell = {
		session,
		terminal,
		namespace: flags.text('namespace') ?? namespace,
		memory: emptyMemory(root),
		format: flags.text('output') as Format | undefined,
		confirm: flags.on('yes') ? () => Promise.resolve(true) : undefined,
		page: text => Promise.resolve(terminal.out(text)),
		verbs: verbSpecs,
		exit: () => {
			isOver = true;
		},
	};
	try {
		if (word !== undefined) shell.memory.here = (await resolve(word, shell)).place;
		const commands = flags.texts('command');
		const isTyped = commands.length === 0 && terminal.interactive;
		if (isTyped) {
			terminal.note(`${session.about}; help lists the verbs`);
			await runRepl({shell, environment, historyFile: path.join(home, 'repl-history')});
			return 0;
		}
		const ended = new AbortController();
		process.once('SIGINT', () => ended.abort());
		session.onNews(line => terminal.note(line));
		await runScript(commands.length > 0 ? commands : linesOf(terminal.input), shell, () => isOver, ended.signal);
		return ended.signal.aborted ? interruptedExitCode : 0;
	} finally {
		await session.close();
	}
}
