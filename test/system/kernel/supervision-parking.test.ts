import test from 'ava';
import {limits} from '../../../api/limits.js';
import type {ApiObject, JsonObject} from '../../../api/object.js';
import type {LifecycleEvent} from '../../../system/kernel/observer.js';
import type {AnyBehavior} from '../../../system/kernel/behavior.js';
import {objectOf, record, recordAt, recordKey, recordWorld, type RecordWorld} from '../commit/record-world.js';
import {nodeAt} from './actor-tree.js';

const failedOf = (object: ApiObject | undefined): unknown => (object?.status as JsonObject | undefined)?.['failed'];

/** A record whose reconcile throws, tried as often as it takes to be parked. */
function parked(): RecordWorld {
	const world = recordWorld();
	world.create({name: 'web'});
	world.create({name: 'sibling'});
	world.answer('web', {type: 'write', spec: {broken: true}});
	world.pass(400);
	return world;
}

const lifecycle = (world: RecordWorld, type: LifecycleEvent['type']): LifecycleEvent[] =>
	world.lifecycle.filter(event => event.type === type);

test('a bug in what follows from a write neither refuses nor loses the write', t => {
	const world = recordWorld();
	world.create({name: 'web'});
	t.like(objectOf(world.answer('web', {type: 'write', spec: {broken: true}})), {metadata: {generation: 2}});
	t.is(lifecycle(world, 'crashed').length, 1);
});

test('a record that crashes past its intensity is parked: restarted three times, then at rest, its supervisor unharmed', t => {
	const world = parked();
	t.deepEqual(
		world.lifecycle.map(({type}) => type),
		['crashed', 'restarted', 'crashed', 'restarted', 'crashed', 'restarted', 'crashed', 'parked'],
	);
	t.like(world.lifecycle.at(-1), {address: recordAt('web'), retryInMs: limits.actorBackoffFirstMs});
	t.like(nodeAt(world.durable.system, recordAt('web')), {state: 'parked', restarts: 3});
	t.like(nodeAt(world.durable.system, recordAt('sibling')), {state: 'running', restarts: 0});
	t.deepEqual(world.escalations, []);
	t.deepEqual(world.far, []);
});

test('a parked record commits the condition that it has failed, and an event', t => {
	const world = parked();
	t.regex(String(failedOf(world.durable.index.get(recordKey('web')))), /a bug in this kind/);
	t.deepEqual(
		world.durable.events.of(recordKey('web')).map(({type, reason}) => [type, reason]),
		[['Warning', 'ActorFailed']],
	);
});

test('reads, generic writes and removal go on while a record is parked', t => {
	const world = parked();
	t.like(objectOf(world.answer('web', {type: 'get'})), {metadata: {generation: 2}});
	t.like(objectOf(world.answer('web', {type: 'writeStatus', status: {phase: 'told'}})), {status: {phase: 'told'}});
	t.is(nodeAt(world.durable.system, recordAt('web'))?.state, 'parked');
	t.true(world.answer('web', {type: 'remove'})?.ok);
	t.is(world.durable.index.get(recordKey('web')), undefined);
	t.is(nodeAt(world.durable.system, recordAt('web')), undefined);
	world.pass(600_000);
	t.is(lifecycle(world, 'parked').length, 1, 'no retry outlives it');
});

test('what reconciles rests while a record is parked', t => {
	const world = parked();
	const crashes = lifecycle(world, 'crashed').length;
	for (let wake = 0; wake < 10; wake++) {
		world.durable.system.wake(recordAt('web'), {type: 'wake'}, 'test');
		world.run();
	}
	t.is(lifecycle(world, 'crashed').length, crashes);
});

