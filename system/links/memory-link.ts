// Links between systems that live in one process. Packets pass by reference, never inside `send`: the network is handed a way
// to defer, so that the virtual world can put deliveries in its own order.

import type {Link, Packet} from './link.js';

export type MemoryNetworkOptions = {
	/** Runs the callback later, once, in the order of the calls: `setImmediate`, or the world's own queue. */
	readonly defer: (callback: () => void) => void;
};

export type MemoryNetwork = {
	/** Joins a system. A name that is joined already is taken over, as by a restarted system: the older link hears no more. */
	readonly link: (name: string) => Link;
};

type Listener = (from: string, packet: Packet) => void;
type End = {listener: Listener | undefined; open: boolean};

export function createMemoryNetwork({defer}: MemoryNetworkOptions): MemoryNetwork {
	const ends = new Map<string, End>();
	return {
		link(name) {
			const end: End = {listener: undefined, open: true};
			ends.set(name, end);
			return {
				send(to, packet) {
					if (!end.open) return;
					// Who has the name when the packet arrives gets it: a packet may outlive its receiver.
					defer(() => ends.get(to)?.listener?.(name, packet));
				},
				onPacket(listener) {
					end.listener = listener;
				},
				close() {
					end.open = false;
					end.listener = undefined;
					if (ends.get(name) === end) ends.delete(name);
					return Promise.resolve();
				},
			};
		},
	};
}
