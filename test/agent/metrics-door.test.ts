// An agent's own door for scrapers.

import {mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {connect} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {metricsTokenIn, openMetricsDoor} from '../../agent/metrics-door.js';
import {metricsType} from '../../api/metrics.js';
import {createDeferred} from '../../system/time/deferred.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';

const token = 'troupe-0123456789abcdef';

async function open(t: ExecutionContext, scrape: () => Promise<string> = () => Promise.resolve('up 1\n')) {
	const door = await openMetricsDoor({host: '127.0.0.1', port: 0}, token, scrape);
	t.teardown(door.close);
	const get = (shown?: string, where = '/metrics', method = 'GET') =>
		fetch(`http://127.0.0.1:${door.port}${where}`, {method, headers: shown === undefined ? {} : {authorization: `Bearer ${shown}`}});
	return {...door, get};
}

test('an agent tells who shows its token, and of nothing but metrics', async t => {
	const {get} = await open(t);
	const told = await get(token);
	t.is(told.status, 200);
	t.is(told.headers.get('content-type'), metricsType);
	t.is(await told.text(), 'up 1\n');
	t.is((await get(token, '/metrics?x=%zz')).status, 200);
	for (const shown of [undefined, '', 'wrong', token.slice(1), `${token}x`]) t.is((await get(shown)).status, 401, shown);
	for (const where of ['/', '/metrics/', '/metrics/nodes', '/..%2fmetrics']) t.is((await get(token, where)).status, 404, where);
	for (const method of ['POST', 'PUT', 'DELETE']) t.is((await get(token, '/metrics', method)).status, 405, method);
});

test('scrapes of an agent at once share one answer', async t => {
	const answer = createDeferred<string>();
	let made = 0;
	const {port} = await open(t, () => {
		made++;
		return answer.promise;
	});
	// What comes in one piece is heard in one turn.
	const request = `GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
	const socket = connect(port, '127.0.0.1', () => socket.write(request.repeat(3)));
	t.teardown(() => socket.destroy());
	let text = '';
	socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
	await eventually('the first one is heard', () => made > 0);
	answer.resolve('one 1\n');
	await eventually(
		'all are answered',
		() => text.split('one 1\n').length === 4,
		() => text,
	);
	t.is(made, 1);
});

test('a scrape of an agent that fails is told without its cause, and made again', async t => {
	let made = 0;
	const {get} = await open(t, () => (made++ === 0 ? Promise.reject(new Error('secret detail')) : Promise.resolve('later 1\n')));
	const failed = await get(token);
	t.is(failed.status, 503);
	t.notRegex(await failed.text(), /secret/);
	t.is(await (await get(token)).text(), 'later 1\n');
});

test('rubbish at the door of an agent for scrapers harms nobody', async t => {
	const {port, get} = await open(t);
	for (const rubbish of [
		'\u0000\u0001\u0002',
		'GET\r\n\r\n',
		`GET /metrics HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(5_000)}\r\n`,
		'POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n',
	]) {
		const socket = connect(port, '127.0.0.1');
		socket.on('error', () => undefined);
		await new Promise<void>(resolve => {
			socket.once('data', () => resolve());
			socket.once('close', () => resolve());
			socket.write(rubbish);
		});
		socket.destroy();
	}
	t.is((await get(token)).status, 200);
});

test('a place that is taken is told with its flag', async t => {
	const {port} = await open(t);
	await t.throwsAsync(
		openMetricsDoor({host: '127.0.0.1', port}, token, () => Promise.resolve('')),
		{message: /--metrics: .*EADDRINUSE/},
	);
});

test('a token is made where there is none, for its owner alone, and one that is given is read', async t => {
	const folder = await mkdtemp(path.join(tmpdir(), 'troupe-metrics-'));
	t.teardown(() => rm(folder, {recursive: true, force: true}));
	const file = path.join(folder, 'metrics.token');
	await t.throwsAsync(metricsTokenIn(file, undefined), {code: 'ERR_USAGE'});
	const made = await metricsTokenIn(file, () => token);
	t.is((await readFile(file, 'utf8')).trim(), made);
	t.is((await stat(file)).mode & 0o777, 0o600);
	t.is(await metricsTokenIn(file, undefined), made);
	for (const text of ['', 'short', 'two words that are long enough', 'x'.repeat(600)]) {
		await writeFile(file, text);
		const {message} = await t.throwsAsync(
			metricsTokenIn(file, () => token),
			{code: 'ERR_USAGE'},
		);
		t.false(text !== '' && message.includes(text));
	}
});
