// Lengths of time in flags of the inspector.

import {parseDuration} from '../../api/duration.js';
import {usageError} from '../command.js';

/** In milliseconds; undefined where the flag was not given. Throws ERR_USAGE. */
export function durationOf(text: string | undefined, flag: string): number | undefined {
	if (text === undefined) return undefined;
	const ms = parseDuration(text);
	if (ms === undefined || ms <= 0) throw usageError(`${flag} must be a time such as 30s or 5m, got "${text}"`);
	return ms;
}
