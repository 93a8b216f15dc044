import test from 'ava';
import {limits} from '../../../api/limits.js';
import {openDurableSystem, type DurableSystem, type DurableSystemOptions} from '../../../system/commit/durable-system.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {createMemoryStore, emptyMemoryStore} from '../../../system/store/memory-store.js';
import {seededRandom} from '../../../system/time/random.js';
import {createFifo} from '../kernel/actor-world.js';
import {objectOf, recordAt, recordKey, recordWorld, wakeSelf} from './record-world.js';
import {nodeAt} from '../kernel/actor-tree.js';

test('what was acknowledged is there after the process was killed, and its actor lives', t => {
	const world = recordWorld();
	for (const name of ['a', 'b']) world.create({name});
	world.answer('a', {type: 'write', spec: {n: 1}});
	world.answer('b', {type: 'remove'});
	world.kill();
	const again = recordWorld({data: world.data, clock: world.clock});
	t.like(objectOf(again.answer('a', {type: 'get'})), {spec: {n: 1}, metadata: {generation: 2, resourceVersion: '3'}});
	t.deepEqual(again.answer('a', {type: 'getSeen'}), {ok: true, value: ['resumed', 'reconciled', 'pending 0']});
	t.deepEqual([...again.durable.system.addresses()], [recordAt(''), recordAt('a')]);
	t.is(again.durable.index.version, 4);
	t.true(again.durable.pipeline.epoch() > world.durable.pipeline.epoch());
	t.is(again.durable.pipeline.meta.lineage, world.durable.pipeline.meta.lineage);
});

test('what was in flight when the process was killed answers nobody and does no harm', t => {
	const world = recordWorld();
	world.create({name: 'a'});
	world.hold();
	const outcomes = world.ask('a', {type: 'write', spec: {n: 1}});
	world.run();
	world.kill();
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_OUTCOME_UNKNOWN'}});
	world.release();
	world.pass(60_000);
	t.is(outcomes.length, 1);
});

test('everything is loaded before the tree begins', t => {
	const world = recordWorld();
	for (const name of ['a', 'b', 'c']) world.create({name});
	world.kill();
	const again = recordWorld({data: world.data, clock: world.clock, begin: false});
	t.is(again.durable.index.size, 3);
	t.is(again.durable.system.size, 0);
	again.durable.begin();
	again.run();
	t.is(again.durable.system.size, 4);
});

test('a change is in the index, the ring and with whoever listens before the asker hears of it', t => {
	const order: string[] = [];
	const world = recordWorld({
		design: {
			wakesOf: (change, known) => {
				const known1 = known.get(change.key)?.metadata.resourceVersion;
				order.push(`wakes ${change.version}, known ${known1}, heard ${world?.changes.length ?? 0}`);
				return [];
			},
		},
	});
	world.create({name: 'a'});
	world.durable.ring.watch(1, ({version}) => order.push(`ring ${version}`));
	world.durable.system.ask(recordAt('a'), {type: 'write'}, {deadlineMs: 1_000, cause: 'test'}, () => order.push('answer'));
	world.run();
	t.deepEqual(order.slice(1), ['ring 2', 'wakes 2, known 2, heard 2', 'answer']);
});

test('a commit wakes whom it concerns; one wake waits at most', t => {
	const world = recordWorld({
		design: {wakesOf: (change, known) => [...wakeSelf(change, known), {to: recordAt('other'), message: {type: 'wake'}}]},
	});
	world.create({name: 'other'});
	world.create({name: 'a'});
	const seen = (): number =>
		(world.answer('other', {type: 'getSeen'}) as {value: string[]}).value.filter(each => each === 'reconciled').length;
	const before = seen();
	world.hold();
	world.ask('other', {type: 'writeStatus', status: {n: 1}});
	for (let wake = 0; wake < 5; wake++) world.durable.system.wake(recordAt('other'), {type: 'wake'}, 'test');
	world.run();
	t.is(nodeAt(world.durable.system, recordAt('other'))?.waiting, 1);
	world.release();
	t.is(seen() - before, 1);
});

test('a write that says nothing new is no write', t => {
	const world = recordWorld();
	world.create({name: 'a'});
	const batches = world.batches();
	for (let wake = 0; wake < 3; wake++) {
		world.durable.system.wake(recordAt('a'), {type: 'wake'}, 'test');
		world.run();
	}
	world.pass(600_000);
	t.is(world.batches(), batches, 'an idle system does no disk I/O');
});

