// Faults in a real cluster, by the real command: refused without --faults, shown while they are on, gone by themselves.

import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {isConditionTrue} from '../../../api/conditions.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import {setOf} from '../../../bench/rigs/cluster/manifests.js';
import {isReady} from '../../../bench/rigs/cluster/pods.js';
import {eventually, until} from '../../../bench/rigs/cluster/waiting.js';
import {openAgent, openServer} from '../_hosts.js';
import {openFileHome} from '../_rig.js';

const {cluster} = openFileHome(test, '--runtime=simulated', '--faults', '--simulated-nodes=1');

const shows = (what: string, look: () => Promise<boolean>, withinMs: number): Promise<void> => eventually(what, look, () => '', withinMs);

test.serial('a fault shows in tree and list while it is on, ends by itself, and is in the audit log', async t => {
	t.regex(await cluster.fine('fault', 'list'), /^no fault is on\n$/);
	t.regex(
		await cluster.fine('fault', 'slow', 'control/scheduler', '--delay', '200ms', '--for', '9s'),
		/^control\/scheduler: slow by 200 ms, 9 s left, by admin\n$/,
	);
	t.regex(await cluster.fine('tree', 'control'), /scheduler.*fault: slow by 200 ms, \d s left/);
	t.regex(await cluster.fine('fault', 'list'), /^control\/scheduler {2}slow by 200 ms, \d s left, by admin\n$/);
	await shows('the fault to end by itself', async () => (await cluster.fine('fault', 'list')) === 'no fault is on\n', 20_000);
	t.notRegex(await cluster.fine('tree', 'control'), /fault:/);
	t.regex(
		readFileSync(path.join(cluster.home, 'audit.log'), 'utf8'),
		/"verb":"fault","place":"control\/scheduler","fault":"slow","outcome":"done"/,
	);
});

test.serial("a crash is the next step's, and is over with it; a record goes on as after any crash", async t => {
	await cluster.apply(setOf('crashed', 1));
	await cluster.fine('scale', 'rs/crashed', '--replicas', '1', '--wait');
	await cluster.fine('fault', 'crash', 'rs/crashed', '--for', '1m');
	t.regex((await cluster.troupe('scale', 'rs/crashed', '--replicas', '2')).err, /a fault was asked for here: its step crashes/);
	await cluster.fine('scale', 'rs/crashed', '--replicas', '2', '--wait');
	t.regex(await cluster.fine('actor', 'supervise', 'rs/crashed'), /a fault was asked for here/);
	t.is(await cluster.fine('fault', 'list'), 'no fault is on\n');
});

test.serial('what a deaf actor does waits until its fault has ended, and shows in deadletters why', async t => {
	await cluster.fine('fault', 'drop', 'control/scheduler', '--for', '1m');
	await cluster.apply(setOf('late', 1));
	await shows('a dead letter', async () => /dropped/.test(await cluster.fine('actor', 'deadletters', 'control')), 10_000);
	t.regex(await cluster.fine('get', 'pods', '-l', 'app=late'), /Pending/);
	t.is(await cluster.fine('fault', 'end'), 'control: 1 fault has ended\n');
	await cluster.fine('actor', 'tell', 'control/scheduler', 'wake', '--yes');
	await cluster.fine('scale', 'rs/late', '--replicas', '1', '--wait');
});

test.serial('mistakes are told with what to write; viewers may look at faults and make none', async t => {
	const refused = async (...words: readonly string[]): Promise<string> => (await cluster.troupe('fault', ...words)).err;
	t.regex(await refused('flood', 'control'), /fault takes crash, slow, drop, partition, pause, list, end, got "flood"/);
	t.regex(
		await refused('partition', 'control/scheduler'),
		/"control" itself is not cut off; cut off its nodes, each with: troupe fault partition NODE/,
	);
	t.regex(await refused('drop', 'control/scheduler', '--share', '200%'), /--share must be above 0 and up to 1/);
	t.regex(await refused('crash', 'control/nobody'), /control\/nobody/);
	t.regex(await refused('partition', 'vm/pods'), /a partition is of a whole system, such as "vm"/);
	t.regex(await refused('crash', 'control/scheduler', '--for', '1h'), /--for is at most 10m, got "1h"/);
	t.regex(await refused('slow', 'control/scheduler', '--delay', '1h'), /--delay is at most 60s, got "1h"/);
	t.regex(await refused('crash'), /fault crash takes a place, as in: fault crash rs\/web/);
	t.regex(await refused('crash', 'control'), /crash takes an actor, and "control" is a whole system; .* kill control/);
	t.is(await cluster.fine('fault', 'list'), 'no fault is on\n');
});

test.serial('a node that is cut off is NotReady, and heals by itself; without --faults none is made', async t => {
	t.timeout(180_000);
	const server = await openServer(t);
	const token = await server.joinToken();
	const agent = await openAgent(t, [server.api()], token, 'host-1', '--faults', '--runtime=simulated');
	const client = await server.client();
	const ready = (is: boolean) =>
		until(
			client,
			'nodes',
			`host-1 to be ${is ? 'Ready' : 'NotReady'}`,
			nodes => isConditionTrue((nodes.get('host-1') as NodeObject | undefined)?.status?.conditions, 'Ready') === is,
		);
	await ready(true);
	await server.apply(setOf('web', 2));
	await until(client, 'pods', '2 pods to run', pods => [...pods.values()].filter(isReady).length === 2);
	t.regex(await server.fine('fault', 'list'), /^no fault is on\nnone are made in control: started without --faults\n$/);
	const {code, err} = await server.troupe('fault', 'crash', 'control/scheduler');
	t.deepEqual([code, err], [6, 'error: no faults are made in "control": that takes troupe up --faults (or server, agent --faults)\n']);
	const cutAtMs = performance.now();
	t.regex(await server.fine('fault', 'partition', 'host-1', '--for', '20s'), /cut off from all other systems, 20 s left/);
	await ready(false);
	t.regex(await server.fine('fault', 'list'), /^host-1 {2}cut off from all other systems, \d+ s left, by admin$/m);
	t.regex((await server.troupe('tree')).out, /^host-1 {2}fault: cut off from all other systems, \d+ s left, by admin$/m);
	const ended = await server.troupe('fault', 'end', 'host-1');
	t.is(ended.code, 5);
	t.regex(ended.err, /"host-1" cannot be reached, a fault keeps it away: .*; it ends by itself/);
	const status = await server.troupe('status');
	t.is(status.code, 1);
	t.regex(status.out, /^ {2}node\/host-1 +is not ready for \d+s: /m);
	t.regex(status.out, /^ {2}host-1 +a fault is on: cut off from all other systems, \d+ s left, by admin$/m);
	t.regex(status.out, /^next: troupe why node\/host-1$/m);
	await ready(true);
	t.true(performance.now() - cutAtMs > 19_000, 'nothing of the node is heard before it is over');
	await server.apply(setOf('after', 1));
	await until(client, 'pods', '3 pods to run', pods => [...pods.values()].filter(isReady).length === 3);
	t.true(existsSync(agent.home));
	await shows('all to be well', async () => (await server.troupe('status')).code === 0, 30_000);
	t.regex(await server.fine('status'), /^cluster {2}all is well\n[\s\S]*^nodes {4}1 of 1 ready\npods {5}3 of 3 ready; 3 running$/m);
	const document = JSON.parse(await server.fine('status', '-o', 'json')) as {readonly state: string; readonly wrong: readonly unknown[]};
	t.deepEqual([document.state, document.wrong], ['well', []]);
});
