// Who is told of whose end: once, in this system and across systems, whatever races with it.

import test from 'ava';
import {address} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {DownReason, Effect, Message, Signal} from '../../../system/kernel/behavior.js';
import {next, type Behavior} from '../../../system/kernel/behavior.js';
import {downsPath} from '../../../system/kernel/watch-message.js';
import {actorWorld, at, lettersOf} from './actor-world.js';
import {farWorld, noTrouble, type FarSystem, type FarWorld} from '../links/far-world.js';
import {note, spawnPuppet} from './puppet.js';

const watch = (to: string): Effect => ({type: 'watch', address: to});
const unwatch = (to: string): Effect => ({type: 'unwatch', address: to});
const tellFar = (to: string, message: Message): Effect => ({type: 'tell', to, message});

const downsOf = ({log}: {readonly log: readonly string[]}): readonly string[] => log.filter(line => line.includes(': down'));

// ---- in one system -------------------------------------------------------------------------------------------------------------------

type Down = Extract<Signal, {type: 'down'}>;

/** Keeps the signals as they are. */
function listening() {
	const heard: Down[] = [];
	const listener: Behavior<null, null, Message & {readonly effects?: readonly Effect[]}> = {
		kind: 'Listener',
		init: () => next(null),
		receive: (state, {effects = []}) => next(state, effects),
		signal(state, signal) {
			if (signal.type === 'down') heard.push(signal);
			return next(state);
		},
	};
	const world = actorWorld({effects: [spawnPuppet('a'), {type: 'spawn', name: 'w', behavior: 'listener'}]}, {}, {listener});
	const tell = (effects: readonly Effect[]): void => {
		world.tell('w', {type: 'act', effects} as Message);
		world.run();
	};
	return {...world, heard, watches: tell};
}

test('an end is told with the address, the reason, and a number that no other instance has', t => {
	const world = listening();
	world.watches([watch(at('a'))]);
	world.act('a', {stops: true});
	world.act('', {effects: [spawnPuppet('a')]});
	world.watches([watch(at('a'))]);
	world.act('a', {throws: 'a bug'});
	world.pass(0);
	world.act('', {effects: [{type: 'stopChild', name: 'a'}]});
	const [first, second] = world.heard;
	t.like(first, {address: at('a'), reason: {type: 'normal'}});
	t.like(second, {address: at('a'), reason: {type: 'stopped'}});
	t.is(world.heard.length, 2);
	t.true((second?.instance ?? 0) > (first?.instance ?? 0) + 1, 'the restart was another instance, too');
});

test('a crash for good is told with the error', t => {
	const world = listening();
	world.act('', {effects: [spawnPuppet('t', {}, 'temporary')]});
	world.watches([watch(at('t'))]);
	world.act('t', {throws: 'a bug of its own'});
	t.like(world.heard[0]?.reason, {type: 'crashed', error: {code: 'ERR_ACTOR_CRASHED'}});
});

test('who unwatches hears nothing any more, not even what waits already', t => {
	const world = listening();
	world.watches([watch(at('a')), unwatch(at('a'))]);
	world.watches([watch(at('nobody')), unwatch(at('nobody'))]);
	world.act('a', {stops: true});
	t.deepEqual(world.heard, []);
	world.watches([unwatch(at('a')), unwatch(at('never watched'))]);
	world.act('', {effects: [spawnPuppet('a')]});
	world.watches([watch(at('a')), unwatch(at('a')), watch(at('a'))]);
	world.act('a', {stops: true});
	t.is(world.heard.length, 1, 'and may watch again');
});

test('a supervisor hears of its children, watched or not, once', t => {
	const world = actorWorld({effects: [spawnPuppet('a'), spawnPuppet('b'), watch(at('a')), watch(at('a')), unwatch(at('b'))]});
	world.act('a', {stops: true});
	world.act('b', {stops: true});
	t.deepEqual(downsOf(world), [': down a normal', ': down b normal']);
});

test('who watches two that end, and ends itself, troubles nobody', t => {
	const world = actorWorld({effects: ['a', 'b', 'w'].map(name => spawnPuppet(name))});
	world.act('w', {effects: [watch(at('a')), watch(at('b')), watch(at('w'))]});
	world.act('w', {stops: true});
	world.act('a', {stops: true});
	t.deepEqual(lettersOf(world), []);
	t.deepEqual(downsOf(world), [': down w normal', ': down a normal']);
});

// ---- between systems --------------------------------------------------------------------------------------------------------------------

const farAt = (path: string): string => address('b', path);

function pair(seed?: number): {readonly world: FarWorld; readonly a: FarSystem; readonly b: FarSystem} {
	const world = farWorld(seed);
	const a = world.join('a', {effects: [spawnPuppet('w'), spawnPuppet('v')]});
	const b = world.join('b', {effects: ['x', 'y'].map(name => spawnPuppet(name))});
	return {world, a, b};
}

