// `troupe workflow` about runs of a cluster: started, awaited, listed, answered, ended, gone through again, and their history.

import test from 'ava';
import type {Frame} from '../../actors/workflows/run.js';
import {objectAddress} from '../../api/keys.js';
import type {Run, RunStatus} from '../../api/kinds/run.js';
import {succeeded} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {aFrame, aRun, entered, itemFrames, left, records, startMs} from '../actors/_runs.js';
import {openRuns} from './_runs.js';

const over = (status: RunStatus): RunStatus => ({completionTime: '2026-01-01T00:01:00.000Z', at: [], ...status});

test('start makes a run of the workflow with its input, and says its name', async t => {
	const {troupe, runs, read} = await openRuns(t);
	t.deepEqual(await troupe(['workflow', 'start', 'workflow/order', '--name', 'one', '--input', '{"id": 7, "note": ""}']), {
		code: 0,
		out: 'run/one started\n',
		err: '',
	});
	t.deepEqual(read('one')?.spec, {workflow: 'order', input: {id: 7, note: ''}});
	const made = await troupe(['workflow', 'start', 'order'], {input: ''});
	t.regex(made.out, /^run\/order-\w{5} started\n$/);
	t.deepEqual(runs().at(-1)?.spec?.input, {});
	await troupe(['wf', 'start', 'order', '--name', 'two', '--input', '-'], {input: '[1]'});
	t.deepEqual(read('two')?.spec?.input, [1]);
	const missing = await troupe(['workflow', 'start', 'ordr', '--input', '{}']);
	t.deepEqual([missing.code, missing.out], [3, '']);
	t.regex(missing.err, /workflows\.troupe\.dev "ordr" not found; did you mean "order"\?/);
	t.is((await troupe(['workflow', 'start', 'order', '--name', 'one'])).code, 4);
});

test('what cannot be started says why, and nothing is made', async t => {
	const {troupe, runs} = await openRuns(t);
	const rows: readonly [words: readonly string[], error: RegExp][] = [
		[['start'], /start takes one workflow/],
		[['start', 'a', 'b'], /start takes one workflow/],
		[['start', 'pod/a'], /"pod\/a" names no workflow/],
		[['start', 'order', '--name', 'No!'], /"No!" cannot be the name of a run/],
		[['start', 'order', '--input', '{'], /'\{' is no JSON/],
		[['start', 'order', '--input', '@/no/such/file'], /\/no\/such\/file: there is no such file/],
		[['start', 'order', '--timeout', '5s'], /it goes with --wait/],
		[['start', 'order', '--wait', '--timeout', 'soon'], /--timeout must be a time/],
		[['start', 'order', '--mock', 'x'], /--mock is of workflow test, and not of start/],
		[['cancel'], /cancel takes one run/],
		[['cancel', 'pod/one'], /"pod\/one" names no run; it is NAME or run\/NAME/],
		[['approve', 'one', '--state', 'a', '--key', 'b'], /give one of them/],
		[['list', 'a', 'b'], /list takes one workflow/],
		[['list', '-o', 'svg'], /-o must be wide or json or yaml or name here/],
		[['describe', 'workflow/order', '-w'], /-w follows a run/],
		[['history'], /history takes one run/],
		[['retry'], /retry takes one run/],
	];
	for (const [words, error] of rows) {
		const {code, out, err} = await troupe(['workflow', ...words]);
		t.deepEqual([code, out], [2, ''], words.join(' '));
		t.regex(err, error);
	}
	t.deepEqual(runs(), []);
});

test('with --wait the output is what stands on stdout, and a run that has failed is exit code 1', async t => {
	const {troupe, read, cluster} = await openRuns(t);
	const end = async (name: string, status: RunStatus): Promise<void> => {
		await eventually(`${name} is there`, () => read(name) !== undefined && cluster.watchers() > 0);
		const run = read(name);
		if (run !== undefined) cluster.put({...run, status: over(status)});
	};
	const rows: readonly [name: string, status: RunStatus, code: number, out: string, err: string][] = [
		['good', {phase: 'Succeeded', output: {yes: true}}, 0, '{"yes":true}\n', 'run/good started\n'],
		[
			'bad',
			{phase: 'Failed', error: {error: 'Lost', cause: 'no way'}},
			1,
			'',
			'run/bad started\nerror: run/bad failed with Lost: no way\n',
		],
		['ended', {phase: 'Cancelled'}, 1, '', 'run/ended started\nerror: run/ended was cancelled\n'],
	];
	for (const [name, status, code, out, err] of rows) {
		const [ran] = await Promise.all([troupe(['workflow', 'start', 'order', '--name', name, '--wait']), end(name, status)]);
		t.deepEqual(ran, {code, out, err});
	}
	const late = await troupe(['workflow', 'start', 'order', '--name', 'late', '--wait', '--timeout', '200ms']);
	t.is(late.code, 1);
	t.regex(late.err, /timed out after 200ms waiting for run\/late; it goes on/);
	t.is(cluster.asked.filter(({message}) => message.type === 'create').length, 4);
});

