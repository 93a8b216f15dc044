// What the names of the cluster stand for on this node: Services, their endpoints and hosts of Dnses, by Kubernetes' DNS specification 1.1.0.

import type {NetworkEndpoints, NetworkService} from '../../../actors/protocol/network-object.js';
import {localAddressOf} from '../../../actors/node/network/local-address.js';
import {limits} from '../../../api/limits.js';
import {isIPv4} from '../../../api/rules/address.js';
import type {NetworkIndex} from '../index/network-index.js';
import {isReached, viewOf, type View} from '../services/endpoints.js';

export const clusterDomain = 'cluster.local';

export type ZoneRecord =
	| {readonly type: 'A' | 'CNAME' | 'PTR'; readonly name: string; readonly data: string}
	| {
			readonly type: 'SRV';
			readonly name: string;
			readonly data: {readonly priority: number; readonly weight: number; readonly port: number; readonly target: string};
	  };

export type Found = {
	/** Of all types. */
	readonly records: readonly ZoneRecord[];
	/** Of names that they lead to. */
	readonly additionals: readonly ZoneRecord[];
};

export type Zone = {
	/** A name in small letters. `elsewhere`: the cluster knows nothing of such names; undefined: it has no such name. */
	readonly find: (name: string) => Found | 'elsewhere' | undefined;
};

export type ZoneOptions = {
	readonly index: NetworkIndex;
	/** The name of this one. */
	readonly node: string;
	/** Where hosts of Dnses are served; undefined: nowhere, and such names are not the cluster's. */
	readonly routerAddress: string | undefined;
	/** Who asks reaches Services at their own addresses. */
	readonly isTranslated: boolean;
};

/** What is made from all objects, when a name needs it, until the next change. */
type Overview = {
	readonly namespaces: ReadonlySet<string>;
	readonly hosts: ReadonlySet<string>;
	/** Names by address. */
	readonly reverse: ReadonlyMap<string, readonly string[]>;
};

type Endpoint = {readonly address: string; readonly host: string; readonly slice: NetworkEndpoints};

type Looker = View & Pick<ZoneOptions, 'isTranslated'>;

const nothing: Found = {records: [], additionals: []};

export function createZone({index, node, routerAddress, isTranslated}: ZoneOptions): Zone {
	let overview: Overview | undefined;
	index.onChange(() => (overview = undefined));
	const view: Looker = {...viewOf(index, node), isTranslated};
	const known = (): Overview => (overview ??= overviewOf(index, view));

	const inCluster = (labels: readonly string[]): Found | undefined => {
		const [root, namespace, name, sub, port] = labels;
		if (root === undefined) return nothing;
		if (root !== 'svc' || labels.length > 5) return undefined;
		if (namespace === undefined) return nothing;
		if (name === undefined) return known().namespaces.has(namespace) ? nothing : undefined;
		const service = index.service(namespace, name);
		if (service === undefined) return undefined;
		if (sub === undefined) return ofService(service, index, view);
		if (port !== undefined) return ofPort(service, sub, port, index, view);
		return sub.startsWith('_') ? ofProtocol(service, sub) : ofHost(service, sub, index, view);
	};

	return {
		find(name) {
			if (name === clusterDomain) return nothing;
			if (name.endsWith(`.${clusterDomain}`))
				return inCluster(
					name
						.slice(0, -clusterDomain.length - 1)
						.split('.')
						.reverse(),
				);
			if (name.endsWith('.in-addr.arpa')) {
				const names = known().reverse.get(name.slice(0, -'.in-addr.arpa'.length).split('.').reverse().join('.'));
				return names === undefined ? 'elsewhere' : {records: names.map(data => ({type: 'PTR', name, data})), additionals: []};
			}
			const {hosts} = known();
			if (routerAddress === undefined || !(hosts.has(name) || hosts.has(`*${name.slice(name.indexOf('.'))}`))) return 'elsewhere';
			return {records: [{type: 'A', name, data: routerAddress}], additionals: []};
		},
	};
}

const nameOf = ({namespace, name}: NetworkService): string => `${name}.${namespace}.svc.${clusterDomain}`;

const isHeadless = ({spec}: NetworkService): boolean => spec.clusterIP === 'None';
const addressOf = ({spec: {clusterIP = ''}}: NetworkService, {isTranslated}: Looker): string | undefined => {
	const local = localAddressOf(clusterIP);
	return isTranslated && local !== undefined ? clusterIP : local;
};

