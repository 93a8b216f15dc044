// The resolver of a node beside dnsmasq with the same names as host records: how many questions they answer, and how long one takes when they
// have little to do. UDP over loopback.

import {spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import type {NetworkService} from '../actors/protocol/network-object.js';
import {localAddressOf} from '../actors/node/network/local-address.js';
import type {Benchmark} from './harness/benchmark.js';
import {busyWhile, serveAlone} from './harness/processors.js';
import {programsFound} from './harness/programs.js';
import type {Scope} from './harness/scope.js';
import {percentile, ratios, type Row} from './harness/table.js';
import {temporaryFolder} from './rigs/cluster/cluster.js';
import {startDataPlane} from './rigs/network/data-plane.js';
import {asMany, latencies, type Questions} from './rigs/network/dnsperf.js';
import {freePort, isOpen, until} from './rigs/servers/server.js';

const defaultRounds = 5;
const services = 1_000;
const seconds = 5;
const onePart = 0.1;

export const dnsBenchmark: Benchmark = {
	name: 'dns',
	about: `the resolver of a node beside dnsmasq, ${services} names, UDP on loopback`,
	async run({rounds = defaultRounds}, scope) {
		const programs = programsFound({dnsmasq: 'dnsmasq-base', dnsperf: 'dnsperf'});
		const folder = temporaryFolder(scope, 'dns');
		const file = path.join(folder, 'questions');
		writeFileSync(file, zone.map(({name}) => `${name} A\n`).join(''));
		const ours = await startDataPlane({teardown: scope.defer}, zone.map(serviceOf));
		const theirs = await startDnsmasq(scope, programs.dnsmasq, folder);
		const questions = (port: number): Questions => ({program: programs.dnsperf, port, file, seconds});
		const [us, them]: readonly [Figures, Figures] = [newFigures(), newFigures()];
		for (let round = 0; round < rounds; round++) {
			await measure(us, ours.pid, questions(ours.dnsPort));
			await measure(them, theirs.pid, questions(theirs.port));
		}
		return [...rowsOf('resolver', us), ...rowsOf('dnsmasq', them), ...compared(us, them)];
	},
};

// ---- the zone ----------------------------------------------------------------------------------------------------------------

type Name = {readonly service: string; readonly name: string; readonly clusterIP: string};

const zone: readonly Name[] = Array.from({length: services}, (_, index) => ({
	service: `service-${index}`,
	name: `service-${index}.default.svc.cluster.local`,
	clusterIP: `10.96.${Math.floor(index / 250)}.${(index % 250) + 1}`,
}));

/** Without ports: of a Service that is looked up alone nothing listens. */
const serviceOf = ({service: name, clusterIP}: Name): NetworkService => ({
	type: 'service',
	namespace: 'default',
	name,
	spec: {type: 'ClusterIP', clusterIP},
});

type Dnsmasq = {readonly pid: number; readonly port: number};

async function startDnsmasq(scope: Scope, program: string, folder: string): Promise<Dnsmasq> {
	const port = await freePort();
	const hosts = path.join(folder, 'hosts');
	writeFileSync(hosts, zone.map(({name, clusterIP}) => `${localAddressOf(clusterIP) ?? ''} ${name}\n`).join(''));
	const words = [
		'--keep-in-foreground',
		'--conf-file=/dev/null',
		'--pid-file=',
		'--user=',
		'--no-resolv',
		'--no-hosts',
		`--addn-hosts=${hosts}`,
	];
	const place = [`--port=${port}`, '--listen-address=127.0.0.1', '--bind-interfaces', '--local=/cluster.local/', '--local-ttl=5'];
	const child = spawn(program, [...words, ...place], {stdio: ['ignore', 'ignore', 'inherit']});
	scope.defer(() => void child.kill('SIGKILL'));
	await until('dnsmasq answers', () => {
		if (child.exitCode !== null) throw new Error(`dnsmasq ended with code ${child.exitCode}`);
		return isOpen(port);
	});
	return {pid: child.pid ?? 0, port};
}

// ---- figures -----------------------------------------------------------------------------------------------------------------

type Figures = {
	readonly perSecond: number[];
	/** Questions that a second of its processor time is enough for: what the load generator can do plays no part in it. */
	readonly perCpuSecond: number[];
	readonly busy: number[];
	readonly p50: number[];
	readonly p99: number[];
	lost: number;
};

const newFigures = (): Figures => ({perSecond: [], perCpuSecond: [], busy: [], p50: [], p99: [], lost: 0});

async function measure(figures: Figures, pid: number, questions: Questions): Promise<void> {
	serveAlone(pid);
	const {value, cpuSeconds, share} = await busyWhile([pid], () => asMany(questions));
	figures.perSecond.push(value.perSecond);
	figures.perCpuSecond.push(value.count / cpuSeconds);
	figures.busy.push(share);
	figures.lost += value.lost;
	const took = await latencies(questions, value.perSecond * onePart);
	figures.p50.push(percentile(took, 0.5));
	figures.p99.push(percentile(took, 0.99));
}

function rowsOf(who: string, {perSecond, perCpuSecond, busy, p50, p99, lost}: Figures): readonly Row[] {
	const share = `busy ${busy.map(part => `${Math.round(part * 100)} %`).join(', ')}; ${lost} lost`;
	const goal = who === 'resolver' ? {goal: {atMost: 2}} : {};
	return [
		{what: `${who}: answers`, values: perSecond, unit: '/s', note: share},
		{what: `${who}: answers in a second of processor time`, values: perCpuSecond, unit: '/s'},
		{what: `${who}: p50 at a tenth of its rate`, values: p50, unit: 'ms'},
		{what: `${who}: p99 at a tenth of its rate`, values: p99, unit: 'ms', ...goal},
	];
}

/** Where the load generator has all it can, dnsmasq is not busy: then the second one counts. */
const compared = (us: Figures, them: Figures): readonly Row[] => [
	{what: 'answers, resolver / dnsmasq', values: ratios(us.perSecond, them.perSecond), unit: 'x', goal: {atLeast: 0.3}},
	{
		what: 'answers by processor time, resolver / dnsmasq',
		values: ratios(us.perCpuSecond, them.perCpuSecond),
		unit: 'x',
		goal: {atLeast: 0.3},
	},
];
