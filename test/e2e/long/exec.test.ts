// Programs beside those of pods, copies from and to them, logs that go on, and retries, as a person has them from the command line.

import {spawn} from 'node:child_process';
import {mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {pidOnNode} from '../../agent/process-world.js';
import {containerOf, isReady, pidOf, pidsWhenRunning} from '../../../bench/rigs/cluster/pods.js';
import {podOf} from '../../../bench/rigs/cluster/manifests.js';
import {lives, signal} from '../../../bench/rigs/cluster/processes.js';
import {openFileHome} from '../_rig.js';
import {eventually, until} from '../../../bench/rigs/cluster/waiting.js';

const {cluster, client} = openFileHome(test);

const shell = (text: string): readonly string[] => ['sh', '-c', text];

/** Any bytes there are, more than a pipe or a message holds. */
const everyByte = Buffer.from(Array.from({length: 300_000}, (_, at) => (at * 7 + (at >> 8)) % 256));

test('a program gets its input to the end, and its outputs and exit code come back, byte for byte', async t => {
	await cluster.apply(podOf('plain', ['sleep', '100000']));
	await pidsWhenRunning(client(), 'plain');
	const ran = await cluster.troupe('exec', 'plain', '--', ...shell('echo out; echo err >&2; exit 7'));
	t.deepEqual([ran.code, ran.out, ran.err], [7, 'out\n', 'err\n']);
	const {home, folder} = cluster;
	const child = spawn(process.execPath, [path.join(import.meta.dirname, '../../../cli/main.js'), 'exec', '-i', 'plain', '--', 'cat'], {
		env: {PATH: process.env['PATH'], HOME: folder, TROUPE_HOME: home},
	});
	t.teardown(() => child.kill('SIGKILL'));
	child.stdin.end(everyByte);
	const chunks: Buffer[] = [];
	for await (const chunk of child.stdout as AsyncIterable<Buffer>) chunks.push(chunk);
	t.true(Buffer.concat(chunks).equals(everyByte));
	const missing = await cluster.troupe('exec', 'plain', '--', 'no-such-program');
	t.is(missing.code, 127);
	t.regex(missing.err, /no-such-program/);
});

test('who goes away ends the program, and nothing else', async t => {
	await cluster.apply(podOf('left', ['sleep', '100000']));
	const [pod = 0] = await pidsWhenRunning(client(), 'left');
	const running = cluster.start(['exec', 'left', '--', ...shell('echo $$; exec sleep 99999')]);
	const pid = pidOnNode(Number(await running.says(/^\d+\n/)), pod);
	t.true(lives(pid));
	running.kill('SIGINT');
	t.is((await running.ended).code, 130);
	await eventually('the program to end', () => !lives(pid));
	t.true(lives(pod));
});

test('files and folders are copied both ways', async t => {
	await cluster.apply(podOf('store', ['sleep', '100000']));
	await pidsWhenRunning(client(), 'store');
	const {folder} = cluster;
	const [from, back] = [path.join(folder, 'cp-from'), path.join(folder, 'cp-back')];
	mkdirSync(path.join(from, 'empty'), {recursive: true});
	writeFileSync(path.join(from, 'odd\nname'), everyByte);
	const inPod = (await cluster.fine('exec', 'store', '--', 'mktemp', '-d')).trim();
	t.teardown(() => rmSync(inPod, {recursive: true, force: true}));
	await cluster.fine('cp', from, `store:${inPod}/made`);
	await cluster.fine('cp', `store:${inPod}/made`, back);
	t.deepEqual(readdirSync(back).sort(), ['empty', 'odd\nname']);
	t.true(readFileSync(path.join(back, 'odd\nname')).equals(everyByte));
	const missing = await cluster.troupe('cp', `store:${inPod}/nothing`, back);
	t.deepEqual([missing.code, /No such file/.test(missing.err)], [1, true]);
});

test('a log that is followed goes on with the next run, after a retry as well, and ends with the pod', async t => {
	const again = podOf('again', shell('trap "exit 5" USR1; echo begun; while :; do sleep 0.02; done'));
	// The pod is not there yet.
	const follower = cluster.start(['logs', '-f', 'again']);
	await cluster.apply(
		// It waits long enough to be told not to.
		{...again, metadata: {...again.metadata, annotations: {'troupe.dev/backoff-first': '1m'}}},
		podOf('other', shell('echo first; sleep 100000'), {labels: {app: 'both'}}),
		podOf('another', shell('echo second; sleep 100000'), {labels: {app: 'both'}}),
	);
	await follower.says(/^begun\n$/);
	for (let restarts = 1; restarts <= 2; restarts++) {
		const pid = await until(client(), 'pods', 'it to run', pods => {
			const found = pods.get('again');
			return containerOf(found)?.restartCount === restarts - 1 && isReady(found) && pidOf(found);
		});
		await follower.says(new RegExp(`^(begun\n){${restarts}}$`));
		signal(pid, 'SIGUSR1');
	}
	await until(client(), 'pods', 'a back-off', pods => containerOf(pods.get('again'))?.state?.waiting?.reason === 'CrashLoopBackOff');
	t.is(await cluster.fine('retry', 'again'), 'pod/again: container main starts now (retry 2)\n');
	await follower.says(/^(begun\n){3}$/);
	const nothing = await cluster.troupe('retry', 'other');
	t.deepEqual([nothing.code, nothing.err], [1, 'error: pod/other: nothing waits: container main runs\n']);
	t.is(await cluster.fine('logs', '-l', 'app=both'), '[another/main] second\n[other/main] first\n');
	t.regex(await cluster.fine('logs', 'other', '--timestamps', '--since', '10m'), /^\d{4}-\d\d-\d\dT[\d:.]+Z first\n$/);
	await cluster.fine('delete', 'pod', 'again', '--now');
	const {code, err} = await follower.ended;
	t.is(code, 0, err);
	t.is(err.match(/^--- container main restarted: exit 5 ---$/gm)?.length, 2, err);
});
