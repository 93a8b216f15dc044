import {createSocket} from 'node:dgram';
import {once} from 'node:events';
import {chmodSync, mkdtempSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {connect, createServer, type Socket} from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {Network, NetworkCommand, NetworkStatus} from '../../../actors/node/runtime/network-port.js';
import type {NetworkService} from '../../../actors/protocol/network-object.js';
import {createNodeNetwork} from '../../../agent/node-network.js';
import {endDataPlanes} from '../../../agent/network/feed/data-plane-process.js';
import {readRecord, socketOf} from '../../../agent/network/feed/record.js';
import {statOf} from '../../../agent/os/identity.js';
import {objectKey} from '../../../api/keys.js';
import type {Outcome} from '../../../api/errors.js';
import {systemClock} from '../../../system/time/clock.js';

const echo = path.join(import.meta.dirname, '_echo-data-plane.js');

type Bed = {
	readonly folder: string;
	/** An agent of this home; `identity` is of its version. */
	readonly agent: (identity?: string, main?: string) => Agent;
	readonly port: number;
};

type Agent = {
	readonly network: Network;
	readonly run: (command: NetworkCommand) => Promise<Outcome<null>>;
	/** Resolves with the first status, from now on, of which this is true. */
	readonly until: (isIt: (status: NetworkStatus) => boolean) => Promise<NetworkStatus>;
	readonly warnings: readonly string[];
};

async function bed(t: ExecutionContext): Promise<Bed> {
	const folder = path.join(mkdtempSync(path.join(os.tmpdir(), 'troupe-dp-')), 'network');
	const port = await freePort();
	const agents: Network[] = [];
	t.teardown(async () => {
		await Promise.all(agents.map(each => each.close()));
		await endDataPlanes(folder, systemClock);
		rmSync(path.dirname(folder), {recursive: true, force: true});
	});
	return {
		folder,
		port,
		agent(identity = 'one', main = echo) {
			const warnings: string[] = [];
			const settings = {identity, folder, node: 'vm', router: undefined};
			const network = createNodeNetwork({
				settings,
				clock: systemClock,
				main,
				info: {pods: 'shared', services: 'proxy'},
				onWarning: message => warnings.push(message),
			});
			agents.push(network);
			let status: NetworkStatus = {pid: undefined, memoryBytes: undefined, problems: []};
			const waiting = new Set<(status: NetworkStatus) => void>();
			network.onStatus(told => {
				status = told;
				for (const each of waiting) each(told);
			});
			return {
				network,
				warnings,
				run: command => new Promise(resolve => network.run(command, resolve)),
				until: isIt =>
					new Promise(resolve => {
						const look = (told: NetworkStatus): void => {
							if (!isIt(told)) return;
							waiting.delete(look);
							resolve(told);
						};
						waiting.add(look);
						look(status);
					}),
			};
		},
	};
}

async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const {port} = server.address() as {port: number};
	server.close();
	return port;
}

const webKey = objectKey('services', 'default', 'web');
const service = (port: number, name = 'web', namespace = 'default'): NetworkService => ({
	type: 'service',
	namespace,
	name,
	spec: {ports: [{port, protocol: 'TCP'}]},
});
const whole = (port: number): NetworkCommand => ({type: 'network.replace', changes: [{key: webKey, object: service(port)}]});

/** The pid of who answers, once one does. */
async function greeted(port: number): Promise<{readonly socket: Socket; readonly pid: number}> {
	for (;;) {
		const socket = connect(port, '127.0.0.1');
		const pid = await new Promise<number | undefined>(resolve => {
			socket.once('data', data => resolve(Number(data.toString())));
			socket.once('error', () => resolve(undefined));
			socket.once('close', () => resolve(undefined));
		});
		if (pid !== undefined) return {socket, pid};
		await new Promise(resolve => setTimeout(resolve, 10));
	}
}

const isGone = async (pid: number): Promise<void> => {
	while (![undefined, 'Z', 'X'].includes(statOf(pid)?.state)) await new Promise(resolve => setTimeout(resolve, 10));
};

test('nothing is started for what every cluster has, and the first Service of its own starts what serves it', async t => {
	const {agent, folder, port} = await bed(t);
	const {run, until} = agent();
	const dns = service(53, 'kube-dns', 'kube-system');
	t.deepEqual(await run({type: 'network.replace', changes: [{key: 'services/kube-system/kube-dns', object: dns}]}), {
		ok: true,
		value: null,
	});
	t.is(readRecord(folder).serving, undefined);
	t.deepEqual(await run({type: 'network.change', changes: [{key: webKey, object: service(port)}]}), {ok: true, value: null});
	const {pid} = await until(status => status.memoryBytes !== undefined);
	const greeting = await greeted(port);
	greeting.socket.destroy();
	t.is(pid, greeting.pid);
	t.is(statSync(folder).mode & 0o777, 0o700);
	t.is(statSync(socketOf(folder, greeting.pid)).mode & 0o777, 0o600);
});

test('it outlives its agent, and the next one of the same version adopts it with its connections', async t => {
	const {agent, port} = await bed(t);
	const first = agent();
	await first.run(whole(port));
	const {socket, pid} = await greeted(port);
	await first.network.close();
	const second = agent();
	t.deepEqual(await second.run(whole(port)), {ok: true, value: null});
	t.is((await second.until(status => status.pid !== undefined)).pid, pid);
	socket.write('still here');
	t.is(String(((await once(socket, 'data')) as [Buffer])[0]), 'still here');
	// What the next agent does not know is there no more.
	await second.run({type: 'network.replace', changes: []});
	socket.destroy();
	await t.throwsAsync(once(connect(port, '127.0.0.1'), 'connect'), {code: 'ECONNREFUSED'});
});

