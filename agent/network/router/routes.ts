// From a Dns or an Ingress to routes: the services and functions behind a path, and which requests go to which.

import type {NetworkDns, NetworkIngress, NetworkObject} from '../../../actors/protocol/network-object.js';
import {backendsOf, weightOf, type DnsBackend} from '../../../api/dns-backends.js';
import type {IngressBackend} from '../../../api/kinds/ingress.js';
import {dnsPlaces, ingressPlace, type RoutePlace} from '../../../api/routes.js';
import {matcherOf, type Matched, type ReadPattern} from './matching.js';

type Share = {
	readonly namespace: string;
	readonly weight: number;
	/** It takes all requests of which this is so. */
	readonly matches: ((request: Matched) => boolean) | undefined;
};

export type Backend = Share & {
	readonly service: string;
	/** Its number or its name; undefined: the first of the service. */
	readonly port: number | string | undefined;
};

export type FunctionBackend = Share & {readonly function: string};

export type RoutedBackend = Backend | FunctionBackend;

export const isFunction = (backend: RoutedBackend): backend is FunctionBackend => 'function' in backend;

export type Route = {
	readonly backends: readonly RoutedBackend[];
	readonly hasMatches: boolean;
	readonly weight: number;
};

type Placed = {readonly place: RoutePlace; readonly route: Route};
type Routes = {readonly routes: readonly Placed[]; readonly fallback: Route | undefined};

export function routesOf(object: NetworkObject, readPattern: ReadPattern): Routes {
	if (object.type === 'dns') return {routes: dnsRoutes(object, readPattern), fallback: undefined};
	if (object.type === 'ingress') return ingressRoutes(object);
	return {routes: [], fallback: undefined};
}

function dnsRoutes({namespace, spec}: NetworkDns, readPattern: ReadPattern): readonly Placed[] {
	const backend = (its: DnsBackend): RoutedBackend => {
		const matches = its.match === undefined ? undefined : matcherOf(its.match, readPattern);
		const share: Share = {namespace, weight: weightOf(its), matches};
		return its.funcName === undefined ? {...share, service: its.svcName ?? '', port: its.svcPort} : {...share, function: its.funcName};
	};
	return dnsPlaces(spec).flatMap((place, i) => {
		const path = spec.paths[i];
		return path === undefined ? [] : [{place, route: routeTo(backendsOf(path).map(backend))}];
	});
}

function ingressRoutes({namespace, spec}: NetworkIngress): Routes {
	const routes = (spec.rules ?? []).flatMap(({host = '', http}) =>
		(http?.paths ?? []).map(({path = '/', pathType, backend}): Placed => ({
			place: ingressPlace(host, path, pathType),
			route: routeTo([ingressBackend(namespace, backend)]),
		})),
	);
	const {defaultBackend} = spec;
	return {routes, fallback: defaultBackend === undefined ? undefined : routeTo([ingressBackend(namespace, defaultBackend)])};
}

const ingressBackend = (namespace: string, {service}: IngressBackend): Backend => ({
	namespace,
	service: service?.name ?? '',
	port: service?.port?.number ?? service?.port?.name,
	weight: 1,
	matches: undefined,
});

const routeTo = (backends: readonly RoutedBackend[]): Route => ({
	backends,
	hasMatches: backends.some(({matches}) => matches !== undefined),
	weight: backends.reduce((sum, {weight}) => sum + weight, 0),
});

/** `chance` from 0 up to 1. The first whose match holds; else by weight. Undefined: none has any. */
export function backendFor({backends, hasMatches, weight}: Route, request: Matched, chance: number): RoutedBackend | undefined {
	if (hasMatches) {
		const taker = backends.find(({matches}) => matches?.(request) === true);
		if (taker !== undefined) return taker;
	}
	let left = chance * weight;
	return backends.find(backend => backend.weight > 0 && (left -= backend.weight) < 0);
}
