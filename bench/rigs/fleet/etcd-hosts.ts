// Real etcd (Debian: etcd-server), a member on each of some hosts of a network.

import path from 'node:path';
import type {Owner} from '../owner.js';
import {folder, serverOf, type Server} from '../servers/server.js';
import type {Network} from './network.js';

export type EtcdHosts = {
	/** `etcd://…`, to be followed by a prefix. */
	readonly url: string;
	readonly members: readonly Server[];
};

/** Starts them; whoever uses them waits until they answer. They end with the owner. */
export async function startEtcdOn(owner: Owner, network: Network, hosts: readonly string[]): Promise<EtcdHosts> {
	const data = folder(owner, 'etcd-hosts');
	const at = (host: string, port: number): string => `http://${network.addressOf(host)}:${port}`;
	const cluster = hosts.map(host => `${host}=${at(host, 2380)}`).join();
	const members = hosts.map(host => {
		const [command = '', ...words] = network.on(host);
		return serverOf(
			owner,
			command,
			[
				...[...words, 'etcd', '--name', host, '--data-dir', path.join(data, host), '--log-level', 'error', '--logger', 'zap'],
				...['--listen-client-urls', at(host, 2379), '--advertise-client-urls', at(host, 2379)],
				...['--listen-peer-urls', at(host, 2380), '--initial-advertise-peer-urls', at(host, 2380)],
				...['--initial-cluster', cluster, '--initial-cluster-state', 'new'],
			],
			() => Promise.resolve(true),
		);
	});
	for (const member of members) await member.start();
	return {url: `etcd://${hosts.map(host => `${network.addressOf(host)}:2379`).join()}`, members};
}
