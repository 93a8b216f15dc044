// From what is known of a way to its hops: what was seen at each and, at the first that fails, what to do. Pure.
//
// What it keeps true: a hop is judged by what was seen of it alone; of what is not known yet there is no line; nothing stands behind a failure.

import {conditionOf, isConditionTrue} from '../../api/conditions.js';
import {counted} from '../../api/counted.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Service} from '../../api/kinds/service.js';
import {limits} from '../../api/limits.js';
import {podsLeftOut} from '../describe/service.js';
import type {Facts, RouteBackend} from './facts.js';
import {broken, fine, skipped, untilFailed, type Hop} from './hops.js';
import {judgeLook} from './judge-look.js';
import {judgeTries} from './judge-tries.js';
import {portOfPod, portOfService, type PodTarget, type ServiceTarget} from './target.js';

/** In the order of the way, up to the first that fails. */
export const judge = (facts: Facts): readonly Hop[] =>
	untilFailed([...judgeOrigin(facts), ...judgeRoute(facts), ...judgeTarget(facts), ...judgeLook(facts), ...judgeTries(facts)]);

function judgeOrigin({from, origin}: Facts): readonly Hop[] {
	if (origin === undefined) return [];
	const {pod, node, hint} = origin;
	if (from.kind === 'node') return node === undefined ? [broken('from', hint, 'troupe get nodes lists those there are')] : [nodeHop(node)];
	if (pod === undefined) return [broken('from', hint, `troupe get pods -n ${from.namespace} lists those there are`)];
	return [podHop('from', pod), ...(node === undefined ? [] : [nodeHop(node)])];
}

function podHop(hop: string, {metadata, spec, status}: Pod): Hop {
	const {name, namespace = ''} = metadata;
	const phase = status?.phase ?? 'Pending';
	const todo = `troupe why pod ${name} -n ${namespace} tells why`;
	if (phase !== 'Running' || spec?.nodeName === undefined) return broken(hop, `pod ${name} does not run: it is ${phase}`, todo);
	const place = spec.hostNetwork === true ? 'in the network of its host' : `at ${status?.podIP ?? 'no address yet'}`;
	const ending = metadata.deletionTimestamp === undefined ? '' : '; it is being deleted';
	return fine(hop, `pod ${name} runs on node ${spec.nodeName}, ${place}${ending}`);
}

function nodeHop({metadata: {name}, status}: NodeObject): Hop {
	const ready = conditionOf(status?.conditions, 'Ready');
	if (ready?.status !== 'True') {
		const told = [ready?.reason, ready?.message].filter(Boolean).join(': ');
		return broken('node', `node ${name} is not heard: ${told}`, `see that its host and its agent run: troupe describe node ${name}`);
	}
	const network =
		status?.network?.pods === 'routed'
			? 'its pods have a network of their own (routed)'
			: 'its pods share its network, or have one of Docker';
	return fine('node', `node ${name} is heard; ${network}`);
}

function judgeRoute({to, route}: Facts): readonly Hop[] {
	if (to.kind !== 'route' || route === undefined) return [];
	const {found, hint} = route;
	if (found === null)
		return [
			broken(
				'route',
				`no Dns and no Ingress has a route for ${to.path} of ${to.host}${hint}`,
				'troupe get dnses,ingresses -A lists those there are',
			),
		];
	const {kind, namespace, name, backends} = found;
	return [fine('route', `${kind} ${namespace}/${name} leads ${to.path} of ${to.host} to ${backends.map(backendText).join(', ')}`)];
}

const backendText = (backend: RouteBackend): string =>
	'function' in backend
		? `function ${backend.namespace}/${backend.function}`
		: `service ${backend.namespace}/${backend.service}${backend.port === undefined ? '' : `:${backend.port}`}`;

function judgeTarget(facts: Facts): readonly Hop[] {
	const {target} = facts;
	switch (target?.kind) {
		case undefined:
		case 'address':
			return [];
		case 'pod':
			return judgePod(target, facts);
		case 'service':
			return judgeService(target, facts.to.kind === 'route');
	}
}

