// In which order the endpoints of a served port are tried for a client.

import type {Random} from '../../../system/time/random.js';
import {endpointsAt, type EndpointPlace, type ServedPlace, type ServedPort} from '../services/served-port.js';
import type {Affinity} from './affinity.js';

export type Choice = {
	/** Each endpoint once, the first as soon as it is asked for; the client's own first, if it has one. */
	readonly order: (served: ServedPort, place: ServedPlace, client: string) => Iterable<EndpointPlace>;
	/** The client reached it. */
	readonly reached: (served: ServedPort, client: string, endpoint: EndpointPlace) => void;
	/** The served port is there no more. */
	readonly forget: (key: string) => void;
};

/** One after the other, from one of chance on. */
export function createChoice(random: Random, affinity: Affinity): Choice {
	const turns = new Map<string, number>();
	const turnOf = (key: string, count: number): number => {
		const turn = turns.get(key) ?? Math.floor(random.next() * count);
		turns.set(key, (turn + 1) % count);
		return turn % count;
	};
	return {
		*order(served, place, client) {
			const endpoints = endpointsAt(served, place);
			if (endpoints.length === 0) return;
			const own = served.affinitySeconds === undefined ? undefined : affinity.endpointOf(whoIs(served, client), endpoints);
			if (own !== undefined) yield own;
			const turn = turnOf(served.key, endpoints.length);
			for (const endpoint of [...endpoints.slice(turn), ...endpoints.slice(0, turn)]) if (endpoint !== own) yield endpoint;
		},
		reached(served, client, endpoint) {
			if (served.affinitySeconds !== undefined) affinity.keep(whoIs(served, client), endpoint, served.affinitySeconds);
		},
		forget: key => void turns.delete(key),
	};
}

const whoIs = ({key}: ServedPort, client: string): string => `${key} ${client}`;
