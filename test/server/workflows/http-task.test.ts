import http, {type IncomingMessage, type ServerResponse} from 'node:http';
import net, {type AddressInfo} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {eventually, within} from '../../../bench/rigs/cluster/waiting.js';
import {limits} from '../../../api/limits.js';
import type {TaskOutcome} from '../../../actors/control/workflows/run-message.js';
import {aTask, failure, taskWorld} from './_tasks.js';

type Seen = {
	readonly method: string | undefined;
	readonly url: string | undefined;
	readonly headers: IncomingMessage['headers'];
	readonly body: string;
};

/** A server on a port of its own, what it was asked, and a world that may call it. */
async function asked(t: ExecutionContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
	const seen: Seen[] = [];
	const connections = new Set<net.Socket>();
	const server = http.createServer((request, response) => {
		let body = '';
		request.setEncoding('utf8').on('data', (piece: string) => void (body += piece));
		request.on('end', () => {
			const {method, url, headers} = request;
			seen.push({method, url, headers, body});
			answer(request, response);
		});
	});
	server.on('connection', connection => {
		connections.add(connection);
		connection.once('close', () => connections.delete(connection));
	});
	await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	const {port} = server.address() as AddressInfo;
	const world = taskWorld();
	world.allow(`127.0.0.1:${port}`);
	const url = `http://127.0.0.1:${port}/orders?a=b`;
	return {
		...world,
		seen,
		url,
		posted: (): Promise<TaskOutcome> => within('the end of the task', world.outcome(aTask(url))),
		noneIsOpen: () => eventually('no connection is open', () => connections.size === 0),
	};
}

const answering =
	(status: number, body: string | Buffer, headers: http.OutgoingHttpHeaders = {}) =>
	(_: IncomingMessage, response: ServerResponse) =>
		void response.writeHead(status, headers).end(body);

test('the input is posted to the URL, with the key of the attempt and nothing of the cluster, and the answer is the result', async t => {
	const {posted, seen, noneIsOpen, tasks} = await asked(t, answering(201, '{"id":"p-1"}'));
	t.deepEqual(await posted(), {type: 'succeeded', output: {id: 'p-1'}});
	const [{method, url, headers, body} = {} as Seen] = seen;
	t.deepEqual([method, url, body], ['POST', '/orders?a=b', '{"order":7}']);
	t.deepEqual(Object.keys(headers).sort(), ['accept', 'connection', 'content-length', 'content-type', 'host', 'idempotency-key']);
	t.deepEqual([headers['content-type'], headers['idempotency-key']], ['application/json', 'run-1/1-Charge.1']);
	await noneIsOpen();
	t.deepEqual(tasks.counts(), {attempts: 0, underWay: 0, waiting: 0, followed: 0});
});

test('an answer over HTTP may be a text or nothing', async t => {
	t.deepEqual(await (await asked(t, answering(200, 'grüße'))).posted(), {type: 'succeeded', output: 'grüße'});
	t.deepEqual(await (await asked(t, answering(204, ''))).posted(), {type: 'succeeded', output: null});
});

test('a status that is an error fails the task, with what the server says', async t => {
	const {posted} = await asked(t, answering(404, 'no such order'));
	t.deepEqual(await posted(), failure('Http.Status404', 'the server answered with status 404: no such order'));
	t.deepEqual(await (await asked(t, answering(503, ''))).posted(), failure('Http.Status503', 'the server answered with status 503'));
});

test('a redirect is not followed', async t => {
	const {posted, seen} = await asked(
		t,
		(request, response) => void response.writeHead(307, {location: `http://${request.headers.host ?? ''}/else`}).end(),
	);
	const ended = await posted();
	if (ended.type !== 'failed') t.fail();
	else {
		t.is(ended.error.Error, 'Http.Status307');
		t.regex(ended.error.Cause, /redirects are not followed, here to http:\/\/127\.0\.0\.1:\d+\/else$/);
	}
	t.is(seen.length, 1);
});

