// Why a shim began no program: the line that it writes into its state file instead of a process. Such an attempt is none, and its
// files go with the answer.

import {readFileSync} from 'node:fs';
import {valueOr} from '../../../api/value-or.js';

export const refusedWord = 'refused';

/** What the shim could not do, one clause; undefined: it did not say. */
export const refusalIn = (stateFile: string): string | undefined =>
	valueOr(undefined, () => /^refused (.+)$/m.exec(readFileSync(stateFile, 'utf8'))?.[1]);
