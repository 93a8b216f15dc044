// Files of the kernel that are some lines long. They are read in the turn of the call: there is no disk behind them, and to hand each to a thread
// costs five times as much.

import {closeSync, openSync, readSync} from 'node:fs';
import {limits} from '../../api/limits.js';
import {valueOr} from '../../api/value-or.js';

const buffer = Buffer.allocUnsafeSlow(limits.usageFileBytes);

/** Undefined: it is not there, may not be read, or is longer than any such file. */
export const readSmall = (file: string): string | undefined =>
	valueOr(undefined, () => {
		const descriptor = openSync(file, 'r');
		try {
			let size = 0;
			for (;;) {
				const bytes = readSync(descriptor, buffer, size, buffer.length - size, null);
				if (bytes === 0) return buffer.toString('latin1', 0, size);
				size += bytes;
				if (size === buffer.length) return undefined;
			}
		} finally {
			closeSync(descriptor);
		}
	});
