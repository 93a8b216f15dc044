// Rules of the ports of a container.

import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {isIPv4, isIPv6} from './address.js';
import {itemsOf, membersOf, refuse, refuseDuplicates, textOf, type Found} from './report.js';

export function checkPorts(found: Found, path: string, ports: unknown): void {
	const names: {value: string; path: string}[] = [];
	itemsOf(ports).forEach((port, i) => {
		const at = `${path}[${i}]`;
		const {name, hostIP} = membersOf(port);
		if (typeof name === 'string') {
			checkPortName(found, `${at}.name`, name);
			names.push({value: name, path: `${at}.name`});
		}
		if (typeof hostIP === 'string' && hostIP !== '' && !isIPv4(hostIP) && !isIPv6(hostIP))
			refuse(found, `${at}.hostIP`, `must be an IP address, got ${shown(hostIP)}`);
	});
	refuseDuplicates(found, names, (name, first) => `${shown(name)} is the name of ${first.replace(/\.name$/, '')} already`);
}

/** The names of a container's ports. */
export const portNames = (container: JsonObject): readonly string[] =>
	itemsOf(container['ports']).flatMap(port => textOf(membersOf(port)['name']) ?? []);

/** An IANA service name, RFC 6335 section 5.1. */
export const isServiceName = (name: string): boolean => name.length <= 15 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && /[a-z]/.test(name);

export function checkPortName(found: Found, path: string, name: string): void {
	if (isServiceName(name)) return;
	refuse(found, path, `must be at most 15 lower-case letters, digits and single "-", with at least one letter, got ${shown(name)}`);
}

/** A port of an address of the host can be taken once for each protocol. */
export function checkHostPorts(found: Found, containers: readonly (readonly [path: string, container: JsonObject])[]): void {
	const taken = containers.flatMap(([path, container]) =>
		itemsOf(container['ports']).flatMap((port, j) => {
			const {hostPort, protocol, hostIP} = membersOf(port);
			if (typeof hostPort !== 'number') return [];
			const address = textOf(hostIP) ?? '';
			const where = address === '' || address === '0.0.0.0' ? '' : ` of ${address}`;
			return [{value: `${hostPort}/${textOf(protocol) ?? 'TCP'}${where}`, path: `${path}.ports[${j}].hostPort`}];
		}),
	);
	refuseDuplicates(found, taken, (port, first) => `host port ${port} is taken by ${first} already`);
}
