// Where the next page of a list begins. Pages go by key, so a token stays good for as long as the data has its lineage: what
// changes meanwhile is seen or not, but nothing that stays is missed or shown twice.

import type {ObjectKey} from '../../api/keys.js';
import {refusal} from './outcome.js';

export type ContinueToken = {
	/** The version of the first page: a watch from there misses nothing that changed while pages were read. */
	readonly version: number;
	/** The last key that was shown. */
	readonly after: ObjectKey;
};

export const continueText = ({version, after}: ContinueToken): string =>
	Buffer.from(JSON.stringify({v: 1, version, after})).toString('base64url');

/** The token of a text; `ERR_BAD_REQUEST` for a text that is none. */
export function parseContinue(text: string): ContinueToken {
	const value = jsonOf(Buffer.from(text, 'base64url').toString('utf8'));
	if (typeof value === 'object' && value !== null && 'version' in value && 'after' in value) {
		const {version, after} = value;
		if (typeof version === 'number' && Number.isSafeInteger(version) && version >= 0 && typeof after === 'string') return {version, after};
	}
	throw refusal('the continue token is not valid: it must be one that a list answered with');
}

function jsonOf(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