test('a wake of every record comes round in each period, in slices', t => {
	const world = recordWorld({design: {resync: true}});
	const names = Array.from({length: 50}, (_, index) => `r${index}`);
	for (const name of names) world.create({name});
	const reconciled = (): number[] =>
		names.map(name => (world.answer(name, {type: 'getSeen'}) as {value: string[]}).value.filter(each => each === 'reconciled').length);
	t.deepEqual(new Set(reconciled()), new Set([1]));
	world.pass(limits.resyncMs / 5);
	const some = reconciled().filter(count => count > 1).length;
	t.true(some > 0 && some < names.length, `${some}`);
	world.pass(2 * limits.resyncMs);
	const counts = reconciled();
	t.true(Math.min(...counts) >= 2 && Math.max(...counts) <= 5, counts.join(' '));
	world.stop();
	t.is(world.clock.nextAtMs(), undefined);
});

test('a stop ends the tree, finishes what is being written and is over once', t => {
	const world = recordWorld();
	world.create({name: 'a'});
	world.hold();
	const outcomes = world.ask('a', {type: 'write', spec: {n: 1}});
	world.run();
	t.is(world.stop(), 0);
	world.release();
	t.true(outcomes[0]?.ok);
	t.is(world.durable.pipeline.waiting(), 0);
	t.is(world.clock.nextAtMs(), undefined);
	const again = recordWorld({data: world.data, clock: world.clock});
	t.like(objectOf(again.answer('a', {type: 'get'})), {spec: {n: 1}});
});

test('another writer ends the term: it is told, and writes fail from then on', t => {
	const world = recordWorld();
	world.create({name: 'a'});
	const usurper = recordWorld({data: world.data, clock: world.clock});
	t.like(world.answer('a', {type: 'write', spec: {n: 1}}), {ok: false, error: {code: 'ERR_STORE'}});
	t.is(world.fenced.length, 1);
	t.like(world.answer('a', {type: 'write', spec: {n: 2}}), {ok: false, error: {code: 'ERR_STORE'}});
	t.true(usurper.answer('a', {type: 'write', spec: {n: 3}})?.ok);
	t.like(usurper.durable.index.get(recordKey('a')), {spec: {n: 3}});
});

test('records that are neither objects nor events are handed over, events are taken in', t => {
	const data = emptyMemoryStore();
	const executor = createFifo();
	const records: string[] = [];
	data.bodies.set('/troupe/vault/ca', () => 'sealed');
	data.bodies.set('/troupe/events/pods/default/a', () =>
		JSON.stringify([{type: 'Normal', reason: 'Seen', message: 'x', count: 1, firstAtMs: 0, lastAtMs: 1_700_000_000_000}]),
	);
	let opened: DurableSystem | undefined;
	const options: DurableSystemOptions = {
		name: 'control',
		design: {
			behaviors: {},
			root: 'none',
			termsOf: () => [],
			wakesOf: () => [],
			schemaVersionOf: () => 1,
			upgrade: (_plural, _from, object) => object,
			watched: false,
			resync: false,
		},
		inputOf: () => null,
		driver: createMemoryStore(executor.defer, data),
		executor,
		clock: new ManualClock(),
		random: seededRandom(1),
		onFenced: () => t.fail(),
		onRecord: (key, body) => records.push(`${key} ${body}`),
	};
	openDurableSystem(options, outcome => (opened = outcome.ok ? outcome.value : undefined));
	executor.run();
	t.deepEqual(records, ['/troupe/vault/ca sealed']);
	t.deepEqual(
		opened?.events.of(recordKey('a')).map(({reason}) => reason),
		['Seen'],
	);
});

test('a store that cannot be read does not start', t => {
	const executor = createFifo();
	const outcomes: unknown[] = [];
	openDurableSystem(
		{
			name: 'control',
			design: {
				behaviors: {},
				root: 'none',
				termsOf: () => [],
				wakesOf: () => [],
				schemaVersionOf: () => undefined,
				upgrade: (_plural, _from, object) => object,
				watched: false,
				resync: false,
			},
			inputOf: () => null,
			driver: createMemoryStore(executor.defer, {meta: undefined, bodies: new Map([['/troupe/registry/pods/default/a', () => 'torn']])}),
			executor,
			clock: new ManualClock(),
			random: seededRandom(1),
			onFenced: () => t.fail(),
		},
		outcome => outcomes.push(outcome),
	);
	executor.run();
	t.is(outcomes.length, 1);
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_INTERNAL'}});
});
