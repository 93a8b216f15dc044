// Runs of workflows: what they begin with stays, and what a row says of them.

import test from 'ava';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {findKind, kindByPlural} from '../../api/catalogue.js';
import type {RunStatus} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import {mergePatch} from '../../api/merge-patch.js';
import type {Json, JsonObject} from '../../api/object.js';
import {mayRequest} from '../../api/roles.js';
import {manifests} from './_manifests.js';
import {cells, committed, problemsOf} from './_objects.js';

const run = (spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
	...manifests.Run,
	metadata: {...manifests.Run.metadata, ...metadata},
	spec: {...manifests.Run.spec, ...spec},
});

test('the input of a run is any JSON, as it is, and {} where it is left out', t => {
	const inputOf = (spec: JsonObject): unknown => {
		const admitted = admitCreate({...manifests.Run, spec});
		return admitted.ok ? (admitted.value.spec as JsonObject)['input'] : admitted.error.message;
	};
	for (const input of [null, 0, '', [null, {a: null}], {a: {b: null}}] satisfies Json[])
		t.deepEqual(inputOf({workflow: 'flow', input}), input);
	t.deepEqual(inputOf({workflow: 'flow'}), {});
});

test('it has the label of its workflow, whatever is written', t => {
	const labelsOf = (manifest: unknown): unknown => committed(manifest).metadata.labels;
	t.deepEqual(labelsOf(run()), {'troupe.dev/workflow': 'flow'});
	t.deepEqual(labelsOf(run({}, {labels: {a: 'b', 'troupe.dev/workflow': 'other'}})), {a: 'b', 'troupe.dev/workflow': 'flow'});
	const old = committed(run());
	const admitted = admitUpdate({...old, metadata: {...old.metadata, labels: {a: 'b'}}}, old);
	t.deepEqual(admitted.ok && admitted.value.metadata.labels, {a: 'b', 'troupe.dev/workflow': 'flow'});
});

const deep = (levels: number): Json => Array.from({length: levels}).reduce<Json>(inner => ({inner}), 1);

for (const [title, manifest, problem] of [
	['without a workflow', run({workflow: undefined}), /^spec\.workflow: is required$/],
	['of a workflow elsewhere', run({workflow: 'shop/flow'}), /^spec\.workflow: must be lower-case letters.* got "shop\/flow"$/],
	['of a workflow that none can be', run({workflow: 'x'.repeat(64)}), /^spec\.workflow: must have at most 63 characters/],
	['that begins nowhere', run({startAt: ''}), /^spec\.startAt: must be the name of a state, got ""$/],
	['whose input is too large', run({input: 'x'.repeat(limits.statesDataBytes)}), /^spec\.input: has more than 262144 bytes$/],
	['whose input is too deep', run({input: deep(limits.statesDataDepth + 1)}), /^spec\.input: is nested deeper than 60 levels$/],
	['with a field that is unknown', run({inputs: {}}), /^spec\.inputs: unknown field "inputs"; did you mean "input"\?$/],
] as const)
	test(`a run ${title} is refused`, t => {
		const [first = '', ...more] = problemsOf(manifest);
		t.regex(first, problem);
		t.deepEqual(more, []);
	});

test('an input as deep as the data of runs may be is taken, and can be changed around', t => {
	const input = deep(limits.statesDataDepth);
	const old = committed(run({input}), {phase: 'Succeeded', output: input});
	t.deepEqual(problemsOf(mergePatch(old as unknown as Json, {metadata: {labels: {a: 'b'}}}), old), []);
});

