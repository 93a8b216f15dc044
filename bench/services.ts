// What a Service costs: bytes, requests and connections a second to its address beside the same to its pod itself, in turn. Once by the user-space
// proxy, the data plane of a node alone; once with pods in a network of their own, where the kernel translates the address.

import {spawn} from 'node:child_process';
import {realpathSync} from 'node:fs';
import path from 'node:path';
import type {NetworkObject} from '../actors/protocol/network-object.js';
import {localAddressOf} from '../actors/node/network/local-address.js';
import type {Benchmark} from './harness/benchmark.js';
import {programsFound} from './harness/programs.js';
import type {Scope} from './harness/scope.js';
import {median, ratios, type Row} from './harness/table.js';
import {layNetwork} from './rigs/fleet/network.js';
import {clusterIPOf, openRoutedHosts} from './rigs/fleet/routed-hosts.js';
import {dataPlaneNode, startDataPlane} from './rigs/network/data-plane.js';
import {megabytesPerSecond} from './rigs/network/iperf.js';
import {answering, configurationOf, startNginx} from './rigs/network/nginx.js';
import type {ServiceRulesPart} from './rigs/network/service-rules-program.js';
import {wrk, type Load} from './rigs/network/wrk.js';
import {startPart} from './rigs/remote.js';
import {freePort, isOpen, until} from './rigs/servers/server.js';

const defaultRounds = 5;
const seconds = 4;
const connections = 16;
const streams = 4;

export const servicesBenchmark: Benchmark = {
	name: 'services',
	about: 'a Service beside direct access to its pod, by the user-space proxy and with routed pods',
	async run({rounds = defaultRounds}, scope) {
		const programs = programsFound({nginx: 'nginx-light', wrk: 'wrk', iperf3: 'iperf3', ip: 'iproute2', nft: 'nftables'});
		const proxied = await underProxy(scope, programs);
		const routed = await withRoutedPods(scope, programs);
		return [
			...(await rules(scope, rounds)),
			...(await half('user-space', proxied, rounds, 0.3)),
			...(await half('routed', routed, rounds, 0.8)),
		];
	},
};

type Programs = Readonly<Record<'nginx' | 'wrk' | 'iperf3', string>>;
/** Of nginx and of iperf3. */
type Place = {
	readonly web: {readonly address: string; readonly port: number};
	readonly bytes: {readonly address: string; readonly port: number};
};

/** Where programs ask, and what: the pods themselves, and the Services that lead to them. */
type Setting = {readonly programs: Programs; readonly before: readonly string[]; readonly direct: Place; readonly service: Place};

// ---- the user-space proxy --------------------------------------------------------------------------------------------------------

const clusterIP = '10.96.77.1';
const [webPort, bytesPort] = [8180, 8181];

async function underProxy(scope: Scope, programs: Programs): Promise<Setting> {
	const owner = {teardown: scope.defer};
	const nginx = await startNginx(owner, programs.nginx, answering, 'unlogged');
	const iperf = await startIperf(scope, programs.iperf3);
	await startDataPlane(owner, serviceOf(nginx.port, iperf));
	const address = localAddressOf(clusterIP) ?? '';
	const place = (at: string, web: number, bytes: number): Place => ({web: {address: at, port: web}, bytes: {address: at, port: bytes}});
	return {programs, before: [], direct: place('127.0.0.1', nginx.port, iperf), service: place(address, webPort, bytesPort)};
}

async function startIperf(scope: Scope, program: string): Promise<number> {
	const port = await freePort();
	const child = spawn(program, ['--server', '--bind', '127.0.0.1', '--port', String(port)], {stdio: 'ignore'});
	scope.defer(() => void child.kill('SIGKILL'));
	await until('iperf3 listens', () => isOpen(port));
	return port;
}

const serviceOf = (web: number, bytes: number): readonly NetworkObject[] => [
	{
		type: 'service',
		namespace: 'default',
		name: 'measured',
		spec: {
			clusterIP,
			ports: [
				{name: 'web', port: webPort},
				{name: 'bytes', port: bytesPort},
			],
		},
	},
	{
		type: 'endpoints',
		namespace: 'default',
		name: 'measured-aaaaa',
		service: 'measured',
		addressType: 'IPv4',
		endpoints: [{addresses: ['127.0.0.1'], conditions: {ready: true}, nodeName: dataPlaneNode}],
		ports: [
			{name: 'web', port: web, protocol: 'TCP'},
			{name: 'bytes', port: bytes, protocol: 'TCP'},
		],
	},
];

// ---- routed pods -------------------------------------------------------------------------------------------------------------

const scratch = '/srv';

/** One host with two pods; its own programs ask. */
async function withRoutedPods(scope: Scope, programs: Programs): Promise<Setting> {
	const hosts = await openRoutedHosts({teardown: scope.defer}, ['h']);
	const {first, network} = hosts;
	// Addresses of Services are found by way of it; it leads no farther than to the switch.
	first.run('ip', 'route', 'add', 'default', 'dev', 'eth0');
	const configuration = configurationOf(scratch, `0.0.0.0:${webPort}`, answering, 'unlogged');
	const serving = `printf '%s' "$CONFIGURATION" >${scratch}/nginx.conf && exec ${realpathSync(programs.nginx)} -c ${scratch}/nginx.conf -e ${scratch}/error.log`;
	await hosts.apply(
		pod('web', webPort, ['/bin/sh', '-c', serving], [{name: 'CONFIGURATION', value: configuration}]),
		pod('bytes', bytesPort, [realpathSync(programs.iperf3), '--server', '--port', String(bytesPort)]),
		service('web', webPort),
		service('bytes', bytesPort),
	);
	const pods = await hosts.addresses('web', 'bytes');
	const setting = async (addressOf: (name: string) => Promise<string>): Promise<Place> => ({
		web: {address: await addressOf('web'), port: webPort},
		bytes: {address: await addressOf('bytes'), port: bytesPort},
	});
	return {
		programs,
		before: network.on('h'),
		direct: await setting(name => Promise.resolve(pods.get(name) ?? '')),
		service: await setting(name => clusterIPOf(first, name)),
	};
}

