// What nact does in each situation of its own that could reach a cell, and what a cell does instead. The title has nact's part; each
// runs in turns of several seeds, and under nact itself.

import test, {type ExecutionContext} from 'ava';
import {failed, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {ActorSystem} from '../../../system/kernel/actor-system.js';
import type {AnyBehavior, Effect, Message} from '../../../system/kernel/behavior.js';
import type {Executor} from '../../../system/kernel/executor.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {createNactExecutor} from '../../../system/kernel/nact-executor.js';
import {seededRandom} from '../../../system/time/random.js';
import {createSequencer} from '../../../system/world/sequencer.js';
import {at, observing, type Seen} from './actor-world.js';
import {act, getNotes, note, puppet, spawnPuppet, type Play} from './puppet.js';
import {holding, keeper, type Holding} from './supervision-world.js';
import {nodeAt} from './actor-tree.js';

type Row = Seen &
	Pick<Holding, 'isCommitting' | 'settle'> & {
		readonly system: ActorSystem;
		readonly clock: ManualClock;
		readonly log: string[];
		/** Lets all run that can without time passing. */
		readonly run: () => Promise<void>;
		readonly pass: (ms: number) => Promise<void>;
		readonly tell: (path: string, message: Message) => void;
		readonly ask: (path: string, message: Message, deadlineMs?: number) => Outcome<unknown>[];
		readonly act: (path: string, play: Play) => Promise<void>;
	};

type Turns = {readonly executor: Executor; readonly runAll: () => Promise<void>};

function seeded(seed: number): Turns {
	const executor = createSequencer(seededRandom(seed));
	return {
		executor,
		runAll() {
			while (executor.runOne());
			return Promise.resolve();
		},
	};
}

/** A turn of nact is one of the loop; so many bring every short story to its end. */
const settlingTurns = 40;

function nact(clock: ManualClock): Turns {
	return {
		executor: createNactExecutor(clock),
		async runAll() {
			for (let turn = 0; turn < settlingTurns; turn++) await new Promise<void>(resolve => setImmediate(resolve));
		},
	};
}

function rowOf(clock: ManualClock, {executor, runAll}: Turns, first: Play, behaviors: {readonly [name: string]: AnyBehavior}): Row {
	const log: string[] = [];
	const write = (line: string): void => void log.push(line);
	const {observer, onEscalation, ...seen} = observing();
	const {persistent, isCommitting, settle} = holding();
	const system = new ActorSystem({
		name: 'test',
		executor,
		clock,
		random: seededRandom(1),
		persistent,
		behaviors: {puppet: puppet(write), keeper: keeper(write), ...behaviors},
		...(observer === undefined ? {} : {observer}),
		...(onEscalation === undefined ? {} : {onEscalation}),
	});
	system.start('puppet', first);
	const tell = (path: string, message: Message): void => system.tell(at(path), message, 'test');
	return {
		...seen,
		system,
		clock,
		log,
		isCommitting,
		settle,
		run: runAll,
		async pass(ms) {
			const untilMs = clock.nowMs() + ms;
			await runAll();
			for (let due = clock.nextAtMs(); due !== undefined && due <= untilMs; due = clock.nextAtMs()) {
				clock.fireNext();
				await runAll();
			}
			clock.advance(untilMs - clock.nowMs());
		},
		tell,
		ask(path, message, deadlineMs = 1_000) {
			const outcomes: Outcome<unknown>[] = [];
			system.ask(at(path), message, {deadlineMs, cause: 'test'}, outcome => outcomes.push(outcome));
			return outcomes;
		},
		async act(path, play) {
			tell(path, act(play));
			await runAll();
		},
	};
}

const seeds = [1, 2, 3, 4, 5];

/** One row, under several seeds and under nact. */
function row(
	title: string,
	first: Play,
	play: (t: ExecutionContext, world: Row) => Promise<void>,
	behaviors: {readonly [name: string]: AnyBehavior} = {},
): void {
	for (const seed of seeds) test(`${title} (seed ${seed})`, t => begin(t, new ManualClock(), () => seeded(seed)));
	test(`${title} (nact)`, t => {
		const clock = new ManualClock();
		return begin(t, clock, () => nact(clock));
	});

	async function begin(t: ExecutionContext, clock: ManualClock, turnsOf: () => Turns): Promise<void> {
		const turns = turnsOf();
		const world = rowOf(clock, turns, first, behaviors);
		t.teardown(() => {
			world.system.close();
			turns.executor.close();
		});
		await turns.runAll();
		await play(t, world);
	}
}

const child = (name: string, over: Partial<Extract<Effect, {type: 'spawn'}>> = {}): Effect => ({
	type: 'spawn',
	name,
	behavior: 'puppet',
	input: {},
	...over,
});
const stopA: Play = {effects: [{type: 'stopChild', name: 'a'}]};
const linesOf = ({log}: Row, path: string): string[] =>
	log.filter(line => line.startsWith(`${path}:`)).map(line => line.slice(path.length + 2));

row('dispatch to a stopped actor is lost without a trace: here it is a dead letter', {effects: [spawnPuppet('a')]}, async (t, world) => {
	await world.act('', stopA);
	world.tell('a', note('hello?'));
	t.deepEqual(
		world.deadLetters.map(({to, from, messageType, cause, why}) => [to, from, messageType, cause, why]),
		[[at('a'), at('edge'), 'note', 'test', 'noActor']],
	);
});

row(
	'query to a stopped actor rejects, later only times out: here every way to fail is answered, once',
	{effects: [spawnPuppet('a')]},
	async (t, world) => {
		const waiting = world.ask('a', getNotes);
		const crashing = world.ask('a', act({throws: 'a bug'}));
		await world.run();
		world.tell('', act(stopA));
		const stopped = world.ask('a', getNotes);
		await world.run();
		const gone = world.ask('a', getNotes);
		const atOnce = world.ask('', note('no answer'), 0);
		await world.pass(5_000);
		t.like(waiting, [{ok: true}]);
		t.like(crashing, [{ok: false, error: {code: 'ERR_ACTOR_CRASHED'}}]);
		t.true(stopped.length === 1);
		t.like(gone, [{ok: false, error: {code: 'ERR_NO_SUCH_ACTOR'}}]);
		t.like(atOnce, [{ok: false, error: {code: 'ERR_TIMEOUT'}}], 'a deadline of nothing is one, too');
		t.is(waiting.length + crashing.length + gone.length + atOnce.length, 4);
	},
);

const failing = failed('ERR_RUNTIME', {message: 'as said'});

row(
	'a reply with an Error resolves with it: here a failure is a failed outcome',
	{effects: [child('a', {behavior: 'refuser'})]},
	async (t, world) => {
		const outcomes = world.ask('a', {type: 'try'});
		await world.run();
		t.deepEqual(outcomes, [failing]);
	},
	{
		refuser: {
			kind: 'Refuser',
			init: () => ({state: null, effects: []}),
			receive: (state: null, {replyTo}: Message) => ({
				state,
				effects: replyTo === undefined ? [] : [{type: 'reply', to: replyTo, outcome: failing}],
			}),
		},
	},
);

row(
	'of messages and a stop in one tick the first is lost without a trace: here each is a dead letter',
	{effects: [spawnPuppet('a')]},
	async (t, world) => {
		for (const text of ['1', '2', '3']) world.tell('a', note(text));
		world.system.stop(() => undefined);
		await world.run();
		t.deepEqual(linesOf(world, 'a'), ['init', 'signal stop']);
		t.deepEqual(
			world.deadLetters.map(({messageType, why}) => [messageType, why]),
			Array.from({length: 3}, () => ['note', 'stopped']),
		);
	},
);

const withKeeper: Play = {effects: [child('a', {behavior: 'keeper'}), spawnPuppet('b')]};

row(
	'a stop in mid-step runs the clean-up before the step has ended: here it waits for the commit, within its deadline',
	withKeeper,
	async (t, world) => {
		await world.act('a', {}); // No message of it: nothing happens.
		world.tell('a', {type: 'write'});
		await world.run();
		await world.act('', stopA);
		t.deepEqual(linesOf(world, 'a'), ['init']);
		world.settle('a');
		await world.run();
		t.deepEqual(linesOf(world, 'a'), ['init', 'committed', 'signal stop']);
	},
);

row('a step that fails after the stop cleans up twice: here once, and the late outcome is nothing', withKeeper, async (t, world) => {
	world.tell('a', {type: 'write'});
	await world.run();
	await world.act('', stopA);
	await world.pass(limits.shutdownMs + limits.deadlineBucketMs);
	t.is(nodeAt(world.system, at('a')), undefined, 'killed');
	world.settle('a', false);
	await world.run();
	t.deepEqual(linesOf(world, 'a'), ['init']);
	t.deepEqual(linesOf(world, ''), ['init', 'down a killed']);
	t.is(world.system.counters.crashes, 0);
});

row(
	'a reset that was decided during a stop initialises a dead actor: here a stop ends the wait for a restart',
	{effects: [spawnPuppet('a')]},
	async (t, world) => {
		for (let crash = 0; crash < 2; crash++) {
			await world.act('a', {throws: 'a bug'});
			await world.pass(0);
		}
		t.is(nodeAt(world.system, at('a'))?.state, 'restarting');
		await world.act('', stopA);
		await world.pass(60_000);
		t.deepEqual(linesOf(world, 'a'), ['init', 'init']);
		t.is(world.clock.nextAtMs(), undefined);
	},
);

row('a name can be used again while its old owner still cleans up: here not before it has ended', withKeeper, async (t, world) => {
	world.tell('a', {type: 'write'});
	await world.run();
	await world.act('', {effects: [{type: 'stopChild', name: 'a'}, child('a')]});
	t.deepEqual(linesOf(world, 'a'), ['init'], 'the name is taken');
	world.settle('a');
	await world.run();
	await world.act('', {effects: [child('a')]});
	t.deepEqual(linesOf(world, 'a'), ['init', 'committed', 'signal stop', 'init']);
});

row(
	'old references reach a new actor of the name: here timers, answers and watches of the old one do not',
	{effects: [spawnPuppet('a'), spawnPuppet('w')]},
	async (t, world) => {
		const timer: Effect = {type: 'wakeAt', name: 'x', atMs: world.clock.nowMs() + 500, message: note('of the old one')};
		await world.act('w', {effects: [{type: 'watch', address: at('a')}]});
		await world.act('a', {
			effects: [timer, {type: 'ask', to: at('w'), message: note('unanswered'), as: 'answered', id: '1', deadlineMs: 500}],
		});
		await world.act('', stopA);
		await world.act('', {effects: [spawnPuppet('a')]});
		await world.pass(5_000);
		await world.act('', stopA);
		t.deepEqual(linesOf(world, 'a'), ['init', 'signal stop', 'init', 'signal stop']);
		t.deepEqual(linesOf(world, 'w'), ['init', 'note unanswered', 'down a stopped']);
	},
);

const nested: Play = {effects: [spawnPuppet('a', {effects: [spawnPuppet('b', {effects: [spawnPuppet('c')]})]})]};

row(
	'a reset stops the children and orphans theirs: here all below end, leaves first, and the mailbox is kept',
	nested,
	async (t, world) => {
		world.tell('a', act({throws: 'a bug'}));
		world.tell('a', note('kept'));
		await world.pass(0);
		t.deepEqual(world.log.slice(4), ['a/b/c: signal stop', 'a/b: signal stop', 'a: init', 'a/b: init', 'a/b/c: init', 'a: note kept']);
		t.deepEqual(linesOf(world, 'a'), ['init', 'init', 'note kept']);
		t.deepEqual([...world.system.addresses()].sort(), [at(''), at('a'), at('a/b'), at('a/b/c')]);
		t.deepEqual(
			world.deadLetters.map(({messageType, why}) => [messageType, why]),
			[['act', 'crashed']],
		);
	},
);

row(
	'a child that escalates and is resumed stays busy for ever: here it is started again with its supervisor',
	{effects: [spawnPuppet('s', {effects: [spawnPuppet('a')]})]},
	async (t, world) => {
		for (let crash = 0; crash <= limits.restartIntensity; crash++) {
			await world.act('s/a', {throws: 'a bug'});
			await world.pass(1_000);
		}
		t.is(world.lifecycle.filter(({type}) => type === 'escalated').length, 1);
		const notes = world.ask('s/a', getNotes);
		await world.run();
		t.deepEqual(notes, [{ok: true, value: ['init']}]);
		t.deepEqual(world.escalations, []);
	},
);

row(
	'a policy that nobody gave is an escalation: here it is a restart',
	{effects: [child('a', {behavior: 'plain'})]},
	async (t, world) => {
		world.tell('a', {type: 'x'});
		await world.pass(0);
		t.deepEqual(
			world.lifecycle.map(({type}) => type),
			['crashed', 'restarted'],
		);
	},
	{
		plain: {
			kind: 'Plain',
			init: () => ({state: null, effects: []}),
			receive() {
				throw undefined; // eslint-disable-line @typescript-eslint/only-throw-error -- a bug may throw anything
			},
		},
	},
);

row(
	'an asynchronous crash handler keeps the mailbox waiting: so does the back-off here',
	{effects: [spawnPuppet('a')]},
	async (t, world) => {
		for (let crash = 0; crash < 2; crash++) {
			await world.act('a', {throws: 'a bug'});
			if (crash === 0) await world.pass(0);
		}
		for (const text of ['1', '2']) world.tell('a', note(text));
		await world.pass(limits.actorRestartFirstMs - 1);
		t.deepEqual(linesOf(world, 'a'), ['init', 'init']);
		await world.pass(1);
		t.deepEqual(linesOf(world, 'a'), ['init', 'init', 'init', 'note 1', 'note 2']);
	},
);

row(
	'a first state that throws hangs the process: here the actor backs off, and then its supervisor hears',
	{effects: [spawnPuppet('s', {effects: [spawnPuppet('a', {throws: 'born broken'})]})]},
	async (t, world) => {
		await world.pass(0);
		const crashes = (): number => world.lifecycle.filter(({type}) => type === 'crashed').length;
		t.true(crashes() <= 2);
		await world.pass(3 * limits.actorRestartFirstMs);
		t.true(world.lifecycle.some(({type, address}) => type === 'escalated' && address === at('s/a')));
		t.true(crashes() < 10);
	},
);

row('messages of one sender are in order: here, too', {effects: [spawnPuppet('a'), spawnPuppet('b')]}, async (t, world) => {
	const texts = Array.from({length: 100}, (_, index) => String(index));
	await world.act('b', {effects: texts.map(text => ({type: 'tell', to: at('a'), message: note(text)}))});
	await world.run();
	t.deepEqual(
		linesOf(world, 'a').slice(1),
		texts.map(text => `note ${text}`),
	);
});

const oddNames = ['default.web-1', 'with:colon', 'at@home', 'ümläut', 'two words', '50%', '~=', '(a)'];

row('a name takes few characters: here all that an object’s has', {effects: oddNames.map(name => spawnPuppet(name))}, async (t, world) => {
	for (const name of oddNames) {
		const notes = world.ask(name, getNotes);
		await world.run();
		t.deepEqual(notes, [{ok: true, value: ['init']}], name);
	}
});

row(
	'a step that never ends wedges the actor behind an unbounded mailbox: here the mailbox is bounded, and a stop has its deadline',
	withKeeper,
	async (t, world) => {
		world.tell('a', {type: 'write'});
		await world.run();
		for (let count = 0; count < limits.mailboxMessages; count++) world.tell('a', note('x'));
		const refused = world.ask('a', getNotes);
		world.tell('a', note('one too many'));
		t.like(refused, [{ok: false, error: {code: 'ERR_BUSY'}}]);
		t.deepEqual(
			world.deadLetters.map(({messageType, why}) => [messageType, why]),
			[
				['getNotes', 'busy'],
				['note', 'busy'],
			],
		);
		await world.act('b', {note: 'others go on'});
		t.is(linesOf(world, 'b').at(-1), 'others go on');
		await world.act('', stopA);
		await world.pass(limits.shutdownMs + limits.deadlineBucketMs);
		t.deepEqual(linesOf(world, '').slice(-1), ['down a killed']);
	},
);
