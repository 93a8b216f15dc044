// Starting and stopping: what is said, what is left, and that nothing is left half started.

import {spawn} from 'node:child_process';
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import {createServer, type AddressInfo} from 'node:net';
import test from 'ava';
import {systemClock} from '../../../system/time/clock.js';
import {obedientPod, podOf} from '../../../bench/rigs/cluster/manifests.js';
import {pidsWhenRunning} from '../../../bench/rigs/cluster/pods.js';
import {lives} from '../../../bench/rigs/cluster/processes.js';
import {freePorts, nodeName, openHome} from '../_rig.js';

const up = ['up', `--node=${nodeName}`];

test('Ctrl-C stops the control plane and leaves pods; down --pods ends them without a cluster', async t => {
	t.timeout(40_000);
	const cluster = openHome(t);
	const running = cluster.start([...up, ...freePorts]);
	const ready = await running.says(/get pods .*\n/);
	const endpoints = cluster.endpoints();
	t.is(endpoints.pid, running.pid);
	for (const door of [endpoints.api, endpoints.web, endpoints.mqtt]) t.true(ready.includes(door));
	t.true(ready.includes(`${cluster.home}/troupe.log`));
	await cluster.apply(
		obedientPod('stays'),
		podOf('ignores', ['sh', '-c', 'trap "" TERM INT HUP; while :; do sleep 0.05; done'], {terminationGracePeriodSeconds: 1}),
	);
	const pids = await pidsWhenRunning(await cluster.client(), 'stays', 'ignores');

	const second = await cluster.troupe(...up, ...freePorts);
	t.deepEqual([second.code, second.out], [1, '']);
	t.is(second.err, `error: a cluster runs in ${cluster.home} already (process ${running.pid}); troupe down stops it\n`);

	running.kill('SIGINT');
	const {code, out, err} = await running.ended;
	t.deepEqual([code, err], [0, '']);
	t.regex(out, /stopping \(SIGINT\)\nthe cluster has stopped; its pods run on \(troupe down --pods stops them\)\n$/);
	t.true(pids.every(lives));
	t.true(cluster.processes().every(({role}) => role !== 'cluster'));
	t.false(existsSync(`${cluster.home}/endpoints.json`));
	const asked = await cluster.troupe('get', 'pods');
	t.is(asked.code, 5);
	t.regex(asked.err, /^error: .*is the cluster running\?.*\n$/);

	const fromMs = systemClock.monotonicMs();
	t.is(await cluster.fine('down', '--pods'), `no cluster runs in ${cluster.home}\n2 programs of pods stopped\n`);
	t.true(systemClock.monotonicMs() - fromMs < 15_000, 'each pod has its own grace');
	t.deepEqual(cluster.processes(), []);
	t.is(await cluster.fine('down', '--pods'), `no cluster runs in ${cluster.home}\nno programs of pods were running\n`);
});

test('a busy port is one line that names it and its flag; nothing is left half started', async t => {
	t.timeout(40_000);
	const cluster = openHome(t);
	const taken = createServer();
	await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
	t.teardown(() => taken.close());
	const {port} = taken.address() as AddressInfo;
	for (const flag of ['api', 'web', 'mqtt']) {
		const others = freePorts.filter(each => !each.startsWith(`--${flag}=`));
		const {code, out, err} = await cluster.troupe(...up, ...others, `--${flag}=127.0.0.1:${port}`);
		t.deepEqual([code, out], [1, ''], err);
		t.regex(err, new RegExp(`^error: .*127\\.0\\.0\\.1:${port}.*--${flag} 127\\.0\\.0\\.1:0 picks a free port\n$`));
		t.deepEqual(cluster.processes(), []);
		t.false(existsSync(`${cluster.home}/endpoints.json`));
	}
	await cluster.up();
	t.is(await cluster.fine('get', 'pods', '-o', 'name'), '');
	await cluster.fine('down');
});

test('in the background: up returns when ready, takes no terminal along, down stops it, uninstall leaves nothing', async t => {
	t.timeout(40_000);
	const cluster = openHome(t);
	const {pid} = await cluster.up();
	t.is(await cluster.fine('get', 'nodes', '-o', 'name'), `node/${nodeName}\n`);
	await cluster.apply(obedientPod('web'));
	const [web = 0] = await pidsWhenRunning(await cluster.client(), 'web');
	const again = await cluster.troupe(...up, '--detach', ...freePorts);
	t.deepEqual([again.code, again.err], [1, `error: a cluster runs in ${cluster.home} already (process ${pid}); troupe down stops it\n`]);
	t.is(await cluster.fine('down'), `the cluster is stopped (process ${pid})\npods run on; troupe down --pods stops them too\n`);
	t.true(lives(web));
	t.false(lives(pid));
	const lines = readFileSync(`${cluster.home}/troupe.log`, 'utf8').trimEnd().split('\n');
	t.notThrows(() => lines.map(line => JSON.parse(line) as unknown), 'one JSON object a line');
	const uninstalled = await cluster.fine('uninstall', '--yes');
	t.is(uninstalled, `1 program of pods stopped\n${cluster.home} is removed\n`);
	t.deepEqual(cluster.processes(), []);
	t.false(lives(web));
	t.deepEqual(readdirSync(cluster.folder), []);
});

test('uninstall stops what runs', async t => {
	t.timeout(40_000);
	const cluster = openHome(t);
	const bystander = spawn('sleep', ['1000'], {stdio: 'ignore'});
	t.teardown(() => bystander.kill('SIGKILL'));
	const {pid} = await cluster.up();
	await cluster.apply(obedientPod('web'));
	await pidsWhenRunning(await cluster.client(), 'web');
	t.regex(
		await cluster.fine('uninstall', '--yes'),
		new RegExp(`^the cluster is stopped \\(process ${pid}\\)\n1 program of pods stopped\n`),
	);
	t.deepEqual(cluster.processes(), []);
	t.true(lives(bystander.pid ?? 0));
	t.false(existsSync(cluster.home));
});

test('of two that start at the same time one is ready, the other says why not and ends', async t => {
	t.timeout(40_000);
	const cluster = openHome(t);
	const both = [cluster.start([...up, ...freePorts]), cluster.start([...up, ...freePorts])];
	const loser = await Promise.race(both.map(async one => ({one, ...(await one.ended)})));
	t.is(loser.out, '');
	t.is(loser.code, 1);
	t.regex(loser.err, /^error: (a cluster runs in .* already .*|another process uses the data directory .*)\n$/);
	const winner = both.find(one => one !== loser.one);
	await winner?.says(/get pods .*\n/);
	t.is(cluster.endpoints().pid, winner?.pid ?? 0);
	await cluster.apply(obedientPod('web'));
	await pidsWhenRunning(await cluster.client(), 'web');
	await cluster.fine('down', '--pods');
	t.is((await winner?.ended)?.code, 0);
	t.deepEqual(cluster.processes(), []);
});
