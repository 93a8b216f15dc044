// What became of the connections that were tried: to endpoints, over what leads to their nodes, and then to the Service or by the route. Pure.

import type {NodeObject} from '../../api/kinds/node.js';
import {limits} from '../../api/limits.js';
import type {WayAnswer, WayTried} from '../../api/way-check.js';
import {placeKey, type EndPoint, type Facts} from './facts.js';
import {broken, fine, skipped, type Hop} from './hops.js';
import {isRejected, policyHop} from './policies.js';
import {endPointsOf, lastTry, portOfService} from './target.js';

type Tried = {readonly at: EndPoint; readonly result: WayTried; readonly home: WayTried | null | undefined};

export function judgeTries(facts: Facts): readonly Hop[] {
	const {tries, target, home} = facts;
	if (tries === undefined) return isUdp(facts) ? [udpHop] : [];
	if ('problem' in tries) return [broken('ask', tries.problem, tries.todo)];
	const {answer} = tries;
	const tried = endPointsOf(facts).flatMap((at, index): readonly Tried[] => {
		const result = answer.tried[index];
		return result === undefined ? [] : [{at, result, home: home?.get(placeKey(at))}];
	});
	const refused = tried.flatMap(({at, result}) => (isRejected(result) ? (policyHop(facts, at) ?? []) : []));
	const last = lastTry(facts) === undefined ? undefined : answer.tried[tried.length];
	return [
		...(isUdp(facts) ? [udpHop] : []),
		...refused,
		...wayHops(facts, answer, tried),
		...tried.map(each => endPointHop(each, target?.kind === 'address')),
		...(last === undefined ? [] : [lastHop(facts, answer, last)]),
	];
}

const udpHop = skipped('connect', 'nothing can be seen of a UDP port from outside: that its node leads there was checked, and no more');

/** Of a Service whose port is one of UDP. */
function isUdp({target, look}: Facts): boolean {
	if (target?.kind !== 'service' || target.service === undefined || look === undefined || 'problem' in look) return false;
	const port = portOfService(target, target.service);
	return typeof port !== 'string' && port.protocol === 'UDP';
}

// ---- to other nodes --------------------------------------------------------------------------------------------------------

/** One for each other node; what was refused has been there and come back. */
function wayHops(facts: Facts, answer: WayAnswer, tried: readonly Tried[]): readonly Hop[] {
	const here = facts.origin?.node;
	const names = [...new Set(tried.flatMap(({at}) => at.node ?? []))].filter(name => name !== here?.metadata.name);
	return names.map(name => {
		const there = tried.filter(({at}) => at.node === name);
		const by = overlayText(answer.overlay);
		const node = facts.nodes?.get(name);
		if (there.some(({result}) => hasCome(result))) return fine('way', `pods of node ${name} are reached${by}`);
		if (there.every(({home}) => home !== undefined && home !== null && !hasCome(home)))
			return skipped('way', `nothing is seen of the way to node ${name}: what was tried there does not answer on its own node either`);
		const known = there.some(({home}) => home !== undefined && home !== null && home.ok) ? ', and they answer on their own node' : '';
		return broken('way', `pods of node ${name} are not reached${by}${known}`, todoOfWay(answer, here, node, name));
	});
}

const hasCome = (result: WayTried): boolean => result.ok || result.code === 'ECONNREFUSED' || result.code === 'ECONNRESET';

function overlayText(overlay: string | undefined): string {
	if (overlay === undefined) return '';
	return overlay === 'none' ? ' by the network itself (overlay none)' : ` by the overlay ${overlay}`;
}

const vxlanPort = 8_472;

function todoOfWay({overlay}: WayAnswer, here: NodeObject | undefined, there: NodeObject | undefined, name: string): string {
	const between = `between ${addressText(here)} and ${addressText(there)}`;
	if (overlay === 'vxlan') return `let UDP port ${vxlanPort} through ${between}, both ways: in the firewalls of both hosts and on the way`;
	if (overlay === 'host-gw')
		return `the hosts must be neighbours in one network, which passes on other addresses than its own, ${between}; else use --overlay vxlan`;
	if (overlay === 'none')
		return `the network must know that ${there?.spec?.podCIDR ?? `the pods of ${name}`} is behind ${addressText(there)}; else use --overlay vxlan`;
	return 'start the agent of this node with --network routed, too';
}

