// The ports of Services that a node serves, kept in step with what the node knows of the network. One changed slice computes one Service again;
// who serves traffic hears which ports are others than before.

import type {NetworkEndpoints, NetworkNode, NetworkService} from '../../../actors/protocol/network-object.js';
import {deepEqual, keepReference} from '../../../api/equal.js';
import type {NetworkDifference, NetworkIndex} from '../index/network-index.js';
import {createClaims} from './claims.js';
import {viewWith} from './endpoints.js';
import {leftOutOf, portsOfService} from './ports-of-service.js';
import type {LeftOut, ServedDifference, ServedPlace, ServedPort} from './served-port.js';

export type ServiceTable = {
	readonly all: () => Iterable<ServedPort>;
	readonly get: (key: string) => ServedPort | undefined;
	/** Endpoints of a Service that get no traffic on this node, and why. */
	readonly leftOut: (namespace: string, service: string) => readonly LeftOut[];
	/** Listeners hear of the changes of one pass together, each port once. */
	readonly onChange: (listener: (changed: readonly ServedDifference[]) => void) => void;
};

/** Its address is where each node's own DNS answers: nothing leads from there to an endpoint. */
const dnsService = 'kube-system/kube-dns';

/** `node`: the name of the node that looks. */
export function createServiceTable(index: NetworkIndex, node: string): ServiceTable {
	const served = new Map<string, ServedPort>();
	const keysOf = new Map<string, readonly string[]>();
	const claims = createClaims();
	const listeners: ((changed: readonly ServedDifference[]) => void)[] = [];
	const nodes = new Map<string, NetworkNode>();
	const view = viewWith(node, name => nodes.get(name));

	const computed = (id: string): readonly ServedPort[] => {
		const [namespace = '', name = ''] = id.split('/');
		const service = id === dnsService ? undefined : index.service(namespace, name);
		return service === undefined ? [] : portsOfService(service, [...index.endpointsOf(namespace, name)], view);
	};
	/** Computes one Service, and after it those that get a place which this one lets go. */
	const update = (id: string, before: Map<string, ServedPort | undefined>, again: (id: string) => void): void => {
		const ports = computed(id);
		const keys = ports.map(({key}) => key);
		for (const key of new Set([...(keysOf.get(id) ?? []), ...keys])) {
			const port = ports.find(one => one.key === key);
			const old = served.get(key);
			if (!before.has(key)) before.set(key, old);
			for (const waiter of claims.keepOnly(key, new Set((port?.places ?? []).map(place => claimOf(place, key))))) again(serviceOf(waiter));
			if (port === undefined) served.delete(key);
			else served.set(key, keepReference(old, withClaims(port)));
		}
		if (keys.length === 0) keysOf.delete(id);
		else keysOf.set(id, keys);
	};
	const withClaims = (port: ServedPort): ServedPort => {
		const places = port.places.filter(place => claims.claim(claimOf(place, port.key), port.key));
		const taken = port.places
			.filter(place => !places.includes(place))
			.map(place => ({place, by: serviceOf(claims.holderOf(claimOf(place, port.key)) ?? '')}));
		return {...port, places, taken};
	};
	const recompute = (ids: Iterable<string>): void => {
		const before = new Map<string, ServedPort | undefined>();
		const dirty = new Set(ids);
		// A set is walked to what is added meanwhile: who waited for a place comes once more.
		for (const id of dirty) {
			dirty.delete(id);
			update(id, before, waiter => void dirty.add(waiter));
		}
		const changed = [...before]
			.map(([key, old]): ServedDifference => ({key, before: old, after: served.get(key)}))
			.filter(difference => difference.before !== difference.after);
		if (changed.length > 0) for (const listener of listeners) listener(changed);
	};
	const noteNode = ({before, after}: NetworkDifference): boolean => {
		const old = before?.type === 'node' ? before : undefined;
		const now = after?.type === 'node' ? after : undefined;
		const name = (now ?? old)?.name ?? '';
		if (now === undefined) nodes.delete(name);
		else nodes.set(name, now);
		return !deepEqual(old, now);
	};
	const allServices = (): readonly string[] => [...index.all('service')].map(idOf);
	const take = (changed: readonly NetworkDifference[]): void => {
		const ids = new Set<string>();
		let isAll = false;
		for (const difference of changed) {
			for (const object of [difference.before, difference.after]) {
				if (object?.type === 'service') ids.add(idOf(object));
				if (object?.type === 'endpoints') ids.add(idOfSlice(object));
			}
			if (typeOf(difference) === 'node' && noteNode(difference)) isAll = true;
		}
		recompute(isAll ? new Set([...ids, ...allServices()]) : ids);
	};

	for (const object of index.all('node')) nodes.set(object.name, object);
	recompute(allServices());
	index.onChange(take);
	return {
		all: () => served.values(),
		get: key => served.get(key),
		leftOut(namespace, name) {
			const service = index.service(namespace, name);
			return service === undefined ? [] : leftOutOf(service, [...index.endpointsOf(namespace, name)], view);
		},
		onChange: listener => void listeners.push(listener),
	};
}

const typeOf = ({before, after}: NetworkDifference): string | undefined => (after ?? before)?.type;
const idOf = ({namespace, name}: NetworkService): string => `${namespace}/${name}`;
const idOfSlice = ({namespace, service}: NetworkEndpoints): string => `${namespace}/${service}`;
/** Of a served port's key. */
const serviceOf = (key: string): string => key.split('/', 2).join('/');

/** TCP and UDP of one place are two. */
const claimOf = ({address = '*', port}: ServedPlace, key: string): string => `${address}:${port}/${key.split('/')[2] ?? ''}`;
