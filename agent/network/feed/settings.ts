// What a data plane is started with: by its agent, in words that go into one argument.

import {isObject} from '../../../api/object.js';
import {parsedJson} from '../../../api/value-or.js';
import type {HostPort} from '../../../api/host-port.js';

export type DataPlaneSettings = {
	/** Of this program and these settings together: a running data plane with another one is replaced. */
	readonly identity: string;
	/** Where its record and its socket are, absolute. */
	readonly folder: string;
	/** The name of the node. */
	readonly node: string;
	/** Where its router listens; undefined: nowhere. */
	readonly router: HostPort | undefined;
	/** Where its router listens for TLS; undefined: nowhere. */
	readonly routerTls?: HostPort | undefined;
	/** Where its resolver listens; undefined: nowhere. */
	readonly dns?: HostPort | undefined;
	/** Where pods with a network of their own reach resolver and router; undefined: they have none. */
	readonly gateway?: string | undefined;
	/** Addresses of this host at which node ports are served; undefined: 127.0.0.1 alone. */
	readonly nodePortAddresses?: readonly string[] | undefined;
	/** Rules of the kernel serve what is not of loopback. */
	readonly isKernelLed?: boolean | undefined;
};

/** Throws an Error for a text that is none. */
export function parseSettings(text: string | undefined): DataPlaneSettings {
	const found = parsedJson(text ?? '');
	if (!isObject(found) || !['identity', 'folder', 'node'].every(member => typeof found[member] === 'string'))
		throw new Error('a data plane is started by troupe up and troupe agent, with its settings as its only argument');
	return found as unknown as DataPlaneSettings;
}
