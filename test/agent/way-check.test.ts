// What an agent tries of a way, with real connections over loopback, and what it tells of its network.

import {createServer as createHttp} from 'node:http';
import {createServer, type AddressInfo, type Server} from 'node:net';
import {once} from 'node:events';
import test, {type ExecutionContext} from 'ava';
import type {Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {WayAnswer, WayRequest} from '../../api/way-check.js';
import {createNetworkIndex} from '../../agent/network/index/network-index.js';
import {createWayCheck, type WayCheck} from '../../agent/way-check/way-check.js';
import {carryOut} from '../../agent/way-check/tries.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {aService, aSlice, notReady, ready} from './network/_network-objects.js';

async function listening(t: ExecutionContext, server: Server): Promise<number> {
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => void server.close());
	return (server.address() as AddressInfo).port;
}

/** A port at which nobody listens any more. */
async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const {port} = server.address() as AddressInfo;
	server.close();
	await once(server, 'close');
	return port;
}

function open(
	t: ExecutionContext,
	router?: number,
): {readonly check: WayCheck; readonly ask: (request: WayRequest) => Promise<Outcome<WayAnswer>>} {
	const index = createNetworkIndex();
	index.replace([
		aService('web', {clusterIP: '10.96.0.7', ports: [{port: 80}]}),
		aSlice('web', [ready('10.244.1.2'), notReady('10.244.1.3')], [{port: 8_080}]),
	]);
	const check = createWayCheck({
		settings: {node: 'here', router: router === undefined ? undefined : {host: '0.0.0.0', port: router}},
		index,
		info: {pods: 'shared', services: 'proxy'},
		// Only what is silent takes its time, and none of these is.
		clock: new ManualClock(),
		status: () => ({pid: 7, memoryBytes: 1, problems: ['one']}),
		enter: () => undefined,
		overlay: undefined,
	});
	t.teardown(check.close);
	return {check, ask: request => new Promise(resolve => check.run(request, resolve))};
}

test('connections, refused ones, and what the node has nobody for', async t => {
	t.timeout(60_000);
	const port = await listening(
		t,
		createServer(socket => socket.end()),
	);
	const {ask} = open(t);
	const outcome = await ask({
		service: {namespace: 'default', name: 'web'},
		tries: [
			{type: 'route', host: 'shop.test', path: '/'},
			{type: 'tcp', address: '127.0.0.1', port},
			{type: 'name', name: 'web.default.svc.cluster.local'},
			{type: 'tcp', address: '127.0.0.1', port: await freePort()},
		],
	});
	t.true(outcome.ok, JSON.stringify(outcome));
	if (!outcome.ok) return;
	const {tried, service, ...rest} = outcome.value;
	t.deepEqual(tried, [{ok: false, code: 'ENOTHERE'}, {ok: true}, {ok: false, code: 'ENOTHERE'}, {ok: false, code: 'ECONNREFUSED'}]);
	t.like(service?.ports[0], {port: 80, protocol: 'TCP', endpoints: [{address: '10.244.1.2', port: 8_080}]});
	t.like(service?.ports[0]?.leftOut[0], {address: '10.244.1.3', reason: 'it is not ready'});
	t.like(rest, {from: 'node', services: 'proxy', pid: 7, problems: ['one'], resolver: undefined, router: undefined});
});

test('the page of a router is told from the answer of a service', async t => {
	t.timeout(60_000);
	const port = await listening(
		t,
		createHttp((asked, answer) => {
			const page = '503 Service Unavailable: service default/web has no ready endpoint\nrequest id: r1\n';
			if (asked.url === '/none') answer.writeHead(503, {'x-request-id': 'r1', 'content-length': page.length}).end(page);
			else answer.writeHead(asked.headers.host === 'shop.test' ? 500 : 404).end('a service');
		}),
	);
	const {ask} = open(t, port);
	const outcome = await ask({
		tries: [
			{type: 'route', host: 'shop.test', path: '/none'},
			{type: 'route', host: 'shop.test', path: '/'},
		],
	});
	t.deepEqual(outcome.ok ? outcome.value.tried : outcome, [
		{ok: true, status: 503, page: '503 Service Unavailable: service default/web has no ready endpoint'},
		{ok: true, status: 500},
	]);
	t.is(outcome.ok ? outcome.value.router : '', `127.0.0.1:${port}`);
});

test('what is silent is over in time', async t => {
	const port = await listening(
		t,
		createHttp(() => undefined),
	);
	const clock = new ManualClock();
	const result = carryOut({type: 'route', address: '127.0.0.1', port, host: 'a', path: '/'}, clock);
	clock.advance(limits.wayTryMs);
	t.deepEqual(await result, {ok: false, code: 'ETIMEDOUT'});
});

test('a question that is none is refused, and so is one too many; those under way fail when the agent stops', async t => {
	t.timeout(60_000);
	// Its routes answer nothing: what is tried there is under way until it is ended.
	const router = await listening(
		t,
		createHttp(() => undefined),
	);
	const {ask, check} = open(t, router);
	t.like(await ask({tries: [{type: 'tcp', address: 'x', port: 1}]}), {ok: false, error: {code: 'ERR_BAD_REQUEST'}});
	const tries = [{type: 'route', host: 'shop.test', path: '/'}] as const;
	const all = Array.from({length: limits.wayChecks}, () => ask({tries}));
	t.like(await ask({tries}), {ok: false, error: {code: 'ERR_BUSY'}});
	check.close();
	for (const outcome of await Promise.all(all)) t.like(outcome, {ok: false, error: {code: 'ERR_RUNTIME'}});
});
