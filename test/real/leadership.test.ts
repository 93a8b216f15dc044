// Two servers on one etcd (Debian: etcd-server) under load: whatever befalls the one that leads, no write of it lands after the first of
// the next one, nothing acknowledged is lost, and the next write is accepted soon.

import test, {type ExecutionContext} from 'ava';
import {answers, startEtcd, type Etcd} from '../../bench/rigs/servers/etcd.js';
import {compareStore, startLoad, startPeer, startServer, watchMeta, type LeaderServer, type Load} from './_leaders.js';
import {proxyTo, until, type Proxy} from '../../bench/rigs/servers/server.js';
import type {Meta} from '../../system/store/store.js';
import {eventually, within} from '../../bench/rigs/cluster/waiting.js';

const writers = 50;

type Stage = {
	readonly etcd: Etcd;
	readonly url: string;
	readonly servers: LeaderServer[];
	readonly proxies: readonly Proxy[];
	readonly peer: Awaited<ReturnType<typeof startPeer>>;
	readonly metas: readonly Meta[];
	readonly load: Load;
	readonly leader: () => LeaderServer;
	readonly standby: () => LeaderServer;
};

/** Two servers, one of which leads and takes writes. */
async function stageOf(t: ExecutionContext, members = 1): Promise<Stage> {
	const etcd = await startEtcd(t, {members});
	const url = `${etcd.url}/cluster`;
	const metas = await watchMeta(t, url);
	const peer = await startPeer(t);
	const servers: LeaderServer[] = [];
	const proxies: Proxy[] = [];
	for (const name of ['a', 'b']) {
		const own = await Promise.all(etcd.ports.map(port => proxyTo(t, port)));
		proxies.push({
			port: 0,
			cut: () => own.forEach(proxy => proxy.cut()),
			heal: () => own.forEach(proxy => proxy.heal()),
		});
		servers.push(await startServer(t, name, `etcd://${own.map(({port}) => `127.0.0.1:${port}`).join(',')}/cluster`, peer.port));
	}
	await until('one leads', () => servers.some(server => server.leads()));
	const load = startLoad(() => servers, writers);
	t.teardown(load.stop);
	await until('every writer was heard', () => load.last.size === writers);
	const one = (leads: boolean): LeaderServer => {
		const found = servers.find(server => server.leads() === leads);
		if (found === undefined) throw new Error('no such server');
		return found;
	};
	return {etcd, url, servers, proxies, peer, metas, load, leader: () => one(true), standby: () => one(false)};
}

/** Milliseconds from the fault to the first write that another epoch accepted. */
async function nextWrite({load}: Stage, faultAtMs: number): Promise<number> {
	const epoch = load.acks.at(-1)?.epoch ?? 0;
	await until('another leader accepts a write', () => (load.acks.at(-1)?.epoch ?? 0) > epoch, 30_000);
	return (load.acks.find(ack => ack.epoch > epoch)?.atMs ?? 0) - faultAtMs;
}

/** Ends the load and looks at everything: the fence's history, the acknowledgements, the orders and the store. */
async function check(t: ExecutionContext, stage: Stage): Promise<void> {
	const {load, metas, peer, url} = stage;
	await load.stop();
	const backwards = metas.filter(({epoch}, at) => epoch < (metas[at - 1]?.epoch ?? 0));
	t.deepEqual(backwards, [], 'a write of an earlier epoch landed after one of a later');
	const versions = metas.map(({version}) => version);
	t.deepEqual(
		versions,
		versions.toSorted((a, b) => a - b),
	);
	const problems = await compareStore(url, load);
	t.deepEqual(problems, []);
	t.log(`${load.acks.length} acknowledged writes, ${peer.orders.length} orders; errors: ${errorsOf(load)}`);
}

const errorsOf = ({errors}: Load): string => JSON.stringify(Object.fromEntries(errors));
const toldBy = ({name, said}: LeaderServer): string => `${name} said last: ${said.slice(-5).join(', ')}`;

const timed = (t: ExecutionContext, what: string, ms: number): void => {
	t.log(`${what}: the next write was accepted after ${Math.round(ms)} ms`);
	// The goal is 3 s; a loaded machine has its bad moments.
	t.true(ms < 6_000, `${ms} ms`);
};

test.serial('a leader that is killed is replaced within its lease, five times', async t => {
	const stage = await stageOf(t);
	for (let life = 0; life < 5; life++) {
		const leader = stage.leader();
		await until('both are there', () => stage.servers.every(server => server.said.length > 0));
		const atMs = performance.now();
		await leader.kill();
		timed(t, 'SIGKILL', await nextWrite(stage, atMs));
		const place = stage.servers.indexOf(leader);
		stage.servers[place] = await startServer(t, leader.name, stage.url, stage.peer.port);
	}
	await check(t, stage);
});

