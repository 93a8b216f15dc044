// DaemonSets, StatefulSets and their revisions: what is admitted, with which defaults, and which row says what one is.

import test from 'ava';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {kindByPlural} from '../../api/catalogue.js';
import type {DaemonSet} from '../../api/kinds/daemonset.js';
import type {StatefulSet} from '../../api/kinds/statefulset.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {tableOf} from '../../api/table.js';
import {committed, problemsOf} from './_objects.js';

const template = {metadata: {labels: {app: 'web'}}, spec: {containers: [{name: 'main', image: 'node:20', command: ['node']}]}};

const daemonSet = (spec: JsonObject = {}) => ({
	apiVersion: 'apps/v1',
	kind: 'DaemonSet',
	metadata: {name: 'web', namespace: 'default'},
	spec: {selector: {matchLabels: {app: 'web'}}, template, ...spec},
});

const admittedSpec = (manifest: object): unknown => {
	const admitted = admitCreate(manifest);
	return admitted.ok ? admitted.value.spec : admitted.error.message;
};

test('a DaemonSet has the defaults of Kubernetes', t => {
	t.like(admittedSpec(daemonSet()), {
		updateStrategy: {type: 'RollingUpdate', rollingUpdate: {maxUnavailable: 1, maxSurge: 0}},
		revisionHistoryLimit: 10,
		template: {spec: {restartPolicy: 'Always', terminationGracePeriodSeconds: 30}},
	});
	t.deepEqual((admittedSpec(daemonSet({updateStrategy: {type: 'OnDelete'}})) as DaemonSet['spec'])?.updateStrategy, {type: 'OnDelete'});
	t.deepEqual(kindByPlural('daemonsets')?.initialStatus?.(committed(daemonSet())), {
		desiredNumberScheduled: 0,
		currentNumberScheduled: 0,
		numberMisscheduled: 0,
		numberReady: 0,
	});
});

const rolling = (maxUnavailable: number | string, maxSurge: number | string): JsonObject => ({
	updateStrategy: {type: 'RollingUpdate', rollingUpdate: {maxUnavailable, maxSurge}},
});

test('what a DaemonSet cannot be is refused with the field', t => {
	const wrong: readonly (readonly [JsonObject, RegExp])[] = [
		[rolling(0, 0), /maxUnavailable: must not be 0 when maxSurge is 0/],
		[rolling(1, 1), /maxSurge: must be 0 unless maxUnavailable is 0/],
		[rolling('many', 0), /maxUnavailable: must be a whole number from 0 on, or a part/],
		[rolling('120%', 0), /maxUnavailable: must be a whole number/],
		[{updateStrategy: {type: 'OnDelete', rollingUpdate: {}}}, /rollingUpdate: must not be set when the type is OnDelete/],
		[{selector: {matchLabels: {app: 'other'}}}, /must match spec.selector/],
		[{template: {...template, spec: {...template.spec, restartPolicy: 'Never'}}}, /restartPolicy: must be Always in a DaemonSet/],
		[
			{template: {...template, spec: {...template.spec, activeDeadlineSeconds: 5}}},
			/activeDeadlineSeconds: must not be set in a DaemonSet/,
		],
		[{replicas: 2}, /replicas/],
	];
	for (const [spec, problem] of wrong) t.regex(problemsOf(daemonSet(spec)).join('\n'), problem);
	for (const spec of [rolling(0, '10%'), rolling('30%', 0), {minReadySeconds: 5}]) t.deepEqual(problemsOf(daemonSet(spec)), []);
	const old = committed(daemonSet()) as DaemonSet;
	t.false(admitUpdate({...old, spec: {...old.spec, selector: {matchLabels: {app: 'b'}}}}, old).ok);
});

const nowMs = Date.parse('2026-01-01T00:03:20Z');

const rowOf = (plural: string, object: ApiObject): readonly unknown[] => {
	const kind = kindByPlural(plural);
	return kind === undefined ? [] : (tableOf(kind, [object], nowMs).rows[0]?.cells ?? []);
};

