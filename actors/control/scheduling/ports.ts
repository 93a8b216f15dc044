// Ports of a node that only one pod can have.

import type {Container, PodSpec} from '../../../api/kinds/pod.js';

/**
 * Ports that only one pod of a node can have, as `TCP/8080`. On a shared network a container port is one of them, unless the
 * container names its pod's own address and so binds there.
 */
export const claimedPorts = ({containers}: Pick<PodSpec, 'containers'>): readonly string[] => {
	const ports = containers.flatMap(container => portsOf(container));
	return ports.length < 2 ? ports : [...new Set(ports)];
};

function portsOf(container: Container): string[] {
	const {ports = []} = container;
	if (ports.length === 0) return [];
	const ownAddress = bindsToPodAddress(container);
	return ports.flatMap(({containerPort, hostPort, protocol = 'TCP'}) => [
		...(hostPort === undefined ? [] : [`${protocol}/${hostPort}`]),
		...(ownAddress ? [] : [`${protocol}/${containerPort}`]),
	]);
}

function bindsToPodAddress({command = [], args = [], env = []}: Container): boolean {
	const names = (text: string | undefined): boolean => text?.includes('$(POD_IP)') === true;
	return (
		[...command, ...args].some(names) || env.some(({value, valueFrom}) => names(value) || valueFrom?.fieldRef?.fieldPath === 'status.podIP')
	);
}
