// Two `troupe server` on one etcd (Debian: etcd-server) under load over HTTPS: the one that leads is killed, and paused and woken.

import {copyFileSync, mkdirSync, readFileSync} from 'node:fs';
import {Agent, request} from 'node:https';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {metaStoreKey} from '../../api/keys.js';
import {systemClock} from '../../system/time/clock.js';
import {connectEtcd} from '../../system/store/etcd-client.js';
import {emptySet} from '../../bench/rigs/cluster/manifests.js';
import {freePorts, openHome, type Home} from '../e2e/_rig.js';
import {startEtcd} from '../../bench/rigs/servers/etcd.js';
import {watchMeta} from './_leaders.js';
import {pauseProcess, until} from '../../bench/rigs/servers/server.js';

const setsPath = '/apis/apps/v1/namespaces/default/replicasets';

type Door = {readonly home: Home; readonly url: string; readonly pid: number};

async function serve(home: Home, store: string): Promise<Door> {
	await home.fine('server', '--detach', ...freePorts, `--store=${store}`);
	const {api = '', pid} = home.endpoints();
	return {home, url: api, pid};
}

/** A second server of the same cluster has its key. */
async function serveBeside(first: Door, home: Home, store: string): Promise<Door> {
	mkdirSync(path.join(home.home, 'data'), {recursive: true});
	copyFileSync(path.join(first.home.home, 'data', 'cluster.key'), path.join(home.home, 'data', 'cluster.key'));
	return serve(home, store);
}

type Asked = {readonly status: number; readonly text: string};

/** One request to one server; status 0 when it does not answer. */
function ask(agent: Agent, {url}: Door, token: string, method: string, where: string, body?: object): Promise<Asked> {
	return new Promise(resolve => {
		const sent = request(
			`${url}${where}`,
			{agent, method, timeout: 20_000, headers: {authorization: `Bearer ${token}`, 'content-type': 'application/json'}},
			response => {
				let text = '';
				response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
				response.on('error', () => resolve({status: 0, text}));
				response.on('end', () => resolve({status: response.statusCode ?? 0, text}));
			},
		);
		sent.on('timeout', () => sent.destroy());
		sent.on('error', ({message}) => resolve({status: 0, text: message}));
		sent.end(body === undefined ? undefined : JSON.stringify(body));
	});
}

async function stageOf(t: ExecutionContext) {
	const etcd = await startEtcd(t);
	const store = `${etcd.url}/real`;
	const metas = await watchMeta(t, store);
	const first = await serve(openHome(t), store);
	const second = await serveBeside(first, openHome(t), store);
	const token = first.home.token();
	const agent = new Agent({keepAlive: true, ca: readFileSync(path.join(first.home.home, 'ca.crt')), maxSockets: 200});
	t.teardown(() => agent.destroy());
	const call = (door: Door, method: string, where: string, body?: object): Promise<Asked> => ask(agent, door, token, method, where, body);

	const doors = [first, second];
	const acks: {readonly name: string; readonly atMs: number; readonly door: Door}[] = [];
	let running = true;
	const write = async (writer: number): Promise<void> => {
		let preferred = 0;
		for (let at = 0; running; at++) {
			const name = `w${writer}-${at}`;
			const door = doors[preferred % doors.length] ?? first;
			const late = new Promise<Asked>(resolve => setTimeout(resolve, 1_000, {status: 0, text: 'late'}));
			const {status} = await Promise.race([call(door, 'POST', setsPath, emptySet(name)), late]);
			if (status === 201) acks.push({name, atMs: performance.now(), door});
			else {
				preferred++;
				await new Promise(resolve => setTimeout(resolve, 20));
			}
		}
	};
	const writers = Array.from({length: 20}, (_, writer) => write(writer));
	const stop = async (): Promise<void> => {
		running = false;
		await Promise.all(writers);
	};
	t.teardown(stop);
	await until('writes are taken', () => acks.length > 200);
	return {etcd, store, metas, first, second, doors, acks, call, stop};
}

type Stage = Awaited<ReturnType<typeof stageOf>>;

async function nextWrite({acks}: Stage, door: Door, faultAtMs: number): Promise<number> {
	const taken = (): number | undefined => acks.find(ack => ack.door === door && ack.atMs > faultAtMs)?.atMs;
	await until('the other one takes a write', () => taken() !== undefined, 30_000);
	return (taken() ?? 0) - faultAtMs;
}

