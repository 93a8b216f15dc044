import test from 'ava';
import type {Fault} from '../../../api/inspect.js';
import {Faults, type FaultOptions} from '../../../system/inspect/faults.js';
import {isWrong, rankOf} from '../../../system/inspect/ranking.js';
import type {Cell} from '../../../system/kernel/cell.js';
import {actorWorld, at, lettersOf, lifecycleOf, type ActorWorld} from '../kernel/actor-world.js';
import {note, spawnPuppet} from '../kernel/puppet.js';
import {inspectWorld, opened, portionOf} from './inspect-world.js';
import {nodeAt} from '../kernel/actor-tree.js';

type Stage = {
	readonly world: ActorWorld;
	readonly faults: Faults;
	readonly cell: (path: string) => Cell;
	readonly begin: (path: string, fault: Fault, forMs?: number) => string;
};

function stage(options: FaultOptions | undefined = {}): Stage {
	const world = actorWorld({effects: [spawnPuppet('a'), spawnPuppet('b')]});
	const faults = new Faults(world.system.kernel, options);
	const cell = (path: string): Cell => {
		const found = world.system.kernel.cells.get(at(path));
		if (found === undefined) throw new Error(`there is no actor at ${path}`);
		return found;
	};
	return {
		world,
		faults,
		cell,
		begin(path, fault, forMs) {
			const outcome = faults.begin(cell(path), fault, forMs);
			return outcome.ok ? outcome.value : `${outcome.error.code}: ${outcome.error.message}`;
		},
	};
}

const shownAt = ({world}: Stage, path: string): readonly string[] | undefined => nodeAt(world.system, at(path))?.faults;

test('where the process was not started with --faults none is made, and it says how', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	const faults = new Faults(world.system.kernel, undefined);
	const outcome = faults.begin(world.system.kernel.cells.get(at('a')) as Cell, {type: 'crash'});
	t.deepEqual(outcome.ok ? undefined : [outcome.error.code, outcome.error.message], [
		'ERR_FORBIDDEN',
		'no faults are made in "test": that takes troupe up --faults (or server, agent --faults)',
	]);
	t.deepEqual(faults.look(), {areAllowed: false, faults: []});
	t.is(world.system.kernel.probe, undefined);
});

test('crash: a step that is traced crashes all the same, and its trace tells it', t => {
	const world = inspectWorld({effects: [spawnPuppet('a')]}, {options: {faults: {}}});
	const stream = opened(t, world.inspect({verb: 'trace', filter: {places: ['test/a']}}));
	world.inspect({verb: 'fault', place: 'test/a', fault: {type: 'crash'}});
	world.tell('a', note('x'));
	world.run();
	t.deepEqual(lifecycleOf(world), ['crashed a']);
	const portion = portionOf(t, world.inspect({verb: 'read', stream, waitMs: 1_000, count: 10}), () => world.pass(1_000));
	t.like(portion.entries, [{outcome: 'crashed'}]);
});

test('crash: a whole system takes no step, and it is said what would crash it', t => {
	const {begin} = stage();
	t.is(
		begin('', {type: 'crash'}),
		'ERR_BAD_REQUEST: crash takes an actor, and "test" is a whole system; all of it begins anew with: kill test',
	);
});

test('crash: the next step throws, once, and its supervisor does what it always does', t => {
	const on = stage();
	const {world, begin} = on;
	t.is(begin('a', {type: 'crash'}), 'troupe://test/a: its next step crashes, 10 s left');
	t.deepEqual(shownAt(on, 'a'), ['its next step crashes, 10 s left']);
	world.tell('a', note('one'));
	world.tell('a', note('two'));
	world.pass(1_000);
	t.deepEqual(lifecycleOf(world), ['crashed a', 'restarted a']);
	t.deepEqual(
		world.log.filter(line => line.startsWith('a:')),
		['a: init', 'a: init', 'a: note two'],
	);
	t.is(
		nodeAt(world.system, at('a'))?.failure,
		'the actor "troupe://test/a" crashed on this message: a fault was asked for here: its step crashes',
	);
	t.is(shownAt(on, 'a'), undefined);
	t.is(world.system.kernel.probe, undefined, 'nobody looks any more');
});

