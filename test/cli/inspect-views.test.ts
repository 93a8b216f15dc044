// What the inspector draws of trees, states, changes and traces.

import test from 'ava';
import {createColors} from 'picocolors';
import stringWidth from 'string-width';
import type {ActorTree, Shown, TraceEntry} from '../../api/inspect.js';
import {countsOf, noRates, ratesSince} from '../../cli/inspect/rates.js';
import {differencesOf, drawDifferences} from '../../cli/inspect/state-diff.js';
import {drawState} from '../../cli/inspect/state-view.js';
import {createTraceOrder} from '../../cli/inspect/trace-order.js';
import {drawTop} from '../../cli/inspect/top-view.js';
import {drawStep} from '../../cli/inspect/trace-view.js';
import {drawTree, type TreeView} from '../../cli/inspect/tree-view.js';
import {actor, type Made} from './_inspected.js';

const colours = createColors(false);
const view: TreeView = {depth: 16, all: false, columns: undefined, widthOf: stringWidth, colours, rateOf: noRates};

const drawn = (made: Made, more: Partial<TreeView> = {}): readonly string[] =>
	drawTree(actor('control', '', made), 'control', {...view, ...more})
		.trimEnd()
		.split('\n');

const crowd = (count: number, made: (at: number) => Made): {readonly [name: string]: Made} =>
	Object.fromEntries(Array.from({length: count}, (_, at) => [`web-${at}`, made(at)]));

test('of a tree what is wrong comes first, then what is busy; names of the rest in their order', t => {
	const lines = drawn({
		children: {
			b: {about: 'b'},
			a: {about: 'a'},
			'a-10': {about: 'x'},
			'a-9': {about: 'x'},
			busy: {waiting: 3},
			parked: {state: 'parked', failure: 'no such thing', failedAgoMs: 5_000, restarts: 4},
			deep: {children: {inner: {state: 'paused', pausedForMs: 30_000}}},
		},
	});
	t.deepEqual(lines, [
		'control',
		'├─ deep',
		'│  └─ inner  PAUSED for 30s',
		'├─ parked  PARKED  4 restarts  last crash 5s ago: no such thing',
		'├─ busy  3 waiting',
		'├─ a  a',
		'├─ a-9  x',
		'├─ a-10  x',
		'└─ b  b',
	]);
});

test('collections that rest are a line each, and those that are empty one together', t => {
	const record: Made = {about: 'generation 1'};
	const lines = drawn({children: {jobs: {}, secrets: {}, nodes: {children: {vm: record}}, pods: {children: crowd(2, () => record)}}});
	t.deepEqual(lines, ['control', '├─ nodes  1 resting: vm', '├─ pods  2 resting: web-0, web-1', '└─ 2 resting: jobs, secrets']);
});

test('of a crowd that rests those with most below them are shown; beside one that is wrong none is', t => {
	const pod = (at: number): Made => ({
		about: `127.0.0.${at}`,
		children: {main: {about: 'pid 7'}, ...(at === 7 ? {side: {about: 'pid 8'}} : {})},
	});
	const resting = drawn({children: {pods: {children: crowd(100, pod)}}});
	t.is(resting.length, 8);
	t.is(resting[6], '   ├─ web-7  127.0.0.7  … 2 below');
	t.regex(resting.at(-1) ?? '', /^ {3}└─ 95 resting: web-4, web-5, web-6, web-8, /);
	const lines = drawn({children: {pods: {children: crowd(100, at => (at === 50 ? {state: 'restarting'} : pod(at)))}}});
	t.is(lines.length, 4);
	t.is(lines[2], '   ├─ web-50  restarting');
	t.regex(lines.at(-1) ?? '', /^ {3}└─ 99 resting: web-0, /);
	t.is(drawn({children: {pods: {children: crowd(100, pod)}}}, {all: true}).length, 203);
});

