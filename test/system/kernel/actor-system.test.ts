import test from 'ava';
import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {AnyBehavior, AnyReply, Command, Effect, Message, ReplyTo} from '../../../system/kernel/behavior.js';
import type {Envelope} from '../../../system/kernel/mailbox.js';
import {actorWorld, at, lettersOf, type ActorWorld} from './actor-world.js';
import {act, getNotes, note, spawnPuppet} from './puppet.js';
import {nodeAt, treeOf} from './actor-tree.js';

const askEffect = (to: string, message: Message, id: string, deadlineMs?: number): Effect => ({
	type: 'ask',
	to,
	message,
	as: 'answered',
	id,
	...(deadlineMs === undefined ? {} : {deadlineMs}),
});

// ---- messages ------------------------------------------------------------------------------------------------------------

test('messages of one sender reach one target in their order', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	const texts = Array.from({length: 200}, (_, index) => `${index}`);
	world.act('', {effects: texts.map(text => ({type: 'tell', to: at('a'), message: note(text)}))});
	t.deepEqual(
		world.log.slice(2),
		texts.map(text => `a: note ${text}`),
	);
});

test('an actor with much to do gives way to the others after a batch', t => {
	const world = actorWorld({effects: [spawnPuppet('busy'), spawnPuppet('other')]});
	for (let index = 0; index < 3 * limits.cellBatchMessages; index++) world.system.wake(at('busy'), note(`${index}`), 'test');
	world.tell('other', note('my turn'));
	world.run();
	const atIndex = world.log.indexOf('other: note my turn');
	t.is(world.log.slice(3, atIndex).length, limits.cellBatchMessages);
});

test('a message to nobody is a dead letter, and whoever asked is told at once', t => {
	const world = actorWorld();
	world.tell('nobody', note('hello?'));
	const outcomes = world.ask('nobody', getNotes);
	t.deepEqual(lettersOf(world), ['note to nobody: noActor', 'getNotes to nobody: noActor']);
	t.like(world.deadLetters[0], {from: at('edge'), cause: 'test'});
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_NO_SUCH_ACTOR'}});
	t.is(world.system.counters.deadLetters, 2);
});

test('a message that an actor does not know is a dead letter, an asker is told at once, and nothing else happens', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	world.tell('a', note('before'));
	world.tell('a', {type: 'unknown'});
	const outcomes = world.ask('a', {type: 'unknown'});
	world.run();
	t.deepEqual(lettersOf(world), ['unknown to a: notUnderstood', 'unknown to a: notUnderstood']);
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_BAD_REQUEST', details: {message: '"troupe://test/a" knows no message "unknown"'}}});
	t.deepEqual([world.lifecycle, world.log], [[], [': init', 'a: init', 'a: note before']]);
});

test('a wake of nobody is nothing lost', t => {
	const world = actorWorld();
	world.system.wake(at('nobody'), {type: 'wake'}, 'test');
	t.deepEqual(world.deadLetters, []);
});

test('what is addressed to another system is handed to the bus, with its sender and cause', t => {
	const sent: [string, string, Envelope][] = [];
	const world = actorWorld({}, {remote: (...parts) => void sent.push(parts)});
	world.act('', {effects: [{type: 'tell', to: 'troupe://node-a/pods', message: note('over there')}]});
	t.deepEqual(sent, [['node-a', 'troupe://node-a/pods', {message: note('over there'), from: at(''), cause: 'test', outside: false}]]);
});

test('the cause is copied to everything that follows', t => {
	const causes: string[] = [];
	const world = actorWorld({effects: [spawnPuppet('a')]}, {remote: (_system, _to, {cause}) => void causes.push(cause)});
	const far: Effect = {type: 'tell', to: 'troupe://far/x', message: note('x')};
	const timer: Effect = {type: 'wakeAt', name: 'later', atMs: world.clock.nowMs() + 10, message: act({effects: [far]})};
	const relay: Effect = {type: 'tell', to: at('a'), message: act({effects: [far, timer]})};
	world.system.tell(at(''), act({effects: [relay]}), 'kubectl apply of admin');
	world.pass(100);
	t.deepEqual(causes, ['kubectl apply of admin', 'kubectl apply of admin']);
	world.act('a', {effects: [{...timer, atMs: world.clock.nowMs() + 10, cause: 'a round'}]});
	world.pass(10);
	t.is(causes.at(-1), 'a round', 'but a timer may have one of its own');
});

// ---- the bound of the mailbox ----------------------------------------------------------------------------------------------

