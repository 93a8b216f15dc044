// What leads from a Service's address to a pod promises this, whether it is a process that passes bytes on or rules of the kernel.

import type {ExecutionContext, TestFn} from 'ava';
import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import type {At, Spot} from '../../../bench/rigs/services/spot.js';
import {aNode, aService, aSlice, noService, noSlice, notReady, ready, servicePort, terminating, unheard} from './_network-objects.js';

/** From where it serves and asks. */
export type Place = {
	readonly spot: Spot;
	/** Its own address: of a pod it listens there. */
	readonly address: string;
	/** What its clients say as theirs, where the kernel would choose another. */
	readonly from?: string;
};

/** A node called `here`, with what is under test. */
export type ServiceRig = {
	/** Resolves when it is in force. */
	readonly apply: (changes: readonly NetworkChange[]) => Promise<void>;
	/** Where clients find a ClusterIP. */
	readonly addressOf: (clusterIP: string) => string;
	/** Addresses that no other test has: of Services, and one outside of the cluster for `externalIPs`. */
	readonly nextClusterIP: () => string;
	readonly externalIP: () => string;
	/** Where node ports are served, and one that is free. */
	readonly nodeAddress: string;
	readonly nextNodePort: () => number;
	readonly host: Place;
	/** At least three, of this node. */
	readonly pods: readonly Place[];
	/** A port of all pods that no other test has. */
	readonly nextPort: () => number;
	/** A client that is not of this node, where there is one. */
	readonly outside: Place;
};

const many = 60;

