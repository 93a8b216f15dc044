import test from 'ava';
import type {IsSecret} from '../../../system/inspect/portable.js';
import {Recorder} from '../../../system/inspect/recorder.js';
import {replay, type PlayedStep, type SkippedStep} from '../../../system/inspect/replay.js';
import {isReplayable, type StepRecord} from '../../../system/inspect/step-record.js';
import {next, tell, type AnyBehavior, type Behavior, type Context} from '../../../system/kernel/behavior.js';
import {playContext} from '../../../system/kernel/play.js';
import {runCall, type StepCall} from '../../../system/kernel/step-call.js';

type Order = {readonly type: 'order'; readonly of: string; readonly count: number};
type Stock = {readonly left: ReadonlyMap<string, number>; readonly sold: number};

/** Sells what it has. `rule` is where the mistake is planted. */
const shop = (rule: (left: number, count: number) => boolean): Behavior<[string, number][], Stock, Order> => ({
	kind: 'Shop',
	init: input => next({left: new Map(input), sold: 0}),
	receive({left, sold}, {of, count}, {self, nowMs}) {
		const there = left.get(of);
		if (there === undefined) throw new Error(`nobody sells ${of}`);
		if (!rule(there, count)) return next({left, sold}, [tell(`${self}/book`, {type: 'refused'})]);
		const sale = {type: 'sold', of, count, atMs: nowMs};
		return next({left: new Map(left).set(of, there - count), sold: sold + count}, [tell(`${self}/book`, sale)]);
	},
});

const wrong = shop((left, count) => left >= count - 1);
const right = shop((left, count) => left >= count);

type Took = {readonly records: StepRecord[]; readonly state: unknown};

/** As the runtime takes steps: a throw changes nothing. */
function record(
	behavior: AnyBehavior,
	calls: readonly StepCall[],
	{isSecret, context = playContext()}: {isSecret?: IsSecret; context?: Context} = {},
): Took {
	const recorder = new Recorder(isSecret);
	let state: unknown;
	const records = calls.map(call => {
		const recording = recorder.begin({address: context.self, behavior: 'shop', from: 'troupe://test/till', state, call}, context);
		try {
			const made = runCall(behavior, state, call, recording.context);
			state = made.state;
			return recording.done(made);
		} catch (error) {
			if (call.type === 'init') state = undefined;
			return recording.threw(error);
		}
	});
	return {records: JSON.parse(JSON.stringify(records)) as StepRecord[], state};
}

const order = (of: string, count: number): StepCall => ({type: 'receive', message: {type: 'order', of, count} as Order});
const opened: StepCall = {
	type: 'init',
	input: [
		['apple', 2],
		['pear', 5],
	],
};
const day = [opened, order('apple', 1), order('apple', 2), order('pear', 1)];

const replayed = (records: readonly StepRecord[], behavior: AnyBehavior): readonly (PlayedStep | SkippedStep)[] => [
	...replay(records, {shop: behavior}),
];
const playedOf = (steps: readonly (PlayedStep | SkippedStep)[]): readonly PlayedStep[] => steps.filter(step => step.type === 'played');
const samenessOf = (steps: readonly (PlayedStep | SkippedStep)[]): readonly (boolean | string)[] =>
	steps.map(step => (step.type === 'played' ? step.isSame : step.why));

test('what was recorded is replayed as it was, and only the first record holds the whole state', t => {
	const {records} = record(wrong, day);
	t.deepEqual(samenessOf(replayed(records, wrong)), [true, true, true, true]);
	t.deepEqual(
		records.map(each => isReplayable(each) && each.before !== undefined),
		[true, false, false, false],
	);
	t.deepEqual(
		playedOf(replayed(records, wrong)).map(({result}) => (result.state as {sold: number}).sold),
		[0, 1, 3, 4],
	);
});

test('a behaviour that was mended since shows with the very same messages what is another now: the state, and what it asks for', t => {
	const {records} = record(wrong, day);
	const steps = playedOf(replayed(records, right));
	t.deepEqual(samenessOf(steps), [true, true, false, false]);
	t.deepEqual(steps[2]?.state, [
		{at: ['left', 'of', 0, 1], to: 1},
		{at: ['sold'], to: 1},
	]);
	t.deepEqual(steps[2]?.effects[0], {at: [0, 'message', 'type'], to: 'refused'});
	// What follows is played from the state as it is now: the pear is sold to both.
	t.deepEqual(steps[3]?.effects, []);
	t.deepEqual(steps[3]?.result.state, {
		left: {
			$: 'map',
			of: [
				['apple', 1],
				['pear', 4],
			],
		},
		sold: 2,
	});
});

