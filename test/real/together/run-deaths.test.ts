// Runs of workflows on two servers with one etcd (Debian: etcd-server) and two nodes: the server that leads is killed twice, instances of the function
// are, and a node with all that runs on it is.

import test from 'ava';
import type {Run} from '../../../api/kinds/run.js';
import type {Client} from '../../../cli/client.js';
import {isReady, pidOf} from '../../../bench/rigs/cluster/pods.js';
import {eventually, followObjects, until} from '../../../bench/rigs/cluster/waiting.js';
import {startEtcd} from '../../../bench/rigs/servers/etcd.js';
import {openAgent, openServer, openServerBeside} from '../../e2e/_hosts.js';
import {openSteps, wrongAbout} from '../../e2e/_steps.js';

const count = 20;

test('runs go on when leaders, instances and a node die, and end as they would have', async t => {
	t.timeout(280_000);
	const {url} = await startEtcd(t);
	const flags = [`--store=${url}/runs`, '--grace=5s'];
	const first = await openServer(t, ...flags);
	const second = await openServerBeside(t, first, ...flags);
	const token = await first.joinToken();
	const servers = [first.api(), second.api()];
	const agents = await Promise.all(['one', 'two'].map(node => openAgent(t, servers, token, node, '--network=shared')));
	const steps = await openSteps(t, {Retry: [{ErrorEquals: ['States.ALL'], IntervalSeconds: 1, MaxAttempts: 20, BackoffRate: 1}]});
	await steps.begin(first, count);
	const come = (part: number): Promise<void> =>
		eventually(
			`${part} of the steps were called`,
			() => steps.called() >= part,
			() => `${steps.called()} of them`,
			60_000,
		);

	await come(0.15);
	await first.killIt();
	await come(0.35);
	const client = await second.client();
	const killed = await instances(client);
	for (const pid of killed) process.kill(pid, 'SIGKILL');
	await come(0.5);
	await agents[0]?.killEverything();
	await first.restart();
	await come(0.7);
	await second.killIt();
	await eventually('the first one leads again', async () => (await first.troupe('get', 'runs')).code === 0);

	const runs = await followObjects(await first.client(), 'runs');
	t.teardown(runs.close);
	const over = (): readonly Run[] => ([...runs.objects.values()] as Run[]).filter(({status}) => status?.completionTime !== undefined);
	await eventually(
		'all runs are over',
		() => over().length === count,
		() => `${over().length} are`,
		120_000,
	);
	t.deepEqual(wrongAbout(over(), steps.keys), []);
	t.log(`${steps.keys.length} calls of ${9 * count} steps, ${killed.length} instances killed beside a node's`);
});

/** The processes of those that are ready, of which there is one. */
const instances = (client: Client): Promise<readonly number[]> =>
	until(client, 'pods', 'an instance to be ready', pods => {
		const pids = [...pods.values()].flatMap(pod => (isReady(pod) ? (pidOf(pod) ?? []) : []));
		return pids.length > 0 && pids;
	});
