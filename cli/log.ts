// The log of a cluster's process: one JSON line an entry, in `troupe.log`, never on the terminal.

import {destination, pino, type Logger} from 'pino';

export type Log = Pick<Logger, 'info' | 'warn' | 'error' | 'fatal'>;

/** Appends to the file (0600), each line at once: what a dying process said last is what one wants to read. */
export function openLog(file: string): Log {
	const lines = destination({dest: file, mode: 0o600, sync: true, append: true});
	// A full disk costs lines of the log, never the cluster.
	lines.on('error', () => undefined);
	return pino({base: null}, lines);
}
