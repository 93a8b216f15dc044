// Users of pods: as root a node gives the pods of each controller a user and a group that no other controller's pods have, of the same number.
//
// What it keeps true: a controller that comes back gets the user it had, so that its pods read what those before them wrote; no two that have
// pods share one; one that was given back is given to another only when all others had their turn, the one that was not used for longest first.

import {createHash} from 'node:crypto';
import {appendFileSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {limits} from '../../../api/limits.js';
import {parsedJson} from '../../../api/value-or.js';
import {valueOrFor} from '../../../system/files/errno.js';
import {sumOf} from '../../../system/store/record-sum.js';
import {explained} from '../../os/explained.js';
import type {User} from '../../os/user.js';
import {nobody} from './privileges.js';

export type UserRange = {readonly first: number; readonly last: number};

export type PodUsers = {
	/** For one more pod of this controller. Throws an Error that names the way out when all are in use. */
	readonly take: (controller: string) => User;
	/** Says that a pod of it has this user already. */
	readonly claim: (controller: string, user: User) => User;
	/** A pod of it is gone. */
	readonly release: (controller: string) => void;
};

/**
 * Of the range, unless an operator says another: clear of users and services of Debian (below 65536), of subordinate users (below 600200000
 * there) and of those that systemd has for containers (below 1879048192).
 */
const blocksFirst = 1_879_048_192;
const blocks = 4_000;

/** A part of its own for each agent of a host, most likely: by the folder it keeps everything in. */
export function defaultUserRange(directory: string): UserRange {
	const block = createHash('sha256').update(path.resolve(directory)).digest().readUInt32BE(0) % blocks;
	const first = blocksFirst + block * limits.podUsers;
	return {first, last: first + limits.podUsers - 1};
}

const leastUser = 1_000;
const mostUser = 2_147_483_646;
/** `nobody`, and what 16 bits say for "unchanged". */
const taken = [nobody.uid, 65_535];

/** Whether it is one that an operator can give to pods at all. */
export const isPodUser = (uid: unknown): uid is number =>
	typeof uid === 'number' && Number.isSafeInteger(uid) && uid >= leastUser && uid <= mostUser && !taken.includes(uid);

/** `FIRST-LAST`; otherwise what is wrong with it. */
export function parseUserRange(text: string): UserRange | string {
	const [, first = Number.NaN, last = Number.NaN] = (/^(\d{1,10})-(\d{1,10})$/.exec(text) ?? []).map(Number);
	if (Number.isNaN(first) || Number.isNaN(last)) return `must be FIRST-LAST, such as 200000-265535, got "${text}"`;
	if (first < leastUser) return `must begin at ${leastUser} or above, for those below belong to the system, got "${text}"`;
	if (last > mostUser) return `must end at ${mostUser} or below, got "${text}"`;
	if (last < first) return `must not end before it begins, got "${text}"`;
	if (taken.some(uid => uid >= first && uid <= last))
		return `must not have ${taken.join(' or ')} in it, which belong to nobody, got "${text}"`;
	if (last - first >= limits.podUsers) return `must have ${limits.podUsers} users at most, got ${last - first + 1}`;
	return {first, last};
}

const recordName = '.users';

/** A line of the record: a controller and its user. The later of two for the same one, or of the same user, counts. */
type Entry = readonly [controller: string, uid: number];

type State = UserRange & {
	readonly onWarning: (message: string) => void;
	readonly file: string;
	/** The longest unused first. */
	readonly remembered: Map<string, number>;
	readonly controllers: Map<number, string>;
	/** Pods by controller, of those that have some. */
	readonly pods: Map<string, number>;
	cursor: number;
	lines: number;
};

/** Reads what an earlier agent gave out. Throws errno exceptions. */
export function openPodUsers(directory: string, {first, last}: UserRange, onWarning: (message: string) => void): PodUsers {
	const state: State = {
		first,
		last,
		onWarning,
		file: path.join(directory, recordName),
		remembered: new Map(),
		controllers: new Map(),
		pods: new Map(),
		cursor: first,
		lines: 0,
	};
	for (const entry of entriesIn(state.file)) {
		remember(state, entry);
		state.lines++;
	}
	return {
		take: named => take(state, named),
		claim(named, {uid}) {
			const controller = keyOf(named);
			const known = state.remembered.get(controller) ?? uid;
			const holder = state.controllers.get(uid) ?? controller;
			if (known !== uid || holder !== controller) {
				state.onWarning(`a pod of ${named} says that its user is ${uid}, and the record says otherwise: the record counts`);
				return take(state, named);
			}
			remember(state, [controller, uid]);
			state.pods.set(controller, (state.pods.get(controller) ?? 0) + 1);
			return {uid, gid: uid};
		},
		release(named) {
			const controller = keyOf(named);
			const left = (state.pods.get(controller) ?? 0) - 1;
			if (left > 0) return void state.pods.set(controller, left);
			state.pods.delete(controller);
			const uid = state.remembered.get(controller);
			if (uid === undefined) return;
			remember(state, [controller, uid]);
			write(state, [controller, uid]);
		},
	};
}

const isInRange = ({first, last}: State, uid: number): boolean => uid >= first && uid <= last;

function remember({controllers, remembered}: State, [controller, uid]: Entry): void {
	const before = controllers.get(uid);
	if (before !== undefined) remembered.delete(before);
	const former = remembered.get(controller);
	if (former !== undefined) controllers.delete(former);
	remembered.delete(controller);
	remembered.set(controller, uid);
	controllers.set(uid, controller);
}

/** Power may fail and take the last lines with it: a pod's own file says its user, too. */
function write(state: State, entry: Entry): void {
	try {
		if (++state.lines > 2 * state.remembered.size + limits.podUserLines) writeAll(state);
		else appendFileSync(state.file, lineOf(entry), {mode: 0o600});
	} catch (error) {
		state.onWarning(`the users of pods could not be written down: ${explained(error)}`);
	}
}

/** A range that is another one now: those who have no pods get a user of it when they come back. */
function writeAll(state: State): void {
	const entries = [...state.remembered].filter(([controller, uid]) => isInRange(state, uid) || state.pods.has(controller));
	writeFileSync(`${state.file}.new`, entries.map(lineOf).join(''), {mode: 0o600});
	renameSync(`${state.file}.new`, state.file);
	state.lines = entries.length;
}

function unused(state: State): number | undefined {
	for (let step = 0; step <= state.last - state.first; step++) {
		const uid = state.first + ((state.cursor - state.first + step) % (state.last - state.first + 1));
		if (state.controllers.has(uid)) continue;
		state.cursor = uid + 1 > state.last ? state.first : uid + 1;
		return uid;
	}
	for (const [controller, uid] of state.remembered) if (!state.pods.has(controller) && isInRange(state, uid)) return uid;
	return undefined;
}

function take(state: State, named: string): User {
	const controller = keyOf(named);
	const known = state.remembered.get(controller);
	const uid = known !== undefined && (isInRange(state, known) || state.pods.has(controller)) ? known : unused(state);
	if (uid === undefined) throw new Error(noneLeft({first: state.first, last: state.last}));
	if (uid !== known) {
		remember(state, [controller, uid]);
		write(state, [controller, uid]);
	}
	state.pods.set(controller, (state.pods.get(controller) ?? 0) + 1);
	return {uid, gid: uid};
}

const noneLeft = ({first, last}: UserRange): string =>
	`all ${last - first + 1} users from ${first} to ${last} are in use by pods of other controllers: give this node more (--pod-users FIRST-LAST)`;

/** What people name may be long; what is kept of it is not. */
const keyOf = (controller: string): string =>
	controller.length <= limits.podUserKeyCharacters ? controller : createHash('sha256').update(controller).digest('hex');

/** It begins a line of its own, whatever became of the one before. */
const lineOf = (entry: Entry): string => `\n${JSON.stringify([...entry, checkOf(entry)])}`;

/** With another digit it would be the user of others. */
const checkOf = (entry: Entry): string => sumOf(recordName, JSON.stringify(entry));

/** Lines that are cut or damaged are no entries. */
function entriesIn(file: string): readonly Entry[] {
	const text = valueOrFor('', ['ENOENT'], () => readFileSync(file, 'utf8'));
	return text.split('\n').flatMap(line => {
		const entry = entryOf(line);
		return entry === undefined ? [] : [entry];
	});
}

function entryOf(line: string): Entry | undefined {
	const fields = parsedJson(line);
	const [controller, uid, check] = Array.isArray(fields) ? (fields as readonly unknown[]) : [];
	const isUser = typeof uid === 'number' && Number.isSafeInteger(uid) && uid >= leastUser && uid <= mostUser;
	if (typeof controller !== 'string' || !isUser) return undefined;
	// Older versions wrote none.
	return check === undefined || check === checkOf([controller, uid]) ? [controller, uid] : undefined;
}
