// The router of a node beside a reverse proxy that is plain Node and beside nginx, each before the same backend: requests a second, and how long
// one takes. Clients keep their connections; each has one request under way.

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import path from 'node:path';
import type {NetworkObject} from '../actors/protocol/network-object.js';
import type {Benchmark} from './harness/benchmark.js';
import {busyWhile, onOthers, serveAlone} from './harness/processors.js';
import {programsFound} from './harness/programs.js';
import type {Scope} from './harness/scope.js';
import {ratios, type Row} from './harness/table.js';
import {dataPlaneNode, startDataPlane} from './rigs/network/data-plane.js';
import {answering, proxyTo, startNginx} from './rigs/network/nginx.js';
import {wrk, type Load} from './rigs/network/wrk.js';

const defaultRounds = 5;
const seconds = 5;
/** Before the first round: until programs of Node are compiled. */
const warmSeconds = 10;
const connections = 16;
const host = 'shop.test';

export const routerBenchmark: Benchmark = {
	name: 'router',
	about: `the router of a node beside a plain Node proxy and nginx, ${connections} connections that are kept`,
	async run({rounds = defaultRounds}, scope) {
		const owner = {teardown: scope.defer};
		const programs = programsFound({nginx: 'nginx-light', wrk: 'wrk'});
		const backend = await startNginx(owner, programs.nginx, answering, 'unlogged');
		const router = await startDataPlane(owner, routed(backend.port));
		const plain = await startPlainProxy(scope, backend.port);
		const nginx = await startNginx(owner, programs.nginx, proxyTo(backend.port), 'logged');
		const load = (port: number, width: number): Load => ({
			program: programs.wrk,
			before: onOthers,
			url: `http://127.0.0.1:${port}/`,
			connections: width,
			seconds,
			headers: [`Host: ${host}`],
		});
		const servers = {
			router: {pid: router.pid, port: router.routerPort},
			'plain Node proxy': plain,
			nginx,
			backend,
		} as const;
		const figures = new Map(Object.keys(servers).map(name => [name, newFigures()]));
		for (const {port} of Object.values(servers)) await wrk({...load(port, connections), seconds: warmSeconds});
		for (let round = 0; round < rounds; round++)
			for (const [name, {pid, port}] of Object.entries(servers))
				await measure(figures.get(name) ?? newFigures(), pid, load(port, connections), load(port, 1));
		return [...[...figures].flatMap(([name, each]) => rowsOf(name, each)), ...compared(figures)];
	},
};

// ---- what is compared ----------------------------------------------------------------------------------------------------------

const routed = (port: number): readonly NetworkObject[] => [
	{
		type: 'dns',
		namespace: 'default',
		name: 'shop',
		createdAt: '2026-01-01T00:00:00Z',
		spec: {host, paths: [{subPath: '/', svcName: 'web', svcPort: 80}]},
	},
	{type: 'service', namespace: 'default', name: 'web', spec: {clusterIP: 'None', ports: [{port: 80}]}},
	{
		type: 'endpoints',
		namespace: 'default',
		name: 'web-aaaaa',
		service: 'web',
		addressType: 'IPv4',
		endpoints: [{addresses: ['127.0.0.1'], conditions: {ready: true}, nodeName: dataPlaneNode}],
		ports: [{name: '', port, protocol: 'TCP'}],
	},
];

async function startPlainProxy(scope: Scope, port: number): Promise<{readonly pid: number; readonly port: number}> {
	const program = path.join(import.meta.dirname, 'rigs/network/plain-proxy.js');
	const child = spawn(process.execPath, [program, String(port)], {stdio: ['ignore', 'pipe', 'inherit']});
	scope.defer(() => void child.kill('SIGKILL'));
	const [said] = (await once(child.stdout, 'data')) as [Buffer];
	return {pid: child.pid ?? 0, port: Number(said.toString())};
}

// ---- figures -----------------------------------------------------------------------------------------------------------------

type Figures = {
	readonly perSecond: number[];
	readonly perCpuSecond: number[];
	readonly busy: number[];
	readonly p50: number[];
	readonly p99: number[];
	readonly alone: number[];
};

const newFigures = (): Figures => ({perSecond: [], perCpuSecond: [], busy: [], p50: [], p99: [], alone: []});

async function measure(figures: Figures, pid: number, load: Load, alone: Load): Promise<void> {
	serveAlone(pid);
	const {value, cpuSeconds, share} = await busyWhile([pid], () => wrk(load));
	figures.perSecond.push(value.perSecond);
	figures.perCpuSecond.push(value.count / cpuSeconds);
	figures.busy.push(share);
	figures.p50.push(value.p50Ms);
	figures.p99.push(value.p99Ms);
	figures.alone.push((await wrk(alone)).p50Ms);
}

const rowsOf = (name: string, {perSecond, perCpuSecond, busy, p50, p99, alone}: Figures): readonly Row[] => [
	{what: `${name}: requests`, values: perSecond, unit: '/s', note: `busy ${busy.map(part => `${Math.round(part * 100)} %`).join(', ')}`},
	{what: `${name}: requests in a second of processor time`, values: perCpuSecond, unit: '/s'},
	{what: `${name}: p50`, values: p50, unit: 'ms'},
	{what: `${name}: p99`, values: p99, unit: 'ms'},
	{what: `${name}: p50 of one connection`, values: alone, unit: 'ms'},
];

function compared(figures: ReadonlyMap<string, Figures>): readonly Row[] {
	const of = (name: string): Figures => figures.get(name) ?? newFigures();
	const [us, plain, nginx] = [of('router'), of('plain Node proxy'), of('nginx')];
	return [
		{what: 'requests, router / plain Node proxy', values: ratios(us.perSecond, plain.perSecond), unit: 'x', goal: {atLeast: 1}},
		{
			what: 'by processor time, router / plain Node proxy',
			values: ratios(us.perCpuSecond, plain.perCpuSecond),
			unit: 'x',
			goal: {atLeast: 1},
		},
		{what: 'p99, router / plain Node proxy', values: ratios(us.p99, plain.p99), unit: 'x'},
		{what: 'requests, router / nginx', values: ratios(us.perSecond, nginx.perSecond), unit: 'x'},
	];
}
