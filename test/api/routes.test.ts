// Dnses that share a path between services, and Ingresses: what is refused, and where; what a regular expression may cost.

import test from 'ava';
import {kindByPlural} from '../../api/catalogue.js';
import {limits} from '../../api/limits.js';
import {readRoutePattern} from '../../api/route-pattern.js';
import {tableOf} from '../../api/table.js';
import {committed, problemsOf} from './_objects.js';

const dns = (path: object, more: object = {}) => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Dns',
	metadata: {name: 'site'},
	spec: {host: '*.example.com', paths: [{subPath: '/', ...path}], ...more},
});

const backends = (...list: readonly object[]) => dns({backends: list});

const ingress = (spec: object) => ({apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: {name: 'site'}, spec});
const rule = (path: object) => ingress({rules: [{host: 'a.b', http: {paths: [{path: '/', pathType: 'Prefix', backend: web, ...path}]}}]});
const web = {service: {name: 'web', port: {number: 80}}};

const sound: readonly [string, unknown][] = [
	['a service', dns({svcName: 'web', svcPort: 80})],
	['services with weights', backends({svcName: 'a', svcPort: 80, weight: 90}, {svcName: 'b', weight: 0})],
	[
		'matches',
		backends(
			{svcName: 'a'},
			{svcName: 'b', match: {header: {name: 'X-Canary', regex: '(?i)yes|on'}, cookie: {name: 'a'}, path: {prefix: '/x'}}},
		),
	],
	['a function', dns({funcName: 'hello'})],
	[
		'services and functions with weights',
		backends({svcName: 'a', weight: 90}, {funcName: 'hello.v2', weight: 10, match: {header: {name: 'x'}}}),
	],
	['an Ingress', rule({})],
	[
		'an Ingress of a class with a certificate',
		ingress({ingressClassName: 'nginx', defaultBackend: web, tls: [{hosts: ['a.b'], secretName: 'cert'}]}),
	],
	['a path that is left to who implements it', rule({path: undefined, pathType: 'ImplementationSpecific'})],
];

for (const [title, manifest] of sound) test(`takes ${title}`, t => t.deepEqual(problemsOf(manifest), []));

const refusals: readonly [title: string, manifest: unknown, ...problems: string[]][] = [
	[
		'both forms at once',
		dns({svcName: 'a', svcPort: 1, backends: [{svcName: 'b'}]}),
		'spec.paths[0]: must be one of svcName, funcName, backends, got svcName and backends',
	],
	[
		'a service and a function at once',
		dns({svcName: 'a', svcPort: 1, funcName: 'b'}),
		'spec.paths[0]: must be one of svcName, funcName, backends, got svcName and funcName',
	],
	['a path that leads nowhere', dns({}), 'spec.paths[0]: must be one of svcName, funcName, backends, got none'],
	['a port of a function', dns({funcName: 'a', svcPort: 1}), 'spec.paths[0].svcPort: belongs to svcName; a function has no ports'],
	['a name of no function', dns({funcName: 'A b'}), 'spec.paths[0].funcName: must be the name of a function, got "A b"'],
	[
		'backends that are both, neither, or a function with a port',
		backends({svcName: 'a', funcName: 'b'}, {weight: 1}, {funcName: 'c', svcPort: 1}),
		'spec.paths[0].backends[0]: must be one of svcName, funcName, got svcName and funcName',
		'spec.paths[0].backends[1]: must be one of svcName, funcName, got none',
		'spec.paths[0].backends[2].svcPort: belongs to svcName; a function has no ports',
	],
	['a service without its port', dns({svcName: 'a'}), 'spec.paths[0].svcPort: is required'],
	[
		'a port beside backends',
		dns({svcPort: 1, backends: [{svcName: 'b'}]}),
		'spec.paths[0].svcPort: belongs to svcName; each of the backends has one of its own',
	],
	[
		'weights that add up to nothing',
		backends({svcName: 'a', weight: 0}, {svcName: 'b', match: {header: {name: 'x'}}}),
		'spec.paths[0].backends: need a weight above 0 in at least one of them: it answers the requests that no match takes',
	],
	[
		'too large a weight',
		backends({svcName: 'a', weight: 1_000_001}),
		'spec.paths[0].backends[0].weight: must be a whole number from 0 to 1000000, got 1000001',
	],
	[
		'too many backends',
		backends(...Array.from({length: 17}, () => ({svcName: 'a'}))),
		'spec.paths[0].backends: must be at most 16, got 17',
	],
	[
		'a match of nothing',
		backends({svcName: 'a', weight: 1, match: {}}),
		'spec.paths[0].backends[0].match: must have at least one of header, cookie and path',
	],
	[
		'a match in two ways',
		backends({svcName: 'a', weight: 1, match: {header: {name: 'x', exact: 'a', regex: 'a'}}}),
		'spec.paths[0].backends[0].match.header: must be one of exact, prefix, regex, got exact and regex',
	],
	[
		'an expression that is none',
		backends({svcName: 'a', weight: 1, match: {path: {regex: '(a'}}}),
		'spec.paths[0].backends[0].match.path.regex: is no regular expression of RE2: missing closing ): `(a`, got "(a"',
	],
	[
		'what needs going back',
		backends({svcName: 'a', weight: 1, match: {header: {name: 'x', regex: '(a)\\1'}}}),
		'spec.paths[0].backends[0].match.header.regex: is no regular expression of RE2: invalid escape sequence: `\\1`, got "(a)\\\\1"',
	],
	[
		'a name of a header that is none',
		backends({svcName: 'a', weight: 1, match: {header: {name: 'x y'}}}),
		'spec.paths[0].backends[0].match.header.name: must be the name of a header: letters, digits, "-" and "_" say, got "x y"',
	],
	[
		'dots that climb',
		dns({subPath: '/a/../b', svcName: 'a', svcPort: 1}),
		'spec.paths[0].subPath: must not have segments of dots, got "/a/../b"',
	],
	[
		'a wild card in the middle',
		dns({svcName: 'a', svcPort: 1}, {host: 'a.*.b'}),
		'spec.host: must be lower-case letters, digits, "-" and ".", with a letter or digit at both ends, at most 253 characters, got "a.*.b"',
	],
	['an Ingress of nothing', ingress({}), 'spec: must have rules or a defaultBackend'],
	[
		'a path without its slash',
		rule({path: 'x'}),
		'spec.rules[0].http.paths[0].path: must be a path that begins with "/", without spaces, "?" and "#", got "x"',
	],
	['no path where one is needed', rule({path: undefined}), 'spec.rules[0].http.paths[0].path: is required with the pathType "Prefix"'],
	[
		'a port by number and name',
		rule({backend: {service: {name: 'a', port: {number: 1, name: 'b'}}}}),
		'spec.rules[0].http.paths[0].backend.service.port: must be one of number, name, got number and name',
	],
	[
		'a resource as a backend',
		rule({backend: {resource: {kind: 'Bucket', name: 'a'}}}),
		'spec.rules[0].http.paths[0].backend.resource: "resource" is not supported yet',
	],
];

