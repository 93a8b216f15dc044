// A run as a machine: the rules of the language as tables of definitions, inputs and answers, and what comes of them.

import test from 'ava';
import {outstanding, beginRun, stepRun} from '../../../actors/workflows/step.js';
import type {Frame, RunCommand, RunEvent, RunHead, RunView, Step, Tally} from '../../../actors/workflows/run.js';
import {limits} from '../../../api/limits.js';
import type {Json} from '../../../api/object.js';
import {definitionOf, testTools} from '../../api/states-language/_states.js';
import {errorOf, gives, outputOf, runOf, startMs, throws, tookOf, wayOf, type Answers} from './_runs.js';

const machine = (States: object, StartAt = 'A') => ({StartAt, States});
const task = (more: object = {}) => ({Type: 'Task', Resource: 'f', End: true, ...more});
const alone = (state: object) => machine({A: state});

type Row = readonly [what: string, definition: unknown, input: Json, expected: Json, answers?: Answers];

const input: Json = {a: 1, b: {c: 2}, list: [1, 2]};

const data: readonly Row[] = [
	['a result takes the place of the input', alone(task()), input, 9, {A: [gives(9)]}],
	['InputPath chooses', alone(task({InputPath: '$.b'})), input, {c: 2}],
	['InputPath of the context', alone(task({InputPath: '$$.Execution.Name'})), input, 'run-1'],
	['InputPath null is empty', alone(task({InputPath: null})), input, {}],
	['Parameters make the input', alone(task({InputPath: '$.b', Parameters: {'x.$': '$.c', y: 'z'}})), input, {x: 2, y: 'z'}],
	[
		'ResultSelector sees the result',
		alone(task({ResultSelector: {'got.$': '$.v', all: 1}})),
		input,
		{got: 5, all: 1},
		{A: [gives({v: 5})]},
	],
	[
		'ResultPath adds to the raw input',
		alone(task({InputPath: '$.b', ResultPath: '$.b.r'})),
		input,
		{...input, b: {c: 2, r: 7}},
		{A: [gives(7)]},
	],
	['ResultPath null throws the result away', alone(task({ResultPath: null})), input, input, {A: [gives(7)]}],
	['OutputPath chooses', alone(task({ResultPath: '$.r', OutputPath: '$.r.x'})), input, 1, {A: [gives({x: 1})]}],
	['OutputPath null is empty', alone(task({OutputPath: null})), input, {}],
	['Pass goes through', alone({Type: 'Pass', End: true}), input, input],
	['Pass with Result', alone({Type: 'Pass', Result: {'x.$': '$.a'}, ResultPath: '$.r', End: true}), input, {...input, r: {'x.$': '$.a'}}],
	['Pass with a Result of null', alone({Type: 'Pass', Result: null, ResultPath: '$.r', End: true}), input, {...input, r: null}],
	['Pass with Parameters', alone({Type: 'Pass', Parameters: {'x.$': '$.a'}, End: true}), input, {x: 1}],
	['Succeed', alone({Type: 'Succeed', InputPath: '$.b', OutputPath: '$.c'}), input, 2],
	[
		'the context object',
		alone({
			Type: 'Pass',
			End: true,
			Parameters: {
				's.$': '$$.State.Name',
				'at.$': '$$.Execution.StartTime',
				'in.$': '$$.Execution.Input.a',
				'id.$': '$$.Execution.Id',
				'w.$': '$$.StateMachine.Name',
				'n.$': '$$.State.RetryCount',
				'e.$': '$$.State.EnteredTime',
			},
		}),
		input,
		{s: 'A', at: '2026-01-01T00:00:00.000Z', in: 1, id: 'ns/run-1', w: 'w', n: 0, e: '2026-01-01T00:00:00.000Z'},
	],
	[
		'a Parallel gives the outputs in the order of its branches',
		alone({
			Type: 'Parallel',
			Parameters: {'v.$': '$.a'},
			Branches: [machine({B: task()}, 'B'), machine({C: task()}, 'C')],
			ResultPath: '$.r',
			End: true,
		}),
		input,
		{...input, r: [{v: 1}, 3]},
		{B: call => gives(call.input, 5), C: [gives(3)]},
	],
	[
		'a Map gives them in the order of its items',
		alone({Type: 'Map', ItemsPath: '$.list', ItemProcessor: machine({B: task()}, 'B'), ResultSelector: {'all.$': '$'}, End: true}),
		input,
		{all: [10, 20]},
		{B: call => gives(Number(call.input) * 10, 9 - Number(call.input))},
	],
	[
		'a Map with an ItemSelector',
		alone({
			Type: 'Map',
			InputPath: '$',
			ItemsPath: '$.list',
			ItemSelector: {'v.$': '$$.Map.Item.Value', 'i.$': '$$.Map.Item.Index', 'a.$': '$.a'},
			ItemProcessor: machine({B: {Type: 'Pass', End: true}}, 'B'),
			End: true,
		}),
		input,
		[
			{v: 1, i: 0, a: 1},
			{v: 2, i: 1, a: 1},
		],
	],
	[
		'the older Iterator and Parameters',
		alone({
			Type: 'Map',
			ItemsPath: '$.list',
			Parameters: {'v.$': '$$.Map.Item.Value'},
			Iterator: machine({B: {Type: 'Pass', Parameters: {'x.$': '$.v', 'item.$': '$$.Map.Item.Index'}, End: true}}, 'B'),
			End: true,
		}),
		input,
		[
			{x: 1, item: 0},
			{x: 2, item: 1},
		],
	],
	['a Map of nothing', alone({Type: 'Map', ItemProcessor: machine({B: task()}, 'B'), End: true}), [], []],
	[
		'a Map in a Parallel in a Map',
		alone({
			Type: 'Map',
			ItemProcessor: machine(
				{
					P: {
						Type: 'Parallel',
						Branches: [
							machine(
								{
									M: {
										Type: 'Map',
										ItemProcessor: machine({D: {Type: 'Pass', Parameters: {'v.$': '$', 'i.$': '$$.Map.Item.Index'}, End: true}}, 'D'),
										End: true,
									},
								},
								'M',
							),
						],
						End: true,
					},
				},
				'P',
			),
			End: true,
		}),
		[[1], [2, 3]],
		[
			[[{v: 1, i: 0}]],
			[
				[
					{v: 2, i: 0},
					{v: 3, i: 1},
				],
			],
		],
	],
	[
		'names of prototypes are data',
		alone({
			Type: 'Pass',
			Parameters: {'x.$': "$['toString']"},
			ResultPath: "$['constructor']",
			OutputPath: "$['constructor'].x",
			End: true,
		}),
		{toString: {y: 1}},
		{y: 1},
	],
	[
		'a Choice takes the first rule that holds',
		machine({
			A: {
				Type: 'Choice',
				Choices: [
					{Variable: '$.a', NumericEquals: 2, Next: 'B'},
					{Variable: '$.a', NumericEquals: 1, Next: 'C'},
				],
			},
			B: {Type: 'Fail'},
			C: {Type: 'Pass', Result: 'c', End: true},
		}),
		input,
		'c',
	],
	[
		'a Choice takes its Default',
		machine({
			A: {Type: 'Choice', InputPath: '$.b', Choices: [{Variable: '$.c', NumericEquals: 9, Next: 'B'}], Default: 'C', OutputPath: '$.c'},
			B: {Type: 'Fail'},
			C: {Type: 'Pass', End: true},
		}),
		input,
		2,
	],
	[
		'a catcher puts the error into the input',
		machine({A: task({Catch: [{ErrorEquals: ['X'], ResultPath: '$.e', Next: 'B'}]}), B: {Type: 'Pass', End: true}}),
		input,
		{...input, e: {Error: 'X', Cause: 'because'}},
		{A: [throws('X')]},
	],
	[
		'a catcher without ResultPath',
		machine({A: task({OutputPath: '$.nowhere', Catch: [{ErrorEquals: ['States.ALL'], Next: 'B'}]}), B: {Type: 'Pass', End: true}}),
		input,
		{Error: 'X', Cause: 'because'},
		{A: [throws('X')]},
	],
	[
		'a catcher that keeps nothing',
		machine({A: task({Catch: [{ErrorEquals: ['States.TaskFailed'], ResultPath: null, Next: 'B'}]}), B: {Type: 'Pass', End: true}}),
		input,
		input,
		{A: [throws('X')]},
	],
	[
		'a Map that tolerates',
		alone({Type: 'Map', ItemsPath: '$.list', ToleratedFailureCount: 1, ItemProcessor: machine({B: task()}, 'B'), End: true}),
		input,
		[{Error: 'X', Cause: 'because'}, 2],
		{B: call => (call.input === 1 ? throws('X') : gives(call.input))},
	],
];

