// Which route answers: hosts, prefixes of whole segments, Ingresses' path types, age, matches and weights.

import test, {type ExecutionContext} from 'ava';
import fc from 'fast-check';
import type {NetworkObject} from '../../../actors/protocol/network-object.js';
import {readTarget, comparablePath} from '../../../agent/network/router/request-path.js';
import {backendFor, isFunction} from '../../../agent/network/router/routes.js';
import {createRoutingTable, type RoutingTable} from '../../../agent/network/router/routing-table.js';
import {readRoutePattern} from '../../../api/route-pattern.js';
import type {DnsBackend} from '../../../api/dns-backends.js';
import type {IngressSpec} from '../../../api/kinds/ingress.js';
import {dnsObject, ingressObject} from './_router.js';

const readPattern = (text: string) => {
	const read = readRoutePattern(text);
	return read.ok ? read.value : undefined;
};

function tableOf(...objects: readonly NetworkObject[]): RoutingTable {
	const table = createRoutingTable();
	for (const object of objects) table.set(`${object.type}/${object.name}`, object, readPattern);
	return table;
}

/** The service or the function that answers; undefined: none. */
function serviceAt(table: RoutingTable, url: string, headers: Record<string, string> = {}, chance = 0): string | undefined {
	const {host, pathname} = new URL(url);
	const target = readTarget(pathname, host);
	if ('refusal' in target) return target.refusal;
	const route = table.find(target.host, target.path);
	const backend = route && backendFor(route, {path: target.path, headers}, chance);
	return backend && (isFunction(backend) ? `function ${backend.function}` : backend.service);
}

const site = dnsObject('site', {
	host: 'a.test',
	paths: [
		{subPath: '/', svcName: 'root', svcPort: 80},
		{subPath: '/api', svcName: 'api', svcPort: 80},
		{subPath: '/api/v2/', svcName: 'api2', svcPort: 80},
		{subPath: '/caf\u00e9', svcName: 'cafe', svcPort: 80},
	],
});

test('services and functions share a path by weight and match', t => {
	const table = tableOf(
		dnsObject('mixed', {
			host: 'a.test',
			paths: [
				{subPath: '/short', funcName: 'short'},
				{
					subPath: '/',
					backends: [
						{svcName: 'web', svcPort: 80, weight: 3},
						{funcName: 'hello', weight: 1},
						{funcName: 'canary', match: {header: {name: 'x-canary'}}},
					],
				},
			],
		}),
	);
	t.is(serviceAt(table, 'http://a.test/short/x'), 'function short');
	t.is(serviceAt(table, 'http://a.test/', {}, 0.74), 'web');
	t.is(serviceAt(table, 'http://a.test/', {}, 0.76), 'function hello');
	t.is(serviceAt(table, 'http://a.test/', {'x-canary': '1'}, 0), 'function canary');
});

const paths: readonly [string, string][] = [
	['/', 'root'],
	['/apis', 'root'],
	['/api', 'api'],
	['/api/', 'api'],
	['/api/v1/x', 'api'],
	['/api/v2', 'api2'],
	['/api/v2/x/y/z', 'api2'],
	['/api/v22', 'api'],
	['/%61pi/v1', 'api'],
	['/caf%c3%a9/x', 'cafe'],
	['//api', 'root'],
];

for (const [path, service] of paths)
	test(`${path} is answered by the longest prefix of whole segments: ${service}`, t =>
		t.is(serviceAt(tableOf(site), `http://a.test${path}`), service));

const one = (service: string) => ({service: {name: service, port: {number: 80}}});

const rules: NonNullable<IngressSpec['rules']> = [
	{
		host: 'b.test',
		http: {
			paths: [
				{path: '/foo', pathType: 'Exact', backend: one('exact')},
				{path: '/foo/', pathType: 'Prefix', backend: one('prefix')},
				{path: '/foo/bar/', pathType: 'Exact', backend: one('slash')},
				{pathType: 'ImplementationSpecific', backend: one('all')},
			],
		},
	},
	{host: '*.b.test', http: {paths: [{path: '/', pathType: 'Prefix', backend: one('wild')}]}},
	{http: {paths: [{path: '/any', pathType: 'Prefix', backend: one('any')}]}},
];

const ingressCases: readonly [string, string | undefined][] = [
	['http://b.test/foo', 'exact'],
	['http://B.TEST:8080/foo/', 'prefix'],
	['http://b.test/foo/bar', 'prefix'],
	['http://b.test/foo/bar/', 'slash'],
	['http://b.test/fool', 'all'],
	['http://x.b.test/', 'wild'],
	['http://x.y.b.test/', undefined],
	['http://c.test/any/x', 'any'],
	['http://[::1]:80/any', 'any'],
	['http://c.test/anyone', undefined],
];

for (const [url, service] of ingressCases)
	test(`an Ingress sends ${url} to ${service ?? 'nobody'}`, t => t.is(serviceAt(tableOf(ingressObject('i', {rules})), url), service));

test('a default backend answers what no rule does, the oldest of several', t => {
	const table = tableOf(
		site,
		ingressObject('new', {defaultBackend: one('new')}, '2026-02-01T00:00:00Z'),
		ingressObject('old', {defaultBackend: one('old')}),
	);
	t.is(serviceAt(table, 'http://elsewhere.test/'), 'old');
	t.is(serviceAt(table, 'http://a.test/'), 'root');
	table.set('ingress/old', undefined, readPattern);
	t.is(serviceAt(table, 'http://elsewhere.test/'), 'new');
});

