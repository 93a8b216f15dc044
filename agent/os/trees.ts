// Removing what programs have made: as many files, as deep and as closed as they liked.

import {existsSync} from 'node:fs';
import process from 'node:process';
import {runTool} from './tools.js';

/**
 * By rm(1), in a process of its own: it follows no link that a program puts there meanwhile, enters no other file system, and gets to the end
 * of folders that are too deep for a path. Rejects with Errors that say what it said.
 */
export async function removeTree(folder: string): Promise<void> {
	if (!existsSync(folder)) return;
	const words = ['-rf', '--one-file-system', '--', folder];
	if (process.getuid?.() === 0) return runTool('rm', words);
	// Who is not root is kept out by the modes of what is its own.
	return runTool('rm', words).catch(() => runTool('chmod', ['-R', 'u+rwX', '--', folder]).then(() => runTool('rm', words)));
}
