// Logs to try reading on.

import {writeFileSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';

/** A log with that text in a folder of its own, which goes with the test. */
export async function aLog(t: ExecutionContext, text: string | Buffer = ''): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'troupe-log-'));
	t.teardown(() => rm(folder, {recursive: true}));
	const log = path.join(folder, 'log');
	writeFileSync(log, text);
	return log;
}
