// Workflows: their definition is checked as a whole, its nulls are kept, and older forms become it.

import test from 'ava';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {normalise, nullsKeptIn} from '../../api/dialects/normalise.js';
import type {Workflow} from '../../api/kinds/workflow.js';
import {limits} from '../../api/limits.js';
import {mergePatch} from '../../api/merge-patch.js';
import type {ApiObject, Json, JsonObject} from '../../api/object.js';
import {readDefinition} from '../../api/states-language/validation/definition.js';
import {controlDesign} from '../../actors/control/design.js';
import {manifests, older} from './_manifests.js';
import {cells, committed, problemsOf} from './_objects.js';

const withSpec = (spec: JsonObject): JsonObject => ({...manifests.Workflow, spec});

/** A definition of these states, of which the first begins. */
const defined = (States: {readonly [name: string]: JsonObject}): JsonObject =>
	withSpec({definition: {StartAt: Object.keys(States)[0] ?? '', States}});

const task = (Resource: string): JsonObject => ({Type: 'Task', Resource, End: true});

test('nulls of a definition and of its params are kept, and no others', t => {
	const {metadata, ...manifest} = manifests.Workflow;
	const {definition, params} = manifest.spec;
	const spec = {definition, params, ttlSecondsAfterFinished: null};
	const admitted = admitCreate({...manifest, spec, metadata: {...metadata, labels: null, annotations: {a: null, b: 'c'}}});
	t.deepEqual(admitted.ok && [admitted.value.spec, admitted.value.metadata], [
		{definition, params},
		{name: 'flow', namespace: 'default', annotations: {b: 'c'}},
	]);
});

test('a merge patch with null removes a member, of a definition too', t => {
	const old = committed(manifests.Workflow);
	const patch = {spec: {definition: {States: {First: {ResultPath: null}}}, params: null}};
	const admitted = admitUpdate(mergePatch(old as unknown as Json, patch), old);
	const {spec} = (admitted.ok ? admitted.value : {}) as Partial<Workflow>;
	t.deepEqual(spec?.definition['States'] as unknown, {
		...manifests.Workflow.spec.definition.States,
		First: {Type: 'Task', Resource: 'default/add', Next: 'Judge'},
	});
	t.false(Object.hasOwn(spec ?? {}, 'params'));
});

test('all that is wrong with a definition is told by its fields, what its Tasks call too', t => {
	const broken = defined({
		A: {...task('arn:aws:lambda:us-east-1:1:function:charge'), Nxt: 'B'},
		B: {Type: 'Map', ItemProcessor: {StartAt: 'C', States: {C: task('fucntion:a')}}, End: true},
	});
	const problems = problemsOf(broken);
	t.is(problems.length, 4, problems.join('\n'));
	t.regex(problems[0] ?? '', /^spec\.definition\.States\.A\.Nxt: unknown member "Nxt" of a Task state; did you mean "Next"\?$/);
	t.regex(problems[1] ?? '', /^spec\.definition\.States\.A\.Resource: .*such as "charge"/);
	t.regex(
		problems[2] ?? '',
		/^spec\.definition\.States\.B\.ItemProcessor\.States\.C\.Resource: .*got "fucntion:a"; did you mean "function"\?$/,
	);
	t.regex(problems[3] ?? '', /^spec\.definition\.States\.B: no way leads to/);
});

test('a definition alone may call anything', t => {
	const {definition} = defined({A: task('arn:aws:lambda:us-east-1:1:function:charge')})['spec'] as JsonObject;
	t.true(readDefinition(definition).ok);
});

for (const [title, manifest, problem] of [
	['without a definition', withSpec({}), /^spec\.definition: is required$/],
	['whose definition is null', withSpec({definition: null}), /^spec\.definition: must be an object, got nothing$/],
	['whose params are a list', withSpec({...manifests.Workflow.spec, params: [1]}), /^spec\.params: must be an object, got a list$/],
	[
		'whose params are too large',
		withSpec({...manifests.Workflow.spec, params: {text: 'x'.repeat(limits.statesDataBytes)}}),
		/^spec\.params: has more than 262144 bytes$/,
	],
	[
		'whose definition is too large',
		withSpec({definition: {...manifests.Workflow.spec.definition, Comment: 'x'.repeat(limits.statesDefinitionBytes)}}),
		/^spec\.definition: has more than 1000000 bytes; /,
	],
	[
		'whose name is no label',
		{...manifests.Workflow, metadata: {name: 'x'.repeat(64)}},
		/^metadata\.name: must have at most 63 characters, for it is a label of its runs, too, got "x+…"$/,
	],
	['with a field that is unknown', withSpec({...manifests.Workflow.spec, parmas: {}}), /^spec\.parmas: .*did you mean "params"\?$/],
] as const)
	test(`a workflow ${title} is refused`, t => {
		const problems = problemsOf(manifest);
		t.is(problems.length, 1, problems.join('\n'));
		t.regex(problems[0] ?? '', problem);
	});

