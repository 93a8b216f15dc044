// Rules of the annotations that say how a pod's containers wait between two tries.

import {backoffFirstAnnotation, backoffMaxAnnotation, backoffMs, backoffResetAnnotation} from '../backoff.js';
import {limits} from '../limits.js';
import {joinPath} from '../path.js';
import {shown} from '../shown.js';
import {membersOf, refuse, textOf, type Found} from './report.js';

const names = [backoffFirstAnnotation, backoffMaxAnnotation, backoffResetAnnotation];

/** Refuses what is no time, none, or longer than a user waits; and a first wait that is longer than the longest. */
export function checkBackoff(found: Found, path: string, annotations: unknown): void {
	const members = membersOf(annotations);
	for (const name of names) {
		const text = textOf(members[name]);
		if (text === undefined || backoffMs(text) !== undefined) continue;
		const range = `from ${limits.backoffLeastMs}ms to ${limits.backoffMostMs / 3_600_000}h`;
		refuse(found, joinPath(path, name), `must be a time such as 500ms, 30s or 1h30m, ${range}, got ${shown(text)}`);
	}
	const first = backoffMs(textOf(members[backoffFirstAnnotation]));
	const max = backoffMs(textOf(members[backoffMaxAnnotation]));
	if (first !== undefined && max !== undefined && first > max)
		refuse(
			found,
			joinPath(path, backoffFirstAnnotation),
			`must not be longer than ${backoffMaxAnnotation}, got ${shown(members[backoffFirstAnnotation] ?? '')}`,
		);
}