const watchWords = ({sent}: FarSystem): readonly string[] =>
	sent.flatMap(({envelope: {message}}) => (/^(un)?watchActor|actorDown$/.test(message.type) ? [message.type] : []));

test('an actor of another system is watched like one here: its end is told once, with its reason and instance', t => {
	const {world, a, b} = pair();
	a.act('w', {effects: [watch(farAt('x')), watch(farAt('x'))]});
	world.run();
	b.act('x', {throws: 'a bug'});
	world.run();
	t.deepEqual(downsOf(a), [], 'a restart is no end');
	b.act('x', {stops: true});
	world.run();
	t.deepEqual(downsOf(a), ['w: down x normal']);
	t.like(b.sent.at(-1)?.envelope.message, {type: 'actorDown', reason: {type: 'normal'}});
	t.true(((b.sent.at(-1)?.envelope.message as {instance?: number} | undefined)?.instance ?? 0) > 0);
	world.run(60_000);
	t.is(downsOf(a).length, 1);
});

test('each sort of end arrives as it was', t => {
	const {world, a, b} = pair();
	const effects: Effect[] = [
		spawnPuppet('temporary', {}, 'temporary'),
		{type: 'spawn', name: 'killed', behavior: 'puppet', shutdownMs: 'brutalKill', input: {}},
	];
	b.act('', {effects});
	a.act('w', {effects: ['x', 'y', 'temporary', 'killed', 'nobody'].map(name => watch(farAt(name)))});
	world.run();
	b.act('x', {stops: true});
	b.act('', {
		effects: [
			{type: 'stopChild', name: 'y'},
			{type: 'stopChild', name: 'killed'},
		],
	});
	b.act('temporary', {throws: 'a bug'});
	world.run();
	t.deepEqual([...downsOf(a)].sort(), [
		'w: down killed killed',
		'w: down nobody noProcess',
		'w: down temporary crashed',
		'w: down x normal',
		'w: down y stopped',
	]);
});

test('however many watch an address, it is watched once, and unwatched with the last of them', t => {
	const {world, a, b} = pair();
	for (const name of ['w', 'v']) a.act(name, {effects: [watch(farAt('x')), watch(farAt('y'))]});
	world.run();
	a.act('w', {effects: [unwatch(farAt('x')), unwatch(farAt('y'))]});
	a.act('v', {effects: [unwatch(farAt('x'))]});
	world.run();
	t.deepEqual(watchWords(a), ['watchActor', 'watchActor', 'unwatchActor']);
	b.act('', {effects: ['x', 'y'].map(name => ({type: 'stopChild', name}))});
	world.run();
	t.deepEqual(watchWords(b), ['actorDown']);
	t.deepEqual(downsOf(a), ['v: down y stopped']);
});

test('a watcher that crashes or ends watches nothing any more over there', t => {
	const {world, a} = pair();
	a.act('w', {effects: [watch(farAt('x'))]});
	a.act('v', {effects: [watch(farAt('y'))]});
	a.act('w', {throws: 'a bug'});
	a.act('v', {stops: true});
	world.run();
	t.deepEqual(watchWords(a), ['watchActor', 'watchActor', 'unwatchActor', 'unwatchActor']);
});

test('a peer that comes back as another ends every watch of it: nobody knows what became of the actor', t => {
	const {world, a, b} = pair();
	a.act('w', {effects: [watch(farAt('x')), watch(farAt('y')), watch(address('c', 'x'))]});
	world.run();
	b.kill();
	const again = world.join('b', {effects: [spawnPuppet('x'), tellFar(address('a', 'v'), note('here again'))]});
	world.run(10_000);
	t.deepEqual(downsOf(a), ['w: down x noConnection', 'w: down y noConnection']);
	again.act('x', {stops: true});
	world.run();
	t.is(downsOf(a).length, 2, 'the new one is another');
	t.deepEqual(watchWords(again), []);
});

test('when the watching system comes back as another, nobody is told on behalf of the old one', t => {
	const {world, a, b} = pair();
	a.act('w', {effects: [watch(farAt('x'))]});
	world.run();
	a.kill();
	const again = world.join('a', {effects: [spawnPuppet('w'), tellFar(farAt('y'), note('here again'))]});
	world.run(10_000);
	b.act('x', {stops: true});
	world.run();
	t.deepEqual(watchWords(b), []);
	t.deepEqual(downsOf(again), []);
});