test('one that is killed is started again, and fed all there is', async t => {
	const {agent, port} = await bed(t);
	const {run, until} = agent();
	await run(whole(port));
	const first = await greeted(port);
	process.kill(first.pid, 'SIGKILL');
	const {pid} = await until(status => status.pid !== undefined && status.pid !== first.pid);
	const second = await greeted(port);
	second.socket.destroy();
	t.is(pid, second.pid);
	t.deepEqual(await run({type: 'network.change', changes: [{key: webKey, object: undefined}]}), {ok: true, value: null});
});

test('an agent of another version has it hand over: no connection is refused, and those there are go on', async t => {
	const {agent, port, folder} = await bed(t);
	const first = agent('one');
	await first.run(whole(port));
	const old = await greeted(port);
	const ear = createSocket('udp4').bind(0, '127.0.0.1');
	await once(ear, 'listening');
	t.teardown(() => ear.close());
	let going = true;
	const pids = new Set<number>();
	let refused = 0;
	let count = 0;
	const client = async (): Promise<void> => {
		while (going) {
			const socket = connect(port, '127.0.0.1');
			const answer = await new Promise<string>((resolve, reject) => {
				let text = '';
				socket.on('data', data => {
					text += data.toString();
					if (text.endsWith('bye')) resolve(text);
				});
				socket.once('error', reject).once('close', () => reject(new Error('closed')));
				socket.end('bye');
			}).catch(() => undefined);
			socket.destroy();
			count++;
			if (answer === undefined) refused++;
			else pids.add(Number(answer.split('\n')[0]));
		}
	};
	const clients = Array.from({length: 8}, client);
	await first.network.close();
	const second = agent('two');
	await second.run(whole(port));
	const {pid} = await second.until(status => status.pid !== undefined && status.pid !== old.pid);
	while (!pids.has(pid ?? 0)) await new Promise(resolve => setTimeout(resolve, 10));
	going = false;
	await Promise.all(clients);
	t.log(`${count} connections, ${refused} refused`);
	t.is(refused, 0);
	t.deepEqual([...pids].sort(), [old.pid, pid].sort());
	old.socket.write('goes on');
	t.is(String(((await once(old.socket, 'data')) as [Buffer])[0]), 'goes on');
	ear.send('hello', port, '127.0.0.1');
	t.is(String(((await once(ear, 'message')) as [Buffer])[0]), `${pid} hello`);
	t.deepEqual(
		readRecord(folder).others.map(each => each.pid),
		[old.pid],
	);
	old.socket.end();
	await isGone(old.pid);
});

test('a successor that does not start leaves the one before it serving', async t => {
	const {agent, port, folder} = await bed(t);
	const first = agent('one');
	await first.run(whole(port));
	const old = await greeted(port);
	await first.network.close();
	const second = agent('two', path.join(folder, 'no-such-module.js'));
	t.deepEqual(await second.run(whole(port)), {ok: true, value: null});
	const status = await second.until(({problems}) => problems.length > 0);
	t.is(status.pid, old.pid);
	t.regex(status.problems.join(), /the data plane of before goes on \(process \d+\), since another one could not take its place/);
	const still = await greeted(port);
	still.socket.destroy();
	t.is(still.pid, old.pid);
});

test('who says on its socket what is no message is cut off, and it serves on', async t => {
	const {agent, port, folder} = await bed(t);
	const {run} = agent();
	await run(whole(port));
	const {pid, socket: connection} = await greeted(port);
	connection.destroy();
	for (const words of [
		'GET / HTTP/1.1\r\n\r\n',
		Buffer.from([0, 0, 0, 2, 0x7b, 0x7d]),
		Buffer.from([0, 0, 0, 2, 0x7b, 0x7b]),
		Buffer.alloc(64, 0xff),
	]) {
		const socket = connect(socketOf(folder, pid));
		socket.resume();
		socket.end(words);
		await once(socket, 'close');
	}
	t.deepEqual(await run({type: 'network.change', changes: []}), {ok: true, value: null});
	t.is(await greeted(port).then(({socket, pid: serving}) => (socket.destroy(), serving)), pid);
});

test('a record of another process, or of nothing, is nobody', async t => {
	const {agent, port, folder} = await bed(t);
	const {run} = agent();
	await run(whole(port));
	const {serving} = readRecord(folder);
	if (serving === undefined) return t.fail('it is not recorded');
	for (const text of ['', '{', '[]', '{"bootId": 1}', JSON.stringify({bootId: 'another', serving})]) {
		writeFileSync(path.join(folder, 'record'), text);
		t.deepEqual(readRecord(folder), {serving: undefined, others: []});
	}
	process.kill(serving.pid, 'SIGKILL');
	chmodSync(folder, 0o700);
	await isGone(serving.pid);
});

test('a home whose name leaves no room for a socket is said, and costs nothing else', async t => {
	const {folder} = await bed(t);
	const problems: string[] = [];
	const settings = {
		identity: 'one',
		folder: path.join(folder, 'n'.repeat(90)),
		node: 'vm',
		router: undefined,
	};
	const network = createNodeNetwork({
		settings,
		clock: systemClock,
		info: {pods: 'shared', services: 'proxy'},
		onWarning: text => problems.push(text),
	});
	t.teardown(network.close);
	t.deepEqual(await new Promise(resolve => network.run(whole(1), resolve)), {ok: true, value: null});
	t.regex(problems.join(), /too long for a socket in it \(108 bytes, unix\(7\)\): give --home a shorter path/);
});