const addressText = (node: NodeObject | undefined): string =>
	node?.status?.addresses?.find(({type}) => type === 'InternalIP')?.address ?? node?.metadata.name ?? 'the other node';

// ---- to endpoints ----------------------------------------------------------------------------------------------------------

function endPointHop({at, result, home}: Tried, isAddress: boolean): Hop {
	const place = placeKey(at);
	const what = at.pod === undefined ? place : `${place} of pod ${at.pod.name}`;
	if (result.ok) return fine('connect', `${what} takes connections`);
	const why = wordsOf(result.code);
	if (isAddress || at.pod === undefined)
		return broken('connect', `${what}: ${why}`, 'see that something listens there, and that no firewall is in between');
	const {name, namespace} = at.pod;
	if (result.code === 'ECONNREFUSED')
		return broken(
			'connect',
			`${what}: ${why}`,
			home?.ok === true
				? 'it answers in its own pod: it listens on loopback alone, or a firewall of its node refuses others'
				: `its program must listen at port ${at.port} of 0.0.0.0 or of POD_IP, or targetPort be the port at which it does: troupe logs ${name} -n ${namespace}`,
		);
	return broken(
		'connect',
		`${what}: ${why}`,
		home?.ok === true
			? 'it answers in its own pod: look at the firewall of its node'
			: `its program takes no connections now: troupe logs ${name} -n ${namespace}`,
	);
}

const words: Readonly<Record<string, string>> = {
	ECONNREFUSED: 'refused, nothing listens there',
	ECONNRESET: 'the connection was broken off at once',
	ETIMEDOUT: `no answer within ${limits.wayTryMs / 1_000} s`,
	EHOSTUNREACH: 'there is no way to that address',
	ENETUNREACH: 'there is no way to that address',
};

const wordsOf = (code: string): string => words[code] ?? `it cannot be tried (${code})`;

// ---- to the Service, or by the route ---------------------------------------------------------------------------------------

function lastHop(facts: Facts, answer: WayAnswer, result: WayTried): Hop {
	const wanted = lastTry(facts);
	if (wanted?.type === 'route') return routeHop(facts, answer, wanted, result);
	const place = wanted?.type === 'tcp' ? placeKey(wanted) : '';
	if (result.ok) return fine('address', `${place}, the address of the Service, takes connections`);
	return broken(
		'address',
		`endpoints answer, and ${place}, the address of the Service, does not: ${wordsOf(result.code)}`,
		answer.services === 'nftables'
			? `look at its rules on the node (nft list ruleset, table troupe-services-…), and that the host has a default route (ip route)`
			: 'troupe tree shows the network of the node; its data plane may be killed, another one begins',
	);
}

function routeHop(
	{route, origin}: Facts,
	{router = ''}: WayAnswer,
	{host, path}: {readonly host: string; readonly path: string},
	result: WayTried,
): Hop {
	const node = origin?.node?.metadata.name ?? '';
	if (!result.ok && result.code === 'ENOTHERE') return broken('router', `node ${node} has no router`, 'start it with --router HOST:PORT');
	if (!result.ok)
		return broken(
			'router',
			`the router at ${router} does not answer: ${wordsOf(result.code)}`,
			`troupe tree shows the network of node ${node}`,
		);
	const {status = 0, page} = result;
	if (page !== undefined)
		return broken(
			'router',
			`the router at ${router} answers itself: ${page}`,
			'that is why no service answers; its access log has the request',
		);
	const services = route?.found?.backends.map(each => ('function' in each ? each.function : each.service)).join(' or ') ?? '';
	return fine('router', `the router at ${router} leads ${path} of ${host} to ${services}, which answers with status ${status}`);
}
