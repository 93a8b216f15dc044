// The ranges that Services get their addresses and node ports from.

import {parseSubnet} from './ipv4.js';
import type {JsonObject} from './object.js';
import {refuse, type Found} from './rules/report.js';
import {shown} from './shown.js';

/** Whole numbers, both ends included. */
export type NumberRange = {readonly first: number; readonly last: number};

const defaults = {serviceCIDR: '10.96.0.0/12', nodePorts: '30000-32767'} as const;

/** Widest and narrowest: a node without leave to translate addresses tells by the last 23 bits of one whose it is. */
const sizes = {most: 2 ** 23, least: 2 ** 4} as const;

/** The addresses of an IPv4 network but for the first and the last. Undefined: it is none, or its size is none that Services can have. */
export function addressesOf(cidr: string): NumberRange | undefined {
	const subnet = parseSubnet(cidr);
	if (subnet === undefined || subnet.size > sizes.most || subnet.size < sizes.least) return undefined;
	return {first: subnet.first + 1, last: subnet.first + subnet.size - 2};
}

/** Of `30000-32767`. Undefined: it is no range of ports. */
export function portsOf(text: string): NumberRange | undefined {
	const [, first, last] = (/^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []).map(Number);
	if (first === undefined || last === undefined) return undefined;
	return first >= 1 && first <= last && last <= 65_535 ? {first, last} : undefined;
}

const nothing: NumberRange = {first: 1, last: 0};

export type ServiceRanges = {readonly [Setting in keyof typeof defaults]: NumberRange & {readonly text: string}};

/** What a cluster's Services get, as its ClusterConfig says. */
export function serviceRanges(network: {readonly [Setting in keyof typeof defaults]?: string | undefined} = {}): ServiceRanges {
	const {serviceCIDR = defaults.serviceCIDR, nodePorts = defaults.nodePorts} = network;
	return {
		serviceCIDR: {...(addressesOf(serviceCIDR) ?? nothing), text: serviceCIDR},
		nodePorts: {...(portsOf(nodePorts) ?? nothing), text: nodePorts},
	};
}

export function checkServiceRanges(found: Found, {serviceCIDR, nodePorts}: JsonObject): void {
	if (typeof serviceCIDR === 'string' && addressesOf(serviceCIDR) === undefined) {
		const words = `must be a subnet of IPv4 from /9 to /28 such as "${defaults.serviceCIDR}"`;
		refuse(found, 'spec.network.serviceCIDR', `${words}, got ${shown(serviceCIDR)}`);
	}
	if (typeof nodePorts === 'string' && portsOf(nodePorts) === undefined)
		refuse(found, 'spec.network.nodePorts', `must be a range of ports such as "${defaults.nodePorts}", got ${shown(nodePorts)}`);
}
