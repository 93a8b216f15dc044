// Which endpoints answer for a service behind a route, and whose turn it is.

import type {NetworkService} from '../../../actors/protocol/network-object.js';
import type {NetworkDifference, NetworkIndex} from '../index/network-index.js';
import {chooseEndpoints, viewOf} from '../services/endpoints.js';
import {placeText, type EndpointPlace as Endpoint} from '../services/served-port.js';
import type {Backend} from './routes.js';

export type {Endpoint};

export type Endpoints = {
	/** Those that can be used on this node, in the order in which they are to be tried. Each call begins with the next one. */
	readonly inTurn: (backend: Backend) => readonly Endpoint[];
	/** Whether anything known of the network is there: a kept connection to another place is of no more use. */
	readonly isUsed: (backend: Backend, endpoint: Endpoint) => boolean;
	/** Called when endpoints of any service have changed. */
	readonly onChange: (listener: () => void) => void;
};

type Turn = {readonly endpoints: readonly Endpoint[]; next: number};

/** `node`: the name of this one. */
export function createEndpoints(index: NetworkIndex, node: string): Endpoints {
	/** By service, then by port. */
	const turns = new Map<string, Map<string, Turn>>();
	const listeners: (() => void)[] = [];

	const turnOf = (backend: Backend): Turn => {
		const service = `${backend.namespace}/${backend.service}`;
		const ports = turns.get(service) ?? new Map<string, Turn>();
		turns.set(service, ports);
		const port = `${typeof backend.port} ${backend.port ?? ''}`;
		const turn = ports.get(port) ?? {endpoints: usable(index, node, backend), next: 0};
		ports.set(port, turn);
		return turn;
	};

	const forget = (changed: readonly NetworkDifference[]): void => {
		const before = turns.size;
		for (const {before: old, after} of changed) {
			for (const object of [old, after]) {
				if (object?.type === 'service') turns.delete(`${object.namespace}/${object.name}`);
				else if (object?.type === 'endpoints') turns.delete(`${object.namespace}/${object.service}`);
				else if (object?.type === 'node') turns.clear();
			}
		}
		if (turns.size !== before) for (const listener of listeners) listener();
	};
	index.onChange(forget);

	return {
		inTurn(backend) {
			const turn = turnOf(backend);
			const {endpoints} = turn;
			if (endpoints.length < 2) return endpoints;
			const first = turn.next;
			turn.next = (first + 1) % endpoints.length;
			return first === 0 ? endpoints : [...endpoints.slice(first), ...endpoints.slice(0, first)];
		},
		isUsed: (backend, endpoint) => turnOf(backend).endpoints.some(each => placeText(each) === placeText(endpoint)),
		onChange: listener => void listeners.push(listener),
	};
}

/** A Service's traffic policies are of its own addresses: the router goes to endpoints itself, and to all that it reaches. */
function usable(index: NetworkIndex, node: string, {namespace, service: name, port}: Backend): readonly Endpoint[] {
	const service = index.service(namespace, name);
	const wanted = service === undefined ? undefined : portOf(service, port);
	if (wanted === undefined) return [];
	return chooseEndpoints(index.endpointsOf(namespace, name), {name: wanted.name ?? '', protocol: 'TCP'}, viewOf(index, node), false).used;
}

const portOf = (
	{spec}: NetworkService,
	port: number | string | undefined,
): NonNullable<NetworkService['spec']['ports']>[number] | undefined => {
	const ports = (spec.ports ?? []).filter(({protocol = 'TCP'}) => protocol === 'TCP');
	return port === undefined ? ports[0] : ports.find(each => (typeof port === 'number' ? each.port === port : each.name === port));
};