test('what a run begins with cannot be changed, and its end cannot be taken back', t => {
	const old = committed(run({startAt: 'First'}));
	const changed = (spec: JsonObject, from = old): readonly string[] => problemsOf(mergePatch(from as unknown as Json, {spec}), from);
	const words = 'cannot be changed; delete the object and create it again';
	t.deepEqual(changed({workflow: 'other', input: {x: 2}, startAt: null}), [
		`spec.workflow: ${words}`,
		`spec.input: ${words}`,
		`spec.startAt: ${words}`,
	]);
	t.deepEqual(changed({suspend: true, ttlSecondsAfterFinished: 9}), []);
	t.deepEqual(changed({cancel: true}), []);
	const cancelled = committed(run({cancel: true}));
	t.deepEqual(changed({cancel: false}, cancelled), ['spec.cancel: cannot be taken back']);
	t.deepEqual(changed({cancel: null}, cancelled), ['spec.cancel: cannot be taken back']);
	t.deepEqual(changed({suspend: true}, cancelled), []);
});

test('an output of null is an output', t => {
	const old = committed(run());
	const admitted = admitUpdate({...old, status: {phase: 'Succeeded', output: null}}, old);
	t.deepEqual(admitted.ok && admitted.value.status, {phase: 'Succeeded', output: null});
});

const columns: readonly (readonly [status: RunStatus | undefined, cells: readonly unknown[]])[] = [
	[undefined, ['Pending', '<none>', 0, '<none>']],
	[
		{
			phase: 'Running',
			startTime: '2026-01-01T00:00:00.500Z',
			steps: 7,
			at: [
				{state: 'Charge', count: 1},
				{state: 'Pack', count: 12},
			],
		},
		['Running', 'Charge, Pack x12', 7, '99s'],
	],
	[{phase: 'Suspended', at: 'ABCDE'.split('').map(state => ({state, count: 1}))}, ['Suspended', 'A, B, C + 2 more...', 0, '<none>']],
	[
		{
			phase: 'Failed',
			startTime: '2026-01-01T00:00:00.000Z',
			completionTime: '2026-01-01T00:00:03.999Z',
			steps: 3,
			at: [],
			error: {error: 'CardDeclined', cause: 'no money'},
		},
		['Failed', 'CardDeclined', 3, '3s'],
	],
	[{phase: 'Succeeded', startTime: '2026-01-01T00:00:00Z', completionTime: '2026-01-01T00:00:03Z'}, ['Succeeded', '<none>', 0, '3s']],
];

test('a row says how a run is and where', t => {
	const nowMs = Date.parse('2026-01-01T00:01:40Z');
	const rowOf = (status: RunStatus | undefined, metadata = {}): readonly unknown[] => {
		const object = committed(run(), status);
		return (kindByPlural('runs')?.columns ?? []).map(({cell}) => cell({...object, metadata: {...object.metadata, ...metadata}}, nowMs));
	};
	for (const [status, expected] of columns) t.deepEqual(rowOf(status), ['flow-1', 'flow', ...expected, '100s']);
	const leaving = {deletionTimestamp: '2026-01-01T00:01:00Z'};
	t.is(rowOf({phase: 'Running'}, leaving)[2], 'Terminating');
	t.is(rowOf({phase: 'Failed'}, leaving)[2], 'Failed');
});

test('runs are found by their phase and their workflow, and are not among all', t => {
	const kind = findKind('run');
	const object = committed(run(), {phase: 'Failed'});
	t.deepEqual(
		Object.entries(kind?.selectableFields ?? {}).map(([path, of]) => [path, of(object)]),
		[
			['status.phase', 'Failed'],
			['spec.workflow', 'flow'],
		],
	);
	t.is(kind?.selectableFields?.['status.phase']?.(committed(run())), 'Pending');
	t.is(kind?.categories, undefined);
	t.deepEqual(kind?.initialStatus?.(object), {phase: 'Pending'});
	t.is(cells('runs', object)[2], 'Failed');
});

test('who may write objects may start and end runs, and who reads them sees them', t => {
	for (const plural of ['workflows', 'runs']) {
		t.true(mayRequest({name: 'a', role: 'edit'}, 'create', plural));
		t.true(mayRequest({name: 'a', role: 'view'}, 'list', plural));
		for (const role of ['view', 'tool'] as const) t.false(mayRequest({name: 'a', role}, 'create', plural));
		t.false(mayRequest({name: 'a', role: 'node', node: 'a'}, 'get', plural));
	}
});
