// Text that is longer than the screen, in a pager: `$PAGER`, else less, else as it is.

import {spawn} from 'node:child_process';
import type {Terminal} from '../screen/terminal.js';
import {withForeignControlsShown} from '../screen/control-characters.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Shows the text; on a terminal that it would not fit on in the pager. `aside` lets go of the keyboard, and gives back what takes it again. */
export async function page(text: string, terminal: Terminal, environment: Environment, aside: () => () => void): Promise<void> {
	const rows = terminal.screen?.rows();
	const isLong = rows !== undefined && text.split('\n').length > rows;
	const program = environment['PAGER'] ?? 'less';
	if (!isLong || !terminal.interactive || program === '' || program === 'cat') return terminal.out(text);
	const takeBack = aside();
	// Ctrl-C is the pager's while it is there, and reaches all processes of the terminal.
	const ignore = (): void => undefined;
	process.on('SIGINT', ignore);
	try {
		// The pager obeys colours; anything else that would command the terminal is shown before.
		if (!(await shownBy(program, withForeignControlsShown(text), environment))) terminal.out(text);
	} finally {
		process.off('SIGINT', ignore);
		takeBack();
	}
}

/** Whether the program could be started; what it made of the text is its own affair. */
function shownBy(program: string, text: string, environment: Environment): Promise<boolean> {
	return new Promise(resolve => {
		const child = spawn('/bin/sh', ['-c', program], {
			stdio: ['pipe', 'inherit', 'inherit'],
			env: {LESS: 'FRX', ...environment},
		});
		child.once('error', () => resolve(false));
		child.once('close', code => resolve(code !== notFound));
		child.stdin.on('error', () => undefined); // It was left before all of it was read.
		child.stdin.end(text);
	});
}

/** What a shell says of a program that is not there. */
const notFound = 127;
