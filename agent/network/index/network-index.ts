// What a node knows of the network, by key, and endpoints by their Service; who serves traffic looks here and hears what has changed.

import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import {
	instancesKey,
	serversKey,
	type NetworkEndpoints,
	type NetworkObject,
	type NetworkService,
} from '../../../actors/protocol/network-object.js';
import {objectKey, type ObjectKey} from '../../../api/keys.js';

type TypeOf<Type extends NetworkObject['type']> = Extract<NetworkObject, {type: Type}>;

export type NetworkIndex = {
	readonly keys: () => readonly ObjectKey[];
	readonly get: (key: ObjectKey) => NetworkObject | undefined;
	readonly service: (namespace: string, name: string) => NetworkService | undefined;
	/** The slices of a Service; in no order. */
	readonly endpointsOf: (namespace: string, service: string) => Iterable<NetworkEndpoints>;
	readonly all: <Type extends NetworkObject['type']>(type: Type) => Iterable<TypeOf<Type>>;
	/** All of them in one pass; listeners hear of them together, once they are in the index. */
	readonly change: (changes: readonly NetworkChange[]) => void;
	/** The same, and what is not among them is there no more; what the agent alone knows stays until it says otherwise. */
	readonly replace: (changes: readonly NetworkChange[]) => void;
	readonly onChange: (listener: (changed: readonly NetworkDifference[]) => void) => void;
};

export type NetworkDifference = {
	readonly key: ObjectKey;
	readonly before: NetworkObject | undefined;
	readonly after: NetworkObject | undefined;
};

export function createNetworkIndex(): NetworkIndex {
	const objects = new Map<ObjectKey, NetworkObject>();
	const byType = new Map<NetworkObject['type'], Map<ObjectKey, NetworkObject>>();
	const slices = new Map<string, Map<ObjectKey, NetworkEndpoints>>();
	const listeners: ((changed: readonly NetworkDifference[]) => void)[] = [];
	const put = ({key, object}: NetworkChange): NetworkDifference => {
		const before = objects.get(key);
		if (isLocked(object) && before?.type === 'certificate' && before.opened !== undefined) return {key, before, after: before};
		if (before !== undefined) {
			byType.get(before.type)?.delete(key);
			if (before.type === 'endpoints') drop(slices, serviceOf(before), key);
		}
		if (object === undefined) objects.delete(key);
		else {
			objects.set(key, object);
			inner(byType, object.type).set(key, object);
			if (object.type === 'endpoints') inner(slices, serviceOf(object)).set(key, object);
		}
		return {key, before, after: object};
	};
	const change = (changes: readonly NetworkChange[]): void => {
		const changed = changes.map(put).filter(({before, after}) => before !== after);
		if (changed.length > 0) for (const listener of listeners) listener(changed);
	};
	return {
		keys: () => [...objects.keys()],
		get: key => objects.get(key),
		service: (namespace, name) => objects.get(objectKey('services', namespace, name)) as NetworkService | undefined,
		endpointsOf: (namespace, service) => slices.get(`${namespace}/${service}`)?.values() ?? [],
		all: <Type extends NetworkObject['type']>(type: Type) => (byType.get(type)?.values() ?? []) as Iterable<TypeOf<Type>>,
		change,
		replace(changes) {
			const named = new Set(changes.map(({key}) => key));
			const gone = [...objects.keys()]
				.filter(key => !named.has(key) && !ofAgent.includes(key))
				.map((key): NetworkChange => ({key, object: undefined}));
			change([...gone, ...changes]);
		},
		onChange: listener => void listeners.push(listener),
	};
}

const ofAgent: readonly ObjectKey[] = [serversKey, instancesKey];

/** A certificate that the agent has not opened yet: until it has, the one before goes on. */
const isLocked = (object: NetworkObject | undefined): boolean =>
	object?.type === 'certificate' && object.isTls && object.opened === undefined;

const serviceOf = ({namespace, service}: NetworkEndpoints): string => `${namespace}/${service}`;

function inner<Key, Inner, Value>(outer: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> {
	const found = outer.get(key) ?? new Map<Inner, Value>();
	outer.set(key, found);
	return found;
}

function drop<Key, Inner, Value>(outer: Map<Key, Map<Inner, Value>>, key: Key, name: Inner): void {
	const found = outer.get(key);
	found?.delete(name);
	if (found?.size === 0) outer.delete(key);
}
