import {createRequire} from 'node:module';
import test from 'ava';
import type {Descriptions} from '../../api/descriptions.cjs';
import {kinds} from '../../api/catalogue.js';
import {drawExplained, explain, type Explained} from '../../cli/objects/explain.js';
import {folder, run} from './_rig.js';

const descriptions: Descriptions = {
	kinds: {
		Pod: {
			type: 'object',
			required: ['spec'],
			properties: {metadata: {$ref: 'Metadata'}, spec: {$ref: 'PodSpec', description: 'What is wanted.'}},
		},
	},
	definitions: {
		Metadata: {type: 'object', properties: {labels: {type: 'object', additionalProperties: {type: 'string'}}}},
		PodSpec: {
			type: 'object',
			description: 'A pod.',
			required: ['containers'],
			properties: {
				containers: {type: 'array', items: {$ref: 'Container'}},
				restartPolicy: {type: 'string', enum: ['Always', 'Never'], default: 'Always'},
			},
			'x-not-yet': ['overhead'],
		},
		Container: {
			type: 'object',
			description: 'A program.',
			properties: {name: {type: 'string'}, port: {type: ['integer', 'string']}, count: {type: 'integer', minimum: 1, maximum: 9}},
		},
	},
};

const pod = {kind: 'Pod', group: '', version: 'v1', singular: 'pod'};

function explained(path: string, depth = 1): Explained {
	const explanation = explain(descriptions, pod, path === '' ? [] : path.split('.'), depth);
	if (!explanation.ok) throw new Error(explanation.problem);
	return explanation.value;
}

const problemOf = (path: string): string => {
	const explanation = explain(descriptions, pod, path.split('.'), 1);
	return explanation.ok ? '' : explanation.problem;
};

test('fields are told with type, whether they are required, words, default and range', t => {
	t.is(
		drawExplained(explained('spec'), false),
		`KIND:     Pod
VERSION:  v1

FIELD:    spec <PodSpec> -required-

DESCRIPTION:
    What is wanted.

FIELDS:
  containers <[]Container> -required-
    A program.

  restartPolicy <string>
    one of: Always, Never
    default: "Always"
`,
	);
	t.regex(
		drawExplained(explained('spec.containers'), false),
		/count <integer>\n {4}from 1 to 9\n\n {2}name <string>\n\n {2}port <integer\|string>\n$/,
	);
	t.is(explained('metadata.labels').type, 'map[string]string');
});

test('all fields below are told by their names', t => {
	t.regex(
		drawExplained(explained('', 9), true),
		/FIELDS:\n {2}metadata <ObjectMeta>\n {4}labels <map\[string\]string>\n {2}spec <PodSpec> -required-\n {4}containers <\[\]Container> -required-\n {6}count <integer>/,
	);
});

test('an unknown field gets the nearest, the place where it is, or why it is not there', t => {
	t.is(problemOf('spec.containerz'), 'pod.spec has no field "containerz"; did you mean "containers"?');
	t.is(problemOf('containers'), 'pod has no field "containers"; did you mean "pod.spec.containers"?');
	t.is(problemOf('spec.overhead'), 'pod.spec.overhead is a field of Kubernetes that is not in this version yet');
	t.is(problemOf('spec.zzzzzzzz'), 'pod.spec has no field "zzzzzzzz"; it has containers, restartPolicy');
	t.is(problemOf('spec.restartPolicy.x'), 'pod.spec.restartPolicy has no field "x": it is no object with fields');
	t.is(problemOf('spec.constructor'), 'pod.spec has no field "constructor"; it has containers, restartPolicy');
});

test('the command asks no cluster, and answers as JSON', async t => {
	const home = await folder(t);
	const {code, out} = await run(t, ['explain', 'replicasets.apps.spec.replicas', '-o', 'json'], {home});
	t.is(code, 0);
	t.like(JSON.parse(out), {kind: 'ReplicaSet', apiVersion: 'apps/v1', path: 'spec.replicas', type: 'integer', required: false});
});

test('every kind of the catalogue can be explained, all the way down', t => {
	const built = createRequire(import.meta.url)('../../api/descriptions.cjs') as Descriptions;
	for (const kind of kinds) {
		const explanation = explain(built, kind, [], Number.POSITIVE_INFINITY);
		t.true(explanation.ok && (explanation.value.fields?.length ?? 0) > 2, kind.kind);
	}
	const pods = kinds.find(({kind}) => kind === 'Pod');
	const phase = pods === undefined ? undefined : explain(built, pods, ['status', 'phase'], 1);
	t.true(phase?.ok === true && phase.value.enum?.includes('Running') === true, 'the status is there, too');
});
