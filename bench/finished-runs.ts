// What runs that are over cost a cluster: resident memory, and the time of its next start, beside ConfigMaps that are as large.

import type {Run} from '../api/kinds/run.js';
import type {Json} from '../api/object.js';
import type {Client} from '../cli/client.js';
import {pathOf, resourceOf} from '../cli/cluster/resources.js';
import {pause} from './harness/pause.js';
import type {Scope} from './harness/scope.js';
import type {Row} from './harness/table.js';
import {bytesOfIdle} from './rigs/functions/idle-objects.js';
import {short} from './rigs/workflows/definitions.js';

const megabyte = 1_000_000;
const betweenLooksMs = 250;
const workflow = 'short';
/** Those that were made last are over after all others. */
const lastOnes = 64;

export async function finishedRows(scope: Scope, count: number, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	let bytes = 0;
	let startedAt = 0;
	let seconds = 0;
	const runs = await bytesOfIdle(scope, 'runs', many(count, runOf), nodeFlags, {
		async before(client) {
			await client.json({method: 'POST', path: pathIn('workflows'), body: workflowOf()});
			startedAt = performance.now();
		},
		async after(client) {
			for (let at = Math.max(0, count - lastOnes); at < count; at++) bytes = await sizeOnceOver(client, nameOf(at));
			seconds = (performance.now() - startedAt) / 1_000;
		},
	});
	const maps = await bytesOfIdle(
		scope,
		'configmaps',
		many(count, at => mapOf(at, bytes)),
		nodeFlags,
	);
	const what = `${count} runs that are over`;
	const each = 'a run that is over';
	return [
		{what: `${what}: asked for and run, one client with 16 requests open`, values: [count / seconds], unit: '/s'},
		{what: `${what}: RSS, just written`, values: [runs.written / megabyte], unit: 'MB'},
		{what: `${what}: RSS, loaded by a start`, values: [runs.loaded / megabyte], unit: 'MB'},
		{what: `${each}, just written`, values: [runs.written / count], unit: 'bytes', note: `its object has ${bytes}`},
		{what: `${each}, loaded by a start`, values: [runs.loaded / count], unit: 'bytes'},
		{what: `a ConfigMap as large, loaded by a start`, values: [maps.loaded / count], unit: 'bytes'},
		{what: `${each} / a ConfigMap as large, just written`, values: [runs.written / maps.written], unit: 'x'},
		{what: `${each} / a ConfigMap as large, loaded by a start`, values: [runs.loaded / maps.loaded], unit: 'x'},
		{what: `${what}: a start until the API answers`, values: [runs.answersMs / 1_000], unit: 's'},
		{what: `${count} ConfigMaps as large: a start until the API answers`, values: [maps.answersMs / 1_000], unit: 's'},
		{what: 'a start with runs / with ConfigMaps', values: [runs.answersMs / maps.answersMs], unit: 'x'},
	];
}

const many = (count: number, object: (at: number) => Json): readonly Json[] => Array.from({length: count}, (_, at) => object(at));

const pathIn = (kind: 'runs' | 'workflows'): string => pathOf(resourceOf(kind), 'default');
const nameOf = (at: number): string => `order-${at}`;

const workflowOf = (): Json => ({apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: workflow}, spec: {definition: short}});

const runOf = (at: number): Json => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Run',
	metadata: {name: nameOf(at)},
	spec: {workflow, input: {amount: at % 1_000, customer: 'somebody@example.com'}},
});

/** What its metadata have is not in its data. */
const bareBytes = 300;

const mapOf = (at: number, bytes: number): Json => ({
	apiVersion: 'v1',
	kind: 'ConfigMap',
	metadata: {name: nameOf(at)},
	data: {text: String(at).padEnd(Math.max(0, bytes - bareBytes), 'x')},
});

/** Of its object as JSON, once it has come to its end. */
async function sizeOnceOver(client: Client, name: string): Promise<number> {
	for (;;) {
		const run = (await client.json({path: `${pathIn('runs')}/${name}`})) as Run;
		if (run.status?.completionTime !== undefined) return JSON.stringify(run).length;
		await pause(betweenLooksMs);
	}
}
