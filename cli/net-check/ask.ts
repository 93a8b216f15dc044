// Walks a way: asks the cluster, then the node of FROM, for one thing after the other, and ends where a hop has failed.

import {serviceNameLabel} from '../../api/endpoint-labels.js';
import type {Dns} from '../../api/kinds/dns.js';
import type {EndpointSlice} from '../../api/kinds/endpointslice.js';
import type {Ingress} from '../../api/kinds/ingress.js';
import type {NetworkPolicy} from '../../api/kinds/networkpolicy.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Service} from '../../api/kinds/service.js';
import {AppError} from '../../api/errors.js';
import {formatSelector} from '../../api/selector-text.js';
import {didYouMean} from '../../api/suggest.js';
import type {WayAnswer, WayQuestion, WayTried, WayTry} from '../../api/way-check.js';
import type {Client} from '../client.js';
import {getOne, listAll} from '../cluster/lists.js';
import {withNearest} from '../cluster/nearest.js';
import {resourceOf} from '../cluster/resources.js';
import {placeKey, type Asked, type EndPoint, type Facts, type Target} from './facts.js';
import {hasFailed, type Hop} from './hops.js';
import {judge} from './judge.js';
import type {FromPlace, ToPlace} from './places.js';
import {isRejected} from './policies.js';
import {routeIn} from './route.js';
import {endPointsOf, lastTry, nameOf} from './target.js';

type Step = (client: Client, facts: Facts) => Promise<Partial<Facts>>;

/** Its hops, up to the first that fails. Rejects with AppErrors where the cluster cannot be asked. */
export async function walk(client: Client, from: FromPlace, to: ToPlace): Promise<readonly Hop[]> {
	let facts: Facts = {from, to};
	for (const step of [origin, route, target, look, tries, policies, home] satisfies readonly Step[]) {
		facts = {...facts, ...(await step(client, facts))};
		const hops = judge(facts);
		// Whether it is the way or its end is known only when the end was asked, too.
		if (hasFailed(hops) && step !== tries && step !== policies) return hops;
	}
	return judge(facts);
}

/** Undefined, and words about it, where it is not there. */
async function found(
	client: Client,
	kind: string,
	namespace: string,
	name: string,
): Promise<{readonly object?: unknown; readonly hint: string}> {
	try {
		return {object: await getOne(client, resourceOf(kind), namespace, name), hint: ''};
	} catch (error) {
		if (!(error instanceof AppError) || error.code !== 'ERR_NOT_FOUND') throw error;
		return {hint: (await withNearest(client, error)).message};
	}
}

async function origin(client: Client, {from}: Facts): Promise<Partial<Facts>> {
	const ofPod = from.kind === 'pod' ? await found(client, 'pods', from.namespace, from.name) : undefined;
	const pod = ofPod?.object as Pod | undefined;
	const nodes = new Map(
		((await listAll(client, resourceOf('nodes'), undefined)) as readonly NodeObject[]).map(node => [node.metadata.name, node]),
	);
	if (from.kind === 'pod') return {nodes, origin: {pod, node: nodes.get(pod?.spec?.nodeName ?? ''), hint: ofPod?.hint ?? ''}};
	const hint = `node ${from.name} is not there${didYouMean(from.name, [...nodes.keys()])}`;
	return {nodes, origin: {pod: undefined, node: nodes.get(from.name), hint}};
}

async function route(client: Client, {to}: Facts): Promise<Partial<Facts>> {
	if (to.kind !== 'route') return {};
	const [dnses, ingresses] = await Promise.all([
		listAll(client, resourceOf('dnses'), undefined) as Promise<readonly Dns[]>,
		listAll(client, resourceOf('ingresses'), undefined) as Promise<readonly Ingress[]>,
	]);
	return {route: routeIn(dnses, ingresses, to.host, to.path)};
}

async function target(client: Client, facts: Facts): Promise<Partial<Facts>> {
	const {to, route: known} = facts;
	switch (to.kind) {
		case 'pod':
			return {target: await podTarget(client, to)};
		case 'service':
			return {target: await serviceTarget(client, to)};
		case 'route': {
			// Of functions there is nothing to walk to: the router calls them.
			const backend = known?.found?.backends.find(each => 'service' in each);
			return backend === undefined
				? {}
				: {target: await serviceTarget(client, {namespace: backend.namespace, name: backend.service, port: backend.port})};
		}
		case 'address':
			return {target: await behind(client, to)};
	}
}

type Named = {readonly namespace: string; readonly name: string; readonly port: number | string | undefined};

async function podTarget(client: Client, {namespace, name, port}: Named): Promise<Target> {
	const {object, hint} = await found(client, 'pods', namespace, name);
	return {kind: 'pod', namespace, name, port, pod: object as Pod | undefined, hint};
}

