// The kind Service: one name and address for the pods of a selector.

import {ageColumn, column, nameColumn, none, wideColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft, JsonObject} from '../object.js';
import {isIPv4, isIPv6} from '../rules/address.js';
import {checkLabels} from '../rules/metadata.js';
import {isDnsLabel} from '../rules/names.js';
import {checkPortName, isServiceName} from '../rules/ports.js';
import {forbid, isEmpty, itemsOf, membersOf, refuse, refuseDuplicates, textOf, type Found} from '../rules/report.js';
import {formatSelector} from '../selector-text.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/service.js';
import {shown} from '../shown.js';

export type ServiceSpec = ShapeOf<typeof spec>;
export type ServiceStatus = ShapeOf<typeof status>;
type ServicePort = NonNullable<ServiceSpec['ports']>[number];
export type Service = ApiObject<ServiceSpec, ServiceStatus>;

const specOf = (object: ApiObject): ServiceSpec => (object as Service).spec ?? {};

/** For how long ClientIP keeps a client with one pod, when the manifest does not say: three hours, as in Kubernetes. */
const affinitySeconds = 10_800;

export const service: KindDefinition = {
	kind: 'Service',
	group: '',
	version: 'v1',
	plural: 'services',
	singular: 'service',
	shortNames: ['svc'],
	categories: ['all'],
	namespaced: true,
	isInert: true,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec as ServiceSpec)}),
	validate,
	initialStatus: (): ServiceStatus => ({loadBalancer: {}}),
	columns: [
		nameColumn,
		column('Type', 'How it is reached.', object => specOf(object).type ?? 'ClusterIP'),
		column('Cluster-IP', 'Its address in the cluster.', object => specOf(object).clusterIP ?? none),
		column('External-IP', 'Its address outside.', () => none),
		column('Port(s)', 'Where it listens.', object => (specOf(object).ports ?? []).map(portText).join(',') || none),
		ageColumn,
		wideColumn('Selector', 'Which pods serve it.', object => formatSelector({matchLabels: specOf(object).selector ?? {}}) || none),
	],
	selectableFields: {'spec.type': object => specOf(object).type ?? '', 'spec.clusterIP': object => specOf(object).clusterIP ?? ''},
};

const portText = ({port, nodePort, protocol = 'TCP'}: ServicePort): string =>
	`${port}${nodePort === undefined ? '' : `:${nodePort}`}/${protocol}`;

function withDefaults(spec: ServiceSpec): ServiceSpec {
	const {sessionAffinity = 'None', sessionAffinityConfig} = spec;
	const timeoutSeconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinitySeconds;
	return {
		...spec,
		type: spec.type ?? 'ClusterIP',
		sessionAffinity,
		...(sessionAffinity === 'ClientIP' ? {sessionAffinityConfig: {clientIP: {timeoutSeconds}}} : {}),
		...(spec.ports === undefined ? {} : {ports: spec.ports.map(withPortDefaults)}),
	};
}

const withPortDefaults = (port: ServicePort): ServicePort => ({
	...port,
	protocol: port.protocol ?? 'TCP',
	targetPort: port.targetPort ?? port.port,
});

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const {name} = membersOf(draft.metadata);
	const spec = membersOf(draft.spec);
	// The name becomes a label of DNS (RFC 1035), and a variable.
	if (typeof name === 'string' && name !== '' && !(isDnsLabel(name) && /^[a-z]/.test(name)))
		refuse(
			found,
			'metadata.name',
			`must be lower-case letters, digits and "-", starting with a letter, at most 63 characters, got ${shown(name)}`,
		);
	checkLabels(found, 'spec.selector', spec['selector']);
	checkType(found, spec);
	checkClusterIP(found, spec, membersOf(old?.spec));
	checkServicePorts(found, 'spec.ports', spec);
	if (spec['sessionAffinityConfig'] !== undefined && spec['sessionAffinity'] === 'None')
		refuse(found, 'spec.sessionAffinityConfig', 'needs sessionAffinity: ClientIP');
}

