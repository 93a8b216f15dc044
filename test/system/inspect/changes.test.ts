import test from 'ava';
import type {ChangeAnswer, ChangeRequest} from '../../../api/inspect.js';
import {succeeded} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {next, reply, tell, type Behavior, type Message} from '../../../system/kernel/behavior.js';
import {lettersOf, lifecycleOf} from '../kernel/actor-world.js';
import {act, getNotes, note, spawnPuppet} from '../kernel/puppet.js';
import {inspectWorld, type InspectWorld} from './inspect-world.js';

const two = {effects: [spawnPuppet('a', {effects: [spawnPuppet('child')]}), spawnPuppet('b', {}, 'temporary'), spawnPuppet('inspector')]};

const said = ({inspect}: InspectWorld, request: ChangeRequest): string => {
	const [outcome] = inspect(request);
	if (outcome === undefined) return 'no answer';
	return outcome.ok ? (outcome.value as ChangeAnswer).done : outcome.error.message;
};

const ofA = ({log}: InspectWorld): readonly string[] => log.filter(line => line.startsWith('a: ')).map(line => line.slice(3));

const json = (value: object): ChangeRequest & {verb: 'tell'} => value as never;

test('an actor is told a message, and asked for an answer', t => {
	const world = inspectWorld(two);
	t.is(said(world, json({verb: 'tell', place: 'test/a', message: note('hello')})), 'troupe://test/a was told "note"');
	t.deepEqual(ofA(world), ['init', 'note hello']);
	const [outcome] = world.inspect({verb: 'ask', place: 'test/a', message: getNotes});
	t.deepEqual(outcome, {ok: true, value: {done: 'troupe://test/a answered "getNotes"', value: ['init', 'note hello']}});
});

test('an ask that fails, and one that nobody answers, are told', t => {
	const world = inspectWorld(two);
	t.is(world.refusal({verb: 'ask', place: 'test/a', message: act({throws: 'broken'})}), 'ERR_ACTOR_CRASHED');
	world.pass(1);
	t.is(
		said(world, {verb: 'ask', place: 'test/a', message: {type: 'note'}}),
		'"troupe://test/a" took "note", and has no answer to it: tell it instead',
	);
	t.is(said(world, {verb: 'ask', place: 'test/a', message: {type: 'unknown'}}), '"troupe://test/a" knows no message "unknown"');
	world.inspect({verb: 'pause', place: 'test/a'});
	t.is(
		said(world, {verb: 'ask', place: 'test/a', message: getNotes}),
		'"troupe://test/a" is paused, and answers nothing: resume it first, or tell it',
	);
	t.is(world.system.kernel.probe, undefined, 'nobody looks any more');
});

/** What it does with a question before it answers; `later` has it answered. */
const keeper: Behavior<null, ReadonlyMap<string, unknown>, Message> = {
	kind: 'Keeper',
	init: () => next(new Map()),
	receive(kept, {type, replyTo}, {self}) {
		switch (type) {
			case 'keep':
				return next(new Map([...kept, ['question', {deep: [replyTo]}]]));
			case 'wrap':
				return next(new Map([...kept, ['question', () => replyTo]]));
			case 'passOn':
				return next(kept, [tell(self, {type: 'later', replyTo})]);
			case 'later':
				return next(kept, reply(replyTo, succeeded('at last')));
			default:
				return next(new Map([...kept, ['count', kept.size]]));
		}
	},
};

test('an ask waits for as long as the actor may hold the question: in its state, or in a message of its own', t => {
	const world = inspectWorld({effects: [{type: 'spawn', name: 'a', behavior: 'keeper'}]}, {behaviors: {keeper}});
	const asked = (type: string) => world.inspect({verb: 'ask', place: 'test/a', message: {type}, deadlineMs: 100});
	t.like(asked('passOn'), [{ok: true, value: {value: 'at last'}}]);
	t.like(asked('count'), [{ok: false, error: {code: 'ERR_BAD_REQUEST'}}]);
	for (const type of ['keep', 'wrap']) {
		const outcomes = asked(type);
		t.deepEqual(outcomes, [], type);
		world.pass(200);
		t.like(outcomes, [{ok: false, error: {code: 'ERR_TIMEOUT'}}], type);
	}
	t.is(world.system.kernel.probe, undefined, 'nobody looks any more');
});

