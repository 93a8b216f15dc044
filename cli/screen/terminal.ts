// Where the CLI reads and writes. Commands get this, so that a test or a pipe is as good as a terminal.

import type {Readable} from 'node:stream';
import {createColors} from 'picocolors';
import {withControlsShown, withForeignControlsShown} from './control-characters.js';
import {regionOf, type OwnedRegion, type Region, type Screen} from './region.js';

export type Colours = Pick<ReturnType<typeof createColors>, 'red' | 'yellow' | 'green' | 'blue' | 'magenta' | 'bold' | 'dim' | 'cyan'>;

export type Terminal = {
	/** Text for stdout, line ends included. On a terminal control characters that are not ours are shown, not obeyed. */
	readonly out: (text: string) => void;
	/** Bytes for stdout; resolves when it takes more, so that a slow reader slows the sender. */
	readonly pour: (bytes: Uint8Array) => Promise<void>;
	/** The same for stderr. */
	readonly pourErrors: (bytes: Uint8Array) => Promise<void>;
	/** One line on stderr: what a person wants to know and a script must not read. */
	readonly note: (line: string) => void;
	/** One `error: ` line on stderr for each line of the message. */
	readonly error: (message: string) => void;
	readonly input: Readable;
	/** Whether a person sits at both ends. */
	readonly interactive: boolean;
	/** Whether stdout is a terminal, which obeys what it is shown. Texts are made harmless here; bytes are poured as they are. */
	readonly outIsTerminal: boolean;
	/** Lines under everything else on stderr, drawn in place; undefined where stderr is no terminal. */
	readonly footer: Region | undefined;
	/** The same on stdout. */
	readonly screen: Region | undefined;
	readonly colours: Colours;
};

export type Streams = {readonly stdin: Readable; readonly stdout: Screen; readonly stderr: Screen};

type Environment = Readonly<Record<string, string | undefined>>;

const isTerminal = (stream: Readable | Screen): boolean => 'isTTY' in stream && stream.isTTY === true;

/**
 * Colour is for people: on a terminal that is not `dumb`, or where FORCE_COLOR is set to anything but 0 and false; never when NO_COLOR
 * (no-color.org) is set to anything.
 */
export const wantsColour = (onTerminal: boolean, environment: Environment): boolean =>
	(environment['NO_COLOR'] ?? '') === '' && ((onTerminal && environment['TERM'] !== 'dumb') || isForced(environment['FORCE_COLOR']));

const isForced = (word = ''): boolean => !['', '0', 'false'].includes(word);

/** Whether the locale's characters are Unicode's, in the order in which POSIX asks the variables. */
const wantsUnicode = ({LC_ALL, LC_CTYPE, LANG}: Environment): boolean =>
	/utf-?8/i.test([LC_ALL, LC_CTYPE, LANG].find(value => value !== undefined && value !== '') ?? '');

export function terminalOf({stdin, stdout, stderr}: Streams, environment: Environment): Terminal {
	const onStderr = createColors(wantsColour(isTerminal(stderr), environment));
	let atLineStart = true;
	const region = (stream: Screen): OwnedRegion | undefined =>
		isTerminal(stream) && environment['TERM'] !== 'dumb' ? regionOf(stream, wantsUnicode(environment), () => atLineStart) : undefined;
	const [screen, footer] = [region(stdout), region(stderr)];
	/** Writes with the regions out of the way. */
	const write = (stream: Screen, text: string | Uint8Array): boolean => {
		screen?.hide();
		footer?.hide();
		const takesMore = stream.write(text);
		if (text.length > 0) atLineStart = text.at(-1) === (typeof text === 'string' ? '\n' : newline);
		screen?.show();
		footer?.show();
		return takesMore;
	};
	const pour = (stream: Screen, bytes: Uint8Array): Promise<void> =>
		new Promise(resolve => (write(stream, bytes) ? resolve() : void stream.once('drain', resolve)));
	/** A script gets every byte as it is; a terminal would obey what others wrote. */
	const harmless = (stream: Screen): ((text: string) => string) => {
		if (!isTerminal(stream)) return text => text;
		return wantsColour(true, environment) ? withForeignControlsShown : withControlsShown;
	};
	const [forOut, forErrors] = [harmless(stdout), harmless(stderr)];
	return {
		out: text => void write(stdout, forOut(text)),
		pour: bytes => pour(stdout, bytes),
		pourErrors: bytes => pour(stderr, bytes),
		note: line => void write(stderr, forErrors(`${line}\n`)),
		error: message => void write(stderr, forErrors(message).replace(/^/gm, onStderr.red('error: ')) + '\n'),
		input: stdin,
		interactive: isTerminal(stdin) && isTerminal(stdout),
		outIsTerminal: isTerminal(stdout),
		footer,
		screen,
		colours: createColors(wantsColour(isTerminal(stdout), environment)),
	};
}

/** As a byte. */
const newline = 0x0a;
