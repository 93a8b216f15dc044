// The kind Ingress: hosts and paths of HTTP, and the services that answer there. As in Kubernetes; the router serves every class.

import {ageColumn, column, nameColumn, none} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import {limits} from '../limits.js';
import type {ApiObject, Draft, Json} from '../object.js';
import {isDnsSubdomain} from '../rules/names.js';
import {itemsOf, membersOf, refuse, requireOne, textOf, type Found} from '../rules/report.js';
import {checkRouteHost, checkRoutePath, checkServiceName} from '../rules/route.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/ingress.js';
import {shown} from '../shown.js';

export type IngressSpec = ShapeOf<typeof spec>;
export type IngressStatus = ShapeOf<typeof status>;
export type IngressBackend = NonNullable<IngressSpec['defaultBackend']>;
export type Ingress = ApiObject<IngressSpec, IngressStatus>;

const asIngress = (object: ApiObject): Ingress => object as Ingress;

/** As kubectl, which shows three hosts and counts the others. */
const hostsShown = 3;

export const ingress: KindDefinition = {
	kind: 'Ingress',
	group: 'networking.k8s.io',
	version: 'v1',
	plural: 'ingresses',
	singular: 'ingress',
	shortNames: ['ing'],
	namespaced: true,
	defaults: draft => draft,
	validate,
	initialStatus: (): IngressStatus => ({loadBalancer: {}}),
	columns: [
		nameColumn,
		column('Class', 'Its class; the router serves every class.', object => asIngress(object).spec?.ingressClassName ?? none),
		column('Hosts', 'The host names that it is for.', object => hostsText(asIngress(object).spec?.rules)),
		column('Address', 'Where it is reached from outside.', object =>
			(asIngress(object).status?.loadBalancer?.ingress ?? []).map(({ip, hostname}) => ip ?? hostname ?? '').join(','),
		),
		column('Ports', 'The ports of its protocols.', object => ((asIngress(object).spec?.tls ?? []).length > 0 ? '80, 443' : '80')),
		ageColumn,
	],
};

function hostsText(rules: IngressSpec['rules'] = []): string {
	const hosts = [...new Set(rules.map(({host = '*'}) => host))];
	if (hosts.length === 0) return '*';
	const more = hosts.length - hostsShown;
	return hosts.slice(0, hostsShown).join(',') + (more > 0 ? ` + ${more} more...` : '');
}

function validate(found: Found, draft: Draft): void {
	const spec = membersOf(draft.spec);
	if (spec['defaultBackend'] !== undefined) checkBackend(found, 'spec.defaultBackend', spec['defaultBackend']);
	if (itemsOf(spec['rules']).length === 0 && spec['defaultBackend'] === undefined)
		refuse(found, 'spec', 'must have rules or a defaultBackend', 'FieldValueRequired');
	const rules = itemsOf(spec['rules']).map(membersOf);
	const paths = rules.reduce((sum, {http}) => sum + Math.max(1, itemsOf(membersOf(http)['paths']).length), 0);
	if (paths > limits.routePaths) return refuse(found, 'spec.rules', `must have at most ${limits.routePaths} paths together, got ${paths}`);
	rules.forEach(({host, http}, i) => {
		if (typeof host === 'string' && host !== '') checkRouteHost(found, `spec.rules[${i}].host`, host);
		itemsOf(membersOf(http)['paths']).forEach((path, j) => checkPath(found, `spec.rules[${i}].http.paths[${j}]`, path));
	});
	itemsOf(spec['tls']).forEach((item, i) => checkTls(found, `spec.tls[${i}]`, item));
}

function checkPath(found: Found, at: string, item: Json): void {
	const {path, pathType, backend} = membersOf(item);
	if (typeof path === 'string') checkRoutePath(found, `${at}.path`, path);
	else if (path === undefined && pathType !== 'ImplementationSpecific')
		refuse(found, `${at}.path`, `is required with the pathType ${shown(textOf(pathType) ?? '')}`, 'FieldValueRequired');
	if (backend !== undefined) checkBackend(found, `${at}.backend`, backend);
}

function checkBackend(found: Found, at: string, value: Json): void {
	const {service} = membersOf(value);
	if (service === undefined) {
		if (membersOf(value)['resource'] === undefined) refuse(found, `${at}.service`, 'is required', 'FieldValueRequired');
		return;
	}
	const {name, port} = membersOf(service);
	checkServiceName(found, `${at}.service.name`, name);
	requireOne(found, `${at}.service.port`, membersOf(port), ['number', 'name']);
}

function checkTls(found: Found, at: string, item: Json): void {
	const {hosts, secretName} = membersOf(item);
	itemsOf(hosts).forEach((host, i) => {
		if (typeof host === 'string') checkRouteHost(found, `${at}.hosts[${i}]`, host);
	});
	if (typeof secretName === 'string' && secretName !== '' && !isDnsSubdomain(secretName))
		refuse(found, `${at}.secretName`, `must be the name of a Secret, got ${shown(secretName)}`);
}
