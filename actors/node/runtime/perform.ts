// Where commands of actors become calls of the runtime: a closed list of types, anything else is an answer and not a crash.

import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import type {ObjectKey} from '../../../api/keys.js';
import type {Command, Effect} from '../../../system/kernel/behavior.js';
import type {Network, NetworkCommand, WayCheckCommand} from './network-port.js';
import type {NodeRelay, RelayCommand} from './relay-port.js';
import type {Runtime, RuntimeCommand} from './runtime-port.js';
import type {NodeSecrets} from './secrets-port.js';

/** Secrets that pods of this node still name, and certificates of routes; the edge forgets all others. */
export type RetainSecrets = {readonly type: 'secrets.retain'; readonly keys: readonly ObjectKey[]};

/** Asks for a command of the node's edge; its outcome comes back as `{type: as, id: key, outcome}`. */
export const perform = (
	command: RuntimeCommand | WayCheckCommand | RetainSecrets,
	key: string,
	as: string,
	deadlineMs?: number,
): Effect => ({
	type: 'perform',
	command,
	key,
	as,
	...(deadlineMs === undefined ? {} : {deadlineMs}),
});

const types: Readonly<Record<RuntimeCommand['type'], true>> = {
	'sandbox.ensure': true,
	'sandbox.remove': true,
	'sandbox.list': true,
	'container.start': true,
	'container.inspect': true,
	'container.stop': true,
	'volumes.ensure': true,
	'image.ensure': true,
	'image.list': true,
	'image.open': true,
	'volume.remove': true,
	'volume.measure': true,
	'logs.read': true,
	'usage.read': true,
	'container.act': true,
	'exec.open': true,
	'exec.write': true,
	'exec.read': true,
	'exec.resize': true,
	'exec.close': true,
	'forward.open': true,
	'stdin.write': true,
	'lease.extend': true,
	'devices.release': true,
};

const isRuntimeCommand = (command: Command): command is RuntimeCommand => Object.hasOwn(types, command.type);

/** What a node's actors need of their process beyond the runtime. */
export type NodeEdge = {
	/** Remembers where the control plane is, for the next time it is dialled. */
	readonly keepServers: (servers: readonly string[], graceMs: number | undefined) => void;
	readonly inStep: () => void;
	/** The node and control do not go together. */
	readonly refused: (why: string) => void;
	readonly secrets: NodeSecrets;
	/** Undefined: the node serves none. */
	readonly network?: Network | undefined;
	/** Undefined: the node relays no connections. */
	readonly relay?: NodeRelay | undefined;
};

/** The same for a command of the node's own process. */
export type EdgeCommand =
	| {readonly type: 'servers.keep'; readonly servers: readonly string[]; readonly graceMs?: number}
	/** Answered with what `Runtime.info` says now. */
	| {readonly type: 'info.read'}
	| {readonly type: 'step.reached'}
	| {readonly type: 'sync.refused'; readonly why: string};

export const performAtEdge = (command: EdgeCommand, key: string, as: string): Effect => ({type: 'perform', command, key, as});

const isRetainSecrets = (command: Command): command is RetainSecrets => command.type === 'secrets.retain';

/** What the interpreter calls for a `perform`. Answers once, with ERR_INTERNAL for a command that is not on the lists. */
export const performFor =
	(runtime: Runtime, edge: NodeEdge) =>
	(command: Command, done: (outcome: Outcome<unknown>) => void): void => {
		if (isRuntimeCommand(command)) runtime.run(command, done);
		else if (isNetworkCommand(command)) runForNetwork(edge.network, command, done);
		else if (isRelayCommand(command)) takeRelayed(edge.relay, command, done);
		else if (isWayCheck(command)) checkWay(edge.network, command, done);
		else if (isRetainSecrets(command)) edge.secrets.retain(command.keys, done);
		else if (isEdgeCommand(command)) done(succeeded(runAtEdge(runtime, edge, command)));
		else done(failed('ERR_INTERNAL', {message: `no runtime knows the command "${command.type}"`}));
	};

const networkCommands: readonly string[] = [
	'network.replace',
	'network.change',
	'network.learn',
	'network.enforce',
	'network.instance',
] satisfies readonly NetworkCommand['type'][];

const isNetworkCommand = (command: Command): command is NetworkCommand => networkCommands.includes(command.type);

function runForNetwork(network: Network | undefined, command: NetworkCommand, done: (outcome: Outcome<null>) => void): void {
	if (network === undefined) done(succeeded(null));
	else network.run(command, done);
}

const isRelayCommand = (command: Command): command is RelayCommand => command.type === 'relay.take';

function takeRelayed(relay: NodeRelay | undefined, command: RelayCommand, done: (outcome: Outcome<null>) => void): void {
	if (relay === undefined) done(failed('ERR_NOT_REACHABLE', {message: 'this node relays no connections'}));
	else relay.take(command, done);
}

const isWayCheck = (command: Command): command is WayCheckCommand => command.type === 'way.check';

function checkWay(network: Network | undefined, {request}: WayCheckCommand, done: (outcome: Outcome<unknown>) => void): void {
	if (network === undefined) done(failed('ERR_RUNTIME', {message: 'this node serves no network'}));
	else network.checkWay(request, done);
}

const edgeTypes: readonly string[] = ['servers.keep', 'info.read', 'step.reached', 'sync.refused'] satisfies readonly EdgeCommand['type'][];

const isEdgeCommand = (command: Command): command is EdgeCommand => edgeTypes.includes(command.type);

function runAtEdge(runtime: Runtime, edge: NodeEdge, command: EdgeCommand): unknown {
	switch (command.type) {
		case 'servers.keep':
			edge.keepServers(command.servers, command.graceMs);
			return null;
		case 'info.read':
			return runtime.info();
		case 'step.reached':
			edge.inStep();
			return null;
		case 'sync.refused':
			edge.refused(command.why);
			return null;
	}
}
