// `ports` and `expose`: where a container listens, what of it is taken on the node, and what its Service has.

import {isObject, type Json, type JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {limits} from '../limits.js';
import {below, refuse, remark, type At} from './findings.js';
import {listOf, membersOf, refuseOthers, textOf, wholeOf} from './values.js';

export type Port = {
	readonly containerPort: number;
	readonly protocol: 'TCP' | 'UDP' | 'SCTP';
	readonly hostPort?: number;
	readonly hostIP?: string;
	readonly at: At;
};

const portMost = 65_535;
const protocols = ['TCP', 'UDP', 'SCTP'] as const;

/** All ports of a service: those published first, then those only exposed that are none of them. */
export function portsOf(service: At, fields: JsonObject): readonly Port[] {
	const at = below(service, 'ports');
	const published = listOf(at, fields['ports']).flatMap((item, i) => published1(below(at, i), item));
	const open = below(service, 'expose');
	const exposed = listOf(open, fields['expose']).flatMap((item, i) => exposed1(below(open, i), item));
	const numbers = new Set(published.map(keyOf));
	const all = [...published, ...exposed.filter(port => !numbers.has(keyOf(port)))];
	if (all.length > limits.composePorts) return refuse(at, `are ${all.length}; at most ${limits.composePorts} are read`) ?? [];
	return all;
}

/** What tells ports of a container apart. */
export const keyOf = ({containerPort, protocol}: Port): string => `${containerPort}/${protocol}`;

function published1(at: At, item: Json): readonly Port[] {
	return isObject(item) ? long(at, item) : short(at, item);
}

const portsForm = `a PORT from 1 to ${portMost} or a range of at most ${limits.composePorts} such as 3000-3005`;

/** `80`, `8080:80`, `127.0.0.1:8080:80/udp`, each also as ranges `3000-3005`. */
function short(at: At, item: Json): readonly Port[] {
	const text = textOf(at, item);
	if (text === undefined) return [];
	const [, ip, host, container = '', word = 'tcp'] =
		/^(?:(?:(\[[\da-fA-F:.]+\]|[\d.]+):)?([\d-]*):)?([\d-]+)(?:\/(\w+))?$/.exec(text) ?? [];
	const targets = rangeOf(container);
	const sources = host === undefined || host === '' ? [] : rangeOf(host);
	const protocol = protocols.find(name => name === word.toUpperCase());
	if (targets === undefined || sources === undefined || protocol === undefined)
		return refuse(at, `must be PORT, HOST:PORT or IP:HOST:PORT, ${portsForm}, with /udp behind it if one likes, got ${shown(item)}`) ?? [];
	if (sources.length > 0 && sources.length !== targets.length)
		return refuse(at, `must have as many ports of the host as of the container, got ${shown(item)}`) ?? [];
	if (sources.length === 0) remark(at, 'is not published: a port of the host that is chosen by itself cannot be asked for');
	const hostIP = ip?.replace(/^\[|\]$/g, '');
	return targets.map((containerPort, i) => {
		const hostPort = sources[i];
		return {containerPort, protocol, at, ...(hostPort === undefined ? {} : {hostPort, ...(hostIP === undefined ? {} : {hostIP})})};
	});
}

function long(at: At, item: JsonObject): readonly Port[] {
	refuseOthers(at, item, ['target', 'published', 'protocol', 'mode', 'host_ip', 'name', 'app_protocol']);
	const containerPort = wholeOf(below(at, 'target'), item['target'], 1, portMost);
	const word = textOf(below(at, 'protocol'), item['protocol']) ?? 'tcp';
	const protocol = protocols.find(name => name === word.toUpperCase());
	if (protocol === undefined) return refuse(below(at, 'protocol'), `must be tcp, udp or sctp, got ${shown(word)}`) ?? [];
	const mode = textOf(below(at, 'mode'), item['mode']) ?? 'ingress';
	if (mode !== 'host' && mode !== 'ingress') refuse(below(at, 'mode'), `must be host or ingress, got ${shown(mode)}`);
	const host = item['published'] === '' ? undefined : wholeOf(below(at, 'published'), item['published'], 1, portMost);
	const hostIP = textOf(below(at, 'host_ip'), item['host_ip']);
	if (containerPort === undefined) return item['target'] === undefined ? (refuse(at, 'must have a target') ?? []) : [];
	if (host === undefined) remark(at, 'is not published: a port of the host that is chosen by itself cannot be asked for');
	return [{containerPort, protocol, at, ...(host === undefined ? {} : {hostPort: host, ...(hostIP === undefined ? {} : {hostIP})})}];
}

/** `80`, `8000-8010`, or `53/udp`. */
function exposed1(at: At, item: Json): readonly Port[] {
	const text = textOf(at, item);
	if (text === undefined) return [];
	const [, container = '', word = 'tcp'] = /^([\d-]+)(?:\/(\w+))?$/.exec(text) ?? [];
	const ports = rangeOf(container);
	const protocol = protocols.find(name => name === word.toUpperCase());
	if (ports === undefined || protocol === undefined) return refuse(at, `must be PORT or PORT/udp, got ${shown(item)}`) ?? [];
	return ports.map(containerPort => ({containerPort, protocol, at}));
}

function rangeOf(text: string): readonly number[] | undefined {
	const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
	const [first, last] = [Number(from), Number(to)];
	if (from === '' || first < 1 || last > portMost || last < first) return undefined;
	if (last - first >= limits.composePorts) return undefined;
	return Array.from({length: last - first + 1}, (_, i) => first + i);
}

/** As a container has them. */
export const containerPorts = (ports: readonly Port[], isOnHost: boolean): readonly JsonObject[] =>
	ports.map(({containerPort, protocol, hostPort, hostIP}) => ({
		containerPort,
		...(protocol === 'TCP' ? {} : {protocol}),
		...(hostPort === undefined || isOnHost ? {} : {hostPort, ...(hostIP === undefined ? {} : {hostIP})}),
	}));

/** As a Service has them: by the container's number, which is how services of a file reach each other. */
export function servicePorts(ports: readonly Port[]): readonly JsonObject[] {
	const once = [...new Map(ports.map(port => [keyOf(port), port])).values()];
	return once.map(({containerPort, protocol}) => ({
		...(once.length === 1 ? {} : {name: `${protocol.toLowerCase()}-${containerPort}`}),
		port: containerPort,
		...(protocol === 'TCP' ? {} : {protocol}),
	}));
}

/** `extra_hosts`: names beside those of the cluster. */
export function hostAliases(service: At, value: Json | undefined): readonly JsonObject[] {
	const at = below(service, 'extra_hosts');
	const pairs = isObject(value)
		? Object.entries(membersOf(at, value)).flatMap(([name, ips]) =>
				(Array.isArray(ips) ? (ips as readonly Json[]) : [ips ?? null]).map(ip => ({
					name,
					ip: textOf(below(at, name), ip),
					here: below(at, name),
				})),
			)
		: listOf(at, value).map((item, i) => {
				const here = below(at, i);
				const [, name = '', ip] = /^([^:=]+)[:=](.+)$/.exec(textOf(here, item) ?? '') ?? [];
				return {name, ip, here};
			});
	const byAddress = new Map<string, string[]>();
	for (const {name, ip, here} of pairs) {
		if (ip === 'host-gateway') refuse(here, '"host-gateway" is known to one host only: give an address');
		else if (ip === undefined || name === '') refuse(here, 'must be HOST:IP');
		else byAddress.set(ip.replace(/^\[|\]$/g, ''), [...(byAddress.get(ip.replace(/^\[|\]$/g, '')) ?? []), name]);
	}
	return [...byAddress].map(([ip, hostnames]) => ({ip, hostnames}));
}
