// A Service: has its address and node ports, and keeps its EndpointSlices at what the pods of its selector are. After Kubernetes'
// EndpointSlice controller; load balancers after that of k3s: the addresses of the nodes, each of which takes its ports.
//
// While a write of it is open it asks for nothing: what changes meanwhile is in the next look, so that thousands of pods that come at once make
// as many looks as there are commits, and not as there are pods.

import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {Service, ServiceStatus} from '../../../api/kinds/service.js';
import type {ApiObject, Labels} from '../../../api/object.js';
import {tell, type Context} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {controller, type Reconciliation, type Watched} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import type {PatchObject} from '../objects/object-message.js';
import {onNode} from '../pods/pod-terms.js';
import {lacksAddresses, ownTerms, serviceAllotment} from './addresses.js';
import {isSameEndpoint, isSilent, silenceOf} from './pod-endpoint.js';
import {isSelecting, slicesOf, sliceWrites} from './slices.js';

export const serviceController = controller<Service>({
	plural: 'services',
	terms: service => [
		...ownTerms(service.spec ?? {}),
		...selectionTerms(service),
		...(service.spec?.type === 'LoadBalancer' ? [balancedTerm] : []),
	],
	allotment: serviceAllotment,
	watches: {
		pods: ({before, after}, known) => ofPod(before as Pod | undefined, after as Pod | undefined, known),
		nodes: (change, known) => ofNode(change, known),
	},
	reconcile,
});

/** Services of type LoadBalancer. */
const balancedTerm = 'load-balancer';

// ---- what concerns it ----------------------------------------------------------------------------------------------------

const selectsTerm = (namespace: string, [label, value]: readonly [string, string]): string => `selects=${namespace}/${label}=${value}`;

/** One label that all pods of it must have. */
function selectionTerms({metadata, spec}: Service): readonly string[] {
	const [pair] = isSelecting(spec) ? Object.entries(spec.selector) : [];
	return pair === undefined ? [] : [selectsTerm(metadata.namespace ?? '', pair)];
}

/** The Services of pods with these labels. */
export function* servicesOf(namespace: string, labels: Labels | undefined, known: Known): Iterable<Service> {
	for (const pair of Object.entries(labels ?? {})) {
		for (const service of known.byTerm('services', selectsTerm(namespace, pair)) as Iterable<Service>) {
			const selector = Object.entries(service.spec?.selector ?? {});
			if (selector.every(([label, value]) => labels?.[label] === value)) yield service;
		}
	}
}

function* ofPod(before: Pod | undefined, after: Pod | undefined, known: Known): Iterable<ApiObject> {
	if (before !== undefined && after !== undefined && isSameEndpoint(before, after)) return;
	const namespace = (after ?? before)?.metadata.namespace ?? '';
	yield* servicesOf(namespace, before?.metadata.labels, known);
	if (after !== undefined && after.metadata.labels !== before?.metadata.labels) yield* servicesOf(namespace, after.metadata.labels, known);
}

function* ofNode({before, after}: Watched, known: Known): Iterable<ApiObject> {
	const [was, is] = [before as NodeObject | undefined, after as NodeObject | undefined];
	if (silenceOf(was) === silenceOf(is) && was?.status?.addresses === is?.status?.addresses && was?.metadata.labels === is?.metadata.labels)
		return;
	const name = (after ?? before)?.metadata.name ?? '';
	const concerned = new Set<ApiObject>(known.byTerm('services', balancedTerm));
	for (const {metadata} of known.byTerm('pods', onNode(name)))
		for (const service of servicesOf(metadata.namespace ?? '', metadata.labels, known)) concerned.add(service);
	yield* concerned;
}

// ---- what it does --------------------------------------------------------------------------------------------------------

function reconcile(service: Service, {known, pending, self}: Context): Reconciliation<ServiceStatus> {
	if (isDeleting(service)) return {effects: []};
	// A change of nothing: the collection adds what is missing.
	const change: PatchObject = {type: 'patch', patch: {}};
	const asked = lacksAddresses(service.spec ?? {}) ? [tell(self, change)] : [];
	const writes = pending.size > 0 ? [] : sliceWrites(service, known);
	return {status: {...service.status, loadBalancer: loadBalancer(service, known)}, effects: [...asked, ...writes]};
}

const excluded = 'node.kubernetes.io/exclude-from-external-load-balancers';

function loadBalancer(service: Service, known: Known): NonNullable<ServiceStatus['loadBalancer']> {
	const {type, externalTrafficPolicy} = service.spec ?? {};
	if (type !== 'LoadBalancer') return {};
	const serving = externalTrafficPolicy === 'Local' ? nodesOf(service, known) : undefined;
	const nodes = ([...known.list('nodes')] as NodeObject[]).filter(
		node =>
			node.status?.nodeInfo !== undefined &&
			!isSilent(node) &&
			node.metadata.labels?.[excluded] === undefined &&
			serving?.has(node.metadata.name) !== false,
	);
	const addresses = new Set(nodes.flatMap(({status}) => status?.addresses?.find(({type: of}) => of === 'InternalIP')?.address ?? []));
	return addresses.size === 0 ? {} : {ingress: [...addresses].sort().map(ip => ({ip}))};
}

/** Nodes with pods that take its traffic, as its slices say. */
function nodesOf(service: Service, known: Known): ReadonlySet<string> {
	const endpoints = slicesOf(service, known).flatMap(slice => slice.endpoints);
	return new Set(endpoints.flatMap(({conditions, nodeName}) => (conditions?.ready === true && nodeName !== undefined ? [nodeName] : [])));
}
