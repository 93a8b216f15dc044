// A node's system, wired to its runtime and its bus.

import type {Outcome} from '../../api/errors.js';
import type {EvictionThresholds} from '../../api/eviction-thresholds.js';
import {address, controlSystem} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Labels} from '../../api/object.js';
import type {ActorSystem} from '../../system/kernel/actor-system.js';
import type {Message} from '../../system/kernel/behavior.js';
import {Bus, type Measure} from '../../system/links/bus.js';
import {openDurableSystem, type DurableSystem, type DurableSystemOptions} from '../../system/commit/durable-system.js';
import type {Links} from '../../system/links/link.js';
import {handName, networkPath, podsPath, relayPath, syncPath} from '../addresses.js';
import {closingFirst, inspectLater, linksWithFaults, withInspect} from '../inspector.js';
import {isSecretMember} from '../secret-members.js';
import {createInspector, type Inspector} from '../../system/inspect/inspector.js';
import {acceptsFromControl, boundedFromControl, idempotentMessages} from '../protocol/accepted-messages.js';
import {laneOf} from '../protocol/lanes.js';
import {nodeDesign} from './design.js';
import type {Pulling} from './containers/container-state.js';
import type {NodeRootInput} from './root.js';
import type {NetworkMessage} from './network/network.js';
import {withNetwork} from './runtime/network-info.js';
import type {Relay} from '../protocol/relay-message.js';
import type {Network} from './runtime/network-port.js';
import type {NodeRelay} from './runtime/relay-port.js';
import {performFor} from './runtime/perform.js';
import {infraName} from './pods/infra.js';
import type {ContainerExit, Runtime, RuntimeEvent} from './runtime/runtime-port.js';
import {noSecrets, type NodeSecrets} from './runtime/secrets-port.js';

export type NodeOptions = Omit<DurableSystemOptions, 'design' | 'inputOf' | 'remote' | 'perform'> & {
	readonly links: Links;
	readonly boot: string;
	readonly labels: Labels;
	readonly runtime: Runtime;
	readonly measure: Measure;
	/** What serves traffic on the node. Without it it serves none, and is told of none. */
	readonly network?: Network | undefined;
	/** What has connections of this node that are relayed. Without it it has none. */
	readonly relay?: NodeRelay | undefined;
	/** How the node comes by Secrets; the runtime has the same. Without it it has none. */
	readonly secrets?: NodeSecrets;
	/** Control has told which servers there are, and what grace a silent node has. */
	readonly onServers?: (servers: readonly string[], graceMs: number | undefined) => void;
	/** The cache has all that control said to the hello. */
	readonly onInStep?: () => void;
	/** The node and control do not go together, and why. */
	readonly onSyncRefused?: (why: string) => void;
	/** The operator's word that the node follows whichever control plane answers. */
	readonly followsAny?: boolean;
	/** It measures what is used whether anybody asks or not. */
	readonly measuresAlways?: boolean;
	/** Below which its host is short of something, so that pods are ended; left out: nobody looks. */
	readonly thresholds?: EvictionThresholds;
	/** Admins may make faults in it. */
	readonly faults?: boolean;
	/** It is cut off from other systems by a fault, or is so no more: what goes past its links should follow. */
	readonly onPartition?: (isCut: boolean) => void;
};

export type NodeSystem = DurableSystem & {readonly bus: Bus};

/** Loads the cache; the tree, and with it the adoption of what runs, begins with `begin`. */
export function openNode(options: NodeOptions, done: (outcome: Outcome<NodeSystem>) => void): void {
	const {
		boot,
		labels,
		runtime: ofPods,
		network,
		relay,
		clock,
		measure,
		onServers,
		onInStep,
		onSyncRefused,
		followsAny = false,
		secrets = noSecrets,
		measuresAlways = false,
		thresholds,
		faults = false,
		onPartition,
		...rest
	} = options;
	const {links, options: faultOptions} = linksWithFaults(options.links, faults, onPartition);
	const runtime = withNetwork(ofPods, network);
	const started: {system?: ActorSystem; inspector?: Inspector} = {};
	const bus = new Bus({
		boot,
		clock,
		links,
		laneOf,
		measure,
		accepts: acceptsFromControl,
		bounded: boundedFromControl,
		idempotent: idempotentMessages,
		onBegin: () => started.system?.wake(address(options.name, syncPath), {type: 'callHello'}, 'the control plane restarted'),
	});
	openDurableSystem(
		{
			...rest,
			clock,
			design: nodeDesign,
			inputOf: (): NodeRootInput => ({
				node: options.name,
				labels,
				info: runtime.info(),
				measuresAlways,
				...(thresholds === undefined ? {} : {thresholds}),
				...(followsAny ? {followsAny} : {}),
			}),
			perform: withInspect(
				inspectLater(started),
				performFor(runtime, {
					keepServers: (servers, graceMs) => onServers?.(servers, graceMs),
					inStep: () => onInStep?.(),
					refused: why => onSyncRefused?.(why),
					secrets,
					network,
					relay,
				}),
			),
			remote: (system, to, envelope) => bus.send(system, to, envelope),
		},
		outcome => {
			if (!outcome.ok) {
				done(outcome);
				return;
			}
			const node = outcome.value;
			bus.join(node.system);
			started.system = node.system;
			const inspector = createInspector(node.system, {isSecret: isSecretMember, faults: faultOptions});
			started.inspector = inspector;
			relay?.join((said, told) => {
				const message: Relay = {type: 'relay', node: options.name, ...said};
				const ask = {deadlineMs: limits.relayAnswerMs, cause: 'a relayed connection'};
				node.system.ask(address(controlSystem, relayPath), message, ask, told);
			});
			runtime.onEvent(event => hear(event, options.name, node.system));
			network?.onStatus(status => {
				const message: NetworkMessage = {type: 'networkStatus', status};
				node.system.wake(address(options.name, networkPath), message, 'the data plane told how it is');
			});
			runtime.onExit(({namespace, podName, id}, exit) => {
				const message: Message & {exit: ContainerExit} = {type: 'exited', exit};
				const hand = `${podsPath}/${handName({namespace, name: podName})}`;
				node.system.wake(address(options.name, `${hand}/${id.container}`), message, `exit of ${id.container}`);
			});
			done({ok: true, value: {...closingFirst(node, inspector), bus}});
		},
	);
}

/** What a runtime tells beside ends goes to the actor that it is for. */
function hear(event: RuntimeEvent, node: string, system: ActorSystem): void {
	switch (event.type) {
		case 'pulling': {
			const {namespace, podName, id, percent, bytes, totalBytes} = event;
			const actor = address(node, `${podsPath}/${handName({namespace, name: podName})}/${id.container}`);
			const message: Message & Pulling = {type: 'pulling', percent, bytes, totalBytes};
			return system.wake(actor, message, `pull for ${id.container}`);
		}
		case 'infoChanged':
			return system.wake(address(node, syncPath), {type: 'infoChanged'}, 'the runtime changed');
		case 'sandboxLost':
			return system.wake(infraOf(event, node), {type: 'sandboxLost'}, 'its sandbox has died');
		case 'devicesFree':
			return system.wake(infraOf(event, node), {type: 'devicesFree'}, 'devices are free');
	}
}

const infraOf = ({namespace, podName}: {readonly namespace: string; readonly podName: string}, node: string): string =>
	address(node, `${podsPath}/${handName({namespace, name: podName})}/${infraName}`);
