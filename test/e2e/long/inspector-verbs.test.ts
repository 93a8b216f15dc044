// The inspector's verbs on a real cluster, as scripts use them: lines as arguments and on stdin, JSON, exit codes.

import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {StreamEntry, TraceEntry} from '../../../api/inspect.js';
import {emptySet, podOf} from '../../../bench/rigs/cluster/manifests.js';
import {main} from '../../../bench/rigs/main-file.js';
import {verbSpecs} from '../../../cli/inspect/verb-specs.js';
import {openFileHome} from '../_rig.js';

const {cluster} = openFileHome(test, '--faults');

test.serial('lines of --command run one after the other, from where the one before led', async t => {
	await cluster.apply(podOf('web', ['sleep', '100000']));
	await cluster.fine('wait', 'pod/web', '--for', 'condition=Ready');
	const {code, out, err} = await cluster.troupe(
		'repl',
		'--command',
		'cd pod/web',
		'--command',
		'pwd',
		'--command',
		'state .object.status.phase',
	);
	t.deepEqual([code, err], [0, '']);
	t.is(out, 'control/pods/default.web\ncontrol/pods/default.web.object.status.phase  Pod\n"Running"\n');
});

test.serial('lines on stdin end at the first that fails, with its number and exit code', async t => {
	const {code, out, err} = await cluster.start(['repl'], '# where am I\npwd\n\nls control/nothing\npwd\n').ended;
	t.is(code, 3);
	t.is(out, '/\n');
	t.regex(err, /^error: line 4: no actor at "control\/nothing"/);
	t.is((await cluster.start(['repl'], 'kill pod/web\n').ended).code, 2, 'a script has to say that it means it');
});

test.serial('each look is JSON with -o json: of a record, of a hand on its node, of what is below that', async t => {
	const json = async (...words: readonly string[]): Promise<unknown> => JSON.parse(await cluster.fine('actor', ...words, '-o', 'json'));
	t.like(await json('state', 'pod/web', '.object.metadata.name'), {behavior: 'Pod', state: 'web'});
	t.like(await json('state', 'hand/web'), {address: 'troupe://vm/pods/default.web'});
	t.like(await json('links', 'hand/web/main'), {parent: 'troupe://vm/pods/default.web'});
	t.like(await json('supervise', 'pod/web'), {strategy: 'oneForOne', restarts: 0});
	t.like(await json('mailbox', 'control/scheduler'), {waiting: 0});
	const {entries} = (await json('journal', 'pod/web')) as {entries: {type: string}[]};
	t.deepEqual(
		entries.slice(0, 2).map(({type}) => type),
		['init', 'bind'],
	);
	const {systems} = (await json('stats')) as {systems: {system: string}[]};
	t.deepEqual(
		systems.map(({system}) => system),
		['control', 'vm'],
	);
	t.like(await json('tree', 'vm/pods'), {systems: [{system: 'vm/pods', tree: {childCount: 1}}]});
});

test.serial('a trace follows one change to the node, each step a line of JSON', async t => {
	const trace = cluster.start(['actor', 'trace', 'pod/web', '--for', '4s', '--count', '50000', '-o', 'json']);
	let isOver = false;
	const ended = trace.ended.finally(() => (isOver = true));
	// It begins in one system before the other: so there is more than one change.
	for (let count = 0; !isOver; count++) await cluster.fine('label', 'pod', 'web', `n=${count}`, '--overwrite');
	const {code, out, err} = await ended;
	t.is(code, 0);
	t.regex(err, /^ended: its time is over$/m);
	const steps = out
		.trimEnd()
		.split('\n')
		.map(line => JSON.parse(line) as StreamEntry)
		.flatMap(entry => (entry.type === 'step' ? [entry] : []));
	const bySpan = new Map(steps.map(step => [step.span, step]));
	const chainOf = (last: TraceEntry): readonly string[] => {
		const above = last.parent === undefined ? undefined : bySpan.get(last.parent);
		return [...(above === undefined ? [] : chainOf(above)), last.address];
	};
	const hands = steps.filter(({address}) => address === 'troupe://vm/pods/default.web');
	t.true(
		hands.some(hand => chainOf(hand)[0] === 'troupe://control/pods/default.web'),
		`${steps.length} steps, of the hand: ${hands.map(chainOf).join('; ')}`,
	);
});

test.serial('who may only look is refused what changes, and an admin is told what was done', async t => {
	const token = (await cluster.fine('token', 'create', 'eve', '--role', 'view')).trim();
	const kubeconfig = path.join(cluster.folder, 'eve');
	writeFileSync(kubeconfig, readFileSync(path.join(cluster.home, 'kubeconfig'), 'utf8').replace(cluster.token(), token));
	const asEve = (...words: readonly string[]) => cluster.troupe('actor', ...words, '--kubeconfig', kubeconfig);
	t.is((await asEve('state', 'pod/web')).code, 0);
	const refused = await asEve('kill', 'pod/web', '--yes');
	t.is(refused.code, 6);
	t.regex(refused.err, /^error: User "eve" cannot kill actors: that needs the role admin, and it has view$/m);
	const {code, out} = await cluster.troupe('actor', 'kill', 'pod/web', '--yes');
	t.deepEqual([code, out], [0, 'control/pods/default.web has crashed\n']);
	t.regex(await cluster.fine('actor', 'supervise', 'pod/web'), /^restarts +1$/m);
	t.regex(await cluster.fine('tree', 'control/pods'), /default\.web +1 restart .*last crash \d+s ago: killed by an inspector/);
});

test.serial('three kills in a row are three crashes: each waits until the actor runs again', async t => {
	const lines = 'kill rs/sets --yes\n'.repeat(3);
	await cluster.apply(emptySet('sets'));
	const {code, out} = await cluster.start(['repl'], lines).ended;
	t.deepEqual([code, out], [0, 'control/replicasets/default.sets has crashed\n'.repeat(3)]);
	t.regex(await cluster.fine('actor', 'supervise', 'rs/sets'), /^restarts +[23]$/m);
});

test.serial('every example of help works when it is pasted', async t => {
	t.timeout(90_000);
	const examples = verbSpecs.filter(({name}) => name !== 'replay').map(({example: [line]}) => line);
	const {code, out, err} = await cluster.start(['repl', '--yes'], examples.join('\n')).ended;
	t.is(code, 0, err);
	t.regex(out, /answered "patch"/);
	await cluster.fine('fault', 'end');
	// Quotes are read by a shell of the system as by this one.
	const [ask = ''] = examples.filter(line => line.startsWith('ask '));
	const env = {TROUPE_HOME: cluster.home};
	const pasted = await cluster.startProgram('/bin/sh', ['-c', `'${process.execPath}' '${main}' actor ${ask} --yes`], env).ended;
	t.is(pasted.code, 0, pasted.err);
});

test.serial('a cluster that begins anew on other ports is found again', async t => {
	t.timeout(90_000);
	const watch = cluster.start(['repl'], 'watch namespace/default .object.metadata --for 1m --count 3\n');
	await watch.says(/^name: "default"$/m);
	await cluster.killCluster();
	await cluster.up('--faults');
	await watch.says(/ watch ← control\/namespaces\/default /);
	await cluster.fine('label', 'namespace', 'default', 'anew=yes');
	const {code, out, err} = await watch.ended;
	t.is(code, 0, err);
	t.regex(err, /^connected again: https:/m);
	t.regex(out, /anew.*"yes"/);
});
