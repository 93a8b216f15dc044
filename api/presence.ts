// What an agent says of itself on `nodes/<node>/presence`, retained, and leaves there as its last will.
//
// A will may arrive late, after its agent has come back: boot and connection say of which connection it tells.

import {isObject} from './object.js';
import {parsedJson} from './value-or.js';

export type PresenceState = 'online' | 'restarting' | 'offline';

export type Presence = {
	readonly state: PresenceState;
	/** Random per start of the agent. */
	readonly boot: string;
	/** Counted from 1 by the agent, one more with each connection of this boot. */
	readonly connection: number;
};

const states: readonly string[] = ['online', 'restarting', 'offline'];
const bootCharacters = 128;

export const formatPresence = ({state, boot, connection}: Presence): string => JSON.stringify({state, boot, connection});

/** Undefined: the text is no presence of ours. */
export function parsePresence(text: string): Presence | undefined {
	const parsed = parsedJson(text);
	if (!isObject(parsed)) return undefined;
	const {state, boot, connection} = parsed;
	if (typeof state !== 'string' || !states.includes(state)) return undefined;
	if (!isBoot(boot)) return undefined;
	if (!Number.isSafeInteger(connection) || (connection as number) < 1) return undefined;
	return {state: state as PresenceState, boot, connection: connection as number};
}

/** Whether what was said on one connection is news after what was said on another; of another boot it always is. */
export const isNewer = (a: Presence, b: Presence | undefined): boolean =>
	b === undefined || a.boot !== b.boot || a.connection >= b.connection;

/** What an agent says on `nodes/<node>/beat` as long as it lives. */
export type Beat = {
	/** Random per start of the agent. */
	readonly boot: string;
	/** Counted from 1. */
	readonly sequence: number;
};

export const formatBeat = ({boot, sequence}: Beat): string => JSON.stringify({boot, sequence});

/** The boot that a beat is of. Undefined: the text is no beat of ours. */
export function bootOfBeat(text: string): string | undefined {
	const parsed = parsedJson(text);
	return isObject(parsed) && isBoot(parsed['boot']) ? parsed['boot'] : undefined;
}

const isBoot = (boot: unknown): boot is string => typeof boot === 'string' && boot !== '' && boot.length <= bootCharacters;