test('a run that is deleted while it is awaited is told', async t => {
	const {troupe, read, cluster, keyOf} = await openRuns(t);
	const [ran] = await Promise.all([
		troupe(['workflow', 'start', 'order', '--name', 'one', '--wait']),
		eventually('it is there', () => read('one') !== undefined && cluster.watchers() > 0).then(() => cluster.drop(keyOf('one'))),
	]);
	t.is(ran.code, 1);
	t.regex(ran.err, /error: run\/one was deleted/);
});

test('runs are listed, of one workflow and of all', async t => {
	const {troupe, put} = await openRuns(t);
	put(aRun('one'));
	const other = aRun('two', {}, {workflow: 'other'});
	put({...other, metadata: {...other.metadata, labels: {'troupe.dev/workflow': 'other'}}});
	t.is((await troupe(['workflow', 'list', '-o', 'name'])).out, 'run.troupe.dev/one\nrun.troupe.dev/two\n');
	t.is((await troupe(['workflow', 'list', 'order', '-o', 'name'])).out, 'run.troupe.dev/one\n');
	t.regex((await troupe(['workflow', 'list', 'workflow/none'])).err, /No resources found/);
	t.is((await troupe(['workflow', 'list', '-A'])).code, 0);
});

test('cancel, pause and resume say so in the spec of a run that is not over', async t => {
	const {troupe, put, read} = await openRuns(t);
	put(aRun('one'));
	const say = async (verb: string) => (await troupe(['workflow', verb, 'run/one'])).out;
	t.is(await say('pause'), 'run/one paused\n');
	t.is(read('one')?.spec?.suspend, true);
	t.is(await say('pause'), 'run/one is paused already\n');
	t.is(await say('resume'), 'run/one resumed\n');
	t.is(read('one')?.spec?.suspend, false);
	t.is(await say('resume'), 'run/one is not paused\n');
	t.is(await say('cancel'), 'run/one cancelled\n');
	t.is(read('one')?.spec?.cancel, true);
	put(aRun('one', over({phase: 'Succeeded'})));
	const {code, err} = await troupe(['workflow', 'cancel', 'one']);
	t.deepEqual([code, err], [1, 'error: run/one is over: Succeeded\n']);
	t.is((await troupe(['workflow', 'cancel', 'none'])).code, 3);
});

test('approve and reject answer the one task that waits, or the one that is named', async t => {
	const {troupe, put, cluster, keyOf} = await openRuns(t);
	put(aRun('one'), [aFrame('Ask')]);
	const told: unknown[] = [];
	cluster.answers.set(objectAddress(keyOf('one')), message => {
		told.push(message);
		return succeeded(aRun('one'));
	});
	const rows: readonly [words: readonly string[], out: string, task: object, outcome: object][] = [
		[['approve', 'run/one'], 'approved', {key: 'u-one/2-Ask.1'}, {type: 'succeeded', output: {}}],
		[['approve', 'one', '-o', '{"yes": true}'], 'approved', {key: 'u-one/2-Ask.1'}, {type: 'succeeded', output: {yes: true}}],
		[['approve', 'one', '--state', 'Ask', '--output', '[1]'], 'approved', {state: 'Ask'}, {type: 'succeeded', output: [1]}],
		[['reject', 'one', '--key', 'k'], 'rejected', {key: 'k'}, {type: 'failed', error: {Error: 'Rejected', Cause: ''}}],
		[
			['reject', 'one', '--error', 'TooMuch', '--cause', 'ask again'],
			'rejected',
			{key: 'u-one/2-Ask.1'},
			{type: 'failed', error: {Error: 'TooMuch', Cause: 'ask again'}},
		],
	];
	for (const [words, out, task, outcome] of rows) {
		t.deepEqual(await troupe(['workflow', ...words]), {code: 0, out: `run/one ${out}\n`, err: ''});
		t.deepEqual(told.pop(), {type: 'taskAnswered', task, outcome});
	}
	t.is((await troupe(['workflow', 'approve', 'one', '-o', 'yes'])).code, 2);
	t.deepEqual(told, []);
});

