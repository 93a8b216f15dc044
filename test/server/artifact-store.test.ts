// Artifacts in a store: over a pipeline and real drivers, and what becomes of those that broke off.

import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {AppError} from '../../api/errors.js';
import {functionAnnotation} from '../../api/function-instance.js';
import {artifactStoreKey, bodyAtLoad, parseArtifactStoreKey, storePrefix} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {storeRecords} from '../../cli/serving/control/store-records.js';
import {createFoundArtifacts, openArtifactStore, type ArtifactStore} from '../../server/artifact-store.js';
import {startArtifactSweep} from '../../server/artifact-sweep.js';
import {startPipeline, type Pipeline} from '../../system/commit/pipeline.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import {openLevelStore} from '../../system/store/level-store.js';
import {createMemoryStore, emptyMemoryStore} from '../../system/store/memory-store.js';
import type {StoreDriver} from '../../system/store/store.js';
import {recordsFrom} from '../../system/store/store-calls.js';
import {systemClock} from '../../system/time/clock.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {systemRandom} from '../../system/time/random.js';
import {anArchive, bytesOf, keptArtifacts} from './_artifacts.js';
import {testCluster} from './cluster.js';

const chunk = limits.artifactChunkBytes;
const code = (error: unknown): string => (error instanceof AppError ? error.code : String(error));

type Opened = {readonly store: ArtifactStore; readonly pipeline: Pipeline; readonly told: readonly string[]};

/** A term over a driver, as a server opens it. */
function termOver(driver: StoreDriver): Promise<Opened> {
	const found = createFoundArtifacts();
	const told: string[] = [];
	return new Promise((resolve, reject) =>
		startPipeline(
			{
				driver,
				index: new ObjectIndex(),
				clock: systemClock,
				random: systemRandom,
				defer: setImmediate,
				onApplied: () => undefined,
				onFenced: () => undefined,
				schemaVersionOf: () => 1,
				upgrade: (_plural, _from, object) => object,
				onRecord: (key, body) => void (found.note(key, body) && told.push(body)),
			},
			outcome => {
				if (!outcome.ok) return reject(AppError.of(outcome.error));
				const pipeline = outcome.value;
				resolve({store: openArtifactStore(found, storeRecords(pipeline, driver), systemClock), pipeline, told});
			},
		),
	);
}

type Rig = {readonly open: () => Promise<StoreDriver>; readonly isOnDisk: boolean};

const rigs: {readonly [name: string]: (t: ExecutionContext) => Rig} = {
	memory() {
		const data = emptyMemoryStore();
		return {open: () => Promise.resolve(createMemoryStore(queueMicrotask, data)), isOnDisk: false};
	},
	level(t) {
		const directory = mkdtempSync(path.join(tmpdir(), 'troupe-artifacts-'));
		let last: StoreDriver | undefined;
		t.teardown(async () => {
			await last?.close();
			rmSync(directory, {recursive: true, force: true});
		});
		return {
			async open() {
				await last?.close();
				return (last = await openLevelStore(directory));
			},
			isOnDisk: true,
		};
	},
};

for (const [name, rig] of Object.entries(rigs)) {
	test(`${name}: an artifact is there after the end of the process, byte by byte`, async t => {
		const {open} = rig(t);
		const archive = await anArchive(t, 'kept', 2 * chunk + 5);
		const first = await termOver(await open());
		t.false(first.store.has(archive.digest));
		t.true(await first.store.put(archive.digest, archive.bytes));
		t.false(await first.store.put(archive.digest, archive.bytes), 'the same again is not written');
		t.deepEqual(await bytesOf(first.store.read(archive.digest)), archive.bytes);

		const second = await termOver(await open());
		t.like(second.store.find(archive.digest), {digest: archive.digest, bytes: archive.bytes.length});
		t.deepEqual(await bytesOf(second.store.read(archive.digest)), archive.bytes);
		await second.store.remove(archive.digest);
		t.is(second.store.read(archive.digest), undefined);

		const driver = await open();
		const third = await termOver(driver);
		t.deepEqual(third.store.list(), []);
		const left = await recordsFrom(driver, '/troupe/artifacts/');
		t.deepEqual(left.ok && [...left.records], []);
	});

	test(`${name}: an upload that ended with its process counts for nothing, and is cleared away`, async t => {
		const {open} = rig(t);
		const archive = await anArchive(t, 'broken off', 3 * chunk);
		const first = await termOver(await open());
		// All parts but the last record are there.
		await first.store.put(archive.digest, archive.bytes);
		await new Promise(resolve => first.pipeline.put(artifactStoreKey(archive.hex, 'meta'), undefined, resolve));

		const driver = await open();
		const {store} = await termOver(driver);
		t.deepEqual([store.list(), store.read(archive.digest)], [[], undefined]);
		await store.clear();
		const left = await recordsFrom(driver, '/troupe/artifacts/');
		t.deepEqual(left.ok && [...left.records], []);
		t.true(await store.put(archive.digest, archive.bytes));
		t.deepEqual(await bytesOf(store.read(archive.digest)), archive.bytes);
	});
}