test('no more of an answer is read than may be kept, of an error as of a result', async t => {
	const endless = (status: number) => (_: IncomingMessage, response: ServerResponse) => {
		response.writeHead(status);
		const write = (): void => {
			while (!response.destroyed && response.write('x'.repeat(65_536)));
		};
		response.on('drain', write);
		write();
	};
	const large = await asked(t, endless(200));
	t.deepEqual(await large.posted(), failure('States.DataLimitExceeded', 'the answer has more than 262144 bytes'));
	await large.noneIsOpen();
	const wrong = await asked(t, endless(500));
	const ended = await wrong.posted();
	if (ended.type === 'failed') t.deepEqual([ended.error.Error, ended.error.Cause.length], ['Http.Status500', limits.statesCauseCharacters]);
	else t.fail();
	await wrong.noneIsOpen();
});

test('an answer that is encoded, broken off, of another protocol or none at all is no result', async t => {
	const encoded = await asked(t, answering(200, Buffer.from([0x1f, 0x8b]), {'content-encoding': 'gzip'}));
	t.deepEqual(await encoded.posted(), failure('Http.BadAnswer', 'the answer is encoded (content-encoding: gzip), which was not asked for'));
	for (const answer of [
		(request: IncomingMessage) => void request.socket.destroy(),
		(_: IncomingMessage, response: ServerResponse) => {
			response.writeHead(200, {'content-length': 100});
			response.write('{"id":');
			setImmediate(() => response.destroy());
		},
		(request: IncomingMessage) => void request.socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: a\r\nconnection: upgrade\r\n\r\n'),
		(request: IncomingMessage) => void request.socket.end('no HTTP\r\n\r\n'),
	]) {
		const {posted, noneIsOpen} = await asked(t, answer);
		const ended = await posted();
		if (ended.type === 'failed') t.is(ended.error.Error, 'Http.ConnectionFailed', ended.error.Cause);
		else t.fail(JSON.stringify(ended));
		await noneIsOpen();
	}
});

test('a host that nobody listens at fails the task, and says so', async t => {
	const {outcome, allow} = taskWorld();
	const server = net.createServer();
	await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
	const {port} = server.address() as AddressInfo;
	await new Promise<void>(resolve => void server.close(() => resolve()));
	allow(`127.0.0.1:${port}`);
	const ended = await outcome(aTask(`http://127.0.0.1:${port}/`));
	if (ended.type !== 'failed') t.fail();
	else {
		t.is(ended.error.Error, 'Http.ConnectionFailed');
		t.regex(ended.error.Cause, /ECONNREFUSED/);
	}
});

test('a host that the cluster does not allow is not called, and the cause says what to set', async t => {
	const {allow, posted, seen, url} = await asked(t, answering(200, ''));
	const {host} = new URL(url);
	const refused = async (): Promise<void> => {
		const ended = await posted();
		if (ended.type !== 'failed') return t.fail();
		t.is(ended.error.Error, 'States.Permissions');
		t.true(ended.error.Cause.includes(`troupe config set workflows.httpHosts ${host} `), ended.error.Cause);
	};
	allow();
	await refused();
	allow('127.0.0.1', '*.0.0.1', 'localhost', 'api.example.com');
	await refused();
	t.deepEqual(seen, []);
	allow(host);
	t.is((await posted()).type, 'succeeded');
});

test('a request that takes too long, or that nobody waits for any more, is cut', async t => {
	const {posted, seen, clock, noneIsOpen, outcome, stop, url} = await asked(t, () => undefined);
	const late = posted();
	await eventually('it was asked', () => seen.length === 1);
	clock.advance(limits.workflowHttpMs);
	t.deepEqual(await late, failure('Http.Timeout', `${url} did not answer within 900 s`));
	await noneIsOpen();
	const stopped = outcome(aTask(url));
	await eventually('it was asked again', () => seen.length === 2);
	await stop(aTask('').key);
	t.is((await stopped).type, 'failed');
	await noneIsOpen();
	t.is(clock.nextAtMs(), undefined);
});

test('at the end of a term requests are cut, also in the middle of their answers', async t => {
	const {outcome, tasks, seen, noneIsOpen, problems, url, clock} = await asked(t, (_, response) => void response.writeHead(200).write('{'));
	void outcome(aTask(url));
	await eventually('it was asked', () => seen.length === 1);
	tasks.close();
	await noneIsOpen();
	t.deepEqual([problems, clock.nextAtMs()], [[], undefined]);
});
