// Which processes serve traffic for a home: written by each when it begins, so that the next agent, and who stops everything, finds it.

import {mkdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {isObject} from '../../../api/object.js';
import {parsedJson, valueOr} from '../../../api/value-or.js';
import {makeDirectory} from '../../../system/files/make-directory.js';
import {readBootId, statOf, type ProcessStat} from '../../os/identity.js';

export type ServingRecord = {
	/** Who takes new connections. */
	readonly serving: ProcessStat | undefined;
	/** Those that begin, and those that let their last connections finish. */
	readonly others: readonly ProcessStat[];
};

const recordFile = (folder: string): string => path.join(folder, 'record');

/** Where a data plane listens for its agent. */
export const socketOf = (folder: string, pid: number): string => path.join(folder, `feed.${pid}`);

/** sun_path of unix(7), with its closing zero; a pid has seven digits at the most. */
export const isTooLong = (folder: string): boolean => Buffer.byteLength(socketOf(folder, 9_999_999)) > 107;

/** For its user alone. Throws errno exceptions. */
export function makeFeedFolder(folder: string): void {
	makeDirectory(path.dirname(folder));
	mkdirSync(folder, {mode: 0o700, recursive: true});
}

/** Those of them that still live; whatever else is in the file counts as nothing. */
export function readRecord(folder: string): ServingRecord {
	const found = parsedJson(valueOr('', () => readFileSync(recordFile(folder), 'utf8')));
	const bootId = valueOr('', readBootId);
	if (!isObject(found) || found['bootId'] !== bootId) return {serving: undefined, others: []};
	const others = Array.isArray(found['others']) ? found['others'] : [];
	return {serving: living(found['serving']), others: others.flatMap(each => living(each) ?? [])};
}

function living(mark: unknown): ProcessStat | undefined {
	if (!isObject(mark) || typeof mark['pid'] !== 'number') return undefined;
	const now = statOf(mark['pid']);
	return now !== undefined && now.startTime === mark['startTime'] && isAlive(now) ? now : undefined;
}

/** Whether that process is there; one that is dead and not collected is not. */
export function isThere({pid, startTime}: ProcessStat): boolean {
	const now = statOf(pid);
	return now?.startTime === startTime && isAlive(now);
}

const isAlive = ({state}: ProcessStat): boolean => state !== 'Z' && state !== 'X';

/** This process takes new connections from now on. Throws errno exceptions. */
export function recordServing(folder: string, process: ProcessStat): void {
	const {serving, others} = readRecord(folder);
	const rest = [...(serving === undefined ? [] : [serving]), ...others].filter(({pid}) => pid !== process.pid);
	write(folder, {serving: process, others: rest});
}

/** A process that was started just now. Throws errno exceptions. */
export function recordStarted(folder: string, process: ProcessStat): void {
	const {serving, others} = readRecord(folder);
	write(folder, {serving, others: [...others, process]});
}

function write(folder: string, {serving, others}: ServingRecord): void {
	const mark = ({pid, startTime}: ProcessStat) => ({pid, startTime});
	const record = {bootId: readBootId(), ...(serving === undefined ? {} : {serving: mark(serving)}), others: others.map(mark)};
	const file = recordFile(folder);
	writeFileSync(`${file}.new`, `${JSON.stringify(record)}\n`, {mode: 0o600});
	renameSync(`${file}.new`, file);
}
