// Lines of the inspector's shell: what they ask for, what they print, and what they say of mistakes.

import test from 'ava';
import type {ChangeAnswer, StreamPortion, TraceEntry} from '../../api/inspect.js';
import {AppError} from '../../api/errors.js';
import {complete} from '../../cli/inspect/completions.js';
import {runScript} from '../../cli/inspect/script.js';
import {shellOf, type Cluster} from './_inspected.js';

const record = {about: 'generation 1', behavior: 'Pod'};
const cluster: Cluster = {
	systems: {
		control: {
			children: {
				scheduler: {handled: 7},
				deployments: {children: {'default.web': record}},
				nodes: {children: {vm: record}},
				pods: {children: {'default.web-1': record, 'default.web-2': {...record, state: 'parked', failure: 'oh'}, 'shop.api': record}},
			},
		},
		vm: {children: {pods: {children: {'default.web-1': {about: '127.0.0.2', children: {nginx: {about: 'pid 7'}}}}}}},
	},
	states: {
		'control/pods/default.web-1': {object: {status: {phase: 'Running'}}},
		'control/pods/default.web-1 object': {status: {phase: 'Running'}},
		'control/pods/default.web-2': {object: {status: {phase: 'Failed'}}},
		'control/pods/default.web-1 object spec nodeName': 'vm',
		'vm/pods/default.web-1/nginx': {pid: 7},
	},
	answers: {
		mailbox: {waiting: 0, signals: [], messages: []},
		kill: {done: 'it crashed'} satisfies ChangeAnswer,
		tell: {done: 'told'} satisfies ChangeAnswer,
		ask: {done: 'answered', value: {replicas: 3}} satisfies ChangeAnswer,
	},
};

const failsWith = async (work: Promise<unknown>): Promise<string> =>
	work.then(
		() => 'nothing',
		(error: unknown) => (error instanceof AppError ? `${error.code}: ${error.message}` : String(error)),
	);

test('one goes from place to place: down, up, to objects, and to the hand of a pod', async t => {
	const {shell, type} = shellOf(cluster);
	const at = async (line: string): Promise<string> => {
		await type(line);
		return shell.memory.here;
	};
	t.is(await at('cd control'), 'control');
	t.is(await at('cd pods/default.web-1'), 'control/pods/default.web-1');
	t.is(await at('..'), 'control/pods');
	t.is(await at('/vm/pods'), 'vm/pods');
	t.is(await at('cd pod/web-1'), 'control/pods/default.web-1');
	t.is(await at('cd deploy/web'), 'control/deployments/default.web');
	t.is(await at('cd -n shop pod/api'), 'control/pods/shop.api');
	t.is(await at('cd hand/web-1/nginx'), 'vm/pods/default.web-1/nginx');
	t.is(await at('cd ../..'), 'vm/pods');
	t.is(await at('cd'), '');
	t.is(await type('pwd'), '/\n');
	t.is(await at('cd control/nodes'), 'control/nodes');
	// What is below one comes before a system of the same name.
	t.is(await at('cd vm'), 'control/nodes/vm');
	t.is(await type('pwd'), 'troupe://control/nodes/vm\n');
});

test('a pod has two actors: cd says which one it went to', async t => {
	const {type, notes} = shellOf(cluster);
	await type('cd pod/web-1');
	t.is(notes(), 'the record, control/pods/default.web-1; cd hand/web-1 goes to its hand on its node\n');
});

test('a place that is not there, a verb and a flag that there is not, get the nearest', async t => {
	const {type} = shellOf(cluster);
	t.is(await failsWith(type('state pod/web-11')), 'ERR_NO_SUCH_ACTOR: no actor at "pod/web-11"; did you mean control/pods/default.web-1?');
	t.is(await failsWith(type('cd contrl')), 'ERR_NO_SUCH_ACTOR: no actor at "contrl"; did you mean control?');
	t.is(await failsWith(type('ls control/pdos')), 'ERR_NO_SUCH_ACTOR: no actor at "control/pdos"; did you mean control/pods?');
	t.is(await failsWith(type('stat pod/web-1')), 'ERR_USAGE: unknown verb "stat"; did you mean "state"?');
	t.is(await failsWith(type('send x')), 'ERR_USAGE: unknown verb "send"; there is: tell');
	t.is(await failsWith(type('tree --dept 2')), 'ERR_USAGE: unknown flag "--dept"; did you mean "--depth"?');
	t.is(await failsWith(type('state')), 'ERR_USAGE: this needs an actor, such as control/scheduler; cd goes to one');
	t.is(await failsWith(type("cd 'x")), 'ERR_USAGE: a quote is not closed');
});

