import {execFileSync, spawn} from 'node:child_process';
import {randomInt} from 'node:crypto';
import {once} from 'node:events';
import {closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {openLevelStore} from '../../system/store/level-store.js';
import {within} from '../../bench/rigs/cluster/waiting.js';
import {acknowledge, compare, emptyLedger, parseAck, type Ledger} from './durability-ledger.js';
import {startOn} from './durability-start.js';

const program = path.join(import.meta.dirname, 'durability-writer.js');

/** The writer as its reader sees it. */
type Writer = {
	/** Resolves once so many more acknowledgements, or errors, have been read. */
	readonly after: (count: number, what: 'acks' | 'errors') => Promise<void>;
	/** SIGKILL; resolves when every line it has written is in the ledger. */
	readonly kill: () => Promise<void>;
};

function startWriter(t: ExecutionContext, directory: string, writers: number, life: number, ledger: Ledger): Writer {
	const child = spawn(process.execPath, [program, directory, String(writers), String(life)], {stdio: ['ignore', 'pipe', 'inherit']});
	t.teardown(() => child.kill('SIGKILL'));
	const closed = once(child, 'close');
	const read = {acks: 0, errors: 0};
	let lastError = 'none';
	let waiting: {readonly what: 'acks' | 'errors'; readonly count: number; readonly resolve: () => void}[] = [];
	const take = (line: string): void => {
		const ack = parseAck(line);
		if (ack !== undefined) acknowledge(ledger, ack);
		else if (/^error ERR_STORE .*\.$/.test(line)) [read.errors, lastError] = [read.errors + 1, line];
		else ledger.problems.push(`the writer said: ${line}`);
		if (ack !== undefined) read.acks++;
		for (const {resolve} of waiting.filter(({what, count}) => read[what] >= count)) resolve();
		waiting = waiting.filter(({what, count}) => read[what] < count);
	};
	let rest = '';
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		const lines = (rest + text).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) take(line);
	});
	return {
		async after(count, what) {
			const reached = new Promise<void>(resolve => waiting.push({what, count: read[what] + count, resolve}));
			const ended = closed.then(([code]) => Promise.reject(new Error(`the writer ended by itself with code ${code}`)));
			const about = (): string => `There are ${read.acks} acknowledgements and ${read.errors} errors, the last of them: ${lastError}`;
			await within(`${count} more ${what} of the writer`, Promise.race([reached, ended]), about);
		},
		async kill() {
			child.kill('SIGKILL');
			await within('the end of the writer', closed);
		},
	};
}

/** Opens the store as the next process would, and compares. */
async function check(t: ExecutionContext, directory: string, ledger: Ledger): Promise<void> {
	const driver = await openLevelStore(directory);
	const {pipeline, index} = await startOn(driver);
	compare(ledger, index);
	await new Promise<void>(resolve => pipeline.stop(resolve));
	await driver.close();
	t.deepEqual(ledger.problems, []);
}

test.serial('acknowledged writes survive 20 SIGKILLs among 10,000 concurrent writes', async t => {
	const directory = mkdtempSync(path.join(tmpdir(), 'troupe-durability-'));
	t.teardown(() => rmSync(directory, {recursive: true, force: true}));
	const ledger = emptyLedger();
	for (let life = 1; life <= 20; life++) {
		t.timeout(120_000); // Of each life: all of them take minutes.
		const writer = startWriter(t, directory, 10_000, life, ledger);
		await writer.after(randomInt(1, 10_000), 'acks');
		await writer.kill();
		await check(t, directory, ledger);
	}
	t.log(`${ledger.acknowledged} acknowledged writes of ${ledger.last.size} objects, 20 kills`);
});

/** A small file system of its own. */
function smallDisk(t: ExecutionContext): string {
	const directory = mkdtempSync(path.join(tmpdir(), 'troupe-disk-'));
	execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'troupe-durability', directory]);
	t.teardown(() => {
		execFileSync('umount', ['--lazy', directory]);
		rmSync(directory, {recursive: true});
	});
	return directory;
}

/** Takes all the space there is, to the last byte. */
function fillUp(file: string): void {
	const handle = openSync(file, 'w');
	try {
		for (let bytes = 65_536; bytes >= 1; bytes = Math.floor(bytes / 2)) fillBy(handle, Buffer.alloc(bytes));
	} finally {
		closeSync(handle);
	}
}

function fillBy(handle: number, piece: Buffer): void {
	try {
		while (writeSync(handle, piece) > 0);
	} catch (error) {
		if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
	}
}

test.serial('on a disk that the store fills by itself writes go on: the room it keeps is its own', async t => {
	if (process.getuid?.() !== 0) return t.fail('this test mounts a small disk, which only root may');
	const directory = path.join(smallDisk(t), 'data');
	const ledger = emptyLedger();
	const writer = startWriter(t, directory, 100, 1, ledger);
	// Far more than the log that one table is made of, which with what is kept beside it is more than the disk has.
	await writer.after(20_000, 'acks');
	await writer.kill();
	await check(t, directory, ledger);
});

test.serial('where the room that is kept cannot be given up a full disk fails writes, and a freed one takes them', async t => {
	if (process.getuid?.() !== 0) return t.fail('this test mounts a small disk, which only root may');
	const disk = smallDisk(t);
	const [directory, filler] = [path.join(disk, 'data'), path.join(disk, 'filler')];
	const ledger = emptyLedger();
	const first = startWriter(t, directory, 100, 1, ledger);
	await first.after(100, 'acks');
	await first.kill();
	const reserve = path.join(directory, 'level', 'RESERVE');
	rmSync(reserve, {force: true});
	mkdirSync(path.join(reserve, 'folder'), {recursive: true});
	const writer = startWriter(t, directory, 100, 2, ledger);
	await writer.after(100, 'acks');
	fillUp(filler);
	await writer.after(500, 'errors');
	rmSync(filler);
	await writer.after(200, 'acks');
	await writer.kill();
	await check(t, directory, ledger);
});

test.serial('a full disk fails writes, a freed one takes them without a restart, and a SIGKILL then loses nothing', async t => {
	if (process.getuid?.() !== 0) return t.fail('this test mounts a small disk, which only root may');
	const disk = smallDisk(t);
	const [directory, filler] = [path.join(disk, 'data'), path.join(disk, 'filler')];
	const ledger = emptyLedger();
	let fills = 0;
	for (let life = 1; life <= 4; life++) {
		t.timeout(240_000);
		const writer = startWriter(t, directory, 100, life, ledger);
		await writer.after(randomInt(100, 2_000), 'acks');
		for (let round = 0; round < 3; round++, fills++) {
			fillUp(filler);
			await writer.after(randomInt(1, 1_000), 'errors');
			rmSync(filler);
			await writer.after(randomInt(1, 2_000), 'acks');
		}
		// Every other life ends with the disk full.
		if (life % 2 === 0) {
			fillUp(filler);
			await writer.after(200, 'errors');
		}
		await writer.kill();
		rmSync(filler, {force: true});
		await check(t, directory, ledger);
	}
	t.log(`${ledger.acknowledged} acknowledged writes, ${fills} times full and freed, 4 kills`);
});