test.serial('a leader that is paused for twice its lease with 500 effects waiting emits none of them when it wakes', async t => {
	const stage = await stageOf(t);
	const [old, next] = [stage.leader(), stage.standby()];
	for (let at = 0; at < 500; at++) t.like(await old.ask({op: 'write', key: `armed-${at}`, spec: {turn: 0, text: '', sum: ''}}), {ok: true});
	const armed = await Promise.all(Array.from({length: 500}, (_, at) => old.ask({op: 'arm', key: `armed-${at}`})));
	t.true(armed.every(({ok}) => ok));
	await old.pause();
	const pausedAtMs = performance.now();
	const ordersThen = stage.peer.orders.length;
	// Five hundred more wait in its socket.
	const late = Array.from({length: 500}, (_, at) => old.ask({op: 'write', key: `armed-${at}`, spec: {turn: 1, text: '', sum: ''}}));
	timed(t, 'SIGSTOP', await nextWrite(stage, pausedAtMs));
	await until('the other one says that it leads', next.leads);
	await until('twice the lease has passed', () => performance.now() - pausedAtMs > 4_200);
	const ofOld = (): number => stage.peer.orders.filter(({server, atMs}) => server === old.name && atMs > pausedAtMs + 100).length;
	t.is(ofOld(), 0);
	const wokenAtMs = performance.now();
	old.wake();
	const outcomes = await within('the woken one to answer what waited in its socket', Promise.all(late));
	t.deepEqual(
		outcomes.filter(({ok}) => ok),
		[],
		'a write was acknowledged by the woken server',
	);
	await until('it has noticed', () => !old.leads());
	await until('its timers would have rung', () => performance.now() - wokenAtMs > 1_500);
	t.is(ofOld(), 0, 'an order of the woken server');
	t.is(stage.peer.orders.filter(({server, order}) => server === old.name && order.startsWith('armed ')).length, 0);
	t.true(stage.peer.orders.length > ordersThen);
	t.false(stage.load.acks.some(({server, atMs}) => server === old.name && atMs > wokenAtMs));
	await check(t, stage);
});

test.serial('a leader that is cut off from etcd stops by itself before another leads', async t => {
	const stage = await stageOf(t);
	const [old, next] = [stage.leader(), stage.standby()];
	const proxy = stage.proxies[stage.servers.indexOf(old)];
	const atMs = performance.now();
	proxy?.cut();
	await until('it has stepped down', () => !old.leads());
	const stoppedAfterMs = performance.now() - atMs;
	t.false(next.leads());
	t.log(`stepped down after ${Math.round(stoppedAfterMs)} ms`);
	t.true(stoppedAfterMs < 2_000);
	timed(t, 'cut off', await nextWrite(stage, atMs));
	proxy?.heal();
	await until('the old one has heard who leads', () => !old.leads());
	// And it can lead again.
	const again = performance.now();
	await next.kill();
	timed(t, 'back again', await nextWrite(stage, again));
	await until('the old one says that it leads', old.leads);
	stage.servers.splice(stage.servers.indexOf(next), 1);
	await check(t, stage);
});

test.serial('etcd itself is killed and comes back: writes fail clearly meanwhile, and go on afterwards', async t => {
	const stage = await stageOf(t);
	await stage.etcd.members[0]?.kill();
	const before = stage.load.acks.length;
	await until('writes fail', () => (stage.load.errors.get('ERR_STANDBY') ?? 0) > 50);
	t.true(stage.load.acks.length - before <= writers);
	const atMs = performance.now();
	await stage.etcd.members[0]?.start();
	await answers(stage.etcd.url);
	timed(t, 'etcd is back', await nextWrite(stage, atMs));
	await check(t, stage);
});

test.serial('etcd loses its quorum and finds it again: nobody leads meanwhile, and nothing is lost', async t => {
	const stage = await stageOf(t, 3);
	await Promise.all([stage.etcd.members[1]?.kill(), stage.etcd.members[2]?.kill()]);
	await until('nobody leads', () => stage.servers.every(server => !server.leads()));
	await until('writes are refused', () => (stage.load.errors.get('ERR_STANDBY') ?? 0) > 50);
	const atMs = performance.now();
	await Promise.all([stage.etcd.members[1]?.start(), stage.etcd.members[2]?.start()]);
	await answers(stage.etcd.url);
	timed(t, 'the quorum is back', await nextWrite(stage, atMs));
	await check(t, stage);
});

test.serial('one of three members of etcd dies: the same cluster goes on', async t => {
	const stage = await stageOf(t, 3);
	for (const gone of [0, 1, 2]) {
		const before = stage.load.acks.length;
		const atMs = performance.now();
		await stage.etcd.members[gone]?.kill();
		const more = (): number => stage.load.acks.length - before - writers;
		await eventually(
			'a hundred more writes are accepted',
			() => more() > 100,
			() => `There were ${more()}. ${stage.servers.map(toldBy).join('; ')}; errors: ${errorsOf(stage.load)}`,
		);
		t.log(`member ${gone}: a hundred more writes after ${Math.round(performance.now() - atMs)} ms`);
		await stage.etcd.members[gone]?.start();
		await answers(`etcd://127.0.0.1:${stage.etcd.ports[gone]}`);
	}
	await check(t, stage);
});