test('a peer that is declared gone ends every watch of it at once; should it live, it forgets them when it can be told', t => {
	const {world, a, b} = pair();
	a.act('w', {effects: [watch(farAt('x'))]});
	world.run();
	world.cut.add('b');
	const outcomes: unknown[] = [];
	a.system.ask(farAt('x'), {type: 'getNotes'}, {deadlineMs: 60_000, cause: 'test'}, outcome => outcomes.push(outcome));
	a.act('', {effects: [{type: 'declareGone', system: 'b'}]});
	t.deepEqual(downsOf(a), ['w: down x noConnection']);
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_OUTCOME_UNKNOWN'}});
	world.cut.clear();
	world.run(10_000);
	b.act('x', {stops: true});
	world.run();
	t.is(downsOf(a).length, 1);
	t.deepEqual(watchWords(b), []);
});

test('a system that leads nowhere, or takes no more, cannot be watched, and that is said at once', t => {
	const alone = actorWorld();
	alone.act('', {effects: [watch('troupe://b/x')]});
	t.deepEqual(downsOf(alone), [': down x noConnection']);
	const {world, a} = pair();
	world.cut.add('b');
	for (let index = 0; index < limits.streamWindowMessages; index++) a.system.tell(farAt('x'), note('x'), 'test');
	a.act('w', {effects: [watch(farAt('x'))]});
	t.deepEqual(downsOf(a), ['w: down x noConnection']);
	t.deepEqual(lettersOf(a), [], 'it is no dead letter');
});

test('an end is told even if nothing went to the watcher’s system when it came about', t => {
	const {world, a, b} = pair();
	a.act('w', {effects: [watch(farAt('x')), watch(farAt('y'))]});
	world.run();
	world.cut.add('a');
	for (let index = 0; index < limits.streamWindowMessages; index++) b.system.tell(address('a', 'v'), note(`${index}`), 'test');
	b.act('', {effects: ['x', 'y'].map(name => ({type: 'stopChild', name}))});
	world.run(60_000);
	t.deepEqual(downsOf(a), []);
	world.cut.clear();
	world.run(30_000);
	t.deepEqual([...downsOf(a)].sort(), ['w: down x stopped', 'w: down y stopped']);
	t.deepEqual(lettersOf(b), []);
});

test('what is owed to a system is forgotten with it, and keeps no timer', t => {
	const {world, a, b} = pair();
	a.act('w', {effects: [watch(farAt('x'))]});
	world.run();
	world.cut.add('a');
	for (let index = 0; index < limits.streamWindowMessages; index++) b.system.tell(address('a', 'v'), note('x'), 'test');
	b.act('x', {stops: true});
	a.kill();
	b.kill();
	world.run(0); // What is under way arrives nowhere.
	t.is(world.clock.nextAtMs(), undefined);
});

test('what is owed to a system is not told to its next incarnation, which gives the same numbers to its own watches', t => {
	const {world, a, b} = pair();
	a.act('w', {effects: [watch(farAt('x'))]});
	world.run();
	world.cut.add('a');
	for (let index = 0; index < limits.streamWindowMessages; index++) b.system.tell(address('a', 'v'), note('x'), 'test');
	b.act('x', {stops: true});
	a.kill();
	world.run(0);
	world.cut.clear();
	const again = world.join('a', {effects: [spawnPuppet('w')]});
	again.act('w', {effects: [watch(farAt('y'))]});
	world.run(30_000);
	t.deepEqual(downsOf(again), [], 'y lives');
	b.act('y', {stops: true});
	world.run();
	t.deepEqual(downsOf(again), ['w: down y normal']);
});

test('one peer watches so many actors; of a further one it hears that it cannot', t => {
	const world = farWorld();
	const count = limits.watchesPerPeer;
	const a = world.join('a', {effects: [spawnPuppet('w')]});
	const b = world.join('b', {effects: Array.from({length: count + 1}, (_, index) => spawnPuppet(`x${index}`))});
	const portion = limits.streamWindowMessages / 2;
	for (let from = 0; from <= count; from += portion) {
		const names = Array.from({length: Math.min(portion, count + 1 - from)}, (_, index) => `x${from + index}`);
		a.act('w', {effects: names.map(name => watch(farAt(name)))});
		world.run(200);
	}
	t.deepEqual(downsOf(a), [`w: down x${count} noConnection`]);
	a.act('w', {effects: [unwatch(farAt('x0')), watch(farAt(`x${count}`))]});
	world.run(200);
	b.act(`x${count}`, {stops: true});
	world.run(200);
	t.is(downsOf(a).at(-1), `w: down x${count} normal`);
});

// ---- peers that lie ------------------------------------------------------------------------------------------------------------------------

