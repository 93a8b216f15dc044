// Three nodes and a server, each a host of its own, and a web app that is asked all the time: what is lost while a host dies or hangs, and while its
// link is cut, both ways or one, for less and for more than the grace, or comes and goes. What is lost is told with each test.
//
// What holds in all of them: through the router no request is lost, by the Service only those that were sent before the host was out of the endpoints,
// and no pod of another host is touched.

import {setTimeout as pause} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {limits} from '../../api/limits.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {lossesOf, summaryOf} from '../../bench/rigs/fleet/load.js';
import {hang, killHost, wake} from '../../bench/rigs/fleet/served-hosts.js';
import type {View} from '../../bench/rigs/fleet/web-app.js';
import {lossText, nothingLost, nothingMoved, nowMs, sharedWebApp} from './_web-app.js';

// What is short is shorter than that on a busy machine, too.
const stage = sharedWebApp(test, () => ({nodes: ['n1', 'n2', 'n3'], grace: '1m'}));

const victim = 'n3';
/** Longer than until a node is suspect. */
const shortMs = 2 * limits.suspectAfterMs;
/** What is on its way to the data planes when the API has it, on a busy machine. */
const tellMs = 1_000;

const hasEndpoints = ({pods, endpoints}: View): boolean =>
	pods.some(({spec, status}) => spec?.nodeName === victim && endpoints.includes(status?.podIP ?? ''));

async function untilOut(): Promise<void> {
	const {app} = stage();
	await eventually(`no endpoint is on ${victim}`, async () => !hasEndpoints(await app.view()), undefined, 30_000);
}

/** Pods that were replaced stay where they are: an update brings some of them back. */
async function spread(): Promise<void> {
	const {app, server} = stage();
	const isOn = async (): Promise<boolean> => [...(await app.standing()).values()].some(({node}) => node === victim);
	if (await isOn()) return;
	await server.fine('rollout', 'restart', 'deployment/web');
	await server.fine('rollout', 'status', 'deployment/web', '--timeout', '180s');
	await app.settled();
	if (!(await isOn())) throw new Error(`no pod is on ${victim}`);
}

type Fault = {readonly begin: () => void | Promise<void>; readonly end: () => void | Promise<void>; readonly isLong: boolean};

/** A fault of the victim alone, asked about by the others. */
async function befalls(t: ExecutionContext, {begin, end, isLong}: Fault): Promise<void> {
	t.timeout(280_000);
	const {app} = stage();
	await spread();
	const before = await app.standing();
	let [beganAtMs, outAtMs, endedAtMs] = [0, 0, 0];
	const seen = await app.under(async () => {
		beganAtMs = nowMs();
		await begin();
		await untilOut();
		outAtMs = nowMs();
		if (isLong) await app.settled(victim);
		else await pause(Math.max(0, shortMs - (nowMs() - beganAtMs)));
		endedAtMs = nowMs();
		await end();
		await app.settled();
	}, victim);
	const lost = lossesOf(seen);
	t.log(summaryOf(seen));
	t.log(
		`out of the endpoints after ${Math.round(outAtMs - beganAtMs)} ms, over after ${Math.round(endedAtMs - beganAtMs)} ms; the last loss was sent after`,
		Math.round((lost.at(-1)?.atMs ?? beganAtMs) - beganAtMs),
	);
	t.deepEqual(lost.filter(({way}) => way.startsWith('route')).map(lossText), []);
	t.deepEqual(lost.filter(({atMs}) => atMs > outAtMs + tellMs).map(lossText), [], 'lost later');
	nothingMoved(t, before, await app.standing(), node => isLong && node === victim);
}

const cutBothWays = {
	begin: () => stage().hosts.network.cut(victim),
	end: () => stage().hosts.network.heal(victim),
};

const cutOneWay = (way: 'from it' | 'to it') => ({
	begin: () => stage().hosts.network.loseOneWay(victim, way),
	end: () => stage().hosts.network.bothWays(),
});

test.serial('a link that is cut for less than the grace', t => befalls(t, {...cutBothWays, isLong: false}));
test.serial('a link that comes and goes', async t => {
	t.timeout(280_000);
	const {app, hosts} = stage();
	await spread();
	const before = await app.standing();
	const seen = await app.under(async () => {
		const untilMs = nowMs() + 8_000;
		for (let turn = 1; nowMs() < untilMs; turn = (turn * 7) % 11) {
			hosts.network.cut(victim);
			await pause(50 * turn);
			hosts.network.heal(victim);
			await pause(30 * turn);
		}
		await app.settled();
	}, victim);
	t.log(summaryOf(seen));
	t.deepEqual(
		lossesOf(seen)
			.filter(({way}) => way.startsWith('route'))
			.map(lossText),
		[],
	);
	nothingMoved(t, before, await app.standing());
});

test.serial('an agent that hangs for less than the grace loses nothing', async t => {
	t.timeout(280_000);
	const {app, node} = stage();
	await spread();
	const before = await app.standing();
	const seen = await app.under(async () => {
		await hang(node(victim));
		await untilOut();
		wake(node(victim));
		await app.settled();
	});
	nothingLost(t, seen);
	nothingMoved(t, before, await app.standing());
});

test.serial('from here on the grace is the usual one', async t => {
	await stage().server.fine('config', 'set', 'nodes.grace', `${limits.nodeGraceMs / 1_000}s`);
	t.pass();
});

test.serial('a link that is cut for more than the grace', t => befalls(t, {...cutBothWays, isLong: true}));
test.serial('a host of which nothing is heard for more than the grace, while it hears', t =>
	befalls(t, {...cutOneWay('from it'), isLong: true}),
);
test.serial('a host that hears nothing for more than the grace, while it is heard', t => befalls(t, {...cutOneWay('to it'), isLong: true}));

test.serial('an agent that hangs for more than the grace: its pods are replaced, then stopped, and nothing is lost', async t => {
	t.timeout(280_000);
	const {app, node} = stage();
	await spread();
	const before = await app.standing();
	const seen = await app.under(async () => {
		await hang(node(victim));
		await untilOut();
		await app.settled(victim);
		wake(node(victim));
		await app.settled();
	});
	nothingLost(t, seen);
	nothingMoved(t, before, await app.standing(), name => name === victim);
});

test.serial('a host that dies, and comes back', t =>
	befalls(t, {
		begin: () => killHost(stage().hosts.network, stage().node(victim)),
		async end() {
			stage().hosts.network.heal(victim);
			await stage().node(victim).begin();
		},
		isLong: true,
	}),
);
