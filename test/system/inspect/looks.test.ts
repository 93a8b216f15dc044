import test from 'ava';
import type {Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {ActorSystem} from '../../../system/kernel/actor-system.js';
import type {Cell} from '../../../system/kernel/cell.js';
import {next, type Behavior, type Message} from '../../../system/kernel/behavior.js';
import type {Clock} from '../../../system/time/clock.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {at} from '../kernel/actor-world.js';
import {act, note, spawnPuppet} from '../kernel/puppet.js';
import {inspectWorld} from './inspect-world.js';

const cellOf = ({kernel}: ActorSystem, path: string): Cell => kernel.cells.get(at(path)) ?? raise(`no actor at ${path}`);

function raise(message: string): never {
	throw new Error(message);
}

const three = {effects: [spawnPuppet('a'), spawnPuppet('b', {effects: [spawnPuppet('c')]})]};

test('the tree of a system: what each actor is, has done and has waiting', t => {
	const {look} = inspectWorld(three);
	const tree = look(t, {verb: 'tree', place: 'test'});
	t.deepEqual(
		[tree.address, tree.behavior, tree.state, tree.about, tree.childCount, tree.handled],
		['troupe://test/', 'puppet', 'running', 'init', 2, 0],
	);
	t.deepEqual(
		tree.children.map(({name, childCount}) => [name, childCount]),
		[
			['a', 0],
			['b', 1],
		],
	);
	t.deepEqual(
		tree.children[1]?.children.map(({address}) => address),
		['troupe://test/b/c'],
	);
});

test('a tree is as deep, and its crowds are as large, as asked for: what is wrong comes first, then what is busy', t => {
	const {look, act: tell} = inspectWorld({
		effects: Array.from({length: 30}, (_, index) => spawnPuppet(`p${index}`, {effects: [spawnPuppet('leaf')]})),
	});
	tell('p20', {throws: 'broken'});
	tell('p7/leaf', {throws: 'broken'});
	const tree = look(t, {verb: 'tree', place: 'test', depth: 1, children: 4});
	t.deepEqual(
		tree.children.map(({name}) => name),
		['p7', 'p20', 'p0', 'p1'],
	);
	t.deepEqual([tree.childCount, tree.wrongBelow, tree.children[0]?.wrongBelow, tree.children[1]?.wrongBelow], [30, 2, 1, undefined]);
	t.deepEqual(
		tree.children.flatMap(({children}) => children),
		[],
	);
	t.is(look(t, {verb: 'tree', place: 'test', depth: 0}).children.length, 0);
});

test('who says that something keeps it from its work is wrong, and after who is about to be restarted', t => {
	const {look, act: tell} = inspectWorld({effects: ['a', 'b', 'c', 'd'].map(name => spawnPuppet(name))});
	tell('b', {throws: 'broken'});
	tell('d', {note: 'trouble: it waits for a disk'});
	const tree = look(t, {verb: 'tree', place: 'test', depth: 1, children: 3});
	t.deepEqual(
		tree.children.map(({name, trouble}) => [name, trouble]),
		[
			['b', undefined],
			['d', 'trouble: it waits for a disk'],
			['a', undefined],
		],
	);
	t.is(tree.wrongBelow, 2);
});

test('a crash of long ago is shown and is nothing wrong any more', t => {
	const {look, act: tell, pass} = inspectWorld(three);
	tell('a', {throws: 'broken'});
	pass(1_000);
	const [a] = look(t, {verb: 'tree', place: 'test/a'}).children;
	t.is(a, undefined);
	const crashed = look(t, {verb: 'tree', place: 'test/a'});
	t.deepEqual([crashed.restarts, crashed.failedAgoMs, crashed.failure?.includes('broken')], [1, 1_000, true]);
	t.is(look(t, {verb: 'tree', place: 'test'}).wrongBelow, 1);
	pass(limits.actorWellMs);
	t.is(look(t, {verb: 'tree', place: 'test'}).wrongBelow, undefined);
});

test('all levels together are bounded, the upper ones first', t => {
	const crowd = Array.from({length: 60}, (_, each) =>
		spawnPuppet(`p${each}`, {effects: Array.from({length: 40}, (_each, leaf) => spawnPuppet(`l${leaf}`))}),
	);
	const {look} = inspectWorld({effects: crowd});
	const tree = look(t, {verb: 'tree', place: 'test', children: 1_000});
	t.is(tree.children.length, 60);
	t.is(1 + 60 + tree.children.reduce((sum, {children}) => sum + children.length, 0), limits.lookActors);
});

test('a describe that throws hides nothing', t => {
	const rude: Behavior<null, null, Message> = {
		kind: 'Rude',
		init: () => next(null),
		receive: state => next(state),
		describe() {
			throw new Error('no word');
		},
	};
	const {look} = inspectWorld({effects: [{type: 'spawn', name: 'rude', behavior: 'Rude'}]}, {behaviors: {Rude: rude}});
	t.is(look(t, {verb: 'tree', place: 'test/rude'}).about, '(its describe throws)');
});

test('the state of an actor, and parts of it', t => {
	const {look, act: tell, refusal} = inspectWorld(three);
	tell('a', {note: 'hello'});
	t.deepEqual(JSON.parse(JSON.stringify(look(t, {verb: 'state', place: 'test/a'}).state)), {notes: ['init', 'hello'], lastEffects: []});
	t.is(look(t, {verb: 'state', place: 'test/a', at: ['notes', '1']}).state, 'hello');
	t.is(refusal({verb: 'state', place: 'test/a', at: ['nothing']}), 'ERR_BAD_REQUEST');
	t.is(refusal({verb: 'state', place: 'test/nobody'}), 'ERR_NO_SUCH_ACTOR');
	t.is(refusal({verb: 'state', place: 'other/a'}), 'ERR_BAD_REQUEST');
});

test('a mailbox is looked at without taking anything', t => {
	const {system, look, tell, log} = inspectWorld(three);
	cellOf(system, 'a').held = {left: 0, untilMs: 60_000, cancel: () => undefined};
	tell('a', note('one'));
	tell('a', note('two'));
	const seen = look(t, {verb: 'mailbox', place: 'test/a'});
	t.deepEqual(JSON.parse(JSON.stringify(seen)), {
		waiting: 2,
		signals: [],
		messages: [
			{message: {type: 'note', text: 'one'}, from: 'troupe://test/edge', cause: 'test'},
			{message: {type: 'note', text: 'two'}, from: 'troupe://test/edge', cause: 'test'},
		],
	});
	t.deepEqual(
		log.filter(line => line.startsWith('a:')),
		['a: init'],
	);
	t.is(look(t, {verb: 'tree', place: 'test/a'}).state, 'paused');
});

test('what an actor is linked with: its parent, watches, questions and timers', t => {
	const {look, act: tell, clock} = inspectWorld(three);
	tell('a', {
		effects: [
			{type: 'watch', address: 'troupe://test/b'},
			{type: 'wakeAt', name: 'later', atMs: clock.nowMs() + 500, message: {type: 'wake'}},
			{type: 'perform', command: {type: 'x'}, key: 'k', as: 'done'},
		],
	});
	const links = look(t, {verb: 'links', place: 'test/a'});
	t.deepEqual([links.parent, links.watching, links.timers], ['troupe://test/', ['troupe://test/b'], [{name: 'later', inMs: 500}]]);
	t.deepEqual(links.counts, {watchers: 0, watching: 1, asks: 0, timers: 1, pending: 0});
	t.deepEqual(look(t, {verb: 'links', place: 'test/b'}).watchers, ['troupe://test/a']);
});

test('how an actor is supervised, and what is left of its intensity', t => {
	const {look, act: tell, pass} = inspectWorld(three);
	tell('a', {throws: 'broken'});
	pass(100);
	const seen = look(t, {verb: 'supervise', place: 'test/a'});
	t.deepEqual(
		[seen.restart, seen.strategy, seen.pastIntensity, seen.intensity, seen.left, seen.restarts, seen.supervisor],
		['transient', 'oneForOne', 'escalate', 3, 2, 1, 'troupe://test/'],
	);
	t.is(seen.lastCrash?.agoMs, 100);
	pass(limits.restartWindowMs);
	t.is(look(t, {verb: 'supervise', place: 'test/a'}).left, 3);
});

test('the actors that have most of something', t => {
	const {look, tell, act: told, inspect, pass} = inspectWorld(three);
	for (let at = 0; at < 5; at++) tell('b/c', act({}));
	told('a', {throws: 'broken'});
	pass(10);
	t.deepEqual(
		look(t, {verb: 'top', place: 'test', by: 'restarts'}).actors.map(({address, value}) => [address, value]),
		[['troupe://test/a', 1]],
	);
	const rates = inspect({verb: 'top', place: 'test', by: 'rate'});
	for (let at = 0; at < 4; at++) tell('b/c', act({}));
	pass(limits.topRateMs);
	const [rate] = rates;
	if (rate?.ok !== true) return t.fail('no answer');
	t.like(rate.value, {actors: [{address: 'troupe://test/b/c', value: 4, handled: 9}], counted: 4});
	const memory = look(t, {verb: 'top', place: 'test', by: 'memory', limit: 2});
	t.deepEqual([memory.counted, memory.actors.length, memory.actors.every(({value}) => value > 30)], [4, 2, true]);
	t.deepEqual(look(t, {verb: 'top', place: 'test/b', by: 'memory'}).counted, 2);
});

test('what a system counts, and the newest messages that reached nobody', t => {
	const {look, tell, clock, run} = inspectWorld(three, {
		options: {counters: () => ({refused: 3}), usage: () => ({memoryBytes: 1, cpuMs: 2, loopBusy: 0})},
	});
	for (let at = 0; at <= limits.deadLettersKept; at++) tell(`nobody${at}`, note('x'.repeat(10_000)));
	run();
	const stats = look(t, {verb: 'stats', place: 'test'});
	t.like(stats, {system: 'test', actors: 4, memoryBytes: 1, cpuMs: 2, counters: {deadLetters: limits.deadLettersKept + 1, refused: 3}});
	const {letters, total} = look(t, {verb: 'deadletters', place: 'test'});
	t.deepEqual([letters.length, total], [limits.deadLettersKept, limits.deadLettersKept + 1]);
	t.deepEqual(letters[0], {
		atMs: clock.nowMs(),
		to: 'troupe://test/nobody1',
		from: 'troupe://test/edge',
		type: 'note',
		cause: 'test',
		why: 'noActor',
	});
});

test('the journal is of the object of the actor', t => {
	const asked: string[] = [];
	const {look, system} = inspectWorld(three, {
		options: {journalOf: key => (asked.push(key), [{version: 3, atMs: 4, type: 'wake', from: 'x', cause: 'y'}])},
	});
	t.deepEqual(look(t, {verb: 'journal', place: 'test/a'}).entries, []);
	cellOf(system, 'a').key = 'pods/default/a';
	t.deepEqual(look(t, {verb: 'journal', place: 'test/a'}).entries, [{version: 3, atMs: 4, type: 'wake', from: 'x', cause: 'y'}]);
	t.deepEqual(asked, ['pods/default/a']);
});

test('a request that makes no sense is refused, and a bug of a look or of a state is an answer', t => {
	const {inspect, refusal, system} = inspectWorld(three);
	for (const request of [{verb: 'dance', place: 'test'}, {verb: 'tree'}, {verb: 'state', place: ''}, {verb: 'state', place: 7}, {}])
		t.is(refusal(request as never), 'ERR_BAD_REQUEST');
	t.is(refusal({verb: 'state', place: 'test/a', at: 7} as never), 'ERR_INTERNAL');
	cellOf(system, 'a').state = new Proxy(
		{},
		{
			ownKeys() {
				throw new Error('mine');
			},
		},
	);
	const [outcome] = inspect({verb: 'state', place: 'test/a'});
	t.like(JSON.parse(JSON.stringify(outcome)), {ok: true, value: {state: {'…': {$: 'unreadable', of: {error: 'mine'}}}}});
});

test('a look at 100,000 actors is done in slices, with others in between', t => {
	// Each look at the clock is a millisecond later.
	const clock = new ManualClock();
	const late = {...clockOf(clock), monotonicMs: () => (clock.advance(1), clock.monotonicMs())};
	const {inspector, executor, tell, log, system} = inspectWorld(
		{effects: Array.from({length: 100_000}, (_, index) => spawnPuppet(`p${index}`))},
		{system: {clock: late}},
	);
	const outcomes: Outcome<unknown>[] = [];
	inspector.inspect({verb: 'tree', place: 'test', children: 10}, outcome => outcomes.push(outcome));
	t.deepEqual(outcomes, []);
	tell('p5', note('meanwhile'));
	for (let turns = 0; log.at(-1) !== 'p5: note meanwhile'; turns++) {
		executor.runOne();
		t.true(turns < 10);
	}
	t.deepEqual(outcomes, []);
	executor.run();
	t.like(outcomes, [{ok: true, value: {childCount: 100_000}}]);
	inspector.close();
	t.is(system.size, 100_001);
});

test('so many large looks are under way; one more is told to come again', t => {
	const clock = new ManualClock();
	const late = {...clockOf(clock), monotonicMs: () => (clock.advance(1), clock.monotonicMs())};
	const {inspector, executor} = inspectWorld(
		{effects: Array.from({length: 100}, (_, index) => spawnPuppet(`p${index}`))},
		{system: {clock: late}},
	);
	const outcomes: Outcome<unknown>[] = [];
	for (let look = 0; look <= limits.looks; look++) inspector.inspect({verb: 'tree', place: 'test'}, outcome => outcomes.push(outcome));
	t.like(outcomes, [{ok: false, error: {code: 'ERR_BUSY'}}]);
	executor.run();
	t.is(outcomes.filter(({ok}) => ok).length, limits.looks);
	inspector.close();
});

const clockOf = (clock: ManualClock): Clock => ({
	nowMs: () => clock.nowMs(),
	monotonicMs: () => clock.monotonicMs(),
	after: (ms, then) => clock.after(ms, then),
});
