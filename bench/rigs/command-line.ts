// Whole command lines without a process each: the same words, terminal and exit codes as `troupe`, some hundred times as fast.

import {PassThrough, Readable} from 'node:stream';
import {runCommandLine} from '../../cli/command-line/command-line.js';
import {terminalOf} from '../../cli/screen/terminal.js';

/** How a command ended: its exit code, null after a signal, and what it wrote. */
export type Ran = {readonly code: number | null; readonly out: string; readonly err: string};

export type Around = {
	readonly home: string;
	readonly input?: string | Uint8Array;
	readonly env?: Readonly<Record<string, string>>;
	/** Whether somebody sits at a terminal. */
	readonly interactive?: boolean;
};

/** Runs one command line to its end. */
export async function line(args: readonly string[], {home, input = '', env = {}, interactive = false}: Around): Promise<Ran> {
	const [stdout, stderr] = [collector(), collector()];
	const stdin = Object.assign(Readable.from(input.length === 0 ? [] : [Buffer.from(input)]), {isTTY: interactive});
	Object.assign(stdout.stream, {isTTY: interactive});
	const environment = {TROUPE_HOME: home, NO_COLOR: '1', PATH: '/usr/bin:/bin', ...env};
	const terminal = terminalOf({stdin, stdout: stdout.stream, stderr: stderr.stream}, environment);
	const {exitCode} = await runCommandLine(args, {terminal, environment, homeFolder: home});
	return {code: exitCode, out: stdout.text(), err: stderr.text()};
}

function collector(): {readonly stream: PassThrough; readonly text: () => string} {
	const stream = new PassThrough();
	let text = '';
	stream.setEncoding('utf8');
	stream.on('data', (chunk: string) => (text += chunk));
	return {stream, text: () => text};
}
