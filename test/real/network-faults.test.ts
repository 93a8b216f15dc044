// Three nodes and a server, each a host of its own, and a web app that is asked all the time, by its Service and by its route, on every host and in a
// pod of every host: what is lost while parts of the cluster are updated, die and come back. (What befalls whole hosts: network-host-faults.test.ts.)

import test from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {lossesOf, summaryOf} from '../../bench/rigs/fleet/load.js';
import {dataPlaneOf, killDataPlane, killServing} from '../../bench/rigs/fleet/served-hosts.js';
import {nothingLost, nothingMoved, nowMs, sharedWebApp} from './_web-app.js';

// No part is away for longer than the grace, however busy the machine is.
const stage = sharedWebApp(test, () => ({nodes: ['n1', 'n2', 'n3'], grace: '2m'}));

test.serial('a rolling update of all pods loses nothing', async t => {
	t.timeout(280_000);
	const {app, server} = stage();
	const before = await app.standing();
	const seen = await app.under(async () => {
		await server.fine('rollout', 'restart', 'deployment/web');
		await server.fine('rollout', 'status', 'deployment/web', '--timeout', '180s');
		await app.settled();
	});
	nothingLost(t, seen);
	const after = await app.standing();
	t.false([...before.keys()].some(uid => after.has(uid)));
});

test.serial('an agent that is killed and begins again loses nothing', async t => {
	t.timeout(280_000);
	const {app, node} = stage();
	const before = await app.standing();
	const agent = node('n1');
	const seen = await app.under(async () => {
		await killServing(agent);
		await agent.begin();
		await app.settled();
	});
	nothingLost(t, seen);
	nothingMoved(t, before, await app.standing());
});

test.serial('a data plane that is replaced by one with other settings loses nothing', async t => {
	t.timeout(280_000);
	const {app, node} = stage();
	const before = await app.standing();
	const agent = node('n2');
	const old = dataPlaneOf(agent);
	const seen = await app.under(async () => {
		await killServing(agent);
		await agent.start('--dns=127.0.0.1:8054');
		await eventually('another data plane serves', () => dataPlaneOf(agent) !== old);
		await app.settled();
	});
	nothingLost(t, seen);
	nothingMoved(t, before, await app.standing());
});

test.serial('a data plane that is killed loses what it had, and nothing once it is back', async t => {
	t.timeout(280_000);
	const {app, node} = stage();
	const before = await app.standing();
	const host = node('n3');
	let [killedAtMs, backAtMs] = [0, 0];
	const seen = await app.under(async () => {
		killedAtMs = nowMs();
		const old = await killDataPlane(host);
		await eventually('another data plane serves', () => ![undefined, old].includes(dataPlaneOf(host)));
		await app.settled();
		backAtMs = nowMs();
		// The load goes on for a while.
		await app.settled();
	});
	t.log(summaryOf(seen));
	const lost = lossesOf(seen);
	t.log(`lost: ${lost.length}, the last ${Math.round((lost.at(-1)?.atMs ?? killedAtMs) - killedAtMs)} ms after the kill`);
	t.deepEqual(
		lost.filter(({client}) => !client.endsWith(' n3')),
		[],
		'clients of other nodes have lost nothing',
	);
	t.deepEqual(
		lost.filter(({atMs}) => atMs > backAtMs),
		[],
	);
	nothingMoved(t, before, await app.standing());
});

test.serial('a control plane that is killed and begins again loses nothing', async t => {
	t.timeout(280_000);
	const {app, server} = stage();
	const before = await app.standing();
	const seen = await app.under(async () => {
		await killServing(server);
		await server.begin();
		await app.settled();
	});
	nothingLost(t, seen);
	nothingMoved(t, before, await app.standing());
});

test.serial('a control plane that is killed while pods are made makes all of them, and none twice', async t => {
	t.timeout(280_000);
	const {app, server} = stage();
	const before = await app.standing();
	const more = {apiVersion: 'apps/v1', kind: 'Deployment', metadata: {name: 'more'}, spec: moreSpec(12)};
	const running = async (): Promise<number> => {
		const {pods} = await app.view();
		return pods.filter(({metadata, status}) => metadata.labels?.['app'] === 'more' && status?.phase === 'Running').length;
	};
	const seen = await app.under(async () => {
		await stage().hosts.apply(more);
		await eventually('the first of them run', async () => (await running()) > 0, undefined, 30_000);
		await killServing(server);
		await server.begin();
		await server.fine('rollout', 'status', 'deployment/more', '--timeout', '180s');
		t.is((await app.view()).pods.filter(({metadata}) => metadata.labels?.['app'] === 'more').length, 12);
		await app.settled();
		await server.fine('delete', 'deployment/more');
		await eventually('they are gone', async () => (await running()) === 0, undefined, 60_000);
		await app.settled();
	});
	nothingLost(t, seen);
	nothingMoved(t, before, await app.standing());
});

const moreSpec = (count: number): object => ({
	replicas: count,
	selector: {matchLabels: {app: 'more'}},
	template: {
		metadata: {labels: {app: 'more'}},
		spec: {
			runtimeClassName: 'process',
			terminationGracePeriodSeconds: 0,
			containers: [{name: 'c', image: 'none', command: ['sleep', 'infinity']}],
		},
	},
});
