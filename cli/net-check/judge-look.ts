// What the node of FROM says of itself and of the Service, and whether the name resolves there. Pure.

import {limits} from '../../api/limits.js';
import type {WayAnswer, WayTried} from '../../api/way-check.js';
import type {Facts} from './facts.js';
import {broken, fine, skipped, type Hop} from './hops.js';
import {nameOf, portOfService, wayPortOf, type ServiceTarget} from './target.js';

export function judgeLook(facts: Facts): readonly Hop[] {
	const {look} = facts;
	if (look === undefined) return [];
	if ('problem' in look) return [broken('ask', look.problem, look.todo)];
	const {answer} = look;
	return [...placeHop(facts, answer), ...nameHop(facts, answer), ...dataPlaneHops(facts, answer)];
}

/** Of a pod that is in none of the networks that can be entered. */
function placeHop({origin, from}: Facts, answer: WayAnswer): readonly Hop[] {
	const pod = origin?.pod;
	if (from.kind === 'node' || answer.from === 'pod' || pod === undefined || pod.spec?.hostNetwork === true) return [];
	return pod.spec?.runtimeClassName === 'docker'
		? [skipped('network', "its containers are in Docker's bridge, which is not entered: what follows is tried from its node")]
		: [];
}

function nameHop(facts: Facts, {tried: [tried], resolver}: WayAnswer): readonly Hop[] {
	const name = nameOf(facts);
	if (name === undefined || tried === undefined) return [];
	const {origin, target} = facts;
	if (origin?.pod?.spec?.dnsPolicy === 'Default' || origin?.pod?.spec?.hostNetwork === true)
		return [skipped('name', `the pod asks the resolvers of its host, which know no ${name}`)];
	const failure = tried.ok ? undefined : tried.code;
	if (failure === 'ENOTHERE') {
		const variable = target?.kind === 'service' ? `${target.name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_SERVICE_HOST` : undefined;
		const instead = variable === undefined ? '' : `; programs find the Service by ${variable}`;
		return [skipped('name', `its node answers for no names (--dns)${instead}`)];
	}
	return [tried.ok ? resolvedHop(name, resolver, tried) : unresolvedHop(facts, name, resolver, tried.code)];
}

function resolvedHop(name: string, resolver = '', {addresses = []}: Extract<WayTried, {ok: true}>): Hop {
	return fine('name', `${name} stands for ${addresses.join(', ')}, says the resolver at ${resolver}`);
}

function unresolvedHop({origin, to}: Facts, name: string, resolver = '', code: string): Hop {
	const node = origin?.node?.metadata.name ?? '';
	if (code === 'ENOTFOUND' || code === 'ENODATA')
		return broken(
			'name',
			`the resolver at ${resolver} knows no address for ${name}`,
			to.kind === 'route' ? 'its names are those of Dnses; for an Ingress add one, or to your own DNS' : `troupe describe node ${node}`,
		);
	return broken(
		'name',
		`the resolver at ${resolver} does not answer for ${name} (${code})`,
		`troupe tree shows the network of node ${node}`,
	);
}

function dataPlaneHops(facts: Facts, answer: WayAnswer): readonly Hop[] {
	const {target, origin} = facts;
	if (target?.kind !== 'service' || target.service === undefined || target.service.spec?.type === 'ExternalName') return [];
	const node = origin?.node?.metadata.name ?? '';
	const {pid, problems, services, service} = answer;
	const own = problems.find(problem => problem.includes(`${target.namespace}/${target.name} (port `));
	if (service === undefined)
		return [
			broken(
				'node has',
				`node ${node} does not know of service ${target.name}`,
				`it is told when it is heard: troupe describe node ${node}`,
			),
		];
	if (pid === undefined && services === 'proxy')
		return [
			broken(
				'node has',
				`no data plane serves on node ${node}${listed(problems)}`,
				'troupe tree shows its network, and its agent logs why',
			),
		];
	if (own !== undefined) return [broken('node has', own, 'mend that: the node tries again by itself')];
	const how = services === 'nftables' ? 'rules of the kernel lead Services' : 'a process passes connections on';
	const plane = pid === undefined ? 'no data plane' : `data plane ${pid}`;
	return [fine('node has', `node ${node}: ${plane}, ${how}${listed(problems)}`), leadsHop(facts, target, node)];
}

const listed = (problems: readonly string[]): string => (problems.length === 0 ? '' : `; it says: ${problems.join('; ')}`);

/** To which endpoints that node leads. */
function leadsHop(facts: Facts, target: ServiceTarget, node: string): Hop {
	const port = wayPortOf(facts);
	const wanted = target.service === undefined ? undefined : portOfService(target, target.service);
	const number = wanted === undefined || typeof wanted === 'string' ? '' : wanted.port;
	if (port === undefined) return broken('leads to', `node ${node} does not know of port ${number} yet`, 'ask again in a moment');
	const shown = port.leftOut.slice(0, limits.wayEndpoints).map(each => `${each.target ?? each.address}: ${each.reason}`);
	const out = shown.length === 0 ? '' : `; not to ${shown.join('; ')}`;
	if (port.endpoints.length > 0)
		return fine(
			'leads to',
			`${port.endpoints
				.map(each => `${each.address}:${each.port}`)
				.slice(0, limits.wayEndpoints)
				.join(', ')}${more(port.endpoints.length)}${out}`,
		);
	const isAfar = port.leftOut.some(({reason}) => reason.includes('on that node alone') || reason.includes('of one host alone'));
	return broken(
		'leads to',
		`no endpoint${out}`,
		isAfar
			? 'start the agents of all nodes with --network routed, as root; or have a pod of the Service on this node'
			: `troupe describe service ${target.name} -n ${target.namespace}`,
	);
}

const more = (count: number): string => (count > limits.wayEndpoints ? ` and ${count - limits.wayEndpoints} more` : '');
