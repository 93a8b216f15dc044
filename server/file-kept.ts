// Sealed values of one server alone, in one small file of its home.

import {readFileSync} from 'node:fs';
import {writeFileAtomic} from '../system/files/atomic-file.js';
import type {Kept} from './vault.js';

/** A file that is not there, or is no such thing, holds nothing: what is in it can be made again. */
export function keptInFile(file: string): Kept {
	const values = new Map<string, string>(entriesOf(file));
	return {
		get: name => values.get(name),
		put(name, value) {
			values.set(name, value);
			return writeFileAtomic(file, JSON.stringify(Object.fromEntries(values)), 0o600);
		},
	};
}

function entriesOf(file: string): [string, string][] {
	try {
		const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
		if (typeof value !== 'object' || value === null) return [];
		return Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
	} catch {
		return [];
	}
}
