// Which endpoints of a Service get traffic on a node, which do not, and why.

import type {NetworkEndpoints, NetworkNode} from '../../../actors/protocol/network-object.js';
import {ipv4Number, parseSubnet} from '../../../api/ipv4.js';
import {objectKey} from '../../../api/keys.js';
import {shown} from '../../../api/shown.js';
import {isIPv4} from '../../../api/rules/address.js';
import type {NetworkIndex} from '../index/network-index.js';
import {placeText, type EndpointPlace, type LeftOut, type ServedProtocol} from './served-port.js';

type SliceEndpoint = NetworkEndpoints['endpoints'][number];

/** The node that looks. */
export type View = {
	readonly node: string;
	/** Whether what has that address on that node is reached from others. */
	readonly isRouted: (node: string, address: string) => boolean;
	/** Whether connections between that node and this one are relayed, since one of them is behind NAT. */
	readonly isRelayed: (node: string) => boolean;
};

export type PortOfService = {readonly name: string; readonly protocol: ServedProtocol};

export type Chosen = {
	readonly used: readonly EndpointPlace[];
	readonly known: readonly EndpointPlace[];
	readonly leftOut: readonly LeftOut[];
};

/** Addresses of the node itself, and of its pods where they have some of its subnet: others may have been given theirs by Docker, or be of before. */
export function isReachedFromAfar(node: NetworkNode | undefined, address: string): boolean {
	if (node === undefined) return false;
	const subnet = node.pods === 'routed' && node.podCIDR !== undefined ? parseSubnet(node.podCIDR) : undefined;
	const number = ipv4Number(address);
	if (subnet !== undefined && number !== undefined && number >= subnet.first && number < subnet.first + subnet.size) return true;
	return node.addresses.includes(address);
}

/** Of who looks each time. */
export const viewOf = (index: Pick<NetworkIndex, 'get'>, node: string): View =>
	viewWith(node, name => {
		const found = index.get(objectKey('nodes', undefined, name));
		return found?.type === 'node' ? found : undefined;
	});

/** `nodeOf`: what is known of a node. */
export const viewWith = (node: string, nodeOf: (name: string) => NetworkNode | undefined): View => ({
	node,
	isRouted: (other, address) => isReachedFromAfar(nodeOf(other), address),
	isRelayed(other) {
		const there = nodeOf(other);
		return there !== undefined && other !== node && (there.reach === 'relayed' || nodeOf(node)?.reach === 'relayed');
	},
});

/** Whether pods of this node reach what has this address, by itself. */
export const isReached = (endpoint: SliceEndpoint, address: string, view: View): boolean =>
	viaOf(endpoint, view) === undefined &&
	whyUnreached({address, port: 0, endpoint, isLocal: endpoint.nodeName === view.node}, view, 'TCP', false) === undefined;

const viaOf = ({nodeName}: SliceEndpoint, view: View): string | undefined =>
	nodeName !== undefined && view.isRelayed(nodeName) ? nodeName : undefined;

type Candidate = EndpointPlace & {readonly endpoint: SliceEndpoint; readonly isLocal: boolean};

/**
 * With `onlyLocal` those of other nodes are left out. Where no ready one is left those are used that served when they were heard last, and are
 * terminating or on a node that is silent: what is refused for sure is worse than a pod that is about to go. Of all at once nothing is heard when
 * it is the control plane that heard nothing, as behind a broker that was away.
 */
export function chooseEndpoints(slices: Iterable<NetworkEndpoints>, port: PortOfService, view: View, onlyLocal: boolean): Chosen {
	const known = new Map<string, EndpointPlace>();
	const leftOut: LeftOut[] = [];
	const reached = new Map<string, Candidate>();
	for (const candidate of candidatesOf(slices, port, view, leftOut)) {
		const {endpoint, isLocal, ...place} = candidate;
		known.set(placeText(candidate), place);
		const reason = whyUnreached(candidate, view, port.protocol, onlyLocal);
		if (reason === undefined) {
			const before = reached.get(placeText(candidate));
			if (before === undefined || !isReady(before.endpoint)) reached.set(placeText(candidate), {...place, endpoint, isLocal});
		} else leftOut.push(leftOutOf(endpoint, place.address, reason));
	}
	const candidates = [...reached.values()];
	const ready = candidates.filter(({endpoint}) => isReady(endpoint));
	const used = ready.length > 0 ? ready : candidates.filter(({endpoint}) => isServing(endpoint));
	for (const candidate of candidates)
		if (!used.includes(candidate)) leftOut.push(leftOutOf(candidate.endpoint, candidate.address, whyUnused(candidate.endpoint)));
	return {used: placesOf(used), known: sorted([...known.values()]), leftOut};
}