test('slow: each step begins so much later, one after the other, and its neighbour takes its own at once', t => {
	const on = stage();
	const {world, begin} = on;
	begin('a', {type: 'slow', ms: 200}, 10_000);
	t.deepEqual(shownAt(on, 'a'), ['slow by 200 ms, 10 s left']);
	t.is(nodeAt(world.system, at('a'))?.state, 'running');
	for (const text of ['one', 'two', 'three']) world.tell('a', note(text));
	world.tell('b', note('one'));
	const taken = (): readonly string[] => world.log.filter(line => line.startsWith('a: note'));
	world.pass(199);
	t.deepEqual(taken(), []);
	t.true(world.log.includes('b: note one'));
	world.pass(1);
	t.deepEqual(taken(), ['a: note one']);
	world.pass(200);
	t.deepEqual(taken(), ['a: note one', 'a: note two']);
	world.pass(1_000);
	world.tell('a', note('four'));
	world.pass(199);
	t.is(taken().length, 3);
	world.pass(1);
	t.is(taken().length, 4);
	world.tell('a', note('five'));
	world.pass(10_000);
	world.tell('a', note('six'));
	world.run();
	t.is(taken().at(-1), 'a: note six', 'its time is over: at once again');
	t.is(shownAt(on, 'a'), undefined);
});

test('slow: what waits when it ends is taken at once, and its children and its end are not put off', t => {
	const {world, faults, begin, cell} = stage();
	begin('a', {type: 'slow', ms: 60_000}, 600_000);
	world.tell('a', note('one'));
	world.pass(1_000);
	t.is(faults.heal(cell('a')), '1 fault has ended');
	world.run();
	t.true(world.log.includes('a: note one'));
	begin('b', {type: 'slow', ms: 60_000});
	world.act('', {effects: [{type: 'stopChild', name: 'b'}]});
	t.true(world.log.includes('b: signal stop'));
	t.deepEqual(faults.look().faults, []);
});

test('drop: what is sent to it is lost and shows as a dead letter, and so is a wake; who asks it waits for the deadline', t => {
	const on = stage();
	const {world, begin} = on;
	begin('a', {type: 'drop', share: 1}, 5_000);
	t.deepEqual(shownAt(on, 'a'), ['loses every message, 5 s left']);
	const asked = world.ask('a', {type: 'getNotes'}, 1_000);
	world.tell('a', note('one'));
	world.run();
	world.system.wake(at('a'), note('woken'), 'test');
	t.deepEqual(lettersOf(world), ['getNotes to a: dropped', 'note to a: dropped', 'note to a: dropped']);
	t.deepEqual(asked, []);
	world.pass(1_000);
	t.deepEqual(
		asked.map(outcome => !outcome.ok && outcome.error.code),
		['ERR_TIMEOUT'],
	);
	world.pass(4_000);
	world.tell('a', note('two'));
	world.run();
	t.deepEqual(
		world.log.filter(line => line.startsWith('a: note')),
		['a: note two'],
	);
});

test('drop: an answer that is lost leaves its question open until its deadline', t => {
	const {world, begin} = stage();
	const wake = world.clock.nowMs() + 300;
	begin('b', {type: 'drop', share: 1}, 60_000);
	world.system.kernel.cells.get(at('b'))?.mailbox.put(
		{
			message: {
				type: 'act',
				play: {
					effects: [
						{type: 'ask', to: at('a'), message: {type: 'getNotes'}, as: 'notes', id: '1', deadlineMs: 500},
						{type: 'wakeAt', name: 'later', atMs: wake, message: note('later')},
					],
				},
			} as {type: string},
			from: at('b'),
			cause: 'test',
			outside: false,
		},
		undefined,
	);
	world.system.kernel.cells.get(at('b'))?.requestTurn();
	world.pass(1_000);
	t.deepEqual(lettersOf(world), ['notes to b: dropped']);
	t.deepEqual(
		world.log.filter(line => line.startsWith('b: ')),
		['b: init', 'b: note later', 'b: notes ERR_TIMEOUT'],
	);
});

test('drop with a share loses about that share, and pause takes no message for its time', t => {
	const {world, begin} = stage();
	begin('a', {type: 'drop', share: 0.25}, 60_000);
	for (let count = 0; count < 200; count++) world.tell('a', note('x'));
	world.run();
	const lost = world.deadLetters.length;
	t.true(lost > 25 && lost < 80, `${lost} of 200`);
	begin('b', {type: 'pause'}, 2_000);
	world.tell('b', note('waits'));
	world.pass(1_999);
	t.false(world.log.includes('b: note waits'));
	t.is(nodeAt(world.system, at('b'))?.state, 'paused');
	world.pass(1);
	t.true(world.log.includes('b: note waits'));
});

