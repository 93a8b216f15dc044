// With which endpoint a client stays (sessionAffinity: ClientIP), for all served ports of this process.

import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import {placeText, type EndpointPlace} from '../services/served-port.js';

export type Affinity = {
	/** Undefined: it may go anywhere. `who` names the served port, too. */
	readonly endpointOf: (who: string, endpoints: readonly EndpointPlace[]) => EndpointPlace | undefined;
	/** The time begins anew with each use. */
	readonly keep: (who: string, endpoint: EndpointPlace, seconds: number) => void;
	readonly size: () => number;
};

/** At its bound the client that came least recently is forgotten. */
export function createAffinity(clock: Clock, most: number = limits.proxyAffinityClients): Affinity {
	const kept = new Map<string, {readonly endpoint: string; readonly untilMs: number}>();
	return {
		endpointOf(who, endpoints) {
			const found = kept.get(who);
			if (found === undefined) return undefined;
			if (found.untilMs > clock.monotonicMs()) return endpoints.find(endpoint => placeText(endpoint) === found.endpoint);
			kept.delete(who);
			return undefined;
		},
		keep(who, endpoint, seconds) {
			kept.delete(who);
			kept.set(who, {endpoint: placeText(endpoint), untilMs: clock.monotonicMs() + seconds * 1_000});
			if (kept.size <= most) return;
			const [oldest] = kept.keys();
			if (oldest !== undefined) kept.delete(oldest);
		},
		size: () => kept.size,
	};
}
