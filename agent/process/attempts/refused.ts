// Why a shim began no program: the line that it writes into its state file instead of a process. Such an attempt is none, and its
// files go with the answer.

import {readFileSync} from 'node:fs';

export const refusedWord = 'refused';

/** What the shim could not do, one clause; undefined: it did not say. */
export function refusalIn(stateFile: string): string | undefined {
	try {
		return /^refused (.+)$/m.exec(readFileSync(stateFile, 'utf8'))?.[1];
	} catch {
		return undefined;
	}
}
