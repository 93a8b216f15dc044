// Whose the numbers that pods get as users are already: users of the host (passwd(5)), and users that other programs get their own from
// (subuid(5)). What a directory service knows is not looked at.

import {limits} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import {headOf} from '../../os/while-open.js';
import type {UserRange} from './pod-users.js';

/** A line for each file of which an entry is in the range; one that cannot be read has none. */
export const hostUsersIn = (range: UserRange, passwd = '/etc/passwd', subuid = '/etc/subuid'): readonly string[] => [
	...linesOf(passwd, range, ([name, , uid]) => ({name, first: Number(uid), count: 1})),
	...linesOf(subuid, range, ([name, first, count]) => ({name, first: Number(first), count: Number(count)})),
];

type Entry = {readonly name: string | undefined; readonly first: number; readonly count: number};

function linesOf(file: string, {first, last}: UserRange, entryOf: (fields: readonly string[]) => Entry): readonly string[] {
	const found = valueOr('', () => headOf(file, limits.hostUsersBytes))
		.split('\n')
		.map(line => entryOf(line.split(':')))
		.filter(entry => entry.count > 0 && entry.first <= last && entry.first + entry.count > first);
	const [other] = found;
	if (other === undefined) return [];
	const numbers = other.count === 1 ? `${other.first}` : `${other.first} to ${other.first + other.count - 1}`;
	const more = found.length === 1 ? '' : `, and ${found.length - 1} more`;
	return [
		`pods get users from ${first} to ${last}, and ${file} has ${numbers} (${JSON.stringify(other.name)}${more}): whoever has the same number shares files and processes; --pod-users FIRST-LAST says other users`,
	];
}