test('what makes no sense is refused, and no peer can say what another one watched', t => {
	const {world, a} = pair();
	a.act('w', {effects: [watch(farAt('x'))]});
	world.run();
	const receive = (peer: string, message: object): boolean =>
		a.system.receive(peer, address('a', downsPath), {message: message as Message, from: address(peer, 'x'), cause: 'x', outside: true});
	const id = (a.sent.at(-1)?.envelope.message as {id?: number} | undefined)?.id;
	const reason: DownReason = {type: 'normal'};
	const wrong: object[] = [
		{type: 'watchActor'},
		{type: 'watchActor', id: '1'},
		{type: 'watchActor', id: 0},
		{type: 'unwatchActor', id: 1.5},
		{type: 'actorDown', id},
		{type: 'actorDown', id, reason: 'normal'},
		{type: 'actorDown', id, reason: {type: 'constructor'}},
		{type: 'actorDown', id, reason: {type: 'crashed'}},
		{type: 'actorDown', id, reason: {type: 'crashed', error: {code: 7}}},
		{type: 'actorDown', id: null, reason},
	];
	for (const message of wrong) t.false(receive('b', message), JSON.stringify(message));
	t.false(receive('evil', {type: 'actorDown', id, reason}));
	world.run();
	t.deepEqual(downsOf(a), []);
	t.true(receive('b', {type: 'actorDown', id: 999, reason}), 'of what was unwatched meanwhile');
	t.deepEqual(downsOf(a), []);
	t.true(receive('b', {type: 'actorDown', id, instance: 'x', reason}));
	world.run(0);
	t.deepEqual(downsOf(a), ['w: down x normal']);
});

test('an id that is used twice is one watch', t => {
	const {world, b} = pair();
	const message: Message & {id: number} = {type: 'watchActor', id: 1};
	for (let count = 0; count < 2; count++)
		b.system.receive('a', farAt('x'), {message, from: address('a', downsPath), cause: 'x', outside: true});
	b.act('x', {stops: true});
	world.run();
	t.deepEqual(watchWords(b), ['actorDown']);
});

test('an id that stands for another actor than before is the watch of a later incarnation, heard of on the other lane first', t => {
	const {world, b} = pair();
	const message: Message & {id: number} = {type: 'watchActor', id: 1};
	for (const name of ['x', 'y']) b.system.receive('a', farAt(name), {message, from: address('a', downsPath), cause: 'x', outside: true});
	b.act('x', {stops: true});
	world.run();
	t.deepEqual(watchWords(b), []);
	b.act('y', {stops: true});
	world.run();
	t.deepEqual(watchWords(b), ['actorDown']);
});

// ---- everything at once -----------------------------------------------------------------------------------------------------------------------

const targets = ['x', 'y'];

/** What each watcher did and heard, in its own order: a word of an end that it does not watch, or none of one that came, breaks the rule. */
function brokenRules({log}: FarSystem): readonly string[] {
	const watching = new Set<string>();
	const broken: string[] = [];
	for (const line of log) {
		const [, who = '', what = '', target = ''] = /^(\w): (watch|unwatch|down) (\w)/.exec(line) ?? [];
		const pairName = `${who} ${target}`;
		if (what === 'watch') watching.add(pairName);
		else if (what !== '' && !watching.delete(pairName) && what === 'down') broken.push(`${pairName} was told without a watch`);
	}
	return [...broken, ...[...watching].map(each => `${each} was never told`)];
}

test('under loss, repetition, delay, restarts and races, each watch ends with one word and none comes without', t => {
	let heard = 0;
	for (let seed = 1; seed <= 150; seed++) {
		const {world, a, b: first} = pair(seed);
		let b = first;
		world.trouble = {drop: world.random() * 0.2, repeat: world.random() * 0.2, delay: world.random() * 0.4, delayMs: 300};
		const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(world.random() * values.length)] as Value;
		for (let act = 0; act < 30; act++) {
			const who = pick(['w', 'v']);
			const target = pick(targets);
			const sort = world.random();
			if (sort < 0.4) a.tell(who, {type: 'act', play: {note: `watch ${target}`, effects: [watch(farAt(target))]}} as Message);
			else if (sort < 0.55) a.tell(who, {type: 'act', play: {note: `unwatch ${target}`, effects: [unwatch(farAt(target))]}} as Message);
			else if (sort < 0.7) b.tell('', {type: 'act', play: {effects: [{type: 'stopChild', name: target}]}} as Message);
			else if (sort < 0.85) b.tell('', {type: 'act', play: {effects: [spawnPuppet(target)]}} as Message);
			else if (sort < 0.97) b.tell(target, {type: 'act', play: {throws: 'a bug'}} as Message);
			else {
				b.kill();
				b = world.join('b', {effects: [spawnPuppet('x'), tellFar(address('a', 'v'), note('again'))]});
			}
			if (world.random() < 0.5) world.run(world.random() * 400);
		}
		world.trouble = noTrouble;
		world.run(30_000);
		b.act('', {effects: targets.map(name => ({type: 'stopChild', name}))});
		world.run(30_000);
		t.deepEqual(brokenRules(a), [], `seed ${seed}: ${a.log.join(', ')}`);
		heard += downsOf(a).length;
	}
	t.true(heard > 500, `only ${heard} ends were heard of`);
});
