// Routes to functions: called by host name through the node's router, beside a Service, and while the cluster is dead.

import {request} from 'node:http';
import path from 'node:path';
import test from 'ava';
import {parsedJson} from '../../api/value-or.js';
import {readRecord} from '../../agent/network/feed/record.js';
import {homeOf} from '../../cli/files/home.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {deploy} from './_functions.js';
import {root} from './_readme.js';
import {openHome} from './_rig.js';

/** Of its own loopback address, where nobody else listens. */
const router = {host: '127.0.0.94', port: 18_094};

type Seen = {readonly n: number; readonly path: string; readonly headers: Record<string, string>};
type Answer = {readonly status: number; readonly text: string; readonly retryAfter: string | undefined};

/** By POST. */
const asked = (target: string, body: unknown = {}, host = 'fn.test'): Promise<Answer> =>
	new Promise((resolve, reject) => {
		const headers = {host, authorization: 'Bearer of-the-client', 'content-type': 'application/json'};
		const call = request({...router, path: target, method: 'POST', headers, agent: false}, answer => {
			let text = '';
			answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
			answer.once('end', () => resolve({status: answer.statusCode ?? 0, text, retryAfter: answer.headers['retry-after']}));
			answer.once('error', reject);
		});
		call.once('error', reject);
		call.end(JSON.stringify(body));
	});

const seenBy = ({text}: Pick<Answer, 'text'>): Seen => parsedJson(text) as Seen;

/** A server gives each call an id. */
const byServer = ({headers}: Seen): boolean => 'x-request-id' in headers;

test('a function answers at its route, also from a warm instance while the cluster is dead, and by the next cluster', async t => {
	t.timeout(120_000);
	const home = openHome(t);
	const flag = `--router=${router.host}:${router.port}`;
	await home.up(flag);
	await deploy(home, 'hello', 'export default ({n}, {path, headers}) => ({n, path, headers});\n');
	await home.fine('apply', '-f', path.join(root, 'examples/service.yaml'));
	const mixed = [
		{svcName: 'shop', svcPort: 8000},
		{funcName: 'hello', weight: 1},
	];
	await home.apply({
		apiVersion: 'troupe.dev/v1',
		kind: 'Dns',
		metadata: {name: 'fn'},
		spec: {
			host: 'fn.test',
			paths: [
				{subPath: '/', funcName: 'hello'},
				{subPath: '/none', funcName: 'none'},
				{subPath: '/mixed', backends: mixed},
			],
		},
	});
	t.regex(await home.fine('get', 'dnses'), /^fn +fn\.test +\/=function\/hello,\/none=function\/none,\/mixed=shop:8000\|function\/hello /m);
	await eventually('the router listens', () =>
		asked('/').then(
			({status}) => status === 200,
			() => false,
		),
	);

	const first = seenBy(await asked('/api/x?y=z', {n: 1}));
	t.like(first, {n: 1, path: '/api/x?y=z'});
	t.like(first.headers, {host: 'fn.test', authorization: 'Bearer of-the-client', 'x-forwarded-host': 'fn.test'});
	t.true(byServer(first));
	const none = await asked('/none');
	t.deepEqual([none.status, none.text.split('\n')[0]], [404, '404 Not Found: there is no function default/none']);
	const answers = new Set<string>();
	await eventually('service and function share a path', async () => {
		const {status, text} = await asked('/mixed');
		if (status === 200) answers.add(text.startsWith('hello from shop-') ? 'service' : seenBy({text}).path);
		return answers.size === 2;
	});
	t.deepEqual([...answers].sort(), ['/mixed', 'service']);

	const {serving} = readRecord(homeOf(home.home).network);
	await home.killCluster();
	for (let n = 0; n < 20; n++) {
		const answer = await asked('/api', {n});
		t.is(answer.status, 200, answer.text);
		const seen = seenBy(answer);
		t.like(seen, {n, path: '/api'});
		t.false(byServer(seen));
		t.like(seen.headers, {host: 'fn.test', authorization: 'Bearer of-the-client', 'x-forwarded-host': 'fn.test'});
	}
	const away = await asked('/none');
	t.deepEqual([away.status, away.retryAfter], [503, '1']);

	let isUp = false;
	const statuses: number[] = [];
	const during = (async () => {
		while (!isUp) statuses.push((await asked('/', {n: 1})).status);
	})();
	await home.up(flag);
	await eventually('the next cluster makes the calls', async () => byServer(seenBy(await asked('/', {n: 2}))));
	isUp = true;
	await during;
	t.deepEqual(
		statuses.filter(status => status !== 200),
		[],
		`of ${statuses.length} calls`,
	);
	t.is(readRecord(homeOf(home.home).network).serving?.pid, serving?.pid, 'the same process serves');
	await home.killCluster();
	t.false(byServer(seenBy(await asked('/', {n: 3}))), 'it was told anew of what is ready');
	await home.up(flag);
	await home.fine('down', '--pods');
	t.deepEqual(home.processes(), []);
});
