// The audit log of a home: a line of JSON for each change that was asked of actors by hand. What was refused before any system was asked has a file
// of its own: refusals, which any login may cause, push no change out. Two older files are kept beside each.

import {appendFileSync, closeSync, fstatSync, openSync, readSync, renameSync, statSync} from 'node:fs';
import {limits} from '../../../api/limits.js';
import {hasCode} from '../../../system/files/errno.js';
import type {AuditEntry, AuditLog} from '../../../server/inspect/audit.js';
import type {Log} from '../process/log.js';

/**
 * Appends to the file of changes or to that of refusals, which only its owner reads. In the turn of the call, so that no end of the process comes
 * between a change and its line. What cannot be written there goes to the log.
 */
export const auditFile =
	(changes: string, refusals: string, log: Pick<Log, 'error'>): AuditLog =>
	(entry: AuditEntry, isRefusal: boolean): void => {
		const file = isRefusal ? refusals : changes;
		try {
			if (sizeOf(file) >= limits.auditFileBytes) rotate(file);
			append(file, `${JSON.stringify(entry)}\n`);
		} catch (error) {
			log.error({entry, error: (error as Error).message}, 'the audit log cannot be written');
		}
	};

function sizeOf(file: string): number {
	return statSync(file, {throwIfNoEntry: false})?.size ?? 0;
}

/** Also where a full disk, or an end of the process, left a part of a line. */
function append(file: string, line: string): void {
	const descriptor = openSync(file, 'a+', 0o600);
	try {
		const {size} = fstatSync(descriptor);
		const last = Buffer.from('\n');
		if (size > 0) readSync(descriptor, last, 0, 1, size - 1);
		appendFileSync(descriptor, last.toString() === '\n' ? line : `\n${line}`);
	} finally {
		closeSync(descriptor);
	}
}

function rotate(file: string): void {
	moveIfThere(`${file}.1`, `${file}.2`);
	moveIfThere(file, `${file}.1`);
}

function moveIfThere(from: string, to: string): void {
	try {
		renameSync(from, to);
	} catch (error) {
		if (!hasCode(error, 'ENOENT')) throw error;
	}
}
