// The same for several objects: what one of them refuses is told, and the others are done all the same.

import {AppError, rowOf} from '../../api/errors.js';
import type {Terminal} from '../screen/terminal.js';

/**
 * Does the work for each in turn. Answers with the exit code of the worst. A server that cannot be reached ends it all: the error is
 * thrown.
 */
export async function oneByOne<Item>(
	items: readonly Item[],
	work: (item: Item) => Promise<number | void>,
	terminal: Pick<Terminal, 'error'>,
): Promise<number> {
	let exitCode = 0;
	for (const item of items) {
		try {
			exitCode = Math.max(exitCode, (await work(item)) ?? 0);
		} catch (error) {
			if (!(error instanceof AppError) || rowOf(error.code).exitCode === 5) throw error;
			terminal.error(error.message);
			exitCode = Math.max(exitCode, rowOf(error.code).exitCode);
		}
	}
	return exitCode;
}
