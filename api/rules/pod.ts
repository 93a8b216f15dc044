// Rules of a pod's spec, for pods and for the templates of pods.

import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {checkContainer} from './container.js';
import {checkLabels} from './metadata.js';
import {checkDnsLabel, checkDnsSubdomain} from './names.js';
import {forbid, itemsOf, membersOf, refuseDuplicates, refuseOthers, refuseUnsupported, textOf, type Found} from './report.js';
import {checkTolerations} from './taints.js';

/** No part of this version acts on them. */
const later = new Set([
	'initContainers',
	'volumes',
	'affinity',
	'topologySpreadConstraints',
	'activeDeadlineSeconds',
	'hostNetwork',
	'hostPID',
	'hostIPC',
	'shareProcessNamespace',
	'subdomain',
	'priorityClassName',
	'runtimeClassName',
	'hostAliases',
]);

const laterSecurity = new Set(['runAsNonRoot', 'supplementalGroups']);

/** Values that ask for what happens anyway; kubectl and exported manifests have them. */
const fixed = new Map([
	['dnsPolicy', ['ClusterFirst', 'Default']],
	['schedulerName', ['default-scheduler']],
	['serviceAccountName', ['default']],
	['serviceAccount', ['default']],
]);

export function checkPodSpec(found: Found, path: string, spec: JsonObject): void {
	const containers = itemsOf(spec['containers']).map(membersOf);
	containers.forEach((container, i) => checkContainer(found, `${path}.containers[${i}]`, container));
	refuseDuplicates(found, named(containers, `${path}.containers`), name => `there is a container ${shown(name)} already`);
	refuseDuplicates(found, hostPorts(containers, `${path}.containers`), (port, first) => `host port ${port} is taken by ${first} already`);
	const nodeName = textOf(spec['nodeName']);
	if (nodeName !== undefined && nodeName !== '') checkDnsSubdomain(found, `${path}.nodeName`, nodeName);
	checkLabels(found, `${path}.nodeSelector`, spec['nodeSelector']);
	const hostname = textOf(spec['hostname']);
	if (hostname !== undefined && hostname !== '') checkDnsLabel(found, `${path}.hostname`, hostname);
	checkTolerations(found, `${path}.tolerations`, spec['tolerations']);
	checkPullSecrets(found, `${path}.imagePullSecrets`, spec['imagePullSecrets']);
	refuseUnsupported(found, spec, path, later);
	refuseOthers(found, spec, path, fixed);
	if (spec['securityContext'] !== undefined) checkSecurity(found, `${path}.securityContext`, membersOf(spec['securityContext']));
}

function checkSecurity(found: Found, path: string, security: JsonObject): void {
	refuseUnsupported(found, security, path, laterSecurity);
	if (security['fsGroup'] !== undefined) forbid(found, `${path}.fsGroup`, '"fsGroup" is not supported yet');
}

function named(containers: readonly JsonObject[], path: string): {value: string; path: string}[] {
	return containers.flatMap((container, i) => {
		const name = textOf(container['name']);
		return name === undefined ? [] : [{value: name, path: `${path}[${i}].name`}];
	});
}

/** A port of the host can be taken once for each protocol. */
function hostPorts(containers: readonly JsonObject[], path: string): {value: string; path: string}[] {
	return containers.flatMap((container, i) =>
		itemsOf(container['ports']).flatMap((port, j) => {
			const {hostPort, protocol} = membersOf(port);
			if (typeof hostPort !== 'number') return [];
			return [{value: `${hostPort}/${textOf(protocol) ?? 'TCP'}`, path: `${path}[${i}].ports[${j}].hostPort`}];
		}),
	);
}

function checkPullSecrets(found: Found, path: string, secrets: unknown): void {
	itemsOf(secrets).forEach((secret, i) => {
		const name = textOf(membersOf(secret)['name']);
		if (name !== undefined) checkDnsSubdomain(found, `${path}[${i}].name`, name);
	});
}
