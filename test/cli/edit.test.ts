// `troupe edit`, with small programs in the place of an editor.

import {chmod, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {existsSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {aReplicaSet} from '../server/cluster.js';
import {line} from '../../bench/rigs/command-line.js';
import {folder, openCluster, start} from './_rig.js';

/** A cluster with the set `web`, and an editor: the lines of a shell script, which gets the file as `$1`. */
async function open(t: ExecutionContext, script: string) {
	const opened = await openCluster(t);
	const dir = await folder(t);
	const program = path.join(dir, 'editor');
	await writeFile(
		program,
		`#!/bin/sh\ncd ${dir}\nn=$(cat n 2>/dev/null || echo 0)\nn=$((n + 1))\necho $n > n\ncp "$1" seen$n 2>/dev/null\necho "$1" > file\n${script}\n`,
	);
	await chmod(program, 0o755);
	t.teardown(async () => {
		const kept = await readFile(path.join(dir, 'file'), 'utf8').catch(() => '');
		const [, made] = /^(\/.+\/troupe-edit-[^/]+)\/[^/]+\n$/.exec(kept) ?? [];
		if (made !== undefined) await rm(made, {recursive: true, force: true});
	});
	await line(['create', '-f', '-'], {home: opened.home, input: JSON.stringify(aReplicaSet('web', 1))});
	const edit = (args: readonly string[] = ['rs', 'web'], interactive = true, env: Readonly<Record<string, string>> = {EDITOR: program}) =>
		line(['edit', ...args], {home: opened.home, interactive, env});
	const seen = (at: number) => readFile(path.join(dir, `seen${at}`), 'utf8');
	const file = async () => (await readFile(path.join(dir, 'file'), 'utf8')).trim();
	const replicas = () => (opened.cluster.control.index.get('replicasets/default/web') as ReplicaSet).spec?.replicas;
	return {...opened, dir, program, edit, seen, file, replicas};
}

const isGone = async (file: Promise<string>): Promise<boolean> => !existsSync(path.dirname(await file));

test('what is changed in the editor is written, and the file is gone', async t => {
	const {edit, seen, file, replicas} = await open(t, 'sed -i "s/replicas: 1/replicas: 4/" "$1"');
	t.deepEqual(await edit(), {code: 0, out: 'replicaset.apps/web edited\n', err: ''});
	t.is(replicas(), 4);
	const text = await seen(1);
	t.regex(text, /^#\n# Edit the object below\. .*\n(#.*\n)*apiVersion: apps\/v1\nkind: ReplicaSet\n/);
	t.notRegex(text, /uid|resourceVersion|status:/);
	t.true(await isGone(file()));
});

test('only its owner may read the file', async t => {
	const {edit, dir} = await open(t, 'stat -c %a "$1" "$(dirname "$1")" > modes');
	await edit();
	t.is(await readFile(path.join(dir, 'modes'), 'utf8'), '600\n700\n');
});

test('nothing changed and an empty file change nothing', async t => {
	const same = await open(t, 'echo "# a remark" >> "$1"');
	t.deepEqual(await same.edit(), {code: 0, out: '', err: 'edit cancelled, no changes made\n'});
	t.true(await isGone(same.file()));
	const empty = await open(t, ': > "$1"');
	t.deepEqual(await empty.edit(), {code: 0, out: '', err: 'edit cancelled, the file was empty\n'});
	t.is(empty.replicas(), 1);
});

test('what is refused is edited again, with what is wrong above it and at its line', async t => {
	const {edit, seen, file, replicas} = await open(
		t,
		'case $n in 1) sed -i "s/  replicas: 1/  replicaz: 1/" "$1";; 2) echo "a: [" >> "$1";; 3) sed -i "/a: \\[/d; s/replicaz: 1/replicas: 2/" "$1";; esac',
	);
	t.is((await edit()).out, 'replicaset.apps/web edited\n');
	t.is(replicas(), 2);
	const second = await seen(2);
	const [, lineNumber = '0'] = /^# line (\d+): spec\.replicaz: unknown field "replicaz"; did you mean "replicas"\?$/m.exec(second) ?? [];
	t.is(second.split('\n')[Number(lineNumber) - 1], '  replicaz: 1');
	t.regex(await seen(3), /^# line \d+: flow sequence/m);
	t.notRegex(await seen(3), /^# .*replicaz/m);
	t.true(await isGone(file()));
});

test('whoever gives up on a refused text finds it in a file', async t => {
	const {edit, file, replicas} = await open(t, '[ $n = 1 ] && sed -i "s/  replicas: 1/  replicaz: 1/" "$1"; true');
	const {code, err} = await edit();
	t.is(code, 1);
	t.is(err, `error: edit cancelled, no valid changes were made; what you wrote is in ${await file()}\n`);
	t.regex(await readFile(await file(), 'utf8'), /replicaz: 1/);
	t.is((await stat(await file())).mode & 0o777, 0o600);
	t.is(replicas(), 1);
});

test('without a terminal what is refused is told, once', async t => {
	const {edit, dir, file} = await open(t, 'sed -i "s/  replicas: 1/  replicaz: 1/" "$1"');
	const {code, err} = await edit(undefined, false);
	t.is(code, 1);
	const [, number, kept = ''] =
		/^error: line (\d+): spec\.replicaz: unknown field "replicaz".*; what you wrote is in (\S+)\n$/.exec(err) ?? [];
	t.is(await readFile(path.join(dir, 'n'), 'utf8'), '1\n');
	t.is(kept, await file());
	t.is((await readFile(kept, 'utf8')).split('\n')[Number(number) - 1], '  replicaz: 1');
	await rm(path.dirname(kept), {recursive: true});
	t.regex((await edit(undefined, false, {})).err, /there is no terminal to edit in/);
});

test.serial('what was typed is kept when the editor fails after it, or leaves what cannot be read', async t => {
	const killed = await open(t, 'sed -i "s/replicas: 1/replicas: 6/" "$1"; kill -9 $$');
	const {code, err} = await killed.edit();
	t.is(code, 1);
	t.regex(err, /ended with SIGKILL; nothing was changed; what you wrote is in /);
	t.true(err.endsWith(`${await killed.file()}\n`));
	t.regex(await readFile(await killed.file(), 'utf8'), /replicas: 6/);
	const untouched = await open(t, 'exit 3');
	t.notRegex((await untouched.edit()).err, /what you wrote/);
	t.true(await isGone(untouched.file()));
	const large = await open(t, 'truncate -s 9M "$1"');
	t.regex((await large.edit()).err, /has more than 8388608 bytes; what you wrote is in /);
	t.true(existsSync(await large.file()));
	const removed = await open(t, 'rm "$1"');
	const gone = await removed.edit();
	t.deepEqual([gone.code, gone.err], [1, `error: ${await removed.file()}: there is no such file\n`]);
	t.deepEqual([killed.replicas(), large.replicas(), removed.replicas()], [1, 1, 1]);
});

test.serial('what another changed in other fields meanwhile is kept beside what was typed', async t => {
	const {edit, cluster, dir, replicas} = await open(
		t,
		'sed -i "s/replicas: 1/replicas: 7/" "$1"; touch edited; while [ -e edited ]; do sleep 0.02; done',
	);
	const editing = edit();
	const marker = path.join(dir, 'edited');
	await eventually('the editor has edited', () => existsSync(marker));
	const live = cluster.control.index.get('replicasets/default/web');
	if (live === undefined) return t.fail('the set is gone');
	cluster.put({...live, metadata: {...live.metadata, labels: {from: 'another'}}});
	await rm(marker);
	t.is((await editing).code, 0);
	t.is(replicas(), 7);
	t.deepEqual(cluster.control.index.get('replicasets/default/web')?.metadata.labels, {from: 'another'});
});

test.serial('a signal while it is edited leaves what was typed in a file, and says where', async t => {
	const {home, program, dir, file, replicas} = await open(
		t,
		'sed -i "s/replicas: 1/replicas: 7/" "$1"; touch edited; while [ -e edited ]; do sleep 0.02; done',
	);
	const marker = path.join(dir, 'edited');
	const editing = start(t, ['edit', 'rs', 'web'], {home, env: {EDITOR: program}});
	await eventually('the editor has edited', () => existsSync(marker));
	editing.kill('SIGHUP');
	await rm(marker); // The editor holds the streams, so it must end, too.
	const {code, err} = await editing.ended;
	t.is(code, 129);
	t.is(err, `error: edit was interrupted by SIGHUP, nothing was changed; what you wrote is in ${await file()}\n`);
	t.regex(await readFile(await file(), 'utf8'), /replicas: 7/);
	t.is(replicas(), 1);
});

test('what another changed meanwhile is not overwritten; the text is kept', async t => {
	const {edit, cluster, dir, file, replicas} = await open(
		t,
		'sed -i "s/replicas: 1/replicas: 7/" "$1"; touch edited; while [ -e edited ]; do sleep 0.02; done',
	);
	const editing = edit();
	const marker = path.join(dir, 'edited');
	await eventually('the editor has edited', () => existsSync(marker));
	const live = cluster.control.index.get('replicasets/default/web');
	if (live === undefined) return t.fail('the set is gone');
	cluster.put({...live, spec: {...(live as ReplicaSet).spec, replicas: 2}});
	await rm(marker);
	const {code, err} = await editing;
	t.is(code, 4);
	t.is(
		err,
		`error: replicaset.apps/web was changed by another in the same fields while it was edited; what you wrote is in ${await file()}\n`,
	);
	t.regex(await readFile(await file(), 'utf8'), /replicas: 7/);
	t.is(replicas(), 2);
});

test('a status that moved on is no conflict', async t => {
	const {edit, cluster, dir, replicas} = await open(
		t,
		'sed -i "s/replicas: 1/replicas: 3/" "$1"; touch edited; while [ -e edited ]; do sleep 0.02; done',
	);
	const editing = edit();
	const marker = path.join(dir, 'edited');
	await eventually('the editor has edited', () => existsSync(marker));
	const live = cluster.control.index.get('replicasets/default/web');
	if (live !== undefined) cluster.put({...live, status: {replicas: 1}});
	await rm(marker);
	t.is((await editing).code, 0);
	t.is(replicas(), 3);
});

test('the editor may have arguments, no shell reads them, and its failure is told', async t => {
	const {edit, program, dir, replicas} = await open(t, 'true');
	const sed = {KUBE_EDITOR: 'sed -i s/replicas:/replicas\\x3a/', EDITOR: 'false'};
	t.is((await edit(['rs/web'], true, sed)).err, 'edit cancelled, no changes made\n');
	t.is((await edit(['rs/web'], true, {VISUAL: `${program} $(touch ${dir}/shell) ; touch ${dir}/shell`})).code, 0);
	t.false(existsSync(path.join(dir, 'shell')));
	t.regex((await edit(['rs/web'], true, {EDITOR: 'false'})).err, /the editor "false" ended with 1; nothing was changed/);
	const missing = await edit(['rs/web'], true, {EDITOR: '/nowhere/ed'});
	t.deepEqual([missing.code, missing.err], [2, 'error: the editor "/nowhere/ed" (EDITOR) cannot be started: there is no such program\n']);
	t.is((await edit(['rs'])).code, 2);
	t.is((await edit(['rs', 'a', 'b'])).code, 2);
	t.is((await edit(['rs/nope'])).code, 3);
	t.is(replicas(), 1);
});

test('JSON is edited as JSON, and a Secret as it is', async t => {
	const {edit, home, seen} = await open(t, 'sed -i "s/c2VjcmV0/b3BlbmVk/" "$1"');
	await line(['create', 'secret', 's', '--from-literal=a=secret'], {home});
	t.is((await edit(['secret/s', '-o', 'json'])).out, 'secret/s edited\n');
	t.regex(await seen(1), /"a": "c2VjcmV0"/);
	const {out} = await line(['get', 'secret', 's', '-o', 'json'], {home});
	t.like(JSON.parse(out), {data: {a: 'b3BlbmVk'}});
});

test('a member of a workflow that is set to null in the editor is null', async t => {
	const {edit, cluster, home} = await open(t, 'sed -i "s/ResultPath: .*/ResultPath: null/" "$1"');
	const definition = {StartAt: 'A', States: {A: {Type: 'Task', Resource: 'a', ResultPath: '$.a', End: true}}};
	const flow = {apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: 'flow'}, spec: {definition}};
	await line(['apply', '-f', '-'], {home, input: JSON.stringify(flow)});
	t.deepEqual(await edit(['workflow', 'flow']), {code: 0, out: 'workflow.troupe.dev/flow edited\n', err: ''});
	t.deepEqual(cluster.control.index.get('workflows/default/flow')?.spec, {
		definition: {StartAt: 'A', States: {A: {Type: 'Task', Resource: 'a', ResultPath: null, End: true}}},
	});
});