test('data goes through a state as the language says', t => {
	for (const [what, definition, given, expected, answers] of data) {
		const ran = runOf(definition, given, answers);
		t.deepEqual(ran.ending, {status: 'succeeded', atMs: ran.ending?.atMs ?? 0, output: expected}, what);
		t.is(ran.frames.size + ran.tallies.size, 0, `${what}: nothing is left`);
	}
});

type Failure = readonly [what: string, definition: unknown, error: string | RegExp, answers?: Answers];

const catchesAll = (state: object) =>
	machine({
		A: {...state, Catch: [{ErrorEquals: ['States.ALL'], ResultPath: '$.e', Next: 'B'}]},
		B: {Type: 'Fail', ErrorPath: '$.e.Error', CausePath: "States.Format('caught: {}', $.e.Cause)"},
	});

const failures: readonly Failure[] = [
	['a task that fails', alone(task()), 'X: because', {A: [throws('X')]}],
	['a Fail', alone({Type: 'Fail', Error: 'E', Cause: 'c'}), 'E: c'],
	['a Fail that says nothing', alone({Type: 'Fail'}), ': '],
	['a Fail with paths', alone({Type: 'Fail', ErrorPath: '$$.State.Name', CausePath: "States.Format('{}', $.a)"}), 'A: 1'],
	[
		'a Fail whose path finds no text',
		alone({Type: 'Fail', ErrorPath: '$.a'}),
		/^States\.Runtime: ErrorPath: there must be a text at \$\.a/,
	],
	['InputPath of nothing', catchesAll(task({InputPath: '$.x'})), /^States\.Runtime: InputPath: there is nothing at \$\.x/],
	['Parameters of nothing', catchesAll(task({Parameters: {'x.$': '$.x'}})), 'States.ParameterPathFailure: caught: there is nothing at $.x'],
	[
		'an intrinsic that cannot',
		catchesAll(task({Parameters: {'x.$': 'States.MathAdd($.b, 1)'}})),
		/^States\.IntrinsicFailure: caught: States\.MathAdd takes numbers/,
	],
	[
		'ResultSelector of nothing',
		catchesAll(task({ResultSelector: {'x.$': '$.x'}})),
		'States.ParameterPathFailure: caught: there is nothing at $.x',
	],
	[
		'a ResultPath that fits nowhere',
		catchesAll(task({ResultPath: '$.a.b'})),
		/^States\.ResultPathMatchFailure: caught: the result cannot be put at \$\.a\.b: \$\.a is no object/,
	],
	['OutputPath of nothing', catchesAll(task({OutputPath: '$.x'})), /^States\.Runtime: OutputPath/],
	[
		'a result that is too large',
		catchesAll(task()),
		/^States\.DataLimitExceeded: the result has more than 262144 bytes/,
		{A: [gives('x'.repeat(limits.statesDataBytes))]},
	],
	[
		'a result that is too deep',
		alone(task()),
		/^States\.DataLimitExceeded: the result is nested deeper than 60 levels/,
		{A: [gives(JSON.parse('['.repeat(200) + ']'.repeat(200)) as Json)]},
	],
	[
		'no choice',
		machine({A: {Type: 'Choice', Choices: [{Variable: '$.a', IsNull: true, Next: 'B'}]}, B: {Type: 'Succeed'}}),
		/^States\.NoChoiceMatched: no rule of A holds/,
	],
	[
		'a variable that is not there',
		machine({A: {Type: 'Choice', Choices: [{Variable: '$.x', IsNull: true, Next: 'B'}], Default: 'B'}, B: {Type: 'Succeed'}}),
		/^States\.Runtime: there is nothing at \$\.x; IsPresent/,
	],
	['a timeout', catchesAll(task({TimeoutSeconds: 5})), 'States.Timeout: caught: the task did not answer in time', {A: [gives(1, 9)]}],
	[
		'a task that is silent',
		catchesAll(task({TimeoutSeconds: 9, HeartbeatSeconds: 2})),
		'States.HeartbeatTimeout: caught: the task has given no sign in time',
		{A: [{silent: true, seconds: 0}]},
	],
	[
		'a run that takes too long',
		{...alone(task()), TimeoutSeconds: 5},
		'States.Timeout: the run has taken more than 5 s',
		{A: [gives(1, 9)]},
	],
	[
		'a branch that fails',
		catchesAll({Type: 'Parallel', Branches: [machine({P: task()}, 'P'), machine({Q: task()}, 'Q')], End: true}),
		'X: caught: because',
		{P: [throws('X', 1)], Q: [gives(1, 100)]},
	],
	[
		'a Map of no list',
		alone({Type: 'Map', ItemsPath: '$.a', ItemProcessor: machine({P: task()}, 'P'), End: true}),
		/^States\.Runtime: ItemsPath \$\.a must find a list/,
	],
	[
		'an item that fails',
		alone({Type: 'Map', ItemsPath: '$.list', ItemProcessor: machine({P: task()}, 'P'), End: true}),
		'X: because',
		{P: [throws('X')]},
	],
	[
		'more failures than are tolerated',
		alone({Type: 'Map', ItemsPath: '$.list', ToleratedFailurePercentage: 50, ItemProcessor: machine({P: task()}, 'P'), End: true}),
		'States.ExceedToleratedFailureThreshold: more than 1 items have failed, the last with X: because',
		{P: [throws('X')]},
	],
	[
		'States.Runtime is not tolerated',
		alone({
			Type: 'Map',
			ItemsPath: '$.list',
			ToleratedFailureCount: 9,
			ItemProcessor: machine({P: task({InputPath: '$.x'})}, 'P'),
			End: true,
		}),
		/^States\.Runtime/,
	],
	[
		'an ItemSelector that finds nothing',
		catchesAll({Type: 'Map', ItemsPath: '$.list', ItemSelector: {'x.$': '$.x'}, ItemProcessor: machine({P: task()}, 'P'), End: true}),
		'States.ParameterPathFailure: caught: there is nothing at $.x',
	],
	[
		'a number of seconds that is none',
		alone({Type: 'Wait', SecondsPath: '$.b', End: true}),
		/^States\.Runtime: SecondsPath: there must be a number from 0/,
	],
	['a time that is none', alone({Type: 'Wait', TimestampPath: '$.a', End: true}), /^States\.Runtime: there must be a time/],
	['a wait for ever', alone({Type: 'Wait', Timestamp: '9999-01-01T00:00:00Z', End: true}), /^States\.Runtime: waits longer/],
	[
		'outputs that are too large together',
		alone({Type: 'Map', ItemsPath: '$.list', ItemProcessor: machine({P: task()}, 'P'), End: true}),
		/^States\.DataLimitExceeded: the outputs together/,
		{P: [gives('x'.repeat(200_000))]},
	],
	[
		'a loop without an end',
		machine({A: {Type: 'Choice', Choices: [{Variable: '$.a', NumericEquals: 2, Next: 'B'}], Default: 'A'}, B: {Type: 'Succeed'}}),
		'States.Runtime: more than 25000 states were entered',
	],
	[
		'a loop that nests its data',
		machine({
			A: {Type: 'Pass', Parameters: {'x.$': '$'}, Next: 'C'},
			C: {Type: 'Choice', Choices: [{Variable: '$.done', IsPresent: true, Next: 'B'}], Default: 'A'},
			B: {Type: 'Succeed'},
		}),
		/^States\.DataLimitExceeded: the (input|result|output) is nested deeper/,
	],
];