test('what no stranger may send is refused', t => {
	const {refusal, log, inspect} = inspectWorld(two);
	for (const message of [
		{type: 'watchActor', id: 1},
		{type: 'answered', id: '1', outcome: {ok: true, value: 1}},
		{type: 'note', replyTo: {to: 'troupe://test/b', as: 'x', id: '1'}},
		{},
		null,
	])
		t.is(refusal(json({verb: 'tell', place: 'test/a', message})), 'ERR_BAD_REQUEST', JSON.stringify(message));
	for (const verb of ['tell', 'ask'])
		t.is(refusal(json({verb, place: 'test/inspector', message: note('a request that is in no audit log')})), 'ERR_BAD_REQUEST', verb);
	t.deepEqual(
		log.filter(line => line.startsWith('inspector: note')),
		[],
	);
	t.is(refusal(json({verb: 'tell', place: 'test/nobody', message: note('x')})), 'ERR_NO_SUCH_ACTOR');
	t.deepEqual(
		log.filter(line => line.startsWith('a: ')),
		['a: init'],
	);
	inspect({verb: 'pause', place: 'test/a'});
	for (let each = 0; each < limits.mailboxMessages; each++) inspect(json({verb: 'tell', place: 'test/a', message: note('x')}));
	t.is(refusal(json({verb: 'tell', place: 'test/a', message: note('one more')})), 'ERR_BUSY');
});

test('a paused actor takes no message, then so many, then all; its signals go on', t => {
	const world = inspectWorld(two);
	const {tell, run, look, act: doIn} = world;
	doIn('a', {effects: [{type: 'watch', address: 'troupe://test/b'}]});
	t.is(
		said(world, {verb: 'pause', place: 'test/a'}),
		`troupe://test/a takes no message for ${limits.inspectUsualMs / 1_000} s, unless it is resumed`,
	);
	for (const text of ['1', '2', '3', '4']) tell('a', note(text));
	doIn('', {effects: [{type: 'stopChild', name: 'b'}]});
	t.deepEqual(ofA(world), ['init', 'down b stopped']);
	t.like(look(t, {verb: 'tree', place: 'test/a'}), {state: 'paused', waiting: 4, pausedForMs: limits.inspectUsualMs});
	t.is(said(world, {verb: 'step', place: 'test/a'}), 'troupe://test/a takes one message; 4 wait');
	t.deepEqual(ofA(world).slice(2), ['note 1']);
	t.is(said(world, {verb: 'step', place: 'test/a', count: 2}), 'troupe://test/a takes 2 messages; 3 wait');
	t.deepEqual(ofA(world).slice(3), ['note 2', 'note 3']);
	t.is(said(world, {verb: 'resume', place: 'test/a'}), 'troupe://test/a goes on; 1 message waits');
	run();
	t.deepEqual(ofA(world).slice(5), ['note 4']);
	t.is(look(t, {verb: 'tree', place: 'test/a'}).state, 'running');
	t.is(world.refusal({verb: 'resume', place: 'test/a'}), 'ERR_BAD_REQUEST');
	t.is(world.refusal({verb: 'step', place: 'test/a'}), 'ERR_BAD_REQUEST');
});

test('a step of an actor for which nothing waits says so, and lets it take what comes', t => {
	const world = inspectWorld(two);
	world.inspect({verb: 'pause', place: 'test/a'});
	t.is(said(world, {verb: 'step', place: 'test/a'}), 'no message waits for troupe://test/a: it takes the next one that comes');
	t.is(said(world, {verb: 'step', place: 'test/a'}), 'no message waits for troupe://test/a: it takes the next 2 that come');
	for (const text of ['1', '2', '3']) world.tell('a', note(text));
	world.run();
	t.deepEqual(ofA(world), ['init', 'note 1', 'note 2']);
});

test('a pause ends by itself, a second one begins its time anew, and none is longer than allowed', t => {
	const world = inspectWorld(two);
	const {tell, pass, inspect, look} = world;
	inspect({verb: 'pause', place: 'test/a', forMs: 1_000});
	tell('a', note('x'));
	pass(900);
	inspect({verb: 'pause', place: 'test/a', forMs: 1_000});
	pass(999);
	t.deepEqual(ofA(world), ['init']);
	pass(1);
	t.deepEqual(ofA(world), ['init', 'note x']);
	inspect({verb: 'pause', place: 'test/a', forMs: 1e12});
	t.is(look(t, {verb: 'tree', place: 'test/a'}).pausedForMs, limits.inspectForMs);
});

test('a paused actor can be stopped, and a crash does not end its pause', t => {
	const world = inspectWorld(two);
	const {inspect, tell, pass, look, act: doIn, refusal} = world;
	inspect({verb: 'pause', place: 'test/a'});
	inspect({verb: 'kill', place: 'test/a'});
	pass(10);
	tell('a', note('x'));
	pass(10);
	t.deepEqual(ofA(world), ['init', 'init']);
	t.is(look(t, {verb: 'tree', place: 'test/a'}).state, 'paused');
	doIn('', {effects: [{type: 'stopChild', name: 'a'}]});
	t.is(refusal({verb: 'mailbox', place: 'test/a'}), 'ERR_NO_SUCH_ACTOR');
	pass(limits.inspectUsualMs);
	t.deepEqual(lettersOf(world), ['note to a: stopped']);
	t.is(refusal({verb: 'pause', place: 'test/inspector'}), 'ERR_BAD_REQUEST');
});