export function serviceContract(test: TestFn, rigOf: (t: ExecutionContext) => Promise<ServiceRig>): void {
	let names = 0;

	/** Servers on all pods, and a Service before them. */
	const world = async (t: ExecutionContext, protocol: 'TCP' | 'UDP' = 'TCP') => {
		const rig = await rigOf(t);
		names += 1;
		const name = `web${names}`;
		const port = rig.nextPort();
		for (const [i, pod] of rig.pods.entries()) {
			const at = {address: pod.address, port};
			await pod.spot.serve(protocol, at, `pod-${i}`);
			t.teardown(() => pod.spot.stop(protocol, at, true));
		}
		t.teardown(() => rig.apply([noService(name), noSlice(name)]));
		const clusterIP = rig.nextClusterIP();
		const pods = rig.pods.map(({address}) => address);
		const [one = '', two = '', three = ''] = pods;
		return {
			rig,
			name,
			port,
			pods: {one, two, three},
			at: {address: rig.addressOf(clusterIP), port: servicePort},
			service: (spec: Parameters<typeof aService>[1] = {}) => aService(name, {clusterIP, ports: [{port: servicePort, protocol}], ...spec}),
			slice: (...endpoints: Parameters<typeof aSlice>[1]) => aSlice(name, endpoints, [{port, protocol}]),
		};
	};
	/** Who answers: so many times each, and how often it was none. */
	const asked = async (client: Place, protocol: 'TCP' | 'UDP', at: At, times = many): Promise<Readonly<Record<string, number>>> => {
		const found: Record<string, number> = {};
		for (let i = 0; i < times; i++) {
			const who = await askOnce(client, protocol, at);
			found[who] = (found[who] ?? 0) + 1;
		}
		return found;
	};
	const askOnce = async (client: Place, protocol: 'TCP' | 'UDP', at: At, fromPort?: number): Promise<string> => {
		const answer = await client.spot.ask(protocol, at, 'hello', {
			...(client.from === undefined ? {} : {from: client.from}),
			...(fromPort === undefined ? {} : {fromPort}),
		});
		return answer.split(' ')[0] ?? '';
	};

	for (const protocol of ['TCP', 'UDP'] as const) {
		test(`clients of the host and of pods are spread over the ready endpoints, and over no others: ${protocol}`, async t => {
			const {rig, at, service, slice, pods} = await world(t, protocol);
			await rig.apply([service(), slice(ready(pods.one), ready(pods.two), notReady(pods.three))]);
			for (const client of [rig.host, rig.pods[2] ?? rig.host])
				t.deepEqual(Object.keys(await asked(client, protocol, at)).sort(), ['pod-0', 'pod-1']);
		});
	}

	test('an endpoint that is removed gets no new client, and connections to others go on', async t => {
		const {rig, at, service, slice, pods} = await world(t);
		await rig.apply([service(), slice(ready(pods.one))]);
		const connection = await rig.host.spot.open(at);
		t.regex(await rig.host.spot.say(connection, 'before'), /^pod-0 .* before$/);
		await rig.apply([slice(terminating(pods.one), ready(pods.two))]);
		t.deepEqual(await asked(rig.host, 'TCP', at), {'pod-1': many});
		t.regex(await rig.host.spot.say(connection, 'after'), /^pod-0 .* after$/, 'it was open, and the pod is terminating');
		t.is(await rig.host.spot.finish(connection), 'pod-0 bye');
	});

	test('terminating endpoints that serve get clients where no ready one is left', async t => {
		const {rig, at, service, slice, pods} = await world(t);
		await rig.apply([service(), slice(terminating(pods.one), terminating(pods.two, false), notReady(pods.three))]);
		t.deepEqual(await asked(rig.host, 'TCP', at), {'pod-0': many});
	});

	test('endpoints of nodes of which nothing is heard get clients where no ready one is left, and none else', async t => {
		const {rig, at, service, slice, pods} = await world(t);
		await rig.apply([service(), slice(unheard(pods.one), notReady(pods.two), notReady(pods.three))]);
		t.deepEqual(await asked(rig.host, 'TCP', at), {'pod-0': many});
		await rig.apply([slice(unheard(pods.one), ready(pods.two), notReady(pods.three))]);
		t.deepEqual(await asked(rig.host, 'TCP', at), {'pod-1': many});
	});

	test('with affinity a client stays with its endpoint until that goes', async t => {
		const {rig, at, service, slice, pods} = await world(t);
		const kept = service({sessionAffinity: 'ClientIP', sessionAffinityConfig: {clientIP: {timeoutSeconds: 600}}});
		await rig.apply([kept, slice(ready(pods.one), ready(pods.two), ready(pods.three))]);
		const own = await askOnce(rig.host, 'TCP', at);
		t.deepEqual(await asked(rig.host, 'TCP', at), {[own]: many});
		const left = [pods.one, pods.two, pods.three].filter((_, i) => own !== `pod-${i}`);
		await rig.apply([slice(...left.map(address => ready(address)))]);
		const other = await askOnce(rig.host, 'TCP', at);
		t.not(other, own);
		t.deepEqual(await asked(rig.host, 'TCP', at), {[other]: many});
	});

	test('a flow of datagrams goes to another endpoint when its own is gone', async t => {
		const {rig, at, service, slice, pods} = await world(t, 'UDP');
		const port = rig.nextNodePort();
		await rig.apply([service(), slice(ready(pods.one))]);
		t.is(await askOnce(rig.host, 'UDP', at, port), 'pod-0');
		await rig.apply([slice(ready(pods.two))]);
		t.is(await askOnce(rig.host, 'UDP', at, port), 'pod-1');
	});

	test('a flow of datagrams goes to the other port of its endpoint when it has another one', async t => {
		const {rig, name, at, service, slice, pods} = await world(t, 'UDP');
		const [client, port] = [rig.nextNodePort(), rig.nextPort()];
		const moved = {address: pods.one, port};
		await rig.pods[0]?.spot.serve('UDP', moved, 'moved');
		t.teardown(() => rig.pods[0]?.spot.stop('UDP', moved, true));
		await rig.apply([service(), slice(ready(pods.one))]);
		t.is(await askOnce(rig.host, 'UDP', at, client), 'pod-0');
		await rig.apply([aSlice(name, [ready(pods.one)], [{port, protocol: 'UDP'}])]);
		t.is(await askOnce(rig.host, 'UDP', at, client), 'moved');
	});

	test('an attempt at a connection that nobody answers leads no later one of its port there, once that endpoint is gone', async t => {
		const {rig, at, service, slice, pods} = await world(t);
		const port = rig.nextNodePort();
		const nobody = pods.one.replace(/\d+$/, '250');
		await rig.apply([service(), slice(ready(nobody))]);
		t.is(await askOnce(rig.host, 'TCP', at, port).catch(() => 'nobody'), 'nobody');
		await rig.apply([slice(ready(pods.two))]);
		t.is(await askOnce(rig.host, 'TCP', at, port), 'pod-1');
	});

	test('each of several named ports leads to the port of its name', async t => {
		const {rig, name, port, service, at, pods} = await world(t);
		const second = rig.nextPort();
		const place = {address: pods.one, port: second};
		await rig.pods[0]?.spot.serve('TCP', place, 'metrics');
		t.teardown(() => rig.pods[0]?.spot.stop('TCP', place, true));
		const ports = [
			{name: 'http', port: servicePort},
			{name: 'metrics', port: 9100},
		];
		await rig.apply([
			service({ports}),
			aSlice(
				name,
				[ready(pods.one)],
				[
					{name: 'http', port},
					{name: 'metrics', port: second},
				],
			),
		]);
		t.is(await askOnce(rig.host, 'TCP', at), 'pod-0');
		t.is(await askOnce(rig.host, 'TCP', {...at, port: 9100}), 'metrics');
	});

	test('a node port and an external address lead to the endpoints', async t => {
		const {rig, service, slice, pods} = await world(t);
		const nodePort = rig.nextNodePort();
		const externalIP = rig.externalIP();
		await rig.apply([
			service({type: 'NodePort', ports: [{port: servicePort, nodePort}], externalIPs: [externalIP]}),
			slice(ready(pods.one), ready(pods.two)),
		]);
		for (const at of [
			{address: rig.nodeAddress, port: nodePort},
			{address: externalIP, port: servicePort},
		])
			for (const client of [rig.outside, rig.host]) t.deepEqual(Object.keys(await asked(client, 'TCP', at)).sort(), ['pod-0', 'pod-1']);
	});

	test('with policies Local only endpoints of this node get clients, and without one they are refused', async t => {
		const {rig, at, service, slice, pods} = await world(t);
		const nodePort = rig.nextNodePort();
		const outside = {address: rig.nodeAddress, port: nodePort};
		const local = service({
			type: 'NodePort',
			ports: [{port: servicePort, nodePort}],
			internalTrafficPolicy: 'Local',
			externalTrafficPolicy: 'Local',
		});
		await rig.apply([aNode('there', 'routed'), local, slice(ready(pods.one), ready(pods.two, 'there'))]);
		// Addresses of loopback are of one host: where the rig has those, the second is none anyway.
		t.deepEqual(await asked(rig.host, 'TCP', at), {'pod-0': many});
		t.deepEqual(await asked(rig.outside, 'TCP', outside), {'pod-0': many});
		await rig.apply([slice(ready(pods.two, 'there'))]);
		await t.throwsAsync(askOnce(rig.host, 'TCP', at));
		await t.throwsAsync(askOnce(rig.outside, 'TCP', outside));
	});

	test('an endpoint reaches itself through its Service', async t => {
		const {rig, at, service, slice, pods} = await world(t);
		await rig.apply([service(), slice(ready(pods.one))]);
		t.deepEqual(await asked(rig.pods[0] ?? rig.host, 'TCP', at), {'pod-0': many});
	});

	test('without endpoints clients are refused at once, and served as soon as there is one', async t => {
		const {rig, at, service, slice, pods} = await world(t);
		for (const changes of [[service()], [slice(notReady(pods.one))]]) {
			await rig.apply(changes);
			for (const client of [rig.host, rig.pods[1] ?? rig.host]) {
				const before = performance.now();
				const error = await t.throwsAsync<NodeJS.ErrnoException>(askOnce(client, 'TCP', at));
				t.true(['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(error.code ?? ''), error.message);
				t.true(performance.now() - before < 1_000, 'at once');
			}
		}
		await rig.apply([slice(ready(pods.one))]);
		t.is(await askOnce(rig.host, 'TCP', at), 'pod-0');
	});

	test('a Service that is gone leads nowhere, and its address may be another’s', async t => {
		const {rig, name, at, service, slice, pods} = await world(t);
		await rig.apply([service(), slice(ready(pods.one))]);
		t.is(await askOnce(rig.host, 'TCP', at), 'pod-0');
		const taken = service().object;
		if (taken?.type !== 'service') return t.fail();
		const other = `${name}-b`;
		t.teardown(() => rig.apply([noService(other), noSlice(other)]));
		const {port} = await world(t);
		await rig.apply([noService(name), aService(other, taken.spec), aSlice(other, [ready(pods.two)], [{port}])]);
		t.is(await askOnce(rig.host, 'TCP', at), 'pod-1');
		await rig.apply([noService(other)]);
		await t.throwsAsync(askOnce(rig.host, 'TCP', at));
	});

	test('the order in which objects come does not matter', async t => {
		const {rig, at, service, slice, pods, name} = await world(t);
		const parts = [service(), slice(ready(pods.one)), aNode('here', 'routed')];
		for (const order of [parts, [...parts].reverse()]) {
			for (const part of order) await rig.apply([part]);
			t.is(await askOnce(rig.host, 'TCP', at), 'pod-0');
			await rig.apply([noSlice(name), noService(name)]);
		}
	});

	test('no client is lost while endpoints change as fast as they can', async t => {
		const {rig, at, service, slice, pods} = await world(t);
		await rig.apply([service(), slice(ready(pods.one), ready(pods.two))]);
		const all = [pods.one, pods.two, pods.three];
		let changing = true;
		const change = async (): Promise<void> => {
			for (let i = 0; i < many; i++) {
				const [gone, ...left] = [...all.slice(i % all.length), ...all.slice(0, i % all.length)];
				await rig.apply([slice(...left.map(address => ready(address)), terminating(gone ?? ''))]);
			}
			changing = false;
		};
		let count = 0;
		const ask = async (): Promise<void> => {
			for (; changing; count++) await askOnce(rig.host, 'TCP', at);
		};
		await t.notThrowsAsync(Promise.all([change(), ask(), ask()]));
		t.true(count > 0);
	});

	test('of a thousand Services each leads to its own endpoints, and one change is in force alone', async t => {
		const {rig, name, port, pods} = await world(t);
		const services = Array.from({length: 1_000}, (_, i) => ({name: `${name}-${i}`, clusterIP: rig.nextClusterIP(), endpoint: i % 3}));
		const addresses = [pods.one, pods.two, pods.three];
		const endpoints = (service: string, endpoint: number) => aSlice(service, [ready(addresses[endpoint] ?? '')], [{port}]);
		t.teardown(() => rig.apply(services.flatMap(service => [noService(service.name), noSlice(service.name)])));
		await rig.apply(
			services.flatMap(service => [
				aService(service.name, {clusterIP: service.clusterIP, ports: [{port: servicePort}]}),
				endpoints(service.name, service.endpoint),
			]),
		);
		for (const service of services.filter((_, i) => i % 50 === 0))
			t.is(await askOnce(rig.host, 'TCP', {address: rig.addressOf(service.clusterIP), port: servicePort}), `pod-${service.endpoint}`);
		const [first, second] = services;
		if (first === undefined || second === undefined) return t.fail();
		await rig.apply([endpoints(first.name, 2)]);
		t.is(await askOnce(rig.host, 'TCP', {address: rig.addressOf(first.clusterIP), port: servicePort}), 'pod-2');
		t.is(await askOnce(rig.host, 'TCP', {address: rig.addressOf(second.clusterIP), port: servicePort}), 'pod-1');
	});
}
