// `build` of a compose file: what is built, and what cannot be.

import test from 'ava';
import {converted, part, service} from './_compose.js';

/** Of a service that says no more. */
const plain = {tag: 'web', dockerfile: 'Dockerfile', args: {}, labels: {}, isOffline: false, noCache: false, pulls: false};

test('each field of build becomes what the Engine is asked for', t => {
	const cases: readonly (readonly [fields: string, context: string, build: object])[] = [
		['build: .', '/srv/shop', {}],
		['build: ./web', '/srv/shop/web', {}],
		['build: ../web', '/srv/web', {}],
		['build: /opt/web', '/opt/web', {}],
		['build: ~/web', '/home/me/web', {}],
		['build: {}', '/srv/shop', {}],
		['build: {context: web}', '/srv/shop/web', {}],
		['build: {dockerfile: ./docker/web.Dockerfile}', '/srv/shop', {dockerfile: 'docker/web.Dockerfile'}],
		['build: {target: prod}', '/srv/shop', {target: 'prod'}],
		['build: {target: ""}', '/srv/shop', {}],
		['build: {args: {A: 1, B: true, C: "", D: , E: }}', '/srv/shop', {args: {A: '1', B: 'true', C: '', D: 'of the shell'}}],
		['build: {args: ["A=b=c", D, E]}', '/srv/shop', {args: {A: 'b=c', D: 'of the shell'}}],
		['build: {args: ["A=${D}"]}', '/srv/shop', {args: {A: 'of the shell'}}],
		['build: {labels: {a.b: c}}', '/srv/shop', {labels: {'a.b': 'c'}}],
		['build: {labels: ["a.b=c"]}', '/srv/shop', {labels: {'a.b': 'c'}}],
		['build: {network: none}', '/srv/shop', {isOffline: true}],
		['build: {network: default}', '/srv/shop', {}],
		['build: {no_cache: true, pull: "yes"}', '/srv/shop', {noCache: true, pulls: true}],
		['build: {x-own: 1}', '/srv/shop', {}],
	];
	for (const [fields, context, build] of cases) {
		const {builds, problems, notes} = converted(service(fields), {environment: {HOME: '/home/me', D: 'of the shell'}});
		t.deepEqual(problems, [], fields);
		t.deepEqual(notes, [], fields);
		t.deepEqual(builds, [{service: 'web', path: 'services.web.build', context, build: {...plain, ...build}}], fields);
	}
});

test('the image has the name that its pods run, and pods run what was built where it has none of its own', t => {
	const {builds, objects} = converted('services: {web: {build: .}, db: {image: db}}');
	const containers = objects.map(each => part(each, 'spec', 'template', 'spec', 'containers', '0'));
	t.deepEqual(
		builds.map(({build}) => build.tag),
		['shop_web'],
	);
	t.true(containers.some(({image, imagePullPolicy}) => image === 'shop_web' && imagePullPolicy === 'Never'));
	t.deepEqual(
		converted('services: {a: {build: .}, b: {build: {context: other}}}').builds.map(({context}) => context),
		['/srv/shop', '/srv/shop/other'],
	);
	t.deepEqual(converted('services: {web: {image: x, build: }}').builds, []);
	t.deepEqual(converted('services: {web: {build: ., profiles: [p]}, db: {image: x}}').builds, [], 'one that does not run is not built');
});

test('what a build cannot do is told by its field, and what it does not need as a note', t => {
	const wrong: readonly (readonly [fields: string, problem: RegExp])[] = [
		['build: https://example.com/web.git', /^services\.web\.build: must be a folder here, got "https:[^]*: get it first/],
		['build: {context: "git@example.com:web.git"}', /^services\.web\.build\.context: must be a folder here/],
		['build: [web]', /^services\.web\.build: must be a text/],
		['build: {contxt: .}', /^services\.web\.build\.contxt: unknown field "contxt"; did you mean "context"\?$/],
		['build: {dockerfile: ../Dockerfile}', /^services\.web\.build\.dockerfile: must be a file within the context, got "\.\.\/Dockerfile"$/],
		['build: {dockerfile: /Dockerfile}', /^services\.web\.build\.dockerfile: must be a file within/],
		['build: {dockerfile_inline: FROM x}', /^services\.web\.build\.dockerfile_inline: cannot be said: write it into a file$/],
		['build: {secrets: [x]}', /^services\.web\.build\.secrets: cannot be said: are of BuildKit$/],
		['build: {ssh: [default]}', /^services\.web\.build\.ssh: cannot be said: is of BuildKit$/],
		['build: {network: host}', /^services\.web\.build\.network: must be none, or left out, got "host"$/],
		['build: {no_cache: maybe}', /^services\.web\.build\.no_cache: must be true or false, got "maybe"$/],
		['build: {args: 3}', /^services\.web\.build\.args: must be a list/],
	];
	for (const [fields, problem] of wrong) {
		const {problems, builds} = converted(service(fields));
		t.regex(problems.join('\n'), problem, fields);
		t.deepEqual(builds, [], fields);
	}
	t.deepEqual(converted(service('build: {cache_from: [x]}')).notes, [
		'services.web.build.cache_from: is not used: the Engine has its own cache',
	]);
});
