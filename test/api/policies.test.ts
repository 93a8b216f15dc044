// What budgets, quotas and limits may say: which of it is refused, and where.

import test from 'ava';
import type {JsonObject} from '../../api/object.js';
import {cells, committed, problemsOf} from './_objects.js';

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

const aLimitRange = (...limits: readonly JsonObject[]): JsonObject => ({
	apiVersion: 'v1',
	kind: 'LimitRange',
	metadata: {name: 'web'},
	spec: {limits},
});

test('limits are of cpu and memory, of claims of storage, once for each type, and in order', t => {
	const at = 'spec.limits[0]';
	t.deepEqual(
		problemsOf(
			aLimitRange(
				{
					type: 'Container',
					min: {cpu: '50m'},
					max: {cpu: 2},
					default: {cpu: 1},
					defaultRequest: {cpu: '100m'},
					maxLimitRequestRatio: {cpu: 10},
				},
				{type: 'Pod', max: {memory: '2Gi'}},
				{type: 'PersistentVolumeClaim', min: {storage: '1Gi'}},
			),
		),
		[],
	);
	const wrong: readonly (readonly [JsonObject, string])[] = [
		[{type: 'Container', max: {cpu: '1'}, min: {cpu: '2'}}, `${at}.max.cpu: must be at least the min of "2", got "1"`],
		[
			{type: 'Container', default: {cpu: '1'}, defaultRequest: {cpu: '2'}},
			`${at}.default.cpu: must be at least the defaultRequest of "2", got "1"`,
		],
		[{type: 'Container', max: {gpu: 1}}, `${at}.max.gpu: the resource "gpu" is not supported yet; cpu and memory are`],
		[{type: 'Container', max: {memory: 'much'}}, `${at}.max.memory: must be a quantity such as "128Mi" or 134217728, got "much"`],
		[{type: 'Container', maxLimitRequestRatio: {cpu: '500m'}}, `${at}.maxLimitRequestRatio.cpu: must be a number from 1 on, got "500m"`],
		[
			{type: 'Container', min: {cpu: 1}, max: {cpu: 2}, maxLimitRequestRatio: {cpu: 3}},
			`${at}.maxLimitRequestRatio.cpu: must be at most max/min, 2, got "3"`,
		],
		[{type: 'Pod', default: {cpu: 1}}, `${at}.default: must not be set when the type is "Pod": only containers have defaults`],
		[{type: 'PersistentVolumeClaim'}, `${at}: must have a max or a min of storage`],
		[{type: 'PersistentVolumeClaim', max: {cpu: 1}}, `${at}.max.cpu: the resource "cpu" is not supported yet; storage is`],
	];
	for (const [item, problem] of wrong)
		t.true(problemsOf(aLimitRange(item)).includes(problem), `${problem}\n${problemsOf(aLimitRange(item)).join('\n')}`);
	t.deepEqual(problemsOf(aLimitRange({type: 'Pod'}, {type: 'Pod'})), [
		'spec.limits[1].type: "Pod" is there already, at spec.limits[0].type',
	]);
});

test('a container gets as its limit the most there is, and as its request the limit or else the least', t => {
	const {spec} = committed(aLimitRange({type: 'Container', max: {cpu: 2}, min: {cpu: '100m', memory: '1Mi'}}));
	t.deepEqual(spec, {
		limits: [
			{
				type: 'Container',
				max: {cpu: '2'},
				min: {cpu: '100m', memory: '1Mi'},
				default: {cpu: '2'},
				defaultRequest: {cpu: '2', memory: '1Mi'},
			},
		],
	});
});

const aQuota = (hard: JsonObject, more: JsonObject = {}): JsonObject => ({
	apiVersion: 'v1',
	kind: 'ResourceQuota',
	metadata: {name: 'web'},
	spec: {hard, ...more},
});