test('level: a start keeps no byte of an artifact in memory', async t => {
	const {open} = rigs['level']?.(t) ?? t.fail();
	const archive = await anArchive(t, 'large', 2 * chunk);
	const first = await termOver(await open());
	await first.store.put(archive.digest, archive.bytes);
	const {told} = await termOver(await open());
	t.deepEqual(
		told.filter(body => body !== '').map(body => Object.keys(JSON.parse(body) as object)),
		[['bytes', 'chunks', 'uploadedAtMs']],
	);
	t.is(told.length, Math.ceil(archive.bytes.length / chunk) + 1);
	const driver = await open();
	const one = await recordsFrom(driver, artifactStoreKey(archive.hex, 0));
	const all = await recordsFrom(driver, storePrefix);
	t.true(one.ok && all.ok);
	const [asked] = one.ok ? one.records : [];
	t.is(Buffer.from(asked?.body ?? '', 'base64').compare(archive.bytes.subarray(0, chunk)), 0, 'who asks for one gets it');
	t.true(all.ok && [...all.records].every(({key, body}) => body === bodyAtLoad(key, body)));
});

test('keys of artifacts are told from all others, and none begins another one', t => {
	const hex = 'a'.repeat(64);
	for (const part of ['meta', 0, 7, 255] as const) t.deepEqual(parseArtifactStoreKey(artifactStoreKey(hex, part)), {hex, part});
	for (const key of [
		'/troupe/artifacts/',
		`/troupe/artifacts/${hex}/`,
		`/troupe/artifacts/${hex}/1`,
		`/troupe/artifacts/${hex}/metal`,
		'/troupe/vault/x',
	])
		t.is(parseArtifactStoreKey(key), undefined);
	t.is(bodyAtLoad(artifactStoreKey(hex, 'meta'), 'a'), 'a');
	t.is(bodyAtLoad(artifactStoreKey(hex, 0), 'a'), '');
});

test('what is no archive, or another one, is not kept', async t => {
	const {store, bodies} = keptArtifacts();
	const [one, other] = [await anArchive(t, 'one'), await anArchive(t, 'other')];
	const refusals: readonly (readonly [string, Uint8Array, RegExp])[] = [
		[one.digest, other.bytes, /the archive has the digest sha256:/],
		[one.digest, Buffer.from('no archive'), /this is no archive/],
		[one.digest, one.bytes.subarray(0, -9), /ends too early/],
		[one.digest, Buffer.concat([one.bytes, Buffer.from('x')]), /ends too early|behind the end/],
		[one.digest, Buffer.alloc(0), /./],
	];
	for (const [digest, bytes, said] of refusals) {
		const error = await t.throwsAsync<AppError>(store.put(digest, bytes), {instanceOf: AppError});
		t.regex(error?.message ?? '', said);
		t.is(error?.code, 'ERR_INVALID');
	}
	t.deepEqual([bodies.size, store.list()], [0, []]);
});

