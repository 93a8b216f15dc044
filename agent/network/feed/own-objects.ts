// What an agent tells which serves traffic of itself: where functions are called, and as whom, and the instances on this node that are ready. No control
// plane tells it, and no cache has it.
//
// What it keeps true: nothing is told before it is known, so that what an earlier agent has told goes on until then.

import {
	instancesKey,
	serversKey,
	type NetworkInstances,
	type NetworkServers,
	type PlacedInstance,
	type ReadyInstance,
} from '../../../actors/protocol/network-object.js';
import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import {limits} from '../../../api/limits.js';
import type {OwnedPlace} from '../../functions/runner-place.js';

export type OwnObjects = {
	/** What is to be fed now; null: the pod is none any more. */
	readonly instance: (uid: string, instance: ReadyInstance | null) => NetworkChange;
	readonly servers: (servers: Omit<NetworkServers, 'type' | 'name'>) => NetworkChange;
	/** All that is known. */
	readonly all: () => readonly NetworkChange[];
};

/** `placeOf`: where an instance is called on this node; undefined: nowhere. */
export function createOwnObjects(placeOf: (uid: string) => OwnedPlace | undefined = () => undefined): OwnObjects {
	const placed = new Map<string, PlacedInstance>();
	const known = new Map<string, NetworkChange>();
	const told = (change: NetworkChange): NetworkChange => {
		known.set(change.key, change);
		return change;
	};
	return {
		instance(uid, instance) {
			const place = instance === null ? undefined : placeOf(uid);
			if (instance === null || place === undefined) placed.delete(uid);
			else placed.set(uid, {...instance, home: place.home, owner: place.owner});
			const instances = [...placed.values()].slice(0, limits.routerInstances);
			return told({key: instancesKey, object: {type: 'instances', name: instancesKey, instances} satisfies NetworkInstances});
		},
		servers: servers => told({key: serversKey, object: {type: 'servers', name: serversKey, ...servers} satisfies NetworkServers}),
		all: () => [...known.values()],
	};
}
