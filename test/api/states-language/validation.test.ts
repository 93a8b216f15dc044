// What is wrong with a definition: each finding with its field and what to do.

import test from 'ava';
import {limits} from '../../../api/limits.js';
import {readDefinition} from '../../../api/states-language/validation/definition.js';
import {definitionOf, problemsOf} from './_states.js';

const task = {Type: 'Task', Resource: 'f', End: true};
const machine = (States: unknown, StartAt = 'A') => ({StartAt, States});
const alone = (state: unknown) => machine({A: state});
const choosing = (...Choices: unknown[]) => machine({A: {Type: 'Choice', Choices, Default: 'B'}, B: {Type: 'Succeed'}});
const retried = (Retry: unknown) => alone({...task, Retry});
const caught = (Catch: unknown) => machine({A: {...task, Catch}, B: {Type: 'Succeed'}, C: {Type: 'Succeed'}});
const mapping = (more: object) => alone({Type: 'Map', End: true, ItemProcessor: machine({I: task}, 'I'), ...more});

const findings: readonly (readonly [what: string, definition: unknown, problem: string | RegExp])[] = [
	['no object', 'x', 'must be an object with StartAt and States, got "x"'],
	['no StartAt', {States: {A: task}}, 'StartAt: must be the name of a state, got nothing'],
	['no states', {StartAt: 'A', States: {}}, 'States: must be an object of at least one state, got an empty one'],
	[
		'a start that is missing',
		machine({Charge: task}, 'Chrage'),
		'StartAt: there is no state "Chrage" in this machine; did you mean "Charge"?',
	],
	[
		'a target that is missing',
		machine({A: {...task, End: undefined, Next: 'Shp'}, Ship: task}),
		'States.A.Next: there is no state "Shp" in this machine; did you mean "Ship"?',
	],
	['a target in another machine', mapping({End: undefined, Next: 'Inner'}), 'States.A.Next: there is no state "Inner" in this machine'],
	['an unreachable state', machine({A: task, B: task}), 'States.B: no way leads to this state from "A"; lead one there, or take it out'],
	[
		'a state with no way out',
		machine({A: {Type: 'Pass', Next: 'B'}, B: {Type: 'Pass', Next: 'A'}}),
		/^States\.A: no way leads from this state to an end: give a state/,
	],
	[
		'a catcher that leads into a ring',
		machine({A: {...task, Catch: [{ErrorEquals: ['States.ALL'], Next: 'B'}]}, B: {Type: 'Pass', Next: 'B'}}),
		/^States\.B: no way leads/,
	],
	['neither Next nor End', alone({Type: 'Pass'}), 'States.A: Next or "End": true is missing'],
	[
		'Next and End',
		machine({A: {...task, Next: 'B'}, B: task}),
		'States.A.End: stands beside Next; a state either ends its machine or leads on',
	],
	['an unknown type', alone({Type: 'Taks'}), /^States\.A\.Type: must be one of Task, .*, got "Taks"; did you mean "Task"\?/],
	['an unknown member', alone({...task, Retyr: []}), 'States.A.Retyr: unknown member "Retyr" of a Task state; did you mean "Retry"?'],
	[
		'a member of another type',
		alone({Type: 'Succeed', ResultPath: '$'}),
		'States.A.ResultPath: does not belong to a Succeed state; take it out',
	],
	[
		'JSONata',
		{...alone(task), QueryLanguage: 'JSONata'},
		'QueryLanguage: must be "JSONPath"; JSONata is not supported: write paths and intrinsics',
	],
	['JSONata in a state', alone({...task, QueryLanguage: 'JSONata'}), /^States\.A\.QueryLanguage: must be "JSONPath"/],
	['Arguments', alone({...task, Arguments: {}}), /^States\.A\.Arguments: belongs to JSONata/],
	['variables', alone({...task, Assign: {}}), /^States\.A\.Assign: variables are not supported/],
	['a version', {...alone(task), Version: '2.0'}, 'Version: must be "1.0", got "2.0"'],
	['no resource', alone({Type: 'Task', End: true}), 'States.A.Resource: must say what is called, got nothing'],
	['a bad path', alone({...task, InputPath: 'order'}), 'States.A.InputPath: is no path: a path begins with "$" (character 1), got "order"'],
	['a bad reference path', alone({...task, ResultPath: '$.a[*]'}), /^States\.A\.ResultPath: is no reference path: must name one place/],
	['the context as a place', alone({...task, ResultPath: '$$.x'}), /^States\.A\.ResultPath: is no reference path: the context object/],
	[
		'a bad intrinsic',
		alone({...task, Parameters: {'x.$': 'States.Uuid()'}}),
		'States.A.Parameters["x.$"]: is no intrinsic: there is no intrinsic "States.Uuid"; did you mean "States.UUID"?, got "States.Uuid()"',
	],
	[
		'a template with a value',
		alone({...task, Parameters: {a: [{'x.$': 1}]}}),
		/^States\.A\.Parameters\.a\[0\]\["x\.\$"\]: must be a path such as "\$\.order" or an intrinsic/,
	],
	['a member twice', alone({...task, ResultSelector: {x: 1, 'x.$': '$'}}), /^States\.A\.ResultSelector\["x\.\$"\]: stands beside "x"/],
	[
		'two timeouts',
		alone({...task, TimeoutSeconds: 5, TimeoutSecondsPath: '$.t'}),
		'States.A.TimeoutSecondsPath: stands beside TimeoutSeconds; one of them is enough',
	],
	[
		'a timeout of nothing',
		alone({...task, TimeoutSeconds: 0}),
		'States.A.TimeoutSeconds: must be a whole number from 1 to 99999999, got 0',
	],
	[
		'a slow heartbeat',
		alone({...task, TimeoutSeconds: 5, HeartbeatSeconds: 5}),
		'States.A.HeartbeatSeconds: must be less than TimeoutSeconds, which is 5, got 5',
	],
	['a wait for nothing', alone({Type: 'Wait', End: true}), 'States.A: one of Seconds, SecondsPath, Timestamp, TimestampPath is missing'],
	[
		'a time that is none',
		alone({Type: 'Wait', Timestamp: 'tomorrow', End: true}),
		'States.A.Timestamp: must be a time such as "2030-01-31T12:00:00Z", got "tomorrow"',
	],
	['no rules', choosing(), 'States.A.Choices: must be a list of at least one item, got an empty one'],
	['a rule without Next', choosing({Variable: '$.x', IsNull: true}), 'States.A.Choices[0].Next: must be the name of a state, got nothing'],
	[
		'a rule without an operator',
		choosing({Variable: '$.x', Next: 'B', NumericEqual: 1}),
		/^States\.A\.Choices\[0\]\.NumericEqual: unknown member .*; did you mean "NumericEquals"\?/,
	],
	[
		'a rule without a variable',
		choosing({IsNull: true, Next: 'B'}),
		'States.A.Choices[0]: Variable is missing: the path of what IsNull looks at',
	],
	[
		'two operators',
		choosing({Variable: '$.x', NumericLessThan: 9, NumericGreaterThan: 1, Next: 'B'}),
		/^States\.A\.Choices\[0\]\.NumericGreaterThan: stands beside NumericLessThan; And joins/,
	],
	[
		'a text for a number',
		choosing({Variable: '$.x', NumericEquals: '5', Next: 'B'}),
		'States.A.Choices[0].NumericEquals: must be a number, got "5"; operators of texts begin with String',
	],
	[
		'a number for a text',
		choosing({Variable: '$.x', StringLessThan: 5, Next: 'B'}),
		'States.A.Choices[0].StringLessThan: must be a text, got 5; operators of numbers begin with Numeric',
	],
	[
		'a text for a boolean',
		choosing({Variable: '$.x', BooleanEquals: 'true', Next: 'B'}),
		'States.A.Choices[0].BooleanEquals: must be true or false, got "true"',
	],
	[
		'a text for a time',
		choosing({Variable: '$.x', TimestampEquals: '2024', Next: 'B'}),
		/^States\.A\.Choices\[0\]\.TimestampEquals: must be a time/,
	],
	[
		'a value for a path',
		choosing({Variable: '$.x', NumericEqualsPath: 5, Next: 'B'}),
		/^States\.A\.Choices\[0\]\.NumericEqualsPath: must be a path/,
	],
	[
		'a Next within',
		choosing({Not: {Variable: '$.x', IsNull: true, Next: 'B'}, Next: 'B'}),
		/^States\.A\.Choices\[0\]\.Not\.Next: belongs to the outermost rule alone/,
	],
	[
		'a long pattern',
		choosing({Variable: '$.x', StringMatches: '*'.repeat(300), Next: 'B'}),
		'States.A.Choices[0].StringMatches: must have at most 256 characters',
	],
	['no names of errors', retried([{}]), 'States.A.Retry[0].ErrorEquals: must be a list of at least one item, got nothing'],
	[
		'a reserved name mistaken',
		retried([{ErrorEquals: ['States.Timout']}]),
		/^States\.A\.Retry\[0\]\.ErrorEquals\[0\]: "States\.Timout" is no error of the language.*did you mean "States\.Timeout"\?/,
	],
	['a reserved name in other letters', retried([{ErrorEquals: ['states.all']}]), /did you mean "States\.ALL"\?/],
	[
		'States.Runtime',
		retried([{ErrorEquals: ['States.Runtime']}]),
		/^States\.A\.Retry\[0\]\.ErrorEquals\[0\]: "States\.Runtime" cannot be taken/,
	],
	[
		'States.ALL with others',
		retried([{ErrorEquals: ['States.ALL', 'X']}]),
		'States.A.Retry[0].ErrorEquals: "States.ALL" must stand alone: it takes all that the others name',
	],
	[
		'a retrier after States.ALL',
		retried([{ErrorEquals: ['States.ALL']}, {ErrorEquals: ['X']}]),
		'States.A.Retry[0].ErrorEquals: "States.ALL" must be in the last one: what follows it is never reached',
	],
	[
		'a catcher after States.ALL',
		caught([
			{ErrorEquals: ['States.ALL'], Next: 'B'},
			{ErrorEquals: ['X'], Next: 'C'},
		]),
		/^States\.A\.Catch\[0\]\.ErrorEquals: "States\.ALL" must be in the last one/,
	],
	[
		'a short interval',
		retried([{ErrorEquals: ['X'], IntervalSeconds: 0.5}]),
		'States.A.Retry[0].IntervalSeconds: must be a whole number from 1 to 31622400, got 0.5',
	],
	[
		'a rate that shrinks',
		retried([{ErrorEquals: ['X'], BackoffRate: 0.5}]),
		'States.A.Retry[0].BackoffRate: must be a number from 1 to 1000, got 0.5',
	],
	[
		'a bound below the interval',
		retried([{ErrorEquals: ['X'], IntervalSeconds: 9, MaxDelaySeconds: 9}]),
		/MaxDelaySeconds: must be more than IntervalSeconds, which is 9, got 9/,
	],
	[
		'another jitter',
		retried([{ErrorEquals: ['X'], JitterStrategy: 'HALF'}]),
		'States.A.Retry[0].JitterStrategy: must be FULL or NONE, got "HALF"',
	],
	['a retry of a Pass', alone({Type: 'Pass', End: true, Retry: []}), 'States.A.Retry: does not belong to a Pass state; take it out'],
	[
		'no branches',
		alone({Type: 'Parallel', Branches: [], End: true}),
		'States.A.Branches: must be a list of at least one item, got an empty one',
	],
	[
		'a wrong branch',
		alone({Type: 'Parallel', Branches: [machine({B: task}, 'Charge')], End: true}),
		'States.A.Branches[0].StartAt: there is no state "Charge" in this machine',
	],
	[
		'a name twice',
		alone({Type: 'Parallel', Branches: [machine({B: task}, 'B'), machine({B: task}, 'B')], End: true}),
		/^States\.A\.Branches\[1\]\.States\.B: there is a state "B" at States\.A\.Branches\[0\]\.States\.B already/,
	],
	['no processor', alone({Type: 'Map', End: true}), 'States.A: one of ItemProcessor, Iterator is missing'],
	['two templates', mapping({ItemSelector: {}, Parameters: {}}), 'States.A.Parameters: stands beside ItemSelector; one of them is enough'],
	[
		'a distributed Map',
		mapping({ItemProcessor: {...machine({I: task}, 'I'), ProcessorConfig: {Mode: 'DISTRIBUTED'}}}),
		'States.A.ItemProcessor.ProcessorConfig.Mode: "DISTRIBUTED" is not supported; INLINE is',
	],
	['an ItemReader', mapping({ItemReader: {}}), /^States\.A\.ItemReader: belongs to Maps in DISTRIBUTED mode/],
	['too many at once', mapping({MaxConcurrency: -1}), /^States\.A\.MaxConcurrency: must be a whole number from 0/],
	['more than all', mapping({ToleratedFailurePercentage: 101}), /^States\.A\.ToleratedFailurePercentage: must be a number from 0 to 100/],
	['a path that is no error', alone({Type: 'Fail', ErrorPath: 'x y'}), /^States\.A\.ErrorPath: is no intrinsic/],
	['a long name', machine({['A'.repeat(81)]: task}, 'A'.repeat(81)), /the name of a state has 1 to 80 characters, got 81/],
	['a name that is no text', machine({'a\u0000': task}, 'a\u0000'), /without control characters/],
];

