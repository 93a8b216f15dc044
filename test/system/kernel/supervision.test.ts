import test from 'ava';
import {limits} from '../../../api/limits.js';
import {addRestart, exponentialBackoffMs, restartDelayMs, streakAfter, type RestartWindow} from '../../../system/kernel/restart-policy.js';
import {actorWorld, at, lettersOf, lifecycleOf} from './actor-world.js';
import {act, getNotes, note, spawnPuppet} from './puppet.js';
import {nodeAt} from './actor-tree.js';

test('the restart window forgets what is older, and is exceeded by one more than the intensity', t => {
	const policy = {intensity: 3, windowMs: 60_000};
	let window: RestartWindow = [];
	const exceeded = [0, 10_000, 60_000, 70_001, 70_002, 119_999, 120_001].map(nowMs => {
		const added = addRestart(window, nowMs, policy);
		({window} = added);
		return added.exceeded;
	});
	t.deepEqual(exceeded, [false, false, false, false, false, true, true]);
});

test('back-off doubles from the first wait to the longest, and stays there for ever', t => {
	t.deepEqual(
		[0, 1, 2, 3, 9, 10, 1_000].map(retry => exponentialBackoffMs(retry, 1_000, 300_000)),
		[1_000, 1_000, 2_000, 4_000, 256_000, 300_000, 300_000],
	);
});

test('a streak restarts at once, then after doubling waits, and is forgotten after a time of health', t => {
	const policy = {firstMs: 100, maxMs: 1_000, resetMs: 600_000};
	const delays: number[] = [];
	let streak = {restarts: 0};
	for (const upMs of [0, 599_999, 5, 5, 5, 5, 600_000, 5]) {
		streak = streakAfter(streak, upMs, policy);
		delays.push(restartDelayMs(streak, policy));
	}
	t.deepEqual(delays, [0, 100, 200, 400, 800, 1_000, 0, 100]);
});

test('an actor that throws is restarted alone: siblings and parent keep their state', t => {
	const world = actorWorld({effects: [spawnPuppet('a'), spawnPuppet('b')]});
	world.act('', {note: 'root lives'});
	world.act('a', {note: 'a lives'});
	world.act('b', {note: 'b lives'});
	world.act('a', {throws: 'bug'});
	world.pass(0);
	t.deepEqual(lifecycleOf(world), ['crashed a', 'restarted a']);
	const [a, b, root] = [world.ask('a', getNotes), world.ask('b', getNotes), world.ask('', getNotes)];
	world.run();
	t.deepEqual(a, [{ok: true, value: ['init']}]);
	t.deepEqual(b, [{ok: true, value: ['init', 'b lives']}]);
	t.deepEqual(root, [{ok: true, value: ['init', 'root lives']}]);
});

test('whose message made an actor crash is told ERR_ACTOR_CRASHED, and the message becomes a dead letter with the error', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	const outcomes = world.ask('a', act({throws: 'a bug of mine'}));
	world.run();
	t.is(outcomes.length, 1);
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_ACTOR_CRASHED', details: {address: at('a')}}});
	t.deepEqual(lettersOf(world), ['act to a: crashed']);
	t.regex(world.deadLetters[0]?.error.message ?? '', /a bug of mine/);
	t.is(world.system.counters.crashes, 1);
});

test('the rest of the mailbox is kept through a crash, in order', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	world.tell('a', note('before'));
	world.tell('a', act({throws: 'bug'}));
	world.tell('a', note('first after'));
	world.tell('a', note('second after'));
	world.pass(0);
	t.deepEqual(world.log.slice(2), ['a: note before', 'a: init', 'a: note first after', 'a: note second after']);
});

test('a step that throws has no effect at all', t => {
	const world = actorWorld({effects: [spawnPuppet('a'), spawnPuppet('b')]});
	world.act('a', {note: 'written', effects: [{type: 'tell', to: at('b'), message: note('sent')}], throws: 'bug'});
	world.pass(1_000);
	t.false(world.log.some(line => /written|sent/.test(line)));
});

test('restarts wait: the first not at all, the second 100 ms, the third 200 ms', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	const waits: number[] = [];
	for (let crash = 0; crash < 3; crash++) {
		world.act('a', {throws: 'bug'});
		const crashedAtMs = world.clock.nowMs();
		while (nodeAt(world.system, at('a'))?.state === 'restarting') {
			world.clock.fireNext();
			world.run();
		}
		waits.push(world.clock.nowMs() - crashedAtMs);
	}
	t.deepEqual(waits, [0, limits.actorRestartFirstMs, 2 * limits.actorRestartFirstMs]);
	t.is(nodeAt(world.system, at('a'))?.restarts, 3);
});

test('what is sent to an actor while it waits for its restart is kept for it', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	world.act('a', {throws: 'bug'});
	world.pass(0);
	world.act('a', {throws: 'bug'});
	world.tell('a', note('patience'));
	const outcomes = world.ask('a', getNotes);
	world.run();
	t.deepEqual(outcomes, []);
	world.pass(limits.actorRestartFirstMs);
	t.deepEqual(outcomes, [{ok: true, value: ['init', 'note patience']}]);
});

