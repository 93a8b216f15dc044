// `troupe actor run` with the real command: the examples, beside a cluster.

import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {openFileHome} from '../_rig.js';

const {cluster} = openFileHome(test, '--runtime=simulated');
const examples = path.resolve(import.meta.dirname, '../../../../examples/actors');
const example = (name: string): string => path.join(examples, name);

/** Writes a module of the test's own. */
function moduleOf(name: string, text: string): string {
	const file = path.join(cluster.folder, name);
	writeFileSync(file, text);
	return file;
}

const run = (file: string, ...flags: readonly string[]) => cluster.start(['actor', 'run', file, ...flags]);

test.serial('ping and pong of examples/actors talk over the broker; whoever is killed comes back under its name', async t => {
	const pong = run(example('pong.mjs'));
	const first = await run(example('ping.mjs'), '--input', '3').ended;
	t.deepEqual([first.code, first.out], [0, '1: pong 1\n2: pong 2\n3: pong 3\n']);
	t.regex(first.err, /^ping@admin runs ping\.mjs; Ctrl-C ends it\n {2}look into it: troupe tree ping@admin/);
	const second = await cluster.troupe('actor', 'run', example('pong.mjs'));
	t.is(second.code, 4);
	t.regex(
		second.err,
		/^error: "pong@admin" runs already: process \d+ on \S+ \(pong\.mjs\); end that one, or choose another name with --name\n$/,
	);
	const ping = run(example('ping.mjs'));
	await ping.says(/^1: pong 1\n/);
	// One trace goes over both systems.
	const trace = await cluster.fine('actor', 'trace', 'ping@admin/main', '--for', '3s');
	t.regex(
		trace,
		/ping@admin\/main ← ping@admin\/main {2}next\n.*\n.*└ pong@admin\/main ← ping@admin\/main {2}ping .*\n.*\n.*└ ping@admin\/main ← pong@admin\/main {2}answered /,
	);
	t.regex(await cluster.fine('actor', 'ask', 'pong@admin/main', '{"type": "ping", "round": "by hand"}', '--yes'), /"pong by hand"/);
	ping.kill('SIGTERM');
	await ping.ended;
	t.regex(await cluster.fine('tree'), /^pong@admin\n.*main {2}\d+ answered\n/ms);
	pong.kill('SIGKILL');
	await pong.ended;
	await eventually(
		'it is gone from the tree',
		async () => !(await cluster.fine('tree')).includes('pong@admin'),
		() => '',
		5_000,
	);
	const again = run(example('pong.mjs'));
	t.is((await run(example('ping.mjs'), '--input', '1').ended).out, '1: pong 1\n');
	again.kill('SIGINT');
	const {code, err} = await again.ended;
	t.is(code, 0);
	t.regex(err, /\nstopping; once more ends it at once\n/);
});

test.serial('faults are made in actors of a user where they were asked for, and refused elsewhere', async t => {
	const careful = run(example('pong.mjs'));
	await careful.notes(/pong@admin runs/);
	const {code, err} = await cluster.troupe('fault', 'crash', 'pong@admin/main');
	t.deepEqual([code, err], [6, 'error: no faults are made in "pong@admin": that takes troupe actor run --faults\n']);
	careful.kill('SIGINT');
	await careful.ended;
	const pong = run(example('pong.mjs'), '--faults');
	await pong.notes(/faults may be made here[\s\S]*pong@admin runs/);
	await cluster.fine('fault', 'crash', 'pong@admin/main', '--for', '1m');
	t.regex(await cluster.fine('fault', 'list'), /^pong@admin\/main {2}its next step crashes, \d+ s left, by admin$/m);
	t.regex(
		(await cluster.troupe('actor', 'ask', 'pong@admin/main', '{"type": "ping", "round": 1}', '--yes')).err,
		/a fault was asked for here/,
	);
	t.regex(await cluster.fine('actor', 'ask', 'pong@admin/main', '{"type": "ping", "round": 2}', '--yes'), /"pong 2"/);
	pong.kill('SIGINT');
	t.is((await pong.ended).code, 0);
});

test.serial('the tally of examples/actors is told lines of its input, and begins anew after a crash', async t => {
	const lines = ['{"type": "add", "amount": 2}', 'no message', '{"type": "add", "amount": 3}', '{"type": "add", "amount": 0.5}'];
	const tally = cluster.start(
		['actor', 'run', example('tally.mjs'), '--stdin', '--tell', '{"type": "add", "amount": 1}'],
		lines.join('\n'),
	);
	await tally.says(/^0 \+ 1 is 1\n1 \+ 2 is 3\n3 \+ 3 is 6\n$/);
	await new Promise<void>((resolve, reject) => {
		// Its output says nothing of a restart: a run that asks shows it.
		const asker = run(
			moduleOf(
				'asker.mjs',
				`export default {kind: 'Asker', init: () => ({state: null, effects: [
					{type: 'tell', to: 'troupe://tally@admin/main', message: {type: 'add', amount: 5}}]}),
					receive: state => ({state}), signal: state => ({state})};`,
			),
		);
		tally
			.says(/0 \+ 5 is 5\n$/)
			.then(() => resolve(), reject)
			.finally(() => asker.kill('SIGKILL'));
	});
	const tree = await cluster.fine('tree', 'tally@admin');
	t.regex(tree, /^tally@admin\n├─ main\n│ {2}└─ counter {2}1 restart {2}at 5 {2}last crash .*0\.5 is no whole number\n/);
	tally.kill('SIGTERM');
	const {code, err} = await tally.ended;
	t.is(code, 0);
	t.regex(err, /\na line of the input is no JSON: /);
	t.regex(
		err,
		/\nmain\/counter crashed on "add": 0\.5 is no whole number\n {4}at Object\.receive \(file:\S+tally\.mjs:\d+:\d+\)\nmain\/counter restarted\n/,
	);
});

