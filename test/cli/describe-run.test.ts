// Runs and workflows as `describe` shows them: pages, graphs, and a run that is followed to its end.

import test from 'ava';
import type {RunStatus} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import type {RunNews} from '../../actors/workflows/run.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {line} from '../../bench/rigs/command-line.js';
import {aFrame, aRun, aWorkflow, entered, itemFrames, left, records, startMs} from '../actors/_runs.js';
import {openRuns} from './_runs.js';

const busy: RunNews = {type: 'retried', state: 'Charge', frame: '', retrier: 0, error: {Error: 'Busy', Cause: 'later'}, delayMs: 2_000};

const history = records(
	[entered('Charge')],
	[busy],
	[{type: 'called', state: 'Charge', frame: '', attempt: 2}],
	[left('Charge'), entered('Ask')],
);

test('a run is described with what is under way, its path and its last errors', async t => {
	const {troupe, put} = await openRuns(t);
	put(aRun('one', {at: [{state: 'Ask', count: 1}]}), [aFrame('Ask')], history);
	const {code, out, err} = await troupe(['describe', 'run/one']);
	t.deepEqual([code, err], [0, '']);
	t.regex(out, /^Name: +one\nNamespace: +default\nLabels: +troupe\.dev\/workflow=order\n/m);
	t.regex(
		out,
		/^Workflow: +order\nRevision: +3 \(order-abc\)\nPhase: +Running\nStarted: +2026-01-01T00:00:00\.000Z \(.* ago\)\nSteps: +4\nInput: +\{"id":7\}\n/m,
	);
	t.regex(out, /^Under Way:\n +STATE +ATTEMPT +DOES +ENTERED +UNTIL +KEY\n +Ask +1 +waits for an answer +\S+ ago +u-one\/2-Ask\.1\n/m);
	t.regex(
		out,
		/^Path:\n {2}0 s {2}Charge\n {2}1 s {2}! Busy \(later\); tried again after 2 s by Charge\.Retry\[0\]\n {2}2 s {2}Charge: attempt 2\n {2}3 s {2}Ask\nLast Errors:\n +WHEN +STATE +ERROR +THEN +CAUSE\n +\S+ ago +Charge +Busy +tried again +later\nConditions: {2}<none>\nEvents: {2}<none>\n$/m,
	);
});

test('a run that is over is described with what it has come to, and one that has not begun with what it is to be', async t => {
	const {troupe, put} = await openRuns(t);
	const page = async (status: RunStatus, spec: object = {}): Promise<string> => {
		put(aRun('one', status, spec));
		return (await troupe(['workflow', 'describe', 'one'])).out;
	};
	const ended = {completionTime: '2026-01-01T00:01:30.000Z', at: []};
	const good = await page({phase: 'Succeeded', output: {tracking: 'T-1'}, ...ended}, {startAt: 'Ask'});
	t.regex(good, /^Phase: +Succeeded\n(?:.*\n)+?Ended: +2026-01-01T00:01:30.000Z \(.* ago\)\nTook: +90s\n/m);
	t.regex(good, /^Start At: +Ask\nInput: +\{"id":7\}\nOutput: +\{"tracking":"T-1"\}\n/m);
	t.notRegex(good, /Under Way|Path:|Last Errors/);
	t.regex(await page({phase: 'Failed', error: {error: 'Lost', cause: 'a\nb'}, ...ended}), /^Error: +Lost\nCause: +a b\n/m);
	const long = await page({phase: 'Succeeded', output: 'x'.repeat(100_000), ...ended});
	t.true(long.length < 3_000);
	const {revisionName: _name, startTime: _time, ...bare} = aRun('two').status ?? {};
	put({...aRun('two'), status: {...bare, phase: 'Pending'}});
	const pending = (await troupe(['describe', 'run', 'two'])).out;
	t.regex(pending, /^Revision: +3\nPhase: +Pending\nStarted: +<not yet>\n/m);
	put({...aRun('three', {}, {workflow: 'none', suspend: true, cancel: true}), status: {phase: 'Suspended'}});
	t.regex((await troupe(['describe', 'run', 'three'])).out, /^Revision: +<none>\nPhase: +Suspended\nSuspend: +true\nCancel: +true\n/m);
});

test('of a long path the last lines are shown, and of many states under way some', async t => {
	const {troupe, put} = await openRuns(t);
	const news = Array.from({length: limits.runRecordsRead + 50}, (_, at) => [entered(`S${at}`)]);
	put(aRun('one', {revisionName: 'order-map'}), itemFrames(60), records(...news));
	const {out} = await troupe(['describe', 'run', 'one']);
	const path = /^Path:\n((?: .*\n)+)/m.exec(out)?.[1]?.split('\n') ?? [];
	t.is(path.length - 2, limits.runPathLines);
	t.is(path[0], '  … what was before: troupe workflow history run/one');
	t.regex(path.at(-2) ?? '', new RegExp(`S${limits.runRecordsRead + 49}$`));
	t.regex(out, /^ {2}Each +1 +0 of 60 over +/m);
	t.is(out.match(/^ {4}Ask \[\d+\] /gm)?.length, limits.runStatesShown - 1);
	t.regex(out, /^ {2}… 21 more states\n/m);
});