test('each error has the name that the language gives it', t => {
	for (const [what, definition, expected, answers] of failures) {
		const ran = runOf(definition, input, answers);
		const {Error: name = '', Cause = ''} = errorOf(ran) ?? {};
		if (typeof expected === 'string') t.is(`${name}: ${Cause}`, expected, what);
		else t.regex(`${name}: ${Cause}`, expected, what);
		t.is(ran.frames.size + ran.tallies.size, 0, `${what}: nothing is left`);
	}
});

test('a Wait ends at its time, and one that is over ends at once', t => {
	const waits: readonly (readonly [object, number])[] = [
		[{Seconds: 7}, 7],
		[{SecondsPath: '$.list[1]'}, 2],
		[{Timestamp: '2026-01-01T00:01:00Z'}, 60],
		[{Timestamp: '2025-12-31T23:59:59Z'}, 0],
		[{TimestampPath: '$.at'}, 3],
	];
	for (const [more, seconds] of waits) {
		const ran = runOf(alone({Type: 'Wait', OutputPath: '$.a', End: true, ...more}), {
			...(input as object),
			at: '2026-01-01T01:00:03+01:00',
		});
		t.is(tookOf(ran), seconds);
		t.is(outputOf(ran), 1);
	}
});

test('a retrier waits longer each time, and then the catcher takes over', t => {
	const retry = (...Retry: object[]) => alone(task({Retry}));
	const rows: readonly (readonly [string, unknown, Answers, calls: number, seconds: number])[] = [
		['what is usual', retry({ErrorEquals: ['X']}), {A: [throws('X')]}, 4, 1 + 2 + 4],
		['as it is written', retry({ErrorEquals: ['X'], IntervalSeconds: 3, BackoffRate: 1.5, MaxAttempts: 2}), {A: [throws('X')]}, 3, 3 + 4.5],
		['a bound', retry({ErrorEquals: ['X'], MaxDelaySeconds: 3, MaxAttempts: 5}), {A: [throws('X')]}, 6, 1 + 2 + 3 + 3 + 3],
		['no attempt', retry({ErrorEquals: ['X'], MaxAttempts: 0}, {ErrorEquals: ['States.ALL']}), {A: [throws('X')]}, 1, 0],
		[
			'counts of their own',
			retry({ErrorEquals: ['X'], MaxAttempts: 1}, {ErrorEquals: ['Y'], MaxAttempts: 1}),
			{A: [throws('X'), throws('Y'), throws('X')]},
			3,
			1 + 1,
		],
		[
			'until it works',
			retry({ErrorEquals: ['States.TaskFailed']}),
			{A: [throws('X', 5), throws('Z', 5), gives(1, 5)]},
			3,
			5 + 1 + 5 + 2 + 5,
		],
		['another error', retry({ErrorEquals: ['Y']}), {A: [throws('X')]}, 1, 0],
		[
			'a timeout is no failure of the task',
			alone(task({TimeoutSeconds: 2, Retry: [{ErrorEquals: ['States.TaskFailed']}]})),
			{A: [gives(1, 9)]},
			1,
			2,
		],
		[
			'a timeout by its name',
			alone(task({TimeoutSeconds: 2, Retry: [{ErrorEquals: ['States.Timeout'], MaxAttempts: 1}]})),
			{A: [gives(1, 9)]},
			2,
			2 + 1 + 2,
		],
		[
			'a heartbeat is a timeout',
			alone(task({HeartbeatSeconds: 2, Retry: [{ErrorEquals: ['States.Timeout'], MaxAttempts: 1}]})),
			{A: [gives(1, 9)]},
			2,
			2 + 1 + 2,
		],
		['States.Runtime is not tried again', alone(task({InputPath: '$.x', Retry: [{ErrorEquals: ['States.ALL']}]})), {}, 0, 0],
	];
	for (const [what, definition, answers, calls, seconds] of rows) {
		const ran = runOf(definition, input, answers);
		t.is(ran.calls.length, calls, what);
		t.is(tookOf(ran), seconds, what);
		t.deepEqual(new Set(ran.calls.map(({key}) => key)).size, calls, 'each attempt has a key of its own');
	}
	t.deepEqual(
		runOf(rows[0]?.[1], input, {A: [throws('X')]}).calls.map(({key}) => key),
		['ns/run-1/1-A.1', 'ns/run-1/1-A.2', 'ns/run-1/1-A.3', 'ns/run-1/1-A.4'],
	);
});