test('each finding has its field, and says what to do', t => {
	for (const [what, definition, problem] of findings) {
		const problems = problemsOf(definition);
		if (typeof problem === 'string') t.is(problems[0], problem, what);
		else t.regex(problems[0] ?? '', problem, what);
	}
});

test('all findings are told at once, with the path of where the definition stands', t => {
	const read = readDefinition(machine({A: {Type: 'Task', Nxt: 'B'}, B: {Type: 'Wait', Seconds: -1, End: true}}), 'spec.definition');
	t.deepEqual(read.ok ? [] : read.problems.map(({path}) => path), [
		'spec.definition.States.A.Nxt',
		'spec.definition.States.A',
		'spec.definition.States.A.Resource',
		'spec.definition.States.B.Seconds',
	]);
});

test('what is right is taken: loops through a Choice, names of prototypes, all members', t => {
	const right = {
		Comment: 'c',
		Version: '1.0',
		TimeoutSeconds: 100,
		QueryLanguage: 'JSONPath',
		StartAt: 'constructor',
		States: {
			constructor: {Type: 'Wait', SecondsPath: '$.s', Next: 'toString'},
			toString: {Type: 'Choice', Choices: [{Not: {Variable: '$.done', BooleanEquals: true}, Next: 'constructor'}], Default: 'each'},
			each: {
				Type: 'Map',
				ItemsPath: '$.items',
				ItemSelector: {'v.$': '$$.Map.Item.Value'},
				MaxConcurrencyPath: '$.n',
				ToleratedFailurePercentage: 12.5,
				ItemProcessor: {
					ProcessorConfig: {Mode: 'INLINE'},
					StartAt: 'one',
					States: {one: {...task, ResultPath: null, TimeoutSecondsPath: '$.t'}},
				},
				Retry: [
					{ErrorEquals: ['A', 'B'], IntervalSeconds: 2, MaxAttempts: 0, BackoffRate: 1.5, MaxDelaySeconds: 60, JitterStrategy: 'FULL'},
					{ErrorEquals: ['States.ALL']},
				],
				Catch: [{ErrorEquals: ['States.ALL'], ResultPath: '$.e', Next: 'lost'}],
				End: true,
			},
			lost: {Type: 'Fail', ErrorPath: "States.Format('{}', $.e.Error)", CausePath: '$.e.Cause'},
		},
	};
	t.deepEqual(problemsOf(right), []);
	t.is(definitionOf(right).StartAt, 'constructor');
});

