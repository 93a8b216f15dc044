// Functions on Docker: how long the first call of one at rest takes, with runners that wait in containers and without, beside the same runner in a raw
// container, in turn, on one daemon.

import type {Benchmark} from './harness/benchmark.js';
import {pause} from './harness/pause.js';
import type {Scope} from './harness/scope.js';
import {percentile, ratios, type Row} from './harness/table.js';
import {fineCall} from './rigs/functions/call.js';
import type {ColdPeer} from './rigs/functions/cold-peers.js';
import {startDeployed, untilAtRest, type Code, type Deployed} from './rigs/functions/deployed.js';
import {rawContainer} from './rigs/functions/raw-container.js';
import {startDockerd} from './rigs/servers/dockerd.js';
import {engineApi, type EngineApi} from './rigs/servers/engine-api.js';
import {importPython} from './rigs/servers/language-images.js';
import {until} from './rigs/servers/server.js';

const defaultRounds = 15;
const image = 'python:3-slim';
const name = 'greeting';
const code: Code = {language: 'python', text: 'def main(params):\n    return {"greeting": "Hello!"}\n'};
/** As a node has them where nothing is said. */
const runners = 2;
const sandboxes = 4;
/** What goes on after the last pod is gone, and in a runner that has just begun to wait, is over then. */
const restMs = 1_000;

export const dockerFunctionsBenchmark: Benchmark = {
	name: 'docker-functions',
	about: 'functions on Docker from rest, beside a raw container',
	async run({rounds = defaultRounds, nodeFlags}, scope) {
		const daemon = await startDockerd({teardown: scope.defer});
		const engine = engineApi(daemon.socketPath);
		scope.defer(() => engine.close());
		await importPython(daemon, image);
		const off = await deployedOn(scope, daemon.url, 0, nodeFlags);
		const on = await deployedOn(scope, daemon.url, sandboxes, nodeFlags);
		const raw = await rawContainer(scope, engine, {image, folder: on.folder});
		const took = {raw: [] as number[], off: [] as number[], on: [] as number[]};
		for (let round = 0; round < rounds; round++) {
			for (const {deployed} of [off, on]) await untilAtRest(deployed, name);
			await until('the runners to wait', async () => (await waitingIn(engine)) >= runners);
			await pause(restMs);
			took.raw.push(await raw());
			took.off.push(await off.once());
			took.on.push(await on.once());
		}
		return [
			...both('raw container: create, start, first byte', took.raw),
			...both('cold start on Docker, nothing waits', took.off),
			...both('cold start on Docker, a runner waits', took.on),
			{what: 'nothing waits / raw container', values: ratios(took.off, took.raw), unit: 'x'},
			{what: 'a runner waits / raw container', values: ratios(took.on, took.raw), unit: 'x', goal: {atMost: 0.5}},
		];
	},
};

const both = (what: string, values: readonly number[]): readonly Row[] => [
	{what, values, unit: 'ms'},
	{what: `${what}, p95`, values: [percentile(values, 0.95)], unit: 'ms'},
];

type OnDocker = {readonly deployed: Deployed; readonly folder: string; readonly once: ColdPeer};

/** A cluster with the function, which was called once: its code is there, and so are its runners soon. */
async function deployedOn(scope: Scope, url: string, warm: number, nodeFlags: readonly string[]): Promise<OnDocker> {
	const flags = ['--runtime=docker', `--docker=${url}`, `--warm-sandboxes=${warm}`, '--network=shared'];
	const deployed = await startDeployed(scope, nodeFlags, flags);
	const folder = await deployed.deploy(name, code, {idle: '1s', runtimeClassName: 'docker'});
	const once: ColdPeer = async () => (await fineCall(deployed.callable(name), {})).firstByteMs;
	await once();
	return {deployed, folder, once};
}

/** They have another name once a pod has them. */
async function waitingIn(engine: EngineApi): Promise<number> {
	const filters = {label: ['troupe.dev/sandbox=runner'], name: ['troupe_warm-'], status: ['running']};
	const found = await engine.call('GET', `/containers/json?filters=${encodeURIComponent(JSON.stringify(filters))}`);
	return Array.isArray(found) ? found.length : 0;
}
