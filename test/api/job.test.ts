// Jobs: shape, defaults, rules, rows, and what follows from the uid.

import test from 'ava';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {jobLabels, labelsOfJob} from '../../api/job-labels.js';
import {
	below,
	formatIntervals,
	includes,
	indexesOutside,
	parseIntervals,
	sizeOf,
	sizeOfBoth,
	union,
	withIndexes,
} from '../../api/intervals.js';
import {job} from '../../api/kinds/job.js';
import {mergePatch} from '../../api/merge-patch.js';
import type {ApiObject, Json, JsonObject} from '../../api/object.js';
import {tableOf} from '../../api/table.js';
import {aContainer, committed, problemsOf} from './_objects.js';

const manifest = {
	apiVersion: 'batch/v1',
	kind: 'Job',
	metadata: {name: 'once'},
	spec: {template: {spec: {containers: [aContainer()], restartPolicy: 'Never'}}},
};
const patched = (patch: JsonObject): Json => mergePatch(manifest, patch);
const indexed = {completionMode: 'Indexed', completions: 4} as const;

/** As the cluster keeps it. */
const kept = (patch: JsonObject = {}): ApiObject => {
	const object = committed(patched(patch));
	return job.made?.(object) ?? object;
};

const specOf = (given: unknown): unknown => {
	const admitted = admitCreate(given);
	return admitted.ok ? admitted.value.spec : admitted.error.message;
};

test('Kubernetes’ defaults of a Job are filled in', t => {
	t.like(specOf(manifest), {
		parallelism: 1,
		completions: 1,
		completionMode: 'NonIndexed',
		backoffLimit: 6,
		podReplacementPolicy: 'TerminatingOrFailed',
		suspend: false,
	});
	t.false('completions' in (specOf(patched({spec: {parallelism: 3}})) as object));
	t.like(specOf(patched({spec: {...indexed, backoffLimitPerIndex: 1}})), {backoffLimit: 2_147_483_647});
	const podFailurePolicy = {rules: [{action: 'Ignore', onPodConditions: [{type: 'DisruptionTarget'}]}]};
	t.like(specOf(patched({spec: {podFailurePolicy}})), {podReplacementPolicy: 'Failed'});
});

test('a job finds its pods by its uid, and its manifest can be applied again', t => {
	const object = kept();
	t.like(object.spec, {
		selector: {matchLabels: {[jobLabels.uid]: 'u-1'}},
		template: {metadata: {labels: labelsOfJob({uid: 'u-1', name: 'once'})}},
	});
	const again = admitUpdate(manifest, object);
	t.deepEqual(again.ok ? again.value.spec : again.error.message, object.spec);
	const whole = admitUpdate(object, object);
	t.deepEqual(whole.ok ? whole.value.spec : whole.error.message, object.spec);
});

test('the selector of a user stays his', t => {
	const mine = {manualSelector: true, selector: {matchLabels: {app: 'x'}}, template: {metadata: {labels: {app: 'x'}}}};
	t.like(kept({spec: mine}).spec, {selector: {matchLabels: {app: 'x'}}, template: {metadata: {labels: {app: 'x'}}}});
	t.deepEqual(problemsOf(patched({spec: {...mine, selector: {matchLabels: {app: 'y'}}}})), [
		'spec.template.metadata.labels: must match spec.selector: the pods would not be found again',
	]);
});

const rule = (fields: JsonObject): JsonObject => ({podFailurePolicy: {rules: [fields]}});