test('from outside so many messages may wait: then asks get ERR_BUSY and tells are dead letters', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	for (let index = 0; index < limits.mailboxMessages; index++) world.tell('a', note(`${index}`));
	const refused = world.ask('a', getNotes);
	world.tell('a', note('one too many'));
	t.like(refused[0], {ok: false, error: {code: 'ERR_BUSY', details: {address: at('a'), waiting: limits.mailboxMessages}}});
	t.deepEqual(lettersOf(world), ['getNotes to a: busy', 'note to a: busy']);
	world.run();
	const taken = world.ask('a', getNotes);
	world.run();
	t.true(taken[0]?.ok);
	t.is(world.log.filter(line => line.startsWith('a: note')).length, limits.mailboxMessages);
});

test('what actors of the same system send is never refused', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	const count = 4 * limits.mailboxMessages;
	for (let index = 0; index < limits.mailboxMessages; index++) world.tell('a', note(`${index}`));
	world.system.tell(
		at(''),
		act({effects: Array.from({length: count}, (_, index): Effect => askEffect(at('a'), getNotes, `${index}`))}),
		'test',
	);
	world.run();
	t.is(world.log.filter(line => line.startsWith(': answered')).length, count);
	t.deepEqual(world.deadLetters, []);
});

test('an answer is taken by a full mailbox too', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	world.act('a', {effects: [askEffect(at(''), getNotes, '1')]});
	world.act('a', {effects: [askEffect(at(''), getNotes, '2')]});
	world.tell('a', act({effects: [askEffect(at(''), getNotes, '3')]}));
	world.executor.runOne();
	for (let index = 0; index < limits.mailboxMessages; index++) world.tell('a', note(`${index}`));
	world.run();
	t.is(world.log.filter(line => line.startsWith('a: answered')).length, 3);
	t.deepEqual(world.deadLetters, []);
});

// ---- asks --------------------------------------------------------------------------------------------------------------------

test('an ask from outside has one outcome: the answer, or ERR_TIMEOUT that names who did not answer', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	const answered = world.ask('a', getNotes, 500);
	const silent = world.ask('a', note('no answer to this'), 500);
	world.pass(499);
	t.deepEqual(silent, []);
	world.pass(limits.askDeadlineMs);
	t.deepEqual(answered, [succeeded(['init'])]);
	t.is(silent.length, 1);
	t.like(silent[0], {ok: false, error: {code: 'ERR_TIMEOUT', details: {address: at('a'), deadlineMs: 500}}});
});

test('an ask of an actor has one outcome, within its deadline', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	world.act('', {effects: [askEffect(at('a'), getNotes, '1', 500), askEffect(at('a'), note('silence'), '2', 500)]});
	t.deepEqual(world.log.slice(-2), ['a: note silence', ': answered ["init"]']);
	world.pass(600);
	t.is(world.log.at(-1), ': answered ERR_TIMEOUT');
	world.pass(60_000);
	t.is(world.log.filter(line => line.startsWith(': answered')).length, 2);
});

test('the same question is open once: asked again meanwhile, it is not sent', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	world.act('', {effects: [askEffect(at('a'), note('once'), '1'), askEffect(at('a'), note('twice'), '1')]});
	world.pass(limits.askDeadlineMs + 100);
	t.deepEqual(world.log.slice(2), ['a: note once', ': answered ERR_TIMEOUT']);
	world.act('', {effects: [askEffect(at('a'), getNotes, '1')]});
	t.is(world.log.at(-1), ': answered ["init","note once"]');
});

/** As the bus brings it from the system `far`. */
function answerFromFar({system}: ActorWorld, {to, as, id}: ReplyTo, value: unknown): void {
	const message: AnyReply = {type: as, id, outcome: succeeded(value)};
	system.receive('far', to, {message, from: 'troupe://far/x', cause: 'test', outside: true});
}

test('an answer that comes after its deadline is dropped and counted', t => {
	let late: Envelope | undefined;
	const world = actorWorld({}, {remote: (_system, _to, envelope) => (late = envelope)});
	world.act('', {effects: [askEffect('troupe://far/x', getNotes, '1', 100)]});
	world.pass(200);
	const replyTo = late?.message.replyTo;
	if (replyTo === undefined) throw new Error('nothing was asked');
	answerFromFar(world, replyTo, 'too late');
	world.run();
	t.deepEqual(world.log.slice(1), [': answered ERR_TIMEOUT']);
	t.is(world.system.counters.staleReplies, 1);
	t.deepEqual(world.deadLetters, []);
});