function checkType(found: Found, {type}: JsonObject): void {
	if (type === 'LoadBalancer' || type === 'ExternalName')
		forbid(found, 'spec.type', `${shown(type)} is not supported yet; ClusterIP and NodePort are`);
}

function checkClusterIP(found: Found, {clusterIP, clusterIPs}: JsonObject, old: JsonObject): void {
	const before = textOf(old['clusterIP']) ?? '';
	if (typeof clusterIP === 'string' && !['', 'None'].includes(clusterIP) && !isIPv4(clusterIP) && !isIPv6(clusterIP))
		refuse(found, 'spec.clusterIP', `must be an IP address, "None" or empty, got ${shown(clusterIP)}`);
	if (before !== '' && typeof clusterIP === 'string' && clusterIP !== before)
		forbid(found, 'spec.clusterIP', `cannot be changed: it is ${shown(before)}, got ${shown(clusterIP)}`);
	const [first] = itemsOf(clusterIPs);
	if (typeof first === 'string' && first !== (clusterIP ?? ''))
		refuse(found, 'spec.clusterIPs', `must begin with clusterIP, got ${shown(first)}`);
}

function checkServicePorts(found: Found, path: string, spec: JsonObject): void {
	const ports = itemsOf(spec['ports']).map(membersOf);
	if (isEmpty(spec['ports']) && spec['clusterIP'] !== 'None') refuse(found, path, 'at least one port is required', 'FieldValueRequired');
	ports.forEach((port, i) =>
		checkServicePort(found, `${path}[${i}]`, port, {several: ports.length > 1, isNodePort: spec['type'] === 'NodePort'}),
	);
	const items = (value: (port: JsonObject) => string | undefined, field: string) =>
		ports.flatMap((port, i) => {
			const text = value(port);
			return text === undefined ? [] : [{value: text, path: `${path}[${i}].${field}`}];
		});
	refuseDuplicates(
		found,
		items(({name}) => textOf(name) || undefined, 'name'),
		name => `there is a port ${shown(name)} already`,
	);
	const number = ({port, protocol}: JsonObject) => (typeof port === 'number' ? `${port}/${textOf(protocol) ?? 'TCP'}` : undefined);
	refuseDuplicates(found, items(number, 'port'), (port, first) => `port ${port} is that of ${first.replace(/\.port$/, '')} already`);
	const nodePort = ({nodePort: port, protocol}: JsonObject) =>
		typeof port === 'number' ? `${port}/${textOf(protocol) ?? 'TCP'}` : undefined;
	refuseDuplicates(found, items(nodePort, 'nodePort'), (port, first) => `node port ${port} is that of ${first} already`);
}

function checkServicePort(found: Found, path: string, port: JsonObject, about: {several: boolean; isNodePort: boolean}): void {
	const {name, targetPort, nodePort} = port;
	if (typeof name === 'string' && name !== '') checkPortName(found, `${path}.name`, name);
	else if (about.several && (name === undefined || name === ''))
		refuse(found, `${path}.name`, 'is required where there are several ports', 'FieldValueRequired');
	if (typeof targetPort === 'number' && (targetPort < 1 || targetPort > 65_535))
		refuse(found, `${path}.targetPort`, `must be a port from 1 to 65535 or the name of one, got ${targetPort}`);
	if (typeof targetPort === 'string' && !isServiceName(targetPort)) {
		const hint = /^\d+$/.test(targetPort) ? '; leave out the quotes' : '';
		refuse(found, `${path}.targetPort`, `must be a port from 1 to 65535 or the name of one, got ${shown(targetPort)}${hint}`);
	}
	if (nodePort !== undefined && !about.isNodePort) forbid(found, `${path}.nodePort`, 'needs type: NodePort');
}
