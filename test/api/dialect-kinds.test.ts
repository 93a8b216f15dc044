// The older dialects of kinds that are more than a pod: what each field becomes, and where it stood.

import test from 'ava';
import {admitCreate} from '../../api/admission.js';
import {normalise} from '../../api/dialects/normalise.js';
import type {JsonObject} from '../../api/object.js';
import {older} from './_manifests.js';

function readOf(document: unknown): {readonly spec: unknown; readonly metadata: unknown; readonly is: string; readonly note: string} {
	const read = normalise(document);
	if (!read.ok) return {spec: read.problems, metadata: undefined, is: 'refused', note: ''};
	const {apiVersion, kind, spec, metadata} = read.object;
	return {spec, metadata, is: `${apiVersion} ${kind}`, note: read.notes.join('\n')};
}

const problemsOf = (document: unknown): readonly string[] => {
	const read = normalise(document);
	return read.ok ? [] : read.problems.map(({path, message}) => `${path}: ${message}`);
};

/** The document with members of its spec set otherwise. */
const withSpec = (document: {readonly spec: JsonObject}, spec: JsonObject): JsonObject => ({
	...document,
	spec: {...document.spec, ...spec},
});

for (const [name, document] of Object.entries(older)) {
	test(`${name} of an older dialect is read in one line, and admitted`, t => {
		const read = normalise(document);
		t.true(read.ok);
		if (!read.ok) return;
		t.is(read.notes.length, 1);
		const admitted = admitCreate(read.object);
		t.true(admitted.ok, admitted.ok ? '' : admitted.error.message);
		t.deepEqual(normalise(read.object), {ok: true, object: read.object, notes: [], renamed: []});
	});
}

test('ports of services and host names may be texts', t => {
	t.deepEqual(readOf(older.service), {
		is: 'v1 Service',
		metadata: {name: 'web'},
		spec: {selector: {app: 'web'}, ports: [{name: 'http', port: 88, targetPort: 80, protocol: 'TCP'}]},
		note: 'dialect A Service read as v1 Service: ports[0].port, ports[0].targetPort, ports[0].protocol',
	});
	t.like(readOf(older.dns), {
		is: 'troupe.dev/v1 Dns',
		spec: {paths: [{svcPort: 88}]},
		note: 'dialect A Dns read as troupe.dev/v1 Dns: paths[0].svcPort',
	});
});

test('an Hpa becomes an autoscaler that takes one step each interval', t => {
	const policies = [{type: 'Pods', value: 1, periodSeconds: 30}];
	t.deepEqual(readOf(older.hpaA), {
		is: 'autoscaling/v2 HorizontalPodAutoscaler',
		metadata: {
			name: 'hpa',
			namespace: 'test-namespace',
			annotations: {'troupe.dev/scale-interval': '30', 'troupe.dev/selector': 'app=hpa'},
		},
		spec: {
			minReplicas: 2,
			maxReplicas: 5,
			scaleTargetRef: {apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'test-rs'},
			metrics: [
				{type: 'Resource', resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization: 35}}},
				{type: 'Resource', resource: {name: 'memory', target: {type: 'Utilization', averageUtilization: 50}}},
			],
			behavior: {scaleUp: {policies}, scaleDown: {stabilizationWindowSeconds: 0, policies}},
		},
		note: 'dialect A Hpa read as autoscaling/v2 HorizontalPodAutoscaler: scaleTargetRef, metadata.namespace, metrics, behavior, metadata.annotations["troupe.dev/selector"]',
	});
	t.like(readOf(withSpec(older.hpaA, {adjustInterval: undefined})), {spec: {behavior: {scaleUp: {policies: [{periodSeconds: 15}]}}}});
});