test('a tree has every system, and in JSON what troupe tree -o json has', async t => {
	const {type} = shellOf(cluster);
	t.is(
		await type('tree'),
		`control
├─ pods
│  ├─ default.web-2  PARKED  generation 1  last crash: oh
│  └─ 2 resting: default.web-1, shop.api
├─ deployments  1 resting: default.web
├─ nodes  1 resting: vm
└─ scheduler

vm
└─ pods
   └─ default.web-1  127.0.0.2
      └─ nginx  pid 7
`,
	);
	const {systems} = JSON.parse(await type('tree -o json --depth 1')) as {systems: {system: string; tree: {children: {name: string}[]}}[]};
	t.deepEqual(
		systems.map(({system, tree}) => [system, tree.children.length]),
		[
			['control', 4],
			['vm', 1],
		],
	);
});

test('ls tells what is directly below, the wrong first', async t => {
	const {type} = shellOf(cluster);
	const lines = (await type('ls control/pods')).split('\n');
	t.regex(lines[1] ?? '', /^default\.web-2 +PARKED +oh$/);
	t.regex(lines[2] ?? '', /^default\.web-1 +running +generation 1$/);
	t.is(lines.length, 5);
});

test('a state is marked, and compared with what it is later, or with another one', async t => {
	const {type} = shellOf(cluster);
	t.is(await type('state pod/web-1 .object'), 'control/pods/default.web-1.object  Pod\nstatus: {phase: "Running"}\n');
	await type('state pod/web-1 --mark a');
	t.is(await type('diff a'), '--- control/pods/default.web-1 as "a"\n+++ control/pods/default.web-1 now\nthey are the same\n');
	t.is(
		await type('diff pod/web-1 pod/web-2'),
		'--- control/pods/default.web-1 now\n+++ control/pods/default.web-2 now\n~ object.status.phase: "Running" → "Failed"\n',
	);
	t.is(await failsWith(type('diff b')), 'ERR_USAGE: no state is marked "b"; there are a; of places it takes two');
	t.deepEqual(JSON.parse(await type('diff a pod/web-2 -o json')), {
		differences: [{at: 'object.status.phase', before: 'Running', after: 'Failed'}],
	});
});

test('what changes is asked before: a script has to say --yes, a person y', async t => {
	const {type, asked} = shellOf(cluster);
	t.is(await failsWith(type('kill pod/web-1')), 'ERR_USAGE: kill changes a running actor; --yes says that this is meant');
	t.false(asked.some(question => 'verb' in question && question.verb === 'kill'));
	t.is(await type('kill pod/web-1 --yes'), 'it crashed\n');
	t.deepEqual(asked.at(-1), {verb: 'kill', place: 'control/pods/default.web-1'});

	const questions: string[] = [];
	const refusing = shellOf(cluster, {confirm: question => Promise.resolve(questions.push(question) === 0)});
	t.is(await failsWith(refusing.type('kill pod/web-1')), 'ERR_INTERNAL: nothing was changed');
	t.regex(questions[0] ?? '', /^kill control\/pods\/default\.web-1: it crashes, .* Admins may, .* \[y\/N\] $/);
	t.false(refusing.asked.some(question => 'verb' in question && question.verb === 'kill'));
});

test('a message is JSON with a type, or the type alone', async t => {
	const {type, asked} = shellOf(cluster);
	await type('tell control/scheduler wake --yes');
	t.deepEqual(asked.at(-1), {verb: 'tell', place: 'control/scheduler', message: {type: 'wake'}});
	t.is(await type('ask control/scheduler {"type": "getStatus", "of": "a b"} --deadline 2s --yes'), 'answered\n{replicas: 3}\n');
	t.deepEqual(asked.at(-1), {
		verb: 'ask',
		place: 'control/scheduler',
		message: {type: 'getStatus', of: 'a b'},
		deadlineMs: 2_000,
	});
	t.regex(await failsWith(type('tell control/scheduler {"a":1} --yes')), /^ERR_USAGE: a message is an object with a type/);
	t.regex(await failsWith(type('tell control/scheduler {x} --yes')), /^ERR_USAGE: the message is no JSON/);
});

