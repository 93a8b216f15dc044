// `troupe workflow test`: definitions and manifests tried without a cluster.

import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {root} from '../docs/_pages.js';
import {line} from '../../bench/rigs/command-line.js';
import {folder} from './_rig.js';

type Files = Readonly<Record<string, unknown>>;

/** Runs `troupe workflow` in a folder with these files. */
async function workflows(t: ExecutionContext, files: Files) {
	const cwd = await folder(t);
	for (const [name, content] of Object.entries(files))
		await writeFile(path.join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content));
	return (words: readonly string[], input = '') =>
		line(['workflow', ...words.map(word => (word in files ? path.join(cwd, word) : word))], {home: cwd, input});
}

const order = {
	StartAt: 'Charge',
	States: {
		Charge: {
			Type: 'Task',
			Resource: 'charge',
			TimeoutSeconds: 5,
			ResultPath: null,
			Retry: [{ErrorEquals: ['Busy'], IntervalSeconds: 2, MaxAttempts: 1}],
			Catch: [{ErrorEquals: ['States.ALL'], ResultPath: '$.failure', Next: 'Pay'}],
			Next: 'Much',
		},
		Much: {Type: 'Choice', Choices: [{Variable: '$.n', NumericGreaterThan: 5, Next: 'Each'}], Default: 'Done'},
		Each: {
			Type: 'Map',
			ItemsPath: '$.list',
			ItemProcessor: {StartAt: 'One', States: {One: {Type: 'Task', Resource: 'one', End: true}}},
			End: true,
		},
		Pay: {Type: 'Wait', Seconds: 60, Next: 'Lost'},
		Lost: {Type: 'Fail', Error: 'Lost', CausePath: '$.failure.Error'},
		Done: {Type: 'Succeed'},
	},
};

const mocks = `
TestCases:
  busy once:
    Input: {n: 1}
    States: {Charge: [{Throw: {Error: Busy, Cause: later}, Seconds: 1}, {Return: 1}]}
    Expect: {Output: {n: 1}}
  too late:
    Input: {n: 1}
    States: {Charge: {Return: 1, Seconds: 9}}
    Expect: {Error: Lost, Cause: States.Timeout}
`;

test('each case has its path with times, its ending, and what no case goes through is told', async t => {
	const run = await workflows(t, {'order.json': order, 'mocks.yaml': mocks});
	const {code, out, err} = await run(['test', 'order.json', '--mock', 'mocks.yaml']);
	t.is(err, '');
	t.is(code, 0);
	t.is(
		out,
		`ok busy once: succeeded after 3 s
  0 s  Charge
  1 s  ! Busy (later); tried again after 2 s by Charge.Retry[0]
  3 s  Charge: attempt 2
  3 s  Much
  3 s  -> Much.Default
  3 s  Done
  output: {"n":1}

ok too late: failed with Lost (States.Timeout) after 65 s
   0 s  Charge
   5 s  ! States.Timeout (the task did not answer in time); caught by Charge.Catch[0]
   5 s  Pay
  65 s  Lost
  65 s  ! Lost (States.Timeout)

2 cases, all as expected
gone through: 5 of 7 states, 1 of 2 choices, 1 of 1 catcher
no case goes through 2 states: Each, One
no case goes through 1 choice: Much.Choices[0]
`,
	);
	t.like(await run(['test', 'order.json']), {code: 0, err: ''});
});

test('a case that is not as expected fails the command, and says what is other', async t => {
	const cases = {
		'another output': {States: {Charge: {Return: 1}}, Input: {n: 1}, Expect: {Output: {n: 2}}},
		'another error': {States: {Charge: {Throw: {Error: 'X'}}}, Expect: {Error: 'Found'}},
		'an error': {States: {Charge: {Throw: {Error: 'X'}}}, Expect: {Output: 1}},
		'no error': {Input: {n: 1}, States: {Charge: {Return: 1}}, Expect: {Error: 'Lost'}},
		'no mock': {},
		'too few': {Input: {n: 9, list: [1, 2]}, States: {Charge: {Return: 1}, One: [{Return: 1}]}},
	};
	const run = await workflows(t, {'order.json': order, 'mocks.json': {TestCases: cases}});
	const {code, out} = await run(['test', 'order.json', '--mock', 'mocks.json']);
	t.is(code, 1);
	for (const problem of [
		'FAILED another output: succeeded after 0 s\n  the output is other than expected at n\n',
		'it should fail with Found, got Lost (X)',
		'it should succeed, and it failed with Lost (X)',
		'it should fail with Lost, and it succeeded',
		'"Charge" is called, and has no mock: name it under States',
		'"One" is called 2 times, and its mock has 1 answers',
		'6 cases, 6 not as expected',
	])
		t.true(out.includes(problem), `${problem}\n${out}`);
	const json = await run(['test', 'order.json', '--mock', 'mocks.json', '-o', 'json']);
	t.is(json.code, 1);
	const report = JSON.parse(json.out) as {
		cases: readonly {name: string; ok: boolean; ending: unknown; path: readonly unknown[]}[];
		coverage: unknown;
	};
	t.deepEqual(
		report.cases.map(({ok}) => ok),
		[false, false, false, false, false, false],
	);
	t.deepEqual(report.cases[0]?.ending, {status: 'succeeded', output: {n: 1}});
	t.deepEqual(report.cases[0]?.path[0], {
		seconds: 0,
		type: 'entered',
		input: {n: 1},
		frame: '',
		state: 'Charge',
		atMs: Date.parse('2030-01-01T00:00:00Z'),
	});
	t.like(report.coverage, {states: {total: 7, gone: 7, missing: []}});
});

