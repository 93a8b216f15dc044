// Which addresses a task may be connected to: those of the server's own machine and of its link only where the cluster lists them by themselves.
//
// Behind them are services that trust whoever reaches them, such as those that give out a cloud's credentials; and a name leads wherever its owner says,
// at each look-up anew. So what is judged is the address that is connected to.

import {lookup as ask} from 'node:dns';
import {networkInterfaces} from 'node:os';
import {BlockList, isIP, type LookupFunction} from 'node:net';
import {mayCall, type HttpPlace} from '../../api/http-hosts.js';

const special = new BlockList();
// Addresses of IPv4 are met as those of IPv6 that stand for them, too.
for (const [network, prefix] of [
	['0.0.0.0', 8],
	['127.0.0.0', 8],
	['169.254.0.0', 16],
	// Metadata of clouds that have it elsewhere.
	['100.100.100.200', 32],
	['168.63.129.16', 32],
] as const)
	special.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
	['::', 128],
	['::1', 128],
	['fe80::', 10],
	['fd00:ec2::254', 128],
] as const)
	special.addSubnet(network, prefix, 'ipv6');

/** Whether it is of the server's own machine as that is now, of its link, or of a cloud's metadata. */
export function isSpecialAddress(address: string): boolean {
	const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
	return special.check(address, family) || ownAddresses().check(address, family);
}

function ownAddresses(): BlockList {
	const own = new BlockList();
	for (const {address, family} of Object.values(networkInterfaces()).flatMap(each => each ?? []))
		own.addAddress(address, family === 'IPv6' ? 'ipv6' : 'ipv4');
	return own;
}

/** A name that leads where it may not. */
export class SpecialAddress extends Error {
	readonly place: HttpPlace;

	constructor(place: HttpPlace) {
		super(`${place.host} must not be connected to`);
		this.place = place;
	}
}

/** Looks up a name that the list has, for a connection; fails with `SpecialAddress` where it leads to such an address and the list has not also that. */
export function boundedLookup(hosts: readonly string[], place: HttpPlace, resolve: LookupFunction = ask): LookupFunction {
	// That is what the name means, wherever it is asked for.
	if (place.host === 'localhost') return resolve;
	return (name, options, callback) =>
		resolve(name, options, (error, found, family) => {
			if (error !== null) return callback(error, found, family);
			const addresses = typeof found === 'string' ? [found] : found.map(({address}) => address);
			const refused = addresses
				.filter(isSpecialAddress)
				.map(address => ({...place, host: hostOf(address)}))
				.find(each => !mayCall(hosts, each));
			if (refused === undefined) callback(null, found, family);
			else callback(new SpecialAddress(refused), []);
		});
}

/** As a URL has it. */
const hostOf = (address: string): string => (isIP(address) === 6 ? new URL(`http://[${address.replace(/%.*/, '')}]`).hostname : address);
