import {mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync, mkdirSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {putFiles, type FileContent} from '../../agent/volumes/volume-files.js';

function folderOf(t: ExecutionContext): string {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-files-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	return folder;
}

const file = (name: string, text: string, mode = 0o644): FileContent => ({path: name, mode, data: Buffer.from(text)});

/** What a program sees. */
const shown = (folder: string): Record<string, string> =>
	Object.fromEntries(
		readdirSync(folder, {recursive: true, encoding: 'utf8'})
			.filter(name => !name.startsWith('..') && statSync(path.join(folder, name)).isFile())
			.map(name => [name, readFileSync(path.join(folder, name), 'utf8')]),
	);

test('files are there with their modes, in folders too', async t => {
	const folder = folderOf(t);
	await putFiles(folder, [file('a', 'A', 0o400), file('deep/er/b', 'B')], undefined);
	t.is(readFileSync(path.join(folder, 'a'), 'utf8'), 'A');
	t.is(readFileSync(path.join(folder, 'deep/er/b'), 'utf8'), 'B');
	t.is(statSync(path.join(folder, 'a')).mode & 0o777, 0o400);
	t.is(readlinkSync(path.join(folder, 'deep')), '..data/deep');
});

test('all files change by one rename, and those that are no more go', async t => {
	const folder = folderOf(t);
	await putFiles(folder, [file('a', '1'), file('b', '1'), file('gone/x', '1')], undefined);
	const before = path.join(folder, readlinkSync(path.join(folder, '..data')));
	await putFiles(folder, [file('a', '2'), file('b', '2'), file('c', '2')], undefined);
	t.deepEqual(shown(folder), {a: '2', b: '2', c: '2'});
	t.deepEqual(readdirSync(folder).sort(), ['..2', '..data', 'a', 'b', 'c']);
	t.throws(() => statSync(before), {code: 'ENOENT'});
});

test('the same files are not written again; another mode is a change', async t => {
	const folder = folderOf(t);
	await putFiles(folder, [file('a', '1')], undefined);
	await putFiles(folder, [file('a', '1')], undefined);
	t.is(readlinkSync(path.join(folder, '..data')), '..1');
	await putFiles(folder, [file('a', '1', 0o600)], undefined);
	t.is(statSync(path.join(folder, 'a')).mode & 0o777, 0o600);
});

test('what an agent left half done is done anew', async t => {
	const folder = folderOf(t);
	await putFiles(folder, [file('a', '1')], undefined);
	mkdirSync(path.join(folder, '..2'));
	writeFileSync(path.join(folder, '..2', 'half'), '');
	symlinkSync('..2', path.join(folder, '..data_new'));
	await putFiles(folder, [file('a', '2')], undefined);
	t.deepEqual(shown(folder), {a: '2'});
	t.deepEqual(readdirSync(path.join(folder, '..2')), ['a']);
});

test('no file at all is a volume, too', async t => {
	const folder = folderOf(t);
	await putFiles(folder, [], undefined);
	t.deepEqual(shown(folder), {});
	await putFiles(folder, [file('a', '1')], undefined);
	await putFiles(folder, [], undefined);
	t.deepEqual(shown(folder), {});
});

test('files whose links an agent did not come to make get them', async t => {
	const folder = folderOf(t);
	await putFiles(folder, [file('old', '1')], undefined);
	mkdirSync(path.join(folder, '..2'));
	writeFileSync(path.join(folder, '..2', 'a'), '2', {mode: 0o644});
	rmSync(path.join(folder, '..data'));
	symlinkSync('..2', path.join(folder, '..data'));
	await putFiles(folder, [file('a', '2')], undefined);
	t.deepEqual(readdirSync(folder).sort(), ['..2', '..data', 'a']);
	t.deepEqual(shown(folder), {a: '2'});
});
