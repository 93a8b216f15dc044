// An exclusive pod under real faults: agents that are stopped, killed and come back.

import test, {type ExecutionContext} from 'ava';
import {isConditionTrue} from '../../api/conditions.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ApiObject} from '../../api/object.js';
import {openAgent, openServer, type Agent} from '../e2e/_hosts.js';
import {isReady, pidOf} from '../../bench/rigs/cluster/pods.js';
import {lives} from '../../bench/rigs/cluster/processes.js';
import {eventually, until} from '../../bench/rigs/cluster/waiting.js';
import {exclusiveSet, openJournal, spellsIn} from './_exclusive.js';

const isHeard = (node: ApiObject | undefined): boolean => isConditionTrue((node as NodeObject | undefined)?.status?.conditions, 'Ready');

async function openCluster(t: ExecutionContext) {
	const server = await openServer(t);
	const token = await server.joinToken();
	const agents = await Promise.all(['host-1', 'host-2', 'host-3'].map(node => openAgent(t, [server.api()], token, node)));
	const client = await server.client();
	await until(client, 'nodes', 'all to be ready', nodes => nodes.size === 3 && [...nodes.values()].every(isHeard));
	const journal = openJournal(t);
	await server.apply(exclusiveSet('only', journal));
	const running = (other?: number) =>
		until(client, 'pods', 'the exclusive pod to run', pods => {
			const pod = [...pods.values()].find(each => isReady(each) && pidOf(each) !== other) as Pod | undefined;
			return pod === undefined ? undefined : {pid: pidOf(pod) ?? 0, node: pod.spec?.nodeName ?? ''};
		});
	const agentOf = (node: string): Agent => {
		const agent = agents.find(each => each.node === node);
		if (agent === undefined) throw new Error(`no agent of "${node}"`);
		return agent;
	};
	return {server, agentOf, journal, running, client};
}

test.serial('it never runs twice: an agent that hangs does not keep it, and another node has it once the lease is over', async t => {
	t.timeout(180_000);
	const {agentOf, journal, running, client} = await openCluster(t);
	const first = await running();
	await eventually('it writes', () => spellsIn(journal).length === 1);

	const agent = agentOf(first.node);
	process.kill(agent.pid(), 'SIGSTOP');
	t.teardown(() => lives(agent.pid()) && process.kill(agent.pid(), 'SIGCONT'));
	await eventually('the watchdog has killed it', () => !lives(first.pid));
	const second = await running(first.pid);
	t.not(second.node, first.node);
	await eventually('the second writes', () => spellsIn(journal).length === 2);

	process.kill(agent.pid(), 'SIGCONT');
	await until(client, 'nodes', 'the node to be back', nodes => isHeard(nodes.get(first.node)));
	await eventually('nothing of it is left there', () => agent.processes().every(({role}) => role !== 'program'));
	t.true(lives(second.pid), 'the second holder keeps it');

	const [one, two, ...more] = spellsIn(journal);
	t.deepEqual(more, []);
	if (one === undefined || two === undefined) return t.fail('two holders were to write');
	t.true(two.epoch > one.epoch, 'the later holder has the higher epoch');
	t.true(two.from > one.to, `the first ran until ${one.to}, the second from ${two.from}`);
	t.log(`away for ${(two.from - one.to).toFixed(2)} s`);
});

test.serial('an agent that is killed and comes back within the lease keeps it running', async t => {
	t.timeout(120_000);
	const {agentOf, journal, running, client} = await openCluster(t);
	const first = await running();
	await eventually('it writes', () => spellsIn(journal).length === 1);
	const agent = agentOf(first.node);
	await agent.killIt();
	await agent.restart();
	await until(client, 'nodes', 'the node to be back', nodes => isHeard(nodes.get(first.node)));
	// Longer than the lease that the former agent had: its watchdog would have struck by now.
	const [{to: thenAt} = {to: Number.NaN}] = spellsIn(journal);
	await eventually('it outlives the former lease', () => (spellsIn(journal)[0]?.to ?? 0) > thenAt + 16);
	t.true(lives(first.pid));
	t.is(spellsIn(journal).length, 1);
});
