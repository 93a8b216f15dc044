// A question has one outcome, however it fails; and what comes from other systems waits in a mailbox like what comes from outside.

import test from 'ava';
import {address} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {Effect, Message} from '../../../system/kernel/behavior.js';
import {lettersOf} from './actor-world.js';
import {farWorld, type FarSystem, type FarWorld} from '../links/far-world.js';
import {act, getNotes, note, spawnPuppet} from './puppet.js';
import {nodeAt} from './actor-tree.js';

const deadlineMs = 5_000;

const ask = (to: string, message: Message): Effect => ({type: 'ask', to, message, as: 'answered', id: to, deadlineMs});

function pair(): {readonly world: FarWorld; readonly a: FarSystem; readonly b: FarSystem} {
	const world = farWorld();
	return {world, a: world.join('a', {effects: [spawnPuppet('q')]}), b: world.join('b', {effects: [spawnPuppet('x')]})};
}

type Situation = {
	readonly what: string;
	readonly code: string;
	readonly message: Message;
	readonly to?: string;
	/** What happens right before, and right after the question was sent. */
	readonly before?: (rig: ReturnType<typeof pair>) => void;
	readonly after?: (rig: ReturnType<typeof pair>) => void;
};

const fill = ({b, world}: ReturnType<typeof pair>): void => {
	for (let count = 0; count < limits.mailboxMessages; count++) b.system.tell(address('b', 'x'), note('x'), 'test');
	void world;
};

const restartB = ({world, b}: ReturnType<typeof pair>): void => {
	b.kill();
	world.join('b', {effects: [{type: 'tell', to: address('a', ''), message: note('here again')}]});
};

const situations: readonly Situation[] = [
	{what: 'nobody has that address', code: 'ERR_NO_SUCH_ACTOR', message: getNotes, to: 'nobody'},
	{what: 'the actor crashes on it', code: 'ERR_ACTOR_CRASHED', message: act({throws: 'a bug'})},
	{what: 'nobody answers', code: 'ERR_TIMEOUT', message: note('unanswered')},
	{what: 'the peer restarts before it answers', code: 'ERR_OUTCOME_UNKNOWN', message: note('unanswered'), after: restartB},
	{
		what: 'the peer is declared gone',
		code: 'ERR_OUTCOME_UNKNOWN',
		message: note('unanswered'),
		after: ({a}) => a.act('', {effects: [{type: 'declareGone', system: 'b'}]}),
	},
	{
		what: 'nothing more goes to the peer',
		code: 'ERR_NOT_REACHABLE',
		message: getNotes,
		before({world, a}) {
			world.cut.add('b');
			for (let count = 0; count < limits.streamWindowMessages; count++) a.system.tell(address('b', 'x'), note('x'), 'test');
		},
	},
];

for (const {what, code, message, to = 'x', before, after} of situations)
	test(`a question fails with one answer when ${what}: ${code}`, t => {
		const rig = pair();
		const {world, a} = rig;
		before?.(rig);
		a.act('q', {effects: [ask(address('b', to), message)]});
		world.run(200);
		after?.(rig);
		world.cut.clear();
		world.run(deadlineMs * 4);
		t.deepEqual(
			a.log.filter(line => line.startsWith('q: answered')),
			[`q: answered ${code}`],
		);
	});

test('a question to an actor that ends before it takes it is answered, and so is one for which its mailbox is full', t => {
	const rig = pair();
	const {world, a, b} = rig;
	// Nothing is taken until it is all there.
	fill(rig);
	b.system.receive('a', address('b', 'x'), {
		message: {...getNotes, replyTo: {to: address('a', 'q'), as: 'answered', id: '1'}},
		from: address('a', 'q'),
		cause: 'kubectl',
		outside: true,
	});
	t.like(b.deadLetters, [{why: 'busy', messageType: 'getNotes', from: address('a', 'q'), cause: 'kubectl'}]);
	t.like(b.sent.at(-1)?.envelope.message, {type: 'answered', id: '1', outcome: {ok: false, error: {code: 'ERR_BUSY'}}});
	world.run(0);
	b.system.receive('a', address('b', 'x'), {
		message: {...getNotes, replyTo: {to: address('a', 'q'), as: 'answered', id: '2'}},
		from: address('a', 'q'),
		cause: 'kubectl',
		outside: true,
	});
	b.system.stop(() => undefined);
	t.like(b.sent.at(-1)?.envelope.message, {type: 'answered', id: '2', outcome: {ok: false, error: {code: 'ERR_ACTOR_STOPPED'}}});
	world.run();
	t.deepEqual(
		a.log.filter(line => line.includes('answered')),
		[],
		'what nobody asked is nobody’s answer',
	);
	t.is(a.system.counters.staleReplies, 2);
});

test('an answer that comes late is counted and dropped', t => {
	const {world, a, b} = pair();
	world.cut.add('b');
	a.act('q', {effects: [ask(address('b', 'x'), getNotes)]});
	world.run(deadlineMs * 2);
	world.cut.clear();
	world.run(deadlineMs * 2);
	t.deepEqual(
		a.log.filter(line => line.includes('answered')),
		['q: answered ERR_TIMEOUT'],
	);
	t.is(a.system.counters.staleReplies, 1);
	t.deepEqual(lettersOf(b), []);
});

test('messages of a peer count against the bound of the mailbox, unless both ends see to it; answers never', t => {
	const world = farWorld();
	const b = world.join('b', {effects: [spawnPuppet('x')]}, {bounded: new Set(['bounded'])});
	const say = (type: string): boolean =>
		b.system.receive('a', address('b', 'x'), {message: {type}, from: address('a', ''), cause: 'test', outside: type !== 'bounded'});
	for (let count = 0; count < limits.mailboxMessages + 3; count++) say('loud');
	for (let count = 0; count < 10; count++) say('bounded');
	t.is(b.deadLetters.length, 3);
	t.is(nodeAt(b.system, address('b', 'x'))?.waiting, limits.mailboxMessages + 10);
});

test('the bus says which messages of a peer count', t => {
	const world = farWorld();
	const a = world.join('a');
	const b = world.join('b', {effects: [spawnPuppet('x')]}, {bounded: new Set(['bounded'])});
	const flags: [string, boolean][] = [];
	const receive = b.system.receive.bind(b.system);
	b.system.receive = (peer, to, envelope) => {
		flags.push([envelope.message.type, envelope.outside]);
		return receive(peer, to, envelope);
	};
	a.act('', {effects: ['loud', 'bounded'].map(type => ({type: 'tell', to: address('b', 'x'), message: {type}}))});
	world.run();
	t.deepEqual(flags, [
		['loud', true],
		['bounded', false],
	]);
});
