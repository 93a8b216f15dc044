// Which Dns or Ingress has a path of a host, as routers find it. Pure.

import {createRoutingTable} from '../../agent/network/router/routing-table.js';
import {comparablePath} from '../../agent/network/router/request-path.js';
import type {NetworkDns, NetworkIngress} from '../../actors/protocol/network-object.js';
import type {Dns} from '../../api/kinds/dns.js';
import type {Ingress} from '../../api/kinds/ingress.js';
import {didYouMean} from '../../api/suggest.js';
import {isFunction, type RoutedBackend} from '../../agent/network/router/routes.js';
import type {Facts, RouteBackend, RouteFound} from './facts.js';

type Owned = {readonly kind: 'Dns' | 'Ingress'; readonly object: NetworkDns | NetworkIngress};

/** Its services and functions, those with a weight first; or no route, and which host may be meant. */
export function routeIn(dnses: readonly Dns[], ingresses: readonly Ingress[], host: string, path: string): NonNullable<Facts['route']> {
	const owned: readonly Owned[] = [
		...dnses.flatMap(({metadata, spec}): readonly Owned[] =>
			spec === undefined ? [] : [{kind: 'Dns', object: {type: 'dns', ...namesIn(metadata), spec}}],
		),
		...ingresses.flatMap(({metadata, spec}): readonly Owned[] =>
			spec === undefined ? [] : [{kind: 'Ingress', object: {type: 'ingress', ...namesIn(metadata), spec}}],
		),
	];
	const [comparable = '/'] = comparablePath(path).split(/[?#]/);
	const table = createRoutingTable();
	for (const [index, {object}] of owned.entries()) table.set(String(index), object, () => undefined);
	const route = table.find(host, comparable);
	if (route === undefined) return {found: null, hint: didYouMean(host, hostsOf(dnses, ingresses))};
	const backends = [...route.backends].sort((a, b) => b.weight - a.weight);
	return {found: ownerOf(owned, host, comparable, backends), hint: ''};
}

/** The oldest of those that have the same services there: it is the one that the table has kept. */
function ownerOf(owned: readonly Owned[], host: string, path: string, backends: readonly RoutedBackend[]): RouteFound | null {
	const told = backends.map(toldOf);
	const wanted = JSON.stringify(told);
	for (const {kind, object} of owned) {
		const alone = createRoutingTable();
		alone.set('', object, () => undefined);
		const its = [...(alone.find(host, path)?.backends ?? [])].sort((a, b) => b.weight - a.weight);
		if (JSON.stringify(its.map(toldOf)) === wanted) return {kind, namespace: object.namespace, name: object.name, backends: told};
	}
	return null;
}

const toldOf = (backend: RoutedBackend): RouteBackend =>
	isFunction(backend)
		? {namespace: backend.namespace, function: backend.function}
		: {namespace: backend.namespace, service: backend.service, port: backend.port};

const namesIn = ({namespace = '', name, creationTimestamp: createdAt}: Dns['metadata']) => ({namespace, name, createdAt});

const hostsOf = (dnses: readonly Dns[], ingresses: readonly Ingress[]): readonly string[] => [
	...dnses.flatMap(({spec}) => spec?.host ?? []),
	...ingresses.flatMap(({spec}) => (spec?.rules ?? []).flatMap(({host}) => host ?? [])),
];
