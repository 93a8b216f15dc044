// Removing what programs have made: as many files, as deep and as closed as they liked.

import {execFile} from 'node:child_process';
import {existsSync} from 'node:fs';
import process from 'node:process';
import {findTool} from './tools.js';

/**
 * By rm(1), in a process of its own: it follows no link that a program puts there meanwhile, enters no other file system, and gets to the end
 * of folders that are too deep for a path. Rejects with Errors that say what it said.
 */
export async function removeTree(folder: string): Promise<void> {
	if (!existsSync(folder)) return;
	const words = ['-rf', '--one-file-system', '--', folder];
	if (process.getuid?.() === 0) return run('rm', words);
	// Who is not root is kept out by the modes of what is its own.
	return run('rm', words).catch(() => run('chmod', ['-R', 'u+rwX', '--', folder]).then(() => run('rm', words)));
}

function run(name: string, words: readonly string[]): Promise<void> {
	return new Promise((resolve, reject) => {
		execFile(findTool(name) ?? name, words, {cwd: '/', env: {}}, (error, _stdout, stderr) => {
			if (error === null) resolve();
			else reject(new Error(stderr.trim().split('\n')[0] || error.message));
		});
	});
}
