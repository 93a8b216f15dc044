// `troupe port-forward` on a whole cluster: both directions, large answers, a half-closed connection, what nobody listens to, and its end.

import {connect} from 'node:net';
import test from 'ava';
import {podOf} from '../../bench/rigs/cluster/manifests.js';
import {pidsWhenRunning} from '../../bench/rigs/cluster/pods.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {openHome} from './_rig.js';

/** At its port 20 MB for whoever asks; at the next all it hears when that ends. */
const program = (port: number): string => `
	const large = Buffer.alloc(20_000_000, 'x');
	require('http').createServer((asked, answer) => answer.end(asked.url === '/large' ? large : 'small')).listen(${port}, process.env.POD_IP);
	require('net').createServer({allowHalfOpen: true}, socket => {
		const heard = [];
		socket.on('error', () => {}).on('data', data => heard.push(data)).on('end', () => socket.end(Buffer.concat(heard)));
	}).listen(${port + 1}, process.env.POD_IP);
`;

const halfClosed = (at: number, text: string): Promise<string> =>
	new Promise((resolve, reject) => {
		let heard = '';
		const socket = connect({host: '127.0.0.1', port: at, allowHalfOpen: true}, () => socket.end(text));
		socket
			.on('data', data => (heard += data.toString()))
			.on('end', () => resolve(heard))
			.on('error', reject);
	});

test('ports lead to a pod, byte for byte, until it is told to end', async t => {
	t.timeout(60_000);
	const cluster = openHome(t);
	await cluster.up('--store=memory');
	await cluster.apply(podOf('web', [process.execPath, '-e', program(8_000)]));
	await pidsWhenRunning(await cluster.client(), 'web');
	const forwarding = cluster.start(['port-forward', 'pod/web', ':8000', ':8001', ':8002']);
	const said = await forwarding.says(/(Forwarding from \S+ -> \d+\n){3}/);
	const places = [...said.matchAll(/^Forwarding from 127\.0\.0\.1:(\d+) -> \d+$/gm)].map(([, port]) => Number(port));
	const [http = 0, echo = 0, none = 0] = places;
	await eventually(
		'it answers',
		async () =>
			(await fetch(`http://127.0.0.1:${http}/`).then(
				answer => answer.text(),
				() => '',
			)) === 'small',
	);
	t.is((await (await fetch(`http://127.0.0.1:${http}/large`)).text()).length, 20_000_000);
	t.is(await halfClosed(echo, 'x'.repeat(300_000)), 'x'.repeat(300_000));
	await t.throwsAsync(fetch(`http://127.0.0.1:${none}/`));
	await forwarding.notes(/error: port 8002: /);
	t.is(await halfClosed(echo, 'and others go on'), 'and others go on');

	forwarding.kill('SIGINT');
	t.is((await forwarding.ended).code, 130);

	const absent = await cluster.troupe('port-forward', 'web', '1:nosuch');
	t.is(absent.code, 1);
	t.regex(absent.err, /pod "web" has no port named "nosuch"/);
});
