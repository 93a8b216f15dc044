// The kind ClusterConfig: settings that people change while the cluster runs.

import {httpHostWords, isHttpHost} from '../http-hosts.js';
import {parseSubnet, type Subnet} from '../ipv4.js';
import {parseDuration} from '../duration.js';
import {limits} from '../limits.js';
import {ageColumn, column, nameColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {itemsOf, membersOf, refuse, type Found} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/clusterconfig.js';
import type {RuntimeClass} from '../runtime-class.js';
import type {SchedulerStrategy} from '../scheduler-strategies.js';
import {checkServiceRanges} from '../service-range.js';
import {shown} from '../shown.js';

export type ClusterConfigSpec = ShapeOf<typeof spec>;
export type ClusterConfig = ApiObject<ClusterConfigSpec, ShapeOf<typeof status>>;

/** The only name a ClusterConfig may have. */
export const clusterConfigName = 'cluster';

/** How pods are spread when the ClusterConfig does not say. */
export const defaultStrategy: SchedulerStrategy = 'least-pods';

/** Of pods that name none when the ClusterConfig does not say: what every pod was before there were classes. */
const defaultClass: RuntimeClass = 'process';

/** The class of new pods that name none. */
export const defaultClassOf = (config: Pick<ClusterConfig, 'spec'> | undefined): RuntimeClass =>
	config?.spec?.runtime?.default ?? defaultClass;

export const clusterConfig: KindDefinition = {
	kind: 'ClusterConfig',
	group: 'troupe.dev',
	version: 'v1',
	plural: 'clusterconfigs',
	singular: 'clusterconfig',
	shortNames: ['config'],
	namespaced: false,
	// What tasks may call, login nodes, and where metrics come from, are reached from inside of the server's network.
	guarded: ['workflows', 'slurm', 'autoscaling'],
	defaults: draft => ({...draft, spec: withDefaults(draft.spec ?? {})}),
	validate,
	refuseDeletion: ({metadata}) =>
		metadata.name === clusterConfigName
			? `clusterconfigs "${clusterConfigName}" is forbidden: the cluster needs its configuration`
			: undefined,
	columns: [
		nameColumn,
		column(
			'Strategy',
			'How the scheduler chooses among nodes.',
			object => (object as ClusterConfig).spec?.scheduler?.strategy ?? defaultStrategy,
		),
		column('Runtime', 'The class of new pods that name none.', object => defaultClassOf(object as ClusterConfig)),
		ageColumn,
	],
};

/** All settings, those that were never set included. */
export const withDefaults = (spec: ClusterConfigSpec): ClusterConfigSpec => ({
	...spec,
	scheduler: {...spec.scheduler, strategy: spec.scheduler?.strategy ?? defaultStrategy},
	runtime: {...spec.runtime, default: defaultClassOf({spec})},
	nodes: {...spec.nodes, grace: spec.nodes?.grace ?? `${limits.nodeGraceMs / 1_000}s`},
	workflows: {...spec.workflows, httpHosts: httpHostsOf({spec})},
	slurm: {...spec.slurm, hosts: slurmHostsOf({spec})},
	autoscaling: {...spec.autoscaling, prometheusHosts: prometheusHostsOf({spec})},
});

/** The hosts that tasks of workflows may call over HTTP: none unless some are named. */
export const httpHostsOf = (config: Pick<ClusterConfig, 'spec'> | undefined): readonly string[] => config?.spec?.workflows?.httpHosts ?? [];

/** The login nodes that SlurmJobs may be given to: none unless some are named. */
export const slurmHostsOf = (config: Pick<ClusterConfig, 'spec'> | undefined): readonly string[] => config?.spec?.slurm?.hosts ?? [];

/** Where autoscalers may ask for metrics: nowhere unless hosts are named. */
export const prometheusHostsOf = (config: Pick<ClusterConfig, 'spec'> | undefined): readonly string[] =>
	config?.spec?.autoscaling?.prometheusHosts ?? [];

/** How long a silent node has. */
export function graceMsOf(config: Pick<ClusterConfig, 'spec'> | undefined): number {
	const text = config?.spec?.nodes?.grace;
	return (text === undefined ? undefined : parseGrace(text)) ?? limits.nodeGraceMs;
}

/** In milliseconds; undefined where it is no length of time, or out of bounds. */
export function parseGrace(text: string): number | undefined {
	const ms = parseDuration(text);
	return ms !== undefined && ms >= limits.nodeGraceLeastMs && ms <= limits.nodeGraceMostMs ? ms : undefined;
}

export const graceBounds = 'must be a length of time from 1s to 10m, such as 5s';

/** Addresses of one node's pods: a /24. */
export const nodeSubnetSize = 256;

/** Of nodes whose pods have a network of their own, when the ClusterConfig does not say. */
const defaultPodCIDR = '10.244.0.0/16';

/** Where nodes get the subnets of their pods from. */
export const podSubnetOf = (config: Pick<ClusterConfig, 'spec'> | undefined): Subnet =>
	parseSubnet(config?.spec?.network?.podCIDR ?? defaultPodCIDR) ?? {first: 0, size: 0};

function validate(found: Found, object: Draft): void {
	checkGrace(found, membersOf(membersOf(object.spec)['nodes'])['grace']);
	const network = membersOf(membersOf(object.spec)['network']);
	checkPodCIDR(found, network['podCIDR']);
	checkServiceRanges(found, network);
	const spec = membersOf(object.spec);
	checkHosts(found, 'spec.workflows.httpHosts', itemsOf(membersOf(spec['workflows'])['httpHosts']), limits.workflowHttpHosts);
	checkHosts(found, 'spec.slurm.hosts', itemsOf(membersOf(spec['slurm'])['hosts']), limits.slurmHosts);
	checkHosts(found, 'spec.autoscaling.prometheusHosts', itemsOf(membersOf(spec['autoscaling'])['prometheusHosts']), limits.prometheusHosts);
	const {name} = membersOf(object.metadata);
	if (name !== clusterConfigName) {
		refuse(found, 'metadata.name', `there is one ClusterConfig, and its name is "${clusterConfigName}", got ${shown(name)}`);
	}
}

function checkGrace(found: Found, text: unknown): void {
	if (typeof text === 'string' && parseGrace(text) === undefined) refuse(found, 'spec.nodes.grace', `${graceBounds}, got ${shown(text)}`);
}

function checkHosts(found: Found, path: string, hosts: readonly unknown[], most: number): void {
	if (hosts.length > most) return refuse(found, path, `must be at most ${most} hosts, got ${hosts.length}`);
	for (const [index, host] of hosts.entries())
		if (typeof host === 'string' && !isHttpHost(host)) refuse(found, `${path}[${index}]`, `${httpHostWords}, got ${shown(host)}`);
}

/** Room for the subnet of one node at least. */
function checkPodCIDR(found: Found, text: unknown): void {
	if (typeof text !== 'string') return;
	const {size} = parseSubnet(text) ?? {size: 0};
	if (size < nodeSubnetSize || size > 2 ** 24)
		refuse(found, 'spec.network.podCIDR', `must be a subnet of IPv4 from /8 to /24 such as "${defaultPodCIDR}", got ${shown(text)}`);
}