test('a kill is a crash: the supervisor does what its strategy says', t => {
	const world = inspectWorld(two);
	t.is(said(world, {verb: 'kill', place: 'test/a'}), 'troupe://test/a has crashed');
	world.pass(10);
	t.deepEqual(lifecycleOf(world), ['crashed a', 'restarted a']);
	t.is(said(world, {verb: 'kill', place: 'test/b'}), 'troupe://test/b has crashed, and is gone: it is temporary');
	world.pass(10);
	t.is(world.refusal({verb: 'kill', place: 'test/b'}), 'ERR_NO_SUCH_ACTOR');
});

const resting: Behavior<null, null, Message> = {
	kind: 'Resting',
	pastIntensity: 'backOff',
	init: () => next(null),
	receive: () => undefined,
};

test('what a kill did is said as it is: a wait before the next start, a rest, a supervisor that fails with it', t => {
	const first = {effects: [...two.effects, {type: 'spawn', name: 'resting', behavior: 'resting'} as const]};
	const world = inspectWorld(first, {behaviors: {resting}});
	const killed = (path: string): string => said(world, {verb: 'kill', place: `test/${path}`});
	killed('resting');
	world.pass(1);
	t.is(killed('resting'), 'troupe://test/resting has crashed');
	t.is(killed('resting'), '"troupe://test/resting" does not run: it has ended, and is being started again by itself');
	world.pass(1_000);
	killed('resting');
	world.pass(1_000);
	t.is(killed('resting'), 'troupe://test/resting has crashed, once too often: it is started again after a rest');
	for (let each = 0; each < limits.restartIntensity; each++) {
		t.is(killed('a/child'), 'troupe://test/a/child has crashed');
		world.pass(1_000);
	}
	t.is(killed('a/child'), 'troupe://test/a/child has crashed, once too often: its supervisor fails with it');
	t.deepEqual(lifecycleOf(world).slice(-3), ['crashed a/child', 'escalated a/child', 'crashed a']);
});

test('what ends the actor by which it is asked for is answered first; a kill that would end the process is refused', t => {
	const world = inspectWorld(two);
	const what = 'troupe://test/ crashes, and begins anew with all that is below it';
	for (let each = 0; each < limits.restartIntensity; each++) {
		const seen: string[] = [];
		world.inspector.inspect({verb: 'kill', place: 'test'}, outcome => {
			seen.push(outcome.ok ? (outcome.value as ChangeAnswer).done : outcome.error.message, ...lifecycleOf(world).slice(2 * each));
		});
		t.deepEqual(seen, [what], 'before it is done');
		world.pass(1_000);
		t.deepEqual(lifecycleOf(world).slice(2 * each), ['crashed ', 'restarted ']);
	}
	t.regex(said(world, {verb: 'kill', place: 'test'}), /^"troupe:\/\/test\/" has crashed 3 times within 60 s, .* Restart it instead$/);
	for (const path of ['a', 'a', 'a', 'a']) {
		t.is(said(world, {verb: 'restart', place: 'test'}), 'troupe://test/ ends, its children first, and begins anew');
		world.pass(1);
		t.is(said(world, {verb: 'kill', place: `test/${path}`}), `troupe://test/${path} has crashed`);
		world.pass(1_000);
	}
	t.deepEqual(world.escalations, []);
});

test('the cause of what follows is who asked for it', t => {
	const world = inspectWorld(two);
	const letter = {type: 'unknown'};
	for (const verb of ['tell', 'ask'] as const)
		world.inspector.inspect({verb, place: 'test/a', message: letter}, () => undefined, 'mqtt ann tell test/a');
	world.run();
	t.deepEqual(
		world.deadLetters.map(({cause}) => cause),
		['mqtt ann tell test/a', 'mqtt ann tell test/a'],
	);
});

test('a restart ends an actor in order and begins it anew, as often as somebody wants', t => {
	const world = inspectWorld(two);
	world.act('a', {lastEffects: []});
	for (let each = 0; each <= limits.restartIntensity + 2; each++) {
		t.is(said(world, {verb: 'restart', place: 'test/a'}), 'troupe://test/a ends, its children first, and begins anew');
		world.pass(1);
	}
	t.deepEqual(world.log.filter(line => line.includes('signal stop')).slice(0, 2), ['a/child: signal stop', 'a: signal stop']);
	t.like(world.look(t, {verb: 'tree', place: 'test/a'}), {state: 'running', restarts: limits.restartIntensity + 3, childCount: 1});
	t.is(world.look(t, {verb: 'supervise', place: 'test/a'}).left, limits.restartIntensity);
	t.deepEqual(
		lifecycleOf(world).filter(line => line.startsWith('crashed')),
		[],
	);
	t.is(world.refusal({verb: 'restart', place: 'test/b'}), 'ERR_BAD_REQUEST');
});

test('the root of a system is restarted like any other', t => {
	const world = inspectWorld(two);
	t.is(said(world, {verb: 'restart', place: 'test'}), 'troupe://test/ ends, its children first, and begins anew');
	world.pass(1);
	t.is(world.look(t, {verb: 'tree', place: 'test'}).childCount, 3);
});
