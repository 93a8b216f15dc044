// What budgets, quotas and limits may say: which of it is refused, and where.

import test from 'ava';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {kindByPlural} from '../../api/catalogue.js';
import type {ApiObject, JsonObject} from '../../api/object.js';

function problemsOf(input: unknown, old?: ApiObject): string[] {
	const admitted = old === undefined ? admitCreate(input) : admitUpdate(input, old);
	if (admitted.ok) return [];
	const causes = (admitted.error.details?.['problems'] ?? []) as readonly {path: string; message: string}[];
	return causes.length === 0 ? [admitted.error.message] : causes.map(({path, message}) => `${path}: ${message}`);
}

/** The object as it would be committed. */
function committed(input: JsonObject): ApiObject {
	const admitted = admitCreate(input);
	if (!admitted.ok) throw new Error(admitted.error.message);
	const metadata = {...admitted.value.metadata, name: 'web', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: ''};
	return {...admitted.value, metadata};
}

const cells = (plural: string, object: ApiObject): readonly unknown[] =>
	kindByPlural(plural)?.columns.flatMap(({name, cell}) => (name === 'Age' ? [] : [cell(object, 0)])) ?? [];

const aBudget = (spec: JsonObject): JsonObject => ({
	apiVersion: 'policy/v1',
	kind: 'PodDisruptionBudget',
	metadata: {name: 'web'},
	spec: {selector: {matchLabels: {app: 'web'}}, ...spec},
});

test('a budget says either how many must stay or how many may be missing, as a number or a part', t => {
	for (const spec of [
		{minAvailable: 2},
		{minAvailable: '50%'},
		{maxUnavailable: 0},
		{maxUnavailable: '100%'},
		{minAvailable: 1, selector: {}},
	])
		t.deepEqual(problemsOf(aBudget(spec)), [], JSON.stringify(spec));
	t.deepEqual(problemsOf(aBudget({})), ['spec: must be one of minAvailable, maxUnavailable, got none']);
	t.deepEqual(problemsOf(aBudget({minAvailable: 1, maxUnavailable: 1})), [
		'spec: must be one of minAvailable, maxUnavailable, got minAvailable and maxUnavailable',
	]);
	for (const maxUnavailable of [-1, '101%', '-5%', 'many', '5'])
		t.regex(
			problemsOf(aBudget({maxUnavailable}))[0] ?? '',
			/^spec\.maxUnavailable: must be a whole number from 0 on, or a part such as "25%"/,
		);
	t.regex(
		problemsOf(aBudget({minAvailable: 1, selector: {matchLabels: {'a b': 'c'}}}))[0] ?? '',
		/^spec\.selector\.matchLabels\["a b"\]: the key must be/,
	);
	t.regex(problemsOf(aBudget({minAvailable: 1, unhealthyPodEvictionPolicy: 'Never'}))[0] ?? '', /^spec\.unhealthyPodEvictionPolicy: /);
});

test('the selector of a budget may be changed, and what it says is shown', t => {
	const old = committed(aBudget({minAvailable: '50%'}));
	t.deepEqual(problemsOf({...old, spec: {maxUnavailable: 1, selector: {matchLabels: {app: 'other'}}}}, old), []);
	t.deepEqual(cells('poddisruptionbudgets', old), ['web', '50%', 'N/A', 0]);
	t.deepEqual(cells('poddisruptionbudgets', {...old, spec: {maxUnavailable: 1}, status: {disruptionsAllowed: 3}}), ['web', 'N/A', '1', 3]);
});
