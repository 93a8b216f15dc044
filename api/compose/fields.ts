// Every field that a service may have, and what becomes of it: read here, said to be of no use, or refused because objects cannot say it.

import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {below, refuse, remark, type At} from './findings.js';
import {isExtension} from './values.js';

/** Read in this room. */
const read = [
	...[
		'annotations',
		'build',
		'cap_add',
		'cap_drop',
		'command',
		'configs',
		'container_name',
		'cpu_period',
		'cpu_quota',
		'cpu_shares',
		'cpus',
	],
	...['depends_on', 'deploy', 'entrypoint', 'env_file', 'environment', 'expose', 'extra_hosts', 'group_add', 'healthcheck', 'hostname'],
	...['image', 'init', 'ipc', 'labels', 'links', 'mem_limit', 'mem_reservation', 'network_mode', 'networks', 'pid', 'platform', 'ports'],
	...['privileged', 'profiles', 'pull_policy', 'read_only', 'restart', 'scale', 'secrets', 'security_opt', 'shm_size', 'stdin_open'],
	...['stop_grace_period', 'stop_signal', 'tmpfs', 'tty', 'user', 'volumes', 'working_dir'],
];

/** Told, and of no use here. */
const unused: {readonly [field: string]: string} = {
	attach: 'is not used: troupe logs -f follows what one likes',
	develop: 'is not used: sources are not watched',
	logging: "is not used: the cluster keeps containers' logs, and rotates them",
};

/** What objects cannot say. */
const refused: {readonly [field: string]: string} = {
	blkio_config: 'the speed of disks cannot be limited',
	cgroup: 'a pod has its own',
	cgroup_parent: 'a pod has its own',
	cpu_count: 'is of Windows: use cpus',
	cpu_percent: 'is of Windows: use cpus',
	cpu_rt_period: 'time of a real-time scheduler cannot be given',
	cpu_rt_runtime: 'time of a real-time scheduler cannot be given',
	cpuset: 'single processors cannot be given: use cpus',
	credential_spec: 'is of Windows',
	device_cgroup_rules: 'devices cannot be given: privileged gives all',
	devices: 'devices cannot be given: privileged gives all',
	dns: 'servers of names cannot be chosen: use extra_hosts',
	dns_opt: 'servers of names cannot be chosen: use extra_hosts',
	dns_search: 'domains of names cannot be chosen',
	domainname: 'a pod has no domain of its own',
	external_links: 'containers outside of the cluster are not known to it: use extra_hosts',
	gpus: 'devices cannot be given',
	isolation: 'is of Windows',
	label_file: 'files of labels are not read: write them into labels',
	mac_address: 'addresses of pods are chosen by the cluster',
	mem_swappiness: 'swapping cannot be chosen',
	memswap_limit: 'swapping cannot be chosen: use mem_limit',
	models: 'models cannot be run',
	oom_kill_disable: 'a container that takes too much memory is killed',
	oom_score_adj: 'whom the kernel kills first cannot be chosen',
	pids_limit: 'cannot be said of one container: leave it out',
	post_start: 'hooks of compose files are not read: write a Pod with a lifecycle',
	pre_stop: 'hooks of compose files are not read: write a Pod with a lifecycle',
	provider: 'other programs are not started',
	runtime: "the runtime is the cluster's docker",
	storage_opt: 'the size of a root folder cannot be limited',
	sysctls: "the kernel's settings cannot be changed",
	ulimits: "limits such as nofile cannot be said: leave it out, and the Engine's own hold",
	userns_mode: 'namespaces of users cannot be chosen',
	uts: 'a pod has its own',
	volume_driver: 'volumes are folders of nodes',
	volumes_from: 'name the volumes in both services',
};

const known = [...read, ...Object.keys(unused), ...Object.keys(refused), 'extends'];

/** Tells of each field of a service that is not read. */
export function checkFields(service: At, fields: JsonObject): void {
	for (const [field, value] of Object.entries(fields)) {
		if (read.includes(field) || isExtension(field) || value === null || value === undefined) continue;
		if (field === 'oom_kill_disable' && value === false) continue; // As it is.
		const at = below(service, field);
		if (Object.hasOwn(unused, field)) remark(at, unused[field] ?? '');
		else if (Object.hasOwn(refused, field)) refuse(at, `cannot be said of a pod: ${refused[field] ?? ''}`);
		else refuse(at, `unknown field ${shown(field)}${didYouMean(field, known)}`);
	}
}