test('a definition that was taken once does not keep its workflow from being changed or deleted', t => {
	const old = {...committed(manifests.Workflow), spec: {definition: {StartAt: 'A', States: {A: task('arn:aws:x')}}}};
	const labelled = {...old, metadata: {...old.metadata, labels: {a: 'b'}}, spec: JSON.parse(JSON.stringify(old.spec)) as unknown};
	t.deepEqual(problemsOf(labelled, old), []);
	t.is(problemsOf({...old, spec: {definition: {StartAt: 'A', States: {A: task('arn:aws:y')}}}}, old).length, 1);
});

test('a row says where it begins, how many states it has, and which revision', t => {
	const nested = defined({A: {Type: 'Map', ItemProcessor: {StartAt: 'B', States: {B: task('b')}}, End: true}});
	t.deepEqual(cells('workflows', committed(nested, {revision: 4})), ['flow', 'A', 2, '4']);
});

// ---- older forms -------------------------------------------------------------------------------------------------------------

const graph = {
	startAt: 'first',
	nodes: {
		first: {type: 'Task', resource: 'default/add', next: 'judge'},
		judge: {type: 'Choice', choices: [{variable: 'x', numericGreaterThan: 3, next: 'last'}], default: 'first'},
		last: {type: 'Task'},
	},
} as const satisfies JsonObject;

const nodes = (patch: JsonObject): JsonObject => withSpec(mergePatch(graph, patch) as JsonObject);

const refusalOf = (document: unknown): readonly string[] => {
	const read = normalise(document);
	return read.ok ? problemsOf(read.object) : read.problems.map(({path, message}) => `${path}: ${message}`);
};

test('a graph of nodes becomes a definition, said in one line', t => {
	const read = normalise(nodes({}));
	t.like(read, {ok: true, notes: ['Workflow of nodes read as troupe.dev/v1 Workflow: definition']});
	const {definition} = (read.ok ? read.object.spec : {}) as {definition: JsonObject};
	t.deepEqual(Object.keys(definition['States'] as JsonObject), ['(params)', 'first', 'first (merge)', 'judge', 'last', 'last (merge)']);
	t.deepEqual(refusalOf(nodes({})), []);
});

test('a task without a resource calls the function that is called like its node', t => {
	const read = normalise(withSpec({startAt: 'Add_Five', nodes: {Add_Five: {type: 'Task', next: null}}}));
	const {definition} = (read.ok ? read.object.spec : {}) as {definition: JsonObject};
	t.like(definition['States'], {Add_Five: {Type: 'Task', Resource: 'add-five'}});
});

