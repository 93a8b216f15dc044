// Whether this agent can give pods a network of their own: tried once at its start, with one that is gone afterwards.

import {readFileSync, writeFileSync} from 'node:fs';
import {forwardFile} from './host-rules.js';
import {linkOf, namespaceOf, type Names} from './names.js';
import {isLink, removeInterface, removeNamespace} from './pod-link.js';
import {rulesText} from './rules.js';
import {batch, call, type NetworkTools} from './tools.js';

/** No pod has it: its last byte is reserved. */
const address = '169.254.1.0';
const uid = 'trial';

/** `services`: a text for nft(8) as Services have it. Undefined: it works. Otherwise what does not, for people. */
export async function obstacleToNetworks(tools: NetworkTools, names: Names, services: string): Promise<string | undefined> {
	try {
		await remove(tools, names);
		await batch(tools.ip, [
			`netns add ${namespaceOf(names, uid)}`,
			`link add ${linkOf(names, address)} type veth peer name eth0 netns ${namespaceOf(names, uid)}`,
		]);
		// Until iproute2 5.3 all that follows in one call is done in the namespace that was made.
		if (!isLink(linkOf(names, address))) throw new Error('ip(8) of this host is too old: it has to be of iproute2 5.3 or later');
		await call(tools.nsenter, [`--net=/run/netns/${namespaceOf(names, uid)}`, '--', tools.ip, 'link', 'set', 'lo', 'up']);
		// Checked by the kernel, and not done.
		await call(
			tools.nft,
			['--check', '--file', '-'],
			rulesText(names, {
				subnet: '10.0.0.0/24',
				subnets: ['10.0.0.0/24'],
				pods: [sample],
				doors: [],
				policies: [policy],
			}),
		);
		await call(tools.nft, ['--check', '--file', '-'], services);
		// As it is: some may read it, and not write.
		writeFileSync(forwardFile, readFileSync(forwardFile));
		return undefined;
	} catch (error) {
		return (error as Error).message;
	} finally {
		await remove(tools, names).catch(() => undefined);
	}
}

async function remove(tools: NetworkTools, names: Names): Promise<void> {
	await removeInterface(tools, linkOf(names, address));
	await removeNamespace(tools, names, uid);
}

const sample = {
	uid,
	address,
	hostPorts: [{containerPort: 80, hostPort: 80, hostIP: undefined, protocol: 'TCP'}],
} as const;

const rule = {peers: ['10.0.0.1', '10.0.0.3-10.0.0.9'], ports: [{protocol: 'TCP', numbers: ['80', '90-99']}], resolver: ['UDP']} as const;
const policy = {type: 'policy', namespace: 'default', name: uid, pods: [{uid}], ingress: [rule], egress: [rule]} as const;
