// The real kubectl 1.32 forwards ports of pods, over WebSockets and over SPDY, and nothing is left of it.

import {readFileSync} from 'node:fs';
import {request} from 'node:http';
import {connect} from 'node:net';
import path from 'node:path';
import {pidsWhenRunning} from '../../../bench/rigs/cluster/pods.js';
import {podOf} from '../../../bench/rigs/cluster/manifests.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {real, withKubectl} from '../_kubectl.js';

/** On a shared network each has its own. */
const portOf = (offset: number): number => 8_000 + (process.pid % 20_000) + offset;

/** Says how much it was given; at `/large` 20 MB; in the place of HTTP, at the port above, all it hears when that ends. */
const program = (port: number): string => `
	const large = Buffer.alloc(20_000_000, 'x');
	require('http').createServer((asked, answer) => {
		let bytes = 0;
		asked.on('data', data => (bytes += data.length)).on('end', () => answer.end(asked.url === '/large' ? large : String(bytes)));
	}).listen(${port}, '127.0.0.1');
	require('net').createServer({allowHalfOpen: true}, socket => {
		const heard = [];
		socket.on('error', () => {}).on('data', data => heard.push(data)).on('end', () => socket.end(Buffer.concat(heard)));
	}).listen(${port + 1}, '0.0.0.0');
`;

/** The length of the answer, and its beginning. */
const ask = (at: number, url: string, body: Buffer = Buffer.alloc(0)): Promise<readonly [bytes: number, text: string]> =>
	new Promise((resolve, reject) => {
		const asked = request({host: '127.0.0.1', port: at, path: url, method: 'POST', agent: false}, answer => {
			const chunks: Buffer[] = [];
			answer.on('data', (chunk: Buffer) => chunks.push(chunk));
			answer.on('end', () => resolve([Buffer.concat(chunks).length, Buffer.concat(chunks).toString('latin1', 0, 20)]));
		});
		asked.on('error', reject).end(body);
	});

const halfClosed = (at: number, text: string): Promise<string> =>
	new Promise((resolve, reject) => {
		let heard = '';
		const socket = connect({host: '127.0.0.1', port: at, allowHalfOpen: true}, () => socket.end(text));
		socket
			.on('data', data => (heard += data.toString()))
			.on('end', () => resolve(heard))
			.on('error', reject);
	});

const listening = '0A';
const established = '01';

/** Sockets of the pod's two ports in that state. */
const sockets = (port: number, state: string): number => {
	const ends = [port, port + 1].map(each => `:${each.toString(16).toUpperCase().padStart(4, '0')}`);
	const lines = readFileSync('/proc/net/tcp', 'latin1').split('\n');
	return lines.filter(line => ends.some(end => new RegExp(`: \\w{8}${end} \\S+ ${state} `).test(line))).length;
};

for (const [way, isWebSocket, port] of [
	['WebSockets', 'true', portOf(0)],
	['SPDY', 'false', portOf(2)],
] as const)
	real(`over ${way} bytes come whole both ways, ends by half, many at once, and nothing is left`, async t => {
		const {cluster} = await withKubectl(t);
		const client = await cluster.client();
		await cluster.apply(podOf('web', [process.execPath, '-e', program(port)]));
		await pidsWhenRunning(client, 'web');
		await eventually('the program to listen', () => sockets(port, listening) === 2);
		const open = (): number => sockets(port, established);
		const env = {KUBECONFIG: path.join(cluster.home, 'kubeconfig'), KUBECTL_PORT_FORWARD_WEBSOCKETS: isWebSocket};
		const ports = [`:${port}`, `:${port + 1}`];
		const start = (...more: readonly string[]) => cluster.startProgram('kubectl', ['port-forward', 'pod/web', ...ports, ...more], env);
		const forwarding = start();
		const said = await forwarding.says(new RegExp(`127\\.0\\.0\\.1:\\d+ -> ${port + 1}`));
		const [at = 0, beside = 0] = [...said.matchAll(/127\.0\.0\.1:(\d+) ->/g)].map(found => Number(found[1]));
		t.deepEqual(await ask(at, '/', Buffer.alloc(5_000_000)), [7, '5000000']);
		t.deepEqual(await ask(at, '/large'), [20_000_000, 'x'.repeat(20)]);
		t.is(await halfClosed(beside, 'said and done'), 'said and done');
		const many = await Promise.all(Array.from({length: 40}, (_, i) => ask(at, '/', Buffer.alloc(i))));
		t.deepEqual(
			many.map(([, text]) => text),
			Array.from({length: 40}, (_, i) => String(i)),
		);
		await eventually('all connections to be closed', () => open() === 0);
		const lasting = connect(beside, '127.0.0.1').on('error', () => undefined);
		await eventually('it to be connected', () => open() > 0);
		forwarding.kill('SIGINT');
		await forwarding.ended;
		await eventually('its connection to be closed', () => open() === 0);
		lasting.destroy();
	});

real('a port at which nothing listens is told, and one of the host is none of the pod', async t => {
	const {cluster, start} = await withKubectl(t);
	await cluster.apply(podOf('web', ['sleep', '100000']));
	await pidsWhenRunning(await cluster.client(), 'web');
	// The door of the cluster itself listens there.
	const api = /https:\/\/[^:]+:(\d+)/.exec(readFileSync(path.join(cluster.home, 'kubeconfig'), 'utf8'))?.[1] ?? '';
	const forwarding = start('port-forward', 'pod/web', `:${api}`);
	const said = await forwarding.says(/127\.0\.0\.1:\d+ ->/);
	const at = Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
	await t.throwsAsync(ask(at, '/'));
	const {err} = await forwarding.ended;
	t.regex(err, /cannot be reached: connection refused, no program of the pod listens there/);
	t.regex(err, /lost connection to pod/);
});