test('dialect B’s autoscaler has percentages and an interval in seconds', t => {
	t.like(readOf(older.hpaB), {
		is: 'autoscaling/v2 HorizontalPodAutoscaler',
		spec: {
			scaleTargetRef: {apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs'},
			metrics: [{resource: {name: 'cpu', target: {averageUtilization: 25}}}],
			behavior: {scaleUp: {policies: [{value: 1, periodSeconds: 10}]}},
		},
		note: 'dialect B autoscaling/v1 HorizontalPodAutoscaler read as autoscaling/v2 HorizontalPodAutoscaler: scaleTargetRef, metrics, behavior',
	});
	t.like(readOf(withSpec(older.hpaB, {metrics: {MemoryUtilizationPercentage: 70}})), {spec: {metrics: [{resource: {name: 'memory'}}]}});
});

test('Kubernetes’ own autoscaling/v1 is no dialect', t => {
	t.like(readOf(older.hpaV1), {
		spec: {metrics: [{resource: {name: 'cpu', target: {averageUtilization: 60}}}], behavior: undefined},
		note: 'autoscaling/v1 HorizontalPodAutoscaler read as autoscaling/v2 HorizontalPodAutoscaler: metrics',
	});
});

test('a Job of dialect A is a SlurmJob, one with a template is Kubernetes’ own in the wrong group', t => {
	t.like(readOf(older.job), {
		is: 'troupe.dev/v1 SlurmJob',
		spec: {nTasksPerNode: 6},
		note: 'dialect A Job read as troupe.dev/v1 SlurmJob: nTasksPerNode',
	});
	t.deepEqual(problemsOf({...older.job, spec: {template: {}}}), ['kind: there is no Job in "v1"; its apiVersion is batch/v1']);
});

test('a password in a manifest gets into no object, and is never shown', t => {
	const read = normalise(withSpec(older.job, {password: 'hunter2'}));
	const admitted = admitCreate(read.ok ? read.object : undefined);
	t.true(admitted.ok);
	t.notRegex(JSON.stringify(admitted), /hunter2/);
	const number = normalise(withSpec(older.job, {password: 4711}));
	t.notRegex(JSON.stringify(admitCreate(number.ok ? number.object : undefined)), /4711/);
});

test('a Function keeps its fields', t => {
	t.like(readOf(older.function), {is: 'troupe.dev/v1 Function', spec: {userUploadFilePath: '/xx/example-1'}});
});

/** States of the definition that a workflow becomes, but for those that merge the results of tasks. */
function statesOf(document: unknown): {readonly [name: string]: unknown} {
	const {definition} = readOf(document).spec as {readonly definition?: {readonly States: JsonObject}};
	return Object.fromEntries(Object.entries(definition?.States ?? {}).filter(([name]) => !/[()]/.test(name)));
}

const taskState = (name: string, resource: string) => ({
	Type: 'Task',
	Resource: resource,
	InputPath: '$.data',
	ResultPath: '$.result',
	Next: `${name} (merge)`,
});

test('the nodes of dialect A’s workflow become the states of a definition', t => {
	t.like(readOf(older.workflowA), {
		is: 'troupe.dev/v1 Workflow',
		metadata: {name: 'flow'},
		spec: {params: {x: 1, y: 2}},
		note: 'dialect A Workflow read as troupe.dev/v1 Workflow: params, definition',
	});
	t.deepEqual(statesOf(older.workflowA), {
		node1: taskState('node1', 'default/f'),
		node2: {Type: 'Choice', Choices: [{Variable: "$.data['y']", NumericGreaterThan: 0, Next: 'node3'}], Default: 'node4'},
		node3: taskState('node3', 'g'),
		node4: taskState('node4', 'h'),
	});
});

const checks: readonly [checkType: string, compareValue: unknown, choices: readonly object[], otherwise: string][] = [
	['equal', 'a', [{StringEquals: 'a', Next: 'node3'}], 'node4'],
	[
		'equal',
		'5',
		[
			{NumericEquals: 5, Next: 'node3'},
			{StringEquals: '5', Next: 'node3'},
		],
		'node4',
	],
	['notEqual', true, [{BooleanEquals: true, Next: 'node4'}], 'node3'],
	['numLessThan', 1.5, [{NumericLessThan: 1.5, Next: 'node3'}], 'node4'],
	['numGreaterAndEqualThen', '2', [{NumericGreaterThanEquals: 2, Next: 'node3'}], 'node4'],
	['numLessAndEqualThan', 2, [{NumericLessThanEquals: 2, Next: 'node3'}], 'node4'],
	['strGreaterThan', 7, [{StringGreaterThan: '7', Next: 'node3'}], 'node4'],
	['strLessAndEqualThen', 'b', [{StringLessThanEquals: 'b', Next: 'node3'}], 'node4'],
];

/** Dialect A's workflow with another choice. */
function choosing(fields: JsonObject): JsonObject {
	const nodes = older.workflowA.spec.workflowNodes.map(node =>
		'choiceData' in node ? {...node, choiceData: {...node.choiceData, ...fields}} : node,
	);
	return withSpec(older.workflowA, {workflowNodes: nodes});
}

for (const [checkType, compareValue, choices, otherwise] of checks) {
	test(`the check ${checkType} with ${JSON.stringify(compareValue)} keeps its meaning`, t => {
		t.deepEqual(statesOf(choosing({checkType, compareValue: compareValue as string}))['node2'], {
			Type: 'Choice',
			Choices: choices.map(rule => ({Variable: "$.data['y']", ...rule})),
			Default: otherwise,
		});
	});
}

test('dialect B’s workflow has its members beside its metadata', t => {
	t.like(readOf(older.workflowB), {
		is: 'troupe.dev/v1 Workflow',
		metadata: {namespace: 'default', name: 'print'},
		spec: {params: {x: 5}},
		note: 'dialect B /api/v1 Workflow read as troupe.dev/v1 Workflow: params, definition',
	});
	t.deepEqual(Object.keys(statesOf(older.workflowB)), ['addFive', 'judge', 'a', 'b']);
	const read = normalise(older.workflowB);
	t.deepEqual(read.ok && read.renamed.map(({path, from}) => `${path} < ${from}`), [
		'spec.startAt < startAt',
		'spec.params < params',
		'spec.nodes < nodes',
		'spec.definition < nodes',
	]);
});

test('problems of a graph are told where the file has the field', t => {
	t.deepEqual(problemsOf(choosing({falseNextNodeName: 'node5'})), [
		'spec.workflowNodes[1].choiceData.falseNextNodeName: there is no node "node5"; did you mean "node1"?',
	]);
});

const refused: readonly [title: string, document: unknown, problem: string][] = [
	[
		'a workload that is no workload',
		withSpec(older.hpaA, {workload: {kind: 'Replicast', metadata: {name: 'a'}}}),
		'spec.workload.kind: must be Pod, Replicaset or Deployment, got "Replicast"; did you mean "ReplicaSet"?',
	],
	[
		'a workload in another namespace',
		{...older.hpaA, metadata: {name: 'hpa', namespace: 'mine'}},
		'spec.workload.metadata.namespace: must be the namespace of the autoscaler, "mine": it scales nothing elsewhere, got "test-namespace"',
	],
	[
		'an interval that is none',
		withSpec(older.hpaA, {adjustInterval: 'often'}),
		'spec.adjustInterval: must be whole seconds from 1 to 1800, such as "15s", got "often"',
	],
	[
		'a metric that is unknown',
		withSpec(older.hpaA, {metrics: {cpuPercents: 0.3}}),
		'spec.metrics.cpuPercents: unknown field "cpuPercents"; did you mean "cpuPercent"?',
	],
	[
		'a fraction that was meant as percent',
		withSpec(older.hpaA, {metrics: {cpuPercent: 35}}),
		'spec.metrics.cpuPercent: must be a fraction in hundredths, such as 0.35, got 35',
	],
	[
		'two names of one field',
		withSpec(older.hpaB, {behavior: {}}),
		'spec.scaleInterval: stands beside behavior, which says the same; leave one out',
	],
	[
		'parameters that are no JSON',
		withSpec(older.workflowA, {entryParams: '{x: 1}'}),
		'spec.entryParams: must be a JSON object in quotes, such as \'{"x": 1}\', got "{x: 1}"',
	],
	[
		'a check that is unknown',
		choosing({checkType: 'numBigger'}),
		'spec.workflowNodes[1].choiceData.checkType: must be one of equal, notEqual, numGreaterThan, numLessThan, numGreaterAndEqualThan, numLessAndEqualThan, strGreaterThan, strLessThan, strGreaterAndEqualThan, strLessAndEqualThan, got "numBigger"',
	],
	['a number that is none', choosing({compareValue: 'x'}), 'spec.workflowNodes[1].choiceData.compareValue: must be a number, got "x"'],
	[
		'a field that nothing takes over',
		choosing({checkVarNme: 'y'}),
		'spec.workflowNodes[1].choiceData.checkVarNme: unknown field "checkVarNme"; did you mean "checkVarName"?',
	],
	[
		'two nodes of one name',
		withSpec(older.workflowA, {workflowNodes: [...older.workflowA.spec.workflowNodes, older.workflowA.spec.workflowNodes[2]]}),
		'spec.workflowNodes[4].name: there is a node "node3" already',
	],
	[
		'both forms of a workflow',
		{...older.workflowB, spec: {}},
		'spec: stands beside startAt, params and nodes, which belong into it; use one of both',
	],
	[
		'an address of a node that is none',
		{apiVersion: 'v1', kind: 'Node', metadata: {name: 'a'}, ip: '10.0.0.700'},
		'ip: must be an IP address, got "10.0.0.700"',
	],
];

for (const [title, document, problem] of refused) test(`refuses ${title}`, t => t.deepEqual(problemsOf(document), [problem]));

test('every field that dialect A’s pod writes otherwise is read', t => {
	const container = {
		name: 'a',
		image: 'b',
		command: ['c'],
		ports: [{containerPort: '80', hostPort: '8080', protocol: 'udp'}],
		resources: {limits: {cpu: '1500000000', memory: 200_000_000}},
		volumeMounts: [{name: 'share', mountPath: '/shared_dir/', readOnly: false}],
		livenessProbe: {httpGet: {path: '/', port: 80}, initialDelaySeconds: 1, timeoutSeconds: 1, periodSeconds: 10},
		lifecycle: {postStart: {exec: {cmd: ['x']}}, preStop: {exec: {cmd: ['y']}}},
		startupProbe: {exec: {cmd: ['z']}},
	};
	const read = normalise({
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {name: 'p'},
		spec: {
			initContainers: [{name: 'i', image: 'b', command: ['c'], ImagePullPolicy: 'Never'}],
			containers: [container],
			volumes: [{name: 'share', hostPath: {path: '/home/shared_dir/'}}],
		},
	});
	t.like(read, {
		ok: true,
		object: {
			spec: {
				initContainers: [{imagePullPolicy: 'Never'}],
				containers: [
					{
						ports: [{containerPort: 80, hostPort: 8080, protocol: 'UDP'}],
						resources: {limits: {cpu: '1500m', memory: 200_000_000}},
						lifecycle: {postStart: {exec: {command: ['x']}}, preStop: {exec: {command: ['y']}}},
						startupProbe: {exec: {command: ['z']}},
					},
				],
			},
		},
	});
	const admitted = admitCreate(read.ok ? read.object : undefined);
	t.true(admitted.ok, admitted.ok ? '' : admitted.error.message);
});