function* candidatesOf(slices: Iterable<NetworkEndpoints>, port: PortOfService, view: View, leftOut: LeftOut[]): Generator<Candidate> {
	for (const slice of slices) {
		const number = (slice.ports ?? []).find(({name = '', protocol = 'TCP'}) => name === port.name && protocol === port.protocol)?.port;
		for (const endpoint of slice.endpoints) {
			// As in Kubernetes the addresses of one endpoint stand for the same pod: the first is used.
			const [address = ''] = endpoint.addresses;
			if (slice.addressType !== 'IPv4' || !isIPv4(address))
				leftOut.push(leftOutOf(endpoint, address, `its address is of type ${slice.addressType}: IPv4 is served`));
			else if (number === undefined)
				leftOut.push(
					leftOutOf(endpoint, address, `it has no port ${port.name === '' ? port.protocol : `${shown(port.name)} (${port.protocol})`}`),
				);
			else {
				const via = viaOf(endpoint, view);
				yield {address, port: number, ...(via === undefined ? {} : {via}), endpoint, isLocal: endpoint.nodeName === view.node};
			}
		}
	}
}

const isReady = ({conditions}: SliceEndpoint): boolean => conditions?.ready !== false;
const isTerminating = ({conditions}: SliceEndpoint): boolean => conditions?.terminating === true;
const isServing = ({conditions}: SliceEndpoint): boolean => (conditions?.serving ?? conditions?.ready) !== false;

/** Undefined: it is reached from this node, and may be. */
function whyUnreached(
	{endpoint, address, via, isLocal}: Candidate,
	view: View,
	protocol: ServedProtocol,
	onlyLocal: boolean,
): string | undefined {
	const {nodeName, targetRef} = endpoint;
	if (isLocal) return undefined;
	if (via !== undefined && !onlyLocal) {
		if (protocol !== 'TCP')
			return `it is on node ${shown(via)}, which is reached by TCP alone: that node or this one is behind NAT, and ${protocol} is not relayed`;
		if (targetRef?.kind !== 'Pod') return `it is on node ${shown(via)}, and no pod: connections behind NAT are relayed to pods alone`;
		return undefined;
	}
	// Such an address is each host's own: what answers there is something else.
	if (address.startsWith('127.')) return `${address} is of one host alone, and it is not on this node`;
	if (onlyLocal) return `it is not on this node, and the traffic policy is Local`;
	if (nodeName !== undefined && !view.isRouted(nodeName, address)) return `pods of node ${shown(nodeName)} are reached on that node alone`;
	return undefined;
}

function whyUnused(endpoint: SliceEndpoint): string {
	if (!isTerminating(endpoint)) return isServing(endpoint) ? 'its node is not heard, and others are ready' : 'it is not ready';
	return isServing(endpoint) ? 'it is terminating, and others are ready' : 'it is terminating and does not serve any more';
}

const leftOutOf = ({nodeName, targetRef}: SliceEndpoint, address: string, reason: string): LeftOut => ({
	address,
	node: nodeName,
	target: targetRef?.name,
	reason,
});

const placesOf = (candidates: readonly Candidate[]): readonly EndpointPlace[] =>
	sorted(candidates.map(({endpoint: _endpoint, isLocal: _isLocal, ...place}) => place));

/** The same endpoints in another order are no change. */
const sorted = (places: readonly EndpointPlace[]): readonly EndpointPlace[] =>
	[...places].sort((a, b) => compared(a.address, b.address) || a.port - b.port || compared(a.via ?? '', b.via ?? ''));

const compared = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
