// To which pods a node may have connections relayed: those that are endpoints of Services, where one of the two nodes is behind NAT.

import {serviceNameLabel} from '../../../api/endpoint-labels.js';
import {failed, type Outcome} from '../../../api/errors.js';
import type {EndpointSlice} from '../../../api/kinds/endpointslice.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {Known} from '../../../system/index/object-index.js';
import {nodeKey, podKey} from '../../addresses.js';

export type RelayPlace = {readonly from: string; readonly to: string; readonly address: string; readonly port: number};

/** The uid of the pod. Refused in the same words whatever of it is not so: a node learns nothing of what there is. */
export function podAt(known: Pick<Known, 'get' | 'list'>, {from, to, address, port}: RelayPlace): Outcome<string> {
	const refused = failed('ERR_FORBIDDEN', {
		message: `${address}:${port} on node "${to}" is no endpoint of a Service to which connections of node "${from}" are relayed`,
	});
	if (from === to || ![from, to].some(name => isRelayed(known, name))) return refused;
	for (const object of known.list('endpointslices')) {
		const {metadata, addressType, endpoints, ports} = object as EndpointSlice;
		if (addressType !== 'IPv4' || metadata.labels?.[serviceNameLabel] === undefined) continue;
		const endpoint = endpoints.find(
			({addresses, nodeName, targetRef}) => nodeName === to && addresses[0] === address && targetRef?.kind === 'Pod',
		);
		if (endpoint === undefined || !(ports ?? []).some(each => each.port === port && (each.protocol ?? 'TCP') === 'TCP')) continue;
		const {name = '', uid} = endpoint.targetRef ?? {};
		// A slice may be a user's, who can write anything in it: pods are those of its namespace, where and what they are.
		const pod = known.get(podKey({namespace: metadata.namespace ?? '', name})) as Pod | undefined;
		if (pod !== undefined && pod.metadata.uid === uid && pod.spec?.nodeName === to && pod.status?.podIP === address)
			return {ok: true, value: pod.metadata.uid};
	}
	return refused;
}

const isRelayed = (known: Pick<Known, 'get'>, node: string): boolean =>
	(known.get(nodeKey(node)) as NodeObject | undefined)?.status?.network?.reach === 'relayed';
