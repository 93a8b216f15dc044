// Requests as anybody may send them: known paths and strange ones, sound manifests with one value replaced, and rubbish.

import fc from 'fast-check';
import {podOf, setOf} from '../cluster/manifests.js';

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
	'application/json-patch+json',
	'application/strategic-merge-patch+json',
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

const aPod = (name: string) => podOf(name, ['sleep', '1000']);

/** A sound manifest in which one value somewhere was replaced. */
const manifestOf = fc
	.tuple(fc.constantFrom<object>(aPod('web'), setOf('web', 1), aPod('new')), fc.nat(200), fc.jsonValue({maxDepth: 3}))
	.map(([manifest, at, value]) => {
		let count = 0;
		return JSON.stringify(manifest, (_key, old: unknown) => (count++ === at ? value : old)) ?? 'null';
	});
/** What is sent in place of a manifest. */
export const bodyOf = fc.oneof(
	{weight: 4, arbitrary: manifestOf},
	{weight: 2, arbitrary: fc.json()},
	{weight: 1, arbitrary: fc.string({maxLength: 100})},
	{weight: 1, arbitrary: fc.uint8Array({maxLength: 100}).map(bytes => Buffer.from(bytes))},
	{
		weight: 1,
		arbitrary: fc.constantFrom(
			'{"metadata":{"name":null}}',
			'[{"op":"add","path":"/metadata/labels/a","value":"b"}]',
			'[{"op":"replace","path":"","value":[]}]',
			'[{"op":"remove","path":"/metadata"}]',
			'[{"op":"copy","from":"","path":"/spec/a"},{"op":"test","path":"/kind","value":"Pod"}]',
			'{"metadata":null,"spec":null}',
			'{"spec":{"replicas":1e999}}',
			'a: &a [*a]',
			'{}',
		),
	},
);

/** A request as anybody may send it; `token` is the header's value, of names that the door knows. */
export const requestOf = fc.record({
	method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND']),
	path: pathOf,
	query: queryOf,
	type: oneOf(types),
	accept: oneOf(accepts),
	token: oneOf(['Bearer admin', 'Bearer admin', 'Bearer admin', 'Bearer viewer', 'Bearer x', '']),
	body: bodyOf,
});
export type FuzzRequest = typeof requestOf extends fc.Arbitrary<infer Value> ? Value : never;
