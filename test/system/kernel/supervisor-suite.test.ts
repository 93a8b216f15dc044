// The situations of OTP's supervisor_SUITE, each with what a supervisor here does. What has no counterpart is left out:
// simple_one_for_one, code change, global names, child specifications that can be malformed (here the compiler looks at them).

import test from 'ava';
import {limits} from '../../../api/limits.js';
import type {Effect, Restart, Shutdown, Strategy} from '../../../system/kernel/behavior.js';
import {at, lifecycleOf} from './actor-world.js';
import {act, getNotes, note, spawnPuppet, type Play} from './puppet.js';
import {strategies, supervisionWorld, supervisor, type SupervisionWorld} from './supervision-world.js';
import {nodeAt} from './actor-tree.js';

const three = (restart: Restart = 'permanent'): Effect[] => ['a', 'b', 'c'].map(name => spawnPuppet(name, {}, restart));

/** A supervisor of a, b and c; what is written down begins once they run. */
function supervised(strategy: Strategy, children: readonly Effect[] = three()): SupervisionWorld {
	const world = supervisionWorld({effects: [supervisor(strategy, children), spawnPuppet('bystander')]});
	world.forget();
	return world;
}

const crash = (world: SupervisionWorld, path: string, waitMs = 1_000): void => {
	world.act(path, {throws: 'a bug'});
	world.pass(waitMs);
};

const startsAndStops = ({log}: SupervisionWorld): readonly string[] =>
	log.filter(line => /: (init|signal stop)$/.test(line)).map(line => line.replace('signal ', '').replace('s/', ''));

const downs = ({log}: SupervisionWorld): readonly string[] => log.filter(line => line.includes(': down'));

const withShutdown = (effect: Effect, shutdownMs: Shutdown): Effect => (effect.type === 'spawn' ? {...effect, shutdownMs} : effect);

// ---- sup_start -----------------------------------------------------------------------------------------------------------------

test('sup_start_normal: children start in the order in which they are named', t => {
	const world = supervisionWorld({effects: [supervisor('oneForOne', three())]});
	t.deepEqual(startsAndStops(world), [': init', 's: init', 'a: init', 'b: init', 'c: init']);
});

test('sup_start_ignore_child: a child that ends in its first step is gone, and the others start', t => {
	const ended: Play = {stops: true};
	const world = supervisionWorld({effects: [supervisor('oneForAll', [spawnPuppet('a', ended), spawnPuppet('b')])]});
	t.deepEqual(world.states(), ['', 's', 's/b']);
	t.deepEqual(downs(world), ['s: down a normal']);
});

test('sup_start_ignore_temporary_child: so is one that is never restarted', t => {
	const world = supervisionWorld({effects: [supervisor('oneForOne', [spawnPuppet('a', {stops: true}, 'temporary')])]});
	t.deepEqual(world.states(), ['', 's']);
	t.deepEqual(lifecycleOf(world), []);
});

test('sup_start_fail: a supervisor that fails to start is its own supervisor’s matter, within the intensity', t => {
	const world = supervisionWorld({effects: [{type: 'spawn', name: 's', behavior: 'oneForAll', input: {throws: 'born broken'}}]});
	world.pass(limits.actorRestartFirstMs * 3);
	const story = lifecycleOf(world);
	const first = story.slice(0, story.indexOf('escalated s') + 2);
	t.is(first.filter(line => line === 'crashed s').length, limits.restartIntensity + 1);
	t.deepEqual(first.slice(-3), ['crashed s', 'escalated s', 'crashed ']);
});

test('sup_start_child_returns_error: a child that fails to start is tried again, and then fails its supervisor', t => {
	for (const strategy of strategies) {
		const world = supervisionWorld({effects: [supervisor(strategy, [spawnPuppet('a'), spawnPuppet('b', {throws: 'born broken'})])]});
		world.pass(limits.actorRestartFirstMs * 3);
		const story = lifecycleOf(world);
		const first = story.slice(0, story.indexOf('escalated s/b') + 2);
		t.is(first.filter(line => line === 'crashed s/b').length, limits.restartIntensity + 1, strategy);
		t.deepEqual(first.slice(-3), ['crashed s/b', 'escalated s/b', 'crashed s'], strategy);
	}
});

