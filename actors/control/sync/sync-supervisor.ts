// Where nodes' hellos arrive: each goes to its node's dispatcher, and registers a node that no client has declared.

import {objectAddress} from '../../../api/keys.js';
import type {Draft} from '../../../api/object.js';
import {next, tell, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {nodeKey, syncOfNode} from '../../addresses.js';
import {
	mayFollow,
	syncProtocol,
	unknownLineage,
	type CallHello,
	type Hello,
	type NodeRefused,
	type Servers,
} from '../../protocol/sync-message.js';
import {nodeGraceMs} from '../pods/node-grace.js';
import {nodeDispatcher, type NodeDispatcherInput} from './node-dispatcher.js';
import type {NodeMessage} from '../nodes/node.js';

export type SyncSupervisorInput = Omit<NodeDispatcherInput, 'node'>;

export type SyncSupervisorMessage =
	| Hello
	/** From the edge: the servers of this cluster are these now. */
	| Servers
	/** Settings of the cluster changed. */
	| {readonly type: 'settings'}
	| Reply<unknown, 'outcome'>;

export type SyncSupervisorState = SyncSupervisorInput & {
	/** Hellos of nodes whose record is being created. */
	readonly registering: ReadonlyMap<string, Hello>;
	readonly servers: readonly string[];
};

export const syncSupervisor: Behavior<SyncSupervisorInput, SyncSupervisorState, SyncSupervisorMessage> = {
	kind: 'SyncSupervisor',
	init: (input, context) => next({...input, registering: new Map(), servers: []}, callNodes(context)),
	receive(state, message, context) {
		switch (message.type) {
			case 'hello':
				return hello(state, message, context);
			case 'servers':
				return next({...state, servers: message.servers}, serversTo(message.servers, context));
			case 'settings':
				return next(state, serversTo(state.servers, context));
			case 'outcome':
				return registered(state, message, context);
		}
	},
	coalesce: message => (message.type === 'hello' ? message.node : message.type === 'settings' ? message.type : undefined),
	describe: ({registering}) => (registering.size === 0 ? '' : `${registering.size} nodes register`),
};

/** A new leader knows nothing of any node until it says hello. */
const callNodes = ({known}: Context): Effect[] =>
	[...known.list('nodes')].flatMap(({metadata}) => {
		const unheard: NodeMessage = {
			type: 'unheard',
			reason: 'NodeStatusUnknown',
			message: 'the node has not been heard since the control plane started',
		};
		const call: CallHello = {type: 'callHello'};
		return [tell(objectAddress(nodeKey(metadata.name)), unheard), tell(syncOfNode(metadata.name), call)];
	});

const serversTo = (servers: readonly string[], {known}: Context): Effect[] =>
	[...known.list('nodes')].map(({metadata}) => tellServers(metadata.name, servers, known));

function tellServers(node: string, servers: readonly string[], known: Known): Effect {
	const message: Servers = {type: 'servers', servers, graceMs: nodeGraceMs(known)};
	return tell(syncOfNode(node), message);
}

function hello(state: SyncSupervisorState, message: Hello, context: Context): Next<SyncSupervisorState> {
	const {node, protocol} = message;
	if (protocol !== syncProtocol) {
		const text = `node "${node}" speaks node sync ${protocol}, this control plane ${syncProtocol}`;
		return next(state, [refusalOf(node, text)]);
	}
	if (!mayFollow(message.lineage, state.lineage, state.replaces))
		return next(state, [refusalOf(node, unknownLineage(node, message.lineage, state.lineage))]);
	const registering = new Map(state.registering);
	if (context.known.get(nodeKey(node)) === undefined)
		return next({...state, registering: registering.set(node, message)}, [registration(message)]);
	registering.delete(node); // An earlier hello that still waits must not come after this one.
	return next({...state, registering}, passOn(state, message, context));
}

function refusalOf(node: string, text: string): Effect {
	const refusal: NodeRefused = {type: 'refused', error: {code: 'ERR_BAD_REQUEST', message: text, details: {}}};
	return tell(syncOfNode(node), refusal);
}

function passOn({epoch, lineage, replaces, version, servers}: SyncSupervisorState, message: Hello, {self, known}: Context): Effect[] {
	const input: NodeDispatcherInput = {epoch, lineage, ...(replaces === undefined ? {} : {replaces}), version, node: message.node};
	return [
		{type: 'spawn', name: message.node, behavior: nodeDispatcher.kind, input},
		tell(`${self}/${message.node}`, message),
		...(servers.length === 0 ? [] : [tellServers(message.node, servers, known)]),
	];
}

const registerId = (node: string): string => `register/${node}`;

function registration({node, labels}: Hello): Effect {
	const object: Draft = {apiVersion: 'v1', kind: 'Node', metadata: {name: node, labels}, spec: {}};
	return {type: 'create', object, id: registerId(node)};
}

/** A node that could not be registered says hello again. */
function registered(state: SyncSupervisorState, {id, outcome}: Reply<unknown, 'outcome'>, context: Context): Next<SyncSupervisorState> {
	const registering = new Map(state.registering);
	const message = [...registering.values()].find(({node}) => registerId(node) === id);
	if (message === undefined) return next(state);
	registering.delete(message.node);
	const there = outcome.ok || outcome.error.code === 'ERR_ALREADY_EXISTS';
	return next({...state, registering}, there ? passOn(state, message, context) : []);
}
