// The code of an instance, and its runner, in the folder of its pod: unpacked once, for all attempts. A runner that has loaded all of itself before
// it came to the pod has no copy there.
//
// What it keeps true: nothing runs that is not whole; what a program of the pod has put in its place is not run by the next attempt, where the
// agent is another user than the pod; no link that a program makes there leads the agent anywhere.

import {lstatSync, readFileSync, readdirSync, renameSync} from 'node:fs';
import {chmod, mkdir, open, rename, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {FunctionInstance} from '../../api/function-instance.js';
import {membersOf} from '../../api/rules/report.js';
import {parsedJson} from '../../api/value-or.js';
import {archiveBounds} from '../../system/archive/bounds.js';
import {unpackArchive} from '../../system/archive/unpack.js';
import {valueOrFor} from '../../system/files/errno.js';
import {readBootId} from '../os/identity.js';
import {copyRunner, makeOpen} from './runner-files.js';
import {clear, codeOf, recordOf, runnerOf, runnerRecordOf, unfinishedOf} from './runner-place.js';

/** Whether the code of this function is in the folder, all of it and as it was made since the host has booted. Throws errno exceptions. */
export const hasCode = (home: string, {artifact = noArtifact, runtime}: FunctionInstance): boolean =>
	isAsRecorded(recordOf(home), {artifact, runtime, ...markedAt(codeOf(home))});

/** Of a program that needs none: what stands in the record. */
const noArtifact = '';

/** The same of the copy of its runner, which a program of its own has none of. */
export const hasRunner = (home: string, {runtime}: FunctionInstance): boolean =>
	runtime === 'program' || isAsRecorded(runnerRecordOf(home), {runtime, ...markedAt(runnerOf(home))});

function isAsRecorded(file: string, wanted: Readonly<Record<string, string | undefined>>): boolean {
	const text = valueOrFor('', ['ENOENT'], () => readFileSync(file, 'utf8'));
	const record = membersOf(parsedJson(text));
	return Object.entries(wanted).every(([name, value]) => value !== undefined && record[name] === value);
}

/** Whether code was ever made there: the pod is an instance. */
export const isInstanceAt = (home: string): boolean => lstatSync(recordOf(home), {throwIfNoEntry: false}) !== undefined;

/** What was written before a power cut need not have come to the disk. */
const markedAt = (folder: string) => ({boot: readBootId(), mark: markOf(folder)});

/** Of a folder of the agent's own: no other one has it as long as that is there. Others may rename it, and write nothing in it. */
function markOf(folder: string): string | undefined {
	const stats = lstatSync(folder, {throwIfNoEntry: false});
	if (stats?.isDirectory() !== true || stats.uid !== process.getuid?.()) return undefined;
	return `${stats.dev}/${stats.ino}`;
}

/**
 * Makes it anew from an archive, which only a program without a folder has none of. Rejects with AppErrors for an archive that is refused, and
 * with Errors of the system. No program of the pod runs meanwhile, or else it is refused by the system at worst. `isSeen`: a container has the
 * folder already, and sees what comes into it.
 */
export const makeCode = (
	home: string,
	{artifact = noArtifact, runtime}: FunctionInstance,
	archive: string | undefined,
	isSeen = false,
): Promise<void> =>
	make(home, {place: codeOf, record: recordOf(home), says: {artifact, runtime}, isSeen}, async folder => {
		if (archive === undefined) return makeOpen(folder);
		// Opened before: a stream that finds no file says so to nobody as long as it is not read.
		const opened = await open(archive);
		await unpackArchive(opened.createReadStream(), folder, archiveBounds, artifact);
	});

/** The same of its runner. */
export async function makeRunner(home: string, {runtime}: Pick<FunctionInstance, 'runtime'>): Promise<void> {
	if (runtime === 'program') return;
	await make(home, {place: runnerOf, record: runnerRecordOf(home), says: {runtime}, isSeen: false}, folder => copyRunner(runtime, folder));
}

type Made = {readonly place: (home: string) => string; readonly record: string; readonly says: object; readonly isSeen: boolean};

async function make(home: string, {place, record, says, isSeen}: Made, fill: (folder: string) => Promise<void>): Promise<void> {
	const unfinished = unfinishedOf(home);
	await clear(unfinished);
	await clear(record);
	await mkdir(unfinished, {mode: 0o700});
	try {
		await fill(place(unfinished));
		if (isSeen) moveEntries(place(unfinished), place(home));
		else {
			await clear(place(home));
			renameSync(place(unfinished), place(home));
		}
		await writeRecord(record, {...says, ...markedAt(place(home))});
	} finally {
		await clear(unfinished);
	}
}

/** Into an empty folder. */
function moveEntries(from: string, to: string): void {
	for (const name of readdirSync(from)) renameSync(path.join(from, name), path.join(to, name));
}

/** There at once and whole: this process may be killed in between. */
async function writeRecord(file: string, record: object): Promise<void> {
	const first = `${file}.json`;
	await writeFile(first, JSON.stringify(record), {mode: 0o600});
	await chmod(first, 0o600);
	await rename(first, file);
}