test('full jitter waits anything up to the delay, by the chance that is handed in', t => {
	const jittered = alone(task({Retry: [{ErrorEquals: ['X'], IntervalSeconds: 100, MaxAttempts: 1, JitterStrategy: 'FULL'}]}));
	const took = [1, 2, 3, 4, 5].map(seed => tookOf(runOf(jittered, {}, {A: [throws('X')]}, seed)));
	t.true(took.every(seconds => seconds >= 0 && seconds < 100));
	t.is(new Set(took).size, 5);
	t.is(tookOf(runOf(jittered, {}, {A: [throws('X')]}, 1)), took[0] ?? -1);
});

test('the retry of a Parallel or a Map begins all of it anew, with keys of their own', t => {
	const again = alone({
		Type: 'Parallel',
		Branches: [machine({P: task()}, 'P'), machine({Q: task()}, 'Q')],
		Retry: [{ErrorEquals: ['States.BranchFailed'], MaxAttempts: 1}],
		End: true,
	});
	const ran = runOf(again, input, {P: [throws('X', 1), gives('p')], Q: [gives('q', 5)]});
	t.deepEqual(outputOf(ran), ['p', 'q']);
	t.deepEqual(
		ran.calls.map(({key}) => key),
		['ns/run-1/1-A.1.0/1-P.1', 'ns/run-1/1-A.1.1/1-Q.1', 'ns/run-1/1-A.2.0/1-P.1', 'ns/run-1/1-A.2.1/1-Q.1'],
	);
});

