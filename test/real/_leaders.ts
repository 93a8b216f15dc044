// Several small servers on one etcd under load: writers that go to whoever leads, a peer that notes every order, a watch on the fence
// in the store, and a ledger of what was acknowledged.

import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import net from 'node:net';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {Etcd3} from 'etcd3';
import {metaStoreKey} from '../../api/keys.js';
import {parseEtcdUrl} from '../../system/store/etcd-url.js';
import {parseMeta} from '../../system/store/meta.js';
import type {Meta} from '../../system/store/store.js';
import {connectEtcd} from '../../system/store/etcd-client.js';
import {createEtcdStore} from '../../system/store/etcd-store.js';
import {systemClock} from '../../system/time/clock.js';
import {sumOf, type Spec} from './durability-ledger.js';
import {startOn} from './durability-start.js';
import type {Answer, Order, Request} from './leader-program.js';
import {within} from '../../bench/rigs/cluster/waiting.js';
import {pauseProcess, until} from '../../bench/rigs/servers/server.js';
import type {Owner} from '../../bench/rigs/owner.js';

const program = path.join(import.meta.dirname, 'leader-program.js');

export type Acknowledged = {
	readonly turn: number;
	readonly version: number;
	readonly epoch: number;
	readonly server: string;
	readonly atMs: number;
};

export type LeaderServer = {
	readonly name: string;
	readonly leads: () => boolean;
	/** Lines it said. */
	readonly said: readonly string[];
	readonly ask: (request: Omit<Request, 'id'>) => Promise<Answer>;
	readonly kill: () => Promise<void>;
	readonly pause: () => Promise<void>;
	readonly wake: () => void;
};

export async function startServer(t: Owner, name: string, etcdUrl: string, peerPort: number): Promise<LeaderServer> {
	const child: ChildProcess = spawn(process.execPath, [program, etcdUrl, name, String(peerPort)], {stdio: ['ignore', 'pipe', 'inherit']});
	const pid = child.pid ?? 0;
	t.teardown(async () => {
		if (child.exitCode !== null || child.signalCode !== null) return;
		const ended = once(child, 'exit');
		child.kill('SIGKILL');
		await within(`the end of ${name}`, ended);
	});
	const said: string[] = [];
	if (child.stdout === null) throw new Error('no stdout');
	createInterface(child.stdout).on('line', line => said.push(line));
	await until(`${name} has its door open`, () => said.some(line => line.startsWith('door ')));
	const port = Number(said.find(line => line.startsWith('door '))?.slice(5));
	const waiting = new Map<number, (answer: Answer) => void>();
	let ids = 0;
	const socket = net.connect(port, '127.0.0.1');
	const fail = (): void => {
		for (const [id, resolve] of waiting) resolve({id, ok: false, error: 'ERR_GONE'});
		waiting.clear();
	};
	socket.on('error', () => undefined).on('close', fail);
	createInterface(socket)
		.on('error', () => undefined)
		.on('line', line => {
			const answer = JSON.parse(line) as Answer;
			waiting.get(answer.id)?.(answer);
			waiting.delete(answer.id);
		});
	t.teardown(() => void socket.destroy());
	return {
		name,
		said,
		leads: () => said.findLast(line => /^(leading|standby) /.test(line))?.startsWith('leading ') === true,
		ask: request =>
			new Promise(resolve => {
				const id = ++ids;
				if (socket.destroyed) return resolve({id, ok: false, error: 'ERR_GONE'});
				waiting.set(id, resolve);
				socket.write(`${JSON.stringify({...request, id})}\n`);
			}),
		async kill() {
			const ended = once(child, 'exit');
			child.kill('SIGKILL');
			await within(`the end of ${name}`, ended);
		},
		pause: () => pauseProcess(pid),
		wake: () => void process.kill(pid, 'SIGCONT'),
	};
}