test('a step that threw is replayed as one that throws; where it does so no more, its actor goes on and is not begun anew', t => {
	const lax: AnyBehavior = {
		...right,
		receive: (state: Stock, message: Order, context: Context) =>
			state.left.has(message.of) ? right.receive(state, message, context) : next(state),
	};
	const {records} = record(wrong, [opened, order('apple', 1), order('plum', 1), opened, order('apple', 1)]);
	t.deepEqual(
		playedOf(replayed(records, wrong)).map(({result}) => result.error),
		[undefined, undefined, 'nobody sells plum', undefined, undefined],
	);
	t.deepEqual(samenessOf(replayed(records, wrong)), [true, true, true, true, true]);
	const steps = replayed(records, lax);
	t.deepEqual(samenessOf(steps), [true, true, false, 'it was begun anew after a crash, which does not happen now', false]);
	t.is((playedOf(steps).at(-1)?.result.state as {sold: number}).sold, 2, 'its first sale is not forgotten');
});

test('what a step looked at is answered as it was then; what it did not look at then is said', t => {
	const looking = (more: boolean): AnyBehavior =>
		({
			kind: 'Shop',
			init: (_: unknown, context: Context) => {
				const {children, random, pending, monotonicMs} = context;
				const seen = [children.length, random.next(), random.uuid(), pending.size, monotonicMs, context.hasChild('a'), context.monotonicMs];
				return next({seen: more ? [...seen, context.known.get('pods/default/web')?.metadata.name, context.hasChild('z')] : seen});
			},
		}) as unknown as AnyBehavior;
	const {records} = record(looking(false), [{type: 'init', input: null}], {context: playContext({children: ['a', 'b'], monotonicMs: 7})});
	const [same] = playedOf(replayed(records, looking(false)));
	t.true(same?.isSame);
	t.deepEqual(same?.notes, []);
	const [more] = playedOf(replayed(records, looking(true)));
	t.false(more?.isSame);
	t.deepEqual(more?.notes, ['it looks at what was not looked at when it was recorded: get "pods/default/web"']);
});

test('a state that is too large or no data is said to be not replayable, and the next record of the actor that can be is whole', t => {
	const keeping: AnyBehavior = {
		kind: 'Shop',
		init: () => next({kept: ''}),
		receive: (_: unknown, {of}: Order) => next({kept: of === 'function' ? () => of : of}),
	};
	const {records} = record(keeping, [
		{type: 'init', input: null},
		order('x'.repeat(300_000), 1),
		order('small', 1),
		order('function', 1),
		order('small', 1),
		order('smaller', 1),
	]);
	t.deepEqual(
		records.map(each => (isReplayable(each) ? each.before !== undefined : each.notReplayable.slice(0, 40))),
		[
			true,
			'it is too large (the room ends at "messa',
			'it is too large (the room ends at "kept"',
			'"kept" is a function',
			'"kept" is a function',
			true,
		],
	);
	t.deepEqual(samenessOf(replayed(records, keeping)).slice(-1), [true]);
});

test('what is secret is in no record, and the replay says that it may go another way', t => {
	const isSecret: IsSecret = (_holder, member) => member === 'password';
	const keeping: AnyBehavior = {
		kind: 'Shop',
		init: (input: {user: string; password: string}) => next({...input, logins: 0}),
		receive: (state: {logins: number; password: string}, message: Order & {password: string}, {self}: Context) =>
			next({...state, logins: state.logins + 1}, [tell(self, {type: state.password === message.password ? 'welcome' : 'goAway'})]),
	};
	const login: StepCall = {type: 'receive', message: {type: 'login', password: 'hunter2'} as {type: string}};
	const {records} = record(keeping, [{type: 'init', input: {user: 'ada', password: 'hunter2'}}, login], {isSecret});
	t.false(JSON.stringify(records).includes('hunter2'));
	const steps = playedOf(replayed(records, keeping));
	t.deepEqual(samenessOf(steps), [true, true]);
	t.regex(steps[1]?.notes[0] ?? '', /secret/);
});

test('records that begin in the middle, are of unknown behaviours, or leave some out are skipped with a reason', t => {
	const {records} = record(right, day);
	t.deepEqual(samenessOf(replayed(records.slice(1), right)), Array(3).fill('the step before it, from which it begins, is not there'));
	t.deepEqual(
		[...replay(records, {})].map(step => step.type === 'skipped' && step.why),
		Array(4).fill('no behaviour is called "shop" here'),
	);
});

test('a state that became another between two recorded steps, as by a commit, goes into the replay as well', t => {
	const context = playContext();
	const recorder = new Recorder();
	const take = (state: unknown, call: StepCall): {record: StepRecord; state: Stock} => {
		const recording = recorder.begin({address: context.self, behavior: 'shop', from: '', state, call}, context);
		const made = runCall(right, state, call, recording.context);
		return {record: recording.done(made), state: made.state as Stock};
	};
	const first = take(undefined, opened);
	const second = take({...first.state, sold: 100}, order('pear', 1));
	t.deepEqual(isReplayable(second.record) && second.record.since, [{at: ['sold'], to: 100}]);
	t.is((playedOf(replayed([first.record, second.record], right)).at(-1)?.result.state as {sold: number}).sold, 101);
});
