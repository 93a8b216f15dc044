// What the kernel goes on leading where it led it first, though that endpoint gets nothing any more: it is forgotten, and led anew.
//
// Flows of datagrams would go on for as long as their client sends. A connection ends with its endpoint, but for an attempt that nobody has answered: its
// client sends again what would be lost again; and the next connection that has its port by chance, up to two minutes later, would be led there, too.

import {limits} from '../../../api/limits.js';
import {endpointsAt, type EndpointPlace, type ServedDifference, type ServedPlace, type ServedPort} from '../services/served-port.js';

/** One that has another port is another one, though its address be the same. */
type Endpoint = Pick<EndpointPlace, 'address' | 'port'>;

export type StaleFlows =
	/** To a port, at an address if it is of one; of those the ones that are led to an endpoint, if one is named. */
	| {
			readonly protocol: 'UDP';
			readonly address: string | undefined;
			readonly port: number;
			readonly endpoint: Endpoint | undefined;
	  }
	/** Attempts at connections that are led to an endpoint; undefined: all attempts that are led anywhere. */
	| {readonly protocol: 'TCP'; readonly endpoint: Endpoint | undefined};

/**
 * All that is to be forgotten after these changes, each once. With very many endpoints gone all attempts at Services choose anew: at those that are still
 * there, too, which costs their clients no more than to send again. What is not led anywhere, of programs of the host and of pods to other places, stays.
 */
export function staleFlows(differences: readonly ServedDifference[]): readonly StaleFlows[] {
	const all = differences.flatMap(difference => [...staleDatagrams(difference), ...staleAttempts(difference)]);
	const distinct = [...new Map(all.map(flow => [JSON.stringify(flow), flow])).values()];
	const attempts = distinct.filter(({protocol}) => protocol === 'TCP');
	if (attempts.length <= limits.staleFlowCalls) return distinct;
	return [...distinct.filter(({protocol}) => protocol === 'UDP'), {protocol: 'TCP', endpoint: undefined}];
}

/** With many endpoints gone all flows to that place choose anew. */
function staleDatagrams({before, after}: ServedDifference): readonly StaleFlows[] {
	if (before?.protocol !== 'UDP' && after?.protocol !== 'UDP') return [];
	return placesOf({before, after}).flatMap((place): readonly StaleFlows[] => {
		const {address, port} = place;
		const at = {protocol: 'UDP', address, port} as const;
		const was = placedAt(before, place);
		const is = placedAt(after, place);
		// What came while there was none was taken for something else's.
		if (was.size === 0) return is.size === 0 ? [] : [{...at, endpoint: undefined}];
		const gone = goneFrom(was, is);
		if (gone.length > limits.staleFlowCalls) return [{...at, endpoint: undefined}];
		return gone.map(endpoint => ({...at, endpoint}));
	});
}

function staleAttempts({before, after}: ServedDifference): readonly StaleFlows[] {
	if (before?.protocol !== 'TCP') return [];
	return placesOf({before, after}).flatMap(place => {
		return goneFrom(placedAt(before, place), placedAt(after, place)).map(endpoint => ({protocol: 'TCP', endpoint}) as const);
	});
}

const placesOf = ({before, after}: Pick<ServedDifference, 'before' | 'after'>): readonly ServedPlace[] => [
	...new Map([...(before?.places ?? []), ...(after?.places ?? [])].map(place => [JSON.stringify(place), place])).values(),
];

/** None where the port is not served at that place. */
function placedAt(served: ServedPort | undefined, place: ServedPlace): ReadonlyMap<string, Endpoint> {
	const isThere = served?.places.some(each => JSON.stringify(each) === JSON.stringify(place)) === true;
	return new Map(isThere ? endpointsAt(served, place).map(({address, port}) => [`${address} ${port}`, {address, port}]) : []);
}

const goneFrom = (was: ReadonlyMap<string, Endpoint>, is: ReadonlyMap<string, Endpoint>): readonly Endpoint[] =>
	[...was].filter(([key]) => !is.has(key)).map(([, endpoint]) => endpoint);

/** For conntrack(8). */
export function forgetWords(flows: StaleFlows): readonly string[] {
	const {endpoint} = flows;
	const toEndpoint = endpoint === undefined ? [] : ['--reply-src', endpoint.address, '--reply-port-src', String(endpoint.port)];
	if (flows.protocol === 'TCP')
		return ['--delete', '--proto', 'tcp', '--state', 'SYN_SENT', ...(endpoint === undefined ? ['--dst-nat'] : toEndpoint)];
	return [
		'--delete',
		'--proto',
		'udp',
		...(flows.address === undefined ? [] : ['--orig-dst', flows.address]),
		'--orig-port-dst',
		String(flows.port),
		...toEndpoint,
	];
}
