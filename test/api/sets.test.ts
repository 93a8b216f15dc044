// DaemonSets and their revisions: what is admitted, with which defaults, and which row says what one is.

import test from 'ava';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {kindByPlural} from '../../api/catalogue.js';
import type {DaemonSet} from '../../api/kinds/daemonset.js';
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
