// Where the CLI reads and writes. Commands get this, so that a test or a pipe is as good as a terminal.

import type {Readable, Writable} from 'node:stream';
import {createColors} from 'picocolors';

export type Colours = Pick<ReturnType<typeof createColors>, 'red' | 'yellow' | 'green' | 'bold' | 'dim' | 'cyan'>;

export type Terminal = {
	/** Text for stdout, line ends included. */
	readonly out: (text: string) => void;
	/** Bytes for stdout; resolves when it takes more, so that a slow reader slows the sender. */
	readonly pour: (bytes: Uint8Array) => Promise<void>;
	/** One line on stderr: what a person wants to know and a script must not read. */
	readonly note: (line: string) => void;
	/** One `error: ` line on stderr for each line of the message. */
	readonly error: (message: string) => void;
	readonly input: Readable;
	/** Whether a person sits at both ends. */
	readonly interactive: boolean;
	readonly colours: Colours;
};

export type Streams = {readonly stdin: Readable; readonly stdout: Writable; readonly stderr: Writable};

type Environment = Readonly<Record<string, string | undefined>>;

const isTerminal = (stream: Readable | Writable): boolean => 'isTTY' in stream && stream.isTTY === true;

/** Colour is for people: on a terminal that is not `dumb`, unless NO_COLOR (no-color.org) is set to anything. */
export const wantsColour = (onTerminal: boolean, environment: Environment): boolean =>
	onTerminal && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';

export function terminalOf({stdin, stdout, stderr}: Streams, environment: Environment): Terminal {
	const onStderr = createColors(wantsColour(isTerminal(stderr), environment));
	return {
		out: text => void stdout.write(text),
		pour: bytes => new Promise(resolve => (stdout.write(bytes) ? resolve() : void stdout.once('drain', resolve))),
		note: line => void stderr.write(`${line}\n`),
		error: message => void stderr.write(message.replace(/^/gm, onStderr.red('error: ')) + '\n'),
		input: stdin,
		interactive: isTerminal(stdin) && isTerminal(stdout),
		colours: createColors(wantsColour(isTerminal(stdout), environment)),
	};
}
