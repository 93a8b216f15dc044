// What the scheduler is told by pods, nodes and classes: which of it is refused, and where.

import test from 'ava';
import {admitCreate} from '../../api/admission.js';
import {requiredFeatures} from '../../api/features.js';
import {podLimits, podRequests} from '../../api/pod-resources.js';
import {memoryText} from '../../api/quantity.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {problemsOf} from './_objects.js';

const podWith = (spec: JsonObject): JsonObject => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name: 'web'},
	spec: {containers: [{name: 'main', image: 'program', command: ['run']}], ...spec},
});

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

const nodeTerm = (...matchExpressions: readonly JsonObject[]): JsonObject => ({
	affinity: {nodeAffinity: {[required]: {nodeSelectorTerms: [{matchExpressions}]}}},
});
const at = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`;

const refusals: readonly (readonly [string, JsonObject, string])[] = [
	[
		'In without values',
		nodeTerm({key: 'a', operator: 'In'}),
		`${at}[0].matchExpressions[0].values: must name a value when the operator is In`,
	],
	[
		'Exists with values',
		nodeTerm({key: 'a', operator: 'Exists', values: ['x']}),
		`${at}[0].matchExpressions[0].values: must be empty when the operator is Exists`,
	],
	[
		'Gt with a word',
		nodeTerm({key: 'a', operator: 'Gt', values: ['many']}),
		`${at}[0].matchExpressions[0].values: must be one whole number as text when the operator is Gt, got "many"`,
	],
	[
		'no term',
		{affinity: {nodeAffinity: {[required]: {nodeSelectorTerms: []}}}},
		`${at}: must have at least one term: without any no node matches`,
	],
	[
		'a field that nodes have not',
		{affinity: {nodeAffinity: {[required]: {nodeSelectorTerms: [{matchFields: [{key: 'spec.x', operator: 'In', values: ['a']}]}]}}}},
		`${at}[0].matchFields[0].key: must be metadata.name, got "spec.x"`,
	],
	[
		'a weight out of range',
		{affinity: {nodeAffinity: {[preferred]: [{weight: 101, preference: {}}]}}},
		`spec.affinity.nodeAffinity.${preferred}[0].weight: must be a whole number from 1 to 100, got 101`,
	],
	[
		'pod affinity without a topologyKey',
		{affinity: {podAntiAffinity: {[required]: [{topologyKey: '', labelSelector: {}}]}}},
		`spec.affinity.podAntiAffinity.${required}[0].topologyKey: is required: the label of nodes that makes the parts, such as "kubernetes.io/hostname"`,
	],
	[
		'pod affinity of a namespace that is none',
		{affinity: {podAffinity: {[required]: [{topologyKey: 'zone', namespaces: ['A']}]}}},
		`spec.affinity.podAffinity.${required}[0].namespaces[0]: must be lower-case letters, digits and "-", with a letter or digit at both ends, at most 63 characters, got "A"`,
	],
	[
		'two spreads of one kind',
		{topologySpreadConstraints: [1, 2].map(maxSkew => ({maxSkew, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule'}))},
		'spec.topologySpreadConstraints[1]: zone with DoNotSchedule is at spec.topologySpreadConstraints[0] already',
	],
	[
		'a maxSkew of 0',
		{topologySpreadConstraints: [{maxSkew: 0, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule'}]},
		'spec.topologySpreadConstraints[0].maxSkew: must be a whole number from 1 to 2147483647, got 0',
	],
];

for (const [title, spec, problem] of refusals) test(`refuses ${title}`, t => t.deepEqual(problemsOf(podWith(spec)), [problem]));

test('takes a pod that uses all of it', t => {
	const term = {topologyKey: 'zone', labelSelector: {matchLabels: {app: 'web'}}, namespaces: ['default']};
	t.deepEqual(
		problemsOf(
			podWith({
				affinity: {
					nodeAffinity: {
						[required]: {nodeSelectorTerms: [{matchExpressions: [{key: 'cores', operator: 'Gt', values: ['4']}]}]},
						[preferred]: [{weight: 1, preference: {matchFields: [{key: 'metadata.name', operator: 'NotIn', values: ['a']}]}}],
					},
					podAffinity: {[required]: [term], [preferred]: [{weight: 100, podAffinityTerm: term}]},
					podAntiAffinity: {[required]: [{topologyKey: 'kubernetes.io/hostname', labelSelector: {}}]},
				},
				topologySpreadConstraints: [{maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {}}],
				tolerations: [{operator: 'Exists'}],
			}),
		),
		[],
	);
});

const aClass = (name: string, more: JsonObject = {}): JsonObject => ({
	apiVersion: 'scheduling.k8s.io/v1',
	kind: 'PriorityClass',
	metadata: {name},
	value: 1000,
	...more,
});

test('a PriorityClass needs a value, below those of the system, and no name of theirs', t => {
	t.deepEqual(problemsOf(aClass('high')), []);
	t.deepEqual(problemsOf(aClass('high', {value: null})), ['value: is required']);
	t.deepEqual(problemsOf(aClass('high', {value: 1_000_000_001})), [
		"value: must be at most 1000000000: higher ones are the system's, got 1000000001",
	]);
	t.deepEqual(problemsOf(aClass('system-mine')), ['metadata.name: names that begin with "system-" are the system\'s, got "system-mine"']);
	t.deepEqual(problemsOf(aClass('system-node-critical', {value: 2_000_001_000})), []);
	t.deepEqual(problemsOf(aClass('system-node-critical')), ['value: must be 2000001000 in "system-node-critical", got 1000']);
});

test('the value and the policy of a PriorityClass stay, its description may change', t => {
	const admitted = admitCreate(aClass('high', {preemptionPolicy: 'Never'}));
	if (!admitted.ok) throw new Error(admitted.error.message);
	const old = {
		...admitted.value,
		metadata: {...admitted.value.metadata, uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: ''},
	} as ApiObject;
	t.deepEqual(problemsOf({...old, description: 'new', globalDefault: true}, old), []);
	t.deepEqual(problemsOf({...old, value: 5, preemptionPolicy: 'PreemptLowerPriority'}, old), [
		'value: cannot be changed; delete the object and create it again',
		'preemptionPolicy: cannot be changed; delete the object and create it again',
	]);
});

const main = {name: 'main', image: 'x'};

test('a pod asks for the features of what it uses', t => {
	t.deepEqual(requiredFeatures({containers: [{...main, resources: {limits: {cpu: '1'}}}]}), []);
	t.deepEqual(requiredFeatures({containers: [{...main, tty: true, stdin: true}]}), ['terminal']);
	t.deepEqual(requiredFeatures({containers: [main], initContainers: [{...main, securityContext: {runAsUser: 5}}]}), ['users']);
	t.deepEqual(requiredFeatures({containers: [main], securityContext: {fsGroup: 5}}), ['users']);
	t.deepEqual(requiredFeatures({containers: [main], securityContext: {runAsNonRoot: true}}), []);
	t.deepEqual(requiredFeatures({containers: [main], volumes: [{name: 'v', emptyDir: {}}]}), ['volumes']);
	t.deepEqual(requiredFeatures({containers: [{...main, securityContext: {readOnlyRootFilesystem: true}}]}), ['volumes']);
});

test('what a pod asks for is the sum of its containers, or the largest init container where that is more', t => {
	const asking = (cpu: string, memory: string) => ({...main, resources: {requests: {cpu, memory}, limits: {cpu: '2', memory}}});
	const spec = {containers: [asking('100m', '1Gi'), asking('200m', '1Gi')], initContainers: [asking('250m', '3Gi'), asking('1', '1Ki')]};
	t.deepEqual(podRequests(spec), {cpuMillis: 1000, memoryBytes: 3 * 2 ** 30, gpus: 0});
	t.deepEqual(podLimits(spec), {cpuMillis: 4000, memoryBytes: 3 * 2 ** 30, gpus: 0});
	t.deepEqual(podRequests({containers: [{...main, resources: {limits: {cpu: '1'}}}]}), {cpuMillis: 1000, memoryBytes: 0, gpus: 0});
});

test('a sidecar counts with the containers, and with each init container after it', t => {
	const asking = (cpu: string) => ({...main, resources: {requests: {cpu}}});
	const sidecar = (cpu: string) => ({...asking(cpu), restartPolicy: 'Always' as const});
	const cpuOf = (...initContainers: readonly ReturnType<typeof asking>[]) =>
		podRequests({containers: [asking('200m')], initContainers}).cpuMillis;
	t.is(cpuOf(sidecar('100m'), sidecar('50m')), 350);
	t.is(cpuOf(sidecar('100m'), asking('400m')), 500);
	t.is(cpuOf(asking('400m'), sidecar('100m')), 400);
	t.is(cpuOf(asking('220m'), sidecar('100m')), 300);
});

test('bytes are written in the largest unit of which they are a whole number', t => {
	t.deepEqual([0, 1, 1024, 1536 * 2 ** 20, 2 ** 40, 1000].map(memoryText), ['0', '1', '1Ki', '1536Mi', '1Ti', '1000']);
});
