// Functions: how long the first call of one at rest takes, beside a fork by hand and a fresh process, or an interpreter of its own; warm calls beside a plain Node proxy before the
// same runners; what functions cost that nobody calls; and from no instance to all of them and back.

import type {FunctionLanguage} from '../api/function-languages.js';
import type {Json} from '../api/object.js';
import type {Benchmark} from './harness/benchmark.js';
import {pause} from './harness/pause.js';
import {busyWhile, onOthers, serveAlone} from './harness/processors.js';
import {programsFound} from './harness/programs.js';
import {createScope, type Scope} from './harness/scope.js';
import {median, percentile, ratios, type Row} from './harness/table.js';
import {followObjects} from './rigs/cluster/waiting.js';
import {fineCall, type Callable} from './rigs/functions/call.js';
import {freshProcess, startForks, type ColdPeer} from './rigs/functions/cold-peers.js';
import {startDeployed, statusIn, untilAtRest, untilReady, type Code} from './rigs/functions/deployed.js';
import {bytesOfIdle} from './rigs/functions/idle-objects.js';
import {startProxied} from './rigs/functions/proxied.js';
import {everySoOften, followCurve, type Size} from './rigs/functions/curve.js';
import {wrk, type Load, type Loaded} from './rigs/network/wrk.js';

const coldRounds = 15;
const warmRounds = 5;

export const functionsBenchmark: Benchmark = {
	name: 'functions',
	about: 'functions from rest, warm, many, and idle, at the web door',
	async run({rounds, nodeFlags}, scope) {
		const programs = programsFound({wrk: 'wrk', python3: 'python3'});
		const parts: readonly ((inner: Scope) => Promise<readonly Row[]>)[] = [
			inner => cold(inner, nodeFlags, rounds ?? coldRounds),
			inner => coldNode(inner, nodeFlags, rounds ?? coldRounds),
			...languages.map(language => (inner: Scope) => warm(inner, {language, wrk: programs.wrk, nodeFlags}, rounds ?? warmRounds)),
			inner => idle(inner, nodeFlags),
			inner => surge(inner, programs.wrk, nodeFlags),
		];
		const rows: Row[] = [];
		for (const part of parts) rows.push(...(await alone(scope, part)));
		return rows;
	},
};

/** What a part has started is no load for the next one. */
async function alone<Value>(scope: Scope, part: (inner: Scope) => Promise<Value>): Promise<Value> {
	if (scope.isClosing()) throw new Error('interrupted');
	const inner = createScope();
	scope.defer(inner.close);
	const value = await part(inner);
	await inner.close();
	return value;
}

/** Each tells what runs it, so that its peers are run by the same. */
const greetings: Readonly<Record<FunctionLanguage, Code>> = {
	python: {
		language: 'python',
		text: 'import sys\n\n\ndef main(params):\n    return {"greeting": "Hello!", "program": sys.executable}\n',
	},
	nodejs: {language: 'nodejs', text: "export default () => ({greeting: 'Hello!', program: process.execPath});\n"},
};

/** By a call, for which all of it begins: of a version the very first one makes its ReplicaSet, and the node fetches its code. */
const programOf = async (where: Callable): Promise<string> => ((await fineCall(where, {})).value as {program: string}).program;

// ---- from rest ---------------------------------------------------------------------------------------------------------------

/** What goes on after the last pod is gone is over then. */
const restMs = 500;

async function cold(scope: Scope, nodeFlags: readonly string[], rounds: number): Promise<readonly Row[]> {
	const deployed = await startDeployed(scope, nodeFlags);
	const name = 'greeting';
	const folder = await deployed.deploy(name, greetings.python, {idle: '1s'});
	const where = deployed.callable(name);
	const code = {python: await programOf(where), folder};
	const ways: Readonly<Record<string, ColdPeer>> = {
		fork: await startForks(scope, code),
		process: freshProcess(scope, code),
		// The last: what follows on its answer is over before the next round, and takes nothing from its peers.
		function: async () => (await fineCall(where, {})).firstByteMs,
	};
	const took = new Map(Object.keys(ways).map(way => [way, [] as number[]]));
	for (let round = 0; round < rounds; round++) {
		await untilAtRest(deployed, name);
		await pause(restMs);
		for (const [way, once] of Object.entries(ways)) took.get(way)?.push(await once());
	}
	return coldRows(took.get('function') ?? [], took.get('fork') ?? [], took.get('process') ?? []);
}

function coldRows(ours: readonly number[], fork: readonly number[], fresh: readonly number[]): readonly Row[] {
	const beyond = ours.flatMap((value, round) => (fork[round] === undefined ? [] : [value - fork[round]]));
	return [
		...valueRows('cold start, Python, to the first byte', ours),
		...valueRows('cold start, a fork of a preloaded interpreter', fork),
		...valueRows('cold start, a fresh python3 with http.server', fresh),
		{what: 'cold start, beyond the fork', values: beyond, unit: 'ms', goal: {atMost: 15}},
		{what: 'cold start / fresh python3', values: ratios(ours, fresh), unit: 'x', goal: {atMost: 0.4}},
	];
}

