// The pod of a service: one container, and what the pod around it has.

import type {Renamed} from '../dialects/rewrite.js';
import {isDnsLabel} from '../rules/names.js';
import {isObject, type Json, type JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {literal, variablesOf} from './environment.js';
import {below, refuse, remark, type At} from './findings.js';
import {probeOf} from './health.js';
import {mountsOf} from './mounts.js';
import {labelOf} from './names.js';
import {containerPorts, hostAliases, type Port} from './ports.js';
import type {Project} from './project.js';
import {resourcesOf} from './resources.js';
import {groupsOf, securityOf} from './security.js';
import {shellWords} from './shell-words.js';
import type {Materials} from './stored.js';
import {flagOf, listOf, membersOf, refuseOthers, secondsOf, textOf, textsOf} from './values.js';

export type PodParts = {
	readonly spec: JsonObject;
	/** Below the pod's spec. */
	readonly spelled: readonly Renamed[];
	readonly claims: readonly string[];
};

/** A service of the file that is wanted. */
export type Service = {
	readonly name: string;
	/** What its objects are called. */
	readonly label: string;
	readonly fields: JsonObject;
	readonly at: At;
	readonly ports: readonly Port[];
};

/** Compose gives a container so long to stop. */
const graceSeconds = 10;

export function podOf({name, label, fields, at, ports}: Service, project: Project, {files, missing}: Materials): PodParts {
	const field = (key: string): At => below(at, key);
	const isOn = (key: string): boolean => flagOf(field(key), fields[key]) === true;
	const isOnHost = textOf(field('network_mode'), fields['network_mode']) === 'host';
	checkNetworkMode(field('network_mode'), fields['network_mode']);
	if (isOnHost && ports.some(({hostPort}) => hostPort !== undefined))
		remark(field('ports'), 'are not published: with network_mode host a program listens on the node itself');
	const environment = variablesOf(at, fields, project, files);
	const mounts = mountsOf(at, fields, project, missing);
	const probe = probeOf(at, fields['healthcheck'], literal);
	const resources = resourcesOf(at, fields);
	const security = securityOf(at, fields);
	const container = {
		name: containerName(field('container_name'), fields['container_name']) ?? label,
		...imageOf(at, name, fields, project),
		...commandOf(at, fields),
		...some('workingDir', textOf(field('working_dir'), fields['working_dir'])),
		...list('env', environment.env),
		...list('ports', containerPorts(ports, isOnHost)),
		...some('resources', resources),
		...some('securityContext', security),
		...list('volumeMounts', mounts.volumeMounts),
		...some('readinessProbe', probe),
		...(isOn('stdin_open') ? {stdin: true} : {}),
		...(isOn('tty') ? {tty: true} : {}),
	};
	const groups = groupsOf(at, fields);
	const seconds = secondsOf(field('stop_grace_period'), fields['stop_grace_period']);
	checkStop(field('stop_signal'), fields['stop_signal']);
	const spec = {
		runtimeClassName: 'docker',
		...(isOnHost ? {hostNetwork: true} : {}),
		...hostSpace(field('pid'), fields['pid'], 'hostPID'),
		...hostSpace(field('ipc'), fields['ipc'], 'hostIPC'),
		// What `init` is for, its children's ends, the infra container does where processes are shared.
		...(isOn('init') ? {shareProcessNamespace: true} : {}),
		...some('hostname', hostnameOf(field('hostname'), fields['hostname'])),
		...list('hostAliases', hostAliases(at, fields['extra_hosts'])),
		...selectorOf(at, fields),
		...(groups.length === 0 ? {} : {securityContext: {supplementalGroups: groups}}),
		terminationGracePeriodSeconds: seconds === undefined ? graceSeconds : Math.ceil(seconds),
		containers: [container],
		...list('volumes', mounts.volumes),
	};
	return {spec, spelled: [...fieldsOfPod(at), ...environment.spelled, ...mounts.spelled, ...portsSpelled(ports)], claims: mounts.claims};
}

const some = (key: string, value: Json | undefined): JsonObject => (value === undefined ? {} : {[key]: value});
const list = (key: string, items: readonly JsonObject[]): JsonObject => (items.length === 0 ? {} : {[key]: items});

const portsSpelled = (ports: readonly Port[]): readonly Renamed[] =>
	ports.map(({at}, i) => ({path: `containers[0].ports[${i}]`, from: at.path}));

/** Where a field of the pod comes from. */
const fieldsOfPod = (at: At): readonly Renamed[] =>
	Object.entries({
		hostNetwork: 'network_mode',
		hostPID: 'pid',
		hostIPC: 'ipc',
		shareProcessNamespace: 'init',
		hostname: 'hostname',
		hostAliases: 'extra_hosts',
		nodeSelector: 'platform',
		'securityContext.supplementalGroups': 'group_add',
		terminationGracePeriodSeconds: 'stop_grace_period',
		'containers[0].name': 'container_name',
		'containers[0].image': 'image',
		'containers[0].imagePullPolicy': 'pull_policy',
		'containers[0].command': 'entrypoint',
		'containers[0].args': 'command',
		'containers[0].workingDir': 'working_dir',
		'containers[0].env': 'environment',
		'containers[0].ports': 'ports',
		'containers[0].resources': 'deploy.resources',
		'containers[0].securityContext': 'privileged',
		'containers[0].securityContext.runAsUser': 'user',
		'containers[0].securityContext.runAsGroup': 'user',
		'containers[0].securityContext.privileged': 'privileged',
		'containers[0].securityContext.readOnlyRootFilesystem': 'read_only',
		'containers[0].securityContext.capabilities.add': 'cap_add',
		'containers[0].securityContext.capabilities.drop': 'cap_drop',
		'containers[0].securityContext.allowPrivilegeEscalation': 'security_opt',
		'containers[0].securityContext.seccompProfile': 'security_opt',
		'containers[0].volumeMounts': 'volumes',
		'containers[0].readinessProbe': 'healthcheck',
		'containers[0].stdin': 'stdin_open',
		'containers[0].tty': 'tty',
		volumes: 'volumes',
	}).map(([path, field]) => ({path, from: `${at.path}.${field}`}));

function containerName(at: At, value: Json | undefined): string | undefined {
	const name = textOf(at, value);
	if (name === undefined) return undefined;
	const label = labelOf(name);
	if (label === undefined) return refuse(at, `no name of a container can be made of ${shown(name)}`);
	remark(at, `names the container in its pod${label === name ? '' : `, as ${label}`}; pods are called after the service`);
	return label;
}

/** The image that is named, or the one that is built under the project's name. */
function imageOf(at: At, name: string, fields: JsonObject, project: Project): JsonObject {
	const given = textOf(below(at, 'image'), fields['image']);
	const isBuilt = fields['build'] !== undefined && fields['build'] !== null;
	if (given === undefined && !isBuilt) return refuse(at, 'must have an image, or say how to build one') ?? {};
	const policy = pullPolicy(below(at, 'pull_policy'), fields['pull_policy']);
	const image = given ?? builtImage(project, name);
	return {image, ...some('imagePullPolicy', policy ?? (given === undefined ? 'Never' : 'IfNotPresent'))};
}

/** What an image is called that the file says how to build, and gives no name: as docker-compose calls it. */
export const builtImage = ({name}: Project, service: string): string => `${name}_${service}`.toLowerCase();

const policies: {readonly [word: string]: string} = {
	always: 'Always',
	missing: 'IfNotPresent',
	if_not_present: 'IfNotPresent',
	never: 'Never',
	build: 'Never',
};

function pullPolicy(at: At, value: Json | undefined): string | undefined {
	const word = textOf(at, value);
	if (word === undefined) return undefined;
	const policy = Object.hasOwn(policies, word) ? policies[word] : undefined;
	return policy ?? refuse(at, `must be one of ${Object.keys(policies).join(', ')}, got ${shown(word)}`);
}

/** Compose's `entrypoint` is a pod's `command`, and its `command` the pod's `args`. An empty entrypoint takes the image's away. */
function commandOf(at: At, fields: JsonObject): JsonObject {
	const entrypoint = wordsOf(below(at, 'entrypoint'), fields['entrypoint']);
	const command = wordsOf(below(at, 'command'), fields['command']);
	if (entrypoint?.length === 0) {
		if (command === undefined || command.length === 0)
			return refuse(below(at, 'entrypoint'), 'is empty: then command must say what runs') ?? {};
		return {command};
	}
	return {...some('command', entrypoint), ...(command === undefined || command.length === 0 ? {} : {args: command})};
}

function wordsOf(at: At, value: Json | undefined): readonly string[] | undefined {
	if (value === undefined || value === null) return undefined;
	if (typeof value !== 'string') return textsOf(at, value).map(({text}) => literal(text));
	return shellWords(value)?.map(literal) ?? refuse(at, `has a quote that is not closed: ${shown(value)}`);
}

function checkNetworkMode(at: At, value: Json | undefined): void {
	const mode = textOf(at, value);
	if (mode === undefined || ['host', 'bridge', 'default'].includes(mode)) return;
	refuse(at, `must be host, or left out: other networks than the cluster's cannot be said, got ${shown(mode)}`);
}

function hostSpace(at: At, value: Json | undefined, field: string): JsonObject {
	const mode = textOf(at, value);
	if (mode === undefined || mode === '' || mode === 'private' || (mode === 'shareable' && field === 'hostIPC')) return {};
	return mode === 'host' ? {[field]: true} : (refuse(at, `must be host, or left out, got ${shown(mode)}`) ?? {});
}

function hostnameOf(at: At, value: Json | undefined): string | undefined {
	const name = textOf(at, value);
	if (name === undefined || isDnsLabel(name)) return name;
	return refuse(at, `must be lower-case letters, digits and "-", at most 63 characters, got ${shown(name)}`);
}

/** Signals that end a program are not chosen by pods. */
function checkStop(at: At, value: Json | undefined): void {
	const signal = textOf(at, value);
	if (signal !== undefined && !['SIGTERM', 'TERM', '15'].includes(signal))
		refuse(at, `programs are told to stop by SIGTERM: no other signal can be chosen, got ${shown(signal)}`);
}

/** `platform`, and constraints of `deploy.placement`: which nodes it runs on. */
function selectorOf(at: At, fields: JsonObject): JsonObject {
	const platform = textOf(below(at, 'platform'), fields['platform']);
	const [os, arch] = platform?.split('/') ?? [];
	const selector: [string, string][] = [];
	if (platform !== undefined && (os !== 'linux' || arch === undefined || platform.split('/').length > 2))
		refuse(below(at, 'platform'), `must be linux and an architecture, such as linux/amd64, got ${shown(platform)}`);
	else if (arch !== undefined) selector.push(['kubernetes.io/os', 'linux'], ['kubernetes.io/arch', arch]);
	const placement = below(at, 'deploy', 'placement');
	const deploy = isObject(fields['deploy']) ? fields['deploy'] : {};
	const members = membersOf(placement, deploy['placement']);
	refuseOthers(placement, members, ['constraints', 'preferences', 'max_replicas_per_node']);
	for (const field of ['preferences', 'max_replicas_per_node'])
		if (members[field] !== undefined) refuse(below(placement, field), 'cannot be said: use constraints, or write a Deployment');
	listOf(below(placement, 'constraints'), members['constraints']).forEach((item, i) => {
		const here = below(placement, 'constraints', i);
		const [, hostname, label, value = ''] =
			/^\s*node\.(?:(hostname)|labels\.([\w./-]+))\s*==\s*(\S+)\s*$/.exec(textOf(here, item) ?? '') ?? [];
		if (hostname === undefined && label === undefined)
			refuse(here, `must be node.hostname == NAME or node.labels.LABEL == VALUE, got ${shown(item)}`);
		else selector.push([label ?? 'kubernetes.io/hostname', value]);
	});
	return selector.length === 0 ? {} : {nodeSelector: Object.fromEntries(selector)};
}
