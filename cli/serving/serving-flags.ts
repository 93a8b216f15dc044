// The flags of the serving commands become checked options. All that is wrong is told at once.

import {parseEvictionThresholds, usualEviction, type EvictionThresholds} from '../../api/eviction-thresholds.js';
import path from 'node:path';
import {defaultEngineUrl, parseEngineUrl} from '../../agent/docker/engine/engine-url.js';
import {overlays} from '../../agent/pod-network/peers.js';
import {resolverPort} from '../../agent/pod-network/names.js';
import {parseUserRange, type UserRange} from '../../agent/process/users/pod-users.js';
import {controlSystem} from '../../api/keys.js';
import {graceBounds, parseGrace} from '../../api/kinds/clusterconfig.js';
import {limits} from '../../api/limits.js';
import {ipv4Number, rangeOf} from '../../api/ipv4.js';
import {isLoopback} from '../../api/loopback.js';
import {isDnsSubdomain} from '../../api/rules/names.js';
import {didYouMean} from '../../api/suggest.js';
import {parseEtcdUrl} from '../../system/store/etcd-url.js';
import {parseOutsideUrl} from '../../system/links/outside-url.js';
import type {Flags} from '../command.js';
import type {HostPort} from '../../api/host-port.js';
import {
	parseAdvertised,
	parseHostPort,
	podNetworks,
	type DoorOptions,
	type EngineChoice,
	type HostOptions,
	type HostPathsChoice,
	type PodNetworkChoice,
	type StoreChoice,
} from './serving-options.js';

const loopback = '127.0.0.1';

/** On loopback, unless told otherwise. */
export const doorsOf = (flags: Flags, brokerText: string | undefined, problems: string[]): DoorOptions => ({
	api: listenOn(flags, 'api', {host: loopback, port: 6443}, problems),
	web: listenOn(flags, 'web', {host: loopback, port: 7070}, problems),
	mqtt: listenOn(flags, 'mqtt', {host: loopback, port: 1883}, problems),
	advertise: advertiseOf(flags, problems),
	broker: brokerOf(flags.text('broker') ?? brokerText, problems),
});

function listenOn(flags: Flags, name: string, fallback: HostPort, problems: string[], besides = ''): HostPort {
	const text = flags.text(name);
	if (text === undefined) return fallback;
	const parsed = parseHostPort(text, fallback.host);
	if (parsed === undefined) problems.push(`--${name} must be HOST:PORT such as ${loopback}:${fallback.port}${besides}, got "${text}"`);
	return parsed ?? fallback;
}

function advertiseOf(flags: Flags, problems: string[]): DoorOptions['advertise'] {
	const text = flags.text('advertise');
	const parsed = text === undefined ? undefined : parseAdvertised(text);
	if (text !== undefined && parsed === undefined) problems.push(`--advertise must be HOST or HOST:PORT, got "${text}"`);
	return parsed;
}

/** Beside `--broker`: so its password is in no list of processes. */
export const brokerVariable = 'TROUPE_BROKER';

function brokerOf(text: string | undefined, problems: string[]): DoorOptions['broker'] {
	if (text === undefined || text === '') return undefined;
	const server = parseOutsideUrl(text);
	if (typeof server !== 'string') return {server, text};
	problems.push(`--broker: ${server}`);
	return undefined;
}

export function storeOf(flags: Flags, problems: string[]): StoreChoice {
	const text = flags.text('store');
	if (text === undefined || !/^etcds?:/.test(text)) return wordOf(flags, 'store', ['level', 'memory'], problems, ' or etcd://…');
	try {
		parseEtcdUrl(text);
	} catch (error) {
		problems.push(`--store ${(error as Error).message}`);
	}
	return text;
}

/** `--grace`; undefined where it was not given. */
export function graceOf(flags: Flags, problems: string[]): string | undefined {
	const text = flags.text('grace');
	if (text !== undefined && parseGrace(text) === undefined) problems.push(`--grace ${graceBounds}, got "${text}"`);
	return text;
}

/** Where Docker's own tools look for an Engine. */
export const engineVariable = 'DOCKER_HOST';

/** What runs pods. `fromEnvironment` is DOCKER_HOST. */
export function runtimesOf(
	flags: Flags,
	fromEnvironment: string | undefined,
	problems: string[],
): Pick<HostOptions, 'runtime' | 'docker' | 'dockerProblem' | 'allowPrivileged' | 'warmSandboxes'> {
	const runtime = wordOf(flags, 'runtime', ['auto', 'process', 'docker', 'simulated'], problems);
	const isGiven = (name: string): boolean => flags.words.some(word => word.startsWith(`--${name}=`));
	const allowPrivileged = flags.on('allow-privileged');
	if (runtime === 'process' || runtime === 'simulated') {
		const ofDocker = ['docker', 'warm-sandboxes'].filter(isGiven);
		problems.push(...ofDocker.map(name => `--${name} is of Docker, and --runtime ${runtime} runs no pods of it`));
		if (runtime === 'simulated' && isGiven('allow-privileged'))
			problems.push('--allow-privileged has no effect with --runtime simulated: pods are only pretended');
		return {runtime, docker: undefined, dockerProblem: undefined, allowPrivileged, warmSandboxes: undefined};
	}
	const rest = {runtime, allowPrivileged, warmSandboxes: warmSandboxesOf(flags, problems)};
	const docker = engineOf(flags.text('docker'), fromEnvironment);
	if (typeof docker !== 'string') return {...rest, docker, dockerProblem: undefined};
	if (flags.text('docker') === undefined && runtime === 'auto') return {...rest, docker: undefined, dockerProblem: docker};
	problems.push(docker);
	return {...rest, docker: undefined, dockerProblem: undefined};
}

