// What a node says of its pods while the Engine is not there.

import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {createDockerRuntime} from '../../../agent/docker-runtime.js';
import type {Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {ManualClock} from '../../../system/time/manual-clock.js';

test('a session is refused with what is wrong with the Engine, before its client hears that the node does not answer', async t => {
	const directory = mkdtempSync(path.join(tmpdir(), 'absent-engine-'));
	mkdirSync(path.join(directory, 'uid-1'));
	writeFileSync(path.join(directory, 'uid-1', 'sandbox.json'), JSON.stringify({spec: {uid: 'uid-1', namespace: 'default', name: 'web'}}));
	const clock = new ManualClock(0);
	const runtime = createDockerRuntime({directory, clock, address: {socketPath: path.join(directory, 'docker.sock')}});
	t.teardown(async () => {
		await runtime.close();
		rmSync(directory, {recursive: true});
	});
	await new Promise<void>(resolve => runtime.onEvent(({type}) => type === 'infoChanged' && resolve()));
	const id = {uid: 'uid-1', container: 'main'};
	const outcome = await new Promise<Outcome<unknown>>(resolve => {
		runtime.run({type: 'exec.open', request: {id, argv: ['ls'], tty: false, stdin: false, rows: 24, columns: 80}}, resolve);
		clock.advance(limits.execOpenWaitMs);
	});
	t.regex(outcome.ok ? '' : outcome.error.message, /docker\.sock/);
	t.true(limits.execOpenWaitMs < limits.askDeadlineMs);
});