// ---- sup_stop ------------------------------------------------------------------------------------------------------------------

const stopS: Play = {effects: [{type: 'stopChild', name: 's'}]};

test('sup_stop_infinity: children stop in the reverse order of their start, then the supervisor', t => {
	const world = supervised(
		'oneForOne',
		three().map(child => withShutdown(child, 'infinity')),
	);
	world.act('', stopS);
	t.deepEqual(startsAndStops(world), ['c: stop', 'b: stop', 'a: stop', 's: stop']);
	t.deepEqual(downs(world), [': down s stopped'], 'who stops as a whole tells only the one above');
});

/** An actor whose commit hangs cannot end by itself. */
const keeper = (name: string, shutdownMs?: Shutdown): Effect => ({
	type: 'spawn',
	name,
	behavior: 'keeper',
	restart: 'permanent',
	...(shutdownMs === undefined ? {} : {shutdownMs}),
});

function hanging(
	path: string,
	children: readonly Effect[],
	strategy: Strategy = 'oneForOne',
	sShutdown: Shutdown = 'infinity',
): SupervisionWorld {
	const world = supervisionWorld({effects: [withShutdown(supervisor(strategy, children), sShutdown), spawnPuppet('watcher')]});
	world.act('watcher', {effects: [{type: 'watch', address: at(path)}]});
	world.tell(path, {type: 'write'});
	world.run();
	if (!world.isCommitting(path)) throw new Error(`nothing is being committed by ${path}`);
	world.forget();
	return world;
}

test('a child by the name of one that was killed in the middle of its commit begins when that is decided', t => {
	for (const isStopped of [false, true]) {
		const world = hanging('s/b', [keeper('b', 200)]);
		const stopB: Effect = {type: 'stopChild', name: 'b'};
		world.act('s', {effects: [stopB]});
		world.pass(300);
		world.act('s', {effects: [keeper('b')]});
		t.deepEqual(startsAndStops(world), [], 'two actors never write one object');
		if (isStopped) world.act('s', {effects: [stopB]});
		world.refuse('s/b');
		t.deepEqual(startsAndStops(world), isStopped ? [] : ['b: init']);
		t.is(nodeAt(world.system, at('s/b')) === undefined, isStopped);
		t.is(nodeAt(world.system, at('s'))?.children.length, isStopped ? 0 : 1);
	}
});

test('sup_stop_timeout: a child that does not end in its time is killed, and the next one is stopped', t => {
	const world = hanging('s/b', [spawnPuppet('a'), keeper('b', 200), spawnPuppet('c')]);
	world.act('', stopS);
	world.pass(150);
	t.deepEqual(startsAndStops(world), ['c: stop']);
	world.pass(100);
	t.deepEqual(startsAndStops(world), ['c: stop', 'a: stop', 's: stop'], 'who is killed has no last word');
	t.deepEqual(downs(world), ['watcher: down b killed', ': down s stopped']);
});

test('sup_stop_timeout: one that ends in its time is not killed', t => {
	const world = hanging('s/b', [keeper('b', 200)]);
	world.act('', stopS);
	world.pass(100);
	world.refuse('s/b');
	t.deepEqual(downs(world), ['watcher: down b stopped', ': down s stopped']);
	t.is(world.clock.nextAtMs(), undefined, 'its deadline is gone with it');
});

test('sup_stop_timeout: without a deadline of its own the one of the limits holds', t => {
	const world = hanging('s/b', [keeper('b')]);
	world.act('', stopS);
	world.pass(limits.shutdownMs - 1);
	t.deepEqual(downs(world), []);
	world.pass(limits.deadlineBucketMs + 1);
	t.deepEqual(downs(world), ['watcher: down b killed', ': down s stopped']);
});

test('sup_stop_infinity: who has no deadline is waited for', t => {
	const world = hanging('s/b', [keeper('b', 'infinity')]);
	world.act('', stopS);
	world.pass(3_600_000);
	t.deepEqual(downs(world), []);
	world.refuse('s/b');
	t.deepEqual(downs(world), ['watcher: down b stopped', ': down s stopped']);
});

