import test from 'ava';
import {limits} from '../../../api/limits.js';
import type {Effect} from '../../../system/kernel/behavior.js';
import {lettersOf} from './actor-world.js';
import {objectOf, recordAt, recordKey, recordWorld} from '../commit/record-world.js';
import {nodeAt} from './actor-tree.js';

const farTell = (type: string): Effect => ({type: 'tell', to: 'troupe://far/x', message: {type}});

const withRecord = (name = 'web') => {
	const world = recordWorld();
	world.create({name});
	return world;
};

test('an asker hears of a write once it is durable, with the object as committed', t => {
	const world = withRecord();
	world.hold();
	const outcomes = world.ask('web', {type: 'write', spec: {image: 'a'}});
	world.run();
	t.deepEqual(outcomes, []);
	t.is(world.durable.index.get(recordKey('web'))?.metadata.generation, 1);
	world.release();
	t.like(objectOf(outcomes[0]), {spec: {image: 'a'}, metadata: {generation: 2, resourceVersion: '2'}});
	t.is(world.durable.index.get(recordKey('web')), objectOf(outcomes[0]));
});

test('a cell whose commit is in flight takes no further message, and then takes them in order', t => {
	const world = withRecord();
	world.hold();
	world.ask('web', {type: 'write', spec: {n: 1}});
	const reads = [world.ask('web', {type: 'get'}), world.ask('web', {type: 'write', spec: {n: 2}}), world.ask('web', {type: 'get'})];
	world.run();
	t.deepEqual(reads, [[], [], []]);
	t.is(nodeAt(world.durable.system, recordAt('web'))?.state, 'committing');
	world.release();
	t.deepEqual(
		reads.map(([outcome]) => objectOf(outcome).spec),
		[{n: 1}, {n: 2}, {n: 2}],
	);
});

test('others go on while a commit is in flight', t => {
	const world = withRecord();
	world.create({name: 'other'});
	world.hold();
	world.ask('web', {type: 'write', spec: {n: 1}});
	const read = world.ask('other', {type: 'get'});
	world.run();
	t.true(read[0]?.ok);
});

test('effects are held until the commit, and are dropped with it', t => {
	const world = withRecord();
	world.hold();
	world.ask('web', {type: 'write', spec: {n: 1}, effects: [farTell('after n 1')]});
	world.run();
	t.deepEqual(world.far, []);
	world.release();
	t.deepEqual(world.far, ['after n 1']);
	world.refuse(1);
	world.answer('web', {type: 'write', spec: {n: 2}, effects: [farTell('after n 2')]});
	t.deepEqual(world.far, ['after n 1']);
});

test('a step that changes nothing commits nothing, and its effects run at once', t => {
	const world = withRecord();
	const batches = world.batches();
	world.hold();
	const outcomes = world.ask('web', {type: 'act', effects: [farTell('at once')]});
	world.run();
	t.is(world.batches(), batches);
	t.deepEqual(world.far, ['at once']);
	t.deepEqual(outcomes, []);
});

test('a commit that fails answers the asker with ERR_STORE, drops the candidate and is told to the actor', t => {
	const world = withRecord();
	world.refuse(1);
	t.like(world.answer('web', {type: 'write', spec: {n: 1}}), {ok: false, error: {code: 'ERR_STORE'}});
	t.like(objectOf(world.answer('web', {type: 'get'})), {spec: {}, metadata: {generation: 1, resourceVersion: '1'}});
	t.deepEqual(world.answer('web', {type: 'getSeen'}), {ok: true, value: ['reconciled', 'signal commitFailed', 'pending 0']});
	t.like(objectOf(world.answer('web', {type: 'write', spec: {n: 2}})), {metadata: {generation: 2}});
	t.is(world.durable.system.counters.crashes, 0);
});

test('an actor whose first commit fails ends, and its name is free', t => {
	const world = recordWorld();
	world.refuse(1);
	t.like(world.create({name: 'web'})[0], {ok: false, error: {code: 'ERR_STORE'}});
	t.deepEqual(world.far, [`down ${recordAt('web')} crashed`]);
	t.true(world.create({name: 'web'})[0]?.ok);
});