test('where nothing waits, or more than one task does, the command says what there is', async t => {
	const {troupe, put} = await openRuns(t);
	put(aRun('one'), [aFrame('Charge')]);
	const none = await troupe(['workflow', 'approve', 'one']);
	t.deepEqual([none.code, none.err], [1, 'error: nothing of run/one waits for an answer; it is Running, at Charge\n']);
	put(aRun('two', {revisionName: 'order-map'}), itemFrames(2));
	const many = await troupe(['workflow', 'reject', 'two']);
	t.is(many.code, 1);
	t.is(
		many.err,
		[
			'error: 2 tasks of run/two wait; say which:',
			'error:   troupe workflow reject run/two --key "u-two/1-Each.1.0/1-Ask.1"',
			'error:   troupe workflow reject run/two --key "u-two/1-Each.1.1/1-Ask.1"',
			'',
		].join('\n'),
	);
});

test('where more is under way than can be looked at, the one task that is seen to wait is not answered for it', async t => {
	const {troupe, put, cluster, keyOf} = await openRuns(t);
	const told: unknown[] = [];
	cluster.answers.set(objectAddress(keyOf('many')), message => {
		told.push(message);
		return succeeded(aRun('many'));
	});
	// Of the items the first waits for somebody; of the last nobody here can know.
	const frames = itemFrames(limits.runStates + 1).map((frame, at): Frame => (at < 2 ? frame : {...frame, phase: {type: 'entered'}}));
	put(aRun('many', {revisionName: 'order-map'}), frames);
	const {code, err} = await troupe(['workflow', 'approve', 'many']);
	t.deepEqual([code, told], [1, []]);
	t.is(
		err,
		'error: run/many has 2 more states under way than can be looked at, and some of them may wait; say which by --key\nerror:   troupe workflow approve run/many --key "u-many/1-Each.1.0/1-Ask.1"\n',
	);
	t.is((await troupe(['workflow', 'approve', 'many', '--key', 'k'])).code, 0);
	t.is(told.length, 1);
});

const failed = records(
	[entered('Charge', {id: 7})],
	[{type: 'retried', state: 'Charge', frame: '', retrier: 0, error: {Error: 'Busy', Cause: ''}, delayMs: 1_000}],
	[left('Charge'), entered('Ask', {id: 7, paid: true})],
	[entered('Inner', {x: 1}, '2-Ask.1.0/')],
	[left('Ask'), entered('Choose', {id: 8})],
	[{type: 'failed', state: 'Choose', frame: '', error: {Error: 'States.Runtime', Cause: 'nothing at $.yes'}}],
);

test('retry makes a new run that begins where one has failed, or at a state that is named, with the input of that state', async t => {
	const {troupe, put, runs, takenAway} = await openRuns(t);
	put(aRun('one', over({phase: 'Failed'}), {ttlSecondsAfterFinished: 60}), [], failed);
	const specOf = async (...words: readonly string[]): Promise<Run['spec']> => {
		const {code, out, err} = await troupe(['workflow', 'retry', 'run/one', ...words]);
		t.is(code, 0, err);
		t.regex(out, /^run\/order-\w{5} started\n$/);
		return takenAway(out)?.spec;
	};
	t.deepEqual(await specOf(), {workflow: 'order', input: {id: 8}, startAt: 'Choose', ttlSecondsAfterFinished: 60});
	t.like(await specOf('--from', 'Ask'), {input: {id: 7, paid: true}, startAt: 'Ask'});
	t.like(await specOf('--from', 'Charge'), {input: {id: 7}, startAt: 'Charge'});
	const count = runs().length;
	const refused = async (words: readonly string[], error: RegExp): Promise<void> => {
		const {code, err} = await troupe(['workflow', 'retry', ...words]);
		t.is(code, 1);
		t.regex(err, error);
	};
	await refused(['one', '--from', 'Chooze'], /has not entered "Chooze" in its outermost machine; did you mean "Choose"\?/);
	await refused(['one', '--from', 'Inner'], /has not entered "Inner" in its outermost machine/);
	put(aRun('going'), [], failed);
	await refused(['going'], /run\/going is not over, it is Running; troupe workflow cancel run\/going ends it/);
	put(aRun('good', over({phase: 'Succeeded'})), [], failed);
	await refused(['good'], /run\/good has succeeded; --from says/);
	put(aRun('bare', over({phase: 'Failed'})));
	await refused(['bare'], /run\/bare has no history/);
	t.is(runs().length, count + 3);
});

