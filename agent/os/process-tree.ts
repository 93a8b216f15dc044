// Who is whose parent, as the kernel tells it in /proc.

import {readFileSync} from 'node:fs';
import {readFile, readdir} from 'node:fs/promises';
import {valueOr} from '../../api/value-or.js';

/** Throws errno exceptions where the process is gone. */
export const parentOf = (pid: number): number => parentIn(readFileSync(`/proc/${pid}/status`, 'latin1'));

/** In the text of /proc/<pid>/status. */
export const parentIn = (status: string): number => Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]);

/** The children of a process that has one thread; none where it is gone, or the kernel does not list them. */
export const childrenNow = (pid: number): readonly number[] =>
	numbersIn(valueOr('', () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')));

/**
 * The processes that a process, or one of its threads, has begun and that are its children still. None where the kernel does not list them. A
 * program has as many of both as it likes, so this takes many turns.
 */
export async function childrenOf(pid: number): Promise<readonly number[]> {
	const found: (readonly number[])[] = [];
	try {
		for (const thread of await readdir(`/proc/${pid}/task`)) {
			found.push(numbersIn(await readFile(`/proc/${pid}/task/${thread}/children`, 'latin1')));
		}
	} catch {
		// It has ended.
	}
	return found.flat();
}

const numbersIn = (text: string): readonly number[] => text.split(' ').filter(Boolean).map(Number);
