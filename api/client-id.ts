// How the connections of an agent are called at the broker, and which of them may be there together: one agent per node. A second
// one with the same login is told that it is the second; the same agent takes over what is left of its own broken connections.

/** `<node>.<boot>.<what>`. A node's name may have dots, the other two have none. */
export const formatClientId = (node: string, boot: string, what: string): string => `${node}.${boot}.${what}`;

/** What tells two programs of one login apart; the whole text where it is none of ours. */
const bootOf = (clientId: string): string => /^.+\.([^.]+)\.[^.]+$/.exec(clientId)?.[1] ?? clientId;

/** A connection of a login that is there. */
export type OpenConnection = {
	readonly clientId: string;
	/** Since anything came on it. */
	readonly silentMs: number;
};

/**
 * What ends when an agent's connection comes in beside the others of its login: all of another start of the agent, if nothing at
 * all came from them for so long. Undefined: that one lives, and this one has to go.
 */
export function endedBy<Connection extends OpenConnection>(
	clientId: string,
	others: readonly Connection[],
	aliveMs: number,
): readonly Connection[] | undefined {
	const strangers = others.filter(other => bootOf(other.clientId) !== bootOf(clientId));
	return strangers.some(({silentMs}) => silentMs < aliveMs) ? undefined : strangers;
}
