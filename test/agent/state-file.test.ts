import {mkdtempSync, mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {settle, stateFile} from '../../agent/process/attempts.js';

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