test('an upload that the store does not take to its end leaves nothing, then or later', async t => {
	const archive = await anArchive(t, 'refused', 3 * chunk);
	for (const writes of [0, 1, 3, 4]) {
		const {store, bodies, takes, reopen} = keptArtifacts();
		takes(writes);
		t.is(await store.put(archive.digest, archive.bytes).then(() => 'kept', code), 'ERR_STORE');
		t.false(store.has(archive.digest));
		t.is(bodies.size, writes, 'the store takes no removal either');
		takes(Infinity);
		await (writes === 1 ? store : reopen()).clear();
		t.is(bodies.size, 0);
		t.true(await store.put(archive.digest, archive.bytes));
		t.deepEqual(await bytesOf(store.read(archive.digest)), archive.bytes);
	}
});

test('two uploads of the same code at once are one', async t => {
	const {store, bodies} = keptArtifacts();
	const archive = await anArchive(t, 'twice', chunk);
	const both = await Promise.all([store.put(archive.digest, archive.bytes), store.put(archive.digest, archive.bytes)]);
	t.deepEqual(both.toSorted(), [false, true], 'either may be verified first');
	t.is(bodies.size, 3);
});

test('what is uploaded while it is removed is there', async t => {
	const {store} = keptArtifacts();
	const archive = await anArchive(t, 'again', chunk);
	await store.put(archive.digest, archive.bytes);
	const removed = store.remove(archive.digest);
	t.false(store.has(archive.digest));
	const again = store.put(archive.digest, archive.bytes);
	await removed;
	t.true(await again);
	t.deepEqual(await bytesOf(store.read(archive.digest)), archive.bytes);
});

test('an artifact that is removed while it is read ends with an error, and never as a shorter one', async t => {
	const {store} = keptArtifacts();
	const archive = await anArchive(t, 'read', 3 * chunk);
	await store.put(archive.digest, archive.bytes);
	const pieces = store.read(archive.digest)?.[Symbol.asyncIterator]();
	await pieces?.next();
	await store.remove(archive.digest);
	await t.throwsAsync(async () => pieces?.next(), {message: /is not there any more/});
});

test('there are only so many artifacts, and the refusal says what to delete', async t => {
	const {bodies, reopen} = keptArtifacts();
	const fill = (count: number, bytes: number): void => {
		bodies.clear();
		for (let at = 0; at < count; at++) {
			const hex = at.toString(16).padStart(64, '0');
			bodies.set(artifactStoreKey(hex, 0), '');
			bodies.set(artifactStoreKey(hex, 'meta'), JSON.stringify({bytes, chunks: 1, uploadedAtMs: 1}));
		}
	};
	const archive = await anArchive(t, 'one too many');
	const put = (): Promise<unknown> => reopen().put(archive.digest, archive.bytes);
	fill(limits.artifacts, 1);
	t.regex(
		(await t.throwsAsync<AppError>(put()))?.message ?? '',
		/keeps 1000 artifacts .* delete Functions and SlurmJobs, or lower their revisionHistoryLimit/,
	);
	fill(1, limits.artifactsBytes - archive.bytes.length + 1);
	t.is((await t.throwsAsync<AppError>(put()))?.code, 'ERR_TOO_LARGE');
	fill(1, limits.artifactsBytes - archive.bytes.length);
	t.is(await put(), true);
});

test('records that say nothing sensible are leftovers', t => {
	const {bodies, reopen} = keptArtifacts();
	const hex = 'b'.repeat(64);
	bodies.set(artifactStoreKey(hex, 0), 'x');
	const sound = {bytes: 1, chunks: 1, uploadedAtMs: 1};
	for (const body of [
		'',
		'{',
		'null',
		'[]',
		'{}',
		JSON.stringify({...sound, chunks: 2}),
		JSON.stringify({...sound, bytes: -1}),
		JSON.stringify({...sound, chunks: 1e300}),
	]) {
		bodies.set(artifactStoreKey(hex, 'meta'), body);
		t.deepEqual(reopen().list(), [], body);
	}
	bodies.set(artifactStoreKey(hex, 'meta'), JSON.stringify(sound));
	t.is(reopen().list().length, 1);
	bodies.set(artifactStoreKey(hex, 1), 'x');
	t.deepEqual(reopen().list(), [], 'with a part more than it says');
});

