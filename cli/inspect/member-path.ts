// `.object.metadata.labels[app.kubernetes.io/name]`: a part of a state, as people type it. Pure.

import {usageError} from '../command.js';

/** Whether the word names a part and no place: `..` and `./x` are places. */
export const isMemberPath = (word: string): boolean => /^\.($|[^./])/.test(word) || word.startsWith('[');

/** The members that lead there. Throws ERR_USAGE. */
export function parseMemberPath(word: string): readonly string[] {
	const members: string[] = [];
	let rest = word === '.' ? '' : word;
	while (rest !== '') {
		const [all, plain, bracketed] = /^\.([^.[\]]+)|^\[([^\]]+)\]/.exec(rest) ?? [];
		const member = plain ?? bracketed;
		if (all === undefined || member === undefined)
			throw usageError(`"${word}" is no part of a state; it must be like .object.status, or .labels[app.kubernetes.io/name]`);
		members.push(member);
		rest = rest.slice(all.length);
	}
	return members;
}

export const memberPathText = (members: readonly string[]): string =>
	members.map(member => (/^[^.[\]\s]+$/.test(member) ? `.${member}` : `[${member}]`)).join('');
