// Shapes, defaults, rules and rows of kinds.

import test from 'ava';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {kindOf, kinds, qualifiedPlural} from '../../api/catalogue.js';
import {mergePatch} from '../../api/merge-patch.js';
import type {Json, JsonObject} from '../../api/object.js';
import {mayRequest} from '../../api/roles.js';
import {tableOf} from '../../api/table.js';
import {objectTopic} from '../../api/topics.js';
import {manifests} from './_manifests.js';
import {committed, problemsOf} from './_objects.js';

for (const [kind, manifest] of Object.entries(manifests)) {
	test(`a ${kind} is admitted, and again as it was kept`, t => {
		t.deepEqual(problemsOf(manifest), []);
		const old = committed(manifest);
		const again = admitUpdate(old, old);
		t.deepEqual(again.ok ? again.value : again.error.message, old);
	});

	test(`the status that a new ${kind} starts with is one that it may have`, t => {
		const definition = kindOf(manifest.apiVersion, kind);
		const old = committed(manifest);
		const status = definition?.initialStatus?.(old);
		t.is(status === undefined, kind === 'EndpointSlice');
		t.true(admitUpdate({...old, status}, old).ok);
	});
}

const nowMs = Date.parse('2026-01-01T00:03:20Z');

const rows: {readonly [kind: string]: readonly unknown[]} = {
	Deployment: ['web', '0/2', 0, 0, '3m20s', 'main', 'node:20', 'app=web'],
	Service: ['web', 'ClusterIP', '<none>', '<none>', '80/TCP', '3m20s', 'app=web'],
	EndpointSlice: ['web-1', 'IPv4', '8080', '127.0.0.9', '3m20s'],
	HorizontalPodAutoscaler: ['web', 'Deployment/web', 'cpu: <unknown>/50%', 1, 5, 0, '3m20s'],
	Function: ['add', 'python', '0/0', '10', '<none>', '3m20s'],
	Workflow: ['flow', 'First', 3, '<none>', '3m20s'],
	Run: ['flow-1', 'flow', 'Pending', '<none>', 0, '<none>', '3m20s'],
	Dns: ['site', 'test.com', '/api=web:80', '3m20s'],
	SlurmJob: ['cuda', 'Pending', '<none>', '<none>', '<none>', '3m20s', 'dgx2', 1, 1, '<none>'],
};

for (const [kind, manifest] of Object.entries(manifests)) {
	test(`the row of a ${kind} says what it is`, t => {
		const definition = kindOf(manifest.apiVersion, kind);
		if (definition === undefined) return t.fail();
		t.deepEqual(tableOf(definition, [committed(manifest)], nowMs).rows[0]?.cells, rows[kind]);
	});
}

test('the category all has what Kubernetes has in it', t => {
	t.deepEqual(
		kinds.filter(({categories}) => categories?.includes('all')).map(({plural}) => plural),
		[
			'pods',
			'replicasets',
			'deployments',
			'statefulsets',
			'daemonsets',
			'services',
			'horizontalpodautoscalers',
			'jobs',
			'cronjobs',
			'functions',
			'workflows',
			'slurmjobs',
		],
	);
});

test('who may read or write objects may do so with each of them, and each has its topics', t => {
	for (const kind of kinds.filter(each => each.kind in manifests)) {
		t.true(mayRequest({name: 'a', role: 'view'}, 'list', kind.plural), qualifiedPlural(kind));
		t.false(mayRequest({name: 'a', role: 'view'}, 'create', kind.plural));
		t.true(mayRequest({name: 'a', role: 'edit'}, 'create', kind.plural));
		t.is(objectTopic(kind.plural, 'default', 'web'), `troupe/v1/objects/${kind.plural}/default/web`);
	}
});

test('Kubernetes’ defaults are filled in', t => {
	const specOf = (manifest: unknown): unknown => {
		const admitted = admitCreate(manifest);
		return admitted.ok ? admitted.value.spec : admitted.error.message;
	};
	t.like(specOf(manifests.Service), {type: 'ClusterIP', sessionAffinity: 'None', ports: [{protocol: 'TCP', targetPort: 8080}]});
	t.like(specOf(manifests.Deployment), {
		strategy: {type: 'RollingUpdate', rollingUpdate: {maxSurge: '25%', maxUnavailable: '25%'}},
		revisionHistoryLimit: 10,
		progressDeadlineSeconds: 600,
	});
	const bare = mergePatch(manifests.HorizontalPodAutoscaler, {spec: {metrics: null, minReplicas: null}});
	t.like(specOf(bare), {minReplicas: 1, metrics: [{resource: {name: 'cpu', target: {averageUtilization: 80}}}]});
});

const patched = (kind: keyof typeof manifests, patch: JsonObject): Json => mergePatch(manifests[kind], patch);

