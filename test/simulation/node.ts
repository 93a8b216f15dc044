// One node of the virtual world: its agent, put together as `troupe agent` does, and the host below it that outlives it.

import type {Runtime, RuntimeCommand} from '../../actors/node/runtime-port.js';
import {openNode, type Node} from '../../actors/node/start.js';
import {createSimulatedRuntime} from '../../agent/simulated-runtime.js';
import type {SimulatedHost} from '../../agent/simulated/host.js';
import type {Treatment} from '../../agent/simulated/script.js';
import type {World} from '../../system/world.js';
import {nodeUplink} from '../../system/world/uplink.js';
import type {SimulatedCluster} from './cluster.js';
import {boot, storeOf, type Machine} from './machine.js';

export type RuntimeTrouble = {readonly fails: number; readonly silent: number; readonly slowMs: number};

export type SimulatedNode = Machine<Node> & {
	readonly programs: SimulatedHost;
	runtimeTrouble: RuntimeTrouble | undefined;
};

export function startNode(cluster: SimulatedCluster, node: SimulatedNode): void {
	const {world, programs} = cluster;
	const {process, boot: bootId} = boot(node, world);
	const uplink = nodeUplink({world, process, node: node.name, boot: bootId, dial: cluster.dialler()});
	node.uplink = uplink;
	const runtime = createSimulatedRuntime({
		clock: process.clock,
		random: process.random,
		host: programs.observed(node),
		hostIP: node.name,
		script: {treat: () => treatment(world, node)},
	});
	openNode(
		{
			name: node.name,
			driver: storeOf(node, process, world, {onKilled: () => cluster.killed(node)}),
			executor: process.executor,
			clock: process.clock,
			random: process.random,
			links: uplink.links,
			boot: bootId,
			labels: {},
			measure: false,
			runtime: watched(runtime, command => programs.onCommand(node, command)),
			observer: {lifecycle: event => cluster.lifecycle(event)},
			onFenced: message => cluster.gaveUp(node, `fenced: ${message}`),
			onEscalation: error => cluster.escalated(node, error.message),
		},
		outcome => {
			if (!outcome.ok) {
				cluster.gaveUp(node, `no start: ${outcome.error.message}`);
				return;
			}
			node.system = outcome.value;
			cluster.nodeSabotage?.(outcome.value);
			outcome.value.begin();
		},
	);
}

/** What becomes of a command of a runtime in trouble. */
function treatment(world: World, {runtimeTrouble: trouble}: SimulatedNode): Treatment {
	if (trouble === undefined) return {type: 'answers', afterMs: 0};
	const roll = world.random.next();
	const afterMs = world.random.next() * trouble.slowMs;
	if (roll < trouble.fails) return {type: 'fails', afterMs, message: 'the world wants it'};
	if (roll < trouble.fails + trouble.silent) return {type: 'isSilent', acts: world.chance(0.5)};
	return {type: 'answers', afterMs};
}

/** A runtime whose orders are looked at before they are carried out. */
const watched = (runtime: Runtime, look: (command: RuntimeCommand) => void): Runtime => ({
	...runtime,
	run(command, done) {
		look(command);
		runtime.run(command, done);
	},
});
