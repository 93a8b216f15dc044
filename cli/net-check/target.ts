// What of a Service is looked at: one port of it, its endpoints, its address. Pure.

import {localAddressOf} from '../../actors/node/network/local-address.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Service, ServicePort} from '../../api/kinds/service.js';
import {limits} from '../../api/limits.js';
import {didYouMean} from '../../api/suggest.js';
import type {WayAnswer, WayPort, WayTry} from '../../api/way-check.js';
import type {EndPoint, Facts, Target} from './facts.js';

export type ServiceTarget = Extract<Target, {kind: 'service'}>;
export type PodTarget = Extract<Target, {kind: 'pod'}>;

const portWord = ({name, port, protocol = 'TCP'}: ServicePort): string => `${name === undefined ? '' : `${name} `}${port}/${protocol}`;

/** The port that is meant, or why there is none. */
export function portOfService({port: wanted, name}: ServiceTarget, {spec}: Service): ServicePort | string {
	const ports = spec?.ports ?? [];
	const [first] = ports;
	if (first === undefined) return `service ${name} has no ports`;
	if (wanted === undefined) return first;
	const found = ports.filter(each => each.port === wanted || each.name === wanted);
	const [tcp = found[0]] = found.filter(({protocol = 'TCP'}) => protocol === 'TCP');
	const names = ports.flatMap(each => each.name ?? []);
	return tcp ?? `service ${name} has no port ${wanted}${didYouMean(String(wanted), names)}; it has ${ports.map(portWord).join(', ')}`;
}

/** The number of the port that is meant, or why there is none. */
export function portOfPod({port: wanted, name}: PodTarget, {spec}: Pod): number | string {
	if (typeof wanted === 'number') return wanted;
	const ports = (spec?.containers ?? []).flatMap(container => container.ports ?? []).filter(({protocol = 'TCP'}) => protocol === 'TCP');
	const found = wanted === undefined ? ports[0] : ports.find(each => each.name === wanted);
	if (found !== undefined) return found.containerPort;
	const names = ports.flatMap(each => each.name ?? []);
	return wanted === undefined
		? `no container of pod ${name} names a port`
		: `no container of pod ${name} names a port "${wanted}"${didYouMean(wanted, names)}`;
}

/** The port of the Service as the node of FROM has it; undefined: it has none. */
export function wayPortOf({look, target}: Facts): WayPort | undefined {
	const answer = look !== undefined && 'answer' in look ? look.answer : undefined;
	if (target?.kind !== 'service' || target.service === undefined) return undefined;
	const port = portOfService(target, target.service);
	if (typeof port === 'string') return undefined;
	return answer?.service?.ports.find(each => each.port === port.port && each.protocol === (port.protocol ?? 'TCP'));
}

/** Where connections are tried, at most `wayEndpoints`: one of each node first. */
export function endPointsOf(facts: Facts): readonly EndPoint[] {
	const {target} = facts;
	switch (target?.kind) {
		case undefined:
			return [];
		case 'address':
			return [{address: target.address, port: target.port, pod: undefined, node: undefined}];
		case 'pod': {
			const {pod, namespace, name} = target;
			const port = pod === undefined ? '' : portOfPod(target, pod);
			const address = pod?.status?.podIP ?? '';
			return typeof port === 'string' || address === '' ? [] : [{address, port, pod: {namespace, name}, node: pod?.spec?.nodeName}];
		}
		case 'service':
			return spread(endPointsOfService(target, wayPortOf(facts)).filter(({node}) => !isRelayed(facts, node)));
	}
}

/** Whether agents relay to that node: connections begin at the address of the Service alone. */
function isRelayed({origin, nodes}: Facts, node: string | undefined): boolean {
	const here = origin?.node?.metadata.name;
	return node !== here && [here, node].some(name => nodes?.get(name ?? '')?.status?.network?.reach === 'relayed');
}

function endPointsOfService({slices, namespace}: ServiceTarget, port: WayPort | undefined): readonly EndPoint[] {
	if (port === undefined || port.protocol === 'UDP') return [];
	const known = slices.flatMap(({endpoints}) => endpoints);
	return port.endpoints.map(({address, port: number}) => {
		const endpoint = known.find(({addresses}) => addresses[0] === address);
		const name = endpoint?.targetRef?.kind === 'Pod' ? endpoint.targetRef.name : undefined;
		return {address, port: number, pod: name === undefined ? undefined : {namespace, name}, node: endpoint?.nodeName};
	});
}

function spread(all: readonly EndPoint[]): readonly EndPoint[] {
	const seen = new Set<string | undefined>();
	const first = all.filter(({node}) => !seen.has(node) && seen.add(node));
	return [...first, ...all.filter(each => !first.includes(each))].slice(0, limits.wayEndpoints);
}

/** By which programs there reach the Service; undefined: it has no address. */
export function addressOf({from, services}: WayAnswer, {spec}: Service): string | undefined {
	const {clusterIP = 'None', type} = spec ?? {};
	if (clusterIP === 'None' || clusterIP === '' || type === 'ExternalName') return undefined;
	return from === 'pod' || services === 'nftables' ? clusterIP : localAddressOf(clusterIP);
}

/** The name that FROM is to resolve; undefined: none. */
export function nameOf({target, to}: Facts): string | undefined {
	if (to.kind === 'route') return to.host;
	return target?.kind === 'service' ? `${target.name}.${target.namespace}.svc.cluster.local` : undefined;
}

/** What is tried behind the endpoints: the address of the Service, or the route. */
export function lastTry({to, target, look}: Facts): WayTry | undefined {
	if (to.kind === 'route') return {type: 'route', host: to.host, path: to.path};
	if (target?.kind !== 'service' || target.service === undefined || look === undefined || !('answer' in look)) return undefined;
	const port = portOfService(target, target.service);
	const address = addressOf(look.answer, target.service);
	if (typeof port === 'string' || port.protocol === 'UDP' || address === undefined) return undefined;
	return {type: 'tcp', address, port: port.port};
}
