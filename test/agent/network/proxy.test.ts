import {connect, createServer, type Server, type Socket} from 'node:net';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import test, {type ExecutionContext} from 'ava';
import {createAffinity} from '../../../agent/network/proxy/affinity.js';
import {createHeldBytes} from '../../../agent/network/proxy/held-bytes.js';
import {limits} from '../../../api/limits.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {aService, aSlice, noService, noSlice, ready, servicePort} from './_network-objects.js';
import {proxyWorld} from './_proxy-world.js';

/** A Service before servers of the test's own. */
const world = (t: ExecutionContext) => {
	const inner = proxyWorld(clean => t.teardown(clean));
	const {rig} = inner;
	const clusterIP = rig.nextClusterIP();
	const port = rig.nextPort();
	const slice = (...addresses: readonly string[]) =>
		aSlice(
			'web',
			addresses.map(address => ready(address)),
			[{port}],
		);
	const [one = '', two = '', three = ''] = rig.pods.map(({address}) => address);
	const service = aService('web', {clusterIP, ports: [{port: servicePort}]});
	const at = {address: rig.addressOf(clusterIP), port: servicePort};
	const key = `default/web/TCP/${servicePort}`;
	return {...inner, service, slice, port, at, key, pods: {one, two, three}};
};

const listening = async (t: ExecutionContext, address: string, port: number, onConnection: (socket: Socket) => void): Promise<Server> => {
	const server = createServer({allowHalfOpen: true}, socket => onConnection(socket.on('error', () => undefined)));
	await new Promise<void>(resolve => void server.listen(port, address, resolve));
	t.teardown(() => void server.close());
	return server;
};

const dialled = async (t: ExecutionContext, {address, port}: {address: string; port: number}): Promise<Socket> => {
	const socket = connect({host: address, port, allowHalfOpen: true}).on('error', () => undefined);
	t.teardown(() => void socket.destroy());
	await new Promise<void>(resolve => void socket.once('connect', resolve));
	return socket;
};

const allOf = async (socket: Socket): Promise<number> => {
	let bytes = 0;
	for await (const chunk of socket) bytes += (chunk as Buffer).length;
	return bytes;
};

test('each direction ends by itself, and all bytes of both arrive', async t => {
	const {rig, service, slice, port, at, proxy, key, pods} = world(t);
	const size = 3_000_000;
	let received = 0;
	// It answers only when the client has said all.
	await listening(t, pods.one, port, socket =>
		socket.on('data', chunk => (received += chunk.length)).on('end', () => void socket.end(Buffer.alloc(size))),
	);
	await rig.apply([service, slice(pods.one)]);
	const client = await dialled(t, at);
	client.end(Buffer.alloc(size));
	t.is(await allOf(client), size);
	t.is(received, size);
	const counts = proxy.counters(key);
	t.deepEqual([counts?.connections, counts?.bytesIn, counts?.bytesOut], [1, size, size]);
});

test('a reader that does not read stops the writer at the other end, in both directions', async t => {
	const {rig, service, slice, port, at, pods} = world(t);
	const most = 256 * 1_048_576;
	const servers: Socket[] = [];
	await listening(t, pods.one, port, socket => void servers.push(socket.pause()));
	await rig.apply([service, slice(pods.one)]);
	const client = await dialled(t, at);
	client.pause();
	const chunk = Buffer.alloc(1_048_576);
	/** Resolves with what was taken when nothing more is. */
	const stuffed = async (socket: Socket): Promise<number> => {
		let taken = 0;
		while (taken < most) {
			taken += chunk.length;
			const isTaken = await new Promise<boolean>(resolve => {
				const late = setTimeout(() => resolve(false), 500);
				socket.write(chunk, () => {
					clearTimeout(late);
					resolve(true);
				});
			});
			if (!isTaken) return taken;
		}
		return taken;
	};
	const before = process.memoryUsage().external;
	t.true((await stuffed(client)) < most, 'the server does not read');
	const [server] = servers;
	if (server === undefined) return t.fail();
	t.true((await stuffed(server)) < most, 'the client does not read');
	t.true(process.memoryUsage().external - before < 32 * 1_048_576);
	client.destroy();
	server.destroy();
});

test('an endpoint that refuses is passed over, and the client hears nothing of it', async t => {
	const {rig, spot, service, slice, port, at, proxy, key, pods} = world(t);
	await spot.serve('TCP', {address: pods.three, port}, 'pod-2');
	t.teardown(() => void spot.stop('TCP', {address: pods.three, port}, true));
	await rig.apply([service, slice(pods.one, pods.two, pods.three)]);
	for (let i = 0; i < 6; i++) t.regex(await spot.ask('TCP', at, 'hello'), /^pod-2/);
	t.true((proxy.counters(key)?.failed ?? 0) > 0);
	await spot.stop('TCP', {address: pods.three, port}, true);
	await t.throwsAsync(spot.ask('TCP', at, 'hello'));
	t.is(proxy.counters(key)?.refused, 1);
});

