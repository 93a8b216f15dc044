// From a Service and its slices to the ports that a node serves.

import type {NetworkEndpoints, NetworkService} from '../../../actors/protocol/network-object.js';
import {isIPv4} from '../../../api/rules/address.js';
import {chooseEndpoints, type View} from './endpoints.js';
import type {LeftOut, ServedPlace, ServedPort, ServedProtocol} from './served-port.js';

type ServicePort = NonNullable<NetworkService['spec']['ports']>[number];

/** As in Kubernetes, where a Service that asks for affinity does not say for how long. */
const affinitySeconds = 10_800;

/** Those without a place are left out: a Service without an address (headless, ExternalName, or one that has none yet) and without a node port. */
export function portsOfService(service: NetworkService, slices: readonly NetworkEndpoints[], view: View): readonly ServedPort[] {
	return portsIn(service).flatMap(({port, protocol}) => {
		const places = placesOf(service, port);
		return places.length === 0 ? [] : [servedPort(service, port, protocol, places, slices, view)];
	});
}

/** Endpoints that get no traffic at the ClusterIP, each with the first of its reasons. */
export function leftOutOf(service: NetworkService, slices: readonly NetworkEndpoints[], view: View): readonly LeftOut[] {
	const byAddress = new Map<string, LeftOut>();
	for (const {port, protocol} of portsIn(service)) {
		const {leftOut} = chooseEndpoints(slices, {name: port.name ?? '', protocol}, view, isLocal(service.spec.internalTrafficPolicy));
		for (const one of leftOut) if (!byAddress.has(one.address)) byAddress.set(one.address, one);
	}
	return [...byAddress.values()];
}

const isLocal = (policy: 'Cluster' | 'Local' | undefined): boolean => policy === 'Local';

/** SCTP is not served: no part of a node's data plane speaks it. */
const portsIn = ({spec}: NetworkService): readonly {readonly port: ServicePort; readonly protocol: ServedProtocol}[] =>
	(spec.ports ?? []).flatMap(port => {
		const {protocol = 'TCP'} = port;
		return protocol === 'SCTP' ? [] : [{port, protocol}];
	});

function placesOf({spec}: NetworkService, {port, nodePort}: ServicePort): readonly ServedPlace[] {
	const {type = 'ClusterIP', clusterIP = ''} = spec;
	if (type === 'ExternalName' || clusterIP === 'None') return [];
	const {externalIPs = []} = spec as {readonly externalIPs?: readonly string[]};
	const external = [...new Set(externalIPs)].filter(isIPv4);
	return [
		...(isIPv4(clusterIP) ? [{kind: 'cluster', address: clusterIP, port} as const] : []),
		...external.map(address => ({kind: 'external', address, port}) as const),
		...(nodePort !== undefined && type !== 'ClusterIP' ? [{kind: 'node', address: undefined, port: nodePort} as const] : []),
		...(type === 'LoadBalancer' ? [{kind: 'balancer', address: undefined, port} as const] : []),
	];
}

function servedPort(
	{namespace, name, spec}: NetworkService,
	port: ServicePort,
	protocol: ServedProtocol,
	places: readonly ServedPlace[],
	slices: readonly NetworkEndpoints[],
	view: View,
): ServedPort {
	const wanted = {name: port.name ?? '', protocol};
	const isInsideLocal = isLocal(spec.internalTrafficPolicy);
	const isOutsideLocal = isLocal(spec.externalTrafficPolicy);
	const inside = chooseEndpoints(slices, wanted, view, isInsideLocal);
	const outside = isInsideLocal === isOutsideLocal ? inside : chooseEndpoints(slices, wanted, view, isOutsideLocal);
	return {
		key: `${namespace}/${name}/${protocol}/${port.port}`,
		namespace,
		service: name,
		protocol,
		places,
		taken: [],
		inside: inside.used,
		outside: outside.used,
		isOutsideLocal,
		known: inside.known,
		affinitySeconds:
			spec.sessionAffinity === 'ClientIP' ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinitySeconds) : undefined,
	};
}
