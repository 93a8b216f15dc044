// The EndpointSlices of a Service: what they should say, and the fewest writes that make them say it.
//
// An endpoint stays in its slice as long as its pod has the same ports, so that a change of one pod is a change of one slice.

import {deepEqual} from '../../../api/equal.js';
import {headlessLabel, managedByLabel, serviceNameLabel, sliceManager} from '../../../api/endpoint-labels.js';
import type {EndpointSlice} from '../../../api/kinds/endpointslice.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {Service} from '../../../api/kinds/service.js';
import {objectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {Draft, JsonObject, Labels} from '../../../api/object.js';
import type {Effect} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {isDeleting} from '../objects/garbage.js';
import type {PatchObject} from '../objects/object-message.js';
import {ownerReferenceTo} from '../objects/owners.js';
import {endpointOf, portsOf, type Endpoint, type EndpointPorts} from './pod-endpoint.js';

const plural = 'endpointslices';

/** Endpoints that listen on the same ports, by the uid of their pod. */
type Group = {readonly ports: EndpointPorts; readonly endpoints: Map<string, Endpoint>};

type Content = Pick<EndpointSlice, 'endpoints' | 'ports'>;

/** The slices that this Service has made. */
export const slicesOf = ({metadata}: Service, known: Known): readonly EndpointSlice[] =>
	([...known.byOwner(metadata.uid)] as EndpointSlice[]).filter(slice => slice.kind === 'EndpointSlice' && !isDeleting(slice));

/** Pods that its selector names. */
export const podsOf = ({metadata, spec}: Service, known: Known): Iterable<Pod> =>
	isSelecting(spec) ? (known.select('pods', metadata.namespace ?? '', {matchLabels: spec.selector}) as Iterable<Pod>) : [];

/** A Service without a selector has the slices that its users make. */
export const isSelecting = (spec: Service['spec']): spec is NonNullable<Service['spec']> & {readonly selector: Labels} =>
	spec?.type !== 'ExternalName' && Object.keys(spec?.selector ?? {}).length > 0;

/** The writes that bring the slices to what they should be. */
export function sliceWrites(service: Service, known: Known): readonly Effect[] {
	const present = slicesOf(service, known);
	if (!isSelecting(service.spec)) return present.map(removal);
	const groups = groupsOf(service, known);
	const changes: Effect[] = [];
	const kept = new Set<EndpointSlice>();
	for (const [key, group] of groups) {
		const own = present.filter(slice => keyOfPorts(slice.ports ?? []) === key);
		own.forEach(slice => kept.add(slice));
		changes.push(...writesOf(service, group, own));
	}
	return [...changes, ...present.filter(slice => !kept.has(slice)).map(removal)];
}

const keyOfPorts = (ports: EndpointPorts): string =>
	JSON.stringify(ports.map(({name, port, protocol, appProtocol}) => [name, port, protocol, appProtocol]));

/** A Service without endpoints has one empty slice, as in Kubernetes. */
function groupsOf(service: Service, known: Known): ReadonlyMap<string, Group> {
	const groups = new Map<string, Group>();
	for (const pod of podsOf(service, known)) {
		const endpoint = endpointOf(pod, service, known);
		const ports = portsOf(pod, service);
		if (endpoint === undefined || (ports.length === 0 && (service.spec?.ports ?? []).length > 0)) continue;
		const key = keyOfPorts(ports);
		const group = groups.get(key) ?? {ports, endpoints: new Map<string, Endpoint>()};
		group.endpoints.set(pod.metadata.uid, endpoint);
		groups.set(key, group);
	}
	return groups.size > 0 ? groups : new Map([[keyOfPorts([]), {ports: [], endpoints: new Map<string, Endpoint>()}]]);
}

function writesOf(service: Service, {ports, endpoints}: Group, present: readonly EndpointSlice[]): readonly Effect[] {
	const left = new Map(endpoints);
	const slices = present.map(slice => ({slice, endpoints: stayingIn(slice, left)}));
	// What is new goes to slices that are written anyway, then to the fullest ones.
	const isWritten = (each: (typeof slices)[number]): number => (each.endpoints === each.slice.endpoints ? 1 : 0);
	const places = [...slices].sort((a, b) => isWritten(a) - isWritten(b) || b.endpoints.length - a.endpoints.length);
	const news = [...left.values()];
	for (const place of places) {
		const room = limits.sliceEndpoints - place.endpoints.length;
		if (room > 0 && news.length > 0) place.endpoints = [...place.endpoints, ...news.splice(0, room)];
	}
	const isOnly = news.length === 0 && slices.every(each => each.endpoints.length === 0);
	const writes = slices.flatMap((each, i): Effect[] =>
		each.endpoints.length === 0 && !(isOnly && i === 0) ? [removal(each.slice)] : changeOf(service, each.slice, each.endpoints),
	);
	const created: Effect[] = [];
	for (let at = 0; at < news.length || (at === 0 && slices.length === 0); at += limits.sliceEndpoints)
		created.push(creation(service, {ports, endpoints: news.slice(at, at + limits.sliceEndpoints)}, `${keyOfPorts(ports)}/${at}`));
	return [...writes, ...created];
}

/** The endpoints that stay in this slice, as they are now; the list itself where nothing is different. They are taken out of `left`. */
function stayingIn({endpoints}: EndpointSlice, left: Map<string, Endpoint>): readonly Endpoint[] {
	let isSame = true;
	const staying = endpoints.flatMap(before => {
		const uid = before.targetRef?.uid ?? '';
		const after = left.get(uid);
		left.delete(uid);
		isSame &&= after !== undefined && deepEqual(before, after);
		return after === undefined ? [] : [after];
	});
	return isSame ? endpoints : staying;
}

const labelsOf = ({metadata, spec}: Service): Labels => ({
	[serviceNameLabel]: metadata.name,
	[managedByLabel]: sliceManager,
	...(spec?.clusterIP === 'None' ? {[headlessLabel]: ''} : {}),
});

function changeOf(service: Service, slice: EndpointSlice, endpoints: readonly Endpoint[]): Effect[] {
	const labels = labelsOf(service);
	const isLabelled = Object.entries(labels).every(([label, value]) => slice.metadata.labels?.[label] === value);
	if (endpoints === slice.endpoints && isLabelled) return [];
	const {uid, namespace, name} = slice.metadata;
	const patch = {metadata: {uid, labels}, endpoints} as unknown as JsonObject;
	const message: PatchObject = {type: 'patch', patch};
	return [{type: 'update', key: objectKey(plural, namespace, name), message, id: `slice/${uid}`}];
}

function creation(service: Service, content: Content, id: string): Effect {
	const {name, namespace = ''} = service.metadata;
	const metadata = {generateName: `${name}-`, namespace, labels: labelsOf(service), ownerReferences: [ownerReferenceTo(service)]};
	const object: Draft & Content = {apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, ...content, ...ipv4};
	return {type: 'create', object, id: `create/${id}`};
}

const ipv4 = {addressType: 'IPv4'} as const;

const removal = ({metadata: {namespace, name, uid}}: EndpointSlice): Effect => ({
	type: 'delete',
	key: objectKey(plural, namespace, name),
	uid,
	id: `delete/${uid}`,
});
