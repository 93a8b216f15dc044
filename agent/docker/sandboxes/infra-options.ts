// What an infra container is made with. It owns the pod's network and IPC, and its first process with shareProcessNamespace. Pure.

import type {HostPort, SandboxSpec} from '../../../actors/node/runtime/runtime-port.js';
import type {Docker} from '../engine/engine.js';
import {infraName, labelsOf, nameOf, type Made} from '../engine/names.js';

export type CreateOptions = Parameters<Docker['createContainer']>[0];

export type InfraPlace = {
	readonly owner: string;
	readonly image: string;
	/** Undefined: where the Engine puts all. */
	readonly cgroupParent: string | undefined;
};

export function infraOptions(spec: SandboxSpec, {owner, image, cgroupParent}: InfraPlace): CreateOptions {
	const made: Made = {owner, namespace: spec.namespace, podName: spec.name, id: {uid: spec.uid, container: infraName}, attempt: 0};
	const ports = spec.hostNetwork ? [] : spec.hostPorts;
	return {
		name: nameOf(made),
		Image: image,
		// In the host's network it has the host's name, as in Kubernetes.
		...(spec.hostNetwork ? {} : {Hostname: spec.hostname}),
		Labels: labelsOf(made),
		ExposedPorts: Object.fromEntries(ports.map(port => [portName(port), {}])),
		HostConfig: {
			NetworkMode: spec.hostNetwork ? 'host' : 'bridge',
			IpcMode: spec.hostIPC ? 'host' : 'shareable',
			...(spec.hostPID ? {PidMode: 'host'} : {}),
			ExtraHosts: spec.hostAliases.flatMap(({ip, hostnames}) => hostnames.map(hostname => `${hostname}:${ip}`)),
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

const portName = ({containerPort, protocol}: HostPort): string => `${containerPort}/${protocol.toLowerCase()}`;

function bindingsOf(ports: readonly HostPort[]): Record<string, {HostIp: string; HostPort: string}[]> {
	const bindings: Record<string, {HostIp: string; HostPort: string}[]> = {};
	for (const port of ports) (bindings[portName(port)] ??= []).push({HostIp: port.hostIP ?? '', HostPort: String(port.hostPort)});
	return bindings;
}
