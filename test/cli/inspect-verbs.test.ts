// Lines of the inspector's shell: what they ask for, what they print, and what they say of mistakes.

import test from 'ava';
import type {ActorState, ChangeAnswer, StreamPortion, TraceEntry} from '../../api/inspect.js';
import {AppError} from '../../api/errors.js';
import {overviewOf, verbHelp} from '../../cli/inspect/help-view.js';
import {complete} from '../../cli/inspect/completions.js';
import {runLine} from '../../cli/inspect/run-line.js';
import {runScript} from '../../cli/inspect/script.js';
import type {Question, Session} from '../../cli/inspect/session.js';
import {verbSpecs} from '../../cli/inspect/verb-specs.js';
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
		'control/pods/default.web-1 object status': {phase: 'Running'},
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
	t.is(await type('pwd'), 'control/nodes/vm\n');
});

test('a pod has two actors: a person is told which one it is, once', async t => {
	const {shell, type, notes} = shellOf(cluster, {});
	const person: typeof shell = {...shell, terminal: {...shell.terminal, interactive: true}};
	const {signal} = new AbortController();
	await type('cd pod/web-1');
	t.is(notes(), '', 'a script is not told');
	await runLine('cd pod/web-1', person, signal);
	t.is(notes(), 'pod/web-1 is its record, control/pods/default.web-1; its hand is vm/pods/default.web-1 (hand/web-1)\n');
	await runLine('mailbox pod/web-1', person, signal);
	t.is(notes(), '');
});

