// `describe service`: where it listens, which pods serve it, and which do not and why. Pure.

import {conditionOf} from '../../api/conditions.js';
import type {EndpointSlice} from '../../api/kinds/endpointslice.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Service, ServicePort} from '../../api/kinds/service.js';
import type {WidthOf} from '../screen/table.js';
import {drawFields, drawSection, labelLines, metadataFields, type Field} from './lines.js';

type Endpoint = EndpointSlice['endpoints'][number];
type Ports = NonNullable<EndpointSlice['ports']>;

/** Everything but the events. `pods` are those of its selector, `nodes` all, as far as they are known. */
export function describeService(
	service: Service,
	slices: readonly EndpointSlice[],
	pods: readonly Pod[],
	nodes: readonly NodeObject[],
	nowMs: number,
	widthOf: WidthOf,
): string {
	const {spec = {}, status} = service;
	const {type = 'ClusterIP', selector, clusterIP, externalIPs, externalName, sessionAffinity = 'None'} = spec;
	const balanced = (status?.loadBalancer?.ingress ?? []).flatMap(({ip, hostname}) => ip ?? hostname ?? []);
	const fields = drawFields([
		...metadataFields(service, nowMs),
		['Selector', labelLines(selector)],
		['Type', type],
		['External Name', externalName],
		['IP', clusterIP],
		['External IPs', externalIPs],
		['LoadBalancer Ingress', type === 'LoadBalancer' ? balanced : undefined],
		...(spec.ports ?? []).flatMap(portFields),
		['Session Affinity', sessionAffinity],
		['External Traffic Policy', spec.externalTrafficPolicy],
		['Internal Traffic Policy', spec.internalTrafficPolicy],
		['Not Ready Addresses', spec.publishNotReadyAddresses === true ? 'published' : undefined],
	]);
	const found = slices.flatMap(({endpoints, ports = []}) => endpoints.map(endpoint => ({endpoint, ports})));
	const used = found.filter(({endpoint}) => endpoint.conditions?.ready !== false);
	const left = [
		...podsLeftOut(service, slices, pods),
		...leftOutElsewhere(
			spec,
			used.map(({endpoint}) => endpoint),
			nodes,
		),
	];
	const out = left.map(({name, node = '<none>', why}) => [name, node, why]);
	return (
		fields +
		drawSection(
			'Endpoints',
			['ADDRESS', 'POD', 'NODE'],
			used.map(({endpoint, ports}) => row(endpoint, ports)),
			widthOf,
		) +
		(out.length === 0 ? '' : drawSection('Left Out', ['POD', 'NODE', 'WHY'], out, widthOf))
	);
}

export type PodLeftOut = {readonly name: string; readonly node: string | undefined; readonly why: string};

/** Pods that do not serve, each with why. `pods` are those of the selector. */
export function podsLeftOut({spec = {}}: Service, slices: readonly EndpointSlice[], pods: readonly Pod[]): readonly PodLeftOut[] {
	const endpoints = slices.flatMap(slice => slice.endpoints);
	const podOf = new Map(pods.map(pod => [pod.metadata.uid, pod]));
	return [
		...endpoints
			.filter(({conditions}) => conditions?.ready === false)
			.map(endpoint => ({
				name: nameOf(endpoint),
				node: endpoint.nodeName,
				why: whyUnready(endpoint, podOf.get(endpoint.targetRef?.uid ?? '')),
			})),
		...absent(pods, endpoints).map(pod => ({
			name: pod.metadata.name,
			node: pod.spec?.nodeName,
			why: whyAbsent(pod, spec.ports ?? []),
		})),
	];
}

/** Endpoints that only their own node leads to. */
function leftOutElsewhere(
	{ports = []}: NonNullable<Service['spec']>,
	used: readonly Endpoint[],
	nodes: readonly NodeObject[],
): readonly PodLeftOut[] {
	if (!ports.some(({protocol}) => protocol === 'UDP')) return [];
	const relayed = new Set(nodes.filter(({status}) => status?.network?.reach === 'relayed').map(({metadata}) => metadata.name));
	return used
		.filter(({nodeName = ''}) => relayed.has(nodeName))
		.map(endpoint => ({
			name: nameOf(endpoint),
			node: endpoint.nodeName,
			why: 'for other nodes, over UDP: its node is behind NAT, and UDP is not relayed',
		}));
}

const portFields = ({name = '<unset>', port, targetPort = port, nodePort, protocol = 'TCP'}: ServicePort): readonly Field[] => [
	['Port', `${name}  ${port}/${protocol}`],
	['TargetPort', `${targetPort}/${protocol}`],
	['NodePort', nodePort === undefined ? undefined : `${name}  ${nodePort}/${protocol}`],
];

function row({addresses: [address = ''], nodeName = '', ...endpoint}: Endpoint, ports: Ports): readonly string[] {
	const numbers = ports.map(({port}) => port ?? '*').join(',');
	return [numbers === '' ? address : `${address}:${numbers}`, nameOf(endpoint), nodeName];
}

const nameOf = ({targetRef}: Pick<Endpoint, 'targetRef'>): string => targetRef?.name ?? '<none>';

function whyUnready({conditions}: Endpoint, pod: Pod | undefined): string {
	if (conditions?.terminating === true)
		return conditions.serving === true ? 'it is terminating; what it has begun ends well' : 'it is terminating';
	const ready = conditionOf(pod?.status?.conditions, 'Ready');
	if (ready?.status === 'True') return 'its node is not heard';
	const told = [ready?.reason, ready?.message].filter(Boolean).join(': ');
	return told === '' ? 'it is not ready' : `it is not ready: ${told}`;
}

const absent = (pods: readonly Pod[], endpoints: readonly Endpoint[]): readonly Pod[] => {
	const known = new Set(endpoints.map(({targetRef}) => targetRef?.uid));
	return pods.filter(({metadata}) => !known.has(metadata.uid));
};

function whyAbsent({spec, status, metadata}: Pod, ports: readonly ServicePort[]): string {
	const {phase = 'Pending', podIP = ''} = status ?? {};
	if (phase === 'Succeeded' || phase === 'Failed') return `it has ended (${phase})`;
	if (spec?.nodeName === undefined) return 'it has no node yet: troupe why pod ' + metadata.name;
	if (podIP === '') return 'it has no address yet';
	const named = ports.map(({targetPort}) => targetPort).filter(target => typeof target === 'string');
	const missing = named.filter(name => !spec.containers.some(container => container.ports?.some(port => port.name === name) === true));
	return missing.length === 0 ? 'it is about to be one' : `none of its containers names a port "${missing.join('", "')}"`;
}
