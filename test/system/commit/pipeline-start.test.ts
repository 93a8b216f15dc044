import test from 'ava';
import {createMemoryStore, emptyMemoryStore, type MemoryStoreData} from '../../../system/store/memory-store.js';
import type {StoreDriver} from '../../../system/store/store.js';
import {createWorld, podKey, start, startedPipeline} from './pipeline-world.js';

const meta = {version: 10, epoch: 3, lineage: 'first'};
const recordKey = '/troupe/registry/pods/default/a';

function holding(bodies: Record<string, string>): MemoryStoreData {
	const data = emptyMemoryStore();
	data.meta = meta;
	for (const [key, body] of Object.entries(bodies)) data.bodies.set(key, () => body);
	return data;
}

const podBody = (over: Record<string, unknown> = {}, schemaVersion = 1): string =>
	`{"schemaVersion":${schemaVersion}}\n${JSON.stringify({apiVersion: 'v1', kind: 'Pod', metadata: {name: 'a', uid: 'u', resourceVersion: '4', ...over}})}`;

const startOver = (data: MemoryStoreData, over: Parameters<typeof start>[2] = {}, wrap = (driver: StoreDriver): StoreDriver => driver) => {
	const world = createWorld(2_000);
	return start(world, wrap(createMemoryStore(world.defer, data)), over);
};

/** The message of a start that must fail. */
function problemOf(data: MemoryStoreData, over: Parameters<typeof start>[2] = {}): string {
	const {outcome} = startOver(data, over);
	return outcome.ok ? 'it started' : outcome.error.message;
}

test('an empty store gets a lineage and an epoch of unix seconds', t => {
	const {outcome} = startOver(emptyMemoryStore());
	t.true(outcome.ok);
	t.deepEqual(outcome.ok ? {...outcome.value.meta, lineage: ''} : undefined, {version: 0, epoch: 2, lineage: ''});
	t.true(outcome.ok && outcome.value.meta.lineage.startsWith('uuid-'));
});

test('an epoch is always above the one before, whatever the clock says', t => {
	const {outcome} = startOver(holding({}));
	t.deepEqual(outcome.ok ? outcome.value.meta : undefined, {...meta, epoch: 4});
});

test('a restored store, which has no lineage, gets a new one', t => {
	const data = holding({});
	data.meta = {...meta, lineage: ''};
	const {outcome} = startOver(data);
	t.true(outcome.ok && outcome.value.meta.lineage.startsWith('uuid-'));
});

test('the epoch is written before anything is read', t => {
	const seen: string[] = [];
	startOver(holding({[recordKey]: podBody()}), {}, driver => ({
		...driver,
		commit(batch, done) {
			seen.push(`epoch ${batch.next.epoch}`);
			driver.commit(batch, done);
		},
		load(prefix, done) {
			seen.push(`load ${prefix}`);
			driver.load(prefix, done);
		},
	}));
	t.deepEqual(seen, ['epoch 4', 'load /troupe/']);
});

test('a start that cannot write its epoch loads nothing and fails', t => {
	for (const type of ['failed', 'unknown', 'fenced'] as const) {
		const {outcome, index} = startOver(holding({[recordKey]: podBody()}), {}, driver => ({
			...driver,
			commit: (_batch, done) => driver.readMeta(() => done({type, message: 'disk full'})),
		}));
		t.is(outcome.ok ? undefined : outcome.error.code, 'ERR_STORE');
		t.is(index.size, 0);
	}
});

test('objects are in the index and other records are handed on before the start is over', t => {
	const events = '/troupe/events/pods/default/a';
	const {outcome, index, records} = startOver(holding({[recordKey]: podBody(), [events]: 'events', '/troupe/vault/ca': 'sealed'}));
	t.true(outcome.ok);
	t.is(index.get(podKey('a'))?.metadata.resourceVersion, '4');
	t.is(index.version, 10);
	t.deepEqual(records, [
		[events, 'events'],
		['/troupe/vault/ca', 'sealed'],
	]);
});

test('a watch cannot continue from before the start', t => {
	const {outcome} = startOver(holding({}));
	t.deepEqual(outcome.ok ? outcome.value.ring.watch(4, () => undefined) : undefined, {ok: false, oldest: 10});
	t.true(outcome.ok && outcome.value.ring.watch(10, () => undefined).ok);
});

test('the bytes that were stored are the bytes that are listed', t => {
	const {index} = startOver(holding({[recordKey]: podBody()}));
	t.is(index.entry(podKey('a'))?.json(), podBody().split('\n')[1]);
});

test('a record of an older schema is upgraded', t => {
	const upgrade = (plural: string, from: number, object: {metadata: object}) => ({...object, spec: {plural, from}}) as never;
	const {outcome, index} = startOver(holding({[recordKey]: podBody()}), {schemaVersionOf: () => 3, upgrade});
	t.true(outcome.ok);
	t.deepEqual(index.get(podKey('a'))?.spec, {plural: 'pods', from: 1});
	t.true(index.entry(podKey('a'))?.json().includes('"from":1'));
});

test('a record that cannot be loaded stops the start and is named', t => {
	const named = `the record "${recordKey}" cannot be loaded: `;
	const cases: readonly (readonly [string, string])[] = [
		[podBody({}, 2), 'it was written by a newer version (schema 2, this one reads up to 1)'],
		['{"schemaVersion":1}', 'it has no header line'],
		['{"schemaVersion":0}\n{}', 'its header names no schemaVersion'],
		['null\n{}', 'its header names no schemaVersion'],
		[podBody().slice(0, 60), 'it is not readable as JSON: torn or overwritten'],
		['{"schemaVersion":1}\nnull', 'it is no API object'],
		[podBody({name: 'b'}), 'it is named "b"'],
		[podBody({resourceVersion: 'x'}), 'its resourceVersion is no number'],
		[podBody({resourceVersion: '11'}), "it is newer than the store's counter, 10"],
		[podBody({ownerReferences: 5}), 'it does not fit: '],
	];
	for (const [body, problem] of cases) t.true(problemOf(holding({[recordKey]: body})).startsWith(named + problem), problem);
	t.is(problemOf(holding({'/troupe/registry/ghosts/_/a': podBody()})).split(': ')[1], 'this version of Troupe knows no "ghosts"');
});

test('an upgrade step that throws stops the start with the name of the record', t => {
	const upgrade = (): never => {
		throw new Error('no template');
	};
	t.is(
		problemOf(holding({[recordKey]: podBody()}), {schemaVersionOf: () => 2, upgrade}),
		`the record "${recordKey}" cannot be loaded: it does not fit: no template`,
	);
});

test('what was acknowledged is loaded by the next term, and versions go on rising', t => {
	const {world, write, remove, data, answers} = startedPipeline();
	for (const name of ['a', 'b', 'c']) write(name, {of: name});
	remove('b');
	world.run();
	t.deepEqual(answers.at(-1), ['b', 4]);
	const second = startedPipeline(undefined, data);
	t.deepEqual(
		[...second.index.all()].map(({key, version}) => [key, version]),
		[
			[podKey('a'), 1],
			[podKey('c'), 3],
		],
	);
	second.write('d');
	second.world.run();
	t.deepEqual(second.answers, [['d', 5]]);
});
