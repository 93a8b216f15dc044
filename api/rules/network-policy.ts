// Rules of NetworkPolicies beyond their schema, as in Kubernetes. Blocks of addresses are of IPv4: pods have no others.

import {isWithin, subnetAround} from '../ipv4.js';
import {limits} from '../limits.js';
import type {Draft, Json, JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {checkPortName} from './ports.js';
import {forbid, itemsOf, membersOf, refuse, textOf, type Found} from './report.js';
import {checkRequirements} from './selector.js';

export function checkNetworkPolicy(found: Found, draft: Draft): void {
	const spec = membersOf(draft.spec);
	checkRequirements(found, 'spec.podSelector', membersOf(spec['podSelector']));
	for (const [direction, peers] of [
		['ingress', 'from'],
		['egress', 'to'],
	] as const)
		checkRules(found, `spec.${direction}`, itemsOf(spec[direction]).map(membersOf), peers);
}

/** Work for nodes grows with all of them, so they are counted together. */
function checkRules(found: Found, path: string, rules: readonly JsonObject[], peers: 'from' | 'to'): void {
	const parts = rules.reduce((sum, rule) => sum + 1 + itemsOf(rule[peers]).map(partsOf).reduce(add, 0) + itemsOf(rule['ports']).length, 0);
	if (parts > limits.policyParts)
		return refuse(found, path, `must have at most ${limits.policyParts} rules, peers, exceptions and ports together, got ${parts}`);
	rules.forEach((rule, i) => {
		itemsOf(rule[peers]).forEach((peer, j) => checkPeer(found, `${path}[${i}].${peers}[${j}]`, membersOf(peer)));
		itemsOf(rule['ports']).forEach((port, j) => checkPort(found, `${path}[${i}].ports[${j}]`, membersOf(port)));
	});
}

const add = (a: number, b: number): number => a + b;

const partsOf = (peer: Json): number => 1 + itemsOf(membersOf(membersOf(peer)['ipBlock'])['except']).length;

function checkPeer(found: Found, path: string, peer: JsonObject): void {
	const {podSelector, namespaceSelector, ipBlock} = peer;
	if (podSelector === undefined && namespaceSelector === undefined && ipBlock === undefined && Object.keys(peer).length === 0)
		refuse(found, path, 'must have a podSelector, a namespaceSelector or an ipBlock', 'FieldValueRequired');
	if (ipBlock !== undefined && (podSelector !== undefined || namespaceSelector !== undefined))
		forbid(found, path, 'must have either an ipBlock or selectors, not both: addresses are a peer of their own');
	checkRequirements(found, `${path}.podSelector`, membersOf(podSelector));
	checkRequirements(found, `${path}.namespaceSelector`, membersOf(namespaceSelector));
	if (ipBlock !== undefined) checkBlock(found, `${path}.ipBlock`, membersOf(ipBlock));
}

function checkBlock(found: Found, path: string, {cidr, except}: JsonObject): void {
	const block = checkCidr(found, `${path}.cidr`, cidr);
	itemsOf(except).forEach((item, i) => {
		const at = `${path}.except[${i}]`;
		const part = checkCidr(found, at, item);
		if (block === undefined || part === undefined) return;
		if (part.size >= block.size || !isWithin(part, block))
			refuse(found, at, `must be a part of ${shown(textOf(cidr) ?? '')} and not all of it, got ${shown(textOf(item) ?? '')}`);
	});
}

function checkCidr(found: Found, path: string, value: Json | undefined) {
	if (typeof value !== 'string') return undefined;
	const subnet = subnetAround(value);
	if (subnet === undefined) refuse(found, path, `must be addresses of IPv4 such as 192.0.2.0/24, got ${shown(value)}`);
	return subnet;
}

function checkPort(found: Found, path: string, {port, endPort}: JsonObject): void {
	if (typeof port === 'string') checkPortName(found, `${path}.port`, port);
	if (typeof port === 'number' && (port < 1 || port > 65_535))
		refuse(found, `${path}.port`, `must be a whole number from 1 to 65535, got ${port}`);
	if (endPort === undefined) return;
	if (typeof port === 'string') forbid(found, `${path}.endPort`, 'belongs to a port that is a number');
	else if (port === undefined) forbid(found, `${path}.endPort`, 'needs the port at which the range begins');
	else if (typeof port === 'number' && typeof endPort === 'number' && endPort < port)
		refuse(found, `${path}.endPort`, `must not be below port, which is ${port}, got ${endPort}`);
}