test('no more items are under way than may be, and each begins when another ends', t => {
	let [under, most] = [0, 0];
	const items = Array.from({length: 7}, (_, at) => at);
	const three = alone({Type: 'Map', MaxConcurrency: 3, ItemProcessor: machine({P: task()}, 'P'), End: true});
	const ran = runOf(three, items, {P: () => gives(0, 10)});
	t.is(tookOf(ran), 30);
	for (const {type} of ran.news) {
		if (type === 'called') most = Math.max(most, ++under);
		if (type === 'left') under--;
	}
	t.is(most, 3);
	t.is(tookOf(runOf(alone({Type: 'Map', ItemProcessor: machine({P: task()}, 'P'), End: true}), items, {P: () => gives(0, 10)})), 10);
	const byPath = alone({Type: 'Map', ItemsPath: '$.items', MaxConcurrencyPath: '$.n', ItemProcessor: machine({P: task()}, 'P'), End: true});
	t.is(tookOf(runOf(byPath, {items, n: 2}, {P: () => gives(0, 10)})), 40);
});

test('a Map of ten thousand items ends, and one more is refused', t => {
	const each = alone({Type: 'Map', ItemProcessor: machine({P: task()}, 'P'), ResultSelector: {'n.$': 'States.ArrayLength($)'}, End: true});
	const items = (length: number): Json => Array.from({length}, () => 1);
	t.deepEqual(outputOf(runOf(each, items(limits.statesMapItems), {P: () => gives(1, 1)})), {n: limits.statesMapItems});
	t.regex(errorOf(runOf(each, items(limits.statesMapItems + 1)))?.Cause ?? '', /at most 10000 items, got 10001/);
});

