// Rules of a pod's spec, for pods and for the templates of pods.

import {limits} from '../limits.js';
import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {isIPv4, isIPv6} from './address.js';
import {checkAffinity} from './affinity.js';
import {checkContainer, checkInitContainer, type PodContext} from './container.js';
import {checkLabels} from './metadata.js';
import {checkDnsLabel, checkDnsSubdomain} from './names.js';
import {checkPodDns} from './pod-dns.js';
import {checkHostPorts} from './ports.js';
import {forbid, itemsOf, membersOf, refuse, refuseDuplicates, refuseOthers, textOf, type Found} from './report.js';
import {checkRuntimeClass} from './runtime-class.js';
import {checkSpread} from './spread.js';
import {checkTolerations} from './taints.js';
import {checkVolumes} from './volume.js';

/** Values that ask for what happens anyway; kubectl and exported manifests have them. */
const fixed = new Map([
	['schedulerName', ['default-scheduler']],
	['serviceAccountName', ['default']],
	['serviceAccount', ['default']],
]);

export function checkPodSpec(found: Found, path: string, spec: JsonObject): void {
	const containers = itemsOf(spec['containers']).map(membersOf);
	const initContainers = itemsOf(spec['initContainers']).map(membersOf);
	const context: PodContext = {
		volumes: namesOf(itemsOf(spec['volumes']).map(membersOf)),
		containers: [...initContainers, ...containers],
		graceSeconds: spec['terminationGracePeriodSeconds'],
	};
	initContainers.forEach((container, i) => checkInitContainer(found, `${path}.initContainers[${i}]`, container, context));
	containers.forEach((container, i) => checkContainer(found, `${path}.containers[${i}]`, container, context));
	const names = [...named(containers, `${path}.containers`), ...named(initContainers, `${path}.initContainers`)];
	refuseDuplicates(found, names, name => `there is a container ${shown(name)} already`);
	const before = placed(`${path}.initContainers`, initContainers);
	const all = [...before, ...placed(`${path}.containers`, containers)];
	// Of other init containers no port is published.
	checkHostPorts(
		found,
		all.filter(each => !before.includes(each) || each[1]['restartPolicy'] === 'Always'),
	);
	checkVolumes(found, `${path}.volumes`, spec['volumes']);
	const nodeName = textOf(spec['nodeName']);
	if (nodeName !== undefined && nodeName !== '') checkDnsSubdomain(found, `${path}.nodeName`, nodeName);
	checkLabels(found, `${path}.nodeSelector`, spec['nodeSelector']);
	const hostname = textOf(spec['hostname']);
	if (hostname !== undefined && hostname !== '') checkDnsLabel(found, `${path}.hostname`, hostname);
	const subdomain = textOf(spec['subdomain']);
	if (subdomain !== undefined && subdomain !== '') checkDnsLabel(found, `${path}.subdomain`, subdomain);
	checkTolerations(found, `${path}.tolerations`, spec['tolerations']);
	checkAffinity(found, `${path}.affinity`, spec['affinity']);
	checkSpread(found, `${path}.topologySpreadConstraints`, spec['topologySpreadConstraints']);
	checkPullSecrets(found, `${path}.imagePullSecrets`, spec['imagePullSecrets']);
	checkHost(found, path, spec, all);
	checkHostAliases(found, `${path}.hostAliases`, spec['hostAliases']);
	checkPodDns(found, path, spec);
	checkGroups(found, `${path}.securityContext`, membersOf(spec['securityContext']));
	checkRuntimeClass(found, path, spec);
	refuseOthers(found, spec, path, fixed);
}

type Placed = readonly [path: string, container: JsonObject];

const placed = (path: string, containers: readonly JsonObject[]): readonly Placed[] =>
	containers.map((container, i) => [`${path}[${i}]`, container]);

const namesOf = (items: readonly JsonObject[]): readonly string[] => items.flatMap(({name}) => textOf(name) ?? []);

function named(containers: readonly JsonObject[], path: string): {value: string; path: string}[] {
	return containers.flatMap((container, i) => {
		const name = textOf(container['name']);
		return name === undefined ? [] : [{value: name, path: `${path}[${i}].name`}];
	});
}

function checkPullSecrets(found: Found, path: string, secrets: unknown): void {
	itemsOf(secrets).forEach((secret, i) => {
		const name = textOf(membersOf(secret)['name']);
		if (name !== undefined) checkDnsSubdomain(found, `${path}[${i}].name`, name);
	});
}

/** What it has of its node, in Kubernetes' words. */
function checkHost(found: Found, path: string, spec: JsonObject, containers: readonly Placed[]): void {
	if (spec['shareProcessNamespace'] === true && spec['hostPID'] === true)
		forbid(found, `${path}.shareProcessNamespace`, 'ShareProcessNamespace and HostPID cannot both be enabled');
	if (spec['hostNetwork'] !== true) return;
	containers.forEach(([place, {ports}]) =>
		itemsOf(ports).forEach((port, j) => {
			const {containerPort, hostPort} = membersOf(port);
			if (typeof hostPort === 'number' && hostPort !== containerPort)
				refuse(found, `${place}.ports[${j}].hostPort`, `must be its containerPort with hostNetwork, got ${hostPort}`);
		}),
	);
}

/** No kernel gives a process more than 65,536. As the node counts them: fsGroup is one, and each counts once. */
function checkGroups(found: Found, path: string, {fsGroup, supplementalGroups}: JsonObject): void {
	const groups = new Set([...(typeof fsGroup === 'number' ? [fsGroup] : []), ...itemsOf(supplementalGroups)]).size;
	if (groups > limits.containerGroups)
		refuse(found, `${path}.supplementalGroups`, `must be at most ${limits.containerGroups} groups, with fsGroup, got ${groups}`);
}

function checkHostAliases(found: Found, path: string, aliases: unknown): void {
	itemsOf(aliases).forEach((alias, i) => {
		const {ip, hostnames} = membersOf(alias);
		if (typeof ip === 'string' && !isIPv4(ip) && !isIPv6(ip)) refuse(found, `${path}[${i}].ip`, `must be an IP address, got ${shown(ip)}`);
		itemsOf(hostnames).forEach((name, j) => {
			if (typeof name === 'string') checkDnsSubdomain(found, `${path}[${i}].hostnames[${j}]`, name);
		});
	});
}