test('a create that throws ends the actor, tells its asker and leaves nothing', t => {
	const world = recordWorld();
	const outcomes = world.create({name: 'web', throws: 'a bug in init'});
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_ACTOR_CRASHED'}});
	t.is(world.durable.system.size, 1);
	t.is(world.durable.index.size, 0);
	t.deepEqual(world.far, [`down ${recordAt('web')} crashed`]);
});

test('the removal of its object ends the actor, after its effects', t => {
	const world = withRecord();
	const waits = world.ask('web', {type: 'remove', effects: [farTell('removed')]});
	const late = world.ask('web', {type: 'get'});
	world.run();
	t.like(objectOf(waits[0]), {metadata: {name: 'web'}});
	t.like(late[0], {ok: false, error: {code: 'ERR_ACTOR_STOPPED'}});
	t.deepEqual(world.far, ['removed', `down ${recordAt('web')} normal`]);
	t.is(world.durable.index.size, 0);
});

test('an event in the step that removes the object is kept', t => {
	const world = withRecord();
	world.answer('web', {type: 'remove', effects: [{type: 'event', event: 'Normal', reason: 'Removed', message: 'as asked'}]});
	t.deepEqual(
		world.durable.events.of(recordKey('web')).map(({reason}) => reason),
		['Removed'],
	);
});

test('a crash brings the state back from the snapshot: what was not committed is gone', t => {
	const world = withRecord();
	world.answer('web', {type: 'write', spec: {n: 1}});
	world.answer('web', {type: 'note', text: 'volatile'});
	t.like(world.answer('web', {type: 'boom'}), {ok: false, error: {code: 'ERR_ACTOR_CRASHED'}});
	world.pass(0);
	t.like(objectOf(world.answer('web', {type: 'get'})), {spec: {n: 1}, metadata: {generation: 2}});
	t.deepEqual(world.answer('web', {type: 'getSeen'}), {ok: true, value: ['resumed', 'reconciled', 'pending 0']});
});

test('a bug in the effects of a committed step harms its actor, not the batch it was in', t => {
	const world = withRecord();
	world.create({name: 'other'});
	world.hold();
	const spoilt: Effect = {type: 'spawn', name: 'child', behavior: 'nobody'};
	const first = world.ask('web', {type: 'write', spec: {n: 1}, effects: [spoilt]});
	const second = world.ask('other', {type: 'write', spec: {n: 1}});
	world.run();
	world.release();
	t.like(first[0], {ok: false, error: {code: 'ERR_ACTOR_CRASHED'}});
	t.true(second[0]?.ok);
	world.pass(0);
	t.like(objectOf(world.answer('web', {type: 'get'})), {spec: {n: 1}}, 'it was committed all the same');
});

// ---- stops and crashes that meet a commit -----------------------------------------------------------------------------------

test('a stop waits for the commit in flight, whose asker gets the outcome', t => {
	const world = withRecord();
	world.hold();
	const write = world.ask('web', {type: 'write', spec: {n: 1}});
	const late = world.ask('web', {type: 'get'});
	world.run();
	world.tellRoot({type: 'act', effects: [{type: 'stopChild', name: 'web'}]});
	t.is(nodeAt(world.durable.system, recordAt('web'))?.state, 'stopping');
	world.release();
	t.true(write[0]?.ok);
	t.like(late[0], {ok: false, error: {code: 'ERR_ACTOR_STOPPED'}});
	t.is(nodeAt(world.durable.system, recordAt('web')), undefined);
});

test('the deadline of a stop ends the wait for a store that does not answer', t => {
	const world = withRecord();
	world.hold();
	world.ask('web', {type: 'write', spec: {n: 1}});
	world.run();
	let stopped = 0;
	world.durable.system.stop(() => stopped++);
	world.pass(limits.shutdownMs - 1);
	t.is(stopped, 0);
	world.pass(100);
	t.is(stopped, 1);
	world.release();
	t.is(world.durable.system.size, 0);
});