test.serial('a step that never ends holds its own process, and Ctrl-C twice ends it', async t => {
	const file = moduleOf(
		'loop.mjs',
		`export default {kind: 'Loop', init: () => ({state: 0, effects: [{type: 'print', text: 'begins'}]}), receive() { for (;;); }};`,
	);
	const loop = run(file);
	await loop.says(/begins/);
	loop.kill('SIGKILL');
	await loop.ended;
	const told = cluster.start(['actor', 'run', file, '--tell', '{"type": "go"}']);
	await told.notes(/ runs loop\.mjs; /);
	told.kill('SIGINT');
	// Two at a time would be one.
	await told.notes(/\nstopping; once more ends it at once\n$/);
	told.kill('SIGTERM');
	const {code, err} = await told.ended;
	t.is(code, 130);
	t.regex(err, /\nended at once\n$/);
});

test.serial('a module that is never done loading is told of, and ends at the first Ctrl-C', async t => {
	const loading = run(moduleOf('loading.mjs', 'setInterval(() => undefined, 1_000); await new Promise(() => undefined)'));
	await loading.notes(/^loading\.mjs is still being loaded: .*; Ctrl-C ends it\n$/);
	loading.kill('SIGINT');
	const {code, err} = await loading.ended;
	t.is(code, 130);
	t.regex(err, /(^|\n)ended at once\n$/);
});

test.serial('what cannot be run is refused with its file and what to do', async t => {
	const cases: readonly (readonly [args: readonly string[], code: number, said: RegExp])[] = [
		[[], 2, /^error: run takes one file, as in: troupe actor run counter\.mjs; got none\n$/],
		[['missing.mjs'], 2, /^error: missing\.mjs: there is no such file; name a JavaScript module that exports a behaviour\n$/],
		[[moduleOf('none.mjs', '')], 2, /none\.mjs: it exports no behaviour: export one as default/],
		[[moduleOf('A_B.mjs', 'process.exit(7)')], 1, /A_B\.mjs: it has ended its own thread \(process\.exit\), with 7\n$/],
		[
			[moduleOf('await.mjs', 'await new Promise(() => undefined)')],
			1,
			/await\.mjs: it cannot be loaded: its top-level await never ends\n$/,
		],
		[
			[
				moduleOf(
					'timer.mjs',
					'setTimeout(() => {\n throw new Error("late"); }); export default {kind: "T", init: () => ({state: 0}), receive: state => ({state})}',
				),
			],
			1,
			/error: timer\.mjs failed outside of its actors' steps: Error: late\nerror: {5}at Timeout\.\S+ \(file:\S+timer\.mjs:2:8\)\n$/,
		],
		[
			[moduleOf('begin.mjs', 'export default {kind: "B", init() {\n throw new Error("no input"); }, receive: state => ({state})}')],
			1,
			/^main crashed on "init": no input\n {4}at Object\.init \(file:\S+begin\.mjs:2:8\)\nerror: the first actor cannot begin: no input\n$/,
		],
		[[example('pong.mjs'), '--name', 'a.b'], 2, /^error: --name "a\.b" cannot be the name of a system/],
		[[example('pong.mjs'), '--input', '{'], 2, /^error: --input must be JSON, got "\{"\n$/],
		[[example('pong.mjs'), '--tell', '{}'], 2, /^error: --tell must be an object with a type/],
		[[example('pong.mjs'), '--tell', '{go'], 2, /^error: --tell is no JSON/],
	];
	for (const [args, code, said] of cases) {
		const ran = await cluster.troupe('actor', 'run', ...args);
		t.is(ran.code, code, args.join(' '));
		t.regex(ran.err, said);
	}
});

test.serial('a login that only reads runs no actors', async t => {
	const token = (await cluster.fine('token', 'create', 'eve', '--role', 'view')).trim();
	const file = path.join(cluster.folder, 'eve.yaml');
	writeFileSync(file, readFileSync(path.join(cluster.home, 'kubeconfig'), 'utf8').replaceAll(cluster.token(), token));
	const {code, err} = await cluster.troupe('actor', 'run', example('pong.mjs'), '--kubeconfig', file);
	t.is(code, 6);
	t.is(err, 'error: "eve" may not run actors: that takes a token with the role admin or edit, and it has view\n');
});