test('an answer for an actor that ended meanwhile is stale, not a dead letter', t => {
	let asked: Envelope | undefined;
	const world = actorWorld({effects: [spawnPuppet('a')]}, {remote: (_system, _to, envelope) => (asked = envelope)});
	world.act('a', {effects: [askEffect('troupe://far/x', getNotes, '1')], stops: true});
	if (asked?.message.replyTo === undefined) throw new Error('nothing was asked');
	answerFromFar(world, asked.message.replyTo, 1);
	t.is(world.system.counters.staleReplies, 1);
	t.deepEqual(world.deadLetters, []);
});

test('answers that wait for an actor when it crashes are not given to its next instance', t => {
	const world = actorWorld({effects: [spawnPuppet('a'), spawnPuppet('b')]});
	world.tell('a', act({effects: [askEffect(at('b'), getNotes, '1')]}));
	world.executor.runOne();
	world.tell('a', act({throws: 'bug'}));
	world.pass(1_000);
	t.deepEqual(
		world.log.filter(line => line.startsWith('a:')),
		['a: init', 'a: init'],
	);
});

test('when a peer system restarts, what was asked of it has an unknown outcome, for actors and from outside', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]}, {remote: () => undefined});
	world.act('a', {effects: [askEffect('troupe://far/x', getNotes, '1'), askEffect('troupe://other/x', getNotes, '2')]});
	const outcomes: Outcome<unknown>[] = [];
	world.system.ask('troupe://far/y', getNotes, {deadlineMs: 1_000, cause: 'test'}, outcome => outcomes.push(outcome));
	world.system.peerRestarted('far');
	world.run();
	t.deepEqual(world.log.slice(2), ['a: answered ERR_OUTCOME_UNKNOWN']);
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_OUTCOME_UNKNOWN'}});
	world.pass(limits.askDeadlineMs + 100);
	t.is(outcomes.length, 1);
	t.deepEqual(world.log.slice(3), ['a: answered ERR_TIMEOUT']);
});

// ---- timers ------------------------------------------------------------------------------------------------------------------

const wakeAt = (name: string, atMs: number, text: string): Effect => ({type: 'wakeAt', name, atMs, message: note(text)});

test('a named timer comes at its time; a second one of its name replaces it; a cancelled one never comes', t => {
	const world = actorWorld();
	const nowMs = world.clock.nowMs();
	world.act('', {effects: [wakeAt('x', nowMs + 100, 'first'), wakeAt('y', nowMs + 200, 'y'), wakeAt('z', nowMs + 10, 'z')]});
	world.act('', {effects: [wakeAt('x', nowMs + 300, 'second'), {type: 'cancelWake', name: 'z'}]});
	world.pass(250);
	t.deepEqual(world.log.slice(1), [': note y']);
	world.pass(50);
	t.deepEqual(world.log.slice(1), [': note y', ': note second']);
	world.pass(10_000);
	t.is(world.log.length, 3);
});

test('a time that is past comes at once', t => {
	const world = actorWorld();
	world.act('', {effects: [wakeAt('x', 0, 'overdue')]});
	world.pass(0);
	t.is(world.log.at(-1), ': note overdue');
});

test('a timer that has fallen due and waits is still cancelled, or replaced', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	const nowMs = world.clock.nowMs();
	world.act('a', {effects: [wakeAt('x', nowMs + 100, 'cancelled'), wakeAt('y', nowMs + 100, 'replaced'), wakeAt('z', nowMs + 100, 'z')]});
	world.tell('a', act({effects: [{type: 'cancelWake', name: 'x'}, wakeAt('y', nowMs + 500, 'later')]}));
	world.clock.advance(100);
	world.pass(1_000);
	t.deepEqual(
		world.log.filter(line => line.startsWith('a: note')),
		['a: note z', 'a: note later'],
	);
	t.deepEqual(world.deadLetters, []);
});

test('what has fallen due for an instance that crashed before it was heard is nothing to the next', t => {
	const world = actorWorld({effects: [spawnPuppet('a')]});
	world.act('a', {effects: [wakeAt('x', world.clock.nowMs() + 100, 'from the grave')]});
	world.tell('a', act({throws: 'bug'}));
	world.clock.advance(100);
	world.pass(1_000);
	t.deepEqual(world.log.slice(-1), ['a: init']);
});

