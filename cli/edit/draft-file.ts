// The file that is edited: in a folder that only its owner may open, and gone when this process ends, unless it is to be kept.

import {chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {limits} from '../../api/limits.js';
import {readFileAt, reasonOf} from '../files/bounded-file.js';
import {failedError} from '../command.js';

export type DraftFile = {
	readonly file: string;
	readonly write: (text: string) => void;
	/** What is in it now. Throws ERR_FAILED where that is too large, or cannot be read. */
	readonly read: () => Promise<string>;
	readonly isThere: () => boolean;
	/** Leaves it where it is. A signal that ends this process does so, too, and tells where, once an editor has changed it. */
	readonly keep: () => void;
	readonly remove: () => void;
};

/** As the exit codes of shells: 128 and the signal. */
const endings = {SIGHUP: 129, SIGTERM: 143} as const;

/** An empty file of this name. Ctrl-C is the editor's as long as it is there. `tell` gets a line for the person who edits. */
export function openDraftFile(name: string, tell: (line: string) => void): DraftFile {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-edit-')); // Mode 0700.
	const file = path.join(folder, name);
	let written = '';
	const write = (text: string): void => {
		written = text;
		writeFileSync(file, text, {mode: 0o600});
		chmodSync(file, 0o600); // An editor may have put another file in its place.
	};
	const clean = (): void => {
		rmSync(file, {force: true}); // First of all: an editor that ends at the same moment may still hold files of its own beside it.
		rmSync(folder, {recursive: true, force: true, maxRetries: 3});
	};
	const ignore = (): void => undefined;
	/** What the person has typed nothing into, or cannot be read, is not worth keeping. */
	const isTouched = (): boolean => {
		try {
			return readFileSync(file, 'utf8') !== written;
		} catch {
			return false;
		}
	};
	const enders = Object.entries(endings).map(([signal, code]) => {
		const end = (): void => {
			if (isTouched()) {
				keep();
				tell(`edit was interrupted by ${signal}, nothing was changed; what you wrote is in ${file}`);
			}
			process.exit(code);
		};
		return [signal as keyof typeof endings, end] as const;
	});
	process.once('exit', clean);
	process.on('SIGINT', ignore);
	for (const [signal, end] of enders) process.once(signal, end);
	const close = (): void => {
		process.off('exit', clean);
		process.off('SIGINT', ignore);
		for (const [signal, end] of enders) process.off(signal, end);
	};
	const keep = (): void => {
		close();
		chmodSync(file, 0o600);
	};
	return {
		file,
		write,
		async read() {
			try {
				return Buffer.from(await readFileAt(file, limits.manifestBytes)).toString('utf8');
			} catch (error) {
				throw failedError(`${file}: ${reasonOf(error)}`);
			}
		},
		isThere: () => existsSync(file),
		keep,
		remove() {
			close();
			clean();
		},
	};
}
