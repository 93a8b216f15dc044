// Two servers on one etcd (Debian: etcd-server) and an agent: the key they share, what the standby says, and who finds whom again.

import {copyFileSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {openEar} from '../e2e/_ear.js';
import {credentialFile, openAgent, openServer} from '../e2e/_hosts.js';
import {isReady, pidOf} from '../../bench/rigs/cluster/pods.js';
import {setOf} from '../../bench/rigs/cluster/manifests.js';
import {lives} from '../../bench/rigs/cluster/processes.js';
import {freePorts, openHome} from '../e2e/_rig.js';
import {eventually, until} from '../../bench/rigs/cluster/waiting.js';
import {passwordField, tokenHash} from '../../server/mosquitto-hash.js';
import {startEtcd} from '../../bench/rigs/servers/etcd.js';
import {controlSecret, startMosquitto} from './_mosquitto.js';

const keyOf = (home: string): string => path.join(home, 'data', 'cluster.key');

async function pair(t: ExecutionContext) {
	const {url} = await startEtcd(t);
	const store = `--store=${url}/hosts`;
	const first = await openServer(t, store);
	const second = openHome(t);
	mkdirSync(path.dirname(keyOf(second.home)), {recursive: true});
	return {store, first, second, start: () => second.troupe('server', '--detach', ...freePorts, store)};
}

test('a second server needs the key of the first, and says so', async t => {
	t.timeout(90_000);
	const {store, first, second, start} = await pair(t);
	const wanted = new RegExp(`${second.home}/data/cluster\\.key does not hold the key .*; copy data/cluster\\.key`);
	const without = await start();
	t.is(without.code, 1);
	t.regex(without.err, wanted);
	writeFileSync(keyOf(second.home), Buffer.alloc(32));
	t.regex((await start()).err, wanted);
	t.deepEqual(second.processes(), []);

	copyFileSync(keyOf(first.home), keyOf(second.home));
	const up = await second.troupe('up', ...freePorts, store);
	t.is(up.code, 1);
	t.is(up.err, `error: ${first.api()} leads over ${store.slice('--store='.length)}; troupe server stands by it\n`);
	t.deepEqual(second.processes(), []);
});

test('agents and commands find the server that leads, whichever that is', async t => {
	t.timeout(120_000);
	const {first, second, start} = await pair(t);
	copyFileSync(keyOf(first.home), keyOf(second.home));
	const started = await start();
	t.is(started.code, 0, started.err);
	const standby = second.endpoints().api;
	t.is(second.token(), first.token());

	const agent = await openAgent(t, [standby, first.api()], await first.joinToken(), 'host-1');
	const known = (): readonly string[] => (JSON.parse(readFileSync(credentialFile(agent), 'utf8')) as {servers: string[]}).servers;
	await eventually('the agent knows both', () => known().length === 2);
	await second.apply(setOf('web', 2));
	const pids = await until(await first.client(), 'pods', 'both to run', pods => {
		const running = [...pods.values()].filter(isReady).map(pod => pidOf(pod) ?? 0);
		return running.length === 2 ? running : undefined;
	});

	await first.killIt();
	await eventually('the other leads', async () => (await second.troupe('get', 'pods')).code === 0);
	const nodes = await second.client();
	await until(nodes, 'nodes', 'host-1 to be ready', found => JSON.stringify(found.get('host-1')?.status ?? {}).includes('"AgentReady"'));
	const now = await until(nodes, 'pods', 'both to run', pods => {
		const running = [...pods.values()].filter(isReady).map(pod => pidOf(pod) ?? 0);
		return running.length === 2 ? running : undefined;
	});
	t.deepEqual(now.toSorted(), pids.toSorted());
	t.true(pids.every(lives));
	// The kubeconfig of the dead one's home still leads to the cluster.
	t.is((await first.fine('get', 'nodes', '-o', 'name')).trim(), 'node/host-1');
	t.deepEqual(known().toSorted(), [standby, first.api()].toSorted());
});

test('actors meet at a Mosquitto: control and agent dial it, tools see objects there', async t => {
	t.timeout(90_000);
	const mosquitto = await startMosquitto(t, []);
	const url = `mqtt://control:${encodeURIComponent(controlSecret)}@127.0.0.1:${mosquitto.port}`;
	const server = await openServer(t, `--broker=${url}`);
	t.is(server.endpoints().mqtt, `mqtt://127.0.0.1:${mosquitto.port}`);

	const agent = await openAgent(t, [server.api()], await server.joinToken(), 'host-1');
	const {broker, credential} = JSON.parse(readFileSync(credentialFile(agent), 'utf8')) as {broker: string; credential: string};
	t.is(broker, `mqtt://127.0.0.1:${mosquitto.port}`);
	await mosquitto.reload([
		{name: 'host-1', role: 'node', password: passwordField(tokenHash(credential))},
		{name: 'admin', role: 'admin', password: passwordField(tokenHash(server.token()))},
	]);
	const client = await server.client();
	await until(client, 'nodes', 'host-1 to be ready', found => JSON.stringify(found.get('host-1')?.status ?? {}).includes('"AgentReady"'));
	await server.apply(setOf('web', 1));
	await until(client, 'pods', 'it to run', pods => [...pods.values()].some(isReady));
	const ear = await openEar(t, server);
	await ear.listen('troupe/v1/objects/replicasets/#');
	await ear.until('the set', heard => heard.find(({topic, retained}) => topic.endsWith('/web') && retained));
	for (const home of [server, agent]) t.false(readFileSync(path.join(home.home, 'troupe.log'), 'utf8').includes(controlSecret));
});
