import test from 'ava';
import {limits} from '../../../api/limits.js';
import type {Outcome} from '../../../api/errors.js';
import {address} from '../../../api/keys.js';
import {ActorSystem} from '../../../system/kernel/actor-system.js';
import type {Message} from '../../../system/kernel/behavior.js';
import {systemClock, type Clock} from '../../../system/time/clock.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {createNactExecutor} from '../../../system/kernel/nact-executor.js';
import {systemRandom} from '../../../system/time/random.js';
import {at, observing} from './actor-world.js';
import {act, getNotes, note, puppet, spawnPuppet, type Play} from './puppet.js';

/** A turn of the event loop: what was due runs, and I/O was looked at. */
const loopTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

/** Turns of the loop until something is so; an end that never comes fails. */
async function loopsUntil(condition: () => boolean, most = 100_000): Promise<number> {
	for (let loops = 0; loops < most; loops++) {
		if (condition()) return loops;
		await loopTurn();
	}
	throw new Error('it never comes');
}

// ---- turns -----------------------------------------------------------------------------------------------------------------------------

test('a requested turn is given once, soon, and never inside the request', async t => {
	const executor = createNactExecutor(systemClock);
	t.teardown(executor.close);
	let turns = 0;
	const seat = executor.seat(() => {
		turns++;
		return false;
	});
	seat.request();
	seat.request();
	t.is(turns, 0);
	await loopsUntil(() => turns > 0);
	await loopTurn();
	t.is(turns, 1);
	seat.request();
	await loopsUntil(() => turns > 1);
	t.is(turns, 2);
});

test('who has more to do gets another turn; a request within a turn is one more', async t => {
	const executor = createNactExecutor(systemClock);
	t.teardown(executor.close);
	let turns = 0;
	const seat = executor.seat(() => {
		turns++;
		if (turns === 5) seat.request();
		return turns < 4;
	});
	seat.request();
	await loopsUntil(() => turns === 4);
	await loopTurn();
	seat.request();
	await loopsUntil(() => turns === 6);
	for (let loops = 0; loops < 10; loops++) await loopTurn();
	t.is(turns, 6);
});

test('who has left gets no turn, whatever was requested before or after', async t => {
	const executor = createNactExecutor(systemClock);
	t.teardown(executor.close);
	let turns = 0;
	const seats = Array.from({length: 2_000}, () =>
		executor.seat(() => {
			turns++;
			return false;
		}),
	);
	for (const seat of seats) seat.request();
	for (const seat of seats) seat.leave();
	for (const seat of seats) seat.request();
	for (let loops = 0; loops < 20; loops++) await loopTurn();
	t.is(turns, 0);
});

test('thousands that leave with a turn requested take no turns from the rest', async t => {
	const executor = createNactExecutor(systemClock);
	t.teardown(executor.close);
	for (let round = 0; round < 20; round++) {
		const seats = Array.from({length: 300}, () => executor.seat(() => false));
		for (const seat of seats) seat.request();
		await (round % 2 === 0 ? Promise.resolve() : loopTurn());
		for (const seat of seats) {
			seat.leave();
			seat.leave();
		}
	}
	let turns = 0;
	for (let seats = 0; seats < 1_000; seats++) {
		executor
			.seat(() => {
				turns++;
				return false;
			})
			.request();
	}
	await loopsUntil(() => turns === 1_000);
	t.is(turns, 1_000);
});

/** A clock that only the turns themselves move. */
function laboured(): {readonly clock: Clock; readonly work: (ms: number) => void} {
	let nowMs = 0;
	return {
		clock: {...systemClock, monotonicMs: () => nowMs},
		work(ms) {
			nowMs += ms;
		},
	};
}

test('ten thousand runnable actors never hold up the event loop for more than a slice', async t => {
	const {clock, work} = laboured();
	const executor = createNactExecutor(clock);
	t.teardown(executor.close);
	const actors = 10_000;
	let turns = 0;
	for (let seats = 0; seats < actors; seats++) {
		executor
			.seat(() => {
				turns++;
				work(1);
				return false;
			})
			.request();
	}
	let most = 0;
	let before = 0;
	const loops = await loopsUntil(() => {
		most = Math.max(most, turns - before);
		before = turns;
		return turns === actors;
	});
	// A turn of 1 ms: a slice and the turn that ends it, on both sides of where this test looks.
	t.true(most <= 2 * (limits.runSliceMs + 1), `${most} turns without a look at I/O`);
	t.true(loops >= actors / (2 * (limits.runSliceMs + 1)), `${loops} looks`);
	t.true(loops <= actors, `${loops} looks: it makes headway at each`);
});

test('actors that are never done take turns: each gets as many as the other', async t => {
	const {clock, work} = laboured();
	const executor = createNactExecutor(clock);
	const turns = Array.from({length: 1_000}, () => 0);
	let running = true;
	t.teardown(() => {
		running = false;
		executor.close();
	});
	for (const index of turns.keys()) {
		executor
			.seat(() => {
				turns[index] = (turns[index] ?? 0) + 1;
				work(0.1);
				return running;
			})
			.request();
	}
	await loopsUntil(() => turns[0] !== undefined && turns[0] >= 10);
	t.true(Math.min(...turns) >= 8, `the slowest had ${Math.min(...turns)} turns`);
	t.true(Math.max(...turns) <= 12, `the fastest had ${Math.max(...turns)} turns`);
});

// ---- the rows of nact's own behaviour that could reach an actor ---------------------------------------------------------------------