test('a wake that a timer shares stays when the timer is cancelled', t => {
	const woken: string[] = [];
	const sleeper: AnyBehavior = {
		kind: 'Sleeper',
		init: () => ({state: null, effects: []}),
		receive(state: null, message: Message & {effects?: readonly Effect[]}) {
			woken.push(message.type);
			return {state, effects: message.effects ?? []};
		},
		coalesce: ({type}: Message) => (type === 'wake' ? type : undefined),
	};
	const world = actorWorld({effects: [{type: 'spawn', name: 'a', behavior: 'sleeper'}]}, {}, {sleeper});
	const timer: Effect = {type: 'wakeAt', name: 'x', atMs: world.clock.nowMs() + 100, message: {type: 'wake'}};
	world.tell('a', {type: 'arm', effects: [timer]} as Message);
	world.run();
	world.tell('a', {type: 'cancel', effects: [{type: 'cancelWake', name: 'x'}]} as Message);
	world.system.wake(at('a'), {type: 'wake'}, 'the index');
	world.clock.advance(100);
	world.run();
	t.deepEqual(woken, ['arm', 'cancel', 'wake']);
});

test('a time that was stored comes no later than its length from now, wherever the clock was set', t => {
	const world = actorWorld();
	const atMs = world.clock.nowMs() + 3_600_000;
	world.act('', {effects: [{type: 'wakeAt', name: 'x', atMs, message: note('clamped'), atMostMs: 500}]});
	world.act('', {effects: [{type: 'wakeAt', name: 'y', atMs: world.clock.nowMs() + 100, message: note('sooner'), atMostMs: 500}]});
	world.pass(500);
	t.deepEqual(world.log.slice(1), [': note sooner', ': note clamped']);
});

test('timers end with the instance that set them: by a crash as by a stop', t => {
	const world = actorWorld({effects: [spawnPuppet('a'), spawnPuppet('b')]});
	const soonMs = world.clock.nowMs() + 1_000;
	for (const name of ['a', 'b']) world.act(name, {effects: [wakeAt('x', soonMs, 'from the grave')]});
	world.act('a', {throws: 'bug'});
	world.act('b', {stops: true});
	world.pass(5_000);
	t.false(world.log.some(line => line.includes('from the grave')));
	t.deepEqual(
		world.deadLetters.map(({why}) => why),
		['crashed'],
	);
	t.is(world.clock.nextAtMs(), undefined, 'nothing is left in the clock');
});

// ---- commands at the edge ------------------------------------------------------------------------------------------------------

const performEffect = (key: string, deadlineMs?: number): Effect => ({
	type: 'perform',
	command: {type: 'container.start'},
	key,
	as: 'started',
	...(deadlineMs === undefined ? {} : {deadlineMs}),
});

const withEdge = () => {
	const commands: {readonly command: Command; readonly done: (outcome: Outcome<unknown>) => void}[] = [];
	const world = actorWorld(
		{effects: [spawnPuppet('a'), spawnPuppet('b')]},
		{perform: (command, done) => void commands.push({command, done})},
	);
	return {world, commands};
};

test('a command runs once per key: a repeat joins it, and all who wait get the outcome', t => {
	const {world, commands} = withEdge();
	world.act('a', {effects: [performEffect('k'), performEffect('k')]});
	world.act('b', {effects: [performEffect('k'), performEffect('another')]});
	t.is(commands.length, 2);
	commands[0]?.done(succeeded('pid 1'));
	commands[0]?.done(succeeded('pid 2'));
	world.run();
	t.deepEqual(world.log.slice(3), ['a: started "pid 1"', 'b: started "pid 1"']);
	world.act('a', {effects: [performEffect('k')]});
	t.is(commands.length, 3, 'once it has ended, the same key runs anew');
});

test('a command of an instance that crashed tells the next one nothing, unless that asks for the same', t => {
	const {world, commands} = withEdge();
	world.act('a', {effects: [performEffect('dropped'), performEffect('joined')]});
	world.act('a', {throws: 'bug'});
	world.pass(0);
	world.act('a', {effects: [performEffect('joined')]});
	t.is(commands.length, 2);
	for (const {done} of commands) done(succeeded(null));
	world.run();
	t.deepEqual(world.log.slice(3), ['a: init', 'a: started null']);
});

