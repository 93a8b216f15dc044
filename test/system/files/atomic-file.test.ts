import {mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync} from 'node:fs';
import {open} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {writeFileAtomic} from '../../../system/files/atomic-file.js';

function aFolder(t: ExecutionContext): string {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-atomic-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	return folder;
}

type Handle = {sync: (this: Handle) => Promise<void>; readonly fd: number};

/** What is synced from now on: a file with its text, a folder with its entries. */
async function syncsIn(t: ExecutionContext, folder: string): Promise<readonly string[]> {
	const synced: string[] = [];
	const handle = await open(folder);
	const every = Object.getPrototypeOf(handle) as Handle;
	await handle.close();
	const whole = every.sync;
	t.teardown(() => (every.sync = whole));
	every.sync = function () {
		const at = readlinkSync(`/proc/self/fd/${this.fd}`);
		synced.push(at === folder ? `entries ${readdirSync(folder).join()}` : `text ${readFileSync(at, 'utf8')}`);
		return whole.call(this);
	};
	return synced;
}

// All handles share what it puts in the place of their method.
test.serial('a file is on disk with its text before it has its name, and with its name before anybody hears of it', async t => {
	const folder = aFolder(t);
	const synced = await syncsIn(t, folder);
	await writeFileAtomic(path.join(folder, 'token'), 'first', 0o600);
	await writeFileAtomic(path.join(folder, 'token'), 'second', 0o600);
	t.deepEqual(synced, ['text first', 'entries token', 'text second', 'entries token']);
});

test('it has just that mode, and what cannot be written leaves the old one', async t => {
	const folder = aFolder(t);
	const file = path.join(folder, 'token');
	await writeFileAtomic(file, 'first', 0o640);
	t.is(statSync(file).mode & 0o777, 0o640);
	await t.throwsAsync(writeFileAtomic(path.join(folder, 'none', 'token'), 'x', 0o600), {
		code: 'ENOENT',
		message: /none\/token cannot be written/,
	});
	t.is(readFileSync(file, 'utf8'), 'first');
	t.deepEqual(readdirSync(folder), ['token']);
});
