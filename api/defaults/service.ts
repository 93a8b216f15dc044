// What a Service has beside what its writer says: Kubernetes' defaults, and on an update what it has been given already.

import type {ServicePort, ServiceSpec} from '../shapes/service.js';

type ServiceType = NonNullable<ServiceSpec['type']>;

/** For how long ClientIP keeps a client with one pod, when the manifest does not say: three hours, as in Kubernetes. */
const affinitySeconds = 10_800;

const typeOf = ({type}: ServiceSpec): ServiceType => type ?? 'ClusterIP';

/** Whether it has an address of the cluster's own. */
export const hasClusterIP = (spec: ServiceSpec): boolean => typeOf(spec) !== 'ExternalName' && spec.clusterIP !== 'None';

/** Whether each of its ports has one of the nodes'. */
export const hasNodePorts = (spec: ServiceSpec): boolean =>
	typeOf(spec) === 'NodePort' || (typeOf(spec) === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);

/** Whether nodes take its traffic from outside. */
export const isExternal = ({type, externalIPs = []}: ServiceSpec): boolean =>
	type === 'NodePort' || type === 'LoadBalancer' || externalIPs.length > 0;

/** `old`: as committed, on an update. What comes with the old type goes with it, and what was given is kept though it is not said again. */
export function withServiceDefaults(given: ServiceSpec, old: ServiceSpec | undefined): ServiceSpec {
	const spec = old === undefined ? given : withWhatItHas(withoutOldType(given, old), old);
	return withAddresses(withTraffic(withPorts(withAffinity({...spec, type: typeOf(spec)}))));
}

function withAffinity(spec: ServiceSpec): ServiceSpec {
	const {sessionAffinity = 'None', sessionAffinityConfig} = spec;
	if (sessionAffinity === 'None') return {...spec, sessionAffinity};
	const timeoutSeconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinitySeconds;
	return {...spec, sessionAffinity, sessionAffinityConfig: {clientIP: {timeoutSeconds}}};
}

const withPorts = (spec: ServiceSpec): ServiceSpec =>
	spec.ports === undefined
		? spec
		: {
				...spec,
				ports: spec.ports.map(port => ({...port, protocol: port.protocol ?? 'TCP', targetPort: port.targetPort ?? port.port})),
			};

function withTraffic(spec: ServiceSpec): ServiceSpec {
	if (spec.type === 'ExternalName') return spec;
	return {
		...spec,
		internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster',
		...(isExternal(spec) ? {externalTrafficPolicy: spec.externalTrafficPolicy ?? 'Cluster'} : {}),
		...(spec.type === 'LoadBalancer' ? {allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts ?? true} : {}),
	};
}

/** The address itself is given by the collection. */
function withAddresses({clusterIP, clusterIPs, ...spec}: ServiceSpec): ServiceSpec {
	const address = clusterIP === undefined || clusterIP === '' ? {} : {clusterIP, clusterIPs: clusterIPs ?? [clusterIP]};
	const unpaired = clusterIPs !== undefined && !('clusterIP' in address) ? {clusterIPs} : {};
	if (spec.type === 'ExternalName') return {...spec, ...address, ...unpaired};
	const families = {ipFamilies: spec.ipFamilies ?? ['IPv4' as const], ipFamilyPolicy: spec.ipFamilyPolicy ?? ('SingleStack' as const)};
	return {...spec, ...address, ...unpaired, ...families};
}

// ---- updates -------------------------------------------------------------------------------------------------------------

/** Fields that mean something for some types alone: left as they were while the type became another, they go. After Kubernetes' registry. */
function withoutOldType(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
	const stale: (keyof ServiceSpec)[] = [];
	const lost = (field: keyof ServiceSpec, isNeeded: boolean): void => {
		if (!isNeeded && JSON.stringify(spec[field]) === JSON.stringify(old[field])) stale.push(field);
	};
	const isName = spec.type === 'ExternalName';
	lost('externalName', isName);
	lost('allocateLoadBalancerNodePorts', spec.type === 'LoadBalancer');
	lost('externalTrafficPolicy', isExternal(spec));
	for (const field of ['internalTrafficPolicy', 'ipFamilies', 'ipFamilyPolicy'] as const) lost(field, !isName);
	if (isName && spec.clusterIP === old.clusterIP) stale.push('clusterIP', 'clusterIPs');
	const kept = Object.fromEntries(Object.entries(spec).filter(([field]) => !stale.includes(field as keyof ServiceSpec))) as ServiceSpec;
	return !hasNodePorts(spec) && hasNodePorts(old) ? withoutNodePorts(kept, old) : kept;
}

function withoutNodePorts(spec: ServiceSpec, {ports: before = []}: ServiceSpec): ServiceSpec {
	const had = new Set(before.map(({nodePort}) => nodePort));
	const ports = spec.ports?.map((port): ServicePort => {
		const {nodePort, ...rest} = port;
		return nodePort !== undefined && had.has(nodePort) ? rest : port;
	});
	return ports === undefined ? spec : {...spec, ports};
}

/** Who replaces a Service need not know its addresses. */
function withWhatItHas(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
	const keeps = (spec.clusterIP ?? '') === '' && hasClusterIP(spec) && hasClusterIP(old) && old.clusterIP !== undefined;
	const {clusterIP, clusterIPs} = keeps ? old : spec;
	const isPaired = clusterIP === undefined || clusterIPs?.[0] === clusterIP || clusterIPs?.[0] !== old.clusterIPs?.[0];
	const {clusterIP: _address, clusterIPs: _addresses, ...rest} = spec;
	const addressed: ServiceSpec = {
		...rest,
		...(clusterIP === undefined ? {} : {clusterIP}),
		...(clusterIPs === undefined || !isPaired ? {} : {clusterIPs}),
	};
	return hasNodePorts(spec) && hasNodePorts(old) ? withNodePorts(addressed, old) : addressed;
}

function withNodePorts(spec: ServiceSpec, {ports: before = []}: ServiceSpec): ServiceSpec {
	if (spec.ports === undefined) return spec;
	const taken = new Set(spec.ports.map(({nodePort}) => nodePort));
	const given = new Map(before.map(port => [`${port.port}/${port.protocol ?? 'TCP'}`, port.nodePort]));
	const ports = spec.ports.map((port): ServicePort => {
		const nodePort = port.nodePort ?? given.get(`${port.port}/${port.protocol ?? 'TCP'}`);
		return nodePort === undefined || (port.nodePort === undefined && taken.has(nodePort)) ? port : {...port, nodePort};
	});
	return {...spec, ports};
}