/** `--warm-sandboxes`; undefined where it was not given. */
function warmSandboxesOf(flags: Flags, problems: string[]): number | undefined {
	const count = flags.number('warm-sandboxes');
	if (count === undefined || (Number.isSafeInteger(count) && count >= 0 && count <= limits.warmSandboxesMost)) return count;
	problems.push(`--warm-sandboxes must be a whole number from 0 to ${limits.warmSandboxesMost}, got ${count}`);
	return undefined;
}

/** Or what is wrong. An Engine of another host has none of this host's folders, and pods there would have no address here. */
function engineOf(flag: string | undefined, fromEnvironment: string | undefined): EngineChoice | string {
	const isAsked = flag !== undefined || (fromEnvironment ?? '') !== '';
	const [name, url] = flag !== undefined ? ['--docker', flag] : [engineVariable, isAsked ? (fromEnvironment ?? '') : defaultEngineUrl];
	const wanted = `${name} must be an Engine of this host, unix:///PATH or tcp://127.0.0.1:PORT`;
	const otherwise = flag === undefined ? '; --docker says another one' : '';
	const address = parseEngineUrl(url);
	if (address === undefined || ('host' in address && !isLoopback(address.host))) return `${wanted}, got "${url}"${otherwise}`;
	return {url, address, isAsked};
}

/** `--router`; undefined: there is to be none. */
export const routerOf = (flags: Flags, problems: string[]): HostPort | undefined =>
	flags.text('router') === 'off' ? undefined : listenOn(flags, 'router', {host: loopback, port: 8080}, problems, ' or off');

/** `--router-tls`; undefined: there is to be none. */
export const routerTlsOf = (flags: Flags, problems: string[]): HostPort | undefined =>
	flags.text('router-tls') === 'off' ? undefined : listenOn(flags, 'router-tls', {host: loopback, port: 8443}, problems, ' or off');

/** `--metrics`; undefined where it was not given. An agent has no certificate to show to other hosts, which would see the token. */
export function metricsOf(flags: Flags, problems: string[]): HostPort | undefined {
	if (flags.text('metrics') === undefined) return undefined;
	const place = listenOn(flags, 'metrics', {host: loopback, port: 9900}, problems);
	if (!isLoopback(place.host))
		problems.push(
			`--metrics must be on loopback, as in ${loopback}:${place.port}, got "${place.host}": to other hosts a server tells of each node, at /metrics/nodes/NAME`,
		);
	return place;
}

/** `--metrics-token-file`, absolute; undefined where it was not given. */
export function metricsTokenFileOf(flags: Flags, problems: string[]): string | undefined {
	const file = flags.text('metrics-token-file');
	if (file !== undefined && flags.text('metrics') === undefined) problems.push('--metrics-token-file is of --metrics, which is not given');
	return file === undefined ? undefined : path.resolve(file);
}

/** `--dns`; undefined where it was not given. */
export function dnsOf(flags: Flags, problems: string[]): HostOptions['dns'] {
	const asked = flags.text('dns');
	return asked === undefined || asked === 'off' ? asked : listenOn(flags, 'dns', {host: loopback, port: resolverPort}, problems, ' or off');
}

/** `--network`, `--overlay`, `--node-address`. */
export function podNetworkOf(flags: Flags, problems: string[]): PodNetworkChoice {
	const kind = wordOf(flags, 'network', podNetworks, problems);
	const overlay = wordOf(flags, 'overlay', overlays, problems);
	const nodeAddress = flags.text('node-address');
	if (nodeAddress !== undefined && (ipv4Number(nodeAddress) === undefined || isLoopback(nodeAddress)))
		problems.push(`--node-address must be an IPv4 address by which other hosts reach this one, got "${nodeAddress}"`);
	const unused = ['overlay', 'node-address'].filter(name => kind === 'shared' && flags.text(name) !== undefined);
	problems.push(...unused.map(name => `--${name} is of a network of pods, and --network shared makes none`));
	return {kind, overlay, nodeAddress};
}

/** `--node-port-addresses`; undefined where it was not given. */
export function nodePortsOf(flags: Flags, problems: string[]): readonly string[] | undefined {
	const text = flags.text('node-port-addresses');
	const ranges = text?.split(',');
	const wrong = ranges?.find(range => rangeOf(range) === undefined);
	if (wrong === undefined) return ranges;
	problems.push(`--node-port-addresses must be IPv4 addresses or ranges of them with commas between, as in 192.0.2.0/24, got "${wrong}"`);
	return undefined;
}