test('a run is drawn with the path that it has taken, as DOT and as SVG, and a workflow without', async t => {
	const {troupe, put, cluster} = await openRuns(t);
	put(aRun('one'), [aFrame('Ask')], history);
	const dot = await troupe(['describe', 'run/one', '-o', 'dot']);
	t.deepEqual([dot.code, dot.err], [0, '']);
	t.regex(
		dot.out,
		/^digraph "one" \{\n[^]*label="Charge", tooltip="Task, done"[^]*label="Ask", tooltip="Task, under way"[^]*tooltip="Succeed, not reached"/,
	);
	const svg = await troupe(['workflow', 'describe', 'run/one', '-o', 'svg']);
	t.regex(svg.out, /^<svg [^]*<title>Ask: Task, under way<\/title>[^]*<\/svg>\n$/);
	const plain = await troupe(['describe', 'workflow/order', '-o', 'dot']);
	t.regex(plain.out, /^digraph "order"[^]*tooltip="Task, not reached"/);
	t.deepEqual((await troupe(['workflow', 'describe', 'workflow/order', '-o', 'dot'])).out, plain.out);
	cluster.pod('web');
	for (const [words, code, error] of [
		[['describe', 'pod/web', '-o', 'dot'], 2, /-o dot draws runs and workflows, and no Pod/],
		[['describe', 'runs', '-o', 'svg'], 0, /^$/],
		[['describe', 'run/none', '-o', 'svg'], 3, /not found/],
	] as const) {
		const ran = await troupe(words);
		t.is(ran.code, code);
		t.regex(ran.err, error);
	}
	put({...aRun('two'), status: {phase: 'Pending'}, spec: {workflow: 'none'}});
	t.regex((await troupe(['describe', 'run/two', '-o', 'dot'])).err, /run\/two has no definition/);
	t.regex((await troupe(['describe', 'run', '-o', 'dot'])).err, /-o dot draws one run or workflow; name it/);
});

test('a workflow is described with its states, its runs by phase, and how to start one', async t => {
	const {troupe, put, cluster} = await openRuns(t);
	for (const [name, phase] of [
		['a', 'Running'],
		['b', 'Failed'],
		['c', 'Running'],
	] as const)
		put(aRun(name, {phase}));
	const {code, out, err} = await troupe(['describe', 'workflow/order']);
	t.deepEqual([code, err], [0, '']);
	t.regex(
		out,
		/^Revision: +3 \(order-abc\)\nStarts At: +Charge\nRuns: +2 Running, 1 Failed\nStart: +troupe workflow start order --input '\{\}'\n/m,
	);
	t.regex(
		out,
		/^States:\n +NAME +TYPE +THEN\n +Charge +Task +calls shop\/charge; -> Ask; catches -> Lost\n +Ask +Task +calls activity:ask; -> Choose\n +Choose +Choice +-> Done, Lost\n +Done +Succeed\n +Lost +Fail\n/m,
	);
	const broken = aWorkflow('broken', {definition: {StartAt: 'A', States: {}}});
	cluster.put(broken);
	t.regex(
		(await troupe(['workflow', 'describe', 'workflow/broken'])).out,
		/^Runs: +<none>\n[^]*^States: {2}<its definition cannot be read>\n/m,
	);
});

test('with -w a run is followed to its end, in lines where nothing is drawn in place', async t => {
	const {troupe, put, cluster} = await openRuns(t);
	put(aRun('one'), [aFrame('Ask')], history);
	const ended = {status: 'succeeded', atMs: startMs, output: {yes: true}} as const;
	const whole = [
		...history,
		...records([left('Ask'), entered('Done')]).map(each => ({...each, number: 4, atMs: startMs + 9_000, ending: ended})),
	];
	const [ran] = await Promise.all([
		troupe(['workflow', 'describe', 'run/one', '-w']),
		eventually('it is followed', () => cluster.watchers() > 0).then(() =>
			put(aRun('one', {phase: 'Succeeded', output: {yes: true}, completionTime: '2026-01-01T00:00:09.000Z'}), [], whole),
		),
	]);
	t.deepEqual(ran, {
		code: 0,
		out: '0 s  Charge\n1 s  ! Busy (later); tried again after 2 s by Charge.Retry[0]\n2 s  Charge: attempt 2\n3 s  Ask\n9 s  Done\n9 s  succeeded with {"yes":true}\n',
		err: '',
	});
});

test('on a terminal it is drawn anew as it changes, and the last state stays', async t => {
	const {home, put, cluster} = await openRuns(t);
	put(aRun('one'), [aFrame('Ask')], history);
	const [ran] = await Promise.all([
		line(['workflow', 'describe', 'run/one', '-w'], {home, interactive: true, env: {TERM: 'xterm', LC_ALL: 'C.UTF-8'}}),
		eventually('it is followed', () => cluster.watchers() > 0).then(() => put(aRun('one', {phase: 'Cancelled'}), [], history)),
	]);
	t.is(ran.code, 0);
	// eslint-disable-next-line no-control-regex -- what commands the terminal.
	const drawn = ran.out.split(/\u001b\[\d*A|\u001b\[J/).map(text => text.replace(/\u001b\[K/g, ''));
	t.true(drawn.some(text => /Phase: +Running\n[^]*Under Way:\n[^]*waits for an answer[^]*Path:\n[^]*Ask/.test(text)));
	t.true(drawn.some(text => /Phase: +Cancelled\n/.test(text) && !/Under Way/.test(text)));
	t.true(ran.out.endsWith('\n'));
});