async function serviceTarget(client: Client, {namespace, name, port}: Named): Promise<Target> {
	const {object, hint} = await found(client, 'services', namespace, name);
	const service = object as Service | undefined;
	const selector = service?.spec?.selector ?? {};
	const labelSelector = formatSelector({matchLabels: selector});
	const [slices, pods] =
		service === undefined
			? [[], []]
			: await Promise.all([
					listAll(client, resourceOf('endpointslices'), namespace, {labelSelector: `${serviceNameLabel}=${name}`}),
					labelSelector === '' ? [] : listAll(client, resourceOf('pods'), namespace, {labelSelector}),
				]);
	return {
		kind: 'service',
		namespace,
		name,
		port,
		service,
		hint,
		slices: slices as readonly EndpointSlice[],
		pods: pods as readonly Pod[],
	};
}

/** The Service or the pod that has that address; else the address itself. */
async function behind(client: Client, {address, port}: {readonly address: string; readonly port: number}): Promise<Target> {
	const services = (await listAll(client, resourceOf('services'), undefined)) as readonly Service[];
	const service = services.find(({spec}) => spec?.clusterIP === address)?.metadata;
	if (service?.namespace !== undefined) return serviceTarget(client, {namespace: service.namespace, name: service.name, port});
	const pods = (await listAll(client, resourceOf('pods'), undefined)) as readonly Pod[];
	const pod = pods.find(
		({spec, status}) => status?.podIP === address && status.phase === 'Running' && spec?.hostNetwork !== true,
	)?.metadata;
	if (pod?.namespace !== undefined) return podTarget(client, {namespace: pod.namespace, name: pod.name, port});
	return {kind: 'address', address, port};
}

// ---- what the node is asked ------------------------------------------------------------------------------------------------

async function look(client: Client, facts: Facts): Promise<Partial<Facts>> {
	const name = nameOf(facts);
	const {target: to} = facts;
	const byRouter = facts.to.kind === 'route' ? ({byRouter: true} as const) : {};
	const service = to?.kind === 'service' ? {namespace: to.namespace, name: to.name, ...byRouter} : undefined;
	return {look: await asked(client, facts.from, {service, tries: name === undefined ? [] : [{type: 'name', name}]})};
}

async function tries(client: Client, facts: Facts): Promise<Partial<Facts>> {
	const last = lastTry(facts);
	const wanted = [...endPointsOf(facts).map(tcp), ...(last === undefined ? [] : [last])];
	return wanted.length === 0 ? {} : {tries: await asked(client, facts.from, {tries: wanted})};
}

const tcp = ({address, port}: EndPoint): WayTry => ({type: 'tcp', address, port});

/** They refuse in a way of their own. */
async function policies(client: Client, {from, target: to, tries: first}: Facts): Promise<Partial<Facts>> {
	if (first === undefined || 'problem' in first || !first.answer.tried.some(isRejected)) return {};
	const namespaces = new Set([from, to].flatMap(place => (place !== undefined && 'namespace' in place ? [place.namespace] : [])));
	const found = await Promise.all([...namespaces].map(namespace => listAll(client, resourceOf('networkpolicies'), namespace)));
	return {policies: found.flat() as readonly NetworkPolicy[]};
}

/** Of endpoints that did not take a connection: whether they do in their own pod. */
async function home(client: Client, facts: Facts): Promise<Partial<Facts>> {
	const {tries: first} = facts;
	if (first === undefined || 'problem' in first) return {};
	const silent = endPointsOf(facts).filter((_, index) => first.answer.tried[index]?.ok === false);
	const said = await Promise.all(
		silent.map(async (at): Promise<readonly [string, WayTried | null]> => {
			if (at.pod === undefined) return [placeKey(at), null];
			const its = await asked(client, {kind: 'pod', ...at.pod}, {tries: [tcp(at)]});
			return [placeKey(at), 'answer' in its ? (its.answer.tried[0] ?? null) : null];
		}),
	);
	return {home: new Map(said)};
}

async function asked(client: Client, from: FromPlace, question: WayQuestion): Promise<Asked> {
	const place = from.kind === 'node' ? ['nodes', from.name] : ['pods', from.namespace, from.name];
	const path = `/troupe/v1/net/${place.map(encodeURIComponent).join('/')}`;
	try {
		// Members that are undefined are not sent.
		return {answer: (await client.json({method: 'POST', path, body: question})) as WayAnswer};
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		return {problem: `nothing can be tried from there: ${error.message}`, todo: todoOf(error, from)};
	}
}

function todoOf({code}: AppError, from: FromPlace): string {
	if (code === 'ERR_FORBIDDEN')
		return from.kind === 'node'
			? 'it takes a login of an admin'
			: 'it takes the right to create pods/portforward, which admin and edit have';
	return code === 'ERR_BUSY' ? 'ask again in a moment' : 'see that the agent of that node runs, and is of this version';
}
