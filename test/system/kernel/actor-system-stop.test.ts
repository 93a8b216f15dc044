import test from 'ava';
import type {Effect} from '../../../system/kernel/behavior.js';
import {actorWorld, at, lettersOf, lifecycleOf} from './actor-world.js';
import {act, getNotes, note, spawnPuppet} from './puppet.js';
import {nodeAt} from './actor-tree.js';

const aTree = () =>
	actorWorld({
		effects: [
			spawnPuppet('first'),
			spawnPuppet('second', {effects: [spawnPuppet('x', {effects: [spawnPuppet('deep')]}), spawnPuppet('y')]}),
			spawnPuppet('third'),
		],
	});

test('a tree stops leaves first, last started first', t => {
	const world = aTree();
	let stopped = 0;
	world.system.stop(() => stopped++);
	t.deepEqual(
		world.log.filter(line => line.endsWith('signal stop')).map(line => line.slice(0, line.indexOf(':'))),
		['third', 'second/y', 'second/x/deep', 'second/x', 'second', 'first', ''],
	);
	t.is(stopped, 1);
	t.is(world.system.size, 0);
	t.is(world.clock.nextAtMs(), undefined, 'no timer is left');
});

test('a child stops with all that is below it, and its supervisor hears of it once', t => {
	const world = aTree();
	world.act('', {
		effects: [
			{type: 'stopChild', name: 'second'},
			{type: 'stopChild', name: 'nobody'},
		],
	});
	t.deepEqual(world.states(), ['', 'first', 'third']);
	t.deepEqual(
		world.log.filter(line => line.includes('down')),
		[': down second stopped'],
	);
	t.deepEqual(lifecycleOf(world), []);
});

test('an actor that ends by its own will says so, after its effects ran', t => {
	const world = aTree();
	world.act('second/x', {effects: [{type: 'tell', to: at('first'), message: note('goodbye')}], stops: true});
	t.true(world.log.includes('first: note goodbye'));
	t.true(world.log.includes('second: down x normal'));
	t.deepEqual(world.states(), ['', 'first', 'second', 'second/y', 'third']);
});

test('what waits for an actor that stops becomes dead letters, and its askers are told', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	const late = world.ask('a', getNotes);
	world.tell('a', note('unread'));
	world.system.tell(at(''), act({effects: [{type: 'stopChild', name: 'a'}]}), 'test');
	world.system.stop(() => undefined);
	t.like(late[0], {ok: false, error: {code: 'ERR_ACTOR_STOPPED', details: {address: at('a')}}});
	t.deepEqual(lettersOf(world), ['getNotes to a: stopped', 'note to a: stopped', 'act to : stopped']);
});

test('what an actor has sent to itself ends with it and is nobody’s loss', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	world.act('a', {effects: [{type: 'tell', to: at('a'), message: {type: 'wake'}}], stops: true});
	world.system.wake(at('first'), {type: 'wake'}, 'test');
	t.deepEqual(world.deadLetters, []);
});

test('the last effects of an actor run, but it starts nothing any more', t => {
	const lastEffects: Effect[] = [{type: 'tell', to: at('other'), message: note('my will')}, spawnPuppet('heir')];
	const world = actorWorld({effects: [spawnPuppet('other'), spawnPuppet('a', {lastEffects})]});
	world.act('', {effects: [{type: 'stopChild', name: 'a'}]});
	t.true(world.log.includes('other: note my will'));
	t.deepEqual(world.states(), ['', 'other']);
});

test('a stop signal that throws does not keep the actor, nor its supervisor, alive', t => {
	const broken = {
		kind: 'Broken',
		init: () => ({state: null, effects: []}),
		receive: () => ({state: null, effects: []}),
		signal() {
			throw new Error('a bug at the end');
		},
	};
	const world = actorWorld({effects: [{type: 'spawn', name: 'a', behavior: 'broken'}, spawnPuppet('b')]}, {}, {broken});
	let stopped = 0;
	world.system.stop(() => stopped++);
	t.is(stopped, 1);
	t.deepEqual(lifecycleOf(world), ['crashed a']);
	t.true(world.log.includes(': signal stop'));
});

test('a name is free once its actor has ended: the new one gets nothing of what waited for the old', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	world.tell('a', note('for the old one'));
	world.system.tell(at(''), act({effects: [{type: 'stopChild', name: 'a'}, spawnPuppet('a'), spawnPuppet('a')]}), 'test');
	world.executor.runOne();
	world.executor.runOne();
	world.act('a', {note: 'new'});
	t.deepEqual(
		world.log.filter(line => line.startsWith('a:')),
		['a: init', 'a: note for the old one', 'a: signal stop', 'a: init', 'a: new'],
	);
	const [down] = world.log.filter(line => line.includes('down'));
	t.is(down, ': down a stopped');
});

test('stopping while an actor waits for its restart ends it for good', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	for (let crash = 0; crash < 2; crash++) {
		world.act('a', {throws: 'bug'});
		world.pass(0);
	}
	t.is(nodeAt(world.system, at('a'))?.state, 'restarting');
	world.act('', {effects: [{type: 'stopChild', name: 'a'}]});
	world.pass(10_000);
	t.deepEqual(world.states(), ['']);
	t.is(world.clock.nextAtMs(), undefined);
});

test('ten thousand children stop in a moment and without a deep stack', t => {
	const count = 10_000;
	const world = actorWorld({effects: Array.from({length: count}, (_, index) => spawnPuppet(`c${index}`))});
	t.is(world.system.size, count + 1);
	let stopped = 0;
	world.system.stop(() => stopped++);
	t.is(stopped, 1);
	t.is(world.system.size, 0);
	const order = world.log.filter(line => line.endsWith('signal stop'));
	t.is(order[0], `c${count - 1}: signal stop`);
	t.is(order.at(-1), ': signal stop');
});

test('a deep tree stops from its deepest leaf', t => {
	const depth = 200;
	let play = {};
	for (let level = 0; level < depth; level++) play = {effects: [spawnPuppet('d', play)]};
	const world = actorWorld(play);
	t.is(world.system.size, depth + 1);
	world.system.stop(() => undefined);
	const order = world.log.filter(line => line.endsWith('signal stop'));
	t.is(order[0], `${Array.from({length: depth}, () => 'd').join('/')}: signal stop`);
	t.is(order.length, depth + 1);
});

test('after the stop nothing is delivered, and asks are answered', t => {
	const world = aTree();
	const open = world.ask('first', note('no answer to this'));
	world.run();
	world.system.stop(() => undefined);
	t.like(open[0], {ok: false, error: {code: 'ERR_ACTOR_STOPPED'}});
	const late = world.ask('first', getNotes);
	t.like(late[0], {ok: false, error: {code: 'ERR_NO_SUCH_ACTOR'}});
	let again = 0;
	world.system.stop(() => again++);
	t.is(again, 1);
	t.is(world.clock.nextAtMs(), undefined);
});

test('to drop a system runs no last words and leaves no timer', t => {
	const world = aTree();
	world.act('first', {effects: [{type: 'wakeAt', name: 'x', atMs: world.clock.nowMs() + 10, message: note('x')}]});
	world.act('second/y', {throws: 'bug'});
	world.pass(0);
	world.act('second/y', {throws: 'bug'});
	const lines = world.log.length;
	world.system.close();
	world.pass(60_000);
	t.is(world.log.length, lines);
	t.is(world.clock.nextAtMs(), undefined);
});