test('the input is that of the case, else of --input, else of the manifest', async t => {
	const manifest = `
apiVersion: /api/v1
kind: Workflow
metadata: {name: print}
startAt: addFive
params: {x: 5}
nodes:
  addFive: {type: Task, next: judge}
  judge: {type: Choice, choices: [{variable: x, numericEquals: 10, next: a}, {variable: x, numericNotEquals: 10, next: b}]}
  a: {type: Task}
  b: {type: Task}
`;
	const cases = {TestCases: {c: {States: {addFive: {Return: {}}, a: {Return: {end: 'a'}}, b: {Return: {end: 'b'}}}}}};
	const run = await workflows(t, {
		'w.yaml': manifest,
		'm.json': cases,
		'd.json': {apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: 'order'}, spec: {definition: order, params: {n: 1}}},
		'e.json': {TestCases: {c: {States: {Charge: {Return: 1}}}}},
	});
	t.regex((await run(['test', 'w.yaml', '--mock', 'm.json'])).out, /output: \{"x":5,"end":"b"\}/);
	t.regex((await run(['test', 'w.yaml', '--mock', 'm.json', '--input', '{"x": 10}'])).out, /output: \{"x":10,"end":"a"\}/);
	t.regex((await run(['test', 'w.yaml', '--mock', 'm.json', '--input', '-'], '{"x": 10}')).out, /output: \{"x":10,"end":"a"\}/);
	t.regex((await run(['test', 'd.json', '--mock', 'e.json'])).out, /output: \{"n":1\}/, 'a manifest with a definition');
});

