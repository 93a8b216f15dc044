// The code that a node keeps: what is fetched, verified, shared and let go of.

import {mkdtempSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {createArtifactCache, type FetchArtifact} from '../../../agent/functions/artifact-cache.js';
import {AppError, failed, succeeded} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {anArchive} from '../../server/_artifacts.js';

function aFolder(t: ExecutionContext): string {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-code-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	return path.join(folder, 'artifacts');
}

async function* inPieces(bytes: Uint8Array, size = 1_000): AsyncGenerator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

type Source = Record<string, () => ReturnType<FetchArtifact>>;

function cacheOf(
	t: ExecutionContext,
	{folder = aFolder(t), clock = new ManualClock(), bytes}: {folder?: string; clock?: ManualClock; bytes?: number} = {},
) {
	const source: Source = {};
	const asked: string[] = [];
	const fetch: FetchArtifact = digest => {
		asked.push(digest);
		return source[digest]?.() ?? Promise.resolve(failed('ERR_NOT_FOUND', {resource: 'artifacts', name: digest}));
	};
	const open = () => createArtifactCache({folder, fetch, clock, ...(bytes === undefined ? {} : {bytes})});
	const offer = (...archives: readonly {readonly digest: string; readonly bytes: Uint8Array}[]): void => {
		for (const {digest, bytes: content} of archives) source[digest] = () => Promise.resolve(succeeded(inPieces(content)));
	};
	return {folder, clock, source, asked, open, offer, files: () => readdirSync(folder).toSorted()};
}

const failureOf = async (t: ExecutionContext, work: Promise<unknown>): Promise<string> => {
	const error = await t.throwsAsync<AppError>(work, {instanceOf: AppError});
	return `${error?.code ?? ''} ${error?.message ?? ''}`;
};

test('code is fetched once, kept for its owner alone, and found again by the next agent', async t => {
	const {open, offer, asked, files, folder} = cacheOf(t);
	const archive = await anArchive(t, 'once', 5_000);
	offer(archive);
	const cache = open();
	const file = await cache.ensure(archive.digest);
	t.is(file, path.join(folder, `${archive.hex}.tar.gz`));
	t.deepEqual(readFileSync(file), archive.bytes);
	t.is(statSync(file).mode & 0o777, 0o600);
	t.is(statSync(folder).mode & 0o777, 0o700);
	await cache.ensure(archive.digest);
	t.is(await open().ensure(archive.digest), file);
	t.deepEqual([asked.length, files()], [1, [path.basename(file)]]);
});

test('pods that start together share one download, and an error of it does not stay', async t => {
	const {open, source, offer, asked} = cacheOf(t);
	const archive = await anArchive(t, 'together');
	source[archive.digest] = () => Promise.resolve(failed('ERR_NOT_REACHABLE', {message: 'no server answers'}));
	const cache = open();
	const outcomes = await Promise.allSettled([cache.ensure(archive.digest), cache.ensure(archive.digest)]);
	t.deepEqual(
		outcomes.map(({status}) => status),
		['rejected', 'rejected'],
	);
	t.is(asked.length, 1);
	offer(archive);
	await Promise.all([1, 2, 3].map(() => cache.ensure(archive.digest)));
	t.is(asked.length, 2);
});

test('what comes as code and is not it is refused in plain words, and leaves nothing', async t => {
	const {open, source, files} = cacheOf(t);
	const [right, wrong] = [await anArchive(t, 'right'), await anArchive(t, 'wrong')];
	const cache = open();
	const offered = (pieces: AsyncIterable<Uint8Array>): void => void (source[right.digest] = () => Promise.resolve(succeeded(pieces)));
	async function* broken(): AsyncGenerator<Uint8Array> {
		yield await Promise.resolve(right.bytes.subarray(0, 20));
		throw Object.assign(new Error('read ECONNRESET'), {code: 'ECONNRESET', syscall: 'read'});
	}
	async function* endless(): AsyncGenerator<Uint8Array> {
		for (;;) yield await Promise.resolve(Buffer.alloc(8_388_608));
	}
	const wrongs: readonly (readonly [AsyncIterable<Uint8Array>, RegExp])[] = [
		[inPieces(wrong.bytes), /^ERR_RUNTIME what came as the code sha256:\w+ is not it: the archive has the digest/],
		[inPieces(right.bytes.subarray(0, 30)), /^ERR_RUNTIME .* ends too early/],
		[inPieces(Buffer.alloc(0)), /^ERR_RUNTIME what came/],
		[inPieces(Buffer.from('<html>')), /^ERR_RUNTIME .*no archive/],
		[broken(), /^ERR_NOT_REACHABLE the code sha256:\w+ cannot be fetched: read ECONNRESET/],
		[endless(), /^ERR_RUNTIME .* is larger than 67108864 bytes/],
	];
	for (const [pieces, said] of wrongs) {
		offered(pieces);
		t.regex(await failureOf(t, cache.ensure(right.digest)), said);
		t.deepEqual(files(), []);
	}
	t.regex(
		await failureOf(t, cache.ensure(wrong.digest)),
		/^ERR_CONFIG_MISSING .* is not in the cluster, or no pod of this node is run from it/,
	);
	source[right.digest] = () => Promise.reject(new Error('a bug'));
	t.regex(await failureOf(t, cache.ensure(right.digest)), /^ERR_NOT_REACHABLE .*a bug/);
	for (const word of ['', 'x', '../../etc/passwd', `sha256:${'A'.repeat(64)}`])
		t.regex(await failureOf(t, cache.ensure(word)), /^ERR_RUNTIME ".*" is no digest/);
});

test('a file that was changed, cut or lost is fetched again', async t => {
	const {open, offer, asked, folder} = cacheOf(t);
	const archive = await anArchive(t, 'changed', 5_000);
	offer(archive);
	const file = await open().ensure(archive.digest);
	const changed = Buffer.from(archive.bytes);
	changed.writeUInt8((changed[2_000] ?? 0) ^ 1, 2_000);
	const harms: readonly (() => void)[] = [() => writeFileSync(file, changed), () => truncateSync(file, 100), () => rmSync(file)];
	for (const [at, harm] of harms.entries()) {
		harm();
		t.deepEqual(readFileSync(await open().ensure(archive.digest)), archive.bytes);
		t.is(asked.length, at + 2);
	}
	const cache = open();
	await cache.ensure(archive.digest);
	rmSync(file);
	t.deepEqual(readFileSync(await cache.ensure(archive.digest)), archive.bytes, 'also when it was verified before');
	writeFileSync(path.join(folder, '.half.tar.gz'), 'x');
	writeFileSync(path.join(folder, 'notes'), 'x');
	open();
	t.deepEqual(readdirSync(folder).toSorted(), [path.basename(file), 'notes'].toSorted());
});

test('the code that was used least recently goes first, and none that is in use', async t => {
	const archives = await Promise.all(['a', 'b', 'c', 'd'].map(word => anArchive(t, word, 10_000)));
	const [a, b, c, d] = archives as [(typeof archives)[0], (typeof archives)[0], (typeof archives)[0], (typeof archives)[0]];
	const bytes = 2 * Math.max(...archives.map(each => each.bytes.length)) + 100;
	const {open, offer, clock, files, folder} = cacheOf(t, {bytes});
	offer(...archives);
	let cache = open();
	const names = (...kept: readonly {readonly hex: string}[]): readonly string[] => kept.map(({hex}) => `${hex}.tar.gz`).toSorted();
	await cache.ensure(a.digest);
	clock.advance(1_000);
	await cache.ensure(b.digest);
	t.regex(await failureOf(t, cache.ensure(c.digest)), /^ERR_RUNTIME there is no room for the code .* all of it is in use/);
	t.deepEqual(files(), names(a, b));
	clock.advance(limits.artifactInUseMs);
	await cache.ensure(a.digest);
	await cache.ensure(c.digest);
	t.deepEqual(files(), names(a, c));
	clock.advance(limits.artifactInUseMs);
	await cache.ensure(c.digest);
	cache = createArtifactCache({folder, clock, bytes, fetch: () => Promise.resolve(succeeded(inPieces(d.bytes)))});
	clock.advance(limits.artifactInUseMs);
	await cache.ensure(d.digest);
	t.deepEqual(files(), names(c, d), 'the next agent knows when they were used');
});

test('a folder that cannot be written to is told in plain words', async t => {
	const {open, offer, folder} = cacheOf(t);
	const archive = await anArchive(t, 'nowhere');
	offer(archive);
	const cache = open();
	rmSync(folder, {recursive: true});
	t.regex(await failureOf(t, cache.ensure(archive.digest)), /^ERR_RUNTIME the code sha256:\w+ cannot be kept: .*does not exist/);
});
