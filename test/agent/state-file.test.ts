import {mkdtempSync, mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {stateFile} from '../../agent/attempts.js';
import {settle} from '../../agent/process/containers/adoption.js';
import {beginningLine, readStateFile} from '../../agent/process/attempts/state-file.js';
import {limits} from '../../api/limits.js';

test('a program that is killed before its shim has written all of it down ends with its code for an agent that saw it run', t => {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-state-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	mkdirSync(path.dirname(stateFile(folder, 3)));
	writeFileSync(stateFile(folder, 3), 'troupe-shim 1\nrunning 1000 boot 77\nexit 137\n');
	const seen = {beginning: undefined, process: {pid: 77, state: 'R', group: 76, startTime: 5}, bootId: 'boot', startedAtMs: 1000};
	const {exit} = settle(folder, 3, 'boot', {started: seen});
	t.like(exit, {attempt: 3, exitCode: 137, signal: 9, startedAtMs: 1000, reason: 'Error'});
	t.is(settle(folder, 3, 'boot').started, undefined, 'for one that did not, it was never started');
});

const beginning = {user: {uid: 7, gid: 7}, groups: [8], mayGain: false, userProcesses: undefined, directory: '/', home: '/', path: '/bin'};
const stat = `77 (x) S 1 76 76 ${'0 '.repeat(15)}5 0`;
const rest = `running 1000 boot 77\nprocess ${stat}\n`;

test('a line on how a program begins that is damaged costs that line, and the program is known all the same', t => {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-state-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	const file = path.join(folder, 'state');
	const line = beginningLine(beginning);
	const read = (text: string) => {
		writeFileSync(file, `troupe-shim 1\n${text}${rest}`);
		return readStateFile(file, 0).started;
	};
	t.like(read(line)?.beginning, {user: {uid: 7, gid: 7}, groups: [8], mayGain: false});
	t.like(read(line.replace(/,"check":"\w+"/, ''))?.beginning, {groups: [8]}, 'as an older version wrote it');
	for (const damaged of [
		line.replace('"uid":7', '"uid":6'),
		line.replace('[8]', '[9]'),
		line.replace('"groups":[8]', '"groups";[8]'),
		line.replace('[8]', '"8"'),
		line.replace('{"uid":7', '{"uld":7'),
		'begins null\n',
	]) {
		const started = read(damaged);
		t.is(started?.process.pid, 77, damaged);
		t.is(started?.beginning, undefined, damaged);
	}
});

test('the longest line on how a program begins leaves what follows it within what is read', t => {
	const text = '\u0001'.repeat(5_000);
	const groups = Array.from({length: limits.containerGroups}, (_, index) => 4_294_000_000 + index);
	const line = beginningLine({...beginning, groups, directory: text, home: text, path: text});
	t.true(line.length + rest.length + 1_000 < limits.stateFileBytes, `${line.length}`);
});
