// Words `KEY=VALUE` and `KEY-`, which set and take away, behind those that say of which objects. Pure.

import {shown} from '../../api/shown.js';
import {usageError} from '../command.js';

/** Values to set, and null for keys to remove. */
export type Assignments = {readonly [key: string]: string | null};

/** Words before the first `KEY=VALUE` or `KEY-` say which objects. Throws ERR_USAGE with a line for each problem. */
export function readAssignments(inputs: readonly string[]): {readonly words: readonly string[]; readonly wanted: Assignments} {
	const first = inputs.findIndex(word => word.includes('=') || word.endsWith('-'));
	const changes = first < 0 ? [] : inputs.slice(first);
	const wanted = new Map<string, string | null>();
	const problems: string[] = [];
	for (const word of changes) {
		const at = word.indexOf('=');
		const [key, value] = at >= 0 ? [word.slice(0, at), word.slice(at + 1)] : [word.slice(0, -1), null];
		if (at < 0 && !word.endsWith('-')) problems.push(`${shown(word)} must be KEY=VALUE or KEY-; names come before them`);
		else if (key === '') problems.push(`${shown(word)} has no key; it must be KEY=VALUE or KEY-`);
		else if (wanted.has(key)) problems.push(`the key ${shown(key)} is given twice`);
		wanted.set(key, value);
	}
	if (problems.length > 0) throw usageError(problems.join('\n'));
	return {words: first < 0 ? inputs : inputs.slice(0, first), wanted: Object.fromEntries(wanted)};
}