test('a quota is of pods, what they ask for, and objects by their plural and group', t => {
	const hard = {
		pods: 4,
		cpu: 2,
		'requests.cpu': '500m',
		'limits.memory': '1Gi',
		'count/deployments.apps': '3',
		secrets: 10,
		'requests.nvidia.com/gpu': 2,
		'requests.storage': '1Gi',
		'local.storageclass.storage.k8s.io/requests.storage': '1Gi',
		'my-own.class.storageclass.storage.k8s.io/persistentvolumeclaims': 3,
	};
	t.deepEqual(problemsOf(aQuota(hard)), []);
	t.deepEqual(problemsOf(aQuota({}, {hard: null})), []);
	t.deepEqual(problemsOf(aQuota({pod: 1})), [
		'spec.hard.pod: no quota can be of "pod"; of objects it is count/PLURAL.GROUP; did you mean "pods"?',
	]);
	t.regex(problemsOf(aQuota({'services.nodeports': 1}))[0] ?? '', /no quota can be of "services\.nodeports"/);
	t.regex(problemsOf(aQuota({'limits.nvidia.com/gpu': 1}))[0] ?? '', /no quota can be of "limits\.nvidia\.com\/gpu"/);
	t.regex(problemsOf(aQuota({'requests.nvidia.com/gpu': '1.5'}))[0] ?? '', /must be a quantity from 0 on, got "1\.5"$/);
	t.regex(problemsOf(aQuota({pods: '1.5'}))[0] ?? '', /must be a whole number from 0 on, got "1\.5"$/);
	t.regex(problemsOf(aQuota({'local.storageclass.storage.k8s.io/pods': 1}))[0] ?? '', /no quota can be of "local\.storageclass/);
	t.regex(
		problemsOf(aQuota({'local.storageclass.storage.k8s.io/persistentvolumeclaims': '0.5'}))[0] ?? '',
		/must be a whole number from 0 on, got "0\.5"$/,
	);
	t.regex(problemsOf(aQuota({pods: -1}))[0] ?? '', /must be a whole number from 0 on, got "-1"$/);
	t.regex(problemsOf(aQuota({'requests.storage': '8Pi'}))[0] ?? '', /must be a quantity from 0 to "9007199254740991", got "8Pi"$/);
	t.regex(problemsOf(aQuota({memory: 'much'}))[0] ?? '', /must be a quantity from 0 on, got "much"$/);
});

test('scopes are about pods, hold together, and stay', t => {
	const classes = (operator: string, values: readonly string[]): JsonObject => ({
		scopeSelector: {matchExpressions: [{scopeName: 'PriorityClass', operator, values}]},
	});
	t.deepEqual(problemsOf(aQuota({pods: 1, cpu: 1}, {scopes: ['NotTerminating'], ...classes('In', ['high'])})), []);
	t.regex(
		problemsOf(aQuota({cpu: 1}, {scopes: ['BestEffort']}))[0] ?? '',
		/must not be set with the scope "BestEffort": only pods are counted by it$/,
	);
	t.regex(problemsOf(aQuota({secrets: 1}, {scopes: ['Terminating']}))[0] ?? '', /scopes are about pods$/);
	t.deepEqual(problemsOf(aQuota({pods: 1}, {scopes: ['BestEffort', 'NotBestEffort']})), [
		'spec.scopes: no pod is BestEffort and NotBestEffort',
	]);
	t.regex(problemsOf(aQuota({pods: 1}, classes('In', [])))[0] ?? '', /values: must name a value when the operator is In$/);
	t.regex(problemsOf(aQuota({pods: 1}, classes('Exists', ['a'])))[0] ?? '', /values: must be empty when the operator is Exists$/);
	const ofDeadline = {scopeSelector: {matchExpressions: [{scopeName: 'Terminating', operator: 'DoesNotExist'}]}};
	t.regex(problemsOf(aQuota({pods: 1}, ofDeadline))[0] ?? '', /operator: must be Exists with the scope "Terminating"/);
	const old = committed(aQuota({pods: 1}, {scopes: ['Terminating']}));
	t.deepEqual(problemsOf({...old, spec: {hard: {pods: '2'}, scopes: ['Terminating']}}, old), []);
	t.deepEqual(problemsOf({...old, spec: {hard: {pods: '2'}}}, old), [
		'spec.scopes: cannot be changed; delete the object and create it again',
	]);
});

test('a quota shows requests and limits apart', t => {
	const status = {hard: {pods: '4', 'limits.cpu': '2', cpu: '1'}, used: {pods: '1', 'limits.cpu': '500m'}};
	t.deepEqual(cells('resourcequotas', {...committed(aQuota({pods: 4})), status}), ['web', 'cpu: 0/1, pods: 1/4', 'limits.cpu: 500m/2']);
});
