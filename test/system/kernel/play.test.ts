import test from 'ava';
import {next, replySelf, reply, stop, type Behavior, type ReplyTo} from '../../../system/kernel/behavior.js';
import {play, playContext, playFrom} from '../../../system/kernel/play.js';
import {createSequencer} from '../../../system/world/sequencer.js';
import {seededRandom} from '../../../system/time/random.js';

type Count =
	| {readonly type: 'add'; readonly by: number}
	| {readonly type: 'get'; readonly replyTo: ReplyTo}
	| {readonly type: 'end'}
	| {readonly type: 'look'};

const counter: Behavior<number, number, Count> = {
	kind: 'Counter',
	init: start => next(start, [{type: 'watch', address: 'troupe://test/x'}]),
	receive(state, message, context) {
		switch (message.type) {
			case 'add':
				return next(state + message.by);
			case 'get':
				return next(state, reply(message.replyTo, {ok: true, value: state}));
			case 'end':
				return stop(state);
			case 'look':
				return next(state + context.children.length + (context.hasChild('a') ? 100 : 0));
		}
	},
};

const replyTo: ReplyTo = {to: 'troupe://test/asker', as: 'told', id: '1'};

test('playing gives the state after all messages and the effects of the last', t => {
	t.deepEqual(play(counter, 5).effects, [{type: 'watch', address: 'troupe://test/x'}]);
	t.deepEqual(
		play(counter, 5, [
			{type: 'add', by: 2},
			{type: 'get', replyTo},
		]),
		{
			state: 7,
			effects: [{type: 'reply', to: replyTo, outcome: {ok: true, value: 7}}],
			stopped: false,
			object: undefined,
		},
	);
	t.true(play(counter, 5, [{type: 'end'}]).stopped);
});

test('playing goes on from a state, and sees what the context says', t => {
	t.is(playFrom(counter, 7, [{type: 'look'}], playContext({children: ['a', 'b']})).state, 109);
	t.deepEqual(playFrom(counter, 7, []), {state: 7, effects: [], stopped: false, object: undefined});
	t.is(playContext().random.next(), playContext().random.next(), 'chance is the same in every play');
});

test('an answer to nobody is no effect', t => {
	t.deepEqual([...reply(undefined, {ok: true, value: 1}), ...replySelf(undefined)], []);
});

test('the sequencer gives every requested turn, in an order of its seed', t => {
	const orderOf = (seed: number): string => {
		const sequencer = createSequencer(seededRandom(seed));
		const order: number[] = [];
		const left = Array.from({length: 20}, () => 3);
		for (const index of left.keys()) {
			sequencer
				.seat(() => {
					order.push(index);
					left[index] = (left[index] ?? 0) - 1;
					return (left[index] ?? 0) > 0;
				})
				.request();
		}
		while (sequencer.runOne());
		t.is(sequencer.waiting(), 0);
		t.deepEqual(
			left,
			Array.from({length: 20}, () => 0),
		);
		return order.join(' ');
	};
	t.is(orderOf(1), orderOf(1));
	t.not(orderOf(1), orderOf(2));
});

test('who has left the sequencer gets no turn', t => {
	const sequencer = createSequencer(seededRandom(1));
	const seat = sequencer.seat(() => t.fail());
	seat.request();
	seat.leave();
	seat.request();
	while (sequencer.runOne());
	t.is(sequencer.waiting(), 0);
});