test('a command that takes too long is answered by its deadline; the late outcome is dropped', t => {
	const {world, commands} = withEdge();
	world.act('a', {effects: [performEffect('k', 1_000)]});
	world.pass(1_050);
	t.is(world.log.at(-1), 'a: started ERR_TIMEOUT');
	commands[0]?.done(failed('ERR_RUNTIME', {message: 'x'}));
	world.pass(limits.performDeadlineMs);
	t.is(world.log.filter(line => line.startsWith('a: started')).length, 1);
});

test('a command that is never answered is run anew by whoever asks after its deadline', t => {
	const {world, commands} = withEdge();
	world.act('a', {effects: [performEffect('k', 1_000)]});
	world.act('b', {effects: [performEffect('k', 2_000)]});
	world.pass(1_050);
	world.act('a', {effects: [performEffect('k', 500)]});
	t.is(commands.length, 1, 'the other still waits, so the run is joined');
	world.pass(1_050);
	world.act('a', {effects: [performEffect('k')]});
	t.is(commands.length, 2, 'nobody waited for the first any more');
	commands[0]?.done(succeeded('late'));
	commands[1]?.done(succeeded('pid 1'));
	world.run();
	const answers = world.log.filter(line => line.includes(': started'));
	t.deepEqual(answers, ['a: started ERR_TIMEOUT', 'a: started ERR_TIMEOUT', 'b: started ERR_TIMEOUT', 'a: started "pid 1"']);
});

test('without an edge a command fails and says so', t => {
	const world = actorWorld();
	world.act('', {effects: [performEffect('k')]});
	t.is(world.log.at(-1), ': started ERR_INTERNAL');
});

// ---- watching -------------------------------------------------------------------------------------------------------------------

const watch = (path: string): Effect => ({type: 'watch', address: at(path)});

test('who watches an actor is told when and why it ends, once', t => {
	const world = actorWorld({effects: [spawnPuppet('a'), spawnPuppet('b', {}, 'temporary'), spawnPuppet('w')]});
	world.act('w', {effects: [watch('a'), watch('b'), watch('a')]});
	world.act('a', {stops: true});
	world.act('b', {throws: 'bug'});
	t.deepEqual(
		world.log.filter(line => line.startsWith('w:')),
		['w: init', 'w: down a normal', 'w: down b crashed'],
	);
	world.act('', {effects: [spawnPuppet('a')]});
	world.act('a', {stops: true});
	t.is(world.log.filter(line => line === 'w: down a normal').length, 1, 'another of that name is not watched');
});

test('who watches an actor that is not there is told at once', t => {
	const world = actorWorld();
	world.act('', {effects: [watch('nobody')]});
	t.is(world.log.at(-1), ': down nobody noProcess');
});

test('a restart is no end: who watches hears nothing', t => {
	const world = actorWorld({effects: [spawnPuppet('a'), spawnPuppet('w', {effects: [watch('a')]})]});
	world.act('a', {throws: 'bug'});
	world.pass(1_000);
	t.false(world.log.some(line => line.startsWith('w: down')));
});

test('a watcher that starts again has to watch again', t => {
	const world = actorWorld({effects: [spawnPuppet('a'), spawnPuppet('w')]});
	world.act('w', {effects: [watch('a')]});
	world.act('w', {throws: 'bug'});
	world.pass(0);
	world.act('a', {stops: true});
	t.false(world.log.some(line => line.startsWith('w: down')));
});

test('signals come before messages that wait longer', t => {
	const world = actorWorld({effects: [spawnPuppet('a'), spawnPuppet('w')]});
	world.act('w', {effects: [watch('a')]});
	world.system.tell(at('a'), act({stops: true}), 'test');
	world.tell('w', note('waits already'));
	world.run();
	t.deepEqual(world.log.slice(3, 5), ['a: signal stop', 'w: down a normal']);
});

// ---- the tree ----------------------------------------------------------------------------------------------------------------------

test('the tree shows names, what each is doing, and how much waits', t => {
	const world = actorWorld({effects: [spawnPuppet('s', {effects: [spawnPuppet('a'), spawnPuppet('b')]})]});
	world.tell('s/a', note('x'));
	const tree = treeOf(world.system);
	t.like(tree, {name: '', behavior: 'puppet', state: 'running', about: 'init', children: [{name: 's'}]});
	t.deepEqual(
		tree?.children[0]?.children.map(({name, address, waiting}) => [name, address, waiting]),
		[
			['a', at('s/a'), 1],
			['b', at('s/b'), 0],
		],
	);
	t.deepEqual(treeOf(world.system, 1)?.children[0]?.children, []);
	t.is(nodeAt(world.system, at('nobody')), undefined);
});
