// One pod as an endpoint of a Service. After Kubernetes' endpointslice reconciler.

import {conditionOf} from '../../../api/conditions.js';
import type {EndpointSlice} from '../../../api/kinds/endpointslice.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {Service, ServicePort} from '../../../api/kinds/service.js';
import type {Known} from '../../../system/index/object-index.js';
import {nodeKey} from '../../addresses.js';
import {silentReasons, suspectReason} from '../nodes/node-finding.js';
import {isDeleting} from '../objects/garbage.js';
import {isReady, isTerminal} from '../pods/pod-lifecycle.js';

export type Endpoint = EndpointSlice['endpoints'][number];
export type EndpointPorts = NonNullable<EndpointSlice['ports']>;

/** What of a pod an endpoint is made of; undefined: it is none of any Service. */
export const addressOf = (pod: Pod): string | undefined => (isTerminal(pod) ? undefined : pod.status?.podIP || undefined);

/** Whether two states of a pod are one endpoint. Its ports are in its spec. */
export const isSameEndpoint = (before: Pod, after: Pod): boolean =>
	addressOf(before) === addressOf(after) &&
	isReady(before) === isReady(after) &&
	isDeleting(before) === isDeleting(after) &&
	before.spec === after.spec &&
	before.metadata.labels === after.metadata.labels;

/**
 * Whether nothing is heard of a node: its pods get no traffic where others can have it. An agent that restarts, and a control plane that does, say
 * nothing of its pods.
 */
export const isSilent = (node: NodeObject | undefined): boolean => silenceOf(node) !== undefined;

/** Undefined: it is heard. */
export function silenceOf(node: NodeObject | undefined): 'suspect' | 'lost' | undefined {
	const {status, reason = ''} = conditionOf(node?.status?.conditions, 'Ready') ?? {};
	if (node !== undefined && (status === 'True' || !silentReasons.has(reason))) return undefined;
	return reason === suspectReason ? 'suspect' : 'lost';
}

/** Undefined: it is none, now. */
export function endpointOf(pod: Pod, {spec = {}, metadata}: Service, known: Known): Endpoint | undefined {
	const address = addressOf(pod);
	const {nodeName, hostname, subdomain} = pod.spec ?? {};
	if (address === undefined || nodeName === undefined) return undefined;
	const node = known.get(nodeKey(nodeName)) as NodeObject | undefined;
	const terminating = isDeleting(pod);
	const silence = silenceOf(node);
	// Of a suspect node it is not known yet: where no pod is ready its pods are tried.
	const serving = isReady(pod) && silence !== 'lost';
	const ready = spec.publishNotReadyAddresses === true || (serving && !terminating && silence === undefined);
	const zone = node?.metadata.labels?.['topology.kubernetes.io/zone'];
	const {namespace = '', name, uid} = pod.metadata;
	return {
		addresses: [address],
		conditions: {ready, serving, terminating},
		...(hostname !== undefined && hostname !== '' && subdomain === metadata.name ? {hostname} : {}),
		nodeName,
		...(zone === undefined ? {} : {zone}),
		targetRef: {kind: 'Pod', namespace, name, uid},
	};
}

/** Where the pod listens for the Service: ports that its containers do not name are left out. */
export const portsOf = (pod: Pod, {spec}: Service): EndpointPorts =>
	(spec?.ports ?? []).flatMap(port => {
		const number = targetOf(pod, port);
		if (number === undefined) return [];
		const {name = '', protocol = 'TCP', appProtocol} = port;
		return [{name, port: number, protocol, ...(appProtocol === undefined ? {} : {appProtocol})}];
	});

/** The number that a port of a Service has at a pod; undefined: no container of it has a port of that name. */
export function targetOf({spec}: Pod, {port, targetPort = port, protocol = 'TCP'}: ServicePort): number | undefined {
	if (typeof targetPort === 'number') return targetPort;
	const sidecars = (spec?.initContainers ?? []).filter(({restartPolicy}) => restartPolicy === 'Always');
	return [...(spec?.containers ?? []), ...sidecars]
		.flatMap(({ports = []}) => ports)
		.find(each => each.name === targetPort && (each.protocol ?? 'TCP') === protocol)?.containerPort;
}