const step = (span: string, parent: string | undefined, address: string, from: string): TraceEntry => ({
	type: 'step',
	span,
	parent,
	atMs: 1_000,
	address,
	behavior: 'Thing',
	from,
	message: {type: 'observed'},
	cause: '',
	waitedMs: 0,
	tookMs: 0,
	outcome: 'done',
	effects: [],
});

const portions: readonly StreamPortion[] = [
	{entries: [step('control:1', undefined, 'troupe://control/sync/vm', 'troupe://vm/sync')], dropped: 0},
	{entries: [step('control:2', 'control:1', 'troupe://control/pods/default.web-1', 'troupe://control/sync/vm')], dropped: 3, ended: 'time'},
];

test('a trace of a pod is one of its record and of its hand, drawn as it comes', async t => {
	const {type, asked, notes} = shellOf({...cluster, portions});
	t.is(
		await type('trace pod/web-1 --for 10s --count 5'),
		'  +0.000  control/sync/vm ← vm/sync  observed\n  +0.000  └ control/pods/default.web-1 ← control/sync/vm  observed\n',
	);
	t.deepEqual(asked.at(-1), {
		verb: 'trace',
		filter: {places: ['control/pods/default.web-1', 'vm/pods/default.web-1']},
		forMs: 10_000,
		count: 5,
	});
	t.is(
		notes(),
		'tracing control/pods/default.web-1, vm/pods/default.web-1; Ctrl-C ends it\n… 3 left out: too much happened at once\nended: its time is over\n',
	);
	t.is((await type('trace --kind Pod -o json')).trimEnd().split('\n').length, 2);
	t.deepEqual(asked.at(-1), {verb: 'trace', filter: {places: [], behaviors: ['Pod']}});
	await type("trace 'control/pods/default.*'");
	t.like(asked.at(-1), {filter: {places: ['control/pods/default.*']}});
	t.regex(await failsWith(type('trace')), /everything at once is too much/);
});

test('a script ends at the first line that fails, and names it; comments and empty lines do nothing', async t => {
	const {shell, isOver} = shellOf(cluster);
	const {signal} = new AbortController();
	t.is(
		await failsWith(runScript(['# first', '', 'cd control/pods', 'mailbox nothing', 'cd /'], shell, isOver, signal)),
		'ERR_NO_SUCH_ACTOR: line 4: no actor at "control/pods/nothing"',
	);
	t.is(shell.memory.here, 'control/pods');
	await runScript(['cd /', 'exit', 'nonsense'], shell, isOver, signal);
	t.is(shell.memory.here, '');
});

test('every verb has help with an example that its own words can be read from', async t => {
	const {type, shell} = shellOf(cluster);
	for (const {name, example} of shell.verbs) {
		const help = await type(`help ${name}`);
		t.true(help.includes(example[0]), name);
		t.is(example[0].split(' ')[0], name);
	}
	t.regex(await type('help'), /^Looking, for everyone who may view:/);
	t.is(await type('kill -h'), await type('help kill'));
});

test('Tab completes verbs, places, objects, flags, their values, marks and members', async t => {
	const {shell, type} = shellOf(cluster);
	const words = async (line: string): Promise<readonly string[]> => (await complete(line, shell)).words;
	t.deepEqual(await words('st'), ['state ', 'stats ', 'step ']);
	t.deepEqual(await words('cd con'), ['configmap/', 'control/', 'controllerrevision/']);
	t.deepEqual(await words('cd control/'), ['control/deployments/', 'control/nodes/', 'control/pods/', 'control/scheduler ']);
	t.deepEqual(await words('state pod/web'), ['pod/web-1 ', 'pod/web-2 ']);
	t.deepEqual(await words('state hand/web-1'), ['hand/web-1 ']);
	t.deepEqual(await words('top --by m'), ['mailbox ', 'memory ']);
	t.deepEqual(await words('top --by=m'), ['--by=mailbox ', '--by=memory ']);
	t.deepEqual(await words('tree --d'), ['--depth ']);
	t.deepEqual(await words('help tr'), ['trace ', 'tree ']);
	t.deepEqual(await words('nonsense '), []);
	await type('state pod/web-1 --mark alpha');
	t.deepEqual(await words('diff al'), ['alpha ']);
	await type('cd control/pods');
	t.deepEqual(await words('state def'), ['default.web-1 ', 'default.web-2 ']);
	t.deepEqual(await words('state default.web-1 .obj'), ['.object ']);
	t.deepEqual(await words('state default.web-1 .object.s'), ['.object.status ']);
	t.deepEqual(await words('state ../no'), ['../nodes/']);
});
