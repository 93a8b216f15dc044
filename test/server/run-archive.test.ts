// Histories of runs that are over move into files, and go with their runs.

import {randomBytes} from 'node:crypto';
import {existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {Run} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {openRunArchive, type RunArchive, type RunArchiveOptions} from '../../server/workflows/run-archive.js';
import type {Change, Entry} from '../../system/index/object-index.js';
import type {HistoryRange} from '../../system/index/parts.js';
import {ManualClock} from '../../system/time/manual-clock.js';

type Store = {readonly runs: Map<string, Run>; readonly histories: Map<string, readonly string[]>; readonly problems: unknown[]};

const aRun = (name: string, isOver = true): Run => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Run',
	metadata: {
		name,
		namespace: 'default',
		uid: `uid-of-${name}`,
		resourceVersion: '1',
		generation: 1,
		creationTimestamp: '2030-01-01T00:00:00Z',
	},
	spec: {workflow: 'w'},
	status: isOver ? {phase: 'Succeeded', completionTime: '2030-01-01T00:00:01.000Z'} : {phase: 'Running'},
});

const keyOf = ({metadata}: ApiObject): string => `runs/default/${metadata.name}`;

function opened(
	t: ExecutionContext,
	more: Partial<RunArchiveOptions> = {},
	store: Store = {runs: new Map(), histories: new Map(), problems: []},
): Store & {readonly archive: RunArchive; readonly folder: string; readonly clock: ManualClock} {
	const folder = more.folder ?? mkdtempSync(path.join(os.tmpdir(), 'troupe-archive-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const clock = new ManualClock();
	const archive = openRunArchive({
		folder,
		clock,
		known: {
			byUid: uid => [...store.runs.values()].find(({metadata}) => metadata.uid === uid),
			list: () => store.runs.values(),
		},
		rangeOf: key => rangeOf(store.histories.get(key)),
		readHistory: key => inTurn(store.histories.get(key) ?? []),
		dropHistory: key => void store.histories.delete(key),
		onProblem: error => void store.problems.push(error),
		...more,
	});
	t.teardown(archive.close);
	return {...store, archive, folder, clock};
}

const rangeOf = (records: readonly string[] | undefined): HistoryRange | undefined =>
	records === undefined ? undefined : {first: 0, next: records.length};

async function* inTurn(records: readonly string[]): AsyncIterable<string> {
	for (const record of records) yield await Promise.resolve(record);
}

const entry = (object: ApiObject): Entry => ({key: keyOf(object), object, json: () => '', version: 1, previous: 0});

const change = (before: Run | undefined, after: Run | undefined): Change => ({
	key: keyOf((after ?? before) as Run),
	version: 1,
	previous: 0,
	before: before === undefined ? undefined : entry(before),
	after: after === undefined ? undefined : entry(after),
});

const records = (count: number): readonly string[] => Array.from({length: count}, (_, number) => JSON.stringify({number, text: 'ä\\n'}));

test('the history of a run that is over is in a file, and no more in the store', async t => {
	const {archive, runs, histories, folder} = opened(t);
	runs.set('one', aRun('one'));
	histories.set('runs/default/one', records(500));
	archive.hear(change(aRun('one', false), aRun('one')));
	await archive.settled();
	t.false(histories.has('runs/default/one'));
	t.deepEqual(readdirSync(folder), ['uid-of-one.jsonl.gz']);
	t.deepEqual(await archive.read('uid-of-one', 0, 3), records(3));
	t.deepEqual(await archive.read('uid-of-one', 498, 10), records(500).slice(498));
	t.deepEqual(await archive.read('uid-of-one', 500, 10), []);
	t.is(await archive.read('uid-of-two', 0, 10), undefined);
});

test('what was over before it began is taken in, what is under way stays in the store', async t => {
	const store: Store = {
		runs: new Map([
			['one', aRun('one')],
			['two', aRun('two', false)],
		]),
		histories: new Map([
			['runs/default/one', records(2)],
			['runs/default/two', records(2)],
		]),
		problems: [],
	};
	const {archive, folder} = opened(t, {}, store);
	archive.hear(change(aRun('two', false), aRun('two', false)));
	await archive.settled();
	t.deepEqual([...store.histories.keys()], ['runs/default/two']);
	t.deepEqual(readdirSync(folder), ['uid-of-one.jsonl.gz']);
});

test('a file goes with its run, and at a start those of runs that are gone', async t => {
	const {archive, runs, histories, folder} = opened(t);
	runs.set('one', aRun('one'));
	histories.set('runs/default/one', records(2));
	archive.hear(change(aRun('one', false), aRun('one')));
	await archive.settled();
	runs.delete('one');
	archive.hear(change(aRun('one'), undefined));
	await archive.settled();
	t.deepEqual(readdirSync(folder), []);
	writeFileSync(path.join(folder, 'uid-of-gone.jsonl.gz'), '');
	writeFileSync(path.join(folder, 'uid-of-gone.jsonl.gz.new'), '');
	const next = opened(t, {folder});
	await next.archive.settled();
	t.deepEqual(readdirSync(folder), []);
});

test('what cannot be written stays in the store, is told, and is tried again', async t => {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-archive-'));
	rmSync(folder, {recursive: true});
	writeFileSync(folder, 'no folder');
	const store: Store = {runs: new Map([['one', aRun('one')]]), histories: new Map([['runs/default/one', records(2)]]), problems: []};
	const {archive, clock} = opened(t, {folder}, store);
	await archive.settled();
	t.true(store.histories.has('runs/default/one'));
	t.true(store.problems.length > 0);
	const before = store.problems.length;
	clock.advance(limits.runArchiveAgainMs);
	await archive.settled();
	t.true(store.problems.length > before);
});

test('a damaged file is told as what it is', async t => {
	const {archive, folder} = opened(t, {});
	await archive.settled();
	writeFileSync(path.join(folder, 'uid-of-one.jsonl.gz'), 'no gzip at all');
	await t.throwsAsync(archive.read('uid-of-one', 0, 10), {message: /incorrect header/});
});

test('of a history that was leaving the store when the server died the file stays whole, and the rest leaves', async t => {
	const store: Store = {runs: new Map([['one', aRun('one')]]), histories: new Map([['runs/default/one', records(65)]]), problems: []};
	const first = opened(t, {dropHistory: () => undefined}, store);
	await first.archive.settled();
	first.archive.close();
	const dropped: string[] = [];
	const second = opened(
		t,
		{
			folder: first.folder,
			rangeOf: () => ({first: 30, next: 65}),
			readHistory: () => inTurn(records(65).slice(30)),
			dropHistory: key => void dropped.push(key),
		},
		store,
	);
	await second.archive.settled();
	t.deepEqual(dropped, ['runs/default/one']);
	t.deepEqual(await second.archive.read('uid-of-one', 0, 100), records(65));
	t.deepEqual(store.problems, []);
});

test('the rest of a history that was leaving the store for a file of another server stays in the store', async t => {
	const store: Store = {runs: new Map([['one', aRun('one')]]), histories: new Map([['runs/default/one', records(65)]]), problems: []};
	const {archive, folder} = opened(t, {rangeOf: () => ({first: 30, next: 65})}, store);
	await archive.settled();
	t.true(store.histories.has('runs/default/one'));
	t.false(existsSync(path.join(folder, 'uid-of-one.jsonl.gz')));
	t.deepEqual(store.problems, []);
});

test('a run that is deleted and made anew while its history is written loses nothing of the new one', async t => {
	const store: Store = {runs: new Map([['one', aRun('one')]]), histories: new Map([['runs/default/one', records(3)]]), problems: []};
	const again = aRun('one', false);
	async function* remade(): AsyncIterable<string> {
		yield* inTurn(records(3));
		store.runs.set('one', {...again, metadata: {...again.metadata, uid: 'uid-of-another'}});
		store.histories.set('runs/default/one', ['of another']);
	}
	const {archive, folder} = opened(t, {readHistory: remade}, store);
	await archive.settled();
	t.deepEqual(store.histories.get('runs/default/one'), ['of another']);
	t.deepEqual(readdirSync(folder), []);
});

test('records are read as the file takes them, and from it no more than an answer has', async t => {
	// Nothing that a file could keep in less room.
	const large = randomBytes((limits.runHistoryPageBytes / 4) * 0.75).toString('base64');
	const count = 40;
	const store: Store = {
		runs: new Map([['one', aRun('one')]]),
		histories: new Map([['runs/default/one', records(count)]]),
		problems: [],
	};
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-archive-'));
	let isBegun = false;
	async function* read(): AsyncIterable<string> {
		yield* inTurn(Array.from({length: count - 1}, (_, at) => `${large}${at}`));
		isBegun = existsSync(path.join(folder, 'uid-of-one.jsonl.gz.new'));
		yield `${large}${count - 1}`;
	}
	const {archive} = opened(t, {folder, readHistory: read}, store);
	await archive.settled();
	t.true(isBegun);
	t.false(store.histories.has('runs/default/one'));
	const lines = (await archive.read('uid-of-one', 7, 1_000)) ?? [];
	t.deepEqual(
		lines.map(line => line.slice(large.length)),
		['7', '8', '9', '10'],
	);
	t.is((await archive.read('uid-of-one', count - 2, 1_000))?.length, 2);
});
