// A backup as one file: JSON lines, each with a checksum, between a head that says what it is and an end that says that it is whole.
//
//   {"troupe":"backup","format":1,"madeAt":"…","meta":{"version":…,"epoch":…,"lineage":"…"}}
//   ["<crc32>","<store key>","<body>"]            one for each record, in key order
//   {"end":true,"records":N,"sha256":"…"}         of every byte before this line
//
// Bodies are those of the store: what is sealed there is sealed here.

import {createHash} from 'node:crypto';
import {crc32} from 'node:zlib';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {parsedJson} from '../../api/value-or.js';
import {parseMeta} from './meta.js';
import type {Meta, Snapshot, StoredRecord} from './store.js';

/** Raised when an older Troupe could not read it. */
const formatVersion = 1;

/** The file's text, portion by portion. Rejects where the snapshot cannot be read; then the end is missing. */
export async function* writeBackup({records}: Snapshot, meta: Meta, madeAtMs: number): AsyncIterable<string> {
	const sum = createHash('sha256');
	let waiting = '';
	const counted = (line: string): void => {
		sum.update(line);
		waiting += line;
	};
	const madeAt = new Date(madeAtMs).toISOString();
	counted(`${JSON.stringify({troupe: 'backup', format: formatVersion, madeAt, meta: withoutTotals(meta)})}\n`);
	let count = 0;
	for await (const portion of records) {
		count += portion.length;
		for (const record of portion) {
			counted(lineOf(record));
			if (waiting.length < limits.watchWriteCharacters) continue;
			yield waiting;
			waiting = '';
		}
	}
	yield `${waiting}${JSON.stringify({end: true, records: count, sha256: sum.digest('hex')})}\n`;
}

/** The totals are of the store; the end has those of the file. */
const withoutTotals = ({records: _ofStore, ...meta}: Meta): Meta => meta;

const lineOf = ({key, body}: StoredRecord): string => `${JSON.stringify([crcOf(key, body), key, body])}\n`;

const crcOf = (key: string, body: string): string => crc32(`${key}\n${body}`).toString(16).padStart(8, '0');

export type BackupHead = {readonly madeAt: string; readonly meta: Meta};

export type BackupReader = {
	readonly head: BackupHead;
	/** In key order. Throws where the file is damaged, with the line; ends only after everything was found whole. */
	readonly records: AsyncIterable<StoredRecord>;
};

/** @throws AppError when it is no backup, one of a newer Troupe, or damaged. */
export async function readBackup(bytes: AsyncIterable<Uint8Array>): Promise<BackupReader> {
	const lines = linesOf(bytes)[Symbol.asyncIterator]();
	const first = await lines.next();
	const text = first.done === true ? '' : first.value.text;
	const sum = createHash('sha256').update(`${text}\n`);
	return {head: headOf(text), records: recordsOf({[Symbol.asyncIterator]: () => lines}, sum)};
}

function headOf(text: string): BackupHead {
	const {troupe, format, madeAt, meta} = Object(parsedJson(text)) as Record<string, unknown>;
	if (troupe !== 'backup' || typeof format !== 'number') throw damaged(1, 'this is no backup of a cluster');
	if (format > formatVersion) throw damaged(1, `it was made by a newer version (format ${format}, this one reads up to ${formatVersion})`);
	const found = parseMeta(JSON.stringify(meta));
	if (found === undefined || typeof madeAt !== 'string' || found.version === 0) throw damaged(1, 'its head cannot be read');
	return {madeAt, meta: found};
}

async function* recordsOf(lines: AsyncIterable<Line>, sum: ReturnType<typeof createHash>): AsyncIterable<StoredRecord> {
	let count = 0;
	let at = 1;
	let lastKey = '';
	let ended = false;
	for await (const {text} of lines) {
		at++;
		if (ended) throw damaged(at, 'there is more after its end');
		const value = parsedJson(text);
		if (!Array.isArray(value)) {
			checkEnd(at, value, count, sum.digest('hex'));
			ended = true;
			continue;
		}
		sum.update(`${text}\n`);
		const record = recordOf(at, value);
		if (record.key <= lastKey) throw damaged(at, `"${record.key}" is not in its place`);
		lastKey = record.key;
		count++;
		yield record;
	}
	if (!ended) throw damaged(at + 1, 'it ends too early: it was cut off');
}

function recordOf(at: number, [sum, key, body]: readonly unknown[]): StoredRecord {
	if (typeof key !== 'string' || typeof body !== 'string' || sum !== crcOf(key, body))
		throw damaged(at, 'the record is not what was written');
	return {key, body};
}

function checkEnd(at: number, value: unknown, count: number, sha256: string): void {
	const {end, records, sha256: told} = Object(value) as Record<string, unknown>;
	if (end !== true) throw damaged(at, 'it cannot be read');
	if (records !== count || told !== sha256)
		throw damaged(at, `its end tells of ${String(records)} records and another sum than what is before it`);
}

type Line = {readonly text: string};

/** Whole lines only. One that is longer than any record can be is not waited for. */
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Line> {
	let rest: Uint8Array[] = [];
	let restBytes = 0;
	let at = 1;
	for await (const chunk of bytes) {
		let from = 0;
		for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
			rest.push(chunk.subarray(from, end));
			yield {text: Buffer.concat(rest).toString('utf8')};
			rest = [];
			restBytes = 0;
			from = end + 1;
			at++;
		}
		if (from < chunk.length) rest.push(chunk.subarray(from));
		restBytes += chunk.length - from;
		if (restBytes > limits.backupLineBytes) throw damaged(at, `it has no end within ${limits.backupLineBytes} bytes`);
	}
	if (restBytes > 0) throw damaged(at, 'it ends within a line: it was cut off');
}

const newline = 10;

const damaged = (line: number, why: string): AppError =>
	new AppError('ERR_INTERNAL', {message: `the backup cannot be used, line ${line}: ${why}`});
