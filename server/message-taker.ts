// Who takes what clients of MQTT publish, besides its subscribers.
//
// Of QoS 1 and 2 a message is taken once what it comes to is committed, so nothing is lost whatever ends. What may be better later (too much waits, the
// store fails) is not taken, and its client sends it again; what never will be is taken and told. QoS 0 is tried once.

import type {Failure} from '../api/errors.js';
import type {Identity} from '../api/roles.js';
import type {ClientMessage} from '../system/broker/ports.js';

export type MessageTaker = {
	/**
	 * Undefined: it is not for this one, or all that is to be done is under way. Rejects where it is to be sent again. `identity` is undefined
	 * where nobody knows who has published.
	 */
	readonly accept: (identity: Identity | undefined, message: ClientMessage) => Promise<void> | undefined;
};

/** A message, or a part of what it comes to, that was not taken, or never will be; where it came from, never what was in it. */
export type OnRefused = (why: Failure, about: {readonly topic: string; readonly login: string | undefined}) => void;

/** Each takes what is for it. */
export const eachIts = (...takers: readonly MessageTaker[]): MessageTaker => ({
	accept(identity, message) {
		for (const taker of takers) {
			const taken = taker.accept(identity, message);
			if (taken !== undefined) return taken;
		}
		return undefined;
	},
});
