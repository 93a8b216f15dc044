// From asking a `troupe up` for a run until its first task is called, a function that is warm, beside a call of the same function at the web door.

import type {Json} from '../api/object.js';
import type {Run} from '../api/kinds/run.js';
import type {Client} from '../cli/client.js';
import {pathOf, resourceOf} from '../cli/cluster/resources.js';
import {createScope, type Scope} from './harness/scope.js';
import {percentile, type Row} from './harness/table.js';
import {fineCall, type Callable} from './rigs/functions/call.js';
import {startDeployed, untilReady, type Code} from './rigs/functions/deployed.js';
import {followObjects, type Following} from './rigs/cluster/waiting.js';
import {calling, turning} from './rigs/workflows/definitions.js';
import {latencyRows} from './workflow-steps.js';

const starts = 200;
const warmStarts = 50;
const underWay = 100;

/** It says when it was called, by the clock of the machine. */
const call: Code = {language: 'nodejs', text: 'export default () => ({atMs: performance.timeOrigin + performance.now()});\n'};
const wait: Code = {language: 'nodejs', text: 'export default () => new Promise(resolve => setTimeout(() => resolve({}), 1_000));\n'};

type Answer = {readonly atMs: number};

export async function functionRows(scope: Scope, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	const inner = createScope();
	scope.defer(inner.close);
	const deployed = await startDeployed(inner, nodeFlags);
	const {client} = deployed;
	await deployed.deploy('call', call, {idle: '10m', max: 1});
	await deployed.deploy('wait', wait, {idle: '10m', max: 1, concurrency: underWay});
	for (const name of ['call', 'wait']) {
		await fineCall(deployed.callable(name), {});
		await untilReady(deployed, name, 1);
	}
	await create(client, 'Workflow', 'calling', {definition: calling});
	await create(client, 'Workflow', 'turning', {definition: turning('wait')});
	const following = await followObjects(client, 'runs');
	inner.defer(following.close);
	await startTimes(client, following, 'warm', warmStarts);
	const direct = await callTimes(deployed.callable('call'));
	const atRest = await startTimes(client, following, 'rest', starts);
	for (let at = 0; at < underWay; at++) await create(client, 'Run', `other-${at}`, {workflow: 'turning'});
	await following.until('the others to be under way', runs => runningIn(runs) === underWay);
	const busy = await startTimes(client, following, 'busy', starts);
	await inner.close();
	const p50 = (values: readonly number[]): number => percentile(values, 0.5);
	return [
		...latencyRows('troupe up: a warm function at the web door, from the request to its begin', direct),
		...latencyRows('troupe up: start to the first call of a warm function, at rest', atRest),
		{what: 'troupe up: start to the first call, p50 / at the web door', values: [p50(atRest) / p50(direct)], unit: 'x'},
		...latencyRows(`troupe up: start to the first call, ${underWay} runs that call what takes a second`, busy),
		{what: `troupe up: start to the first call, p50, ${underWay} runs / at rest`, values: [p50(busy) / p50(atRest)], unit: 'x'},
	];
}

const create = (client: Client, kind: 'Run' | 'Workflow', name: string, spec: Json): Promise<unknown> =>
	client.json({
		method: 'POST',
		path: pathOf(resourceOf(kind === 'Run' ? 'runs' : 'workflows'), 'default'),
		body: {apiVersion: 'troupe.dev/v1', kind, metadata: {name}, spec},
	});

const runningIn = (runs: Following['objects']): number =>
	[...runs.values()].filter(run => run.metadata.name.startsWith('other-') && (run as Run).status?.phase === 'Running').length;

const nowMs = (): number => performance.timeOrigin + performance.now();

async function callTimes(where: Callable): Promise<readonly number[]> {
	const times: number[] = [];
	for (let at = 0; at < starts; at++) {
		const askedAtMs = nowMs();
		times.push(((await fineCall(where, {})).value as Answer).atMs - askedAtMs);
	}
	return times;
}

/** One run after the other. */
async function startTimes(client: Client, following: Following, prefix: string, count: number): Promise<readonly number[]> {
	const times: number[] = [];
	for (let at = 0; at < count; at++) {
		const name = `${prefix}-${at}`;
		const askedAtMs = nowMs();
		const over = following.until(`the end of ${name}`, runs => {
			const {status} = (runs.get(name) ?? {}) as Partial<Run>;
			return status?.completionTime === undefined ? undefined : status;
		});
		const [{phase, output}] = await Promise.all([over, create(client, 'Run', name, {workflow: 'calling'})]);
		if (phase !== 'Succeeded') throw new Error(`the run ${name} has ended with ${phase ?? 'nothing'}`);
		times.push((output as Answer).atMs - askedAtMs);
	}
	return times;
}
