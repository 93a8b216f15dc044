// What Dnses and Ingresses ask for of the router: paths of hosts. A path of a host belongs to the oldest that asks for it.

import type {Dns} from './kinds/dns.js';
import type {Ingress} from './kinds/ingress.js';

/** A path of a host; of every host where the host is empty. The types are those of Ingresses: a prefix is one of whole segments. */
export type RoutePlace = {readonly host: string; readonly path: string; readonly type: 'Exact' | 'Prefix'};

export const dnsPlaces = ({host, paths}: NonNullable<Dns['spec']>): readonly RoutePlace[] =>
	paths.map(({subPath}) => ({host, path: withoutEndSlash(subPath), type: 'Prefix'}));

export const ingressPlaces = ({rules = []}: NonNullable<Ingress['spec']>): readonly RoutePlace[] =>
	rules.flatMap(({host = '', http}) => (http?.paths ?? []).map(({path = '/', pathType}) => ingressPlace(host, path, pathType)));

/** What is left to who implements it is a prefix, as with most. */
export const ingressPlace = (host: string, path: string, pathType: string): RoutePlace =>
	pathType === 'Exact' ? {host, path, type: 'Exact'} : {host, path: withoutEndSlash(path), type: 'Prefix'};

/** `/api/` and `/api` are the same prefix. */
const withoutEndSlash = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, '') || '/' : path);

export const placeText = ({host, path, type}: RoutePlace): string =>
	`${host === '' ? '*' : host}${path}${type === 'Exact' ? ' (exact)' : ''}`;

/** Of two that ask for the same the first in this order gets it. */
export type RouteClaimant = {
	readonly createdAt: string;
	readonly kind: 'dns' | 'ingress';
	readonly namespace: string;
	readonly name: string;
};

export function byAge(a: RouteClaimant, b: RouteClaimant): number {
	const [one, other] = [a, b].map(({createdAt, kind, namespace, name}) => `${createdAt} ${kind} ${namespace}/${name}`);
	return (one ?? '') < (other ?? '') ? -1 : 1;
}
