// From a pod's assignment to the sandbox that it asks for. Pure.

import {isExclusive} from '../../../api/exclusive.js';
import {hostNameOf} from '../../../api/host-name.js';
import type {Container, PodSpec} from '../../../api/kinds/pod.js';
import {podRequests} from '../../../api/pod-resources.js';
import {runtimeClassOf} from '../../../api/runtime-class.js';
import {sidecarsIn} from '../../../api/sidecars.js';
import {memoryLimitOf} from '../containers/container-spec.js';
import {instanceIn} from '../containers/instance.js';
import {controllerName, type Assignment} from '../../protocol/sync-message.js';
import type {HostPort, SandboxSpec} from '../runtime/runtime-port.js';

export function sandboxSpecOf(assignment: Assignment): SandboxSpec {
	const {uid, namespace, name, spec, controller = controllerName(namespace, 'Pod', name)} = assignment;
	const {gpus} = podRequests(spec);
	const {shareProcessNamespace = false, hostNetwork = false, hostPID = false, hostIPC = false, hostAliases = []} = spec;
	return {
		uid,
		namespace,
		name,
		hostname: hostNameOf(name, spec),
		controller,
		runtimeClass: runtimeClassOf(spec),
		shareProcessNamespace,
		hostNetwork,
		hostPID,
		hostIPC,
		hostAliases: hostAliases.map(({ip, hostnames = []}) => ({ip, hostnames})),
		hostPorts: [...sidecarsIn(spec), ...spec.containers].flatMap(hostPortsOf),
		...dnsOf(spec),
		...(isExclusive(assignment) ? {exclusive: true as const} : {}),
		// What waits already was made without them.
		...(gpus > 0 ? {gpus} : runnerOf(assignment)),
	};
}

/** Nothing where it is no instance of a function, or one whose program is its own. */
function runnerOf(assignment: Assignment): Pick<SandboxSpec, 'runner'> {
	for (const container of assignment.spec.containers) {
		const language = instanceIn(container, assignment)?.runtime ?? 'program';
		if (language !== 'program') return {runner: {language, image: container.image, memoryLimitBytes: memoryLimitOf(container)}};
	}
	return {};
}

/** Nothing where the pod says nothing of it. */
function dnsOf({dnsPolicy: policy = 'ClusterFirst', dnsConfig = {}}: PodSpec): Pick<SandboxSpec, 'dns'> {
	const {nameservers = [], searches = [], options = []} = dnsConfig;
	const said = options.map(({name = '', value = ''}) => (value === '' ? name : `${name}:${value}`));
	const isUsual = policy === 'ClusterFirst' && [nameservers, searches, said].every(({length}) => length === 0);
	return isUsual ? {} : {dns: {policy, nameservers, searches, options: said}};
}

const hostPortsOf = ({ports = []}: Container): readonly HostPort[] =>
	ports.flatMap(({containerPort, hostPort, hostIP, protocol = 'TCP'}) =>
		hostPort === undefined ? [] : [{containerPort, hostPort, hostIP, protocol}],
	);
