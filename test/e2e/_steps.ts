// A workflow that is disturbed while many runs of it go: a function tells a listener here of each call, by its key.

import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {Run} from '../../api/kinds/run.js';
import type {Owner} from '../../bench/rigs/owner.js';
import {deploy} from './_functions.js';
import type {Home} from './_rig.js';

export type Steps = {
	/** What the function was called for: the keys of the attempts, in order. A call whose answer got lost shows as the same key once more. */
	readonly keys: readonly string[];
	/** Deploys the function and the workflow, and starts so many runs. */
	readonly begin: (home: Home, count: number) => Promise<void>;
	/** Of the steps of all runs, so much was called, whatever became of it. */
	readonly called: () => number;
};

/** Each run calls so often. */
const callsEach = 9;

const task = (Next: string | undefined, more: object = {}): object => ({
	Type: 'Task',
	Resource: 'step',
	...(Next === undefined ? {End: true} : {Next}),
	...more,
});

/** `more`: what each of its tasks has besides. */
const definitionWith = (more: object): object => ({
	StartAt: 'One',
	States: {
		One: task('Two', more),
		Two: task('Each', more),
		Each: {
			Type: 'Map',
			ItemsPath: '$.items',
			MaxConcurrency: 2,
			ItemProcessor: {StartAt: 'Item', States: {Item: task(undefined, more)}},
			ResultPath: '$.items',
			Next: 'Pause',
		},
		Pause: {Type: 'Wait', Seconds: 1, Next: 'Both'},
		Both: {
			Type: 'Parallel',
			Branches: [
				{StartAt: 'Left', States: {Left: task('Left2', {ResultPath: '$.left', ...more}), Left2: task(undefined, more)}},
				{StartAt: 'Right', States: {Right: task(undefined, more)}},
			],
			ResultSelector: {'n.$': '$[0].n', 'items.$': '$[0].items'},
			Next: 'Last',
		},
		Last: task('Far', more),
		Far: {Type: 'Choice', Choices: [{Variable: '$.n', NumericGreaterThan: 3, Next: 'Done'}], Default: 'Bad'},
		Bad: {Type: 'Fail', Error: 'Bad'},
		Done: {Type: 'Succeed'},
	},
});

const input = {n: 0, items: [{n: 10}, {n: 20}, {n: 30}]};
const output = {n: 4, items: [{n: 11}, {n: 21}, {n: 31}], skipped: true};

/** The listener goes with the owner. */
export async function openSteps(owner: Owner, more: object = {}): Promise<Steps> {
	const keys: string[] = [];
	let expected = Infinity;
	const listener = createServer((request, response) => {
		request.resume().once('end', () => {
			keys.push(decodeURIComponent((request.url ?? '/').slice(1)));
			response.end();
		});
	});
	await new Promise<void>(resolve => void listener.listen(0, '127.0.0.1', resolve));
	owner.teardown(() => void listener.close().closeAllConnections());
	const {port} = listener.address() as AddressInfo;
	return {
		keys,
		async begin(home, count) {
			expected = count * callsEach;
			await deploy(
				home,
				'step',
				// It tells its key before it answers.
				`export default async (input, {headers}) => {
	await fetch('http://127.0.0.1:${port}/' + encodeURIComponent(headers['x-troupe-task-key']), {method: 'POST'});
	return input.n === 3 ? {...input, n: 4, skipped: true} : {...input, n: input.n + 1};
};
`,
				{concurrency: 16},
			);
			const definition = definitionWith(more);
			await home.apply({apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: 'steps'}, spec: {definition}});
			await home.apply(
				...Array.from({length: count}, (_, n) => ({
					apiVersion: 'troupe.dev/v1',
					kind: 'Run',
					metadata: {name: `run-${n}`},
					spec: {workflow: 'steps', input},
				})),
			);
		},
		called: () => new Set(keys.map(stepOf)).size / expected,
	};
}

/** A key without its attempt. */
const stepOf = (key: string): string => key.replace(/\.\d+$/, '');

/** What is wrong about runs that are over, and about the calls that were made for them. */
export function wrongAbout(runs: readonly Run[], keys: readonly string[]): readonly string[] {
	const ends = runs.flatMap(({metadata: {name}, status}) =>
		JSON.stringify(sorted(status?.output)) === JSON.stringify(sorted(output)) ? [] : [`${name}: ${JSON.stringify(status)}`],
	);
	const steps = new Set(keys.map(stepOf)).size;
	const count = steps === callsEach * runs.length ? [] : [`${steps} steps were called instead of ${callsEach * runs.length}`];
	const again = [...stagesByRun(keys)].flatMap(([run, stages]) =>
		stages.every((stage, i) => stage >= (stages[i - 1] ?? 0)) ? [] : [`a committed step of ${run} was called again: ${stages.join(' ')}`],
	);
	return [...ends, ...count, ...again];
}

const sorted = (value: unknown): unknown =>
	typeof value === 'object' && value !== null && !Array.isArray(value)
		? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
		: value;

const stageOf: Readonly<Record<string, number>> = {One: 0, Two: 1, Item: 2, Left: 3, Right: 3, Left2: 3, Last: 4};

/** The stages of each run in the order of its calls: those of one stage may be under way together. */
function stagesByRun(keys: readonly string[]): ReadonlyMap<string, readonly number[]> {
	const stages = new Map<string, number[]>();
	for (const key of keys) {
		const run = key.slice(0, key.indexOf('/'));
		const state = /\d+-(\w+)\.\d+$/.exec(key)?.[1] ?? '';
		stages.set(run, [...(stages.get(run) ?? []), stageOf[state] ?? Number.NaN]);
	}
	return stages;
}