test('the way of a run has its times', t => {
	const loop = machine({
		A: {Type: 'Task', Resource: 'f', ResultPath: '$.n', Next: 'B'},
		B: {Type: 'Choice', Choices: [{Variable: '$.n', NumericLessThan: 2, Next: 'C'}], Default: 'D'},
		C: {Type: 'Wait', Seconds: 10, Next: 'A'},
		D: {Type: 'Succeed'},
	});
	t.deepEqual(wayOf(runOf(loop, {}, {A: [gives(1, 1), gives(2, 1)]})), ['A 0', 'B 1', 'C 1', 'A 11', 'B 12', 'D 12']);
});

// ---- a run that is driven by hand ---------------------------------------------------------------------------------------------------

class Hand {
	head: RunHead;
	readonly frames = new Map<string, string>();
	readonly tallies = new Map<string, string>();
	readonly definition;

	constructor(definition: unknown, given: Json = {}) {
		this.definition = definitionOf(definition);
		const first = beginRun(this.definition, {id: 'r', name: 'r', workflow: 'w', input: given}, {nowMs: startMs, tools: testTools()});
		this.head = first.head;
		this.take(first);
	}

	/** Frames are kept as text: all of a run is plain JSON. */
	take(step: Step): Step {
		this.head = JSON.parse(JSON.stringify(step.head ?? this.head)) as RunHead;
		for (const [id, frame] of step.frames) {
			if (frame === null) this.frames.delete(id);
			else this.frames.set(id, JSON.stringify(frame));
		}
		for (const [id, tally] of step.tallies) {
			if (tally === null) this.tallies.delete(id);
			else this.tallies.set(id, JSON.stringify(tally));
		}
		return step;
	}

	get view(): RunView {
		return {
			head: this.head,
			frame: id => (this.frames.has(id) ? (JSON.parse(this.frames.get(id) ?? '') as Frame) : undefined),
			tally: id => (this.tallies.has(id) ? (JSON.parse(this.tallies.get(id) ?? '') as Tally) : undefined),
		};
	}

	step(event: RunEvent, seconds = 0): Step {
		return this.take(stepRun(this.definition, this.view, event, {nowMs: startMs + seconds * 1_000, tools: testTools()}));
	}
}

test('an event that comes twice, late, or for nobody changes nothing', t => {
	const hand = new Hand(alone(task({TimeoutSeconds: 5, Retry: [{ErrorEquals: ['X'], MaxAttempts: 1}]})));
	const nothing = (step: Step, what: string) =>
		t.deepEqual([step.head, [...step.frames], step.commands, step.news], [undefined, [], [], []], what);
	t.deepEqual(
		hand.step({type: 'continued', frame: ''}).commands.map(({type}) => type),
		['callTask', 'startTimer'],
	);
	nothing(hand.step({type: 'continued', frame: ''}), 'continued twice');
	nothing(hand.step({type: 'continued', frame: 'x/'}), 'another frame');
	for (const key of ['r/1-A.2', 'q/1-A.1', 'r/9-Z.1.1/1-B.1', '', 'r/', '/'])
		nothing(hand.step({type: 'taskSucceeded', key, output: 1}), key);
	for (const timer of ['r/1-A.1#wait', 'r/1-A.1#retry', 'r/1-A.1', '#timeout', 'r#run'])
		nothing(hand.step({type: 'timerFired', timer}, 99), timer);
	t.deepEqual(
		hand.step({type: 'timerFired', timer: 'r/1-A.1#timeout'}, 4).commands,
		[{type: 'startTimer', timer: 'r/1-A.1#timeout', atMs: startMs + 5_000}],
		'a clock that was ahead',
	);
	t.is(hand.step({type: 'taskFailed', key: 'r/1-A.1', error: {Error: 'X', Cause: ''}}, 4).commands[0]?.type, 'startTimer');
	nothing(hand.step({type: 'taskSucceeded', key: 'r/1-A.1', output: 1}, 4), 'an answer to an attempt that is over');
	t.is(hand.step({type: 'timerFired', timer: 'r/1-A.2#retry'}, 5).commands[0]?.type, 'callTask');
	nothing(hand.step({type: 'timerFired', timer: 'r/1-A.1#timeout'}, 6), 'the timer of an attempt that is over');
	t.deepEqual(hand.step({type: 'taskSucceeded', key: 'r/1-A.2', output: 7}, 6).commands, [
		{type: 'endRun', ending: {status: 'succeeded', atMs: startMs + 6_000, output: 7}},
	]);
	nothing(hand.step({type: 'taskSucceeded', key: 'r/1-A.2', output: 8}, 7), 'after the end');
	nothing(hand.step({type: 'cancelled', cause: 'late'}, 7), 'cancelled after the end');
	t.is(hand.frames.size + hand.tallies.size, 0);
});