function aSystem(t: {readonly teardown: (end: () => void) => void}, first: Play = {}, clock: Clock = systemClock) {
	const executor = createNactExecutor(clock);
	const log: string[] = [];
	const {observer, onEscalation, ...seen} = observing();
	const system = new ActorSystem({
		name: 'test',
		executor,
		clock,
		random: systemRandom,
		behaviors: {puppet: puppet(line => log.push(line))},
		...(observer === undefined ? {} : {observer}),
		...(onEscalation === undefined ? {} : {onEscalation}),
	});
	t.teardown(() => {
		system.close();
		executor.close();
	});
	system.start('puppet', first);
	return {
		...seen,
		system,
		log,
		tell: (path: string, message: Message) => system.tell(at(path), message, 'test'),
		ask: (path: string, message: Message) =>
			new Promise<Outcome<unknown>>(resolve => system.ask(at(path), message, {deadlineMs: 5_000, cause: 'test'}, resolve)),
	};
}

test('what is sent and then stopped over in the same tick is lost to nobody: askers are told, tells are dead letters', async t => {
	const {system, deadLetters, tell, ask} = aSystem(t, {effects: [spawnPuppet('a')]});
	const asked = ask('a', getNotes);
	for (const text of ['1', '2', '3']) tell('a', note(text));
	system.stop(() => undefined);
	t.like(await asked, {ok: false, error: {code: 'ERR_ACTOR_STOPPED'}});
	t.is(deadLetters.length, 4);
	t.like(await ask('a', getNotes), {ok: false, error: {code: 'ERR_NO_SUCH_ACTOR'}});
});

test('a handler that throws keeps its mailbox, and its asker does not wait for a time-out', async t => {
	const {tell, ask, log} = aSystem(t, {effects: [spawnPuppet('a')]});
	const crashed = ask('a', act({throws: 'bug'}));
	tell('a', note('after'));
	t.like(await crashed, {ok: false, error: {code: 'ERR_ACTOR_CRASHED'}});
	t.deepEqual(await ask('a', getNotes), {ok: true, value: ['init', 'note after']});
	t.deepEqual(log, [': init', 'a: init', 'a: init', 'a: note after']);
});

test('an actor whose first state throws does not spin: the loop turns on while it backs off', async t => {
	const clock = new ManualClock();
	const {lifecycle, escalations} = aSystem(t, {effects: [spawnPuppet('a', {throws: 'born broken'}, 'permanent')]}, clock);
	const crashes = (): number => lifecycle.filter(({type}) => type === 'crashed').length;
	for (const [passMs, expected] of [
		[0, 2],
		[limits.actorRestartFirstMs - 1, 2],
		[1, 3],
		[limits.actorRestartFirstMs, 3],
	] as const) {
		clock.advance(passMs);
		for (let loops = 0; loops < 20; loops++) await loopTurn();
		t.is(crashes(), expected);
	}
	t.deepEqual(escalations, []);
});

test('stopping a parent stops its children, in a real executor too', async t => {
	const {tell, system, log, ask} = aSystem(t, {effects: [spawnPuppet('s', {effects: [spawnPuppet('x'), spawnPuppet('y')]})]});
	tell('s/x', note('handled first'));
	await ask('s/x', getNotes);
	await ask('', act({effects: [{type: 'stopChild', name: 's'}]}));
	await ask('', getNotes);
	t.deepEqual(log.slice(-4), ['s/y: signal stop', 's/x: signal stop', 's: signal stop', ': down s stopped']);
	t.is(system.size, 1);
});

test('a name that is used again at once reaches the new actor only, and the old one’s last word comes first', async t => {
	const {tell, ask, log} = aSystem(t, {effects: [spawnPuppet('a')]});
	await ask('', act({effects: [{type: 'stopChild', name: 'a'}, spawnPuppet('a')]}));
	tell('a', note('for the new one'));
	t.deepEqual(await ask('a', getNotes), {ok: true, value: ['init', 'note for the new one']});
	t.deepEqual(
		log.filter(line => line.startsWith('a:')),
		['a: init', 'a: signal stop', 'a: init', 'a: note for the new one'],
	);
});

test('any name of an object is a name of an actor', async t => {
	const names = ['default.web-1', 'with:colon', 'ümläut', 'spaces and % signs', '~=@'];
	const {ask} = aSystem(t, {effects: names.map(name => spawnPuppet(name))});
	for (const name of names) t.deepEqual(await ask(name, getNotes), {ok: true, value: ['init']}, name);
});

test('a thousand questions at a time get each its own answer', async t => {
	const {ask} = aSystem(t, {effects: Array.from({length: 1_000}, (_, index) => spawnPuppet(`c${index}`, {note: `I am ${index}`}))});
	const answers = await Promise.all(Array.from({length: 1_000}, (_, index) => ask(`c${index}`, getNotes)));
	for (const [index, answer] of answers.entries()) t.deepEqual(answer, {ok: true, value: ['init', `I am ${index}`]});
});

test('an actor with a thousand children handles its messages as fast as one with none', async t => {
	const {ask, tell, log} = aSystem(t, {effects: Array.from({length: 1_000}, (_, index) => spawnPuppet(`c${index}`))});
	for (let index = 0; index < limits.mailboxMessages; index++) tell('', note('x'));
	await loopsUntil(() => log.filter(line => line === ': note x').length === limits.mailboxMessages, 1_000);
	t.true((await ask('', getNotes)).ok);
});

test('messages of one actor to another are in order', async t => {
	const {ask, log} = aSystem(t, {effects: [spawnPuppet('a'), spawnPuppet('b')]});
	const texts = Array.from({length: 500}, (_, index) => String(index));
	await ask('a', act({effects: texts.map(text => ({type: 'tell', to: address('test', 'b'), message: note(text)}))}));
	await ask('b', getNotes);
	t.deepEqual(
		log.filter(line => line.startsWith('b: note')),
		texts.map(text => `b: note ${text}`),
	);
});
