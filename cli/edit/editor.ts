// The editor of the person who edits: found, and run on a file. No shell reads any of its words.

import {spawn} from 'node:child_process';
import {accessSync, constants} from 'node:fs';
import path from 'node:path';
import {failedError, usageError} from '../command.js';

export type Editor = {readonly program: string; readonly args: readonly string[]; readonly from: string};

type Environment = Readonly<Record<string, string | undefined>>;

const variables = ['KUBE_EDITOR', 'EDITOR', 'VISUAL'];
const usual = ['vi', 'nano'];

/** The words of KUBE_EDITOR, EDITOR or VISUAL, apart at blanks; else the first of vi and nano that is there. Throws ERR_USAGE. */
export function editorOf(environment: Environment, isPerson: boolean): Editor {
	for (const from of variables) {
		const [program, ...args] = (environment[from] ?? '').split(/\s+/).filter(word => word !== '');
		if (program !== undefined) return {program, args, from};
	}
	if (!isPerson) throw usageError('there is no terminal to edit in; name a program in EDITOR, or use apply, label or scale');
	const folders = (environment['PATH'] ?? '').split(path.delimiter).filter(folder => folder !== '');
	const program = usual.find(name => folders.some(folder => mayRun(path.join(folder, name))));
	if (program === undefined) throw usageError(`there is neither ${usual.join(' nor ')}; name an editor in EDITOR`);
	return {program, args: [], from: 'PATH'};
}

function mayRun(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

/** Runs the editor on the terminal of this process until it ends. Throws when it could not be started, or failed. */
export function runEditor({program, args, from}: Editor, file: string): Promise<void> {
	return new Promise((resolve, reject) => {
		const child = spawn(program, [...args, file], {stdio: 'inherit'});
		child.once('error', ({code, message}: NodeJS.ErrnoException) => {
			const why = code === 'ENOENT' ? 'there is no such program' : code === 'EACCES' ? 'it may not be run' : message;
			reject(usageError(`the editor "${program}" (${from}) cannot be started: ${why}`));
		});
		child.once('close', (code, signal) => {
			if (code === 0) resolve();
			else reject(failedError(`the editor "${program}" ended with ${code ?? signal ?? '?'}; nothing was changed`));
		});
	});
}
