// Hands on what another node says of a connection that both share; the node's edge has the connection, and its answer is the answer.

import {failed} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {next, reply, type Behavior, type Next, type Reply, type ReplyTo} from '../../../system/kernel/behavior.js';
import {relayPath} from '../../addresses.js';
import type {Relayed} from '../../protocol/relay-message.js';
import type {RelayCommand} from '../runtime/relay-port.js';

export type NodeRelayMessage = (Relayed & {readonly replyTo?: ReplyTo | undefined}) | Reply<null, 'relayTaken'>;

export type NodeRelayState = {readonly waiting: ReadonlyMap<string, ReplyTo>; readonly count: number};

export const nodeRelay: Behavior<null, NodeRelayState, NodeRelayMessage> = {
	kind: 'NodeRelay',
	init: () => next({waiting: new Map(), count: 0}),
	receive(state, message) {
		switch (message.type) {
			case 'relayed':
				return take(state, message);
			case 'relayTaken':
				return taken(state, message);
		}
	},
	describe: ({waiting}) => (waiting.size === 0 ? '' : `${waiting.size} being taken`),
};

function take(
	state: NodeRelayState,
	{replyTo, type: _type, ...relayed}: Relayed & {readonly replyTo?: ReplyTo | undefined},
): Next<NodeRelayState> {
	if (replyTo === undefined) return next(state);
	const {waiting, count} = state;
	if (waiting.size >= limits.relayTaking)
		return next(state, reply(replyTo, failed('ERR_BUSY', {address: relayPath, waiting: waiting.size})));
	const key = `relay/${count}`;
	const command: RelayCommand = {type: 'relay.take', ...relayed};
	return next({waiting: new Map(waiting).set(key, replyTo), count: count + 1}, [{type: 'perform', command, key, as: 'relayTaken'}]);
}

function taken(state: NodeRelayState, {id, outcome}: Reply<null, 'relayTaken'>): Next<NodeRelayState> {
	const waiting = new Map(state.waiting);
	const replyTo = waiting.get(id);
	waiting.delete(id);
	return next({...state, waiting}, reply(replyTo, outcome));
}
