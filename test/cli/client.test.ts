import {createServer} from 'node:net';
import type {AddressInfo} from 'node:net';
import {symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {line} from '../../bench/rigs/command-line.js';
import {answer, failure, folder, openCluster, openScript, run} from './_rig.js';

const failures: readonly (readonly [what: string, http: number, body: unknown, code: number, err: string])[] = [
	['a missing object', 404, failure(404, 'NotFound', 'pods "a" not found', {name: 'a', kind: 'pods'}), 3, 'pods "a" not found'],
	['a conflict', 409, failure(409, 'Conflict', 'changed meanwhile'), 4, 'changed meanwhile'],
	['a name that is taken', 409, failure(409, 'AlreadyExists', 'pods "a" already exists'), 4, 'pods "a" already exists'],
	['a refusal', 403, failure(403, 'Forbidden', 'eve may not'), 6, 'eve may not'],
	[
		'a wrong token',
		401,
		failure(401, 'Unauthorized', 'Unauthorized'),
		6,
		'Unauthorized: the token in the kubeconfig is not one of this cluster',
	],
	['a bad request', 400, failure(400, 'BadRequest', 'no such field'), 2, 'no such field'],
	['an invalid object', 422, failure(422, 'Invalid', 'replicas is wrong'), 1, 'replicas is wrong'],
	['a server that cannot', 503, failure(503, 'ServiceUnavailable', 'no leader'), 5, 'no leader'],
	['an internal error', 500, failure(500, 'InternalError', 'the store did not take the write'), 1, 'the store did not take the write'],
	['an error that is no Status', 502, '<html>\nbad gateway', 1, 'the server answered 502: <html>'],
];

for (const [what, http, body, code, err] of failures) {
	test(`${what} exits with ${code} in the server’s words`, async t => {
		const {troupe} = await openScript(t, (_seen, response) => answer(response, http, body));
		t.deepEqual(await troupe(['get', 'pods', '-o', 'json']), {code, out: '', err: `error: ${err}\n`});
	});
}

test('the token goes with every request, and is never shown', async t => {
	const {troupe, requests, token} = await openScript(t, (_seen, response) =>
		answer(response, 401, failure(401, 'Unauthorized', 'Unauthorized')),
	);
	const {out, err} = await troupe(['get', 'pods']);
	t.is(requests[0]?.headers.authorization, `Bearer ${token}`);
	t.notRegex(out + err, new RegExp(token));
});

test('selectors and names are encoded into the URL', async t => {
	const {troupe, requests} = await openScript(t, (_seen, response) => answer(response, 200, {items: []}));
	await troupe(['get', 'rs', '-l', 'a in (b,c)', '-n', 'x/../y', '-o', 'json']);
	t.is(requests[0]?.url, '/apis/apps/v1/namespaces/x%2F..%2Fy/replicasets?labelSelector=a+in+%28b%2Cc%29');
});

test('an answer that is no JSON is told', async t => {
	const {troupe} = await openScript(t, (_seen, response) => answer(response, 200, 'hello'));
	const {code, err} = await troupe(['get', 'pods']);
	t.is(code, 1);
	t.regex(err, /answered with something else than JSON; is it a cluster's API\?/);
});

test('a server that makes no tables gets names and ages', async t => {
	const items = [{metadata: {name: 'a', creationTimestamp: new Date(Date.now() - 18_000_000).toISOString()}}];
	const {troupe} = await openScript(t, (_seen, response) => answer(response, 200, {kind: 'PodList', items}));
	t.is((await troupe(['get', 'pods'])).out, 'NAME   AGE\na      5h\n');
});

test('control characters of others do not reach the terminal', async t => {
	const rows = [{cells: ['a\u001b[2Jb\nc', null, 3]}];
	const columnDefinitions = [{name: 'Name'}, {name: 'X'}, {name: 'N'}];
	const {troupe} = await openScript(t, (_seen, response) => answer(response, 200, {kind: 'Table', columnDefinitions, rows}));
	t.is((await troupe(['get', 'pods'])).out, 'NAME        X   N\na^[[2Jb c       3\n');
});

test('wide characters keep the columns aligned', async t => {
	const rows = [{cells: ['日本', 'x']}, {cells: ['abcd', 'y']}];
	const {troupe} = await openScript(t, (_seen, response) =>
		answer(response, 200, {kind: 'Table', columnDefinitions: [{name: 'Name'}, {name: 'B'}], rows}),
	);
	t.is((await troupe(['get', 'pods'])).out, 'NAME   B\n日本   x\nabcd   y\n');
});

test('a watch that the server breaks off with an error exits with 1', async t => {
	const {troupe} = await openScript(t, ({url}, response) => {
		if (!url.includes('watch=true')) return answer(response, 200, {metadata: {resourceVersion: '5'}, items: []});
		response.writeHead(200, {'content-type': 'application/json'});
		response.end(
			`\n{"type":"BOOKMARK","object":{}}\n${JSON.stringify({type: 'ERROR', object: failure(410, 'Expired', 'too old resource version: 5 (9)')})}\n`,
		);
	});
	const {code, err} = await troupe(['get', 'pods', '-w', '-o', 'name']);
	t.deepEqual([code, err], [1, 'error: too old resource version: 5 (9)\n']);
});

test('a stream that is cut is told as not reachable', async t => {
	const {troupe} = await openScript(t, ({url}, response) => {
		if (!url.includes('/log')) return answer(response, 200, {metadata: {name: 'a'}, spec: {containers: [{name: 'main'}]}});
		response.writeHead(200, {'content-type': 'text/plain'});
		response.write('half a li', () => response.destroy());
	});
	const {code, out, err} = await troupe(['logs', 'a']);
	t.deepEqual([code, out], [5, 'half a li']);
	t.regex(err, /is not reachable/);
});

test('without a cluster the command says how to start one', async t => {
	const home = await folder(t);
	const nothing = await run(t, ['get', 'pods'], {home});
	t.deepEqual(nothing, {
		code: 5,
		out: '',
		err: `error: there is no cluster in ${home}; is the cluster running? start it with npm start or troupe up\n`,
	});
	const named = await run(t, ['get', 'pods', '--kubeconfig', '/nope'], {home});
	t.regex(named.err, /^error: there is no file \/nope \(--kubeconfig\); /);
	const env = {TROUPE_HOME: '', KUBECONFIG: '/gone'};
	t.regex((await run(t, ['get', 'pods'], {home, env})).err, /there is no file \/gone \(KUBECONFIG\)/);
});

test('a port where nobody listens is told with the hint', async t => {
	const free = createServer();
	await new Promise<void>(resolve => free.listen(0, '127.0.0.1', resolve));
	const {port} = free.address() as AddressInfo;
	await new Promise(resolve => free.close(resolve));
	const home = await folder(t);
	await writeFile(path.join(home, 'kubeconfig'), kubeconfig(`https://127.0.0.1:${port}`));
	const {code, err} = await line(['get', 'pods'], {home});
	t.is(code, 5);
	t.is(
		err,
		`error: 127.0.0.1:${port} is not reachable (nobody listens there); is the cluster running? start it with npm start or troupe up\n`,
	);
});

test('a certificate of another authority is refused and explained', async t => {
	const {home, port} = await openCluster(t);
	await writeFile(path.join(home, 'kubeconfig'), kubeconfig(`https://127.0.0.1:${port}`));
	const {code, err} = await line(['get', 'pods'], {home});
	t.is(code, 5);
	t.regex(err, /shows a certificate that the CA in .+ did not sign \(\w+\); is this the kubeconfig of another cluster\?/);
});

const kubeconfig = (server: string, user = 'token: t'): string =>
	`apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: k, cluster: {server: "${server}"}}]\nusers: [{name: u, user: {${user}}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n`;

test('a kubeconfig that makes no sense is wrong usage', async t => {
	const home = await folder(t);
	const file = path.join(home, 'kubeconfig');
	const cases: readonly (readonly [string, RegExp])[] = [
		['a: [', /is not a kubeconfig: /],
		['{"a": ', /is not a kubeconfig: /],
		['hello', /it must be a mapping/],
		['{}', /names no context/],
		[kubeconfig('ftp://x'), /server must be an https URL, got "ftp:\/\/x"/],
		[kubeconfig('https://127.0.0.1:1', 'exec: {command: x}'), /a login by "exec" is not supported/],
		[kubeconfig('https://127.0.0.1:1').replace('user: u}', 'user: v}'), /has no entry "v" under users/],
	];
	for (const [text, expected] of cases) {
		await writeFile(file, text);
		const {code, err} = await line(['get', 'pods'], {home});
		t.is(code, 2, text);
		t.regex(err, expected);
	}
});

test('a home that somebody chose, and a cluster that was made in the usual one, come before KUBECONFIG', async t => {
	const [ours, theirs] = [await openCluster(t), await openCluster(t)];
	ours.cluster.pod('ours');
	theirs.cluster.pod('theirs');
	const [empty, user] = [await folder(t), await folder(t)];
	const KUBECONFIG = path.join(theirs.home, 'kubeconfig');
	const podsBy = async (args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> => {
		const {out, err} = await line(['get', 'pods', '-o', 'name', ...args], {home: user, env: {TROUPE_HOME: '', ...env}});
		return out + err;
	};
	t.is(await podsBy(['--home', ours.home], {KUBECONFIG}), 'pod/ours\n');
	t.is(await podsBy([], {KUBECONFIG, TROUPE_HOME: ours.home}), 'pod/ours\n');
	t.is(await podsBy(['--kubeconfig', KUBECONFIG, '--home', ours.home], {}), 'pod/theirs\n');
	t.is(await podsBy([], {KUBECONFIG}), 'pod/theirs\n');
	for (const chosen of [
		{args: ['--home', empty], env: {KUBECONFIG}},
		{args: [], env: {KUBECONFIG, TROUPE_HOME: empty}},
	])
		t.regex(await podsBy(chosen.args, chosen.env), /^error: there is no cluster in /);
	await symlink(ours.home, path.join(user, '.troupe'));
	t.is(await podsBy([], {KUBECONFIG}), 'pod/ours\n');
});

test('KUBECONFIG may name several files', async t => {
	const {home, cluster} = await openCluster(t);
	cluster.pod('a');
	const dir = await folder(t);
	const contexts = path.join(dir, 'contexts');
	await writeFile(
		contexts,
		'{"current-context": "mine", "contexts": [{"name": "mine", "context": {"cluster": "troupe", "user": "admin", "namespace": "other"}}]}',
	);
	cluster.pod('b', {}, 'other');
	const {out} = await line(['get', 'pods', '-o', 'name'], {
		home: dir,
		env: {TROUPE_HOME: '', KUBECONFIG: `${contexts}:${path.join(home, 'kubeconfig')}:/nope`},
	});
	t.is(out, 'pod/b\n');
});