test('the row of a DaemonSet is that of kubectl', t => {
	const status = {desiredNumberScheduled: 3, currentNumberScheduled: 3, numberMisscheduled: 0, numberReady: 2, updatedNumberScheduled: 1};
	t.deepEqual(rowOf('daemonsets', committed(daemonSet(), {...status, numberAvailable: 2})), [
		'web',
		3,
		3,
		2,
		1,
		2,
		'<none>',
		'3m20s',
		'main',
		'node:20',
		'app=web',
	]);
	const selected = daemonSet({template: {...template, spec: {...template.spec, nodeSelector: {disk: 'ssd'}}}});
	t.is(rowOf('daemonsets', committed(selected))[6], 'disk=ssd');
});

const revision = {
	apiVersion: 'apps/v1',
	kind: 'ControllerRevision',
	metadata: {
		name: 'web-1',
		namespace: 'default',
		ownerReferences: [{apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'web', uid: 'u', controller: true}],
	},
	data: {spec: {template: {$patch: 'replace', ...template}}},
	revision: 2,
};

test('a revision keeps its data, may get another number, and says whose it is', t => {
	t.deepEqual(problemsOf(revision), []);
	const old = committed(revision);
	t.deepEqual(rowOf('controllerrevisions', old), ['web-1', 'daemonset.apps/web', 2, '3m20s']);
	t.true(admitUpdate({...old, revision: 3}, old).ok);
	t.regex(JSON.stringify(admitUpdate({...old, data: {}}, old)), /data: cannot be changed/);
	t.regex(problemsOf({...revision, revision: -1}).join(), /revision/);
});

const statefulSet = (spec: JsonObject = {}, name = 'db') => ({
	apiVersion: 'apps/v1',
	kind: 'StatefulSet',
	metadata: {name, namespace: 'default'},
	spec: {selector: {matchLabels: {app: 'web'}}, template, ...spec},
});

const claim = (name: string, spec: JsonObject = {}): JsonObject => ({
	metadata: {name},
	spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}, ...spec},
});

const mounting = (name: string): JsonObject => ({
	...template,
	spec: {containers: [{...template.spec.containers[0], volumeMounts: [{name, mountPath: '/data'}]}]},
});

test('a StatefulSet may have templates of claims, which containers name as volumes, and which stay', t => {
	const exported = {
		...claim('data'),
		apiVersion: 'v1',
		kind: 'PersistentVolumeClaim',
		metadata: {name: 'data', creationTimestamp: null},
		status: {phase: 'Pending'},
	};
	const set = (claims: readonly JsonObject[], more: JsonObject = {}) =>
		statefulSet({template: mounting('data'), volumeClaimTemplates: [...claims], ...more});
	t.deepEqual(problemsOf(set([claim('data')])), []);
	t.like(admittedSpec(set([claim('data')], {persistentVolumeClaimRetentionPolicy: {whenScaled: 'Delete'}})), {
		volumeClaimTemplates: [{apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'data'}}],
		persistentVolumeClaimRetentionPolicy: {whenDeleted: 'Retain', whenScaled: 'Delete'},
	});
	const old = committed(set([claim('data')]));
	const change = (claims: readonly JsonObject[], more: JsonObject = {}): string =>
		JSON.stringify(admitUpdate({...set(claims, more), metadata: old.metadata}, old));
	t.regex(change([exported], {persistentVolumeClaimRetentionPolicy: {whenDeleted: 'Delete'}}), /"ok":true/);
	for (const claims of [[claim('data', {resources: {requests: {storage: '2Gi'}}})], [claim('data'), claim('more')]])
		t.regex(
			change(claims),
			/spec\.volumeClaimTemplates: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden/,
		);
});

test('a StatefulSet has the defaults of Kubernetes', t => {
	t.like(admittedSpec(statefulSet({serviceName: 'db'})), {
		replicas: 1,
		serviceName: 'db',
		podManagementPolicy: 'OrderedReady',
		updateStrategy: {type: 'RollingUpdate', rollingUpdate: {partition: 0, maxUnavailable: 1}},
		revisionHistoryLimit: 10,
		persistentVolumeClaimRetentionPolicy: {whenDeleted: 'Retain', whenScaled: 'Retain'},
	});
	t.deepEqual(kindByPlural('statefulsets')?.initialStatus?.(committed(statefulSet())), {replicas: 0, availableReplicas: 0});
});