test('sup_stop_brutal_kill: a child that is killed at once is asked nothing, nor is what is below it', t => {
	const child = spawnPuppet('b', {effects: [spawnPuppet('deep')]});
	const world = supervised('oneForOne', [spawnPuppet('a'), withShutdown(child, 'brutalKill')]);
	world.act('bystander', {effects: ['s/b', 's/b/deep'].map(path => ({type: 'watch', address: at(path)}))});
	world.act('', stopS);
	t.deepEqual(startsAndStops(world), ['a: stop', 's: stop']);
	t.deepEqual([...downs(world)].sort(), [': down s stopped', 'bystander: down b killed', 'bystander: down deep killed']);
});

test('sup_stop_timeout: a supervisor whose children hang beyond its own deadline is killed with all of them', t => {
	const world = hanging('s/b', [spawnPuppet('a'), keeper('b', 'infinity')], 'oneForOne', 300);
	world.act('', stopS);
	world.pass(400);
	t.deepEqual(startsAndStops(world), []);
	t.deepEqual(downs(world), ['watcher: down b killed', ': down s killed']);
	t.deepEqual(world.states(), ['', 'watcher']);
});

// ---- child_adm: by hand -----------------------------------------------------------------------------------------------------------

test('child_adm: a child that is stopped by hand is gone with its specification, and can be started anew under its name', t => {
	const world = supervised('oneForAll');
	world.act('s', {effects: [{type: 'stopChild', name: 'b'}]});
	t.deepEqual(world.states(), ['', 's', 's/a', 's/c', 'bystander']);
	t.deepEqual(world.log, ['s/b: signal stop', 's: down b stopped']);
	world.forget();
	crash(world, 's/a');
	t.deepEqual(startsAndStops(world), ['c: stop', 'a: init', 'c: init'], 'no restart of the others brings it back');
	world.act('s', {effects: [spawnPuppet('b')]});
	world.forget();
	crash(world, 's/a');
	t.deepEqual(startsAndStops(world), ['b: stop', 'c: stop', 'a: init', 'c: init', 'b: init'], 'it is the youngest now');
});

test('child_adm: a name that is taken is not started again, and a name of nobody is not stopped', t => {
	const world = supervised('oneForOne');
	world.act('s', {effects: [spawnPuppet('a'), {type: 'stopChild', name: 'nobody'}]});
	t.deepEqual(world.log, []);
});

test('order_of_children, which_children, count_children: the tree shows who lives, oldest first', t => {
	const world = supervised('restForOne');
	crash(world, 's/b');
	t.deepEqual(
		nodeAt(world.system, at('s'))?.children.map(({name, state, restarts}) => [name, state, restarts]),
		[
			['a', 'running', 0],
			['b', 'running', 1],
			['c', 'running', 1],
		],
	);
});

// ---- normal_termination, shutdown_termination, abnormal_termination ---------------------------------------------------------------------

const one = (restart: Restart): SupervisionWorld => supervised('oneForOne', [spawnPuppet('a', {}, restart)]);

test('permanent_normal: who must run is started again when it ends by its own will, told to nobody as an end', t => {
	const world = one('permanent');
	world.act('s/a', {stops: true});
	world.pass(0);
	t.deepEqual(startsAndStops(world), ['a: stop', 'a: init']);
	t.deepEqual(downs(world), []);
	t.deepEqual(lifecycleOf(world), ['restarted s/a']);
});

test('permanent_normal: ends count like crashes', t => {
	const world = one('permanent');
	for (let end = 0; end <= limits.restartIntensity; end++) {
		world.act('s/a', {stops: true});
		world.pass(1_000);
	}
	t.deepEqual(lifecycleOf(world).slice(-3), ['escalated s/a', 'crashed s', 'restarted s']);
});

for (const restart of ['transient', 'temporary'] as const)
	test(`${restart}_normal: whose work may end is not started again when it does`, t => {
		const world = one(restart);
		world.act('s/a', {stops: true});
		world.pass(10_000);
		t.deepEqual(world.log, ['s/a: signal stop', 's: down a normal']);
		t.deepEqual(world.states(), ['', 's', 'bystander']);
	});