const refusals: readonly [title: string, spec: JsonObject, problem: string | RegExp][] = [
	[
		'a template that never ends',
		{template: {spec: {restartPolicy: 'Always'}}},
		'spec.template.spec.restartPolicy: must be OnFailure or Never in a Job, got "Always"',
	],
	['a selector', {selector: {matchLabels: {a: 'b'}}}, 'spec.selector: is made by the cluster; leave it out, or set manualSelector'],
	[
		'labels that are the cluster’s',
		{template: {metadata: {labels: {'job-name': 'x'}}}},
		'spec.template.metadata.labels.job-name: is set by the cluster; leave it out, or set manualSelector',
	],
	[
		'indexes without their number',
		{completionMode: 'Indexed', parallelism: 2},
		'spec.completions: is required when completionMode is Indexed',
	],
	[
		'more indexes than the most',
		{completionMode: 'Indexed', completions: 100_001},
		'spec.completions: must be at most 100000 when completionMode is Indexed, got 100001',
	],
	[
		'a limit per index without indexes',
		{backoffLimitPerIndex: 1},
		'spec.backoffLimitPerIndex: is for jobs whose completionMode is Indexed',
	],
	[
		'failed indexes without a limit each',
		{...indexed, maxFailedIndexes: 1},
		'spec.backoffLimitPerIndex: is required with maxFailedIndexes',
	],
	[
		'more failed indexes than there are',
		{...indexed, backoffLimitPerIndex: 1, maxFailedIndexes: 5},
		'spec.maxFailedIndexes: must be at most completions (4), got 5',
	],
	['another controller', {managedBy: 'me'}, /^spec\.managedBy: "managedBy" is not supported yet/],
	[
		'a rule about nothing',
		rule({action: 'Ignore'}),
		'spec.podFailurePolicy.rules[0]: must be one of onExitCodes, onPodConditions, got none',
	],
	[
		'a rule that fails an index of a job without limits of them',
		rule({action: 'FailIndex', onExitCodes: {operator: 'In', values: [1]}}),
		'spec.podFailurePolicy.rules[0].action: FailIndex needs backoffLimitPerIndex',
	],
	[
		'exit codes that do not rise',
		rule({action: 'Count', onExitCodes: {operator: 'NotIn', values: [2, 2]}}),
		'spec.podFailurePolicy.rules[0].onExitCodes.values: must be in rising order, each once',
	],
	[
		'a success as a failure',
		rule({action: 'Count', onExitCodes: {operator: 'In', values: [0]}}),
		'spec.podFailurePolicy.rules[0].onExitCodes.values: must not have 0: a container that succeeded is no failure',
	],
	[
		'a container that there is not',
		rule({action: 'Count', onExitCodes: {containerName: 'maim', operator: 'In', values: [1]}}),
		'spec.podFailurePolicy.rules[0].onExitCodes.containerName: must be one of the template\'s containers, got "maim"',
	],
	[
		'a failure policy of pods that start again',
		{...rule({action: 'Count', onExitCodes: {operator: 'In', values: [1]}}), template: {spec: {restartPolicy: 'OnFailure'}}},
		'spec.template.spec.restartPolicy: must be Never where there is a podFailurePolicy',
	],
	[
		'a success policy without indexes',
		{successPolicy: {rules: [{succeededCount: 1}]}},
		'spec.successPolicy: is for jobs whose completionMode is Indexed',
	],
	[
		'indexes of success that are none',
		{...indexed, successPolicy: {rules: [{succeededIndexes: '3-4'}]}},
		'spec.successPolicy.rules[0].succeededIndexes: must be rising indexes below 4, such as "0,3-5", got "3-4"',
	],
	[
		'more successes than indexes',
		{...indexed, successPolicy: {rules: [{succeededIndexes: '1-2', succeededCount: 3}]}},
		'spec.successPolicy.rules[0].succeededCount: must be at most the number of indexes (2), got 3',
	],
];

for (const [title, spec, problem] of refusals)
	test(`a Job refuses ${title}`, t => {
		const problems = problemsOf(patched({spec}));
		t.is(problems.length, 1, problems.join('\n'));
		if (typeof problem === 'string') t.is(problems[0], problem);
		else t.regex(problems[0] ?? '', problem);
	});

test('a name that is too long for the pods is refused', t => {
	t.deepEqual(problemsOf(patched({metadata: {name: 'a'.repeat(63)}})), []);
	t.is(problemsOf(patched({metadata: {name: 'a'.repeat(64)}})).length, 1);
	t.is(problemsOf(patched({metadata: {name: 'a'.repeat(62)}, spec: indexed})).length, 1);
});

