// Addresses of a subnet for pods. One that was freed comes back only after all others had their turn.

import {ipv4Number, ipv4Text, type Subnet} from '../../api/ipv4.js';

export type AddressPool = {
	/** Undefined: every address is in use. */
	readonly take: () => string | undefined;
	/** Says that an address is in use. False: it is no address of this subnet, or in use already. */
	readonly claim: (address: string) => boolean;
	readonly free: (address: string) => void;
};

/** `beginning`: how many addresses behind the first one it begins. */
export function createAddressPool({first, size}: Subnet, beginning = 0): AddressPool {
	const used = new Set<number>();
	let cursor = beginning % size;
	const indexOf = (address: string): number => (ipv4Number(address) ?? -1) - first;
	return {
		take() {
			for (let step = 0; step < size; step++) {
				const index = (cursor + step) % size;
				if (used.has(index) || isReserved(first + index)) continue;
				used.add(index);
				cursor = (index + 1) % size;
				return ipv4Text(first + index);
			}
			return undefined;
		},
		claim(address) {
			const index = indexOf(address);
			if (index < 0 || index >= size || used.has(index)) return false;
			used.add(index);
			if (index >= cursor) cursor = (index + 1) % size;
			return true;
		},
		free(address) {
			used.delete(indexOf(address));
		},
	};
}

/** Addresses that end in 0 or 255 look like networks and broadcasts to people, and to some programs. */
const isReserved = (value: number): boolean => (value & 255) === 0 || (value & 255) === 255;
