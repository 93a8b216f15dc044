// What an infra container is made with. It owns the pod's network and IPC, and its first process with shareProcessNamespace. Pure.

import type {HostPort, SandboxSpec} from '../../../actors/node/runtime/runtime-port.js';
import {gateway} from '../../pod-network/link-commands.js';
import type {PodNames} from '../../pod-network/pod-names.js';
import type {Docker} from '../engine/engine.js';
import {infraName, labels, labelsOf, nameOf, type Made} from '../engine/names.js';

export type CreateOptions = Parameters<Docker['createContainer']>[0];

export type InfraPlace = {
	readonly owner: string;
	readonly image: string;
	/** Of the pod network, which it gets once it runs; undefined: it has the Engine's. */
	readonly address?: string | undefined;
	/** Whom it asks for names; undefined: whom the Engine says. */
	readonly names?: PodNames | undefined;
	/** Undefined: where the Engine puts all. */
	readonly cgroupParent: string | undefined;
};

export function infraOptions(spec: SandboxSpec, place: InfraPlace): CreateOptions {
	const made: Made = {
		owner: place.owner,
		namespace: spec.namespace,
		podName: spec.name,
		id: {uid: spec.uid, container: infraName},
		attempt: 0,
	};
	return {
		name: nameOf(made),
		Labels: labelsOf(made),
		...namespacesOf(spec, place),
	};
}

/**
 * The same for one of no pod yet, which `hostname` tells from all others; for pods that `fitsWarm` says. `isRouted`: for pods of the pod network, of
 * which it has nothing yet.
 */
export const warmOptions = (
	hostname: string,
	isRouted: boolean,
	place: Pick<InfraPlace, 'owner' | 'image' | 'cgroupParent'>,
): CreateOptions => ({
	name: ['troupe', hostname, place.owner.slice(0, 8)].join('_'),
	Labels: {[labels.owner]: place.owner, [labels.container]: infraName, [labels.sandbox]: 'warm'},
	...namespacesOf(
		{hostname, hostNetwork: false, hostPID: false, hostIPC: false, hostAliases: [], hostPorts: []},
		{...place, ...(isRouted ? routedBefore(hostname) : {})},
	),
});

/** What stands in the files of one of the pod network before it is a pod's: by it they are known for its own. */
export const routedBefore = (hostname: string): RoutedNames => ({
	address: '127.0.0.1',
	names: {nameservers: [gateway], searches: [hostname], options: ['ndots:1']},
});

/** What is written of the pod network into the files of a pod. */
export type RoutedNames = {readonly address: string; readonly names: PodNames};

type Namespaces = Pick<SandboxSpec, 'hostname' | 'hostNetwork' | 'hostPID' | 'hostIPC' | 'hostAliases' | 'hostPorts'>;

/**
 * Whether all that a pod asks of its infra container is its names, which can be given to one that runs. `isRouted`: its ports of the host are none of
 * the Engine's.
 */
export const fitsWarm = ({hostNetwork, hostPID, hostIPC, hostPorts}: Namespaces, isRouted: boolean): boolean =>
	!hostNetwork && !hostPID && !hostIPC && (isRouted || hostPorts.length === 0);

function namespacesOf(spec: Namespaces, {image, address, names, cgroupParent}: InfraPlace): CreateOptions {
	const ports = spec.hostNetwork || address !== undefined ? [] : spec.hostPorts;
	// As the Engine does it where the network is its own.
	const own = address === undefined ? [] : [{ip: address, hostnames: [spec.hostname]}];
	return {
		Image: image,
		// In the host's network it has the host's name, as in Kubernetes.
		...(spec.hostNetwork ? {} : {Hostname: spec.hostname}),
		ExposedPorts: Object.fromEntries(ports.map(port => [portName(port), {}])),
		HostConfig: {
			NetworkMode: spec.hostNetwork ? 'host' : address === undefined ? 'bridge' : 'none',
			IpcMode: spec.hostIPC ? 'host' : 'shareable',
			...(spec.hostPID ? {PidMode: 'host'} : {}),
			ExtraHosts: [...own, ...spec.hostAliases].flatMap(({ip, hostnames}) => hostnames.map(hostname => `${hostname}:${ip}`)),
			...(names === undefined ? {} : namesOptions(names)),
			PortBindings: bindingsOf(ports),
			RestartPolicy: {Name: 'no'},
			LogConfig: {Type: 'none', Config: {}},
			ReadonlyRootfs: true,
			CapDrop: ['ALL'],
			SecurityOpt: ['no-new-privileges:true'],
			...(cgroupParent === undefined ? {} : {CgroupParent: cgroupParent}),
		},
	};
}

/** Where a list is empty the Engine takes the host's: a dot stands for no domain, and one dot of a name is enough where nothing is said. */
const namesOptions = ({nameservers, searches, options}: PodNames) => ({
	Dns: [...nameservers],
	DnsSearch: searches.length === 0 ? ['.'] : [...searches],
	DnsOptions: options.length === 0 ? ['ndots:1'] : [...options],
});

const portName = ({containerPort, protocol}: HostPort): string => `${containerPort}/${protocol.toLowerCase()}`;

function bindingsOf(ports: readonly HostPort[]): Record<string, {HostIp: string; HostPort: string}[]> {
	const bindings: Record<string, {HostIp: string; HostPort: string}[]> = {};
	for (const port of ports) (bindings[portName(port)] ??= []).push({HostIp: port.hostIP ?? '', HostPort: String(port.hostPort)});
	return bindings;
}