for (const restart of ['permanent', 'transient', 'temporary'] as const)
	test(`${restart}_shutdown: who is stopped by its supervisor stays stopped`, t => {
		const world = one(restart);
		world.act('s', {effects: [{type: 'stopChild', name: 'a'}]});
		world.pass(10_000);
		t.deepEqual(world.log, ['s/a: signal stop', 's: down a stopped']);
	});

for (const restart of ['permanent', 'transient'] as const)
	test(`${restart}_abnormal: who crashes is started again`, t => {
		const world = one(restart);
		crash(world, 's/a');
		t.deepEqual(world.log, ['s/a: init']);
	});

test('temporary_abnormal: but not who is never restarted', t => {
	const world = one('temporary');
	crash(world, 's/a', 60_000);
	t.deepEqual(world.log, ['s: down a crashed']);
	t.deepEqual(lifecycleOf(world), ['crashed s/a']);
});

test('temporary_bystander: who is never restarted is not by the crash of a sibling either: it is ended and forgotten', t => {
	for (const strategy of ['oneForAll', 'restForOne'] as const) {
		const world = supervised(strategy, [spawnPuppet('a'), spawnPuppet('b', {}, 'temporary'), spawnPuppet('c', {}, 'transient')]);
		crash(world, 's/a');
		t.deepEqual(startsAndStops(world), ['c: stop', 'b: stop', 'a: init', 'c: init'], strategy);
		t.deepEqual(downs(world), ['s: down b stopped'], strategy);
	}
});

test('temporary_bystander: its own crash is nobody else’s', t => {
	const world = supervised('oneForAll', [spawnPuppet('a'), spawnPuppet('b', {}, 'temporary')]);
	crash(world, 's/b');
	t.deepEqual(world.log, ['s: down b crashed']);
});

// ---- restart_one_for_one ----------------------------------------------------------------------------------------------------------------

test('one_for_one: only who crashed is started again', t => {
	const world = supervised('oneForOne');
	crash(world, 's/b');
	t.deepEqual(world.log, ['s/b: init']);
});

test('one_for_one_escalation: past the intensity the supervisor fails and starts anew with all its children', t => {
	const world = supervised('oneForOne');
	for (let count = 0; count <= limits.restartIntensity; count++) crash(world, 's/b');
	t.deepEqual(lifecycleOf(world).slice(-4), ['crashed s/b', 'escalated s/b', 'crashed s', 'restarted s']);
	t.deepEqual(startsAndStops(world).slice(-6), ['c: stop', 'a: stop', 's: init', 'a: init', 'b: init', 'c: init']);
});

test('one_for_one: each child has an intensity of its own', t => {
	const world = supervised('oneForOne');
	for (let count = 0; count < limits.restartIntensity; count++) for (const name of ['a', 'b', 'c']) crash(world, `s/${name}`, 300);
	t.false(lifecycleOf(world).some(line => line.startsWith('escalated')));
});

test('one_for_one_other_child_fails_restart: who fails to start again troubles nobody else', t => {
	const world = supervised('oneForOne', [spawnPuppet('a'), {type: 'spawn', name: 'b', behavior: 'puppet', input: {}}]);
	crash(world, 's/a');
	crash(world, 's/b');
	t.deepEqual(startsAndStops(world), ['a: init', 'b: init']);
});

// ---- restart_one_for_all ------------------------------------------------------------------------------------------------------------------

test('one_for_all: the others are stopped in the reverse order of their start, then all start in order', t => {
	const world = supervised('oneForAll');
	crash(world, 's/b');
	t.deepEqual(world.log, ['s/c: signal stop', 's/a: signal stop', 's/a: init', 's/b: init', 's/c: init']);
	t.deepEqual(lifecycleOf(world), ['crashed s/b', 'restarted s/a', 'restarted s/b', 'restarted s/c']);
});

