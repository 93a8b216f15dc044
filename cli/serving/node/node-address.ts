// The address of this host by which others reach it, and those of its addresses at which node ports are served.

import {createSocket} from 'node:dgram';
import {lookup} from 'node:dns/promises';
import {networkInterfaces} from 'node:os';
import {ipv4Number, rangeOf} from '../../../api/ipv4.js';
import {isLoopback} from '../../../api/loopback.js';

const anyPort = 9;

/** That by which this host reaches another one, as its kernel has it: nothing is sent. Undefined: it reaches that one by loopback, or not at all. */
export async function addressTowards(host: string | undefined): Promise<string | undefined> {
	if (host === undefined || isLoopback(host)) return undefined;
	const found = await lookup(host, {family: 4}).catch(() => undefined);
	if (found === undefined || isLoopback(found.address)) return undefined;
	const socket = createSocket('udp4');
	try {
		return await new Promise<string | undefined>(resolve => {
			socket.once('error', () => resolve(undefined));
			socket.connect(anyPort, found.address, () => resolve(socket.address().address));
		}).then(address => (address === undefined || isLoopback(address) ? undefined : address));
	} finally {
		socket.close();
	}
}

export type NodePortPlaces = {
	/** As nftables has them: addresses, and ranges of them. */
	readonly ranges: readonly string[];
	/** Those of this host that are in them, and 127.0.0.1. */
	readonly addresses: readonly string[];
};

/** `asked`: ranges that the operator has named; undefined: the node's own address, if it has one. */
export function nodePortPlaces(asked: readonly string[] | undefined, address: string | undefined): NodePortPlaces {
	const ranges = asked ?? (address === undefined ? [] : [address]);
	const own = Object.values(networkInterfaces())
		.flatMap(addresses => addresses ?? [])
		.filter(({family}) => family === 'IPv4')
		.map(each => each.address);
	return {ranges, addresses: [...new Set(['127.0.0.1', ...own.filter(each => ranges.some(range => isIn(range, each)))])]};
}

function isIn(range: string, address: string): boolean {
	const subnet = rangeOf(range);
	const number = ipv4Number(address) ?? -1;
	return subnet !== undefined && number >= subnet.first && number < subnet.first + subnet.size;
}
