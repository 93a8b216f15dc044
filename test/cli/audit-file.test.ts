// The audit log of a home: lines that stay whole, a size that stays bounded, and what happens where nothing can be written.

import {existsSync, mkdirSync, readFileSync, rmdirSync, statSync, symlinkSync, truncateSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {limits} from '../../api/limits.js';
import {auditFile} from '../../cli/serving/control/audit-file.js';
import type {AuditEntry} from '../../server/inspect/audit.js';
import {folder} from '../../bench/rigs/servers/server.js';

const entry: AuditEntry = {time: '2026-01-01T00:00:00.000Z', login: 'ann', role: 'admin', door: 'mqtt', verb: 'kill', outcome: 'done'};

function rig(t: ExecutionContext) {
	const file = path.join(folder(t, 'audit'), 'audit.log');
	const logged: unknown[] = [];
	const refusals = path.join(path.dirname(file), 'audit-refused.log');
	const log = auditFile(file, refusals, {error: (about: unknown) => void logged.push(about)});
	const write = (each: AuditEntry): void => log(each, false);
	const refuse = (each: AuditEntry): void => log(each, true);
	const linesOf = (name: string): readonly AuditEntry[] =>
		readFileSync(name, 'utf8')
			.trimEnd()
			.split('\n')
			.map(line => JSON.parse(line) as AuditEntry);
	/** Another file that is full; sparse. */
	const fill = (name: string, bytes: number): void => {
		writeFileSync(name, '');
		truncateSync(name, bytes);
	};
	return {file, refusals, logged, write, refuse, linesOf, fill};
}

test('an entry is a line, whatever is in it, in a file for its owner alone', t => {
	const {file, write, linesOf, logged} = rig(t);
	const odd = {...entry, login: 'ann\n{"login":"root"}\u2028', place: '\u0000"\r\n'};
	write(odd);
	write(entry);
	t.deepEqual(linesOf(file), [odd, entry]);
	t.is(statSync(file).mode & 0o777, 0o600);
	t.deepEqual(logged, []);
});

test('a file that is full becomes the first of two that are kept', t => {
	const {file, write, linesOf, fill} = rig(t);
	fill(file, limits.auditFileBytes - 1);
	write(entry);
	t.false(existsSync(`${file}.1`), 'a byte is left');
	const full = statSync(file).size;
	write({...entry, verb: 'first'});
	t.deepEqual(linesOf(file), [{...entry, verb: 'first'}]);
	t.is(statSync(`${file}.1`).size, full);
	for (const verb of ['second', 'third']) {
		truncateSync(file, limits.auditFileBytes);
		write({...entry, verb});
	}
	t.deepEqual(linesOf(file), [{...entry, verb: 'third'}]);
	t.true(readFileSync(`${file}.1`, 'utf8').startsWith(JSON.stringify({...entry, verb: 'second'})));
	t.true(readFileSync(`${file}.2`, 'utf8').startsWith(JSON.stringify({...entry, verb: 'first'})));
	t.false(existsSync(`${file}.3`));
});

test('refusals push out refusals, and no change', t => {
	const {file, refusals, write, refuse, linesOf, fill} = rig(t);
	write(entry);
	const refused: AuditEntry = {...entry, login: 'eve', role: 'view', outcome: 'ERR_FORBIDDEN'};
	for (let at = 0; at < 3; at++) {
		fill(refusals, limits.auditFileBytes);
		refuse(refused);
	}
	t.deepEqual([linesOf(file), linesOf(refusals)], [[entry], [refused]]);
	t.false(existsSync(`${file}.1`));
	t.true(existsSync(`${refusals}.2`));
	t.is(statSync(refusals).mode & 0o777, 0o600);
});

test('an end in the middle of a rotation, or of a line, loses nothing that was written', t => {
	const {file, write, linesOf, fill} = rig(t);
	// Between the two renames, with the full file still there; then between the second one and the new file.
	writeFileSync(`${file}.2`, 'older');
	fill(file, limits.auditFileBytes);
	write(entry);
	t.is(readFileSync(`${file}.2`, 'utf8'), 'older');
	t.is(statSync(`${file}.1`).size, limits.auditFileBytes);
	t.deepEqual(linesOf(file), [entry]);
	writeFileSync(file, `${JSON.stringify(entry)}\n{"time":"2026-0`);
	write(entry);
	t.deepEqual(readFileSync(file, 'utf8').split('\n'), [JSON.stringify(entry), '{"time":"2026-0', JSON.stringify(entry), '']);
});

test('what cannot be written is in the log, whole, and the next line is written when that is possible again', t => {
	const {file, write, linesOf, logged, fill} = rig(t);
	mkdirSync(file);
	write(entry);
	t.like(logged, [{entry}]);
	rmdirSync(file);
	write(entry);
	t.deepEqual(linesOf(file), [entry]);

	// A rotation that is not possible: the bound is kept.
	mkdirSync(path.join(`${file}.1`, 'x'), {recursive: true});
	mkdirSync(path.join(`${file}.2`, 'x'), {recursive: true});
	fill(file, limits.auditFileBytes);
	write(entry);
	t.is(logged.length, 2);
	t.is(statSync(file).size, limits.auditFileBytes);
});

test('a disk that is full is told in the log', t => {
	const {file, write, logged} = rig(t);
	symlinkSync('/dev/full', file);
	write(entry);
	t.like(logged, [{entry, error: 'ENOSPC: no space left on device, write'}]);
});
