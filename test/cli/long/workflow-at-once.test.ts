// A thousand runs of an example at once in the control system, with the answers of its mocks: each ends as its case says, and nothing is left of it.

import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import test from 'ava';
import {parse} from 'yaml';
import type {Run} from '../../../api/kinds/run.js';
import {deepEqual} from '../../../api/equal.js';
import type {Answer} from '../../../actors/workflows/rehearsal.js';
import {readCases, type MockCase} from '../../../cli/workflow/mock-file.js';
import {definitionOf} from '../../api/states-language/_states.js';
import {RunCluster, type Answering} from '../../actors/workflows/_run-cluster.js';
import {root} from '../../docs/_pages.js';

const runsAtOnce = 1_000;
/** Beyond what the process had before. */
const mostBytes = 500_000_000;
const mostMs = 240_000;

type Example = {readonly definition: object; readonly cases: readonly MockCase[]};

async function exampleIn(file: string, mocks: string): Promise<Example> {
	const folder = path.join(root, 'examples/workflows');
	const definition = parse(await readFile(path.join(folder, file), 'utf8')) as object;
	const read = await readCases(path.join(folder, mocks), Readable.from([]), definitionOf(definition));
	if (!read.ok) throw new Error(JSON.stringify(read.faults));
	return {definition, cases: read.cases};
}

/** By the run and the state: the next answer of its mock. */
function answeringBy(cases: ReadonlyMap<string, MockCase>): Answering {
	const counts = new Map<string, number>();
	return ({run}, state) => {
		const place = `${run.name} ${state}`;
		const count = counts.get(place) ?? 0;
		counts.set(place, count + 1);
		const given = cases.get(run.name)?.answers.get(state);
		const answer = Array.isArray(given) ? (given as readonly Answer[])[count] : (given as Answer | undefined);
		if (answer === undefined || 'silent' in answer) throw new Error(`${place} has no answer for call ${count + 1}`);
		const outcome =
			'output' in answer ? ({type: 'succeeded', output: answer.output} as const) : ({type: 'failed', error: answer.error} as const);
		return {afterMs: answer.seconds * 1_000, outcome};
	};
}

function endsAs({status}: Run, {expected}: Partial<MockCase> = {}): boolean {
	if (expected === undefined) return status?.phase === 'Succeeded';
	if ('output' in expected) return status?.phase === 'Succeeded' && deepEqual(status.output ?? null, expected.output);
	const {error, cause} = status?.error ?? {};
	return status?.phase === 'Failed' && error === expected.error && (expected.cause === undefined || cause === expected.cause);
}

for (const [file, mocks] of [
	['order.asl.json', 'order.mocks.yaml'],
	['media.asl.yaml', 'media.mocks.yaml'],
	['approval.asl.yaml', 'approval.mocks.yaml'],
] as const)
	test(`${file}: a thousand runs at once end as the cases of its mocks say, and leave nothing`, async t => {
		t.timeout(mostMs);
		const {definition, cases} = await exampleIn(file, mocks);
		const caseOf = new Map<string, MockCase>();
		const cluster = new RunCluster(answeringBy(caseOf));
		const runs = (): readonly Run[] => [...cluster.durable.index.list('runs')] as Run[];
		cluster.time.advance(Date.parse('2030-03-01T00:00:00Z') - cluster.time.nowMs());
		cluster.workflow('w', definition);
		const [beganMs, before] = [performance.now(), process.memoryUsage().rss];
		for (let at = 0; at < runsAtOnce; at++) {
			const [name, each] = [`run-${at}`, cases[at % cases.length] as MockCase];
			caseOf.set(name, each);
			cluster.begin('w', name, each.input ?? {}, {ttlSecondsAfterFinished: 31_000_000});
		}
		t.true(runs().filter(({status}) => status?.phase === 'Running').length > runsAtOnce / 2);
		let most = before;
		for (let turn = 0; cluster.time.fireNext(); turn++) {
			cluster.settle();
			if (turn % 1_000 > 0) continue;
			// What a test keeps of all that has changed is not the cluster's.
			cluster.changes.length = 0;
			most = Math.max(most, process.memoryUsage().rss);
			if (runs().every(({status}) => status?.completionTime !== undefined)) break;
		}
		const wrong = runs().filter(run => !endsAs(run, caseOf.get(run.metadata.name)));
		t.deepEqual(
			wrong.slice(0, 5).map(({metadata, status}) => ({name: metadata.name, case: caseOf.get(metadata.name)?.name, status})),
			[],
		);
		t.is(runs().length, runsAtOnce);
		t.deepEqual(cluster.violations, []);
		t.deepEqual(cluster.stored('/troupe/parts/'), []);
		const grown = most - before;
		t.true(grown < mostBytes, `${Math.round(grown / 1e6)} MB`);
		t.log(`${cluster.begun.length} tasks in ${Math.round(performance.now() - beganMs)} ms, ${Math.round(grown / 1e6)} MB`);
	});