test('retry takes what the last record says, and goes by no history of which the end is not kept', async t => {
	const {troupe, put, takenAway, cluster, keyOf} = await openRuns(t);
	const ending = {status: 'failed', atMs: startMs, error: {Error: 'No', Cause: ''}} as const;
	const ended = failed.map((each, at) => (at < failed.length - 1 ? each : {...each, ending, last: {state: 'Choose', input: {id: 9}}}));
	put(aRun('one', over({phase: 'Failed'})), [], ended);
	const cut = (): Run => ({
		...aRun('one', over({phase: 'Failed'})),
		status: {phase: 'Failed', ...over({}), steps: 900, history: {records: 6, bytes: 1}},
	});
	cluster.put(cut());
	for (const words of [[], ['--from', 'Choose']]) {
		const {code, out, err} = await troupe(['workflow', 'retry', 'run/one', ...words]);
		t.is(code, 0, err);
		t.like(takenAway(out)?.spec, {input: {id: 9}, startAt: 'Choose'});
	}
	const refused = await troupe(['workflow', 'retry', 'run/one', '--from', 'Ask']);
	t.is(refused.code, 1);
	t.regex(refused.err, /what run\/one gave "Ask" the last time is not known: its history has 6 of 900 steps/);
	cluster.histories.set(keyOf('one'), [...failed]);
	t.regex((await troupe(['workflow', 'retry', 'run/one'])).err, /what run\/one gave its last state the last time is not known/);
	t.regex((await troupe(['workflow', 'history', 'run/one'])).err, /as long as it may be: 894 steps are not in it/);
	t.regex((await troupe(['describe', 'run/one'])).out, /Steps: +900 \(6 in its history\)/);
});

test('the history of a run is told whole, in lines or as JSON, a page at a time', async t => {
	const {troupe, put, cluster} = await openRuns(t);
	const ending = {status: 'failed', atMs: startMs, error: {Error: 'States.Runtime', Cause: 'nothing at $.yes'}} as const;
	put(aRun('one'), [], [...failed.slice(0, -1), ...failed.slice(-1).map(each => ({...each, ending}))]);
	const {code, out, err} = await troupe(['workflow', 'history', 'run/one']);
	t.deepEqual([code, err], [0, '']);
	t.is(
		out,
		`2026-01-01T00:00:00.000Z  Charge with {"id":7}
2026-01-01T00:00:01.000Z  ! Busy; tried again after 1 s by Charge.Retry[0]
2026-01-01T00:00:02.000Z  Charge left
                          Ask with {"id":7,"paid":true}
2026-01-01T00:00:03.000Z    Inner [0] with {"x":1}
2026-01-01T00:00:04.000Z  Ask left
                          Choose with {"id":8}
2026-01-01T00:00:05.000Z  ! States.Runtime (nothing at $.yes)
                          failed with States.Runtime (nothing at $.yes)
`,
	);
	t.deepEqual(JSON.parse((await troupe(['workflow', 'history', 'one', '-o', 'json'])).out), {
		records: cluster.histories.get('runs/default/one'),
	});
	put(aRun('long'), [], records(...Array.from({length: 450}, (_, at) => [entered(`S${at}`)])));
	const long = JSON.parse((await troupe(['workflow', 'history', 'long', '-o', 'json'])).out) as {records: unknown[]};
	t.is(long.records.length, 450);
	put(aRun('new'));
	t.deepEqual(await troupe(['workflow', 'history', 'new']), {code: 0, out: '', err: 'run/new has no history yet\n'});
	t.deepEqual((await troupe(['workflow', 'history', 'new', '-o', 'json'])).out, '{"records": []}\n');
	t.is((await troupe(['workflow', 'history', 'none'])).code, 3);
	put(aRun('moved', {phase: 'Succeeded', history: {records: 7, bytes: 700}}));
	const moved = await troupe(['workflow', 'history', 'moved']);
	t.is(moved.code, 1);
	t.regex(moved.err, /the history of run\/moved is not at this server: it is in a file of the one that led when the run ended/);
	t.regex((await troupe(['describe', 'run/moved'])).out, /^Steps: +0 \(their history is not at this server\)$/m);
});

test('trigger starts a run where there is no function of that name but a workflow, or where a workflow is named', async t => {
	const {troupe, runs, takenAway} = await openRuns(t);
	for (const words of [
		['trigger', 'order'],
		['execute', 'default/order'],
		['trigger', 'workflow/order'],
		['trigger', 'wf/order'],
	]) {
		const {code, out} = await troupe([...words, '-d', '{"id": 7}']);
		t.is(code, 0, words.join(' '));
		t.deepEqual(takenAway(out)?.spec, {workflow: 'order', input: {id: 7}}, words.join(' '));
	}
	const neither = await troupe(['trigger', 'none', '-d', '{}']);
	t.is(neither.code, 3);
	t.regex(neither.err, /functions\.troupe\.dev "none" not found/);
	const missing = await troupe(['trigger', 'workflow/none', '-d', '{}']);
	t.deepEqual([missing.code, /workflows\.troupe\.dev "none" not found/.test(missing.err)], [3, true]);
	t.deepEqual(runs(), []);
});