test('partition: of a whole system, a moment after the answer, and mended at its time', t => {
	const seen: string[] = [];
	const on = stage({partition: {cut: () => seen.push('cut'), mend: () => seen.push('mend')}});
	const {world, faults, begin, cell} = on;
	t.is(begin('a', {type: 'partition'}), 'ERR_BAD_REQUEST: a partition is of a whole system, such as "test"');
	t.is(begin('', {type: 'partition'}, 2_000), 'troupe://test/: cut off from all other systems, 2 s left');
	t.deepEqual(shownAt(on, ''), ['cut off from all other systems, 2 s left']);
	world.run();
	t.deepEqual(seen, []);
	world.pass(1_000);
	t.deepEqual(seen, ['cut']);
	world.pass(1_000);
	t.deepEqual(seen, ['cut', 'mend']);
	begin('', {type: 'partition'}, 2_000);
	faults.heal(cell(''));
	world.pass(5_000);
	t.deepEqual(seen, ['cut', 'mend'], 'healed before it began');
	const alone = stage();
	t.is(
		alone.begin('', {type: 'partition'}),
		'ERR_BAD_REQUEST: "test" itself is not cut off; cut off its nodes, each with: troupe fault partition NODE',
	);
});

test('who made it is told with it', t => {
	const on = stage();
	const outcome = on.faults.begin(on.cell('a'), {type: 'slow', ms: 2_500}, 3_000, 'ada');
	t.deepEqual(outcome, {ok: true, value: 'troupe://test/a: slow by 2.5 s, 3 s left, by ada'});
	t.deepEqual(on.faults.look().faults, [
		{address: at('a'), fault: {type: 'slow', ms: 2_500}, leftMs: 3_000, by: 'ada', text: 'slow by 2.5 s, 3 s left, by ada'},
	]);
});

test('an actor under a fault counts as wrong, also one that still takes messages', t => {
	const on = stage();
	t.is(rankOf(on.cell('a'), 0), 0);
	on.begin('a', {type: 'drop', share: 0.5});
	t.true(isWrong(rankOf(on.cell('a'), 0)));
});

test('one of a type for each actor: a second takes the place of the first; all together are bounded and can be ended at once', t => {
	const {world, faults, begin} = stage();
	begin('a', {type: 'slow', ms: 100}, 1_000);
	begin('a', {type: 'slow', ms: 300}, 2_000);
	begin('a', {type: 'drop', share: 0.5}, 2_000);
	begin('b', {type: 'crash'}, 2_000);
	t.deepEqual(
		faults.look().faults.map(({address, text}) => `${address}: ${text}`),
		[
			'troupe://test/a: slow by 300 ms, 2 s left',
			'troupe://test/a: loses 50 % of its messages, 2 s left',
			'troupe://test/b: its next step crashes, 2 s left',
		],
	);
	t.is(faults.heal(undefined), '3 faults have ended');
	t.is(faults.heal(undefined), 'there was no fault');
	world.pass(5_000);
	t.deepEqual(world.clock.nextAtMs(), undefined, 'no timer is left');
	t.is(world.system.kernel.probe, undefined);
	world.act('', {effects: Array.from({length: 101}, (_, count) => spawnPuppet(`c${count}`))});
	const refusals = Array.from({length: 101}, (_, count) => begin(`c${count}`, {type: 'crash'})).filter(text => text.startsWith('ERR'));
	t.deepEqual(refusals, ['ERR_BAD_REQUEST: there are 100 faults in "test" already']);
});

test('numbers that make no sense change nothing', t => {
	const {faults, begin} = stage();
	const wrong: [Fault, number | undefined, RegExp][] = [
		[{type: 'slow', ms: 0}, undefined, /slow takes from 1 to 60000 ms, got 0/],
		[{type: 'slow', ms: 'long' as unknown as number}, undefined, /got "long"/],
		[{type: 'drop', share: 2}, undefined, /a share above 0 and up to 1, got 2/],
		[{type: 'drop', share: Number.NaN}, undefined, /a share/],
		[{type: 'crash'}, 0, /lasts from 1 ms to 10 minutes, got 0/],
		[{type: 'crash'}, 600_001, /got 600001/],
		[{type: 'flood'} as unknown as Fault, undefined, /there is no fault "flood"/],
	];
	for (const [fault, forMs, message] of wrong) t.regex(begin('a', fault, forMs), message);
	t.deepEqual(faults.look().faults, []);
});
