// The state file of one attempt: what the shim wrote of its process, and how it ended. The only truth about an attempt.
//
//   troupe-shim 1
//   begins <as whom and with what, as JSON>
//   running <started at, ms> <boot id> <pid>
//   process <the line of /proc/<pid>/stat>
//   exit <code>            written by the shim, or
//   lost <reason>          written by an agent that found no shim and no code
//   oom <ended at, ms>     written by an agent after a code that is the kernel's doing, for want of memory
//
// The time of the last line, but for `oom`, is the file's. The first two lines are the agent's, written before
// the shim begins, and the first takes the disk block that the others need, so a
// disk that is full later loses no exit code.

import {appendFileSync, fstatSync, openSync} from 'node:fs';
import {limits} from '../../../api/limits.js';
import {parsedJson} from '../../../api/value-or.js';
import type {ContainerBeginning, ContainerExit} from '../../../actors/node/runtime/runtime-port.js';
import {valueOrFor} from '../../../system/files/errno.js';
import {sumOf} from '../../../system/store/record-sum.js';
import {parseProcessStat, type ProcessStat} from '../../os/identity.js';
import {bytesAt, whileOpen} from '../../os/while-open.js';
import type {Beginning} from '../users/privileges.js';

export const firstLine = 'troupe-shim 1\n';

export type StartRecord = {
	/** As whom the program was started, whatever it has become; undefined: by an agent that did not write it down. */
	readonly beginning: Beginning | undefined;
	readonly process: ProcessStat;
	readonly bootId: string;
	readonly startedAtMs: number;
};

const beginningWord = 'begins ';

export type LostReason = 'Unknown' | 'LostOnReboot';

export type AttemptState = {
	/** Undefined: the program was never started. */
	readonly started: StartRecord | undefined;
	readonly exit: ContainerExit | undefined;
};

/** Who a process is of which only the pid is written down yet. */
export type LookUp = (pid: number) => ProcessStat | undefined;

/**
 * A program counts as started a moment before that is fully written down, if `lookUp` knows its process: while the shim
 * lives the kernel does, later the agent that asked it then. Throws errno exceptions; a missing file is a program that was never started.
 */
export function readStateFile(file: string, attempt: number, lookUp: LookUp = () => undefined): AttemptState {
	const descriptor = valueOrFor(undefined, ['ENOENT'], () => openSync(file, 'r'));
	if (descriptor === undefined) return {started: undefined, exit: undefined};
	return whileOpen(descriptor, () => {
		const text = bytesAt(descriptor, 0, limits.stateFileBytes).toString('latin1');
		return parseState(text, attempt, Math.trunc(fstatSync(descriptor).mtimeMs), lookUp);
	});
}

/** Lines without their newline are still being written and count for nothing. */
function parseState(text: string, attempt: number, changedAtMs: number, lookUp: LookUp): AttemptState {
	const all = text.split('\n').slice(0, -1);
	const hasBeginning = all[1]?.startsWith(beginningWord) === true;
	const beginning = hasBeginning ? parseBeginning(all[1] ?? '') : undefined;
	const lines = hasBeginning ? all.toSpliced(1, 1) : all;
	const started = startOf(lines, beginning, lookUp);
	const oom = /^oom (\d+)$/.exec(lines.at(-1) ?? '')?.[1];
	const last = /^(?:exit (\d{1,3})|lost (Unknown|LostOnReboot))$/.exec(lines.at(oom === undefined ? -1 : -2) ?? '');
	if (last === null || started === undefined) return {started, exit: undefined};
	const {startedAtMs} = started;
	const code = last[1] === undefined ? undefined : Number(last[1]);
	return {
		started,
		exit: {
			attempt,
			exitCode: code,
			signal: code !== undefined && code > 128 && code <= 128 + 64 ? code - 128 : undefined,
			startedAtMs,
			// The kernel's stamp of a file is a few milliseconds coarse.
			finishedAtMs: Math.max(startedAtMs, oom === undefined ? changedAtMs : Number(oom)),
			reason: oom === undefined ? reasonOf(code, last[2]) : 'OOMKilled',
			handle: handleOf(started),
			...shownBeginning(started),
		},
	};
}

/** What an attempt is called outside: just this process. */
export const handleOf = ({process: {pid, startTime}}: StartRecord): string => `process://${pid}.${startTime}`;

/** What people are told of how an attempt began, while it runs and when it has ended. */
export function shownBeginning({beginning}: StartRecord): {readonly beginning?: ContainerBeginning} {
	if (beginning === undefined) return {};
	const {user, groups, directory, home, path} = beginning;
	return {beginning: {...user, groups, workingDir: directory, home, path}};
}

const reasonOf = (code: number | undefined, lost: string = 'Unknown'): string =>
	code === undefined ? lost : code === 0 ? 'Completed' : 'Error';

/** Between the two lines the kernel is asked about the pid: as long as the shim lives it is the shim's own child. */
function startOf(lines: readonly string[], beginning: Beginning | undefined, lookUp: LookUp): StartRecord | undefined {
	const [, started, bootId = '', pid] = /^running (\d+) (\S+) (\d+)$/.exec(lines[1] ?? '') ?? [];
	if (started === undefined) return undefined;
	const process = parseProcessStat(/^process (.+)$/.exec(lines[2] ?? '')?.[1] ?? '') ?? lookUp(Number(pid));
	return process === undefined ? undefined : {beginning, process, bootId, startedAtMs: Number(started)};
}

/** The line that says how a program begins. Of texts no more than people read is kept. */
export function beginningLine({user, groups, mayGain, userProcesses, directory, home, path}: Beginning): string {
	const cut = (text: string): string => text.slice(0, limits.shownPathCharacters);
	const all = {user, groups, mayGain, userProcesses, directory: cut(directory), home: cut(home), path: cut(path)};
	return `${beginningWord}${JSON.stringify({...all, check: checkOf(all)})}\n`;
}

/** No program is to join a container as another user, by a digit that is another one. */
const checkOf = (beginning: object): string => sumOf(beginningWord, JSON.stringify(beginning));

/** It was written by an agent, by older ones without a check. Undefined: it is of a version that wrote none, or damaged. */
function parseBeginning(line: string): Beginning | undefined {
	const text = Buffer.from(line.slice(beginningWord.length), 'latin1').toString('utf8');
	const {check, ...value} = Object(parsedJson(text)) as Record<string, unknown>;
	return isBeginning(value) && (check === undefined || check === checkOf(value)) ? value : undefined;
}

function isBeginning(value: unknown): value is Beginning {
	const {user, groups, mayGain, userProcesses, directory, home, path} = Object(value) as Partial<Record<keyof Beginning, unknown>>;
	const {uid, gid} = Object(user) as Partial<Record<string, unknown>>;
	return (
		[uid, gid].every(Number.isSafeInteger) &&
		Array.isArray(groups) &&
		groups.every(Number.isSafeInteger) &&
		typeof mayGain === 'boolean' &&
		(userProcesses === undefined || Number.isSafeInteger(userProcesses)) &&
		[directory, home, path].every(each => typeof each === 'string')
	);
}

/** Writes down that it is not known how the attempt ended, so that every later reader says the same. Throws errno exceptions. */
export const recordLoss = (file: string, reason: LostReason): void => appendFileSync(file, `lost ${reason}\n`);

/** Writes down that the kernel has killed something of it for want of memory; the group that knows goes with the attempt. Throws errno exceptions. */
export const recordOom = (file: string, {finishedAtMs}: ContainerExit): void => appendFileSync(file, `oom ${finishedAtMs}\n`);