test('a connection whose endpoint is gone from the slices ends when nothing moves', async t => {
	const {rig, spot, service, slice, port, at, pods} = world(t);
	for (const address of [pods.one, pods.two]) {
		await spot.serve('TCP', {address, port}, address);
		t.teardown(() => void spot.stop('TCP', {address, port}, true));
	}
	await rig.apply([service, slice(pods.one)]);
	const connection = await spot.open(at);
	await spot.say(connection, 'hello');
	await rig.apply([slice(pods.two)]);
	t.is(await spot.over(connection), 'cut');
	const other = await spot.open(at);
	await rig.apply([noService('web'), noSlice('web')]);
	t.is(await spot.over(other), 'cut', 'so it is when the whole Service is gone');
});

test('other endpoints are no other listening socket', async t => {
	const {rig, service, slice, pods, opened} = world(t);
	await rig.apply([service, slice(pods.one)]);
	const before = opened();
	for (const address of [pods.two, pods.three, pods.one]) await rig.apply([slice(address)]);
	await rig.apply([noSlice('web')]);
	t.is(opened(), before);
});

test('a port that another program has is a problem that says so, and is served once it is free', async t => {
	const clock = new ManualClock();
	const inner = proxyWorld(clean => t.teardown(clean), clock);
	const {rig, problems, spot} = inner;
	const clusterIP = rig.nextClusterIP();
	const at = {address: rig.addressOf(clusterIP), port: servicePort};
	await spot.serve('TCP', at, 'another program');
	t.teardown(() => void spot.stop('TCP', at, true));
	const port = rig.nextPort();
	const [pod] = rig.pods;
	if (pod === undefined) return t.fail();
	await spot.serve('TCP', {address: pod.address, port}, 'pod-0');
	t.teardown(() => void spot.stop('TCP', {address: pod.address, port}, true));
	await rig.apply([aService('web', {clusterIP, ports: [{port: servicePort}]}), aSlice('web', [ready(pod.address)], [{port}])]);
	t.deepEqual(
		[...problems.values()],
		[
			`TCP ${at.address}:${servicePort} of Service default/web (port ${servicePort}) is taken by another program: stop that, or give the Service another port`,
		],
	);
	await spot.stop('TCP', at, true);
	clock.advance(limits.proxyListenFirstMs);
	await rig.apply([]);
	t.deepEqual([...problems.values()], []);
	t.regex(await spot.ask('TCP', at, 'hello'), /^pod-0/);
});

test('what leads back to the proxy itself is no endpoint', async t => {
	const {rig, spot, proxy, key} = world(t);
	const clusterIP = rig.nextClusterIP();
	const address = rig.addressOf(clusterIP);
	await rig.apply([aService('web', {clusterIP, ports: [{port: servicePort}]}), aSlice('web', [ready(address)], [{port: servicePort}])]);
	await t.throwsAsync(spot.ask('TCP', {address, port: servicePort}, 'hello'));
	// The asker may give up before the proxy has come so far.
	await eventually('it is counted', () => proxy.counters(key)?.refused === 1);
});

test('what a proxy closes goes on until it ends; nothing new is taken', async t => {
	const {rig, spot, service, slice, port, at, proxy, pods} = world(t);
	await spot.serve('TCP', {address: pods.one, port}, 'pod-0');
	t.teardown(() => void spot.stop('TCP', {address: pods.one, port}, true));
	await rig.apply([service, slice(pods.one)]);
	const connection = await spot.open(at);
	await spot.say(connection, 'before');
	proxy.close();
	await t.throwsAsync(spot.ask('TCP', at, 'hello'), {code: 'ECONNREFUSED'});
	t.regex(await spot.say(connection, 'after'), /^pod-0 .* after$/);
});

test('a client is forgotten when its time is over, and when there are too many', t => {
	const clock = new ManualClock();
	const affinity = createAffinity(clock, 2);
	const endpoint = {address: '10.0.0.1', port: 80};
	affinity.keep('a', endpoint, 10);
	clock.advance(9_000);
	t.deepEqual(affinity.endpointOf('a', [endpoint]), endpoint);
	t.is(affinity.endpointOf('a', []), undefined, 'it is no endpoint any more');
	clock.advance(1_000);
	t.is(affinity.endpointOf('a', [endpoint]), undefined);
	for (const who of ['a', 'b', 'a', 'c']) affinity.keep(who, endpoint, 10);
	t.is(affinity.size(), 2);
	t.is(affinity.endpointOf('b', [endpoint]), undefined, 'it came least recently');
});

test('beyond the bound of bytes the one that has stood still longest ends', t => {
	const held = createHeldBytes(100);
	const ended: string[] = [];
	const [first, second, third] = [{}, {}, {}];
	held.add(first, 40, () => void ended.push('first'));
	held.add(second, 40, () => void ended.push('second'));
	held.remove(first);
	held.add(first, 40, () => void ended.push('first'));
	held.add(third, 40, () => void ended.push('third'));
	t.deepEqual(ended, ['second']);
	t.is(held.bytes(), 80);
});