test('what is wrong with a file is told by its place, and nothing is run', async t => {
	const files = {
		'wrong.yaml': 'StartAt: A\nStates:\n  A:\n    Type: Task\n    Resource: f\n    Nxt: B\n',
		'order.json': order,
		'arn.yaml':
			'apiVersion: troupe.dev/v1\nkind: Workflow\nmetadata: {name: w}\nspec:\n  definition: {StartAt: A, States: {A: {Type: Task, Resource: "arn:aws:states:::lambda:invoke", End: true}}}\n',
		'kind.yaml': 'kind: Pod\napiVersion: v1\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n',
		'nodes.yaml': 'kind: Workflow\napiVersion: troupe.dev/v1\nmetadata: {name: w}\nspec: {startAt: a, nodes: {a: {type: Task, next: b}}}\n',
		'two.yaml': 'a: 1\n---\nb: 1\n',
		'text.json': '{"StartAt": }',
		'mocks.yaml':
			'TestCases:\n  c:\n    States:\n      Chrage: {Return: 1}\n      Much: {Return: 1}\n      Charge: [{Return: 1, Throw: {Error: x}}, paid]\n      One: piad\n    Expect: {Outptu: 1}\nMockedResponses: {paid: {Return: 1}}\n',
		'gap.yaml': "TestCases: {c: {States: {Charge: {'0': {Return: 1}, '2': {Return: 1}}}}}\n",
		'empty.yaml': 'TestCases: {}\n',
	};
	const run = await workflows(t, files);
	const rows: readonly (readonly [words: readonly string[], code: number, ...errors: RegExp[]])[] = [
		[
			['test', 'wrong.yaml'],
			1,
			/wrong\.yaml:6:5: States\.A\.Nxt: unknown member "Nxt" of a Task state; did you mean "Next"\?/,
			/wrong\.yaml:3:3: States\.A: Next or "End": true is missing/,
		],
		[['test', 'arn.yaml'], 1, /arn\.yaml:5:\d+: spec\.definition\.States\.A\.Resource: must be /],
		[['test', 'kind.yaml'], 1, /kind\.yaml:1:1: must be a Workflow, or a definition with StartAt and States, got kind "Pod"/],
		[['test', 'nodes.yaml'], 1, /nodes\.yaml:4:\d+: spec\.nodes\.a\.next: there is no node "b"/],
		[['test', 'text.json'], 1, /text\.json:1:13: is no JSON/],
		[['test', 'two.yaml'], 2, /two\.yaml: has 2 documents; it must be one/],
		[['test', 'nowhere.yaml'], 2, /nowhere\.yaml: there is no such file/],
		[
			['test', 'order.json', '--mock', 'mocks.yaml'],
			1,
			/mocks\.yaml:4:7: TestCases\.c\.States\.Chrage: there is no state "Chrage" in the definition; did you mean "Charge"\?/,
			/mocks\.yaml:5:7: TestCases\.c\.States\.Much: "Much" is no Task/,
			/mocks\.yaml:6:16: TestCases\.c\.States\.Charge\[0\]: must be an answer with either Return or Throw/,
			/mocks\.yaml:6:\d+: TestCases\.c\.States\.Charge\[1\]: must be an answer with either/,
			/mocks\.yaml:7:7: TestCases\.c\.States\.One: there is no "piad" in MockedResponses; did you mean "paid"\?/,
			/mocks\.yaml:8:\d+: TestCases\.c\.Expect\.Outptu: unknown member/,
		],
		[['test', 'order.json', '--mock', 'gap.yaml'], 1, /must be the numbers of calls, from 0 and without a gap/],
		[['test', 'order.json', '--mock', 'empty.yaml'], 1, /TestCases: must be an object of 1 to 200 cases/],
		[['test', 'order.json', '--input', '5'], 2, /--input takes a JSON object/],
		[['test', 'order.json', '--input', '{'], 2, /is no JSON/],
		[[], 2, /test, start, .* or retry\? as in/],
		[['test', 'order.json', '--wait'], 2, /--wait is of workflow start, retry, and not of test/],
		[['test', 'order.json', '-o', 'svg'], 2, /-o must be json or yaml here, got "svg"/],
		[['tset', 'order.json'], 2, /unknown verb "tset" of workflow; did you mean "test"\?/],
		[['test'], 2, /test takes one file/],
		[['test', 'order.json', 'wrong.yaml'], 2, /test takes one file/],
	];
	for (const [words, code, ...errors] of rows) {
		const ran = await run(words);
		t.is(ran.code, code, words.join(' '));
		t.is(ran.out, '');
		for (const error of errors) t.regex(ran.err, error);
	}
});

test('a run without an end, and a long one, are told in few words', async t => {
	const loop = {
		StartAt: 'A',
		States: {A: {Type: 'Choice', Choices: [{Variable: '$.x', IsPresent: true, Next: 'B'}], Default: 'A'}, B: {Type: 'Succeed'}},
	};
	const run = await workflows(t, {'loop.json': loop, 'mocks.json': {TestCases: {c: {}}}});
	const {out, code} = await run(['test', 'loop.json', '--mock', 'mocks.json']);
	t.is(code, 1, 'it should succeed');
	t.regex(out, /^FAILED c: failed with States\.Runtime \(more than 25000 states were entered\)/);
	t.regex(out, /\n {2}… \d+ more; -o json has 2000\n/);
	t.true(out.split('\n').length < 220);
});

const examples: readonly (readonly [file: string, mocks: string, states: number])[] = [
	['order.asl.json', 'order.mocks.yaml', 34],
	['media.asl.yaml', 'media.mocks.yaml', 31],
	['approval.asl.yaml', 'approval.mocks.yaml', 35],
];

test('the examples do as their cases say, and the cases go through all of them', async t => {
	for (const [file, cases, states] of examples) {
		const at = (name: string) => path.join(root, 'examples/workflows', name);
		const {code, out, err} = await line(['workflow', 'test', at(file), '--mock', at(cases), '-o', 'json'], {home: '/nowhere'});
		t.is(err, '');
		t.is(code, 0, file);
		const {coverage} = JSON.parse(out) as {coverage: {[part: string]: {total: number; missing: readonly string[]}}};
		t.deepEqual(
			Object.values(coverage).flatMap(({missing}) => missing),
			[],
			file,
		);
		t.is(coverage['states']?.total, states, file);
	}
});
