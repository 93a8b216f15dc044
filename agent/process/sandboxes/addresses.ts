// Every pod has a loopback address of its own. One that was freed comes back only after all others of the subnet had their turn.
// Two clusters of one machine begin far apart, because loopback is one network for both.

import {createHash} from 'node:crypto';

export type AddressPool = {
	/** Undefined: every address is in use. */
	readonly take: () => string | undefined;
	/** Says that an address is in use. False: it is no address of this subnet, or in use already. */
	readonly claim: (address: string) => boolean;
	readonly free: (address: string) => void;
};

/** Clear of 127.0.0.x, where the services of the host itself listen. */
export const defaultSubnet = '127.64.0.0/10';

/**
 * Gives addresses from a place in the subnet that depends on `seed` alone, so the same cluster begins at the same one each time.
 * Throws a RangeError when `subnet` is no subnet of 127.0.0.0/8 in the form `127.64.0.0/10`.
 */
export function createAddressPool(subnet: string, seed: string): AddressPool {
	const {first, size} = parseSubnet(subnet);
	const used = new Set<number>();
	let cursor = beginningOf(seed, size);
	const indexOf = (address: string): number => (numberOf(address) ?? -1) - first;
	return {
		take() {
			for (let step = 0; step < size; step++) {
				const index = (cursor + step) % size;
				if (used.has(index) || isReserved(first + index)) continue;
				used.add(index);
				cursor = (index + 1) % size;
				return textOf(first + index);
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

/** The beginning of one of the subnet's blocks of 256. */
const beginningOf = (seed: string, size: number): number => (createHash('sha256').update(seed).digest().readUInt32BE(0) * 256) % size;

/** Addresses that end in 0 or 255 look like networks and broadcasts to people, and to some programs. */
const isReserved = (value: number): boolean => (value & 255) === 0 || (value & 255) === 255;

const textOf = (value: number): string => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.');

function numberOf(address: string): number | undefined {
	const parts = address.split('.');
	if (parts.length !== 4 || !parts.every(part => /^\d{1,3}$/.test(part) && Number(part) < 256)) return undefined;
	return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

function parseSubnet(subnet: string): {readonly first: number; readonly size: number} {
	const [address = '', prefix = ''] = subnet.split('/');
	const first = numberOf(address);
	const bits = Number(prefix);
	const size = 2 ** (32 - bits);
	if (first === undefined || first >>> 24 !== 127 || !/^\d+$/.test(prefix) || bits < 8 || bits > 30 || first % size !== 0) {
		throw new RangeError(`a subnet for pods must be a part of 127.0.0.0/8 such as "${defaultSubnet}", got "${subnet}"`);
	}
	return {first, size};
}
