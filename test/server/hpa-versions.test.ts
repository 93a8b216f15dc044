// autoscaling/v1 beside v2 at the door: read, made, changed and followed in either, and made from what kubectl sends of its own.

import test from 'ava';
import {limits} from '../../api/limits.js';
import {manifests} from '../api/_manifests.js';
import {openDoor} from './door.js';

const v1 = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
const v2 = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
const ofV1 = {
	apiVersion: 'autoscaling/v1',
	kind: 'HorizontalPodAutoscaler',
	metadata: {name: 'web'},
	spec: {scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: 'web'}, maxReplicas: 4, targetCPUUtilizationPercentage: 60},
};

test('the group lists v2 first, and both versions have the same resource', async t => {
	const {json} = await openDoor(t);
	const group = await json(200, 'GET', '/apis/autoscaling');
	t.like(group, {preferredVersion: {version: 'v2'}, versions: [{version: 'v2'}, {version: 'v1'}]});
	for (const version of ['v1', 'v2'])
		t.like(await json(200, 'GET', `/apis/autoscaling/${version}`), {resources: [{name: 'horizontalpodautoscalers', shortNames: ['hpa']}]});
	t.like(await json(200, 'GET', '/openapi/v3/apis/autoscaling/v1'), {
		components: {
			schemas: {
				'dev.troupe.HorizontalPodAutoscaler': {properties: {spec: {properties: {targetCPUUtilizationPercentage: {type: 'integer'}}}}},
			},
		},
	});
});

test('an object is made in one version and read in both', async t => {
	const {call, json} = await openDoor(t);
	const made = await call('POST', v1, ofV1);
	t.is(made.status, 201);
	t.is(made.headers['warning'], undefined, 'who speaks to a version knows it');
	t.like(JSON.parse(made.text), {apiVersion: 'autoscaling/v1', spec: {targetCPUUtilizationPercentage: 60}});
	t.like(await json(200, 'GET', `${v2}/web`), {
		apiVersion: 'autoscaling/v2',
		spec: {metrics: [{resource: {name: 'cpu', target: {averageUtilization: 60}}}]},
	});
	t.like(await json(200, 'GET', v1), {
		kind: 'HorizontalPodAutoscalerList',
		apiVersion: 'autoscaling/v1',
		items: [{apiVersion: 'autoscaling/v1'}],
	});
	const table = {accept: 'application/json;as=Table;v=v1;g=meta.k8s.io'};
	const rows = JSON.parse((await call('GET', v1, undefined, table)).text) as {rows: {cells: unknown[]}[]};
	t.deepEqual(rows.rows[0]?.cells.slice(0, 3), ['web', 'Deployment/web', 'cpu: <unknown>/60%']);
	await json(200, 'DELETE', `${v1}/web`);
	await json(404, 'GET', `${v2}/web`);
});

test('what v1 has no member for survives a change by v1, in each form of a patch', async t => {
	const {json} = await openDoor(t);
	const behavior = {scaleDown: {stabilizationWindowSeconds: 7}};
	await json(201, 'POST', v2, {...manifests.HorizontalPodAutoscaler, spec: {...manifests.HorizontalPodAutoscaler.spec, behavior}});
	const patch = (type: string, body: object, status = 200) =>
		json(status, 'PATCH', `${v1}/web`, body, {'content-type': `application/${type}+json`});
	t.like(await patch('merge-patch', {spec: {targetCPUUtilizationPercentage: 70}}), {spec: {targetCPUUtilizationPercentage: 70}});
	await patch('strategic-merge-patch', {metadata: {labels: {a: 'b'}}});
	await patch('json-patch', [{op: 'replace', path: '/spec/maxReplicas', value: 3}]);
	t.like(await json(200, 'GET', `${v2}/web`), {
		metadata: {labels: {a: 'b'}},
		spec: {maxReplicas: 3, behavior, metrics: [{resource: {target: {averageUtilization: 70}}}]},
	});
	const read = await json<{spec: object}>(200, 'GET', `${v1}/web`);
	await json(200, 'PUT', `${v1}/web`, {...read, spec: {...read.spec, minReplicas: 2}});
	t.like(await json(200, 'GET', `${v2}/web`), {spec: {minReplicas: 2, behavior}});
	await patch('merge-patch', {spec: {maxReplicas: 0}}, 422);
	await patch('merge-patch', {metadata: {resourceVersion: '1'}, spec: {maxReplicas: 5}}, 409);
	await patch('merge-patch', {metadata: {annotations: {'autoscaling.alpha.kubernetes.io/metrics': 'rubbish'}}}, 422);
});

// ---- protobuf ----------------------------------------------------------------------------------------------------------

const field = (number: number, value: string | Buffer | number): Buffer => {
	if (typeof value === 'number') return Buffer.from([number * 8, value]);
	const bytes = Buffer.from(value);
	return Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
};
const all = (...parts: readonly Buffer[]): Buffer => Buffer.concat(parts);

const bodyOf = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
	all(Buffer.from('k8s\0'), field(1, all(field(1, apiVersion), field(2, kind))), field(2, raw), field(3, ''), field(4, ''));

/** As kubectl autoscale sends it: what says nothing is there all the same. */
const autoscaled = bodyOf(
	'autoscaling/v1',
	'HorizontalPodAutoscaler',
	all(
		field(
			1,
			all(
				field(1, 'web'),
				field(2, ''),
				field(3, 'default'),
				field(5, ''),
				field(7, 0),
				field(8, ''),
				field(11, all(field(1, 'a'), field(2, 'b'))),
			),
		),
		field(2, all(field(1, all(field(1, 'Deployment'), field(2, 'web'), field(3, 'apps/v1'))), field(2, 1), field(3, 4), field(4, 50))),
		field(3, all(field(3, 0), field(4, 0))),
	),
);
const protobuf = {'content-type': 'application/vnd.kubernetes.protobuf'};

test('what kubectl autoscale posts is read', async t => {
	const {call, json} = await openDoor(t);
	const made = await call('POST', v1, autoscaled, protobuf);
	t.is(made.status, 201, made.text);
	t.like(await json(200, 'GET', `${v1}/web`), {
		metadata: {labels: {a: 'b'}},
		spec: {
			scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: 'web'},
			minReplicas: 1,
			maxReplicas: 4,
			targetCPUUtilizationPercentage: 50,
		},
	});
});

test('protobuf of other kinds, and what is none, is refused', async t => {
	const {call} = await openDoor(t);
	const status = async (body: Buffer): Promise<number> => (await call('POST', v1, body, protobuf)).status;
	t.is(await status(bodyOf('v1', 'ConfigMap', Buffer.alloc(0))), 415);
	for (const rubbish of [
		Buffer.from('{}'),
		autoscaled.subarray(0, 40),
		all(Buffer.from('k8s\0'), Buffer.from([0xff, 0xff, 0xff])),
		all(Buffer.from('k8s\0'), Buffer.from([0x0b])),
		bodyOf('autoscaling/v1', 'HorizontalPodAutoscaler', field(1, 7)),
		bodyOf('autoscaling/v1', 'HorizontalPodAutoscaler', field(1, field(1, Buffer.from([0xff, 0xfe])))),
		bodyOf('autoscaling/v1', 'HorizontalPodAutoscaler', field(1, field(11, all(field(1, '__proto__'), field(2, 'b'))))),
	])
		t.is(await status(rubbish), 400);
	const many = all(...Array.from({length: limits.protobufFields + 1}, () => field(1, 'x')));
	t.is(await status(all(Buffer.from('k8s\0'), many)), 400);
});
