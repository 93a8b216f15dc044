import test from 'ava';
import type {ChangeAnswer, ChangeRequest} from '../../../api/inspect.js';
import {limits} from '../../../api/limits.js';
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
	const outcomes = world.inspect({verb: 'ask', place: 'test/a', message: {type: 'note'}, deadlineMs: 100});
	world.pass(200);
	t.like(outcomes, [{ok: false, error: {code: 'ERR_TIMEOUT'}}]);
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
		`troupe://test/a takes no message for ${limits.inspectUsualMs} ms, unless it is resumed`,
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
	t.is(said(world, {verb: 'kill', place: 'test/b'}), 'troupe://test/b has crashed');
	world.pass(10);
	t.is(world.refusal({verb: 'kill', place: 'test/b'}), 'ERR_NO_SUCH_ACTOR');
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
