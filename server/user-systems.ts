// Which actor systems of users' own there are, as their presences say: each says that it is there every few seconds, and its last will
// clears that. What is not heard of any more is forgotten, too: the word of its end may have been lost with a broker.

import {limits} from '../api/limits.js';
import {parseTopic, userPresenceFilter} from '../api/topics.js';
import {formatUserSystem, parseUserPresence, parseUserSystem, type UserPresence} from '../api/user-system.js';
import type {PubSub} from '../system/links/pubsub.js';
import type {Cancel, Clock} from '../system/time/clock.js';

export type UserSystemsOptions = {
	readonly pubsub: Pick<PubSub, 'subscribe'>;
	readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
	/** One is gone: what waits for it waits in vain. */
	readonly onGone: (system: string) => void;
};

export type UserSystems = {
	/** Sorted. */
	readonly names: () => readonly string[];
	readonly has: (system: string) => boolean;
	readonly presenceOf: (system: string) => UserPresence | undefined;
	readonly close: () => void;
};

type Known = {readonly login: string; readonly presence: UserPresence; readonly heardMs: number};

/** Listens, from now on. Of one login, and in all, there are so many at most; others are not seen. */
export function followUserSystems({pubsub, clock, onGone}: UserSystemsOptions): UserSystems {
	const known = new Map<string, Known>();
	let cancelSweep: Cancel | undefined;

	const end = pubsub.subscribe(userPresenceFilter, (topic, payload) => {
		const parsed = parseTopic(topic);
		if (parsed?.type !== 'userPresence') return;
		const system = formatUserSystem(parsed);
		const presence = parseUserPresence(payload);
		if (payload === '') forget(system);
		else if (presence?.state === 'online' && parseUserSystem(system) !== undefined && hasRoom(system, parsed.login)) {
			known.set(system, {login: parsed.login, presence, heardMs: clock.monotonicMs()});
			cancelSweep ??= clock.after(limits.userSystemSilentMs, sweep);
		}
	});
	return {
		names: () => [...known.keys()].sort(),
		has: system => known.has(system),
		presenceOf: system => known.get(system)?.presence,
		close() {
			cancelSweep?.();
			end();
			known.clear();
		},
	};

	function hasRoom(system: string, login: string): boolean {
		if (known.has(system)) return true;
		if (known.size >= limits.userSystems) return false;
		return [...known.values()].filter(each => each.login === login).length < limits.userSystemsPerLogin;
	}

	function forget(system: string): void {
		if (known.delete(system)) onGone(system);
	}

	/** Ticks only while there are any. */
	function sweep(): void {
		const silentMs = clock.monotonicMs() - limits.userSystemSilentMs;
		for (const [system, {heardMs}] of [...known]) if (heardMs <= silentMs) forget(system);
		cancelSweep = known.size === 0 ? undefined : clock.after(limits.userSystemPresenceMs, sweep);
	}
}
