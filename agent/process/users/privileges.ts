// Who a container runs as, and how root becomes that user.
//
// The shim stays root, so that the program cannot kill it, trace it or write its files: a small program of the base system
// drops the rights between the two. Where none of them works the shim itself is spawned as the user.

import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {limits} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import type {User} from '../../os/user.js';

/** What pods of earlier versions run as when the agent is root and the manifest names no user. */
export const nobody: User = {uid: 65_534, gid: 65_534};

/** Who a program becomes, and stays. */
export type Drop = {
	/** The most processes that the user may have, where it is the pods' of one controller only. */
	readonly userProcesses?: number | undefined;
	readonly user: User;
	/** Beside the user's own. */
	readonly groups: readonly number[];
	/** Whether files may give it more rights: set-user-ID, set-group-ID, capabilities. Otherwise the kernel never does (no_new_privs). */
	readonly mayGain: boolean;
};

/** How a program begins: as whom, and with what where the manifest says nothing. */
export type Beginning = Drop & {readonly directory: string; readonly home: string; readonly path: string};

/** The words to put before a program, which then runs as that user with just these groups. */
export type Dropper = (drop: Drop) => readonly string[];

type Way = {readonly file: string; readonly words: (file: string, drop: Drop) => readonly string[]};

/** One program for both, the user and no_new_privs, is faster than one for each. */
const setprivs: readonly Way[] = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv'].map(file => ({file, words: setprivWords}));

/** GNU chroot: with the root that is there already it only changes the user, and somewhat faster. */
const chroots: readonly Way[] = ['/usr/sbin/chroot', '/usr/bin/chroot'].map(file => ({
	file,
	words: (path, {user: {uid, gid}, groups}) => [
		path,
		`--userspec=+${uid}:+${gid}`,
		`--groups=${groups.map(group => `+${group}`).join(',')}`,
		'--skip-chdir',
		'/',
	],
}));

/** Before a program that keeps its user. */
export const noGainWords = (setpriv: string): readonly string[] => [setpriv, '--no-new-privs', '--'];

export function setprivWords(file: string, {user: {uid, gid}, groups, mayGain}: Drop): readonly string[] {
	return [
		file,
		...(mayGain ? [] : ['--no-new-privs']),
		`--reuid=${uid}`,
		`--regid=${gid}`,
		groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`,
		'--',
	];
}

/** Groups that no host knows by name, to try with. */
const trialGroups = [65_533, 65_532];

/** The first ways that work on this host, tried once with `nobody`; undefined where there is none. */
export function findDropper(): Dropper | undefined {
	const forGood = setprivs.find(way => works(way, false));
	const found = [...chroots, ...setprivs].find(way => works(way, true));
	if (found === undefined) return undefined;
	return drop => {
		const {file, words} = drop.mayGain ? found : (forGood ?? found);
		return words(file, drop);
	};
}

/** A setpriv with which a program that keeps its user gains no rights by files; undefined where there is none. */
export function findNoGain(): string | undefined {
	return setprivs.find(({file}) => {
		if (!existsSync(file)) return false;
		const [program = file, ...args] = noGainWords(file);
		return stateOf(program, args).stdout.includes('NoNewPrivs:1 ');
	})?.file;
}

function works({file, words}: Way, mayGain: boolean): boolean {
	if (!existsSync(file)) return false;
	const [program = file, ...args] = words(file, {user: nobody, groups: trialGroups, mayGain});
	const {status, stdout} = stateOf(program, args);
	const isIn = trialGroups.every(group => new RegExp(`^Groups:.*\\b${group}\\b`, 'm').test(stdout));
	const gainsNothing = mayGain || stdout.includes('NoNewPrivs:1 ');
	return status === 0 && stdout.includes(`Uid:${nobody.uid} `) && stdout.includes(`Gid:${nobody.gid} `) && isIn && gainsNothing;
}

/** What the kernel says of a process that these words have begun. */
const stateOf = (program: string, args: readonly string[]): {readonly status: number | null; readonly stdout: string} =>
	spawnSync(program, [...args, '/bin/sh', '-c', 'while read -r k v w; do echo "$k$v $w"; done </proc/self/status'], {
		encoding: 'utf8',
		env: {},
		timeout: limits.probeMs,
	});

export type UserChoice = {readonly ok: true; readonly user: User} | {readonly ok: false; readonly reason: string};

const isId = (value: number): boolean => Number.isSafeInteger(value) && value >= 0 && value < 4_294_967_295;

export type WantedUser = {
	/** That of the pod, where the node has given it one. */
	readonly own: User | undefined;
	readonly uid: number | undefined;
	readonly gid: number | undefined;
	/** It must not be root. */
	readonly isNonRoot: boolean;
};

/** Who a container runs as, given who the agent is. A reason when that cannot be. */
export function chooseUser(agent: User, wanted: WantedUser): UserChoice {
	const choice = chosen(agent, wanted);
	if (!choice.ok || choice.user.uid !== 0 || !wanted.isNonRoot) return choice;
	return {ok: false, reason: 'runAsNonRoot is set and it would run as root: set runAsUser to another user'};
}

function chosen(agent: User, {own = nobody, uid, gid}: WantedUser): UserChoice {
	if (uid !== undefined && !isId(uid)) return {ok: false, reason: `runAsUser must be a user id, got ${uid}`};
	if (gid !== undefined && !isId(gid)) return {ok: false, reason: `runAsGroup must be a group id, got ${gid}`};
	if (agent.uid === 0) {
		if (uid === undefined) return {ok: true, user: {uid: own.uid, gid: gid ?? own.gid}};
		return {ok: true, user: {uid, gid: gid ?? (uid === 0 ? 0 : (groupOf(uid) ?? uid))}};
	}
	if (uid !== undefined && uid !== agent.uid) {
		return {ok: false, reason: `it asks for user ${uid}, but this agent is no root and runs everything as user ${agent.uid}`};
	}
	if (gid !== undefined && gid !== agent.gid) {
		return {ok: false, reason: `it asks for group ${gid}, but this agent is no root and runs everything as group ${agent.gid}`};
	}
	return {ok: true, user: agent};
}

/** Why these groups cannot be had; undefined: they can. An agent that is not root has the groups it was started with. */
export function obstacleToGroups(agent: User, own: readonly number[], wanted: readonly number[]): string | undefined {
	const wrong = wanted.find(group => !isId(group));
	if (wrong !== undefined) return `fsGroup and supplementalGroups must be group ids, got ${wrong}`;
	if (wanted.length > limits.containerGroups) return `it asks for ${wanted.length} groups, and ${limits.containerGroups} are the most`;
	const missing = agent.uid === 0 ? undefined : wanted.find(group => group !== agent.gid && !own.includes(group));
	if (missing === undefined) return undefined;
	return `it asks for group ${missing}, but this agent is no root and is not in it`;
}

/** The primary group of a user of this host. */
function groupOf(uid: number): number | undefined {
	const lines = valueOr('', () => readFileSync('/etc/passwd', 'utf8')).split('\n');
	const gid = Number(lines.find(entry => entry.split(':')[2] === String(uid))?.split(':')[3]);
	return Number.isSafeInteger(gid) ? gid : undefined;
}
