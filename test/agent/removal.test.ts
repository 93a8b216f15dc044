import {existsSync, mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import type {Containers} from '../../agent/process/containers/containers.js';
import {createRemovals} from '../../agent/process/containers/removal.js';
import type {Sandboxes} from '../../agent/process/sandboxes/sandboxes.js';
import type {Outcome} from '../../api/errors.js';

test('nothing of a pod goes before the last of its containers has ended', async t => {
	const directory = mkdtempSync(path.join(os.tmpdir(), 'troupe-removal-'));
	t.teardown(() => rmSync(directory, {recursive: true}));
	const folder = path.join(directory, 'uid-1');
	for (const name of ['a', 'b', 'c']) mkdirSync(path.join(folder, name), {recursive: true});
	const did: string[] = [];
	const stops: (() => void)[] = [];
	const removals = createRemovals(
		{folderOf: (uid: string) => path.join(directory, uid), forget: () => did.push('address')} as unknown as Sandboxes,
		{
			stop: (_id: unknown, _graceMs: number, done: () => void) => stops.push(done),
			forget: ({container}: {readonly container: string}) => did.push(`forgets ${container}`),
		} as unknown as Containers,
		[{remove: () => Promise.resolve(void did.push('volumes'))}],
		{end: () => did.push('lease')},
	);
	const removed = new Promise<Outcome<null>>(resolve => removals.remove('uid-1', resolve));
	const joined = new Promise<Outcome<null>>(resolve => removals.remove('uid-1', resolve));
	t.is(stops.length, 3);
	for (const ends of stops.slice(0, 2)) ends();
	t.deepEqual(did, []);
	t.true(existsSync(folder) && removals.isRemoving('uid-1'));
	stops[2]?.();
	t.deepEqual(await Promise.all([removed, joined]), [
		{ok: true, value: null},
		{ok: true, value: null},
	]);
	t.deepEqual(did, ['forgets a', 'forgets b', 'forgets c', 'lease', 'volumes', 'address']);
	t.false(existsSync(folder) || removals.isRemoving('uid-1'));
});
