// Whatever is sent, the door answers with what is the sender's fault, and goes on.

import http from 'node:http';
import test from 'ava';
import fc from 'fast-check';
import {aPod, aReplicaSet} from './cluster.js';
import {openDoor, type Door} from './door.js';

const segments = [
	'api',
	'apis',
	'v1',
	'apps',
	'troupe.dev',
	'namespaces',
	'default',
	'missing',
	'_',
	'pods',
	'replicasets',
	'nodes',
	'clusterconfigs',
	'events',
	'web',
	'status',
	'scale',
	'log',
	'troupe',
	'why',
	'tree',
	'normalise',
	'openapi',
	'v2',
	'version',
	'..',
	'%2e%2e',
	'%00',
	'%',
	'%zz',
	'__proto__',
	'constructor',
	'',
];
const objects = '/api/v1/namespaces/default/pods/web';
const sets = '/apis/apps/v1/namespaces/default/replicasets/web';
const known = [
	objects,
	`${objects}/status`,
	`${objects}/log`,
	'/api/v1/namespaces/default/pods',
	'/api/v1/pods',
	sets,
	`${sets}/scale`,
	'/apis/apps/v1/namespaces/default/replicasets',
	'/api/v1/namespaces',
	'/api/v1/namespaces/default',
	'/api/v1/nodes',
	'/apis/troupe.dev/v1/clusterconfigs',
	'/api/v1/events',
	'/troupe/v1/normalise',
	'/troupe/v1/why/pods/default/web',
];
const parameters = [
	'limit',
	'continue',
	'watch',
	'resourceVersion',
	'resourceVersionMatch',
	'labelSelector',
	'fieldSelector',
	'timeoutSeconds',
	'allowWatchBookmarks',
	'sendInitialEvents',
	'dryRun',
	'includeObject',
	'gracePeriodSeconds',
	'propagationPolicy',
	'container',
	'follow',
	'tailLines',
	'previous',
	'__proto__',
];
const values = [
	'',
	'0',
	'1',
	'-1',
	'true',
	'false',
	'All',
	'x',
	'a=b',
	'metadata.name=web',
	'a in (b',
	'9'.repeat(30),
	'eyJ2IjoxfQ',
	'Object',
	'Orphan',
];
const types = [
	'application/json',
	'application/merge-patch+json',
	'application/yaml',
	'application/vnd.kubernetes.protobuf',
	'',
	';;;',
	'application/json; charset=utf-8',
];
const accepts = [
	'',
	'*/*',
	'application/json;as=Table;v=v1;g=meta.k8s.io',
	'application/json;as=Table;v=v1beta1',
	'application/json;as=;v',
	'text/html',
	',;=,',
	'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
];

const oneOf = (list: readonly string[]) => fc.constantFrom(...list);
const pathOf = fc.oneof(
	{weight: 3, arbitrary: oneOf(known)},
	{weight: 1, arbitrary: fc.array(oneOf(segments), {maxLength: 9}).map(parts => `/${parts.join('/')}`)},
	{weight: 1, arbitrary: fc.string({maxLength: 40, unit: 'binary'}).map(text => `/${encodeURI(text)}`)},
);
const valueOf = fc.oneof(oneOf(values), fc.string({maxLength: 20, unit: 'binary'}));
const queryOf = fc
	.array(fc.tuple(oneOf(parameters), valueOf), {maxLength: 4})
	.map(pairs => (pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`));

/** A sound manifest in which one value somewhere was replaced. */
const manifestOf = fc
	.tuple(fc.constantFrom(aPod('web'), aReplicaSet('web', 1), aPod('new')), fc.nat(200), fc.jsonValue({maxDepth: 3}))
	.map(([manifest, at, value]) => {
		let count = 0;
		return JSON.stringify(manifest, (_key, old: unknown) => (count++ === at ? value : old)) ?? 'null';
	});
const bodyOf = fc.oneof(
	{weight: 4, arbitrary: manifestOf},
	{weight: 2, arbitrary: fc.json()},
	{weight: 1, arbitrary: fc.string({maxLength: 100})},
	{weight: 1, arbitrary: fc.uint8Array({maxLength: 100}).map(bytes => Buffer.from(bytes))},
	{
		weight: 1,
		arbitrary: fc.constantFrom(
			'{"metadata":{"name":null}}',
			'{"metadata":null,"spec":null}',
			'{"spec":{"replicas":1e999}}',
			'a: &a [*a]',
			'{}',
		),
	},
);

const requestOf = fc.record({
	method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND']),
	path: pathOf,
	query: queryOf,
	type: oneOf(types),
	accept: oneOf(accepts),
	token: oneOf(['Bearer admin', 'Bearer admin', 'Bearer admin', 'Bearer viewer', 'Bearer x', '']),
	body: bodyOf,
});
type FuzzRequest = typeof requestOf extends fc.Arbitrary<infer Value> ? Value : never;

/** The status of the answer; its body is not waited for, because it may go on for ever. */
function statusOf({port}: Door, agent: http.Agent, {method, path, query, type, accept, token, body}: FuzzRequest): Promise<number> {
	const headers = {
		...(type === '' ? {} : {'content-type': type}),
		...(accept === '' ? {} : {accept}),
		...(token === '' ? {} : {authorization: token}),
		'content-length': Buffer.byteLength(body),
	};
	return new Promise((resolve, reject) => {
		const request = http.request({port, host: '127.0.0.1', method, path: path + query, headers, agent}, response => {
			response.on('error', () => undefined);
			if (query.includes('watch') || query.includes('follow')) response.destroy();
			else response.resume();
			resolve(response.statusCode ?? 0);
		});
		request.on('error', reject);
		request.end(body);
	});
}

test('no request whatever ends in a 500 or stops the door', async t => {
	const door = await openDoor(t);
	const agent = new http.Agent({keepAlive: true, maxSockets: 4});
	t.teardown(() => agent.destroy());
	door.cluster.pod('web');
	await door.json(201, 'POST', '/apis/apps/v1/namespaces/default/replicasets', aReplicaSet('web', 1));
	const seen = new Set<number>();
	await fc.assert(
		fc.asyncProperty(requestOf, async request => {
			const status = await statusOf(door, agent, request);
			seen.add(status);
			return status < 500;
		}),
		{numRuns: 3000},
	);
	t.deepEqual(door.bugs, []);
	t.true(
		[200, 400, 401, 403, 404, 405, 415, 422].every(status => seen.has(status)),
		[...seen].join(' '),
	);
	await door.json(200, 'GET', '/version');
});