/** What bounds the programs of pods, and where they keep what stays. */
export const podBoundsOf = (
	flags: Flags,
	problems: string[],
): Pick<HostOptions, 'podUsers' | 'maxProcesses' | 'thresholds' | 'volumes' | 'gpus'> => ({
	podUsers: podUsersOf(flags, problems),
	maxProcesses: maxProcessesOf(flags, problems),
	thresholds: thresholdsOf(flags, problems),
	volumes: volumesOf(flags, problems),
	gpus: undefined,
});

/** `--volumes`; undefined where it was not given. */
function volumesOf(flags: Flags, problems: string[]): string | undefined {
	const folder = flags.text('volumes');
	if (folder === undefined || (path.isAbsolute(folder) && path.resolve(folder) !== '/'))
		return folder === undefined ? undefined : path.resolve(folder);
	problems.push(`--volumes must be a folder as an absolute path, got "${folder}"`);
	return undefined;
}

/** One of a few words; the first is the default. */
function wordOf<Word extends string>(
	flags: Flags,
	name: string,
	words: readonly [Word, ...Word[]],
	problems: string[],
	besides = '',
): Word {
	const text = flags.text(name);
	const found = words.find(word => word === text);
	if (text !== undefined && found === undefined)
		problems.push(`--${name} must be ${words.join(' or ')}${besides}, got "${text}"${didYouMean(text, words)}`);
	return found ?? words[0];
}

/** `--host-paths`; undefined where it was not given. */
export function hostPathsOf(flags: Flags, problems: string[]): HostPathsChoice | undefined {
	const words = flags.texts('host-paths');
	if (words.length === 0) return undefined;
	if (words.length === 1 && (words[0] === 'all' || words[0] === 'none')) return words[0] === 'all' ? 'all' : [];
	const wrong = words.find(word => !path.isAbsolute(word));
	if (wrong !== undefined)
		problems.push(`--host-paths must be all, none, or a folder as an absolute path, several by several flags, got "${wrong}"`);
	return words;
}

/** `--pod-users`; undefined where it was not given. */
function podUsersOf(flags: Flags, problems: string[]): UserRange | undefined {
	const text = flags.text('pod-users');
	if (text === undefined) return undefined;
	const range = parseUserRange(text);
	if (typeof range !== 'string') return range;
	problems.push(`--pod-users ${range}`);
	return undefined;
}

/** `--eviction-hard`. */
function thresholdsOf(flags: Flags, problems: string[]): EvictionThresholds {
	const text = flags.text('eviction-hard');
	const thresholds = text === undefined ? usualEviction : parseEvictionThresholds(text);
	if (typeof thresholds !== 'string') return thresholds;
	problems.push(`--eviction-hard ${thresholds}`);
	return {};
}

/** `--max-processes`; undefined where it was not given. */
function maxProcessesOf(flags: Flags, problems: string[]): number | undefined {
	const count = flags.number('max-processes');
	if (count === undefined || (Number.isSafeInteger(count) && count >= limits.leastProcesses && count <= limits.mostProcesses)) return count;
	problems.push(`--max-processes must be a whole number from ${limits.leastProcesses} to ${limits.mostProcesses}, got ${count}`);
	return undefined;
}

/** A client that reaches a cluster may make pods: as long as only this host does, its folders are as open to it as they were. */
export const isOnLoopback = ({api, web, mqtt, advertise}: DoorOptions): boolean =>
	advertise === undefined && [api, web, mqtt].every(({host}) => isLoopback(host));

/** A node's name is part of addresses and topics: a DNS name (RFC 1123), lower case. A host's own name is made to fit. */
export function nodeOf(flags: Flags, host: string, problems: string[]): string {
	const name = flags.text('node') ?? host;
	const lower = name.toLowerCase();
	if (!isDnsSubdomain(lower)) problems.push(`--node must be lower-case letters, digits, "-" and "." (RFC 1123), got "${name}"`);
	else if (lower === controlSystem) problems.push(`--node ${controlSystem} is taken: it is the name of the control plane`);
	return lower;
}

/** `--join`: servers, by comma. */
export function serversOf(flags: Flags, problems: string[]): readonly string[] {
	const servers = (flags.text('join') ?? '').split(',').filter(text => text !== '');
	problems.push(...servers.flatMap(problemOfServer));
	return servers.map(server => server.replace(/\/+$/, ''));
}

function problemOfServer(server: string): string[] {
	const url = URL.canParse(server) ? new URL(server) : undefined;
	// A password may be in it, or what was meant as one.
	if (server.includes('@')) return ['--join takes no user and no password: a host joins by its token'];
	if (url?.protocol !== 'https:') return [`--join must be https://HOST:PORT, several with commas between them, got "${server}"`];
	const isBare = /^\/*$/.test(url.pathname) && url.search === '' && url.hash === '';
	return isBare ? [] : [`--join takes no path behind HOST:PORT, got "${server}"`];
}
