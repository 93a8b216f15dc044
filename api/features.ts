// What a node's runtime may or may not be able to do. A node record lists what it can; the scheduler puts a pod only where all it asks for is.

import {isGivenByDocker} from './capabilities.js';
import {runtimeClassOf} from './runtime-class.js';
import type {Container, ContainerPort, PodSpec} from './shapes/pod.js';

/**
 * `volumes`: volumes, and a root that is read-only. `users`: runAsUser, runAsGroup, fsGroup. `limits`: cpu and memory are enforced.
 * `claims`: volumes of claims. `nfs`: volumes that other hosts export. `terminal`: tty. `privileged`: its operator lets pods of class docker have
 * what is the node's. `hostNetwork`: pods of class process may have the network of the node. `names`: they have files of their own that say whom to
 * ask for names. `hostPorts`: a port of the node leads to another one of a container; the same number needs nothing where they share a network.
 */
export const nodeFeatures = [
	'claims',
	'hostNetwork',
	'hostPorts',
	'limits',
	'names',
	'nfs',
	'privileged',
	'terminal',
	'users',
	'volumes',
] as const;

export type NodeFeature = (typeof nodeFeatures)[number];

/** For users who read why a node does not do, where the name alone does not say it. */
const texts: Readonly<Partial<Record<NodeFeature, string>>> = {
	claims: 'claims (volumes of claims need an agent of this version that can mount volumes)',
	hostNetwork: 'hostNetwork (where pods have networks of their own, that of the node needs an agent with --allow-privileged)',
	hostPorts: 'hostPort mapping (a hostPort other than its containerPort)',
	names: 'names (dnsConfig, dnsPolicy None and hostAliases need an agent that can mount volumes)',
	nfs: 'nfs (volumes of NFS need an agent that is root, and mount.nfs of nfs-common)',
	privileged:
		"privileged (privileged containers, namespaces of the host, capabilities beyond Docker's own and seccompProfile Unconfined need an agent with --allow-privileged)",
	users: 'users (runAsUser, runAsGroup, fsGroup and supplementalGroups need an agent that is root)',
};

export const featureText = (feature: NodeFeature): string => texts[feature] ?? feature;

/** What a node has to be able to run the pod as its spec says. Limits ask for nothing: a node that cannot enforce them says so in a condition. */
export function requiredFeatures(spec: PodSpec): readonly NodeFeature[] {
	const claims = spec.volumes?.some(({persistentVolumeClaim}) => persistentVolumeClaim !== undefined) === true ? (['claims'] as const) : [];
	switch (runtimeClassOf(spec)) {
		case 'process':
			return [...claims, ...ofProcess(spec)];
		case 'docker':
			return needsPrivilege(spec) ? [...claims, 'privileged'] : claims;
	}
}

const containersOf = ({initContainers = [], containers}: PodSpec): readonly Container[] => [...initContainers, ...containers];

/** What depends on who the agent is and what its host has. */
function ofProcess(spec: PodSpec): readonly NodeFeature[] {
	const containers = containersOf(spec);
	const required: NodeFeature[] = [];
	if (spec.hostNetwork === true) required.push('hostNetwork');
	if (containers.some(({ports = []}) => ports.some(isMapped))) required.push('hostPorts');
	if (namesHosts(spec)) required.push('names');
	if (spec.volumes?.some(({nfs}) => nfs !== undefined) === true) required.push('nfs');
	if (containers.some(({tty}) => tty === true)) required.push('terminal');
	if (namesUsers(spec.securityContext) || containers.some(({securityContext}) => namesUsers(securityContext))) required.push('users');
	if ((spec.volumes?.length ?? 0) > 0 || containers.some(mounts)) required.push('volumes');
	return required;
}

/** Whether the pod could get out of its containers. */
function needsPrivilege(spec: PodSpec): boolean {
	const {hostNetwork = false, hostPID = false, hostIPC = false, securityContext: ofPod} = spec;
	if (hostNetwork || hostPID || hostIPC) return true;
	return containersOf(spec).some(({securityContext: own = {}}) => {
		const seccomp = own.seccompProfile ?? ofPod?.seccompProfile;
		return (
			own.privileged === true || seccomp?.type === 'Unconfined' || own.capabilities?.add?.some(name => !isGivenByDocker(name)) === true
		);
	});
}

const namesHosts = ({dnsPolicy, dnsConfig: {nameservers = [], searches = [], options = []} = {}, hostAliases = []}: PodSpec): boolean =>
	dnsPolicy === 'None' || [nameservers, searches, options, hostAliases].some(({length}) => length > 0);

const isMapped = ({containerPort, hostPort = containerPort}: ContainerPort): boolean => hostPort !== containerPort;

type Users = {
	readonly runAsUser?: number;
	readonly runAsGroup?: number;
	readonly fsGroup?: number;
	readonly supplementalGroups?: readonly number[];
};

const namesUsers = ({runAsUser, runAsGroup, fsGroup, supplementalGroups = []}: Users = {}): boolean =>
	runAsUser !== undefined || runAsGroup !== undefined || fsGroup !== undefined || supplementalGroups.length > 0;

const mounts = ({volumeMounts, securityContext}: Container): boolean =>
	(volumeMounts?.length ?? 0) > 0 || securityContext?.readOnlyRootFilesystem === true;