test('what a StatefulSet cannot be is refused with the field', t => {
	const wrong: readonly (readonly [JsonObject, RegExp])[] = [
		[{volumeClaimTemplates: [claim('data'), claim('data')]}, /volumeClaimTemplates\[1\]\.metadata\.name: there is a claim "data" already/],
		[{volumeClaimTemplates: [claim('Data')]}, /volumeClaimTemplates\[0\]\.metadata\.name: /],
		[{volumeClaimTemplates: [{...claim('data'), kind: 'Pod'}]}, /volumeClaimTemplates\[0\]\.kind/],
		[{volumeClaimTemplates: [{metadata: {name: 'data'}}]}, /volumeClaimTemplates\[0\]\.spec: .*required/],
		[{volumeClaimTemplates: [claim('data', {accessModes: []})]}, /volumeClaimTemplates\[0\]\.spec\.accessModes: must name at least one/],
		[
			{volumeClaimTemplates: [claim('data', {resources: {}})]},
			/volumeClaimTemplates\[0\]\.spec\.resources\.requests\.storage: is required/,
		],
		[{volumeClaimTemplates: Array.from({length: 33}, (_, i) => claim(`d${i}`))}, /volumeClaimTemplates: must be at most 32, got 33/],
		[
			{replicas: 3126, volumeClaimTemplates: Array.from({length: 32}, (_, i) => claim(`d${i}`))},
			/spec\.replicas: must be at most 3125 with 32 volumeClaimTemplates, got 3126/,
		],
		[{template: mounting('data')}, /volumeMounts\[0\]\.name: there is no volume "data" in the pod/],
		[{persistentVolumeClaimRetentionPolicy: {whenDeleted: 'Keep'}}, /persistentVolumeClaimRetentionPolicy\.whenDeleted/],
		[{updateStrategy: {rollingUpdate: {maxUnavailable: 0}}}, /maxUnavailable: must not be 0/],
		[{updateStrategy: {rollingUpdate: {partition: -1}}}, /partition/],
		[{updateStrategy: {type: 'OnDelete', rollingUpdate: {}}}, /rollingUpdate: must not be set when the type is OnDelete/],
		[{podManagementPolicy: 'Random'}, /podManagementPolicy/],
		[{ordinals: {start: -1}}, /start/],
		[
			{template: {...template, spec: {...template.spec, activeDeadlineSeconds: 5}}},
			/activeDeadlineSeconds: must not be set in a StatefulSet/,
		],
	];
	for (const [spec, problem] of wrong) t.regex(problemsOf(statefulSet(spec)).join('\n'), problem);
	t.regex(problemsOf(statefulSet({}, 'a.b')).join(), /metadata.name/);
	t.regex(problemsOf(statefulSet({}, 'n'.repeat(53))).join(), /metadata.name: must have at most 52 characters, got 53/);
	t.deepEqual(problemsOf(statefulSet({}, 'n'.repeat(52))), []);
	const most = {replicas: 3125, volumeClaimTemplates: Array.from({length: 32}, (_, i) => claim(`d${i}`))};
	t.deepEqual(problemsOf(statefulSet(most)), []);
	const old = committed(statefulSet({serviceName: 'db'})) as StatefulSet;
	const change = (spec: object): string => JSON.stringify(admitUpdate({...old, spec: {...old.spec, ...spec}}, old));
	for (const [spec, field] of [
		[{serviceName: 'other'}, 'spec.serviceName'],
		[{podManagementPolicy: 'Parallel'}, 'spec.podManagementPolicy'],
		[{selector: {matchLabels: {app: 'b'}}}, 'spec.selector'],
	] as const)
		t.true(change(spec).includes(`${field}: cannot be changed`), change(spec));
	t.regex(change({replicas: 3, ordinals: {start: 1}}), /"ok":true/);
});

test('the row of a StatefulSet is that of kubectl', t => {
	t.deepEqual(rowOf('statefulsets', committed(statefulSet({replicas: 3}), {replicas: 3, readyReplicas: 2})), [
		'db',
		'2/3',
		'3m20s',
		'main',
		'node:20',
	]);
});