test('a heartbeat gives a task more time', t => {
	const hand = new Hand(alone(task({HeartbeatSeconds: 10})));
	hand.step({type: 'continued', frame: ''});
	hand.step({type: 'taskHeartbeat', key: 'r/1-A.1'}, 8);
	t.deepEqual(hand.step({type: 'timerFired', timer: 'r/1-A.1#heartbeat'}, 10).commands, [
		{type: 'startTimer', timer: 'r/1-A.1#heartbeat', atMs: startMs + 18_000},
	]);
	t.is(hand.step({type: 'timerFired', timer: 'r/1-A.1#heartbeat'}, 18).commands.at(-1)?.type, 'endRun');
});

test('a run that is cancelled stops all that is under way', t => {
	const hand = new Hand(alone({Type: 'Parallel', Branches: [machine({P: task()}, 'P'), machine({Q: task()}, 'Q')], End: true}));
	hand.step({type: 'continued', frame: ''});
	for (const frame of ['1-A.1.0/', '1-A.1.1/']) hand.step({type: 'continued', frame});
	const {commands} = hand.step({type: 'cancelled', cause: 'no longer wanted'}, 3);
	t.deepEqual(commands, [
		{type: 'stopTask', key: 'r/1-A.1.0/1-P.1'},
		{type: 'stopTask', key: 'r/1-A.1.1/1-Q.1'},
		{type: 'endRun', ending: {status: 'cancelled', atMs: startMs + 3_000, cause: 'no longer wanted'}},
	]);
	t.is(hand.frames.size + hand.tallies.size, 0);
});

test('a branch that the run has gone on without, and that was not removed yet, changes nothing', t => {
	const branch = machine({P: task({Next: 'R', End: undefined}), R: {Type: 'Pass', End: true}}, 'P');
	const again = alone({Type: 'Parallel', Branches: [branch, machine({Q: task()}, 'Q')], Retry: [{ErrorEquals: ['X']}], End: true});
	for (const gone of ['failed', 'ended'] as const) {
		const hand = new Hand(again);
		hand.step({type: 'continued', frame: ''});
		hand.step({type: 'continued', frame: '1-A.1.0/'});
		const kept = hand.frames.get('1-A.1.0/') ?? '';
		hand.step({type: 'continued', frame: '1-A.1.1/'});
		hand.step({type: 'taskFailed', key: 'r/1-A.1.1/1-Q.1', error: {Error: 'X', Cause: ''}});
		t.false(hand.frames.has('1-A.1.0/'));
		hand.frames.set('1-A.1.0/', kept);
		const key = 'r/1-A.1.0/1-P.1';
		hand.step(gone === 'failed' ? {type: 'taskFailed', key, error: {Error: 'Y', Cause: ''}} : {type: 'taskSucceeded', key, output: 1});
		if (gone === 'ended') hand.step({type: 'continued', frame: '1-A.1.0/'});
		t.deepEqual(
			[...hand.frames],
			[
				['', hand.frames.get('')],
				['1-A.1.0/', kept],
			],
		);
		t.is(hand.head.ending, null);
	}
});

test('a tally of an earlier state that is found again after a crash is not counted on', t => {
	const both = (Next?: string): object => ({
		Type: 'Parallel',
		Branches: [machine({[`P${Next ?? ''}`]: task()}, `P${Next ?? ''}`)],
		...(Next === undefined ? {End: true} : {Next}),
	});
	const list = {Type: 'Map', ItemsPath: '$', ItemProcessor: machine({Q: task()}, 'Q'), End: true};
	for (const second of [both(), list]) {
		const hand = new Hand(machine({A: both('B'), B: second}, 'A'));
		hand.step({type: 'continued', frame: ''});
		hand.step({type: 'continued', frame: '1-A.1.0/'});
		const kept = hand.tallies.get('') ?? '';
		hand.step({type: 'taskSucceeded', key: 'r/1-A.1.0/1-PB.1', output: 1});
		t.is(hand.tallies.size, 0);
		hand.tallies.set('', kept);
		hand.step({type: 'continued', frame: ''});
		hand.step({type: 'continued', frame: '2-B.1.0/'});
		hand.step({type: 'taskSucceeded', key: `r/2-B.1.0/1-${second === list ? 'Q' : 'P'}.1`, output: 2});
		t.deepEqual(hand.head.ending, {status: 'succeeded', atMs: hand.head.ending?.atMs ?? 0, output: [2]});
	}
});

