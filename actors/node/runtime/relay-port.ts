// What a node's actors need of the thing that has relayed connections. Implemented in `agent/relay/`.

import type {Outcome} from '../../../api/errors.js';
import type {Relay, Relayed} from '../../protocol/relay-message.js';

/** What another node says of a connection. */
export type RelayCommand = Omit<Relayed, 'type'> & {readonly type: 'relay.take'};

/** Says something to another node; called back once, when that has taken it or it is not known whether it has. */
export type SayToNode = (message: Omit<Relay, 'type' | 'node'>, done: (outcome: Outcome<unknown>) => void) => void;

export type NodeRelay = {
	/** Called back once. `ERR_NOT_FOUND`: there is no such connection any more. */
	readonly take: (command: RelayCommand, done: (outcome: Outcome<null>) => void) => void;
	/** How it speaks to other nodes; set once, before anything is taken. */
	readonly join: (say: SayToNode) => void;
	/** Connections that are there, for people. */
	readonly open: () => number;
	readonly close: () => Promise<void>;
};
