import http, {type IncomingMessage, type ServerResponse} from 'node:http';
import net, {isIPv4, type AddressInfo, type LookupFunction} from 'node:net';
import {networkInterfaces} from 'node:os';
import test, {type ExecutionContext} from 'ava';
import {eventually, within} from '../../../bench/rigs/cluster/waiting.js';
import {limits} from '../../../api/limits.js';
import type {TaskOutcome} from '../../../actors/control/workflows/run-message.js';
import {isSpecialAddress} from '../../../server/workflows/called-address.js';
import {aTask, failure, taskWorld} from './_tasks.js';

type Seen = {
	readonly method: string | undefined;
	readonly url: string | undefined;
	readonly headers: IncomingMessage['headers'];
	readonly body: string;
};

/** A server on a port of its own, what it was asked, and a world that may call it. */
async function asked(t: ExecutionContext, answer: (request: IncomingMessage, response: ServerResponse) => void, lookup?: LookupFunction) {
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
	const world = taskWorld(undefined, lookup);
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

test('a name that leads to the machine itself is not called unless the list has that address, too, whatever the name says the next time', async t => {
	let looks = 0;
	const lookup: LookupFunction = (_, {all}, callback) => {
		looks++;
		if (all === true) callback(null, [{address: '127.0.0.1', family: 4}]);
		else callback(null, '127.0.0.1', 4);
	};
	const {allow, outcome, seen, url} = await asked(t, answering(200, '1'), lookup);
	const {port} = new URL(url);
	const ended = (host: string) => within('the end of the task', outcome(aTask(`http://${host}:${port}/`)));
	for (const hosts of [[`api.example.com:${port}`], [`*.example.com:${port}`, '127.0.0.1', `127.0.0.1:1`]]) {
		allow(...hosts);
		const refused = await ended('api.example.com');
		if (refused.type !== 'failed') return t.fail();
		t.is(refused.error.Error, 'States.Permissions');
		t.regex(refused.error.Cause, /^api\.example\.com leads to 127\.0\.0\.1:\d+, which belongs to this machine/);
		t.true(refused.error.Cause.includes(`troupe config set workflows.httpHosts 127.0.0.1:${port} `), refused.error.Cause);
	}
	t.deepEqual([seen, looks], [[], 2]);
	allow(`api.example.com:${port}`, `127.0.0.1:${port}`);
	t.is((await ended('api.example.com')).type, 'succeeded');
	allow(`localhost:${port}`);
	t.is((await ended('localhost')).type, 'succeeded');
	t.is(looks, 4);
});

test('addresses of the machine, its link and its cloud are special, in each form, and no others', t => {
	const special = [
		'127.0.0.1',
		'127.255.0.9',
		'0.0.0.0',
		'169.254.169.254',
		'100.100.100.200',
		'168.63.129.16',
		'::',
		'::1',
		'fe80::1',
		'fe80::1%eth0',
	];
	for (const address of [...special, 'fd00:ec2::254', '::ffff:127.0.0.1', '::ffff:a9fe:a9fe']) t.true(isSpecialAddress(address), address);
	for (const address of ['10.0.0.7', '192.168.0.1', '8.8.8.8', '::ffff:8.8.8.8', '2001:db8::1', 'fd00::1'])
		t.false(isSpecialAddress(address), address);
	for (const {address} of Object.values(networkInterfaces()).flatMap(each => each ?? [])) {
		t.true(isSpecialAddress(address), address);
		if (isIPv4(address)) t.true(isSpecialAddress(`::ffff:${address}`), address);
	}
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