const refusals: readonly [title: string, manifest: unknown, problem: string][] = [
	[
		'a service whose name is no DNS label',
		patched('Service', {metadata: {name: '1web'}}),
		'metadata.name: must be lower-case letters, digits and "-", starting with a letter, at most 63 characters, got "1web"',
	],
	['a service without a port', patched('Service', {spec: {ports: []}}), 'spec.ports: at least one port is required'],
	[
		'ports of a service without names',
		patched('Service', {spec: {ports: [{port: 1, name: 'a'}, {port: 2}]}}),
		'spec.ports[1].name: is required where there are several ports',
	],
	[
		'two ports of a service with one number',
		patched('Service', {
			spec: {
				ports: [
					{port: 1, name: 'a'},
					{port: 1, name: 'b'},
				],
			},
		}),
		'spec.ports[1].port: port 1/TCP is that of spec.ports[0] already',
	],
	[
		'a node port without its type',
		patched('Service', {spec: {ports: [{port: 1, nodePort: 30_001}]}}),
		'spec.ports[0].nodePort: needs type: NodePort or LoadBalancer',
	],
	[
		'a target port in quotes',
		patched('Service', {spec: {ports: [{port: 1, targetPort: '80'}]}}),
		'spec.ports[0].targetPort: must be a port from 1 to 65535 or the name of one, got "80"; leave out the quotes',
	],
	[
		'an address that is none',
		patched('Service', {spec: {clusterIP: '10.0.0.256'}}),
		'spec.clusterIP: must be an IPv4 address, "None" or empty, got "10.0.0.256"',
	],
	[
		'an endpoint of another family',
		patched('EndpointSlice', {endpoints: [{addresses: ['::1']}]}),
		'endpoints[0].addresses[0]: must be an IPv4 address, got "::1"',
	],
	[
		'an update that could replace no pod',
		patched('Deployment', {spec: {strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: '0%'}}}}),
		'spec.strategy.rollingUpdate.maxUnavailable: must not be 0 when maxSurge is 0: no pod could ever be replaced',
	],
	[
		'a part that is none',
		patched('Deployment', {spec: {strategy: {rollingUpdate: {maxSurge: '25'}}}}),
		'spec.strategy.rollingUpdate.maxSurge: must be a whole number from 0 on, or a part such as "25%", got "25"',
	],
	[
		'a template of a set that gives up',
		patched('Deployment', {spec: {template: {spec: {restartPolicy: 'Never'}}}}),
		'spec.template.spec.restartPolicy: must be Always in a Deployment, got "Never"',
	],
	[
		'more pods than the most',
		patched('HorizontalPodAutoscaler', {spec: {minReplicas: 9}}),
		'spec.maxReplicas: must be at least minReplicas (9), got 5',
	],
	[
		'a metric that says nothing',
		patched('HorizontalPodAutoscaler', {spec: {metrics: [{type: 'Pods'}]}}),
		'spec.metrics[0].pods: is required',
	],
	[
		'a metric without its target',
		patched('HorizontalPodAutoscaler', {spec: {metrics: [{type: 'Resource', resource: {name: 'cpu', target: {type: 'Utilization'}}}]}}),
		'spec.metrics[0].resource.target.averageUtilization: is required when the type is Utilization',
	],
	[
		'a path without a slash',
		patched('Dns', {spec: {paths: [{subPath: 'api', svcName: 'a', svcPort: 1}]}}),
		'spec.paths[0].subPath: must be a path that begins with "/", without spaces, "?" and "#", got "api"',
	],
	[
		'a partition that is more than a word',
		patched('SlurmJob', {spec: {partition: 'a; rm -r'}}),
		'spec.partition: must be letters, digits, "-", "_", "." and ",", got "a; rm -r"',
	],
	[
		'a file outside of the folder of a job',
		patched('SlurmJob', {spec: {outputFile: '../a'}}),
		'spec.outputFile: must be a path in the folder of the job, of letters, digits and "._-+=@,%/", got "../a"',
	],
	['code from nowhere', patched('Function', {spec: {userUploadFilePath: ''}}), 'spec.userUploadFilePath: must not be empty'],
];

for (const [title, manifest, problem] of refusals) test(`refuses ${title}`, t => t.deepEqual(problemsOf(manifest), [problem]));

test('a slice keeps its family, a service its address', t => {
	const changed = (manifest: unknown, patch: JsonObject): string => {
		const old = committed(manifest);
		const admitted = admitUpdate(mergePatch(old as unknown as Json, patch), old);
		return admitted.ok ? '' : admitted.error.message;
	};
	t.is(
		changed(mergePatch(manifests.EndpointSlice, {endpoints: []}), {addressType: 'IPv6'}),
		'addressType: cannot be changed; delete the object and create it again',
	);
	t.is(
		changed(mergePatch(manifests.Service, {spec: {clusterIP: '10.0.0.1'}}), {spec: {clusterIP: '10.0.0.2'}}),
		'spec.clusterIP: cannot be changed: it is "10.0.0.1", got "10.0.0.2"',
	);
	t.is(changed(manifests.Deployment, {spec: {replicas: 4}}), '');
});