test('a path belongs to the oldest that asks for it, and to the next when that goes', t => {
	const younger = ingressObject(
		'younger',
		{rules: [{host: 'a.test', http: {paths: [{path: '/api/', pathType: 'Prefix', backend: one('younger')}]}}]},
		'2026-03-01T00:00:00Z',
	);
	const table = tableOf(younger, site);
	t.is(serviceAt(table, 'http://a.test/api'), 'api');
	table.set('dns/site', undefined, readPattern);
	t.is(serviceAt(table, 'http://a.test/api'), 'younger');
	t.is(serviceAt(table, 'http://a.test/'), undefined);
	table.set('ingress/younger', undefined, readPattern);
	t.is(table.size(), 0);
});

const shared = (...backends: readonly DnsBackend[]): RoutingTable =>
	tableOf(dnsObject('split', {host: 'a.test', paths: [{subPath: '/', backends}]}));

test('requests are shared by weight, and a weight of 0 gets none', t => {
	const table = shared({svcName: 'a', weight: 90}, {svcName: 'none', weight: 0}, {svcName: 'b', weight: 10});
	const count = {a: 0, b: 0};
	for (let i = 0; i < 1_000; i++) count[serviceAt(table, 'http://a.test/', {}, i / 1_000) as 'a' | 'b'] += 1;
	t.deepEqual(count, {a: 900, b: 100});
});

const matched = shared(
	{svcName: 'header', match: {header: {name: 'X-Canary', exact: 'always'}}},
	{svcName: 'cookie', match: {cookie: {name: 'group', prefix: 'b-'}}},
	{svcName: 'beta', weight: 10, match: {header: {name: 'X-Beta'}}},
	{svcName: 'path', match: {path: {regex: '/item/[0-9]+'}}},
	{svcName: 'both', match: {path: {prefix: '/both'}, header: {name: 'x-both', regex: '(?i)yes'}}},
	{svcName: 'rest', weight: 90},
);

const matches: readonly [string, string, Record<string, string>, number, string][] = [
	['by a header', '/', {'x-canary': 'always'}, 0.5, 'header'],
	['not by another value of it', '/', {'x-canary': 'never'}, 0.5, 'rest'],
	['by a cookie among others', '/', {cookie: 'a=1; group=b-7'}, 0.5, 'cookie'],
	['not by a cookie that only ends so', '/', {cookie: 'xgroup=b-7'}, 0.5, 'rest'],
	['by a header that is there', '/', {'x-beta': ''}, 0.99, 'beta'],
	['by its weight beside its match', '/', {}, 0.05, 'beta'],
	['by an expression that fits the whole path', '/item/12', {}, 0.5, 'path'],
	['not by one that fits a part of it', '/item/12/x', {}, 0.5, 'rest'],
	['by all of several demands', '/both/x', {'x-both': 'YES'}, 0.5, 'both'],
	['not by one of several demands', '/both/x', {}, 0.5, 'rest'],
	['not by a prefix of half a segment', '/bothx', {'x-both': 'yes'}, 0.5, 'rest'],
	['by the first in the list', '/item/1', {'x-canary': 'always'}, 0.5, 'header'],
];

for (const [title, path, headers, chance, service] of matches)
	test(`a service is chosen ${title}`, t => t.is(serviceAt(matched, `http://a.test${path}`, headers, chance), service));

const refused = (t: ExecutionContext, url: string, host: string | undefined, words: RegExp): void => {
	const read = readTarget(url, host);
	t.regex('refusal' in read ? read.refusal : '', words);
};

test('targets are read in every form, and refused where they could mean two things', t => {
	t.like(readTarget('http://A.test:81/x?y', 'b.test'), {host: 'a.test', authority: 'A.test:81', target: '/x?y', path: '/x'});
	t.like(readTarget('/x?a/../b', 'a.test.'), {host: 'a.test', path: '/x', target: '/x?a/../b'});
	t.like(readTarget('http://a.test?x', undefined), {target: '/?x', path: '/'});
	t.like(readTarget('/', undefined), {host: ''});
	refused(t, '/a/../b', 'a.test', /segments of dots/);
	refused(t, '/a/%2e%2E/b', 'a.test', /segments of dots/);
	refused(t, '*', 'a.test', /neither a path nor a URL/);
	refused(t, 'ftp://a.test/', 'a.test', /neither a path nor a URL/);
	refused(t, '/', 'a.test/b', /host name/);
	refused(t, '/', 'user@a.test', /host name/);
});

test('what comes for a path costs no more than its routes: thousands of segments', t => {
	const table = tableOf(site);
	const begun = performance.now();
	for (let i = 0; i < 1_000; i++) table.find('a.test', '/a'.repeat(8_000));
	t.true(performance.now() - begun < 1_000);
});

test('a path in its comparable form is in it already', t => {
	fc.assert(
		fc.property(fc.string({unit: 'binary'}), text => {
			const path = comparablePath(`/${text}`);
			return comparablePath(path) === path && /^[\x21-\x7e]*$/.test(path);
		}),
	);
	t.pass();
});
