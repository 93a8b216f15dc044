// A session of exec or attach between this process's terminal and a program in a pod.

import type {Client, Query} from '../client.js';
import {pathOf, resourceOf} from '../cluster/resources.js';
import type {Terminal} from '../screen/terminal.js';
import {remoteProtocol} from '../../api/remote-channels.js';
import type {Region} from '../screen/region.js';
import {takeKeys} from './keyboard.js';
import {openSession, type TerminalSize} from './remote.js';

export type RemoteWish = {
	readonly namespace: string;
	readonly pod: string;
	readonly container: string | undefined;
	readonly deed: 'exec' | 'attach';
	/** Empty: of attach. */
	readonly command: readonly string[];
	readonly stdin: boolean;
	readonly tty: boolean;
};

/** Runs it to its end; the program's exit code. Throws AppError when it cannot be run, or when the connection is cut. */
export async function runRemote(client: Client, terminal: Terminal, wish: RemoteWish): Promise<number> {
	const {namespace, pod, deed, stdin, tty} = wish;
	const path = pathOf(resourceOf('pods'), namespace, pod, deed);
	const socket = await client.socket({path, query: queryOf(wish, terminal)}, remoteProtocol);
	const input = stdin ? terminal.input : undefined;
	const giveBack = stdin && tty ? takeKeys(terminal.input) : () => undefined;
	const {ended, resize} = openSession(socket, {input, output: terminal.pour, errors: terminal.pourErrors});
	const {screen} = terminal;
	const unhear = tty ? screen?.onResize(() => resize(sizeOf(screen))) : undefined;
	try {
		return await ended;
	} finally {
		unhear?.();
		giveBack();
	}
}

const sizeOf = (screen: Region): TerminalSize => ({rows: screen.rows(), columns: screen.columns()});

/** With a terminal the program has one output. */
function queryOf({container, command, stdin, tty}: RemoteWish, terminal: Terminal): Query {
	const size = tty && terminal.screen !== undefined ? sizeOf(terminal.screen) : {};
	return {command, container, stdin, stdout: true, stderr: !tty, tty, ...size};
}
