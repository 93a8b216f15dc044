// A cluster that is stopped and started again, under people who ask all the time: its port refuses, says 503 or answers, and fails no
// handshake; two stock mosquitto_sub, one plain and one over TLS, find it again each time.

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import https from 'node:https';
import type {IncomingMessage} from 'node:http';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {openHome, type Home} from '../e2e/_rig.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';

const restarts = 3;
const filter = 'troupe/v1/objects/namespaces/#';
const portOf = (url: string): string => new URL(url).port;

/** One that prints each object it is told of. */
function subscribe(t: ExecutionContext, home: Home, place: readonly string[]) {
	const login = ['-u', 'admin', '-P', home.token()];
	const child = spawn('mosquitto_sub', [...place, ...login, '-t', filter, '-F', '%t']);
	let heard = '';
	let ended: string | undefined;
	for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (heard += chunk.toString()));
	child.once('close', code => (ended = `ended with ${code}: ${heard}`));
	t.teardown(() => child.kill('SIGKILL'));
	return {
		hears: (name: string) =>
			eventually(
				`mosquitto_sub ${place.join(' ')} hears of ${name}`,
				() => heard.includes(`/${name}\n`),
				() => ended ?? heard,
				40_000,
			),
	};
}

/** What a request of its own comes to: a status, or the code of its error. */
async function outcomeAt(url: string, token: string): Promise<string> {
	const options = {rejectUnauthorized: false, agent: false, headers: {authorization: `Bearer ${token}`}, timeout: 20_000};
	try {
		const [answer] = (await once(https.get(`${url}/api/v1/nodes`, options), 'response')) as [IncomingMessage];
		answer.on('error', () => undefined).resume();
		await once(answer, 'close');
		return String(answer.statusCode);
	} catch (error) {
		return (error as NodeJS.ErrnoException).code ?? String(error);
	}
}

test('over restarts no handshake fails, and tools find the cluster again', async t => {
	t.timeout(240_000);
	const home = openHome(t);
	const {api, mqtt} = await home.up();
	const places = [`--api=127.0.0.1:${portOf(api)}`, `--mqtt=127.0.0.1:${portOf(mqtt)}`];
	const tools = [
		subscribe(t, home, ['-h', '127.0.0.1', '-p', portOf(mqtt)]),
		subscribe(t, home, ['-h', 'localhost', '-p', portOf(api), '--cafile', path.join(home.home, 'ca.crt'), '--tls-alpn', 'mqtt']),
	];
	const token = home.token();
	const outcomes = new Map<string, number>();
	let isOver = false;
	t.teardown(() => void (isOver = true));
	const asking = (async () => {
		while (!isOver) {
			const outcome = await outcomeAt(api, token);
			outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
			await new Promise(setImmediate);
		}
	})();
	for (let restart = 1; restart <= restarts; restart += 1) {
		await home.fine('down');
		await home.fine('up', '--detach', '--node=vm', '--web=127.0.0.1:0', ...places);
		await home.apply({apiVersion: 'v1', kind: 'Namespace', metadata: {name: `after-${restart}`}});
		await Promise.all(tools.map(({hears}) => hears(`after-${restart}`)));
	}
	isOver = true;
	await asking;
	t.log([...outcomes].map(([outcome, count]) => `${count} × ${outcome}`).join(', '));
	// A connection that the closing port had taken and not answered yet is reset.
	const fine = ['200', '503', 'ECONNREFUSED', 'ECONNRESET'];
	t.deepEqual(
		[...outcomes.keys()].filter(outcome => !fine.includes(outcome)),
		[],
	);
	t.true((outcomes.get('200') ?? 0) > 0);
});