test('a place that is not there, a verb and a flag that there is not, get the nearest', async t => {
	const {type} = shellOf(cluster);
	t.is(await failsWith(type('state pod/web-11')), 'ERR_NO_SUCH_ACTOR: no actor at "pod/web-11"; did you mean control/pods/default.web-1?');
	t.is(await failsWith(type('cd contrl')), 'ERR_NO_SUCH_ACTOR: no actor at "contrl"; did you mean control?');
	t.is(await failsWith(type('ls control/pdos')), 'ERR_NO_SUCH_ACTOR: no actor at "control/pdos"; did you mean control/pods?');
	t.is(await failsWith(type('stat pod/web-1')), 'ERR_USAGE: unknown verb "stat"; did you mean "state"?');
	t.is(await failsWith(type('x')), 'ERR_USAGE: unknown verb "x"; help lists them');
	t.is(await failsWith(type('send x')), 'ERR_USAGE: unknown verb "send"; there is: tell');
	t.is(await failsWith(type('tree --dept 2')), 'ERR_USAGE: unknown flag "--dept"; did you mean "--depth"?');
	t.is(await failsWith(type('state')), 'ERR_USAGE: this needs an actor, such as control/scheduler; cd goes to one');
	t.is(await failsWith(type("cd 'x")), 'ERR_USAGE: a quote is not closed; \\ in front makes it a letter');
	const command = shellOf(cluster, {verbs: verbSpecs.filter(({shellOnly}) => shellOnly !== true)});
	t.is(await failsWith(command.type('state')), 'ERR_USAGE: this needs an actor, such as control/scheduler');
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
	t.regex(await failsWith(type('tell control/scheduler {"a":1} --yes')), /^ERR_USAGE: the message must be an object with a type/);
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

test('a trace whose cluster does not come back ends at its time; one that begins anew has what is left of its time and number', async t => {
	const {shell, asked} = shellOf(cluster);
	const stream: Session['stream'] = async function* (request, signal) {
		asked.push(request);
		if (asked.filter(({verb}: {verb?: string}) => verb === 'trace').length === 1) {
			yield* portions.slice(0, 1);
			throw new AppError('ERR_NOT_REACHABLE', {message: 'the connection was lost'});
		}
		await new Promise(resolve => signal.addEventListener('abort', resolve));
	};
	const cut = shellOf(cluster, {session: {...shell.session, stream}});
	t.is(
		await failsWith(cut.type('trace control/pods --for 1s --count 5')),
		'ERR_NOT_REACHABLE: its time is over, and https://127.0.0.1:6443 as admin did not answer any more',
	);
	t.true(cut.notes().endsWith('the connection was lost; it begins anew\n'));
	const {forMs, count} = asked.at(-1) as {forMs: number; count: number};
	t.true(forMs <= 1_000);
	t.is(count, 4);
});

test('a trace that saw nothing says what it looked for, and how to see more', async t => {
	const {type, notes} = shellOf({...cluster, portions: [{entries: [], dropped: 0, ended: 'time'}]});
	t.is(await type('trace control/scheduler'), '');
	t.regex(notes(), /^nothing matched: no actor at or below control\/scheduler took a message meanwhile\n--for makes it longer, /m);
	await type('trace --kind Thin');
	t.regex(notes(), /^nothing matched: no actor of kind Thin took a message meanwhile\ndid you mean --kind Thing\?$/m);
	await type('trace --kind Pod -o json');
	t.regex(notes(), /^nothing matched: no actor of kind Pod took a message meanwhile\n--for makes it longer; kinds are as top shows them$/m);
});

test('a kill of one that is being restarted waits for that; what else refuses is told at once', async t => {
	const killOf = async (state: ActorState): Promise<readonly [string, number]> => {
		const {shell, type} = shellOf({systems: {control: {children: {x: {state}}}}, answers: {kill: {done: 'it crashed'}}});
		const {ask} = shell.session;
		let [tries, begins] = [0, 0];
		const refusing = async (question: Question): Promise<unknown> => {
			if (question.verb === 'kill' && (tries += 1) < 3) throw new AppError('ERR_BAD_REQUEST', {message: '"x" does not run'});
			if (question.verb === 'tree' && begins === tries) return {state: 'running'};
			return ask(question);
		};
		const stream: Session['stream'] = async function* () {
			yield* await Promise.resolve(portions.slice(0, 1));
			begins = tries;
			yield* await Promise.resolve(portions.slice(0, 1));
			throw new Error('it is read on although the actor runs');
		};
		Object.assign(shell.session, {ask: refusing, stream});
		const text = await type('kill control/x --yes').catch((error: unknown) => (error as AppError).message);
		return [text, tries];
	};
	t.deepEqual(await killOf('restarting'), ['it crashed\n', 3]);
	t.deepEqual(await killOf('parked'), ['"x" does not run', 1]);
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
	const command = shellOf(cluster, {verbs: verbSpecs.filter(({shellOnly}) => shellOnly !== true)});
	t.regex(await command.type('help ask'), /^ {2}troupe actor ask namespace\/default '\{"type"/m);
	t.notRegex(await command.type('help'), /The shell|^ {2}cd /m);
});

test('help fits the screen, broken between words', t => {
	for (const line of overviewOf(verbSpecs, 80).split('\n')) t.true(line.length < 80, line);
	for (const spec of verbSpecs) for (const line of verbHelp(spec, '', 60).split('\n').slice(0, 2)) t.true(line.length < 60, line);
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
	t.deepEqual(await words('fault p'), ['partition ', 'pause ']);
	t.deepEqual(await words('fault slow control/s'), ['control/scheduler ']);
	t.deepEqual(await words('fault slow --for 5s control/s'), ['control/scheduler ']);
	t.deepEqual(await words('fault partition '), ['vm ']);
	t.deepEqual([await words('fault list '), await words('fault crash control ')], [[], []]);
	t.deepEqual(await words('nonsense '), []);
	await type('state pod/web-1 --mark alpha');
	t.deepEqual(await words('diff al'), ['alpha ']);
	await type('cd control/pods');
	t.deepEqual(await words('state def'), ['default.web-1 ', 'default.web-2 ']);
	t.deepEqual(await words('state default.web-1 .obj'), ['.object'], 'more may follow');
	t.deepEqual(await words('state default.web-1 .object'), ['.object.status']);
	t.deepEqual(await words('state default.web-1 .object.s'), ['.object.status']);
	t.deepEqual(await words('state default.web-1 .object.status.'), ['.object.status.phase '], 'nothing can follow');
	t.deepEqual(await words('state ../no'), ['../nodes/']);
});