for (const [title, manifest, ...problems] of refusals) test(`refuses ${title}`, t => t.deepEqual(problemsOf(manifest), problems));

test('how many paths and expressions an object has is bounded', t => {
	const path = {svcName: 'a', svcPort: 1};
	const paths = (count: number) => ({paths: Array.from({length: count}, (_, i) => ({subPath: `/${i}`, ...path}))});
	t.deepEqual(problemsOf(dns({}, paths(limits.routePaths))), []);
	t.deepEqual(problemsOf(dns({}, paths(limits.routePaths + 1))), ['spec.paths: must be at most 256, got 257']);
	const rules = Array.from({length: 257}, (_, i) => ({host: `h${i}.a`}));
	t.deepEqual(problemsOf(ingress({rules})), ['spec.rules: must have at most 256 paths together, got 257']);
	const match = {path: {regex: 'a+'}};
	const patterns = Array.from({length: 33}, (_, i) => ({subPath: `/${i}`, backends: [{svcName: 'a', weight: 1, match}]}));
	t.deepEqual(problemsOf(dns({}, {paths: patterns})), [
		'spec.paths[32].backends[0].match.path.regex: is one too many: at most 32 in one object',
	]);
});

const costly: readonly [string, RegExp][] = [
	['a{1000}'.repeat(30), /repetitions that add up to more than 100/],
	['((a{10}){10}){10}', /too large: a program of \d+ steps, where 256 are the most/],
	['(?:a?){90}'.repeat(2), /repetitions that add up/],
	['a'.repeat(257), /at most 256 characters/],
	['('.repeat(200) + ')'.repeat(50), /no regular expression of RE2/],
];

for (const [text, words] of costly)
	test(`what costs too much is refused before it costs anything: ${text.slice(0, 30)}`, t => {
		const read = readRoutePattern(text);
		t.regex(read.ok ? '' : read.message, words);
	});

test('an expression that would take for ever elsewhere ends, and fits the whole text', t => {
	const hostile = readRoutePattern('(x+x+)+y|(a|aa)+$|(.*.*.*)*z');
	t.true(hostile.ok);
	if (!hostile.ok) return;
	t.false(hostile.value.matches('x'.repeat(limits.routeMatchedCharacters)));
	t.false(hostile.value.matches('z'.repeat(limits.routeMatchedCharacters + 1)));
	t.true(hostile.value.matches('xxy'));
	t.false(hostile.value.matches('xxy\n'));
});

test('the rows of both kinds are as kubectl shows them', t => {
	const cells = (plural: string, manifest: unknown): unknown => {
		const kind = kindByPlural(plural);
		return kind && tableOf(kind, [committed(manifest)], Date.parse('2026-01-01T00:03:20Z')).rows[0]?.cells;
	};
	t.deepEqual(cells('dnses', backends({svcName: 'a', svcPort: 80, weight: 9}, {svcName: 'b', weight: 1})), [
		'site',
		'*.example.com',
		'/=a:80|b',
		'3m20s',
	]);
	const hosts = ['a.a', 'b.a', 'c.a', 'd.a'].map(host => ({host}));
	t.deepEqual(cells('ingresses', ingress({rules: hosts, tls: [{}]})), [
		'site',
		'<none>',
		'a.a,b.a,c.a + 1 more...',
		'',
		'80, 443',
		'3m20s',
	]);
	t.deepEqual(cells('ingresses', ingress({defaultBackend: web})), ['site', '<none>', '*', '', '80', '3m20s']);
});