test('one_for_all: with all that is below them, leaves first', t => {
	const nested = spawnPuppet('c', {effects: [spawnPuppet('x'), spawnPuppet('y')]});
	const world = supervised('oneForAll', [spawnPuppet('a'), nested]);
	crash(world, 's/a');
	t.deepEqual(startsAndStops(world), ['c/y: stop', 'c/x: stop', 'c: stop', 'a: init', 'c: init', 'c/x: init', 'c/y: init']);
});

test('one_for_all: state is lost, what waits in the mailboxes is not, and nobody hears of an end', t => {
	const world = supervised('oneForAll');
	world.act('bystander', {effects: ['a', 'b'].map(name => ({type: 'watch', address: at(`s/${name}`)}))});
	world.act('s/a', {note: 'to be forgotten'});
	world.tell('s/b', act({throws: 'a bug'}));
	world.executor.runOne();
	world.tell('s/a', note('for the new one'));
	world.pass(1_000);
	const notes = world.ask('s/a', getNotes);
	world.run();
	t.deepEqual(notes, [{ok: true, value: ['init', 'note for the new one']}]);
	t.deepEqual(downs(world), []);
});

test('one_for_all_escalation: restarts are counted for the supervisor, whoever crashes', t => {
	const world = supervised('oneForAll');
	const names = ['a', 'b', 'c'];
	for (let count = 0; count <= limits.restartIntensity; count++) crash(world, `s/${names[count % names.length] ?? ''}`);
	t.deepEqual(lifecycleOf(world).slice(-4), ['crashed s/a', 'escalated s/a', 'crashed s', 'restarted s']);
	world.forget();
	for (let count = 0; count < limits.restartIntensity; count++) crash(world, 's/a');
	t.is(lifecycleOf(world).filter(line => line.startsWith('escalated')).length, 1, 'the new supervisor begins to count anew');
});

/** Breaks once it has been started before. */
const startsOnce = (fails: () => boolean): {readonly [name: string]: never} => ({
	fragile: {
		kind: 'Fragile',
		init: () => {
			if (fails()) throw new Error('not again');
			return {state: null, effects: []};
		},
		receive: () => ({state: null, effects: []}),
	} as never,
});

for (const strategy of ['oneForAll', 'restForOne'] as const)
	test(`${strategy === 'oneForAll' ? 'one_for_all' : 'rest_for_one'}_other_child_fails_restart: one that fails to start again stops what was started, and all are tried again`, t => {
		let fails = false;
		const fragile: Effect = {type: 'spawn', name: 'b', behavior: 'fragile', restart: 'permanent'};
		const world = supervisionWorld(
			{effects: [supervisor(strategy, [spawnPuppet('a'), fragile, spawnPuppet('c')])]},
			startsOnce(() => fails),
		);
		world.forget();
		fails = true;
		crash(world, 's/a', 0);
		world.pass(50);
		// a and c were stopped and a started; then b failed: for all, a is stopped once more; for the rest, it stays.
		t.deepEqual(startsAndStops(world), strategy === 'oneForAll' ? ['c: stop', 'a: init', 'a: stop'] : ['c: stop', 'a: init']);
		fails = false;
		world.pass(limits.actorRestartFirstMs);
		t.deepEqual(startsAndStops(world).slice(-2), strategy === 'oneForAll' ? ['a: init', 'c: init'] : ['a: init', 'c: init']);
		t.deepEqual(world.states(), ['', 's', 's/a', 's/b', 's/c']);
		t.deepEqual(world.escalations, []);
	});

// ---- restart_rest_for_one -------------------------------------------------------------------------------------------------------------------

test('rest_for_one: who was started before is left alone, who was started after is started again', t => {
	const world = supervised('restForOne');
	crash(world, 's/b');
	t.deepEqual(world.log, ['s/c: signal stop', 's/b: init', 's/c: init']);
	world.forget();
	crash(world, 's/c');
	t.deepEqual(world.log, ['s/c: init']);
	world.forget();
	crash(world, 's/a');
	t.deepEqual(world.log, ['s/c: signal stop', 's/b: signal stop', 's/a: init', 's/b: init', 's/c: init']);
});