test('what an actor says keeps it from its work stands in the place of what it does, and comes first', t => {
	const record: Made = {about: 'generation 1'};
	const trouble = 'CrashLoopBackOff: exit 3';
	t.deepEqual(drawn({children: {pods: {children: {a: record, b: record, crash: {...record, waiting: 2, trouble}}}}}), [
		'control',
		'└─ pods',
		'   ├─ crash  CrashLoopBackOff: exit 3  2 waiting',
		'   └─ 2 resting: a, b',
	]);
});

test('a tree that was told in part counts what is left out', t => {
	const tree: ActorTree = {...actor('control', '', {children: {a: {about: 'x'}}}), childCount: 900};
	t.deepEqual(drawTree(tree, 'control', view).trimEnd().split('\n').slice(-2), ['├─ a  x', '└─ … 899 more']);
	t.deepEqual(drawn({children: {a: {children: {b: {about: 'y'}}}}}, {depth: 1}), ['control', '└─ a  … 1 below']);
});

test('of what is left out is told how much is wrong; an actor that is shown is not counted among that, also one with a fault', t => {
	const children = {a: {faults: ['slow by 200 ms']}, b: {state: 'parked'}} as const;
	const tree: ActorTree = {...actor('control', '', {children}), childCount: 9, wrongBelow: 3};
	t.deepEqual(drawTree(tree, 'control', view).trimEnd().split('\n').slice(1), [
		'├─ a  fault: slow by 200 ms',
		'├─ b  PARKED',
		'└─ … 7 more, 1 below wrong',
	]);
});