// ---- removal -----------------------------------------------------------------------------------------------------------------

const annotated = (artifact: string) => ({
	[functionAnnotation]: JSON.stringify({artifact, runtime: 'python', concurrency: 1, timeoutMs: 1_000}),
});

const anObject = (kind: string, apiVersion: string, spec: ApiObject['spec'], annotations = {}): ApiObject => ({
	apiVersion,
	kind,
	metadata: {name: 'one', namespace: 'default', uid: `u-${kind}`, resourceVersion: '', generation: 1, creationTimestamp: '', annotations},
	spec,
});

const naming: {readonly [what: string]: (digest: string) => ApiObject} = {
	'a Function': artifact => anObject('Function', 'troupe.dev/v1', {artifact, runtime: 'python'}),
	'a version of a Function': artifact => anObject('ReplicaSet', 'apps/v1', {template: {metadata: {annotations: annotated(artifact)}}}),
	'a pod': artifact => anObject('Pod', 'v1', {containers: []}, annotated(artifact)),
};

for (const [what, aNamer] of Object.entries(naming)) {
	test(`an artifact stays as long as ${what} names it, and goes within two hours when nothing does`, async t => {
		const clock = new ManualClock();
		const {store, bodies} = keptArtifacts(clock);
		const cluster = testCluster();
		const [named, unnamed] = [await anArchive(t, 'named'), await anArchive(t, 'unnamed')];
		for (const {digest, bytes} of [named, unnamed]) await store.put(digest, bytes);
		const object = cluster.put(aNamer(named.digest));
		let swept = (): void => undefined;
		const looked = (): Promise<void> => new Promise(resolve => (swept = resolve));
		const first = looked();
		const stop = startArtifactSweep({
			artifacts: store,
			known: cluster.control.index,
			clock,
			onProblem: error => t.fail(String(error)),
			onSwept: () => swept(),
		});
		t.teardown(stop);
		await first;
		t.is(store.list().length, 2, 'what was just uploaded has time to be named');
		const nextHour = async (): Promise<void> => {
			const look = looked();
			clock.advance(limits.artifactSweepMs + 1);
			await look;
		};
		await nextHour();
		t.deepEqual(
			store.list().map(({digest}) => digest),
			[named.digest],
		);
		await nextHour();
		t.true(store.has(named.digest));
		cluster.drop(`${{Function: 'functions', ReplicaSet: 'replicasets', Pod: 'pods'}[object.kind] ?? ''}/default/one`);
		store.want(named.digest);
		await nextHour();
		t.is(bodies.size, 0, 'it was asked for more than an hour ago');
		stop();
		t.is(clock.nextAtMs(), undefined);
	});
}

test('what is asked for is not removed for an hour, and a removal that fails is done by the next look', async t => {
	const clock = new ManualClock();
	const {store, bodies, takes} = keptArtifacts(clock);
	const archive = await anArchive(t, 'asked for');
	await store.put(archive.digest, archive.bytes);
	const problems: unknown[] = [];
	const looked: (() => void)[] = [];
	const sweep = startArtifactSweep({
		artifacts: store,
		known: testCluster().control.index,
		clock,
		onProblem: error => problems.push(error),
		onSwept: () => looked.shift()?.(),
	});
	t.teardown(sweep);
	await new Promise<void>(resolve => looked.push(resolve));
	const next = async (): Promise<void> => {
		const look = new Promise<void>(resolve => looked.push(resolve));
		clock.advance(limits.artifactSweepMs);
		await look;
	};
	clock.advance(limits.artifactSweepMs / 2);
	store.want(archive.digest);
	clock.advance(0);
	const half = new Promise<void>(resolve => looked.push(resolve));
	clock.advance(limits.artifactSweepMs / 2);
	await half;
	t.true(store.has(archive.digest));
	takes(1);
	await next();
	t.false(store.has(archive.digest));
	t.deepEqual(problems.map(code), ['ERR_STORE']);
	t.is(bodies.size, 1);
	takes(Infinity);
	await next();
	t.is(bodies.size, 0);
});
