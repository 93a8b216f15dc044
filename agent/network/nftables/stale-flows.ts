// Flows of datagrams that the kernel goes on leading where it led them first: they are forgotten when that endpoint gets none any more, or when
// there was none. A connection ends with its endpoint; a flow would go on for as long as its client sends.

import {limits} from '../../../api/limits.js';
import {endpointsAt, type ServedDifference, type ServedPlace, type ServedPort} from '../services/served-port.js';

/** Flows to a port, at an address if it is of one; of those the ones that are led to an endpoint, if one is named. */
export type StaleFlows = {readonly address: string | undefined; readonly port: number; readonly endpoint: string | undefined};

/** With many endpoints gone all flows to that place choose anew. */
export function staleFlows({before, after}: ServedDifference): readonly StaleFlows[] {
	if (before?.protocol !== 'UDP' && after?.protocol !== 'UDP') return [];
	const places = new Map([...(before?.places ?? []), ...(after?.places ?? [])].map(place => [JSON.stringify(place), place]));
	return [...places.values()].flatMap((place): readonly StaleFlows[] => {
		const {address, port} = place;
		const was = addressesAt(before, place);
		const is = addressesAt(after, place);
		// What came while there was none was taken for something else's.
		if (was.size === 0) return is.size === 0 ? [] : [{address, port, endpoint: undefined}];
		const gone = [...was].filter(endpoint => !is.has(endpoint));
		if (gone.length > limits.staleFlowCalls) return [{address, port, endpoint: undefined}];
		return gone.map(endpoint => ({address, port, endpoint}));
	});
}

/** None where the port is not served at that place. */
function addressesAt(served: ServedPort | undefined, place: ServedPlace): ReadonlySet<string> {
	const isThere = served?.places.some(each => JSON.stringify(each) === JSON.stringify(place)) === true;
	return new Set(isThere ? endpointsAt(served, place).map(endpoint => endpoint.address) : []);
}

/** For conntrack(8). */
export const forgetWords = ({address, port, endpoint}: StaleFlows): readonly string[] => [
	'--delete',
	'--proto',
	'udp',
	...(address === undefined ? [] : ['--orig-dst', address]),
	'--orig-port-dst',
	String(port),
	...(endpoint === undefined ? [] : ['--reply-src', endpoint]),
];

/** Each once. */
export const distinctFlows = (flows: readonly StaleFlows[]): readonly StaleFlows[] => [
	...new Map(flows.map(flow => [JSON.stringify(flow), flow])).values(),
];
