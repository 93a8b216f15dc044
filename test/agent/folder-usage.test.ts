// What a folder takes of the disk: counted beside the agent, whatever programs have made in it.

import {spawn, spawnSync} from 'node:child_process';
import {linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {openFolderUsage} from '../../agent/volumes/folder-usage.js';
import {removeTree} from '../../agent/os/trees.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {systemClock} from '../../system/time/clock.js';
import {asRoot, isRoot, needing} from '../_needing.js';
import {whenTrue} from './process-world.js';

const mebibyte = 1_048_576;

function folderOf(t: ExecutionContext): string {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-usage-'));
	t.teardown(() => removeTree(folder));
	return folder;
}

const write = (folder: string, name: string, bytes: number): void => writeFileSync(path.join(folder, name), Buffer.alloc(bytes, 1));

/** With what the folders themselves take. */
const isAbout = (bytes: number, expected: number): boolean => bytes >= expected && bytes < expected + mebibyte / 2;

test('files count by what they take of the disk, with several names once, and no link is followed', async t => {
	const folder = folderOf(t);
	const other = folderOf(t);
	write(other, 'large', 8 * mebibyte);
	write(folder, 'one', mebibyte);
	mkdirSync(path.join(folder, 'below'));
	write(path.join(folder, 'below'), 'two', 2 * mebibyte);
	linkSync(path.join(folder, 'below', 'two'), path.join(folder, 'again'));
	write(folder, 'hollow', 1);
	truncateSync(path.join(folder, 'hollow'), 64 * mebibyte);
	symlinkSync(other, path.join(folder, 'elsewhere'));
	symlinkSync('.', path.join(folder, 'round'));
	const usage = openFolderUsage(systemClock);
	t.true(isAbout(await usage.count(folder), 3 * mebibyte));
	await t.throwsAsync(usage.count(path.join(folder, 'none')), {message: /du ended with code 1 and said nothing/});
});

test('a folder that is too deep for a path is counted to its end', async t => {
	const folder = folderOf(t);
	const name = 'd'.repeat(100);
	const {status} = spawnSync('sh', [
		'-c',
		`cd "$1"; i=0; while [ $i -lt 300 ]; do mkdir ${name}; cd ${name}; i=$((i+1)); done; head -c ${mebibyte} /dev/zero | tr '\\0' x > end`,
		'sh',
		folder,
	]);
	t.is(status, 0);
	t.true((await openFolderUsage(systemClock).count(folder)) >= mebibyte);
});

test('a folder that changes while it is counted is counted', async t => {
	const folder = folderOf(t);
	write(folder, 'stays', mebibyte);
	const changer = spawn('sh', ['-c', 'cd "$1"; while :; do mkdir -p a/b/c; : > a/b/c/x; rm -rf a; done', 'sh', folder], {stdio: 'ignore'});
	try {
		const usage = openFolderUsage(systemClock);
		for (let round = 0; round < 20; round++) t.true(isAbout(await usage.count(folder), mebibyte));
	} finally {
		changer.kill('SIGKILL');
		await new Promise(resolve => changer.once('exit', resolve));
	}
});

asRoot('another file system in it is not entered', async t => {
	const folder = folderOf(t);
	const inside = path.join(folder, 'inside');
	mkdirSync(inside);
	t.is(spawnSync('mount', ['-t', 'tmpfs', 'troupe-test', inside]).status, 0);
	try {
		write(inside, 'large', 4 * mebibyte);
		t.true((await openFolderUsage(systemClock).count(folder)) < mebibyte);
	} finally {
		spawnSync('umount', ['-l', inside]);
	}
});

const mayMount = isRoot && /\tfuse$/m.test(readFileSync('/proc/filesystems', 'utf8'));

needing(mayMount, 'needs root and FUSE')(
	'where something in it never answers its count is given up, and other folders are counted',
	async t => {
		const folder = folderOf(t);
		const other = folderOf(t);
		write(other, 'one', mebibyte);
		const inside = path.join(folder, 'inside');
		mkdirSync(inside);
		const mounter = spawn(process.execPath, [path.join(import.meta.dirname, '_silent-folder.js'), inside, 'closed'], {stdio: 'ignore'});
		const ended = new Promise(resolve => mounter.once('exit', resolve));
		try {
			await whenTrue(() => readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${inside} `));
			const usage = openFolderUsage(systemClock, 3_000);
			await t.throwsAsync(usage.count(folder), {message: 'it took longer than 3000 ms'});
			await t.throwsAsync(usage.count(folder), {message: /the count before it has not ended/});
			t.true(isAbout(await usage.count(other), mebibyte));
			mounter.kill('SIGKILL');
			await ended;
			spawnSync('umount', ['-l', inside]);
			write(folder, 'one', mebibyte);
			const again = async (): Promise<number> => usage.count(folder).catch(() => -1);
			await eventually('it is counted again', async () => isAbout(await again(), mebibyte));
		} finally {
			mounter.kill('SIGKILL');
			spawnSync('umount', ['-l', inside]);
			await ended;
			rmSync(inside, {recursive: true, force: true});
		}
	},
);
