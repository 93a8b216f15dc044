// Rules of a Service beyond its schema. After Kubernetes' validation; what is given out besides is checked by the collection.

import {hasClusterIP, hasNodePorts, isExternal} from '../defaults/service.js';
import type {ApiObject, Draft, JsonObject} from '../object.js';
import type {ServiceSpec} from '../shapes/service.js';
import {shown} from '../shown.js';
import {isIPv4, isIPv6} from './address.js';
import {checkLabels} from './metadata.js';
import {isDnsLabel, isDnsSubdomain} from './names.js';
import {checkPortName, isServiceName} from './ports.js';
import {forbid, isEmpty, itemsOf, membersOf, refuse, refuseDuplicates, textOf, type Found} from './report.js';

export function checkService(found: Found, draft: Draft, old?: ApiObject): void {
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
	checkClusterIP(found, spec, membersOf(old?.spec));
	checkFamilies(found, spec);
	checkExternal(found, spec);
	checkServicePorts(found, 'spec.ports', spec);
	if (spec['sessionAffinityConfig'] !== undefined && spec['sessionAffinity'] === 'None')
		refuse(found, 'spec.sessionAffinityConfig', 'needs sessionAffinity: ClientIP');
}

/** Rules take any JSON: what is asked of it here holds for words of any type. */
const asSpec = (spec: JsonObject): ServiceSpec => spec;

// ---- addresses -----------------------------------------------------------------------------------------------------------

function checkClusterIP(found: Found, spec: JsonObject, old: JsonObject): void {
	const {type, clusterIP, clusterIPs} = spec;
	const given = textOf(clusterIP) ?? '';
	const before = textOf(old['clusterIP']) ?? '';
	if (type === 'ExternalName') {
		for (const field of ['clusterIP', 'clusterIPs', 'internalTrafficPolicy', 'ipFamilies', 'ipFamilyPolicy'])
			if (!isEmpty(spec[field])) forbid(found, `spec.${field}`, 'must not be set where type is ExternalName');
		return;
	}
	if (given !== '' && given !== 'None' && !isIPv4(given))
		refuse(found, 'spec.clusterIP', `must be an IPv4 address, "None" or empty, got ${shown(given)}`);
	if (given === 'None' && (type === 'NodePort' || type === 'LoadBalancer'))
		refuse(found, 'spec.clusterIP', `must not be "None" where type is ${type}`);
	if (before !== '' && given !== before) forbid(found, 'spec.clusterIP', `cannot be changed: it is ${shown(before)}, got ${shown(given)}`);
	const addresses = itemsOf(clusterIPs);
	if (typeof addresses[0] === 'string' && addresses[0] !== given)
		refuse(found, 'spec.clusterIPs', `must begin with clusterIP, got ${shown(addresses[0])}`);
	if (addresses.length > 1) forbid(found, 'spec.clusterIPs[1]', 'a second address is not supported yet');
}

function checkFamilies(found: Found, {ipFamilies, ipFamilyPolicy}: JsonObject): void {
	itemsOf(ipFamilies).forEach((family, i) => {
		if (family === 'IPv6') forbid(found, `spec.ipFamilies[${i}]`, '"IPv6" is not supported yet; "IPv4" is');
	});
	if (itemsOf(ipFamilies).length > 1 && itemsOf(ipFamilies)[0] === itemsOf(ipFamilies)[1])
		refuse(found, 'spec.ipFamilies[1]', 'is there already', 'FieldValueDuplicate');
	if (ipFamilyPolicy === 'RequireDualStack')
		forbid(found, 'spec.ipFamilyPolicy', '"RequireDualStack" is not supported yet; "SingleStack" or "PreferDualStack" is');
}

// ---- what is outside -----------------------------------------------------------------------------------------------------

function checkExternal(found: Found, spec: JsonObject): void {
	const {type, externalName, externalIPs, externalTrafficPolicy, allocateLoadBalancerNodePorts} = spec;
	if (type === 'ExternalName') checkExternalName(found, externalName);
	else if (!isEmpty(externalName)) forbid(found, 'spec.externalName', 'needs type: ExternalName');
	itemsOf(externalIPs).forEach((address, i) => checkExternalIP(found, `spec.externalIPs[${i}]`, address));
	if (externalTrafficPolicy !== undefined && !isExternal(asSpec({...spec, externalIPs: itemsOf(externalIPs)})))
		forbid(found, 'spec.externalTrafficPolicy', 'needs type: NodePort, type: LoadBalancer or externalIPs');
	if (allocateLoadBalancerNodePorts !== undefined && type !== 'LoadBalancer')
		forbid(found, 'spec.allocateLoadBalancerNodePorts', 'needs type: LoadBalancer');
}

function checkExternalName(found: Found, name: unknown): void {
	if (name === undefined || name === '') refuse(found, 'spec.externalName', 'is required where type is ExternalName', 'FieldValueRequired');
	else if (typeof name === 'string' && !isDnsSubdomain(name.replace(/\.$/, '')))
		refuse(found, 'spec.externalName', `must be a host name in lower-case letters, got ${shown(name)}`);
}

/** Those that belong to each host, or to none, are no addresses of a Service. */
const special = /^(0\.0\.0\.0$|127\.|169\.254\.|22[4-9]\.|23\d\.|255\.255\.255\.255$)/;

function checkExternalIP(found: Found, path: string, address: unknown): void {
	if (typeof address !== 'string') return;
	if (isIPv6(address)) forbid(found, path, 'addresses of IPv6 are not supported yet');
	else if (!isIPv4(address)) refuse(found, path, `must be an IPv4 address, got ${shown(address)}`);
	else if (special.test(address)) refuse(found, path, `must not be loopback, link-local, multicast or unspecified, got ${shown(address)}`);
}

// ---- ports ---------------------------------------------------------------------------------------------------------------

function checkServicePorts(found: Found, path: string, spec: JsonObject): void {
	const ports = itemsOf(spec['ports']).map(membersOf);
	if (isEmpty(spec['ports']) && hasClusterIP(asSpec(spec))) refuse(found, path, 'at least one port is required', 'FieldValueRequired');
	const takesNodePorts = hasNodePorts(asSpec(spec)) || spec['type'] === 'LoadBalancer';
	ports.forEach((port, i) => checkServicePort(found, `${path}[${i}]`, port, {several: ports.length > 1, takesNodePorts}));
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

function checkServicePort(found: Found, path: string, port: JsonObject, about: {several: boolean; takesNodePorts: boolean}): void {
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
	if (nodePort !== undefined && !about.takesNodePorts) forbid(found, `${path}.nodePort`, 'needs type: NodePort or LoadBalancer');
}
