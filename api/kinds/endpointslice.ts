// The kind EndpointSlice: where a service is served.

import {ageColumn, column, nameColumn, none} from '../columns/common.js';
import {deepEqual} from '../equal.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {isIPv4, isIPv6} from '../rules/address.js';
import {isDnsSubdomain} from '../rules/names.js';
import {forbid, itemsOf, membersOf, refuse, type Found} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {content} from '../schemas/endpointslice.js';
import {shown} from '../shown.js';

export type EndpointSlice = ApiObject & ShapeOf<typeof content>;

const asSlice = (object: ApiObject): EndpointSlice => object as EndpointSlice;

/** As kubectl, which shows three addresses and counts the others. */
const addressesShown = 3;

export const endpointSlice: KindDefinition = {
	kind: 'EndpointSlice',
	group: 'discovery.k8s.io',
	version: 'v1',
	plural: 'endpointslices',
	singular: 'endpointslice',
	shortNames: [],
	namespaced: true,
	content: ['addressType', 'endpoints', 'ports'],
	defaults: draft => draft,
	validate,
	columns: [
		nameColumn,
		column('AddressType', 'What the addresses are.', object => asSlice(object).addressType),
		column('Ports', 'Where all of them listen.', object => (asSlice(object).ports ?? []).map(({port}) => port ?? '*').join(',') || none),
		column('Endpoints', 'Who serves.', object => listed(asSlice(object).endpoints.flatMap(({addresses}) => addresses))),
		ageColumn,
	],
};

function listed(addresses: readonly string[]): string {
	if (addresses.length === 0) return none;
	const more = addresses.length - addressesShown;
	return addresses.slice(0, addressesShown).join(',') + (more > 0 ? ` + ${more} more...` : '');
}

const syntax: {readonly [type: string]: {readonly words: string; readonly holds: (text: string) => boolean}} = {
	IPv4: {words: 'an IPv4 address', holds: isIPv4},
	IPv6: {words: 'an IPv6 address', holds: isIPv6},
	FQDN: {words: 'a host name', holds: isDnsSubdomain},
};

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const object = membersOf(draft);
	const {addressType} = object;
	itemsOf(object['endpoints']).forEach((endpoint, i) =>
		checkAddresses(found, `endpoints[${i}].addresses`, itemsOf(membersOf(endpoint)['addresses']), addressType),
	);
	if (old !== undefined && !deepEqual(addressType, asSlice(old).addressType))
		forbid(found, 'addressType', 'cannot be changed; delete the object and create it again');
}

function checkAddresses(found: Found, path: string, addresses: readonly unknown[], type: unknown): void {
	const wanted = typeof type === 'string' && Object.hasOwn(syntax, type) ? syntax[type] : undefined;
	if (wanted === undefined) return;
	addresses.forEach((address, i) => {
		if (typeof address === 'string' && !wanted.holds(address))
			refuse(found, `${path}[${i}]`, `must be ${wanted.words}, got ${shown(address)}`);
	});
}
