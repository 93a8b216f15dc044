// One node of the virtual world: its agent, put together as `troupe agent` does, and the host below it that outlives it.

import {failed, succeeded} from '../../api/errors.js';
import {objectKey} from '../../api/keys.js';
import type {Secret} from '../../api/kinds/secret.js';
import type {NodeSecrets} from '../../actors/node/runtime/secrets-port.js';
import type {WorldProcess} from '../../system/world/process.js';
import type {Runtime, RuntimeCommand} from '../../actors/node/runtime/runtime-port.js';
import {openNode, type NodeSystem} from '../../actors/node/start.js';
import {createSimulatedRuntime} from '../../agent/simulated-runtime.js';
import type {SimulatedHost} from '../../agent/simulated/host.js';
import type {Treatment} from '../../agent/simulated/script.js';
import type {World} from '../../system/world/world.js';
import {nodeUplink} from '../../system/world/uplink.js';
import type {SimulatedCluster} from './cluster.js';
import {networkOf, type NetworkTreatment, type ToldOfNetwork} from './services.js';
import {programOf} from './tasks.js';
import {openedData} from './vault.js';
import {boot, storeOf, type Machine} from './machine.js';

export type RuntimeTrouble = {readonly fails: number; readonly silent: number; readonly slowMs: number};

export type SimulatedNode = Machine<NodeSystem> & {
	readonly programs: SimulatedHost;
	readonly told: ToldOfNetwork;
	runtimeTrouble: RuntimeTrouble | undefined;
};

export function startNode(cluster: SimulatedCluster, node: SimulatedNode): void {
	const {world, programs} = cluster;
	const {process, boot: bootId} = boot(node, world);
	const uplink = nodeUplink({world, process, node: node.name, boot: bootId, dial: cluster.dialler()});
	node.uplink = uplink;
	const secrets = secretsFor(cluster, node, process);
	const runtime = createSimulatedRuntime({
		secrets,
		clock: process.clock,
		random: process.random,
		host: programs.observed(node),
		hostIP: node.name,
		script: {treat: () => treatment(world, node), program: programOf},
	});
	openNode(
		{
			name: node.name,
			driver: storeOf(node, process, world, {checksums: cluster.checksums, onKilled: () => cluster.killed(node)}),
			executor: process.executor,
			clock: process.clock,
			random: process.random,
			links: uplink.links,
			boot: bootId,
			labels: {},
			measure: world.serialises,
			secrets,
			network: networkOf(
				node.told,
				() => networkTreatment(world, node),
				(ms, act) => void process.clock.after(ms, act),
			),
			runtime: watched(runtime, command => programs.onCommand(node, command)),
			observer: cluster.observer,
			onFenced: message => cluster.gaveUp(node, `fenced: ${message}`),
			onEscalation: error => cluster.escalated(node, error.message),
		},
		outcome => {
			if (!outcome.ok) {
				// As the agent does it: control tells again what was in a cache that is damaged.
				if (outcome.error.code === 'ERR_DAMAGED') forget(node.disk);
				cluster.gaveUp(node, `no start: ${outcome.error.message}`);
				return;
			}
			node.system = outcome.value;
			cluster.nodeSabotage?.(outcome.value);
			outcome.value.begin();
		},
	);
}

function forget(disk: SimulatedNode['disk']): void {
	disk.bodies.clear();
	disk.meta = undefined;
}

const fetchMs = 5;

/** Secrets are fetched from whoever leads, over a connection of their own. */
function secretsFor(cluster: SimulatedCluster, {host}: SimulatedNode, process: WorldProcess): NodeSecrets {
	return {
		open({namespace, name}, done) {
			process.clock.after(fetchMs, () => {
				const leader = cluster.leader();
				const isReached = leader?.process?.liveness() === 'running' && cluster.world.network.isWhole(host, leader.host);
				if (!isReached) return done(failed('ERR_NOT_REACHABLE', {message: 'the world wants it'}));
				const secret = leader.system?.control.index.get(objectKey('secrets', namespace, name)) as Secret | undefined;
				done(
					secret === undefined
						? failed('ERR_CONFIG_MISSING', {message: `no secret ${name}`})
						: succeeded(openedData(namespace, name, secret.data ?? {})),
				);
			});
		},
		retain: (_keys, done) => process.executor.defer(() => done(succeeded(null))),
	};
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

/** The same of what serves traffic. */
function networkTreatment(world: World, node: SimulatedNode): ReturnType<NetworkTreatment> {
	const found = treatment(world, node);
	return found.type === 'isSilent' ? undefined : {afterMs: found.afterMs, fails: found.type === 'fails'};
}

/** A runtime whose orders are looked at before they are carried out. */
const watched = (runtime: Runtime, look: (command: RuntimeCommand) => void): Runtime => ({
	...runtime,
	run(command, done) {
		look(command);
		runtime.run(command, done);
	},
});
