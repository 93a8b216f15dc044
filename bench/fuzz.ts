// What the doors of a cluster take from strangers and from those with a login: a hundred thousand requests and packets each, sound, nearly
// sound and rubbish. Counted is what must not be: answers that blame the server, inputs that nobody answered, memory that stays used.

import {Agent, request as httpsRequest} from 'node:https';
import {connect} from 'node:net';
import {readFileSync} from 'node:fs';
import fc from 'fast-check';
import {tokensPath} from '../api/join.js';
import {topicPrefix} from '../api/topics.js';
import {readEndpoints} from '../cli/files/endpoints.js';
import {homeOf} from '../cli/files/home.js';
import {line} from './rigs/command-line.js';
import {requestOf, type FuzzRequest} from './rigs/fuzz/requests.js';
import {connectPacket, packet, pingPacket, publishPacket, subscribePacket, text, unsubscribePacket} from './rigs/mqtt/packets.js';
import type {Benchmark} from './harness/benchmark.js';
import {startCluster, temporaryFolder, temporaryHome, type BenchCluster} from './rigs/cluster/cluster.js';
import {lines} from './rigs/fuzz/lines.js';
import {rssBytes} from './harness/process-figures.js';
import {median, type Row} from './harness/table.js';

const defaultInputs = 100_000;
const atOnce = 8;
/** An input that is not answered by then is one too many. */
const patienceMs = 20_000;
/** Memory is looked at after so many inputs; the last fifth of these looks is compared with the second: caches and compiled code are there by then. */
const lookInputs = 500;
/** The highest one in docs/cli.md. */
const lastExitCode = 6;
const mebibyte = 1_048_576;
const seed = 20_261_120;

export const fuzzBenchmark: Benchmark = {
	name: 'fuzz',
	about: 'inputs of every sort at the doors of a cluster with simulated pods (--rounds: how many a door)',
	async run({rounds = defaultInputs}, scope) {
		const home = temporaryHome(scope);
		const cluster = await startCluster(scope, home, {flags: ['--runtime=simulated', '--store=memory'], abrupt: true});
		const rows = [
			...(await onTheCommandLine(temporaryFolder(scope, 'nothing'), rounds)),
			...(await overHttp(cluster, rounds)),
			...(await overMqtt(cluster, rounds)),
		];
		const startedAt = performance.now();
		await cluster.client.json({path: '/version'});
		return [
			...rows,
			{what: 'a polite request after all of that', values: [performance.now() - startedAt], unit: 'ms', goal: {atMost: 1_000}},
		];
	},
};

type Tally = {sent: number; readonly bad: string[]; unanswered: number};

/** Sends inputs, some at a time, and says how memory went meanwhile. */
async function deluge<Input>(
	door: string,
	{pid}: {readonly pid: number},
	count: number,
	inputs: fc.Arbitrary<Input>,
	send: (input: Input, tally: Tally) => Promise<void>,
): Promise<readonly Row[]> {
	const tally: Tally = {sent: 0, bad: [], unanswered: 0};
	const portion = 1_000;
	let waiting: Input[] = [];
	let portions = 0;
	const memory: number[] = [];
	const startedAt = performance.now();
	const sendAll = async (): Promise<void> => {
		for (;;) {
			if (tally.sent >= count) return;
			if (waiting.length === 0) waiting = fc.sample(inputs, {numRuns: portion, seed: seed + portions++});
			const input = waiting.pop();
			if (input === undefined) return;
			tally.sent++;
			await send(input, tally);
			if (tally.sent >= (memory.length + 1) * lookInputs) memory.push(rssBytes(pid));
		}
	};
	await Promise.all(Array.from({length: atOnce}, sendAll));
	const fifth = Math.floor(memory.length / 5);
	const warm = median(memory.slice(fifth, 2 * fifth));
	const growth = 100 * (median(memory.slice(-fifth)) / warm - 1);
	return [
		{
			what: `${door}: inputs`,
			values: [tally.sent],
			unit: '',
			note: `${Math.round(tally.sent / ((performance.now() - startedAt) / 1_000))}/s`,
		},
		{
			what: `${door}: answered with a fault of the server`,
			values: [tally.bad.length],
			unit: '',
			goal: {atMost: 0},
			note: tally.bad.slice(0, 2).join('; '),
		},
		{what: `${door}: neither answered nor cut within ${patienceMs / 1_000} s`, values: [tally.unanswered], unit: '', goal: {atMost: 0}},
		{
			what: `${door}: growth of RSS from the second to the last fifth`,
			values: [growth],
			unit: '%',
			goal: {atMost: 10},
			note: `${Math.round(warm / mebibyte)} MiB then`,
		},
	];
}

// ---- the command line ------------------------------------------------------------------------------------------------------

/** Each line runs to its end in this process. What it answers with is one of the exit codes, and no line of it calls itself a bug. */
const onTheCommandLine = (home: string, count: number): Promise<readonly Row[]> =>
	deluge('command line', process, count, lines, async ({args, input}, tally) => {
		const late = setTimeout(() => {
			tally.unanswered++;
			tally.bad.push(`no end: ${args.join(' ')}`);
		}, patienceMs);
		try {
			const {code, err} = await line(args, {home, input});
			if (code === null || code < 0 || code > lastExitCode || err.includes('bug in troupe'))
				tally.bad.push(`${args.join(' ')}: ${code} ${err.slice(0, 200)}`);
		} catch (error) {
			tally.bad.push(`${args.join(' ')}: ${String(error)}`);
		} finally {
			clearTimeout(late);
		}
	});

// ---- HTTP ------------------------------------------------------------------------------------------------------------------