/** Hears what servers order, with the time. */
export async function startPeer(t: Owner): Promise<{readonly port: number; readonly orders: (Order & {readonly atMs: number})[]}> {
	const orders: (Order & {readonly atMs: number})[] = [];
	const server = net.createServer(socket => {
		socket.on('error', () => undefined);
		createInterface(socket).on('line', line => orders.push({...(JSON.parse(line) as Order), atMs: performance.now()}));
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => void server.close());
	return {port: (server.address() as net.AddressInfo).port, orders};
}

/** Every value that the fence has had, in the order of the store. */
export async function watchMeta(t: Owner, url: string): Promise<Meta[]> {
	const {hosts, prefix} = parseEtcdUrl(url);
	const etcd = new Etcd3({hosts: hosts.map(host => `http://${host}`)});
	const watch = etcd
		.watch()
		.key(prefix + metaStoreKey)
		.create();
	const watcher = await within('a watch of etcd', watch);
	const metas: Meta[] = [];
	watcher.on('error', () => undefined);
	watcher.on('put', ({value}) => {
		const meta = parseMeta(value.toString());
		if (meta !== undefined) metas.push(meta);
	});
	t.teardown(async () => {
		await watcher.cancel().catch(() => undefined);
		etcd.close();
	});
	return metas;
}

export type Load = {
	readonly last: ReadonlyMap<string, Acknowledged>;
	/** All acknowledgements, in the order in which they came. */
	readonly acks: readonly Acknowledged[];
	readonly errors: ReadonlyMap<string, number>;
	readonly stop: () => Promise<void>;
};

/** So many writers, one write open each, at whichever server takes it. */
export function startLoad(servers: () => readonly LeaderServer[], writers: number): Load {
	const last = new Map<string, Acknowledged>();
	const acks: Acknowledged[] = [];
	const errors = new Map<string, number>();
	let running = true;
	const write = async (number: number): Promise<void> => {
		let preferred = 0;
		for (let turn = 1; running; turn++) {
			const key = `w${number}`;
			const text = `${number}:${turn};`.repeat(60);
			const spec: Spec = {turn, text, sum: sumOf(text)};
			const all = servers();
			const server = all[preferred % all.length];
			if (server === undefined) return;
			const deadline = new Promise<Answer>(resolve => setTimeout(resolve, 1_000, {id: 0, ok: false, error: 'ERR_LATE'}));
			const answer = await Promise.race([server.ask({op: 'write', key, spec}), deadline]);
			if (answer.ok) {
				const ack = {turn, version: answer.version, epoch: answer.epoch, server: server.name, atMs: performance.now()};
				acks.push(ack);
				last.set(key, ack);
			} else {
				errors.set(answer.error, (errors.get(answer.error) ?? 0) + 1);
				preferred++;
				await new Promise(resolve => setTimeout(resolve, 20));
			}
		}
	};
	const ended = Promise.all(Array.from({length: writers}, (_, number) => write(number)));
	return {
		last,
		acks,
		errors,
		async stop() {
			running = false;
			await within('the last answers to the writers', ended);
		},
	};
}

/** What is wrong with what a new server finds, given what was acknowledged; and the version it is at. */
export async function compareStore(url: string, {last, acks}: Load): Promise<readonly string[]> {
	const driver = createEtcdStore(connectEtcd(url, systemClock), systemClock);
	const {pipeline, index} = await startOn(driver);
	const problems: string[] = [];
	const newest = Math.max(0, ...acks.map(({version}) => version));
	if (index.version < newest) problems.push(`the counter went back from ${newest} to ${index.version}`);
	for (const [key, {version, turn}] of last) {
		const entry = index.entry(`pods/default/${key}`);
		const spec = entry?.object.spec as Spec | undefined;
		if (entry === undefined || spec === undefined) problems.push(`${key}, version ${version}, is gone`);
		else if (entry.version < version) problems.push(`${key} went back from version ${version} to ${entry.version}`);
		else if (entry.version === version && spec.turn !== turn)
			problems.push(`${key} holds turn ${spec.turn} at version ${version}, not ${turn}`);
		else if (sumOf(spec.text) !== spec.sum) problems.push(`${key} is torn`);
	}
	await within('the pipeline to stop', new Promise<void>(resolve => pipeline.stop(resolve)));
	await driver.close();
	return problems;
}