function ofService(service: NetworkService, index: NetworkIndex, view: Looker): Found {
	const name = nameOf(service);
	const {type, externalName} = service.spec;
	if (type === 'ExternalName')
		return externalName === undefined ? nothing : {records: [{type: 'CNAME', name, data: withoutDot(externalName)}], additionals: []};
	if (isHeadless(service)) {
		const addresses = new Set([...endpointsOf(service, index, view)].map(({address}) => address));
		return {records: [...addresses].map(data => ({type: 'A', name, data})), additionals: []};
	}
	const address = addressOf(service, view);
	return address === undefined ? nothing : {records: [{type: 'A', name, data: address}], additionals: []};
}

const withoutDot = (name: string): string => name.replace(/\.$/, '').toLowerCase();

/** `_tcp` of a Service that has such ports stands before their names. */
const ofProtocol = ({spec}: NetworkService, label: string): Found | undefined =>
	(spec.ports ?? []).some(({protocol = 'TCP'}) => label === `_${protocol.toLowerCase()}`) ? nothing : undefined;

/** A pod by its host name, or by its address where it has none. */
function ofHost(service: NetworkService, host: string, index: NetworkIndex, view: Looker): Found | undefined {
	const addresses = new Set([...endpointsOf(service, index, view)].filter(each => each.host === host).map(({address}) => address));
	if (addresses.size === 0) return undefined;
	const name = `${host}.${nameOf(service)}`;
	return {records: [...addresses].map(data => ({type: 'A', name, data})), additionals: []};
}

function ofPort(service: NetworkService, protocolLabel: string, portLabel: string, index: NetworkIndex, view: Looker): Found | undefined {
	const wanted = (service.spec.ports ?? []).find(
		({name, protocol = 'TCP'}) => `_${name ?? ''}` === portLabel && `_${protocol.toLowerCase()}` === protocolLabel,
	);
	if (wanted === undefined) return undefined;
	const name = `${portLabel}.${protocolLabel}.${nameOf(service)}`;
	const srv = (port: number, target: string): ZoneRecord => ({type: 'SRV', name, data: {priority: 0, weight: 100, port, target}});
	if (!isHeadless(service)) {
		const {records} = ofService(service, index, view);
		return {records: records.length === 0 ? [] : [srv(wanted.port, nameOf(service))], additionals: records};
	}
	const records = new Map<string, ZoneRecord>();
	const additionals: ZoneRecord[] = [];
	for (const {address, host, slice} of endpointsOf(service, index, view)) {
		const port = (slice.ports ?? []).find(
			each => (each.name ?? '') === wanted.name && (each.protocol ?? 'TCP') === (wanted.protocol ?? 'TCP'),
		)?.port;
		if (port === undefined) continue;
		const target = `${host}.${nameOf(service)}`;
		records.set(`${target} ${port}`, srv(port, target));
		additionals.push({type: 'A', name: target, data: address});
	}
	return {records: [...records.values()], additionals};
}

/** Those that are ready, or count as such, and that this node reaches. */
function* endpointsOf({namespace, name}: NetworkService, index: NetworkIndex, view: Looker): Generator<Endpoint> {
	let count = 0;
	for (const slice of index.endpointsOf(namespace, name)) {
		if (slice.addressType !== 'IPv4') continue;
		for (const endpoint of slice.endpoints) {
			const [address = ''] = endpoint.addresses;
			if (endpoint.conditions?.ready === false || !isIPv4(address) || !isReached(endpoint, address, view)) continue;
			if (count++ >= limits.dnsAnswers) return;
			yield {address, host: endpoint.hostname ?? address.replaceAll('.', '-'), slice};
		}
	}
}

function overviewOf(index: NetworkIndex, view: Looker): Overview {
	const namespaces = new Set<string>();
	const reverse = new Map<string, Set<string>>();
	const add = (address: string | undefined, name: string): void => {
		if (address === undefined) return;
		const names = reverse.get(address) ?? new Set<string>();
		reverse.set(address, names.add(name));
	};
	for (const service of index.all('service')) {
		namespaces.add(service.namespace);
		if (isHeadless(service)) for (const {address, host} of endpointsOf(service, index, view)) add(address, `${host}.${nameOf(service)}`);
		else for (const address of [addressOf(service, view), service.spec.clusterIP]) add(address, nameOf(service));
	}
	const hosts = new Set([...index.all('dns')].map(({spec}) => spec.host.toLowerCase()));
	return {namespaces, hosts, reverse: new Map([...reverse].map(([address, names]) => [address, [...names].slice(0, limits.dnsAnswers)]))};
}
