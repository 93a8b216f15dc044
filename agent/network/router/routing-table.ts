// Which route answers a request: by host, then by path. Kept in step with Dnses and Ingresses, host by host; endpoints are no part of it.

import type {NetworkObject} from '../../../actors/protocol/network-object.js';
import {byAge, type RouteClaimant, type RoutePlace} from '../../../api/routes.js';
import type {ReadPattern} from './matching.js';
import {comparablePath} from './request-path.js';
import {routesOf, type Route} from './routes.js';

export type RoutingTable = {
	/** An object that came, changed or went. */
	readonly set: (key: string, object: NetworkObject | undefined, readPattern: ReadPattern) => void;
	/** `host` as `hostOf` makes it, `path` as `comparablePath` does. Requests keep the route that they were given. */
	readonly find: (host: string, path: string) => Route | undefined;
	readonly size: () => number;
};

type Entry = {readonly place: RoutePlace; readonly claimant: RouteClaimant; readonly route: Route};

/** The paths of one host, each with the oldest that asks for it. */
type Host = {readonly exact: ReadonlyMap<string, Route>; readonly prefixes: ReadonlyMap<string, Route>; readonly deepest: number};

/** Every host. */
const anyHost = '';

export function createRoutingTable(): RoutingTable {
	const byObject = new Map<string, readonly Entry[]>();
	const byHost = new Map<string, Map<string, readonly Entry[]>>();
	const hosts = new Map<string, Host>();
	const defaults = new Map<string, Entry>();
	let byDefault: Route | undefined;

	const fileUnder = (host: string, key: string, entries: readonly Entry[]): void => {
		const files = byHost.get(host) ?? new Map<string, readonly Entry[]>();
		if (entries.length === 0) files.delete(key);
		else files.set(key, entries);
		if (files.size === 0) {
			byHost.delete(host);
			hosts.delete(host);
			return;
		}
		byHost.set(host, files);
		hosts.set(host, compiled([...files.values()].flat()));
	};

	return {
		set(key, object, readPattern) {
			const {routes, fallback} = object === undefined ? noRoutes : routesOf(object, readPattern);
			const claimant = object === undefined ? undefined : claimantOf(object);
			const entries = claimant === undefined ? [] : routes.map(({place, route}): Entry => ({place, claimant, route}));
			const touched = new Set([...(byObject.get(key) ?? []), ...entries].map(({place}) => place.host));
			if (entries.length === 0) byObject.delete(key);
			else byObject.set(key, entries);
			for (const host of touched) {
				fileUnder(
					host,
					key,
					entries.filter(({place}) => place.host === host),
				);
			}
			if (fallback === undefined || claimant === undefined) defaults.delete(key);
			else defaults.set(key, {place: {host: anyHost, path: '/', type: 'Prefix'}, claimant, route: fallback});
			byDefault = oldestFirst([...defaults.values()])[0]?.route;
		},
		find(host, path) {
			const dot = host.indexOf('.');
			return (
				found(hosts.get(host), path) ??
				(dot < 0 ? undefined : found(hosts.get(`*${host.slice(dot)}`), path)) ??
				(host === anyHost ? undefined : found(hosts.get(anyHost), path)) ??
				byDefault
			);
		},
		size: () => byObject.size + defaults.size,
	};
}

const noRoutes = {routes: [], fallback: undefined};

function claimantOf(object: NetworkObject): RouteClaimant | undefined {
	if (object.type !== 'dns' && object.type !== 'ingress') return undefined;
	const {createdAt, type: kind, namespace, name} = object;
	return {createdAt, kind, namespace, name};
}

const oldestFirst = (entries: readonly Entry[]): readonly Entry[] => [...entries].sort((a, b) => byAge(a.claimant, b.claimant));

function compiled(entries: readonly Entry[]): Host {
	const exact = new Map<string, Route>();
	const prefixes = new Map<string, Route>();
	for (const {place, route} of oldestFirst(entries)) {
		const paths = place.type === 'Exact' ? exact : prefixes;
		const path = comparablePath(place.path);
		if (!paths.has(path)) paths.set(path, route);
	}
	const deepest = Math.max(0, ...[...prefixes.keys()].map(path => path.split('/').length - 1));
	return {exact, prefixes, deepest};
}

/** The longest prefix of whole segments; the path itself goes before all prefixes. */
function found(host: Host | undefined, path: string): Route | undefined {
	if (host === undefined) return undefined;
	const {exact, prefixes, deepest} = host;
	const whole = exact.get(path);
	if (whole !== undefined) return whole;
	for (let end = endOfSegments(path, deepest); end > 0; end = path.lastIndexOf('/', end - 1)) {
		const route = prefixes.get(path.slice(0, end));
		if (route !== undefined) return route;
	}
	return prefixes.get('/');
}

/** No prefix has more segments: a path of thousands costs no more than one of a few. */
function endOfSegments(path: string, count: number): number {
	let end = 0;
	for (let seen = 0; seen < count; seen++) {
		end = path.indexOf('/', end + 1);
		if (end < 0) return path.length;
	}
	return end;
}