const pod = (name: string, port: number, command: readonly string[], env: readonly object[] = []) => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name, labels: {app: name}},
	spec: {
		terminationGracePeriodSeconds: 0,
		containers: [
			{
				name: 'main',
				image: 'any',
				// In a manifest `$$` stands for one dollar.
				command: command.map(word => word.replaceAll('$', () => '$$')),
				env,
				readinessProbe: {tcpSocket: {port}, periodSeconds: 1},
				// What it writes goes with it, and is in nobody's way.
				volumeMounts: [{name: 'scratch', mountPath: scratch}],
			},
		],
		volumes: [{name: 'scratch', emptyDir: {}}],
	},
});

const service = (name: string, port: number) => ({
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {name},
	spec: {selector: {app: name}, ports: [{port, targetPort: port}]},
});

// ---- rules of the kernel -----------------------------------------------------------------------------------------------------

const scale = {services: 1_000, endpoints: 10, changes: 20};

/** What writing them takes, beside what nft alone takes for the same rules: once all of them, and one Service. */
async function rules(scope: Scope, rounds: number): Promise<readonly Row[]> {
	const owner = {teardown: scope.defer};
	const network = layNetwork(owner, `tr${process.pid}`, ['r']);
	const program = path.join(import.meta.dirname, 'rigs/network/service-rules-program.js');
	const whole: number[] = [];
	const restore: number[] = [];
	const change: number[] = [];
	const restoreChange: number[] = [];
	for (let round = 0; round < rounds; round++) {
		const part = startPart<ServiceRulesPart>(owner, program, [], network.on('r'));
		const took = await part.call('measure', scale);
		whole.push(took.program);
		restore.push(took.restore);
		change.push(median(took.change));
		restoreChange.push(median(took.restoreChange));
	}
	const what = `${scale.services} Services of ${scale.endpoints} endpoints`;
	return [
		{what: `rules of ${what}`, values: whole, unit: 'ms'},
		{what: `rules of ${what}, restored by nft`, values: restore, unit: 'ms'},
		{what: `rules of ${what}, ours / restored`, values: ratios(whole, restore), unit: 'x', goal: {atMost: 1.3}},
		{what: 'one endpoint of one of them', values: change, unit: 'ms'},
		{what: 'one endpoint of one of them, restored by nft', values: restoreChange, unit: 'ms'},
		{what: 'one endpoint of one of them, ours / restored', values: ratios(change, restoreChange), unit: 'x', goal: {atMost: 1.3}},
	];
}

// ---- figures -----------------------------------------------------------------------------------------------------------------

type Figures = {
	readonly oneStream: number[];
	readonly streams: number[];
	readonly requests: number[];
	readonly p50: number[];
	readonly p99: number[];
	readonly connects: number[];
};

const newFigures = (): Figures => ({oneStream: [], streams: [], requests: [], p50: [], p99: [], connects: []});

async function half(name: string, setting: Setting, rounds: number, goal: number): Promise<readonly Row[]> {
	const [direct, through] = [newFigures(), newFigures()];
	for (let round = 0; round < rounds; round++) {
		await measure(direct, setting, setting.direct);
		await measure(through, setting, setting.service);
	}
	const row = (what: string, unit: string, of: (figures: Figures) => readonly number[], isJudged = false): readonly Row[] => [
		{what: `${name}: ${what}, direct`, values: of(direct), unit},
		{what: `${name}: ${what}, Service`, values: of(through), unit},
		{
			what: `${name}: ${what}, Service / direct`,
			values: ratios(of(through), of(direct)),
			unit: 'x',
			...(isJudged ? {goal: {atLeast: goal}} : {}),
		},
	];
	return [
		...row('one connection', 'MB/s', ({oneStream}) => oneStream, true),
		...row(`${streams} connections`, 'MB/s', figures => figures.streams, true),
		...row('requests', '/s', ({requests}) => requests, true),
		...row('p50 of a request', 'ms', ({p50}) => p50),
		...row('p99 of a request', 'ms', ({p99}) => p99),
		...row('connections of one request', '/s', ({connects}) => connects),
	];
}

async function measure(figures: Figures, {programs, before}: Setting, {web, bytes}: Place): Promise<void> {
	const transfer = {program: programs.iperf3, before, ...bytes, seconds};
	figures.oneStream.push(await megabytesPerSecond({...transfer, connections: 1}));
	figures.streams.push(await megabytesPerSecond({...transfer, connections: streams}));
	const load: Load = {program: programs.wrk, before, url: `http://${web.address}:${web.port}/`, connections, seconds};
	const {perSecond, p50Ms, p99Ms} = await wrk(load);
	figures.requests.push(perSecond);
	figures.p50.push(p50Ms);
	figures.p99.push(p99Ms);
	figures.connects.push((await wrk({...load, headers: ['Connection: close']})).perSecond);
}