const crashes = (world: ReturnType<typeof actorWorld>, path: string, count: number): void => {
	for (let crash = 0; crash < count; crash++) {
		world.act(path, {throws: 'bug'});
		world.pass(1_000);
	}
};

test('a crash past the intensity is the failure of the supervisor, which starts again with all its children', t => {
	const world = actorWorld({
		effects: [spawnPuppet('s', {effects: [spawnPuppet('a'), spawnPuppet('b')]}), spawnPuppet('other')],
	});
	crashes(world, 's/a', limits.restartIntensity);
	t.false(lifecycleOf(world).includes('escalated s/a'));
	crashes(world, 's/a', 1);
	t.deepEqual(lifecycleOf(world).slice(-4), ['crashed s/a', 'escalated s/a', 'crashed s', 'restarted s']);
	t.deepEqual(world.log.slice(-4), ['s/b: signal stop', 's: init', 's/a: init', 's/b: init']);
	t.false(world.log.includes('s: down a crashed'), 'the new instance hears nothing of the old one');
	t.deepEqual(world.escalations, []);
	const notes = world.ask('other', getNotes);
	world.run();
	t.deepEqual(notes, [{ok: true, value: ['init']}]);
});

test('crashes that are far enough apart are forgiven for ever', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	for (let crash = 0; crash < 20; crash++) {
		world.act('a', {throws: 'bug'});
		world.pass(limits.restartWindowMs / limits.restartIntensity + 1);
	}
	t.is(nodeAt(world.system, at('a'))?.restarts, 20);
	t.false(lifecycleOf(world).some(line => line.startsWith('escalated')));
});

test('what fails at the root escalates out of the system, once for each failure', t => {
	const world = actorWorld({effects: [spawnPuppet('a', {throws: 'born broken'}, 'permanent')]});
	world.pass(600_000);
	t.is(world.escalations.length, 1);
	t.regex(world.escalations[0] ?? '', /born broken/);
	t.is(lifecycleOf(world).filter(line => line === 'escalated ').length, 1);
});

test('an actor whose first step throws is tried again with back-off, never in a spin', t => {
	const world = actorWorld({effects: [spawnPuppet('a', {throws: 'born broken'})]});
	const turns = world.executor.turns();
	t.is(lifecycleOf(world).filter(line => line === 'crashed a').length, 1);
	world.pass(limits.actorRestartFirstMs);
	t.is(lifecycleOf(world).filter(line => line === 'crashed a').length, 3);
	world.pass(2 * limits.actorRestartFirstMs - 1);
	t.is(lifecycleOf(world).filter(line => line === 'crashed a').length, 3);
	t.true(world.executor.turns() - turns < 10);
});

test('a temporary actor is not restarted, and its supervisor hears why it ended', t => {
	const world = actorWorld({effects: [spawnPuppet('a', {}, 'temporary')]});
	world.act('a', {throws: 'bug'});
	world.pass(1_000);
	t.deepEqual(world.states(), ['']);
	t.is(world.log.at(-1), ': down a crashed');
});

test('a transient actor may end; a permanent one that ends is started again', t => {
	const world = actorWorld({
		effects: [spawnPuppet('s', {effects: [spawnPuppet('may', {}, 'transient'), spawnPuppet('must', {}, 'permanent')]})],
	});
	world.act('s/may', {stops: true});
	t.is(world.log.at(-1), 's: down may normal');
	t.deepEqual(lifecycleOf(world), []);
	world.act('s/must', {stops: true});
	world.pass(0);
	t.deepEqual(lifecycleOf(world), ['restarted s/must']);
	t.deepEqual(world.log.slice(-2), ['s/must: signal stop', 's/must: init']);
	t.deepEqual(world.states(), ['', 's', 's/must']);
});

test('a bug in what an effect sets going crashes its actor and nobody else', t => {
	const world = actorWorld(
		{effects: [spawnPuppet('a'), spawnPuppet('b')]},
		{
			perform: () => {
				throw new Error('the edge has a bug');
			},
		},
	);
	const outcomes = world.ask('a', act({effects: [{type: 'spawn', name: 'child', behavior: 'nobody'}]}));
	world.pass(0);
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_ACTOR_CRASHED'}});
	world.act('a', {effects: [{type: 'perform', command: {type: 'x'}, key: 'k', as: 'performed'}]});
	world.pass(1_000);
	t.deepEqual(lifecycleOf(world), ['crashed a', 'restarted a', 'crashed a', 'restarted a']);
	world.act('b', {note: 'b lives'});
	t.is(world.log.at(-1), 'b: b lives');
});

test('a person may crash an actor on purpose; it starts again as after any crash', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	world.act('a', {note: 'to be forgotten'});
	t.true(world.system.crash(at('a'), {code: 'ERR_INTERNAL', message: 'killed on purpose', details: {}}));
	t.false(world.system.crash(at('a'), {code: 'ERR_INTERNAL', message: 'again', details: {}}), 'it is not there yet');
	t.false(world.system.crash(at('nobody'), {code: 'ERR_INTERNAL', message: 'x', details: {}}));
	world.pass(0);
	const notes = world.ask('a', getNotes);
	world.run();
	t.deepEqual(notes, [{ok: true, value: ['init']}]);
	t.is(nodeAt(world.system, at('a'))?.failure, 'killed on purpose');
});