async function check(t: ExecutionContext, {metas, acks, call, stop, store}: Stage, door: Door): Promise<void> {
	await stop();
	t.deepEqual(
		metas.filter(({epoch}, at) => epoch < (metas[at - 1]?.epoch ?? 0)),
		[],
		'a write of an earlier epoch landed after one of a later',
	);
	const {status, text} = await call(door, 'GET', setsPath);
	t.is(status, 200);
	const {items} = JSON.parse(text) as {items: {metadata: {name: string}}[]};
	const found = new Set(items.map(({metadata}) => metadata.name));
	t.deepEqual(
		acks.filter(({name}) => !found.has(name)).map(({name}) => name),
		[],
	);
	const client = connectEtcd(store, systemClock);
	t.is((await client.range({key: metaStoreKey})).records.length, 1);
	client.close();
	t.log(`${acks.length} acknowledged writes, ${metas.length} batches`);
}

test.serial('the server that leads is killed: the other one leads with all that was acknowledged', async t => {
	const stage = await stageOf(t);
	// Begun at the home of the one that stands by: the command goes to the one that leads.
	const trace = stage.second.home.start([
		'actor',
		'trace',
		'control/replicasets/default.w0-*',
		'--for',
		'8s',
		'--count',
		'100000',
		'-o',
		'json',
	]);
	await trace.says(/"span"/);
	const [atMs, killedAtMs] = [performance.now(), Date.now()];
	process.kill(stage.first.pid, 'SIGKILL');
	const tookMs = await nextWrite(stage, stage.second, atMs);
	t.log(`SIGKILL: the next write was accepted after ${Math.round(tookMs)} ms`);
	t.true(tookMs < 6_000);
	const {code, out, err} = await trace.ended;
	t.is(code, 0, err);
	t.regex(err, new RegExp(`connection was lost; it begins anew[^]*connected again: ${stage.second.url} as admin`));
	t.true(
		[...out.matchAll(/"atMs": *([\d.]+)/g)].some(([, stepMs]) => Number(stepMs) > killedAtMs + tookMs),
		'the trace goes on at the other one',
	);
	await check(t, stage, stage.second);
});

test.serial('the server that leads is paused for twice its lease: woken, it acknowledges nothing and stands by', async t => {
	const stage = await stageOf(t);
	const {first, second, acks, call} = stage;
	await pauseProcess(first.pid);
	const pausedAtMs = performance.now();
	// In its socket while it sleeps.
	const late = Array.from({length: 100}, (_, at) => call(first, 'POST', setsPath, emptySet(`late-${at}`)));
	const tookMs = await nextWrite(stage, second, pausedAtMs);
	t.log(`SIGSTOP: the next write was accepted after ${Math.round(tookMs)} ms`);
	t.true(tookMs < 6_000);
	await until('twice the lease has passed', () => performance.now() - pausedAtMs > 4_200);
	const wokenAtMs = performance.now();
	process.kill(first.pid, 'SIGCONT');
	const answers = await Promise.all(late);
	t.deepEqual(
		answers.filter(({status}) => status < 300 && status !== 0),
		[],
	);
	t.log(`the woken server answered: ${[...new Set(answers.map(({status}) => status))].join(', ')}`);
	t.false(acks.some(({door, atMs}) => door === first && atMs > wokenAtMs));
	await until('it stands by', async () => (await call(first, 'GET', setsPath)).status === 503);
	await check(t, stage, second);
});

test('while the store does not answer nobody is named as the leader, and it is said why', async t => {
	const etcd = await startEtcd(t);
	const store = `${etcd.url}/silent`;
	const first = await serve(openHome(t), store);
	const second = await serveBeside(first, openHome(t), store);
	const agent = new Agent({ca: readFileSync(path.join(first.home.home, 'ca.crt'))});
	t.teardown(() => agent.destroy());
	const told = async (door: Door, where = setsPath): Promise<string> => (await ask(agent, door, first.home.token(), 'GET', where)).text;
	await until('the standby names the leader', async () => (await told(second)).includes(`the leader is ${first.url}`));
	t.true((await told(second, '/apis/troupe.dev/v1/actors')).includes(`the leader is ${first.url}`));
	for (const member of etcd.members) await member.kill();
	const silent = 'no server leads: the store does not answer';
	for (const door of [first, second]) await until(`${door.url} says that nobody leads`, async () => (await told(door)).includes(silent));
	const {code, err} = await second.home.troupe('get', 'pods');
	t.is(code, 5);
	t.true(err.includes(silent), err);
	for (const member of etcd.members) await member.start();
	await until('one leads again', async () => (await told(first)).includes('"items"') || (await told(second)).includes('"items"'));
});