function judgePod(target: PodTarget, {nodes, origin}: Facts): readonly Hop[] {
	const {pod, hint, namespace, name} = target;
	if (pod === undefined) return [broken('to', hint, `troupe get pods -n ${namespace} lists those there are`)];
	const runs = podHop('to', pod);
	const port = portOfPod(target, pod);
	if (runs.state === 'failed') return [runs];
	if (typeof port === 'string') return [runs, broken('port', port, `give the number: pod/${name}:8080`)];
	const isReady = isConditionTrue(pod.status?.conditions, 'Ready');
	const ready = isReady ? fine('ready', `pod ${name} is ready`) : skipped('ready', `pod ${name} is not ready: no Service leads to it`);
	const node = nodes?.get(pod.spec?.nodeName ?? '');
	if (node === undefined) return [runs, ready];
	const there = nodeHop(node);
	if (there.state === 'failed') return [runs, ready, {...there, hop: 'way'}];
	const isAfar = origin?.node !== undefined && origin.node.metadata.name !== node.metadata.name;
	if (isAfar && node.status?.network?.pods !== 'routed' && pod.spec?.hostNetwork !== true)
		return [
			runs,
			ready,
			broken(
				'way',
				`pods of node ${node.metadata.name} are reached on that node alone`,
				'start the agents of all nodes with --network routed, as root',
			),
		];
	return [runs, ready];
}

function judgeService(target: ServiceTarget, isRouted: boolean): readonly Hop[] {
	const {service, hint, namespace, name} = target;
	if (service === undefined) return [broken('service', hint, `troupe get services -n ${namespace} lists those there are`)];
	const {type = 'ClusterIP', clusterIP = '', externalName = ''} = service.spec ?? {};
	if (type === 'ExternalName')
		return [
			isRouted
				? broken('service', `service ${name} stands for ${externalName}: a route leads to no such Service`, 'give it a selector')
				: fine('service', `service ${name} stands for ${externalName}, outside of the cluster`),
		];
	if (clusterIP === '')
		return [broken('service', `service ${name} has no address yet`, `troupe describe service ${name} -n ${namespace}; is a range left?`)];
	const address = clusterIP === 'None' ? 'it is headless: its name stands for its endpoints' : `its address is ${clusterIP}`;
	const port = portOfService(target, service);
	const head = fine('service', `service ${name} of namespace ${namespace}; ${address}`);
	if (typeof port === 'string') return [head, broken('port', port, 'ask for a port that it has, or add it to spec.ports')];
	const {protocol = 'TCP', targetPort = port.port} = port;
	if (protocol === 'SCTP') return [head, broken('port', `port ${port.port} is of SCTP, which is not served`, 'use TCP or UDP')];
	return [head, fine('port', `port ${port.port}/${protocol} leads to port ${targetPort} of its pods`), endpointsHop(target, service)];
}

function endpointsHop(target: ServiceTarget, service: Service): Hop {
	const {slices, pods, name, namespace} = target;
	const port = portOfService(target, service);
	const portName = typeof port === 'string' ? '' : (port.name ?? '');
	const ofPort = slices.filter(({ports}) => ports?.some(each => (each.name ?? '') === portName) === true);
	const ready = ofPort.flatMap(({endpoints}) => endpoints).filter(({conditions}) => conditions?.ready !== false);
	const out = podsLeftOut(service, slices, pods);
	const reasons = out.slice(0, limits.wayEndpoints).map(each => `${each.name}: ${each.why}`);
	const told = reasons.length === 0 ? '' : `; left out: ${reasons.join('; ')}${out.length > reasons.length ? '; and others' : ''}`;
	if (ready.length > 0) return fine('endpoints', `${counted(ready.length, 'endpoint')} ready${told}`);
	const selector = Object.entries(service.spec?.selector ?? {});
	const labels = selector.map(([key, value]) => `${key}=${value}`).join(',');
	if (selector.length === 0)
		return broken('endpoints', 'none, and the Service has no selector', `make an EndpointSlice with kubernetes.io/service-name: ${name}`);
	if (pods.length === 0)
		return broken('endpoints', `none: no pod has the labels ${labels}`, `compare them: troupe get pods -n ${namespace} -o wide`);
	return broken('endpoints', `none is ready${told}`, todoOf(out[0]?.name, out[0]?.why, pods, namespace));
}

/** What to do of the first pod that is left out. */
function todoOf(name = '', why = '', pods: readonly Pod[], namespace: string): string {
	if (!why.includes('names a port')) return `troupe why pod ${name} -n ${namespace} tells more`;
	const ports = pods.find(({metadata}) => metadata.name === name)?.spec?.containers.flatMap(container => container.ports ?? []) ?? [];
	const names = ports.flatMap(each => each.name ?? []);
	return names.length === 0
		? 'name the port in the container, or give targetPort as a number'
		: `targetPort may be ${names.join(' or ')}, which its containers name`;
}