test('the system waits for a child that somebody else stops already', t => {
	const world = withRecord();
	world.create({name: 'other'});
	world.hold();
	const write = world.ask('web', {type: 'write', spec: {n: 1}});
	world.run();
	world.tellRoot({type: 'act', effects: [{type: 'stopChild', name: 'web'}]});
	let stopped = 0;
	world.durable.system.stop(() => stopped++);
	world.durable.system.stop(() => stopped++);
	t.is(stopped, 0);
	world.release();
	t.is(stopped, 2);
	t.true(write[0]?.ok);
});

test('the crash of a child past its intensity waits for the commit of its supervisor', t => {
	const world = withRecord();
	world.answer('web', {type: 'act', effects: [{type: 'spawn', name: 'hand', behavior: 'puppet', input: {}, restart: 'permanent'}]});
	world.hold();
	const write = world.ask('web', {type: 'write', spec: {n: 1}});
	world.run();
	const crashes = limits.restartIntensity + 1;
	for (let crash = 0; crash < crashes; crash++) {
		world.durable.system.tell(`${recordAt('web')}/hand`, {type: 'act', play: {throws: 'bug'}} as never, 'test');
		world.pass(10_000);
	}
	t.is(world.durable.system.counters.crashes, crashes, 'nothing overlaps the commit');
	world.release();
	world.pass(0);
	t.is(world.durable.system.counters.crashes, crashes + 1);
	t.like(objectOf(write[0]), {spec: {n: 1}});
	t.like(objectOf(world.answer('web', {type: 'get'})), {spec: {n: 1}});
	t.is(nodeAt(world.durable.system, recordAt('web'))?.restarts, 1);
});

// ---- writes of others ----------------------------------------------------------------------------------------------------------

test('writes of others are pending until their outcome, and no longer', t => {
	const world = withRecord();
	world.create({name: 'other'});
	world.hold();
	const update: Effect = {type: 'update', key: recordKey('other'), message: {type: 'write'}, id: 'w'};
	const create: Effect = {type: 'create', object: {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'new'}}, id: 'c'};
	const remove: Effect = {type: 'delete', key: recordKey('nobody'), uid: 'x', id: 'd'};
	t.deepEqual(world.answer('web', {type: 'act', effects: [update, update, create]}), undefined);
	t.deepEqual(world.answer('web', {type: 'getSeen'}), {ok: true, value: ['reconciled', 'pending 2']});
	world.release();
	t.deepEqual(world.answer('web', {type: 'getSeen'}), {ok: true, value: ['reconciled', 'outcome ok', 'outcome ok', 'pending 0']});
	world.answer('web', {type: 'act', effects: [remove]});
	const seen = world.answer('web', {type: 'getSeen'});
	t.deepEqual(seen, {ok: true, value: ['reconciled', 'outcome ok', 'outcome ok', 'outcome ERR_NO_SUCH_ACTOR', 'pending 0']});
	t.true(world.durable.index.get(recordKey('new')) !== undefined);
});

test('another answer of the same id does not settle a pending write', t => {
	const world = withRecord();
	world.create({name: 'other'});
	world.hold();
	const update: Effect = {type: 'update', key: recordKey('other'), message: {type: 'write'}, id: '1'};
	const ask: Effect = {type: 'ask', to: recordAt('nobody'), message: {type: 'get'}, as: 'looked', id: '1'};
	world.answer('web', {type: 'act', effects: [update, ask]});
	t.deepEqual(world.answer('web', {type: 'getSeen'}), {ok: true, value: ['reconciled', 'looked ERR_NO_SUCH_ACTOR', 'pending 1']});
});

test('a crash forgets the pending writes: their outcomes are stale', t => {
	const world = withRecord();
	world.create({name: 'other'});
	world.hold();
	const update: Effect = {type: 'update', key: recordKey('other'), message: {type: 'write'}, id: 'w'};
	world.answer('web', {type: 'act', effects: [update]});
	world.answer('web', {type: 'boom'});
	world.pass(0);
	world.release();
	t.deepEqual(world.answer('web', {type: 'getSeen'}), {ok: true, value: ['resumed', 'reconciled', 'pending 0']});
	t.is(world.durable.system.counters.staleReplies, 1);
	t.deepEqual(
		lettersOf(world).filter(line => !line.includes('crashed')),
		[],
	);
});