test('rest_for_one_escalation: restarts are counted for the supervisor', t => {
	const world = supervised('restForOne');
	for (const name of ['a', 'c', 'b', 'c']) crash(world, `s/${name}`);
	t.deepEqual(lifecycleOf(world).slice(-4), ['crashed s/c', 'escalated s/c', 'crashed s', 'restarted s']);
});

test('rest_for_one: the crash of an older child while younger ones wait for their restart takes them along, once', t => {
	const world = supervised('restForOne');
	crash(world, 's/b');
	world.forget();
	crash(world, 's/b', 0);
	crash(world, 's/a', 0);
	t.deepEqual(startsAndStops(world), ['c: stop']);
	world.pass(10_000);
	t.deepEqual(startsAndStops(world), ['c: stop', 'a: init', 'b: init', 'c: init']);
	t.is(world.clock.nextAtMs(), undefined);
});

// ---- intensity and its window -------------------------------------------------------------------------------------------------------------------

test('multiple_restarts: what lies further back than the window does not count', t => {
	for (const strategy of strategies) {
		const world = supervised(strategy);
		for (let count = 0; count < 20; count++) crash(world, 's/b', limits.restartWindowMs / limits.restartIntensity + 1);
		t.false(
			lifecycleOf(world).some(line => line.startsWith('escalated')),
			strategy,
		);
		t.is(nodeAt(world.system, at('s/b'))?.restarts, 20, strategy);
	}
});

test('sup_flags: at the edge of the window one more is too many', t => {
	for (const strategy of strategies) {
		const world = supervised(strategy);
		for (let count = 0; count < limits.restartIntensity; count++) crash(world, 's/b', 10_000);
		world.pass(limits.restartWindowMs - limits.restartIntensity * 10_000);
		crash(world, 's/b');
		t.true(lifecycleOf(world).includes('escalated s/b'), strategy);
	}
});

test('hanging_restart_loop: while a restart waits, the supervisor answers and can be stopped', t => {
	for (const strategy of strategies) {
		const world = supervised(strategy, [spawnPuppet('a'), spawnPuppet('b')]);
		crash(world, 's/a');
		crash(world, 's/a', 0);
		t.is(nodeAt(world.system, at('s/a'))?.state, 'restarting', strategy);
		const notes = world.ask('s', getNotes);
		world.run();
		t.true(notes[0]?.ok, strategy);
		world.act('', stopS);
		world.pass(60_000);
		t.deepEqual(world.states(), ['', 'bystander'], strategy);
		t.is(world.clock.nextAtMs(), undefined, strategy);
	}
});

test('hanging_restart_loop: a child that is stopped by hand while its group waits is not started with the others', t => {
	const world = supervised('oneForAll');
	crash(world, 's/a');
	crash(world, 's/a', 0);
	world.act('s', {effects: [{type: 'stopChild', name: 'b'}]});
	world.forget();
	world.pass(1_000);
	t.deepEqual(startsAndStops(world), ['a: init', 'c: init']);
});

// ---- restarts of a group with deadlines --------------------------------------------------------------------------------------------------------------

test('shutdown in a group: a sibling that does not end in its time is killed, and starts with the others all the same', t => {
	const world = hanging('s/b', [spawnPuppet('a'), keeper('b', 200), spawnPuppet('c')], 'oneForAll');
	crash(world, 's/c', 150);
	t.deepEqual(startsAndStops(world), []);
	world.pass(100);
	t.deepEqual(startsAndStops(world), ['a: stop', 'a: init'], 'the order of the start is kept: b is awaited');
	world.refuse('s/b');
	t.deepEqual(startsAndStops(world), ['a: stop', 'a: init', 'b: init', 'c: init'], 'and never begins beside its own commit');
	t.deepEqual(downs(world), []);
});

test('shutdown in a group: what a killed sibling has written is what the next one begins with, and nothing of its step is done any more', t => {
	const world = hanging('s/b', [spawnPuppet('a'), keeper('b', 200), spawnPuppet('c')], 'oneForAll');
	crash(world, 's/c', 300);
	world.accept('s/b');
	t.false(world.log.includes('s/b: committed'));
	t.deepEqual(startsAndStops(world), ['a: stop', 'a: init', 'c: init'], 'b goes on from its object');
	world.tell('s/b', {type: 'write'});
	world.run();
	t.true(world.isCommitting('s/b'));
	world.accept('s/b');
	t.true(world.log.includes('s/b: committed'));
});