const refusals: readonly (readonly [title: string, document: unknown, ...problems: readonly string[]])[] = [
	['a start that is no node', nodes({startAt: 'frist'}), 'spec.startAt: there is no node "frist"; did you mean "first"?'],
	['a graph without a start', nodes({startAt: null}), 'spec.startAt: is required'],
	['a graph without nodes', nodes({nodes: null}), 'spec.nodes: is required'],
	[
		'a node that leads nowhere',
		nodes({nodes: {first: {next: 'jugde'}}}),
		'spec.nodes.first.next: there is no node "jugde"; did you mean "judge"?',
	],
	[
		'a node that nothing leads to',
		nodes({nodes: {alone: {type: 'Task'}}}),
		'spec.nodes.alone: no way leads to the node "alone" from "first"',
	],
	[
		'a choice without an operator',
		nodes({nodes: {judge: {choices: [{variable: 'x', next: 'last'}]}}}),
		'spec.nodes.judge.choices[0]: must be one of numericEquals, numericNotEquals, numericGreaterThan, numericLessThan, numericGreaterThanEquals, numericLessThanEquals, stringEquals, stringNotEquals, stringGreaterThan, stringLessThan, stringGreaterThanEquals, stringLessThanEquals, booleanEquals, booleanNotEquals, booleanGreaterThan, booleanLessThan, booleanGreaterThanEquals, booleanLessThanEquals, got none',
	],
	[
		'a value of the wrong type',
		nodes({nodes: {judge: {choices: [{variable: 'x', numericEquals: '1', next: 'last'}]}}}),
		'spec.nodes.judge.choices[0].numericEquals: must be a number, got "1"; leave out the quotes',
	],
	['a task with choices', nodes({nodes: {last: {default: 'first'}}}), 'spec.nodes.last.default: must not be set in a "Task" node'],
	[
		'a resource that is no function',
		nodes({nodes: {last: {resource: 'https://example.com'}}}),
		'spec.nodes.last.resource: must be the name of a function, NAME or NAMESPACE/NAME, got "https://example.com"',
	],
	[
		'a variable that is too long',
		nodes({nodes: {judge: {choices: [{variable: 'x'.repeat(limits.statesPathCharacters), numericEquals: 1, next: 'last'}]}}}),
		`spec.nodes.judge.choices[0].variable: is no path: has more than 1024 characters, got "$.data['${'x'.repeat(52)}…"`,
	],
	[
		'nodes beside a definition',
		withSpec({...manifests.Workflow.spec, ...graph}),
		'spec.startAt: stands beside definition, which says the same; leave one out',
	],
	[
		'a workflow that never ends',
		withSpec({startAt: 'first', nodes: {first: {type: 'Task', next: 'second'}, second: {type: 'Task', next: 'first'}}}),
		'spec.nodes.first: no way leads from the node "first" to an end',
		'spec.nodes.second: no way leads from the node "second" to an end',
	],
	[
		'too many nodes',
		withSpec({
			startAt: 'n0',
			nodes: Object.fromEntries(
				Array.from({length: limits.statesDefinitionStates}, (_, at) => [
					`n${at}`,
					{type: 'Task', ...(at + 1 < limits.statesDefinitionStates ? {next: `n${at + 1}`} : {})},
				]),
			),
		}),
		'spec.nodes: the definition has more than 2000 states',
	],
	[
		'a node of dialect B, where the file has it',
		{...older.workflowB, nodes: {...older.workflowB.nodes, a: {type: 'Task', next: 'c'}}},
		'nodes.a.next: there is no node "c"; did you mean "a"?',
	],
	[
		'a node of dialect A, where the file has it',
		{
			...older.workflowA,
			spec: {
				...older.workflowA.spec,
				workflowNodes: [
					...older.workflowA.spec.workflowNodes,
					{name: 'alone', type: 'func', funcData: {funcName: 'f'}},
					{name: 'lost', type: 'func', funcData: {funcName: 'F', nextNodeName: 'node1'}},
				],
			},
		},
		'spec.workflowNodes[5].funcData.funcName: must be the name of a function, NAME or NAMESPACE/NAME, got "F"',
		'spec.workflowNodes[4]: no way leads to the node "alone" from "node1"',
		'spec.workflowNodes[5]: no way leads to the node "lost" from "node1"',
	],
];

for (const [title, document, ...problems] of refusals)
	test(`refuses, of older workflows, ${title}`, t => t.deepEqual(refusalOf(document), problems));

test('of manifests of every form the nulls are known that say something', t => {
	t.deepEqual(nullsKeptIn(manifests.Workflow).slice(0, 2), ['spec.definition', 'spec.params']);
	t.true(nullsKeptIn(older.workflowB).includes('params'));
	t.true(nullsKeptIn(older.workflowA).includes('spec.entryParams'));
	t.deepEqual(nullsKeptIn(manifests.Service), []);
	const read = normalise({...older.workflowB, params: {x: null}});
	const admitted = admitCreate(read.ok ? read.object : undefined);
	t.deepEqual(admitted.ok && (admitted.value.spec as JsonObject)['params'], {x: null});
});

test('a workflow that the first version stored is loaded as a definition, and starts nothing', t => {
	const stored: ApiObject = {
		apiVersion: 'troupe.dev/v1',
		kind: 'Workflow',
		metadata: {
			name: 'flow',
			namespace: 'default',
			uid: 'u-1',
			resourceVersion: '7',
			generation: 3,
			creationTimestamp: '2026-01-01T00:00:00Z',
		},
		spec: {...graph, params: {x: 1}},
		status: {observedGeneration: 2},
	};
	t.is(controlDesign.schemaVersionOf('workflows'), 2);
	const loaded = controlDesign.upgrade('workflows', 1, stored) as Workflow;
	const read = normalise(nodes({params: {x: 1}}));
	t.deepEqual(loaded.spec as unknown, read.ok && read.object.spec);
	t.deepEqual(loaded.status, {observedGeneration: 2, startedGeneration: 3});
	t.deepEqual(loaded.metadata, stored.metadata);
	t.deepEqual(problemsOf(loaded, loaded), []);
	t.is(controlDesign.upgrade('pods', 1, stored), stored);
});
