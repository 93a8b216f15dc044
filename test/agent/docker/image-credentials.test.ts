import test from 'ava';
import {hub, oldHub} from '../../../agent/docker/images/docker-hub.js';
import {credentialsFor} from '../../../agent/docker/images/credentials.js';
import {matchesGlob} from '../../../agent/docker/images/glob.js';
import {parseImageReference} from '../../../agent/docker/images/image-reference.js';
import {limits} from '../../../api/limits.js';
import type {SecretData} from '../../../actors/node/runtime/secrets-port.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const config = (auths: unknown): SecretData => ({'.dockerconfigjson': base64(JSON.stringify({auths}))});

/** The users of the logins for an image, in the order in which they are tried. */
function usersFor(image: string, ...secrets: readonly SecretData[]): readonly string[] {
	const reference = parseImageReference(image);
	if (reference === undefined) throw new Error(`no image: ${image}`);
	return credentialsFor(reference, secrets).map(({username}) => username);
}

const as = (username: string) => ({username, password: 'p'});

test('a login is for the host of its place, with its port, and for what is below its path', t => {
	const secret = config({
		'https://images.local:5000': as('port'),
		'images.local': as('host'),
		'images.local/team': as('team'),
		'images.local/team/app': as('app'),
		'other.local': as('other'),
	});
	t.deepEqual(usersFor('images.local:5000/team/app', secret), ['port']);
	t.deepEqual(usersFor('images.local/x', secret), ['host']);
	// The longest place first.
	t.deepEqual(usersFor('images.local/team/app:2', secret), ['app', 'team', 'host']);
	t.deepEqual(usersFor('nginx', secret), []);
});

test("Docker's own registry has several names", t => {
	for (const place of [`https://${oldHub}/v1/`, oldHub, hub, `https://${hub}/v2/`])
		t.deepEqual(usersFor('nginx', config({[place]: as('hub')})), ['hub'], place);
	t.deepEqual(usersFor('nginx', config({[`${hub}/library`]: as('library'), [`${hub}/other`]: as('other')})), ['library']);
});

test('hosts are patterns, part by part', t => {
	t.deepEqual(usersFor('eu.images.local/a', config({'*.images.local': as('any')})), ['any']);
	t.deepEqual(usersFor('images.local/a', config({'*.images.local': as('any'), 'images.*': as('tld'), '*': as('all')})), ['tld']);
	t.deepEqual(usersFor('a.b.images.local/a', config({'*.images.local': as('any')})), []);
});

test('both types of Secrets are read, and both forms of a login', t => {
	const old: SecretData = {'.dockercfg': base64(JSON.stringify({'r.local': {auth: base64('old:with:colons')}}))};
	const reference = parseImageReference('r.local/a');
	t.truthy(reference);
	if (reference === undefined) return;
	t.deepEqual(credentialsFor(reference, [old]), [{username: 'old', password: 'with:colons', serveraddress: 'r.local'}]);
	t.deepEqual(usersFor('r.local/a', config({'r.local': as('first')}), old), ['first', 'old']);
	// Said twice it is tried once.
	t.deepEqual(usersFor('r.local/a', old, old), ['old']);
});

test('what is no login is passed over', t => {
	const odd: readonly SecretData[] = [
		{},
		{'.dockerconfigjson': '!!'},
		{'.dockerconfigjson': base64('[1, 2')},
		{'.dockerconfigjson': base64('{"auths": 3}')},
		config({'r.local': null, 'https://': as('none'), '/a': as('none'), '[': as('none'), [`${'x'.repeat(1_000)}`]: as('long')}),
		config({'r.local': {auth: base64('no colon')}}),
		config({'r.local': {username: 'half'}}),
		config({'r.local': {username: 1, password: 2}}),
	];
	t.deepEqual(usersFor('r.local/a', ...odd, config({'r.local': as('good')})), ['good']);
});

test('only so many logins are tried', t => {
	const secrets = Array.from({length: 40}, (_, i) => config({'r.local': as(`user-${i}`)}));
	t.is(usersFor('r.local/a', ...secrets).length, limits.pullCredentials);
});

test("patterns are those of Go's Match", t => {
	for (const [pattern, text, isMatch] of [
		['*', '', true],
		['a*c', 'abbbc', true],
		['a*c', 'abbbd', false],
		['*a*b', 'xaxaxb', true],
		['?', '', false],
		['a?c', 'abc', true],
		['[a-c]x', 'bx', true],
		['[^a-c]x', 'bx', false],
		['[^a-c]x', 'dx', true],
		['[\\]]', ']', true],
		['\\*', '*', true],
		['\\*', 'a', false],
		['[', '[', false],
		['a]', 'a]', false],
	] as const)
		t.is(matchesGlob(pattern, text), isMatch, `${pattern} ${text}`);
	const startedMs = performance.now();
	t.false(matchesGlob('*a'.repeat(250), `${'a'.repeat(249)}b`));
	t.true(performance.now() - startedMs < 200);
});