test('the items of a Map are looked for once where that is much work, and its frame is not written again for each of them', t => {
	const each = (ItemsPath: string) =>
		new Hand(alone({Type: 'Map', ItemsPath, MaxConcurrency: 1, ItemProcessor: machine({P: task()}, 'P'), End: true}), {list: [1, 2, 3]});
	const filtered = each('$.list[?(@ > 1)]');
	filtered.step({type: 'continued', frame: ''});
	t.like(filtered.view.frame('')?.phase, {type: 'children', total: 2, input: [2, 3]});
	const named = each('$.list');
	named.step({type: 'continued', frame: ''});
	t.like(named.view.frame('')?.phase, {type: 'children', total: 3, input: null});
	named.step({type: 'continued', frame: '1-A.1.0/'});
	const step = named.step({type: 'taskSucceeded', key: 'r/1-A.1.0/1-P.1', output: 1});
	t.deepEqual([...step.frames.keys()], ['1-A.1.0/', '1-A.1.1/']);
	t.deepEqual([...step.tallies], [['', {frame: '', started: 2, ended: 1, failed: 0, bytes: 1}]]);
});

test('the input of an attempt is evaluated once: a call that is made again is the same, chance or not', t => {
	const hand = new Hand(alone(task({TimeoutSeconds: 9, Parameters: {'id.$': 'States.UUID()'}})));
	const {commands} = hand.step({type: 'continued', frame: ''});
	const frame = hand.view.frame('');
	t.truthy(frame);
	if (frame !== undefined) t.deepEqual(outstanding(hand.definition, hand.head, frame), commands);
});

test('a run that is read again after every step, with all commands lost, comes to the same end, and makes no call with another key', t => {
	const definition = machine({
		A: task({End: undefined, Next: 'W', Retry: [{ErrorEquals: ['X']}], ResultPath: '$.a', TimeoutSeconds: 50}),
		W: {Type: 'Wait', Seconds: 5, Next: 'P'},
		P: {
			Type: 'Parallel',
			ResultPath: '$.p',
			Branches: [
				machine({M: {Type: 'Map', ItemsPath: '$.list', MaxConcurrency: 2, ItemProcessor: machine({I: task()}, 'I'), End: true}}, 'M'),
				machine({Q: task({Catch: [{ErrorEquals: ['States.ALL'], Next: 'R'}]}), R: {Type: 'Pass', End: true}}, 'Q'),
			],
			Next: 'D',
		},
		D: {Type: 'Choice', Choices: [{Variable: '$.p[1].Error', StringEquals: 'Y', Next: 'E'}], Default: 'F'},
		E: {Type: 'Succeed', OutputPath: '$.p'},
		F: {Type: 'Fail'},
	});
	const answers: Answers = {A: [throws('X'), gives(5)], Q: [throws('Y')], I: call => gives(Number(call.input) + 1)};
	const plain = runOf(definition, {list: [1, 2, 3]}, answers);
	const hand = new Hand(definition, {list: [1, 2, 3]});
	const keys = new Set<string>();
	for (let steps = 0; hand.head.ending === null && steps < 500; steps++) {
		// The first of what is under way, whatever it is, as a server finds it that begins.
		const all = [...hand.frames.values()].flatMap(text => outstanding(hand.definition, hand.head, JSON.parse(text) as Frame));
		const next = all.find(({type}) => type === 'continue' || type === 'callTask') ?? all[0];
		const event = next === undefined ? undefined : answered(next);
		if (event === undefined) return t.fail('nothing is under way');
		hand.step(event, steps * 100);
	}
	const ending = hand.head.ending;
	t.deepEqual(ending?.status === 'succeeded' ? ending.output : undefined, outputOf(plain));
	t.deepEqual(outputOf(plain), [[2, 3, 4], {Error: 'Y', Cause: 'because'}]);
	t.deepEqual([...keys].toSorted(), plain.calls.map(({key}) => key.replace('ns/run-1', 'r')).toSorted());
	return undefined;

	function answered(command: RunCommand): RunEvent | undefined {
		if (command.type === 'continue') {
			// A Map with all that may be under way has nothing to go on with.
			const busy = hand.view.frame(command.frame)?.phase;
			if (busy?.type !== 'children') return {type: 'continued', frame: command.frame};
			const rest = [...hand.frames.values()]
				.map(text => JSON.parse(text) as Frame)
				.filter(({phase}) => phase.type !== 'children' && phase.type !== 'ended');
			const [other] = rest.flatMap(frame => outstanding(hand.definition, hand.head, frame)).map(each => answered(each));
			return other ?? {type: 'continued', frame: command.frame};
		}
		if (command.type === 'startTimer') return {type: 'timerFired', timer: command.timer};
		if (command.type !== 'callTask') return undefined;
		const first = !keys.has(command.key);
		keys.add(command.key);
		const given = answers[command.state];
		const answer = typeof given === 'function' ? given(command) : given?.[Math.min(command.attempt - 1, given.length - 1)];
		t.true(first || answer !== undefined);
		if (answer === undefined || 'silent' in answer) return undefined;
		return 'output' in answer
			? {type: 'taskSucceeded', key: command.key, output: answer.output}
			: {type: 'taskFailed', key: command.key, error: answer.error};
	}
});