const valueRows = (what: string, values: readonly number[]): readonly Row[] => [
	{what, values, unit: 'ms'},
	{what: `${what}, p95`, values: [percentile(values, 0.95)], unit: 'ms'},
];

/** With a variable that Node.js reads when it begins no runner that waits can become it. */
const ofItsOwn = {idle: '1s', env: [{name: 'NODE_NO_WARNINGS', value: '1'}]};

async function coldNode(scope: Scope, nodeFlags: readonly string[], rounds: number): Promise<readonly Row[]> {
	const deployed = await startDeployed(scope, nodeFlags);
	const names = {waited: 'waited', own: 'own'};
	await deployed.deploy(names.waited, greetings.nodejs, {idle: '1s'});
	await deployed.deploy(names.own, greetings.nodejs, ofItsOwn);
	const took = {waited: [] as number[], own: [] as number[]};
	for (const name of Object.values(names)) await programOf(deployed.callable(name));
	for (let round = 0; round < rounds; round++)
		for (const way of ['own', 'waited'] as const) {
			await untilAtRest(deployed, names[way]);
			await pause(restMs);
			took[way].push((await fineCall(deployed.callable(names[way]), {})).firstByteMs);
		}
	return [
		...valueRows('cold start, Node.js, to the first byte', took.waited),
		...valueRows('cold start, Node.js, by an interpreter of its own', took.own),
		{what: 'cold start, Node.js / of its own', values: ratios(took.waited, took.own), unit: 'x', goal: {atMost: 0.6}},
	];
}

// ---- warm --------------------------------------------------------------------------------------------------------------------

const languages: readonly FunctionLanguage[] = ['python', 'nodejs'];
const instances = 4;
const widths = [1, 16, 64] as const;
const most = Math.max(...widths);
const seconds = 3;
/** Before the first round: until programs of Node are compiled, and as many instances are there as there may be. */
const warmSeconds = 5;

type WarmOptions = {readonly language: FunctionLanguage; readonly wrk: string; readonly nodeFlags: readonly string[]};
type Server = {readonly pid: number; readonly url: string; readonly headers: readonly string[]};

async function warm(scope: Scope, {language, wrk: program, nodeFlags}: WarmOptions, rounds: number): Promise<readonly Row[]> {
	const deployed = await startDeployed(scope, nodeFlags);
	const name = `warm-${language}`;
	const spec = {idle: '10m', max: instances, concurrency: most / instances};
	const folder = await deployed.deploy(name, greetings[language], spec);
	const where = deployed.callable(name);
	const proxied = await startProxied(scope, {
		language,
		program: await programOf(where),
		folder,
		runners: instances,
		concurrency: most,
	});
	const servers = {
		door: {pid: deployed.pid, ...atDoor(where)},
		proxy: {pid: proxied.pid, url: `http://127.0.0.1:${proxied.port}/`, headers: []},
	} satisfies Readonly<Record<string, Server>>;
	const load = ({url, headers}: Server, connections: number): Load => ({
		program,
		before: onOthers,
		url,
		headers,
		connections,
		seconds,
	});
	for (const server of Object.values(servers)) await wrk({...load(server, most), seconds: warmSeconds});
	await untilReady(deployed, name, instances);
	// Not before: what a cluster starts runs where it runs itself.
	for (const {pid} of Object.values(servers)) serveAlone(pid);
	const figures = widths.map(width => ({width, door: newFigures(), proxy: newFigures()}));
	for (let round = 0; round < rounds; round++)
		for (const {width, door, proxy} of figures) {
			await measure(door, servers.door.pid, load(servers.door, width));
			await measure(proxy, servers.proxy.pid, load(servers.proxy, width));
		}
	return figures.flatMap(({width, door, proxy}) => warmRows(`${language}, ${width} in parallel`, width === 1, door, proxy));
}