test('a hostile definition is refused, and at once', t => {
	const nested = (depth: number): unknown =>
		depth === 0
			? machine({[`T${depth}`]: task}, 'T0')
			: machine({[`P${depth}`]: {Type: 'Parallel', Branches: [nested(depth - 1)], End: true}}, `P${depth}`);
	t.deepEqual(problemsOf(nested(limits.statesNesting)), []);
	t.regex(problemsOf(nested(limits.statesNesting + 1))[0] ?? '', /nested deeper than 10 levels/);
	let rule: unknown = {Variable: '$.x', IsNull: true};
	for (let depth = 0; depth < 30; depth++) rule = {Not: rule};
	t.regex(problemsOf(choosing({...(rule as object), Next: 'B'}))[0] ?? '', /rules are nested deeper than 16 levels/);
	const many = Object.fromEntries(Array.from({length: limits.statesDefinitionStates + 1}, (_, at) => [`S${at}`, task]));
	t.deepEqual(problemsOf(machine(many, 'S0')), ['States: the definition has more than 2000 states']);
	t.regex(problemsOf({...alone(task), Comment: 'x'.repeat(limits.statesDefinitionBytes)})[0] ?? '', /has more than 1000000 bytes/);
	t.regex(
		problemsOf(JSON.parse(`{"StartAt": "A", "States": {"__proto__": {"Type": "Succeed"}}}`))[0] ?? '',
		/"__proto__" cannot be the name of a field/,
	);
	t.regex(problemsOf(JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)))[0] ?? '', /nested deeper than 64 levels/);
	const bad = Object.fromEntries(Array.from({length: 1_900}, (_, at) => [`S${at}`, {Type: 'x'.repeat(200)}]));
	t.is(problemsOf(machine(bad, 'S0')).length, limits.problemsShown);
	const lost = Object.fromEntries(Array.from({length: 2_000}, (_, at) => [`State${at}`, {Type: 'Pass', Next: `Staet${at}`}]));
	t.is(problemsOf(machine(lost, 'State0')).length, limits.problemsShown);
	for (const value of [
		null,
		5,
		[],
		{StartAt: [], States: []},
		{StartAt: 'A', States: {A: null}},
		{StartAt: 'A', States: {A: {Type: 'Map', ItemProcessor: 5, Iterator: []}}},
		{StartAt: 'A', States: {A: {Type: 'Choice', Choices: [null, 5, {And: 5}, {Not: null}]}}},
		{StartAt: 'A', States: {A: {Type: 'Task', Retry: [null], Catch: {}, ResultSelector: []}}},
	])
		t.true(problemsOf(value).length > 0);
});