test('a parked record is tried again after 1 s, doubling to 5 min, for ever', t => {
	const world = parked();
	const waits: number[] = [];
	for (let retry = 0; retry < 12; retry++) {
		const fromMs = world.clock.nowMs();
		const count = lifecycle(world, 'parked').length;
		while (lifecycle(world, 'parked').length === count) {
			world.clock.fireNext();
			world.run();
		}
		waits.push(world.clock.nowMs() - fromMs);
	}
	const seconds = waits.map(ms => Math.round(ms / 1_000));
	t.deepEqual(seconds, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
	t.is(lifecycle(world, 'parked').length, 13);
	t.deepEqual(world.escalations, []);
});

test('a retry writes nothing while nothing has changed', t => {
	const world = parked();
	const batches = world.batches();
	const {version} = world.durable.index;
	world.pass(limits.actorBackoffFirstMs);
	t.is(lifecycle(world, 'parked').length, 2);
	t.is(world.durable.index.entry(recordKey('web'))?.version, version);
	t.is(world.batches(), batches);
});

test('a spec write is tried at once: when it mends the bug, the condition goes', t => {
	const world = parked();
	const outcome = world.answer('web', {type: 'write', spec: {broken: false}});
	t.like(objectOf(outcome), {spec: {broken: false}});
	t.is(lifecycle(world, 'unparked').length, 1);
	t.is(failedOf(world.durable.index.get(recordKey('web'))), undefined);
	t.is(nodeAt(world.durable.system, recordAt('web'))?.state, 'running');
	world.pass(600_000);
	t.is(lifecycle(world, 'parked').length, 1);
});

test('a spec write that does not mend the bug is committed and answered; the record stays parked', t => {
	const world = parked();
	const outcome = world.answer('web', {type: 'write', spec: {broken: true, n: 1}});
	t.like(objectOf(outcome), {spec: {broken: true, n: 1}, metadata: {generation: 3}});
	t.is(lifecycle(world, 'unparked').length, 0);
	t.is(lifecycle(world, 'parked').length, 2);
	t.like(world.durable.index.get(recordKey('web')), {spec: {n: 1}});
});

test('once unparked, a record has its whole intensity again', t => {
	const world = parked();
	world.answer('web', {type: 'write', spec: {}});
	for (let crash = 0; crash < limits.restartIntensity; crash++) {
		world.answer('web', {type: 'boom'});
		world.pass(1_000);
	}
	t.is(lifecycle(world, 'parked').length, 1);
	world.answer('web', {type: 'boom'});
	t.is(lifecycle(world, 'parked').length, 2);
});

test('a parked record that throws on a message answers with ERR_ACTOR_CRASHED and stays parked', t => {
	const world = parked();
	t.like(world.answer('web', {type: 'boom'}), {ok: false, error: {code: 'ERR_ACTOR_CRASHED'}});
	t.is(nodeAt(world.durable.system, recordAt('web'))?.state, 'parked');
	t.true(world.answer('web', {type: 'get'})?.ok);
});

test('when the end of parking cannot be committed, the record stays parked and tries again', t => {
	const world = parked();
	world.answer('web', {type: 'writeStatus', status: {failed: 'still'}});
	const write = world.ask('web', {type: 'write', spec: {broken: false}});
	// The write itself passes; the step that unparks is refused.
	while (write.length === 0) world.executor.runOne();
	world.refuse(1);
	world.run();
	t.is(lifecycle(world, 'unparked').length, 0);
	t.is(nodeAt(world.durable.system, recordAt('web'))?.state, 'parked');
	t.is(failedOf(world.durable.index.get(recordKey('web'))), 'still');
	world.pass(limits.actorBackoffFirstMs);
	t.is(lifecycle(world, 'unparked').length, 1);
	t.is(failedOf(world.durable.index.get(recordKey('web'))), undefined);
});

test('a condition that cannot be committed leaves the record parked, not crashed once more', t => {
	const world = recordWorld();
	world.create({name: 'web'});
	world.answer('web', {type: 'write', spec: {broken: true}});
	world.refuse(1);
	world.pass(400);
	t.is(nodeAt(world.durable.system, recordAt('web'))?.state, 'parked');
	t.is(failedOf(world.durable.index.get(recordKey('web'))), undefined);
	t.is(lifecycle(world, 'crashed').length, 4);
	world.pass(limits.actorBackoffFirstMs);
	t.regex(String(failedOf(world.durable.index.get(recordKey('web')))), /a bug/, 'the next try writes it');
});

test('a restart of the process tries a parked record afresh', t => {
	const world = parked();
	world.kill();
	const again = recordWorld({data: world.data, clock: world.clock});
	t.is(lifecycle(again, 'crashed').length, 1);
	again.pass(400);
	t.is(lifecycle(again, 'parked').length, 1);
	t.like(objectOf(again.answer('web', {type: 'get'})), {spec: {broken: true}});
});

// ---- a snapshot of which no state can be made ------------------------------------------------------------------------------------

const {persistence, parking} = record as Required<typeof record>;

const torn: AnyBehavior = {
	...record,
	persistence: {
		...persistence,
		restore(object: ApiObject, input: unknown) {
			if ((object.spec as JsonObject)['torn'] === true) throw new Error('this cannot be read');
			return persistence.restore(object, input as never);
		},
	},
	parking: {...parking, forces: (_object: ApiObject, {type}: {readonly type: string}) => type === 'force'},
};

/** A record that crashed and cannot be taken up again. */
function unreadable(): RecordWorld {
	const world = recordWorld({behaviors: {record: torn}});
	world.create({name: 'web', spec: {torn: true}});
	world.create({name: 'sibling'});
	world.answer('web', {type: 'boom'});
	world.pass(400);
	return world;
}

test('a record whose snapshot cannot be restored says so once in an event, can be read, refuses the rest and harms no sibling', t => {
	const world = unreadable();
	t.is(nodeAt(world.durable.system, recordAt('web'))?.state, 'parked');
	world.pass(limits.eventTtlMs / 2);
	t.like(
		world.durable.events.of(recordKey('web')).map(({type, reason, count}) => ({type, reason, count})),
		[{type: 'Warning', reason: 'ActorFailed', count: 1}],
	);
	t.like(world.durable.index.get(recordKey('web')), {spec: {torn: true}});
	for (const type of ['write', 'get', 'remove']) t.like(world.answer('web', {type}), {ok: false, error: {code: 'ERR_ACTOR_CRASHED'}}, type);
	t.true(world.answer('sibling', {type: 'get'})?.ok);
	t.deepEqual(world.escalations, []);
});

test('it can be removed by force, and its name is free', t => {
	const world = unreadable();
	world.refuse(1);
	t.like(world.answer('web', {type: 'force'}), {ok: false, error: {code: 'ERR_STORE'}});
	t.like(objectOf(world.answer('web', {type: 'force'})), {metadata: {name: 'web'}});
	t.is(world.durable.index.get(recordKey('web')), undefined);
	t.is(nodeAt(world.durable.system, recordAt('web')), undefined);
	t.true(world.create({name: 'web'})[0]?.ok);
	world.pass(3_600_000);
	t.is(nodeAt(world.durable.system, recordAt('web'))?.state, 'running');
});

test('once it can be read again it is parked as any other, and then goes on', t => {
	let isTorn = true;
	const mended: AnyBehavior = {
		...torn,
		persistence: {
			...persistence,
			restore(object: ApiObject, input: unknown) {
				if (isTorn) throw new Error('this cannot be read');
				return persistence.restore(object, input as never);
			},
		},
	};
	const world = recordWorld({behaviors: {record: mended}});
	world.create({name: 'web'});
	world.answer('web', {type: 'boom'});
	world.pass(400);
	isTorn = false;
	world.pass(5_000);
	t.is(nodeAt(world.durable.system, recordAt('web'))?.state, 'running');
	t.true(world.answer('web', {type: 'get'})?.ok);
});

test('what rests has a part that goes on', t => {
	const seen: string[] = [];
	const gentle: AnyBehavior = {
		...record,
		parking: {
			...parking,
			meanwhile(state: unknown) {
				seen.push('meanwhile');
				return {state, effects: []};
			},
		},
	};
	const world = recordWorld({behaviors: {record: gentle}});
	world.create({name: 'web'});
	world.answer('web', {type: 'write', spec: {broken: true}});
	world.pass(400);
	world.durable.system.wake(recordAt('web'), {type: 'wake'}, 'test');
	world.run();
	t.deepEqual(seen, ['meanwhile']);
	t.is(nodeAt(world.durable.system, recordAt('web'))?.state, 'parked');
});