const atDoor = ({host, port, path, headers}: Callable): Omit<Server, 'pid'> => ({
	url: `http://${host}:${port}${path}`,
	headers: Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${String(value)}`),
});

type Figures = {readonly perSecond: number[]; readonly busy: number[]; readonly p50: number[]; readonly p99: number[]};

const newFigures = (): Figures => ({perSecond: [], busy: [], p50: [], p99: []});

async function measure({perSecond, busy, p50, p99}: Figures, pid: number, load: Load): Promise<void> {
	const {value, share} = await busyWhile([pid], () => wrk(load));
	perSecond.push(value.perSecond);
	busy.push(share);
	p50.push(value.p50Ms);
	p99.push(value.p99Ms);
}

function warmRows(what: string, isOne: boolean, door: Figures, proxy: Figures): readonly Row[] {
	const pair = (figure: string, unit: string, of: (figures: Figures) => readonly number[]): readonly Row[] => [
		{what: `${what}: ${figure}`, values: of(door), unit},
		{what: `${what}: ${figure}, plain Node proxy`, values: of(proxy), unit},
	];
	const busy = (figures: Figures): string => `${Math.round(median(figures.busy) * 100)} %`;
	return [
		...pair('calls', '/s', ({perSecond}) => perSecond),
		...pair('p50', 'ms', ({p50}) => p50),
		...pair('p99', 'ms', ({p99}) => p99),
		...(isOne ? [{what: `${what}: p50, ours / proxy`, values: ratios(door.p50, proxy.p50), unit: 'x', goal: {atMost: 1}}] : []),
		{
			what: `${what}: calls, ours / proxy`,
			values: ratios(door.perSecond, proxy.perSecond),
			unit: 'x',
			goal: {atLeast: 1},
			note: `busy ${busy(door)}, proxy ${busy(proxy)}`,
		},
	];
}

// ---- idle --------------------------------------------------------------------------------------------------------------------

const idleCount = 10_000;
const megabyte = 1_000_000;

async function idle(scope: Scope, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	const functions = await bytesOfIdle(scope, 'functions', many(idleFunction), nodeFlags);
	const maps = await bytesOfIdle(scope, 'configmaps', many(mapAsLarge), nodeFlags);
	const what = `${idleCount} functions at rest`;
	return [
		{what: `${what}: RSS, loaded by a start`, values: [functions.loaded / megabyte], unit: 'MB', goal: {atMost: 100}},
		{what: `${what}: RSS, just written`, values: [functions.written / megabyte], unit: 'MB', goal: {atMost: 100}},
		...objectRows('loaded by a start', functions.loaded, maps.loaded),
		...objectRows('just written', functions.written, maps.written),
	];
}

const objectRows = (when: string, functions: number, maps: number): readonly Row[] => [
	{what: `a function at rest, ${when}`, values: [functions / idleCount], unit: 'bytes'},
	{what: `a ConfigMap as large, ${when}`, values: [maps / idleCount], unit: 'bytes'},
	{what: `a function at rest / a ConfigMap as large, ${when}`, values: [functions / maps], unit: 'x'},
];

const many = (object: (index: number) => Json): readonly Json[] => Array.from({length: idleCount}, (_, index) => object(index));

const specOf = (index: number) => ({
	userUploadFilePath: `functions/f${index}`,
	artifact: `sha256:${index.toString(16).padStart(64, '0')}`,
	runtime: 'python',
});

const idleFunction = (index: number): Json => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Function',
	metadata: {name: `f${index}`},
	spec: specOf(index),
});

/** It says the same, and nothing is to be done for it. */
const mapAsLarge = (index: number): Json => ({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: `f${index}`}, data: specOf(index)});

// ---- from zero to the most, and back -------------------------------------------------------------------------------------------

const clients = 20;
const surgeSeconds = 60;
const surgeMs = 1_000 * surgeSeconds;
const callMs = 50;
const surgeSpec = {idle: '1s', max: 10, concurrency: 2};
const waiting: Code = {
	language: 'nodejs',
	text: `export default () => new Promise(resolve => setTimeout(() => resolve({}), ${callMs}));\n`,
};

/** Rejects when a call fails. */
async function surge(scope: Scope, program: string, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	const deployed = await startDeployed(scope, nodeFlags);
	const name = 'surge';
	await deployed.deploy(name, waiting, surgeSpec);
	const functions = await followObjects(deployed.client, 'functions');
	scope.defer(functions.close);
	const curve = followCurve(() => statusIn(functions.objects, name));
	scope.defer(curve.end);
	const loaded = await wrk({program, before: [], ...atDoor(deployed.callable(name)), connections: clients, seconds: surgeSeconds});
	await untilAtRest(deployed, name);
	await curve.end();
	return surgeRows(loaded, curve.sizes);
}

function surgeRows({count, p50Ms, p99Ms}: Loaded, sizes: readonly Size[]): readonly Row[] {
	const what = `${clients} in parallel from rest, by wrk`;
	const floor = `floor ${callMs}, what a call waits`;
	const toMost = sizes.find(({ready}) => ready === surgeSpec.max)?.atMs;
	const gone = sizes.find(({atMs, instances: left}) => atMs > surgeMs && left === 0)?.atMs;
	const most = (clients * surgeMs) / callMs;
	return [
		{what: `${what}: answered in ${surgeSeconds} s`, values: [count], unit: '', note: `${most} if nothing else took time; none failed`},
		{what: `${what}: p50`, values: [p50Ms], unit: 'ms', note: floor},
		{what: `${what}: p99`, values: [p99Ms], unit: 'ms', note: floor},
		{what: `${what}: until ${surgeSpec.max} instances are ready`, values: toMost === undefined ? [] : [toMost], unit: 'ms'},
		{
			what: `${what}: until none is left, after the last call`,
			values: gone === undefined ? [] : [gone - surgeMs],
			unit: 'ms',
			note: `floor 1000, its idle; instances each second: ${everySoOften(sizes, 1_000).join(' ')}`,
		},
	];
}
