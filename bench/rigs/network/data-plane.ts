// The data plane of a node alone: the real process, started and fed as its agent does, with what a benchmark says of the network.

import {endDataPlanes, reachDataPlane} from '../../../agent/network/feed/data-plane-process.js';
import type {NetworkObject} from '../../../actors/protocol/network-object.js';
import {objectKey} from '../../../api/keys.js';
import {systemClock} from '../../../system/time/clock.js';
import type {Owner} from '../owner.js';
import {folder as folderOf, freePort, isOpen, until} from '../servers/server.js';

export type RigDataPlane = {
	readonly pid: number;
	/** On 127.0.0.1. */
	readonly routerPort: number;
	readonly dnsPort: number;
};

/** The name of its node. */
export const dataPlaneNode = 'here';

const plurals = {
	dns: 'dnses',
	ingress: 'ingresses',
	service: 'services',
	endpoints: 'endpointslices',
	certificate: 'certificates',
	policy: 'networkpolicies',
	node: 'nodes',
} as const;

function keyOf(object: NetworkObject): string {
	if (object.type === 'servers' || object.type === 'instances') return object.name;
	return objectKey(plurals[object.type], object.type === 'node' ? undefined : object.namespace, object.name);
}

/** Resolves when its resolver answers, and its router where there is a route. Rejects with what it cannot do. */
export async function startDataPlane(owner: Owner, objects: readonly NetworkObject[]): Promise<RigDataPlane> {
	const folder = folderOf(owner, 'data-plane');
	const [routerPort, dnsPort] = [await freePort(), await freePort()];
	let problems: readonly string[] = [];
	owner.teardown(async () => void (await endDataPlanes(folder, systemClock)));
	const client = await reachDataPlane({
		settings: {
			identity: 'bench',
			folder,
			node: dataPlaneNode,
			router: {host: '127.0.0.1', port: routerPort},
			dns: {host: '127.0.0.1', port: dnsPort},
		},
		clock: systemClock,
		onNews: news => (problems = news.problems ?? problems),
		onWarning: () => undefined,
	});
	owner.teardown(() => client.close());
	await client.feed(
		true,
		objects.map(object => ({key: keyOf(object), object})),
	);
	const ports = objects.some(({type}) => type === 'dns' || type === 'ingress') ? [dnsPort, routerPort] : [dnsPort];
	await until('the data plane serves', async () => {
		if (problems.length > 0) throw new Error(problems.join('; '));
		return (await Promise.all(ports.map(isOpen))).every(Boolean);
	});
	return {pid: client.pid, routerPort, dnsPort};
}
