// The instances of functions on this node, for calls that no server makes: the one with the fewest of our calls first, and none of them gets more than
// it takes at a time. Nothing waits here.

import {instancesKey, type NetworkObject, type PlacedInstance} from '../../../actors/protocol/network-object.js';
import type {NetworkIndex} from '../index/network-index.js';
import type {FunctionBackend} from './routes.js';

export type Slot = {readonly instance: PlacedInstance; readonly release: () => void};

export type LocalInstances = {
	/** One that is not avoided, by its uid; undefined: none has room. */
	readonly take: (backend: FunctionBackend, avoided: ReadonlySet<string>) => Slot | undefined;
	readonly hasRoom: (backend: FunctionBackend) => boolean;
};

export function createLocalInstances(index: Pick<NetworkIndex, 'get'>): LocalInstances {
	let told: NetworkObject | undefined;
	let byFunction: ReadonlyMap<string, readonly PlacedInstance[]> = new Map();
	/** By uid: also of those that are none any more. */
	const calls = new Map<string, number>();

	const of = ({namespace, function: name}: FunctionBackend): readonly PlacedInstance[] => {
		const now = index.get(instancesKey);
		if (now !== told) [told, byFunction] = [now, now?.type === 'instances' ? filed(now.instances) : new Map()];
		return byFunction.get(`${namespace}/${name}`) ?? [];
	};
	const callsOf = ({uid}: PlacedInstance): number => calls.get(uid) ?? 0;
	const withRoom = (backend: FunctionBackend): readonly PlacedInstance[] => of(backend).filter(each => callsOf(each) < each.concurrency);
	return {
		take(backend, avoided) {
			const free = withRoom(backend).filter(({uid}) => !avoided.has(uid));
			const [first] = free;
			if (first === undefined) return undefined;
			const instance = free.reduce((least, each) => (callsOf(each) < callsOf(least) ? each : least), first);
			calls.set(instance.uid, callsOf(instance) + 1);
			let isHeld = true;
			const release = (): void => {
				if (!isHeld) return;
				isHeld = false;
				const left = callsOf(instance) - 1;
				if (left === 0) calls.delete(instance.uid);
				else calls.set(instance.uid, left);
			};
			return {instance, release};
		},
		hasRoom: backend => withRoom(backend).length > 0,
	};
}

function filed(instances: readonly PlacedInstance[]): ReadonlyMap<string, readonly PlacedInstance[]> {
	const byFunction = new Map<string, PlacedInstance[]>();
	for (const instance of instances) {
		const key = `${instance.namespace}/${instance.function}`;
		const its = byFunction.get(key) ?? [];
		byFunction.set(key, its);
		its.push(instance);
	}
	return byFunction;
}
