import test from 'ava';
import {limits} from '../../../api/limits.js';
import {Journal} from '../../../system/commit/journal.js';
import {recordAt, recordKey, recordWorld} from './record-world.js';

const entry = (version: number, atMs = 0) => ({version, atMs, type: 'write', from: 'troupe://control/x', cause: `cause ${version}`});

test('the journal keeps the last commits of each object, oldest first', t => {
	const journal = new Journal();
	for (let version = 1; version <= limits.journalEntries + 10; version++) journal.add('pods/default/web', entry(version), false);
	journal.add('pods/default/other', entry(1_000), false);
	const versions = journal.of('pods/default/web').map(({version}) => version);
	t.is(versions.length, limits.journalEntries);
	t.is(versions[0], 11);
	t.is(versions.at(-1), limits.journalEntries + 10);
	t.is(journal.of('pods/default/other').length, 1);
	t.deepEqual(journal.of('pods/default/nobody'), []);
});

test('a removed object is remembered for an hour, one that came back for good', t => {
	const journal = new Journal();
	journal.add('pods/default/gone', entry(1, 0), false);
	journal.add('pods/default/gone', entry(2, 0), true);
	journal.add('pods/default/back', entry(3, 0), true);
	journal.add('pods/default/back', entry(4, 10), false);
	journal.add('pods/default/x', entry(5, limits.journalTtlMs - 1), false);
	t.is(journal.of('pods/default/gone').length, 2);
	journal.add('pods/default/x', entry(6, limits.journalTtlMs), false);
	t.deepEqual(journal.of('pods/default/gone'), []);
	t.is(journal.of('pods/default/back').length, 2);
});

test('of too many removed objects, those removed first are forgotten', t => {
	const journal = new Journal();
	journal.add('pods/default/here', entry(1), false);
	const gone = Array.from({length: limits.goneObjects + 10}, (_, index) => `pods/default/gone-${index}`);
	for (const key of gone) journal.add(key, entry(2), true);
	t.deepEqual(
		gone.filter(key => journal.of(key).length === 0),
		gone.slice(0, 10),
	);
	t.is(journal.of('pods/default/here').length, 1);
});

test('of very many objects each keeps its last few commits, those that changed last more of them', t => {
	const journal = new Journal();
	const count = Math.ceil(limits.journalEntriesMore / (limits.journalEntries - limits.journalEntriesKept)) + 10;
	const keys = Array.from({length: count}, (_, at) => `runs/default/r${at}`);
	for (const key of keys) for (let version = 1; version <= limits.journalEntries + 5; version++) journal.add(key, entry(version), false);
	const kept = keys.map(key => journal.of(key).length);
	t.is(kept[0], limits.journalEntriesKept);
	t.is(journal.of(keys[0] ?? '').at(-1)?.version, limits.journalEntries + 5);
	t.is(kept.at(-1), limits.journalEntries);
	t.true(kept.reduce((sum, each) => sum + each, 0) <= limits.journalEntriesMore + count * limits.journalEntriesKept);
	// What is gone counts no more.
	for (const key of keys.slice(-limits.journalEntriesKept)) journal.add(key, entry(100, 0), true);
	journal.add('runs/default/r0', entry(101, limits.journalTtlMs), false);
	for (let version = 0; version < limits.journalEntries; version++)
		journal.add('runs/default/new', entry(version, limits.journalTtlMs), false);
	t.is(journal.of(keys.at(-10) ?? '').length, limits.journalEntries);
});

test('every commit has its cause, sender and message type, copied from the door through everything that follows', t => {
	const world = recordWorld();
	world.create({name: 'web'});
	world.create({name: 'other'});
	world.durable.system.tell(
		recordAt('web'),
		{type: 'act', effects: [{type: 'update', key: recordKey('other'), message: {type: 'write'}, id: '1'}]} as never,
		'kubectl scale by admin',
	);
	world.run();
	t.like(world.durable.journal.of(recordKey('other')).at(-1), {
		cause: 'kubectl scale by admin',
		from: recordAt('web'),
		type: 'write',
		version: world.durable.index.entry(recordKey('other'))?.version,
		atMs: world.clock.nowMs(),
	});
	t.like(world.durable.journal.of(recordKey('other'))[0], {cause: 'test', type: 'init'});
});

test('the cause of a write that failed is not the cause of a later one', t => {
	const world = recordWorld();
	world.create({name: 'web'});
	world.refuse(1);
	world.durable.system.tell(recordAt('web'), {type: 'write'}, 'the failed one');
	world.run();
	world.durable.system.tell(recordAt('web'), {type: 'write'}, 'the good one');
	world.run();
	t.deepEqual(
		world.durable.journal.of(recordKey('web')).map(({cause}) => cause),
		['test', 'the good one'],
	);
});

test('an object that is gone can still be explained', t => {
	const world = recordWorld();
	world.create({name: 'web'});
	world.answer('web', {type: 'remove'});
	t.deepEqual(
		world.durable.journal.of(recordKey('web')).map(({type}) => type),
		['init', 'remove'],
	);
});