async function overHttp(cluster: BenchCluster, count: number): Promise<readonly Row[]> {
	const {ca, token} = loginOf(cluster);
	const {token: viewer} = (await cluster.client.json({method: 'POST', path: tokensPath, body: {name: 'viewer', role: 'view'}})) as {
		token: string;
	};
	const tokens = new Map([
		['Bearer admin', `Bearer ${token}`],
		['Bearer viewer', `Bearer ${viewer}`],
	]);
	const agent = new Agent({keepAlive: true, maxSockets: atOnce, ca});
	const {hostname, port} = new URL(cluster.client.server);
	const send = ({method, path, query, type, accept, token: name, body}: FuzzRequest, tally: Tally): Promise<void> =>
		new Promise(resolve => {
			const authorization = tokens.get(name) ?? name;
			const headers = {
				...(type === '' ? {} : {'content-type': type}),
				...(accept === '' ? {} : {accept}),
				...(authorization === '' ? {} : {authorization}),
				'content-length': Buffer.byteLength(body),
			};
			const request = httpsRequest({hostname, port, method, path: path + query, headers, agent, timeout: patienceMs}, response => {
				const status = response.statusCode ?? 0;
				if (status >= 500) tally.bad.push(`${status} ${method} ${path}${query}`);
				response.on('error', () => undefined);
				response.once('close', resolve);
				if (query.includes('watch') || query.includes('follow')) response.destroy();
				else response.resume();
			});
			request.once('timeout', () => {
				tally.unanswered++;
				request.destroy();
			});
			request.on('error', () => resolve());
			request.end(body);
		});
	try {
		return await deluge('HTTP', cluster, count, requestOf, send);
	} finally {
		agent.destroy();
	}
}

function loginOf({home}: BenchCluster): {readonly ca: string; readonly token: string} {
	const files = homeOf(home);
	return {ca: readFileSync(files.ca, 'utf8'), token: readFileSync(files.adminToken, 'utf8').trim()};
}

// ---- MQTT ------------------------------------------------------------------------------------------------------------------

const levels = fc.constantFrom(
	'troupe',
	'v1',
	'objects',
	'pods',
	'default',
	'_',
	'actors',
	'control',
	'inbox',
	'nodes',
	'beat',
	'+',
	'#',
	'',
	'$SYS',
	'web',
);
const topics = fc.oneof(
	fc.array(levels, {maxLength: 8}).map(parts => parts.join('/')),
	fc.array(levels, {maxLength: 5}).map(parts => topicPrefix + parts.join('/')),
	fc.string({maxLength: 30, unit: 'binary'}),
	fc.uint8Array({maxLength: 20}).map(bytes => Buffer.from(bytes)),
);
const payloads = fc.oneof(
	fc.json(),
	fc.uint8Array({maxLength: 200}).map(bytes => Buffer.from(bytes)),
	fc.constantFrom('{"boot":"x","sequence":1}', '{"type":"hello"}', '[[[[[[[[', '"'),
);
const qos = fc.constantFrom(0, 1, 2);
const packets = fc.oneof(
	{
		weight: 3,
		arbitrary: fc
			.tuple(topics, payloads, fc.constantFrom(0, 1, 2), fc.boolean())
			.map(([topic, payload, level, retain]) => publishPacket(topic, payload, {qos: level, retain})),
	},
	{weight: 2, arbitrary: fc.tuple(fc.nat(65_535), topics, qos).map(([id, filter, level]) => subscribePacket(id, [filter, level]))},
	{weight: 1, arbitrary: fc.tuple(fc.nat(65_535), fc.string({maxLength: 20})).map(([id, filter]) => unsubscribePacket(id, filter))},
	{weight: 1, arbitrary: fc.tuple(fc.nat(255), fc.uint8Array({maxLength: 60})).map(([first, body]) => packet(first, Buffer.from(body)))},
	{weight: 1, arbitrary: fc.uint8Array({minLength: 1, maxLength: 60}).map(bytes => Buffer.from(bytes))},
	{weight: 1, arbitrary: fc.constant(packet(0x30, text('troupe/v1/objects'), Buffer.alloc(2_000_000)))},
);
/** A connection: with a login, a wrong one or none; then packets. */
const sessions = fc.record({
	login: fc.constantFrom('admin', 'admin', 'admin', 'wrong', 'none'),
	id: fc.string({maxLength: 12}),
	packets: fc.array(packets, {minLength: 1, maxLength: 12}),
});

async function overMqtt(cluster: BenchCluster, count: number): Promise<readonly Row[]> {
	const {token} = loginOf(cluster);
	const url = new URL(readEndpoints(cluster.home)?.mqtt ?? '');
	const send = async (session: typeof sessions extends fc.Arbitrary<infer Value> ? Value : never, tally: Tally): Promise<void> => {
		const socket = connect({port: Number(url.port), host: url.hostname});
		socket.on('error', () => undefined);
		socket.resume();
		const user = session.login === 'none' ? undefined : 'admin';
		const password = session.login === 'none' ? undefined : session.login === 'admin' ? token : 'wrong';
		const closed = new Promise(resolve => socket.once('close', resolve));
		const late = setTimeout(() => {
			tally.unanswered++;
			socket.destroy();
		}, patienceMs);
		// It says goodbye right away: a packet that claims to be longer than what came is waited for no longer.
		socket.end(Buffer.concat([connectPacket({user, password, id: session.id}), ...session.packets, pingPacket]));
		await closed;
		clearTimeout(late);
		tally.sent += session.packets.length - 1;
	};
	return deluge('MQTT', cluster, count, sessions, send);
}
