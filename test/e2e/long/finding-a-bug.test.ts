// Three actors with a mistake each, examples/actors/broken, found as docs/inspector.md leads: by trace and replay, by deadletters, by top.

import {readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {openFileHome} from '../_rig.js';

const {cluster} = openFileHome(test, '--runtime=simulated');
const broken = (name: string): string => path.resolve(import.meta.dirname, '../../../../examples/actors/broken', name);
const tell = (place: string, message: object) => cluster.fine('actor', 'tell', place, JSON.stringify(message), '--yes');

async function running(name: string): Promise<ReturnType<typeof cluster.start>> {
	const run = cluster.start(['actor', 'run', broken(`${name}.mjs`)]);
	await eventually(
		`${name} runs`,
		async () => (await cluster.fine('tree')).includes(`${name}@admin`),
		() => '',
		20_000,
	);
	return run;
}

/** A trace that is on for sure: what is sent again and again until it is heard shows in it. Ended as a person does. */
async function traced(words: readonly string[], again: () => Promise<unknown>, heard: RegExp) {
	const trace = cluster.start(['actor', 'trace', ...words, '--for', '60s']);
	let isHeard = false;
	const hearing = trace.says(heard).finally(() => (isHeard = true));
	while (!isHeard) await again();
	await hearing;
	return {
		says: trace.says,
		async end(): Promise<string> {
			trace.kill('SIGINT');
			return (await trace.ended).out;
		},
	};
}

test.serial('a wrong decision: recorded, replayed as it was, mended, and replayed to see that the same orders end otherwise', async t => {
	const run = await running('shop');
	const file = path.join(cluster.folder, 'shop.jsonl');
	const trace = await traced(['shop@admin/main', '--record', file], () => tell('shop@admin/main', {type: 'ask'}), /ask/);
	await tell('shop@admin/main', {type: 'order', of: 'pear', count: 2});
	await tell('shop@admin/main', {type: 'order', of: 'apple', count: 4});
	await tell('shop@admin/main', {type: 'order', of: 'pear', count: 3});
	await trace.says(/"of":"pear","count":3/);
	await trace.end();
	run.kill('SIGINT');
	await run.ended;
	t.is(statSync(file).mode & 0o777, 0o600);
	const same = await cluster.fine('actor', 'replay', file, '--behaviors', broken('shop.mjs'), '--show', 'state');
	t.regex(same, /\d {2}shop@admin\/main {2}order {2}as recorded\n +left: \{apple: -1, pear: 3\}\n +sold: 6\n/);
	t.regex(same, /\d steps played: all as they were recorded\n$/);
	const mended = path.join(cluster.folder, 'shop.mjs');
	writeFileSync(mended, readFileSync(broken('shop.mjs'), 'utf8').replace('left + 1 < count', 'left < count'));
	const other = await cluster.fine('actor', 'replay', file, '--behaviors', mended);
	t.regex(other, /\d {2}shop@admin\/main {2}order {2}as recorded\n/);
	t.regex(
		other,
		/\d {2}shop@admin\/main {2}order {2}ANOTHER NOW\n {6}state: recorded → now\n +~ left\.apple: -1 → 3\n +~ sold: 6 → 2\n {6}effects: recorded → now\n/,
	);
	const [, first = ''] = /steps played: \d another now, the first is (\d+) \(--step \1 shows it whole\)\n$/.exec(other) ?? [];
	t.regex(
		await cluster.fine('actor', 'replay', file, '--behaviors', mended, '--step', first),
		/message\n[\s\S]*count: 4[\s\S]*no apple for you/,
	);
});

test.serial('a lost message: the trace shows where it went, and deadletters that nobody was there', async t => {
	const run = await running('desk');
	const letter = () => tell('desk@admin/main', {type: 'letter', text: 'hello'});
	const out = await (await traced(['desk@admin/main'], letter, /REACHED NOBODY/)).end();
	t.regex(out, /desk@admin\/main\/desk.*\n?.*answer.*REACHED NOBODY/);
	t.regex(await cluster.fine('actor', 'deadletters', 'desk@admin'), /main\/desk/);
	t.regex(await cluster.fine('tree', 'desk@admin'), /0 answers/);
	run.kill('SIGINT');
	await run.ended;
});

test.serial('a slow step: top shows whose time it is, and a trace at which message', async t => {
	const run = await running('sums');
	const sum = () => tell('sums@admin/main', {type: 'sum', numbers: [100_000, 200_000]});
	const out = await (await traced(['sums@admin/main'], sum, /waited \d{2,} ms/)).end();
	t.regex(out, /main\/checker.*\n?.*took \d{2,} ms/);
	t.regex(out, /main\/adder.*\n?.*waited \d{2,} ms/);
	const top = await cluster.fine('actor', 'top', 'sums@admin', '--by', 'time', '--once');
	t.regex(top.split('\n').find(line => /main/.test(line)) ?? '', /main\/checker/);
	run.kill('SIGINT');
	await run.ended;
});
