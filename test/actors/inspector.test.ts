import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {inspector, withInspect, type InspectorMessage} from '../../actors/inspector.js';
import {laneOf} from '../../actors/protocol/lanes.js';
import {play} from '../../system/kernel/play.js';

const replyTo = {to: 'troupe://control/edge', as: 'edge', id: '7'};
const ask = (id: string): InspectorMessage => ({type: 'inspect', request: {verb: 'stats', place: 'control'}, replyTo: {...replyTo, id}});

test('an inspector puts each question to the edge of its system and hands on the outcome', t => {
	const {effects, state} = play(inspector, null, [
		ask('1'),
		ask('2'),
		{type: 'inspected', id: 'inspect/1', outcome: succeeded({actors: 1})},
	]);
	t.deepEqual(effects, [{type: 'reply', to: {...replyTo, id: '2'}, outcome: succeeded({actors: 1})}]);
	t.deepEqual([...state.open.keys()], ['inspect/0']);
	const asked = play(inspector, null, [ask('1')]);
	t.deepEqual(asked.effects, [
		{
			type: 'perform',
			command: {type: 'inspect', request: {verb: 'stats', place: 'control'}, cause: 'play'},
			key: 'inspect/0',
			as: 'inspected',
		},
	]);
	const {describe} = inspector;
	t.is(describe?.(asked.state), '1 questions');
	t.is(describe?.({open: new Map(), asked: 3}), '');
});

test('too many questions are refused, but not the end of a stream, nor what wants no answer', t => {
	const many = Array.from({length: limits.inspectAsks}, (_, at) => ask(String(at)));
	const refused = play(inspector, null, [...many, ask('more')]);
	t.like(refused.effects, [{type: 'reply', to: {id: 'more'}, outcome: {ok: false, error: {code: 'ERR_BUSY'}}}]);
	const close: InspectorMessage = {type: 'inspect', request: {verb: 'close', stream: 's'}, replyTo};
	t.like(play(inspector, null, [...many, close]).effects, [{type: 'perform', command: {request: {verb: 'close'}}}]);
	t.deepEqual(play(inspector, null, [{type: 'inspect', request: {verb: 'stats', place: ''}}]).effects, []);
});

test('the edge of a system answers its inspector, and leaves all else to what was there', t => {
	const perform = withInspect(
		(request, done) => done(succeeded(request.verb)),
		({type}, done) => done(failed('ERR_INTERNAL', {message: type})),
	);
	const outcomes: unknown[] = [];
	for (const command of [{type: 'inspect', request: {verb: 'stats', place: ''}}, {type: 'sandbox.list'}])
		perform(command, outcome => outcomes.push(outcome));
	t.deepEqual(outcomes, [succeeded('stats'), failed('ERR_INTERNAL', {message: 'sandbox.list'})]);
});

test('what an inspector is asked, and what it answers, goes where logs go', t => {
	t.is(laneOf('troupe://control/edge', 'troupe://vm/inspector'), 'bulk');
	t.is(laneOf('troupe://vm/inspector', 'troupe://control/edge'), 'bulk');
});
