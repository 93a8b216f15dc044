// Programs that a simulated container runs on demand: a handful of words, and sessions in which they talk.

import type {ExecRequest} from '../../actors/node/runtime/runtime-port.js';
import type {ExecProgram, Feed, NewSession, Sessions, Stream} from '../exec-sessions.js';

type Part = {readonly stream: Stream; readonly data: Buffer};

/** What a program makes of its words; `isEchoing`: it gives back what it is given until that ends. */
export type ExecResult = {readonly parts: readonly Part[]; readonly exitCode: number; readonly isEchoing?: true};

const written = (stream: Part['stream'], text: string): Part => ({stream, data: Buffer.from(text)});

/** `echo`, `cat`, `true`, `false` and a shell's `exit <code>`; undefined: no such program. */
export function execByWords(argv: readonly string[]): ExecResult | undefined {
	const [word = '', ...words] = argv;
	switch (word.slice(word.lastIndexOf('/') + 1)) {
		case 'echo':
			return {parts: [written('stdout', `${words.join(' ')}\n`)], exitCode: 0};
		case 'cat':
			return {parts: [], exitCode: 0, isEchoing: true};
		case 'true':
			return {parts: [], exitCode: 0};
		case 'false':
			return {parts: [], exitCode: 1};
		case 'sh': {
			const [, code] = /^exit (\d{1,3})$/.exec(words[1] ?? '') ?? [];
			return words[0] === '-c' && code !== undefined ? {parts: [], exitCode: Number(code)} : undefined;
		}
		default:
			return undefined;
	}
}

const notFound = (word: string): ExecResult => ({parts: [written('stderr', `${word}: not found\n`)], exitCode: 127});

/** There is nothing to be held up or killed. */
const noProgram: ExecProgram = {pause: () => undefined, kill: () => undefined, drop: () => undefined};

/** Gives back what it is given, until that ends. */
function addEcho(sessions: Sessions, session: Pick<NewSession, 'id' | 'connection'>, takesInput: boolean): Feed {
	const echo = {
		destroyed: false,
		write(data: Buffer, done: () => void) {
			if (data.length > 0) feed.output('stdout', data);
			done();
		},
		destroy: () => feed.end(0),
	};
	const feed = sessions.add({
		...session,
		program: noProgram,
		stdin: takesInput ? echo : undefined,
		resize: undefined,
		onGone: () => undefined,
	});
	return feed;
}

/** Opens a connection to a port of a simulated pod: whatever is said there comes back. */
export const openConnection = (sessions: Sessions, id: string, relayedFor?: string): Feed =>
	addEcho(sessions, {id, connection: {relayedFor}}, true);

/** Opens a session in which such a program has run, or echoes. */
export function openSession(sessions: Sessions, id: string, {argv, stdin}: ExecRequest): void {
	const {parts, exitCode, isEchoing} = execByWords(argv) ?? notFound(argv[0] ?? '');
	const feed = addEcho(sessions, {id}, stdin);
	for (const {stream, data} of parts) feed.output(stream, data);
	if (isEchoing !== true || !stdin) feed.end(exitCode);
}