test('shutdown in a group: a commit that ends in time is awaited, and the sibling has its last word', t => {
	const world = hanging('s/a', [keeper('a'), spawnPuppet('b')], 'oneForAll');
	crash(world, 's/b', 1_000);
	t.deepEqual(startsAndStops(world), []);
	world.refuse('s/a');
	world.pass(0);
	t.deepEqual(startsAndStops(world), ['a: stop', 'a: init', 'b: init']);
});

// ---- escalation --------------------------------------------------------------------------------------------------------------------------------------

test('escalation: a failure climbs as far as nobody can mend it', t => {
	const deep = supervisor('oneForAll', [supervisor('oneForOne', [spawnPuppet('a', {throws: 'born broken'})])]);
	const world = supervisionWorld({effects: [deep, spawnPuppet('bystander')]});
	world.pass(600_000);
	t.deepEqual(
		lifecycleOf(world)
			.filter(line => line.startsWith('escalated'))
			.slice(-4),
		['escalated s/s/a', 'escalated s/s', 'escalated s', 'escalated '],
	);
	t.deepEqual(world.escalations.length, 1);
});

test('escalation: when the root has failed, all has ended in order before the owner hears of it, and nothing goes on', t => {
	const states: string[][] = [];
	const world = supervised('oneForOne');
	const {escalations} = world;
	const push = escalations.push.bind(escalations);
	escalations.push = message => {
		states.push([...world.states()]);
		return push(message);
	};
	for (let count = 0; count <= limits.restartIntensity; count++) crash(world, '');
	t.deepEqual(states, [[]], 'told once, and nobody lives');
	t.deepEqual(startsAndStops(world).slice(-5), ['bystander: stop', 'c: stop', 'b: stop', 'a: stop', 's: stop']);
	const late = world.ask('s/a', getNotes);
	t.like(late[0], {ok: false, error: {code: 'ERR_NO_SUCH_ACTOR'}});
	world.pass(3_600_000);
	t.is(world.escalations.length, 1);
	t.is(world.clock.nextAtMs(), undefined);
});

test('escalation: an actor that hangs does not hold up the end of the whole', t => {
	const world = supervisionWorld({effects: [withShutdown(supervisor('oneForOne', [keeper('b', 'infinity')]), 'infinity')]});
	for (let count = 0; count < limits.restartIntensity; count++) crash(world, '');
	world.tell('s/b', {type: 'write'});
	world.run();
	crash(world, '', limits.shutdownMs - 100);
	t.deepEqual(world.escalations, []);
	world.pass(200);
	t.is(world.escalations.length, 1);
	t.is(world.system.size, 0);
});

// ---- tree, scale -------------------------------------------------------------------------------------------------------------------------------------

test('tree: supervisors are supervised, each by its own strategy', t => {
	const inner = supervisor('restForOne', three());
	const world = supervised('oneForAll', [spawnPuppet('first'), inner, spawnPuppet('last')]);
	crash(world, 's/s/b');
	t.deepEqual(world.log, ['s/s/c: signal stop', 's/s/b: init', 's/s/c: init']);
	world.forget();
	crash(world, 's/last');
	t.deepEqual(startsAndStops(world), [
		's/c: stop',
		's/b: stop',
		's/a: stop',
		's: stop',
		'first: stop',
		'first: init',
		's: init',
		's/a: init',
		's/b: init',
		's/c: init',
		'last: init',
	]);
});

test('scale_start_stop_many_children: ten thousand restart together in order and without a deep stack', t => {
	const count = 10_000;
	const world = supervised(
		'oneForAll',
		Array.from({length: count}, (_, index) => spawnPuppet(`c${index}`)),
	);
	crash(world, 's/c0');
	t.is(world.log[0], `s/c${count - 1}: signal stop`);
	t.is(world.log[count - 1], 's/c0: init');
	t.is(world.log.at(-1), `s/c${count - 1}: init`);
	t.is(world.log.length, 2 * count - 1);
});