test('a job keeps what its pods were made from; an elastic one changes its size', t => {
	const changed = (old: ApiObject, patch: JsonObject): string => {
		const admitted = admitUpdate(mergePatch(old as unknown as Json, patch), old);
		return admitted.ok ? '' : admitted.error.message;
	};
	t.is(changed(kept(), {spec: {completions: 3}}), 'spec.completions: cannot be changed; delete the job and create it again');
	t.is(changed(kept(), {spec: {parallelism: 3, suspend: true, backoffLimit: 1, ttlSecondsAfterFinished: 0}}), '');
	t.is(changed(kept({spec: {...indexed, parallelism: 4}}), {spec: {completions: 6, parallelism: 6}}), '');
	t.regex(changed(kept({spec: indexed}), {spec: {completions: 6}}), /otherwise than together with parallelism/);
	t.regex(changed(kept(), {spec: {template: {spec: {terminationGracePeriodSeconds: 1}}}}), /^spec\.template: cannot be changed/);
	const limited = (requests: JsonObject): JsonObject => ({
		spec: {template: {spec: {containers: [{name: 'main', image: 'a', resources: {limits: {cpu: '1'}, ...requests}}]}}},
	});
	const withRequest = kept(limited({requests: {cpu: '1'}}));
	t.is(changed(withRequest, limited({})), '', 'the request was filled in once, and means the same');
	t.regex(changed(withRequest, limited({requests: {cpu: '500m'}})), /^spec\.template: cannot be changed/);
});

const nowMs = Date.parse('2026-01-01T00:03:20Z');
const cells = (status: JsonObject, patch: JsonObject = {}): readonly unknown[] =>
	tableOf(job, [{...kept(patch), status}], nowMs).rows[0]?.cells.slice(1, 4) ?? [];
const condition = (type: string): JsonObject => ({conditions: [{type, status: 'True'}]});

test('its row says how it is, as kubectl does', t => {
	t.deepEqual(cells({}), ['Running', '0/1', '<none>']);
	t.deepEqual(cells({startTime: '2026-01-01T00:03:00Z'}, {spec: {completions: 3}}), ['Running', '0/3', '20s']);
	t.deepEqual(cells({succeeded: 1}, {spec: {parallelism: 5}}), ['Running', '1/1 of 5', '<none>']);
	t.deepEqual(cells({...condition('Complete'), startTime: '2026-01-01T00:03:00Z', completionTime: '2026-01-01T00:03:10Z', succeeded: 1}), [
		'Complete',
		'1/1',
		'10s',
	]);
	for (const type of ['Failed', 'FailureTarget', 'SuccessCriteriaMet']) t.is(cells(condition(type))[0], type);
	t.is(cells({}, {spec: {suspend: true}})[0], 'Suspended');
});

// ---- intervals -----------------------------------------------------------------------------------------------------------

test('indexes are written as intervals, and read as they were written', t => {
	const texts = ['', '0', '0,1', '0-2', '1,3-5,7,8', '99999'];
	for (const text of texts) t.is(formatIntervals(union([], parseIntervals(text))), text);
	t.is(formatIntervals(withIndexes(parseIntervals('1,3-5'), [2, 9, 2])), '1-5,9');
	t.is(formatIntervals(union(parseIntervals('0-3'), parseIntervals('2-6,8'))), '0-6,8');
	t.deepEqual(parseIntervals('x,3-'), []);
});

test('what is in them is found, counted, and what is not', t => {
	const some = parseIntervals('1,3-5,7');
	t.deepEqual(
		[0, 1, 2, 3, 4, 5, 6, 7, 8].filter(index => includes(some, index)),
		[1, 3, 4, 5, 7],
	);
	t.is(sizeOf(some), 5);
	t.is(sizeOfBoth(some, parseIntervals('0-3,7-9')), 3);
	t.is(formatIntervals(below(some, 5)), '1,3,4');
	t.deepEqual(below(some), some);
	t.deepEqual([...indexesOutside(some, 9)], [0, 2, 6, 8]);
	t.deepEqual([...indexesOutside(some, 3)], [0, 2]);
	t.deepEqual([...indexesOutside([], 2)], [0, 1]);
});
