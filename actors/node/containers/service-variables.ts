// What a container is told of the Services of its namespace, as Kubernetes and Docker's links do it: for programs that cannot ask for names.

import type {ServicePort, ServiceSpec} from '../../../api/kinds/service.js';
import {limits} from '../../../api/limits.js';
import type {Known} from '../../../system/index/object-index.js';
import {services} from '../../network-references.js';
import type {ConfigCopy} from '../cache/config-copy.js';
import type {Sandbox} from '../runtime/runtime-port.js';
import {localAddressOf} from '../network/local-address.js';

export type Variable = readonly [name: string, value: string];

/**
 * Variables for the Services that this node knows of a namespace, by name; those without an address have none. A pod of the pod network reaches them
 * at their own addresses, one that shares the network of its node at the node's local ones; a container of Docker's bridge reaches none of them and
 * gets nothing.
 */
export function serviceVariables(known: Known, namespace: string, {podIP, isRouted}: Sandbox): readonly Variable[] {
	if (isRouted !== true && !podIP.startsWith('127.')) return [];
	const addressOf = isRouted === true ? ownAddressOf : localAddressOf;
	return servicesOf(known, namespace)
		.slice(0, limits.serviceVariables)
		.flatMap(({name, spec}) => variablesOf(name, spec, addressOf));
}

const ownAddressOf = (clusterIP: string): string | undefined => (localAddressOf(clusterIP) === undefined ? undefined : clusterIP);

type NamedService = {readonly name: string; readonly spec: ServiceSpec};

function servicesOf(known: Known, namespace: string): readonly NamedService[] {
	const found: NamedService[] = [];
	for (const copy of known.list(services, namespace)) {
		const named = (copy as ConfigCopy).spec?.named;
		if (named?.type === 'network' && named.object.type === 'service') found.push(named.object);
	}
	return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Names and values as in Kubernetes, pkg/kubelet/envvars. */
function variablesOf(
	service: string,
	{clusterIP = '', ports = []}: ServiceSpec,
	addressOf: (clusterIP: string) => string | undefined,
): readonly Variable[] {
	const address = addressOf(clusterIP);
	const [first] = ports;
	if (address === undefined || first === undefined) return [];
	const prefix = variableName(service);
	return [
		[`${prefix}_SERVICE_HOST`, address],
		[`${prefix}_SERVICE_PORT`, String(first.port)],
		...ports.flatMap(({name, port}): Variable[] =>
			name === undefined ? [] : [[`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port)]],
		),
		[`${prefix}_PORT`, urlOf(address, first)],
		...ports.flatMap(port => linkOf(prefix, address, port)),
	];
}

/** As Docker's links have them. */
function linkOf(prefix: string, address: string, port: ServicePort): readonly Variable[] {
	const protocol = port.protocol ?? 'TCP';
	const link = `${prefix}_PORT_${port.port}_${protocol}`;
	return [
		[link, urlOf(address, port)],
		[`${link}_PROTO`, protocol.toLowerCase()],
		[`${link}_PORT`, String(port.port)],
		[`${link}_ADDR`, address],
	];
}

const urlOf = (address: string, {protocol = 'TCP', port}: ServicePort): string => `${protocol.toLowerCase()}://${address}:${port}`;

const variableName = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z\d]/g, '_');