test('no line of a tree is wider than the screen, and no text of a user commands it', t => {
	const lines = drawn({children: {'web-1': {about: `\u001b[2J\u009b5n${'界'.repeat(60)}`}}}, {columns: 80});
	for (const line of lines) t.true(stringWidth(line) <= 79, line);
	t.regex(lines.join('\n'), /\^\[\[2J<9b>5n/);
});

test('rates are what two looks at the counters tell; a system that began anew counts from 0 on', t => {
	const [before, after] = [actor('vm', 'x', {handled: 10, stepMs: 5}), actor('vm', 'x', {handled: 40, stepMs: 205})];
	const rateOf = ratesSince(countsOf([before], 1_000), 3_000);
	t.deepEqual(rateOf(after), {messages: 30, perSecond: 15, share: 0.1});
	t.deepEqual(rateOf(actor('vm', 'x', {handled: 4, stepMs: 2})), {messages: 4, perSecond: 2, share: 0.001});
	t.is(rateOf(actor('vm', 'y')), undefined);
	t.is(ratesSince(undefined, 5)(after), undefined);
	t.true(drawTree(after, 'x', {...view, rateOf}).startsWith('x  15/s'));
	const inAMoment = ratesSince(countsOf([before], 1_000), 1_300);
	t.true(drawTree(actor('vm', 'x', {handled: 13}), 'x', {...view, rateOf: inAMoment}).startsWith('x  10/s'));
	t.false(
		drawTree(actor('vm', 'x', {handled: 12}), 'x', {...view, rateOf: inAMoment}).includes('/s'),
		'what comes each some seconds is no load',
	);
});

const state: Shown = {
	object: {metadata: {name: 'web', labels: {app: 'web'}}, status: {phase: 'Running', conditions: [{type: 'Ready', status: 'True'}]}},
	failures: [],
	rest: null,
	long: Array.from({length: 30}, (_, at) => at),
};

test('a state is a tree that folds below the depth that was asked for', t => {
	const lines = (depth: number) => drawState(state, {depth, columns: undefined, widthOf: stringWidth, colours}).trimEnd().split('\n');
	t.deepEqual(lines(1), ['object  … 2 members', 'failures: []', 'rest: null', 'long  … 30 items']);
	t.deepEqual(lines(3).slice(0, 6), [
		'object',
		'  metadata',
		'    name: "web"',
		'    labels: {app: "web"}',
		'  status',
		'    phase: "Running"',
	]);
	t.is(drawState('a\u001b[1m', {depth: 1, columns: undefined, widthOf: stringWidth, colours}), '"a\\u001b[1m"\n');
});

test('what JSON has not is shown as what it is, and what is left out is counted', t => {
	const special: Shown = {
		none: {$: 'undefined'},
		nan: {$: 'number', of: 'NaN'},
		map: {$: 'map', size: 2, of: {'pods/a': {x: 1}, '…': {$: 'more', count: 1}}},
		pairs: {$: 'map', size: 1, of: [[7, 'seven']]},
		set: {$: 'set', size: 2, of: ['a', 'b']},
		one: {$: 'Counter', of: {count: 3}},
		deep: {$: 'deeper', of: 'list', size: 3},
		secret: {$: 'secret'},
		long: {$: 'text', of: 'begin', characters: 5_000},
		list: [1, {$: 'more', count: 7}],
		self: {$: 'cycle', up: 2},
	};
	t.deepEqual(drawState(special, {depth: 3, columns: undefined, widthOf: stringWidth, colours}).trimEnd().split('\n'), [
		'none: undefined',
		'nan: NaN',
		'map  Map',
		'  pods/a: {x: 1}',
		'  … 1 more',
		'pairs: Map {7: "seven"}',
		'set: Set ["a", "b"]',
		'one: Counter {count: 3}',
		'deep: … 3 items',
		'secret: secret',
		'long: "begin"… of 5000 characters',
		'list: [1, … 7 more]',
		'self: the one 2 above',
	]);
	t.deepEqual(
		differencesOf({map: {$: 'map', size: 1, of: {a: 1}}}, {map: {$: 'map', size: 2, of: {a: 2, b: 3}}}).map(({at}) => at),
		['map.a', 'map.b'],
	);
});

test('differences are told by their place; items of lists by what names them', t => {
	const after: Shown = {
		object: {
			metadata: {name: 'web'},
			status: {
				phase: 'Failed',
				conditions: [
					{type: 'Failed', status: 'True'},
					{type: 'Ready', status: 'False'},
				],
			},
		},
		failures: [],
		rest: {from: 'creates'},
		long: Array.from({length: 30}, (_, at) => at),
	};
	const differences = differencesOf(state, after);
	t.deepEqual(drawDifferences(differences, 200, colours), [
		'- object.metadata.labels: {app: "web"}',
		'~ object.status.phase: "Running" → "Failed"',
		'~ object.status.conditions[Ready].status: "True" → "False"',
		'+ object.status.conditions[Failed]: {type: "Failed", status: "True"}',
		'~ rest: null → {from: "creates"}',
	]);
	t.deepEqual(differencesOf(state, state), []);
	t.is(drawDifferences(differences, 2, colours).at(-1), '… 3 more');
});

const step = (span: string, parent: string | undefined, atMs: number, more: Partial<TraceEntry> = {}): TraceEntry => ({
	type: 'step',
	span,
	parent,
	atMs,
	address: `troupe://control/${span}`,
	behavior: 'Thing',
	from: 'troupe://control/outside',
	message: {type: 'wake'},
	cause: '',
	waitedMs: 0,
	tookMs: 0,
	outcome: 'done',
	effects: [],
	...more,
});

test('a step that comes before the one that caused it waits for that, but not for ever', t => {
	const order = createTraceOrder(500);
	t.deepEqual(order.take([step('c', 'b', 30), step('x', 'never', 31)], 1_000), []);
	t.is(order.dueMs(), 1_500);
	const told = order.take([step('a', undefined, 10), step('b', 'a', 20)], 1_100);
	t.deepEqual(
		told.map(({step: {span}, depth, parent}) => [span, depth, parent]),
		[
			['a', 0, undefined],
			['b', 1, 'troupe://control/a'],
			['c', 2, 'troupe://control/b'],
		],
	);
	t.deepEqual(
		order.take([], 1_500).map(({step: {span}, depth}) => [span, depth]),
		[['x', 0]],
	);
	t.is(order.dueMs(), undefined);
	t.deepEqual(order.take([step('y', 'never', 40)], 1_600), []);
	t.is(order.rest().length, 1);
});

test('steps of several systems are told in the order of their times', t => {
	const order = createTraceOrder(500);
	t.deepEqual(
		order.take([step('c', undefined, 30), step('a', undefined, 10), step('b', undefined, 20)], 0).map(({step: {span}}) => span),
		['a', 'b', 'c'],
	);
});

test('what followed from one step stays together, whatever went on beside it', t => {
	const order = createTraceOrder(500);
	const told = order.take(
		[step('a', undefined, 1), step('b', undefined, 2), step('a1', 'a', 3), step('b1', 'b', 4), step('a2', 'a1', 5)],
		0,
	);
	t.deepEqual(
		told.map(({step: {span}, depth}) => [span, depth]),
		[
			['a', 0],
			['a1', 1],
			['a2', 2],
			['b', 0],
			['b1', 1],
		],
	);
});

const long = 'troupe://control/pods/default.hello-4ln5r';
const crashed = step('a', undefined, 1_012, {
	address: long,
	from: 'troupe://control/sync/vm',
	message: {type: 'observed', pod: {phase: 'Running', containers: ['web']}},
	tookMs: 40,
	outcome: 'crashed',
	error: `the actor "${long}" crashed on this message: cannot read\u001b[2J`,
	effects: ['tell troupe://control/replicasets/default.hello  wake'],
});

test('a step of a trace tells when, where, the message, its crash and what it asked for', t => {
	const lines = drawStep({step: crashed, depth: 1, parent: undefined}, undefined, {
		beginMs: 1_000,
		columns: 200,
		widthOf: stringWidth,
		colours,
	});
	t.deepEqual(lines, [
		'  +0.012  └ control/pods/default.hello-4ln5r ← control/sync/vm  observed  took 40 ms  CRASHED {"pod":{"phase":"Running","containers":["web"]}}',
		'            ✗ cannot read^[[2J',
		'            ⇒ tell control/replicasets/default.hello  wake',
	]);
});

test('on 80 columns a step takes a line more, and a sender that stands above is not told again', t => {
	const narrow = {beginMs: 1_000, columns: 80, widthOf: stringWidth, colours};
	const lines = drawStep({step: crashed, depth: 1, parent: undefined}, undefined, narrow);
	t.is(lines[0], '  +0.012  └ control/pods/default.hello-4ln5r ← control/sync/vm');
	t.is(lines[1], '            observed  took 40 ms  CRASHED {"pod":{"phase":"Running","containers');
	for (const line of lines) t.true(stringWidth(line) <= 79, line);
	const below = drawStep({step: crashed, depth: 2, parent: crashed.from}, crashed.from, narrow);
	t.true(below[0]?.startsWith('  +0.012    └ control/pods/default.hello-4ln5r  observed'), below[0]);
});

test('top shows first what it ranks by, and figures end below each other', t => {
	const looks = [
		{...actor('vm', 'a', {stepMs: 120.25, handled: 10, state: 'parked'}), value: 120.25},
		{...actor('vm', 'long/name', {stepMs: 2, handled: 4}), value: 2},
	];
	const lines = drawTop(looks, 'time', noRates, {columns: undefined, widthOf: stringWidth, colours, nowMs: 0});
	t.deepEqual(lines, [
		'ACTOR             MS   STATE     WAITING   MSG/S   BUSY   MS/STEP   RESTARTS   BEHAVIOUR',
		'vm/a           120.3   PARKED          0       -      -     12.03          0   Thing',
		'vm/long/name     2.0   running         0       -      -      0.50          0   Thing',
	]);
	t.regex(drawTop(looks, 'memory', noRates, {columns: 40, widthOf: stringWidth, colours, nowMs: 0})[0] ?? '', /^ACTOR +MEMORY {3}STATE/);
});
