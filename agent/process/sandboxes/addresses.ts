// Where pods share the network of their node each has a loopback address of its own. Two clusters of one machine begin far apart, because loopback is
// one network for both.

import {createHash} from 'node:crypto';
import {parseSubnet} from '../../../api/ipv4.js';
import {createAddressPool, type AddressPool} from '../../pod-network/address-pool.js';

/** Clear of 127.0.0.x, where the services of the host itself listen. */
export const defaultSubnet = '127.64.0.0/10';

/**
 * Gives addresses from a place in the subnet that depends on `seed` alone, so the same cluster begins at the same one each time.
 * Throws a RangeError when `subnet` is no subnet of 127.0.0.0/8 in the form `127.64.0.0/10`.
 */
export function createLoopbackPool(subnet: string, seed: string): AddressPool {
	const parsed = parseSubnet(subnet);
	if (parsed === undefined || parsed.first >>> 24 !== 127 || parsed.size > 2 ** 24 || parsed.size < 4)
		throw new RangeError(`a subnet for pods must be a part of 127.0.0.0/8 such as "${defaultSubnet}", got "${subnet}"`);
	return createAddressPool(parsed, beginningOf(seed, parsed.size));
}

/** The beginning of one of the subnet's blocks of 256. */
const beginningOf = (seed: string, size: number): number => (createHash('sha256').update(seed).digest().readUInt32BE(0) * 256) % size;
