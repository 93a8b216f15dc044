// Commands that write objects: create, replace, diff, label, annotate, and what all of them have in common.

import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {base64Of} from '../../api/base64.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {certificateFor} from '../agent/router/_certificates.js';
import {aPod, aReplicaSet} from '../server/cluster.js';
import {line, type Around} from '../../bench/rigs/command-line.js';
import {folder, openCluster} from './_rig.js';

async function open(t: ExecutionContext) {
	const opened = await openCluster(t);
	const troupe = (args: readonly string[], around: Partial<Around> = {}) => line(args, {home: opened.home, ...around});
	return {...opened, troupe};
}

const set = (replicas: number, metadata: object = {}): string => {
	const made = aReplicaSet('web', replicas);
	return JSON.stringify({...made, metadata: {...made.metadata, ...metadata}});
};

test('create makes what is not there, and conflicts with what is', async t => {
	const {cluster, troupe} = await open(t);
	t.deepEqual(await troupe(['create', '-f', '-'], {input: set(2)}), {code: 0, out: 'replicaset.apps/web created\n', err: ''});
	t.is(cluster.control.index.get('replicasets/default/web')?.metadata.annotations, undefined, 'nothing is remembered');
	const again = await troupe(['create', '-f', '-'], {input: `${set(3)}\n---\n${JSON.stringify(aPod('other'))}`});
	t.deepEqual([again.code, again.out], [4, '']);
	t.regex(again.err, /^error: stdin:1:\d+: replicasets\.apps "web" already exists\n$/);
	t.is(cluster.control.index.get('pods/default/other'), undefined, 'one conflict, and nothing is made');
	const {metadata: _named, ...pod} = aPod('x');
	const generated = await troupe(['create', '-f', '-', '-o', 'name'], {
		input: JSON.stringify({...pod, metadata: {generateName: 'job-', namespace: 'default'}}),
	});
	t.regex(generated.out, /^pod\/job-\w+\n$/, generated.err);
});

test('create makes namespaces, configmaps and secrets by name', async t => {
	const {cluster, troupe} = await open(t);
	const dir = await folder(t);
	const at = (name: string) => path.join(dir, name);
	await writeFile(at('page.html'), 'hällo\n');
	await writeFile(at('logo.png'), Buffer.from([0x89, 0x50, 0xff, 0]));
	await writeFile(at('env'), '# a remark\n\nA=1\nB=x=y \n');
	t.is((await troupe(['create', 'namespace', 'shop'])).out, 'namespace/shop created\n');
	t.is((await troupe(['create', 'ns', 'shop'])).code, 4);
	const flags = ['--from-literal', 'word=a=b', '--from-literal=none=', '--from-file', at('page.html'), `--from-file=l=${at('logo.png')}`];
	t.is((await troupe(['create', 'cm', 'all', ...flags, '--from-env-file', at('env')])).out, 'configmap/all created\n');
	t.like(cluster.control.index.get('configmaps/default/all'), {
		data: {word: 'a=b', none: '', 'page.html': 'hällo\n', A: '1', B: 'x=y '},
		binaryData: {l: 'iVD/AA=='},
	});
	t.is((await troupe(['create', 'configmap', 'dir', '--from-file', dir, '-n', 'other'])).code, 0);
	t.deepEqual(Object.keys((cluster.control.index.get('configmaps/other/dir') as {data?: object} | undefined)?.data ?? {}), [
		'env',
		'page.html',
	]);
	for (const words of [['generic', 'login'], ['token']]) {
		const made = await troupe(['create', 'secret', ...words, '--from-literal', 'password=hunter2', '-o', 'json']);
		t.like(JSON.parse(made.out), {kind: 'Secret', type: 'Opaque', data: {password: 'aHVudGVyMg=='}});
	}
	t.notRegex(JSON.stringify(cluster.control.index.get('secrets/default/login')), /aHVudGVyMg/, 'it is kept sealed');
});

test('create makes a login of a registry as kubectl does, from words or from a file of any name', async t => {
	const {cluster, troupe} = await open(t);
	const dir = await folder(t);
	const file = path.join(dir, 'config.json');
	const config = {auths: {'store.test': {auth: 'YTpi'}}};
	await writeFile(file, JSON.stringify(config));
	const loginOf = async (...words: readonly string[]): Promise<unknown> => {
		const {code, out, err} = await troupe(['create', 'secret', 'docker-registry', ...words, '-o', 'json']);
		t.deepEqual([code, err], [0, '']);
		const {type, data} = JSON.parse(out) as {readonly type: string; readonly data: {readonly [key: string]: string}};
		t.deepEqual([type, Object.keys(data)], ['kubernetes.io/dockerconfigjson', ['.dockerconfigjson']]);
		return JSON.parse(Buffer.from(data['.dockerconfigjson'] ?? '', 'base64').toString());
	};
	const words = ['--docker-username=anna', '--docker-password=p:w', '--docker-email=a@b.c'];
	const login = {username: 'anna', password: 'p:w', email: 'a@b.c', auth: 'YW5uYTpwOnc='};
	t.deepEqual(await loginOf('one', '--docker-server=store.test:5000', ...words), {auths: {'store.test:5000': login}});
	const [server = ''] = Object.keys(((await loginOf('two', ...words)) as {readonly auths: object}).auths);
	t.regex(server, /^https:\/\/index\..*\/v1\/$/);
	t.deepEqual(await loginOf('three', '--from-file', file), config);
	t.notRegex(JSON.stringify(cluster.control.index.get('secrets/default/one')), /YW5uYTpwOnc=/, 'it is kept sealed');
});

test('a file without a login makes no login of a registry', async t => {
	const {cluster, troupe} = await open(t);
	const file = path.join(await folder(t), 'config.json');
	const wrong: readonly (readonly [string, RegExp])[] = [
		['', /"config\.json" is no config\.json of Docker/],
		['hunter2', /it is not a JSON object/],
		['[]', /it is not a JSON object/],
		['['.repeat(100_000), /it is not a JSON object/],
		['{"auths": ["hunter2"]}', /has no login: docker login writes them/],
		['{"auths": {"store.test": {}}, "credsStore": "desktop"}', /has no login: Docker keeps them with a credential helper/],
	];
	for (const [text, expected] of wrong) {
		await writeFile(file, text);
		const {code, out, err} = await troupe(['create', 'secret', 'docker-registry', 'a', '--from-file', file]);
		t.deepEqual([code, out], [2, '']);
		t.regex(err, expected);
		t.notRegex(err, /hunter2/);
	}
	t.is(cluster.control.index.get('secrets/default/a'), undefined);
});

test('create makes a Secret of a certificate and its key as kubectl does, and refuses what no client could be served with', async t => {
	const {cluster, troupe} = await open(t);
	const dir = await folder(t);
	const [one, other] = await Promise.all([certificateFor(['a.test']), certificateFor(['b.test'])]);
	const at = (name: string): string => path.join(dir, name);
	for (const [name, text] of Object.entries({crt: one.cert, key: one.key, other: other.key, none: 'hunter2'}))
		await writeFile(at(name), text);
	const made = await troupe(['create', 'secret', 'tls', 'web', '--cert', at('crt'), '--key', at('key'), '-o', 'json']);
	t.deepEqual([made.code, made.err], [0, '']);
	const data = {'tls.crt': base64Of(one.cert), 'tls.key': base64Of(one.key)};
	t.like(JSON.parse(made.out), {type: 'kubernetes.io/tls', data});
	t.false(JSON.stringify(cluster.control.index.get('secrets/default/web')).includes(data['tls.key']), 'it is kept sealed');
	const wrong: readonly (readonly [readonly string[], RegExp])[] = [
		[[], /needs --cert FILE and --key FILE/],
		[['--cert', at('crt')], /needs --cert FILE and --key FILE/],
		[['--cert', at('crt'), '--key', at('nowhere')], /--key .*nowhere: there is no such file/],
		[['--cert', at('none'), '--key', at('key')], /--cert must be a file with a certificate in PEM/],
		[['--cert', at('crt'), '--key', at('none')], /--key must be a file with a private key in PEM/],
		[['--cert', at('crt'), '--key', at('other')], /--key is not the key of the first certificate/],
		[['--cert', '/dev/zero', '--key', at('key')], /has more than 65536 bytes/],
		[['--cert', at('crt'), '--key', at('key'), '--from-literal=a=hunter2'], /leave out --from-literal/],
		[['--cert', at('crt'), '--key', at('key'), '--type=x'], /leave out --type/],
	];
	for (const [words, expected] of wrong) {
		const {code, out, err} = await troupe(['create', 'secret', 'tls', 'bad', ...words]);
		t.deepEqual([code, out], [2, ''], err);
		t.regex(err, expected);
		t.notRegex(err, /hunter2/);
	}
	const {err} = await troupe(['create', 'secret', 'bad', '--cert', at('crt')]);
	t.regex(err, /--cert: of create secret tls/);
	t.is(cluster.control.index.get('secrets/default/bad'), undefined);
});

test('create says what is wrong with its words, all of it, and never a value', async t => {
	const {troupe} = await open(t);
	const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
		[[], 2, /create what\?/],
		[['pod', 'x'], 2, /a pod is made from a file.*namespace, configmap, secret, job and cronjob/],
		[['configmap'], 2, /needs a name/],
		[['configmap', 'a', 'b'], 2, /makes one configmap/],
		[['namespace', 'a', '--from-literal', 'a=b'], 2, /a namespace has no values/],
		[['configmap', 'a', '--type', 'x'], 2, /--type is of secrets/],
		[['secret', 'docker-registry'], 2, /needs a name, as in: troupe create secret docker-registry NAME/],
		[['secret', 'docker-registry', 'a', '--docker-password', 'hunter2'], 2, /needs --docker-username and --docker-password/],
		[['secret', 'docker-registry', 'a', '--docker-username=a:b', '--docker-password=hunter2'], 2, /must have no colon/],
		[['secret', 'docker-registry', 'a', '--from-literal=a=hunter2'], 2, /leave out --from-literal/],
		[['secret', 'docker-registry', 'a', '--docker-password=hunter2', '--from-file=x'], 2, /leave out --docker-password/],
		[['secret', 'docker-registry', 'a', '--type=x'], 2, /leave out --type/],
		[['secret', 'a', '--docker-password', 'hunter2'], 2, /--docker-password: of create secret docker-registry/],
		[
			['secret', 'a', '--from-literal', 'hunter2', '--from-file', '/nowhere/at-all'],
			2,
			/must be KEY=VALUE\nerror: \/nowhere\/at-all: there is no/,
		],
		[['configmap', 'a', '--from-literal', 'k=1', '--from-literal', 'k=2'], 2, /the key "k" is given twice/],
		[['configmap', 'a', '--from-file', 'big=/dev/zero'], 2, /\/dev\/zero: has more than 1048576 bytes/],
		[['configmap', 'A_B'], 1, /metadata\.name/],
		[['configmap', 'A_B', '--dry-run=client'], 1, /metadata\.name/],
		[['configmop', 'a'], 2, /did you mean "configmap"/],
	];
	for (const [words, code, expected] of wrong) {
		const ran = await troupe(['create', ...words]);
		t.deepEqual([ran.code, ran.out], [code, ''], `${words.join(' ')}: ${ran.err}`);
		t.regex(ran.err, expected);
		t.notRegex(ran.err, /hunter2/);
	}
});

test('replace puts a manifest in the place of what must be there, at the version it names', async t => {
	const {cluster, troupe} = await open(t);
	const replace = (input: string, ...more: readonly string[]) => troupe(['replace', '-f', '-', ...more], {input});
	const missing = await replace(set(1));
	t.deepEqual([missing.code, missing.out], [3, '']);
	t.regex(missing.err, /^error: stdin:1:\d+: replicasets\.apps "web" not found\n$/);
	await troupe(['apply', '-f', '-'], {input: set(1)});
	t.is((await replace(set(4))).out, 'replicaset.apps/web replaced\n');
	const now = cluster.control.index.get('replicasets/default/web') as ReplicaSet;
	t.is(now.spec?.replicas, 4);
	t.regex(Object.values(now.metadata.annotations ?? {}).join(), /"replicas":4/, 'what apply remembers is kept up to date');
	const stale = await replace(set(5, {resourceVersion: '1'}));
	t.is(stale.code, 4);
	t.regex(stale.err, /^error: stdin:1:\d+: .*modified/);
	t.is((await troupe(['update', '-f', '-'], {input: set(5, {resourceVersion: now.metadata.resourceVersion})})).code, 0);
});

test('replace --force deletes and makes anew what cannot be changed; what is wrong stays as it is', async t => {
	const {cluster, troupe} = await open(t);
	const pod = (image: string) => JSON.stringify({...aPod('a'), spec: {containers: [{name: 'main', image, command: ['x']}]}});
	await troupe(['create', '-f', '-'], {input: pod('one')});
	const uid = cluster.control.index.get('pods/default/a')?.metadata.uid;
	t.is((await troupe(['replace', '-f', '-'], {input: pod('two')})).code, 1, 'the image of a pod stays');
	t.is((await troupe(['replace', '--force', '-f', '-'], {input: pod('')})).code, 1);
	t.is(cluster.control.index.get('pods/default/a')?.metadata.uid, uid);
	t.deepEqual(await troupe(['replace', '--force', '-f', '-', '-o', 'name'], {input: pod('two')}), {code: 0, out: 'pod/a\n', err: ''});
	t.not(cluster.control.index.get('pods/default/a')?.metadata.uid, uid);
});

test('diff shows what apply would change, and ends with 0, 1, or more for an error', async t => {
	const {cluster, troupe} = await open(t);
	const diff = (input: string, around: Partial<Around> = {}) => troupe(['diff', '-f', '-'], {input, ...around});
	const fresh = await diff(set(1));
	t.is(fresh.code, 1);
	t.regex(fresh.out, /^--- LIVE\/apps\.v1\.ReplicaSet\.default\.web\n\+\+\+ MERGED\/apps.*\n@@ -0,0 \+1,\d+ @@\n\+apiVersion: apps\/v1\n/);
	await troupe(['apply', '-f', '-'], {input: set(1)});
	const before = cluster.control.index.version;
	t.deepEqual(await diff(set(1)), {code: 0, out: '', err: ''});
	const changed = await diff(set(3));
	t.is(changed.code, 1);
	t.regex(changed.out, /^- {2}replicas: 1\n\+ {2}replicas: 3$/m);
	t.notRegex(changed.out, /uid|resourceVersion|last-applied|status/);
	t.true((await diff(set(3), {env: {NO_COLOR: '', FORCE_COLOR: '1'}})).out.includes('\u001b[31m-  replicas: 1\u001b[39m'));
	for (const input of ['a: [', 'kind: Pood\napiVersion: v1\n', '']) {
		const {code, out} = await diff(input);
		t.true((code ?? 0) > 1, `${input}: ${code}`);
		t.is(out, '');
	}
	t.is((await troupe(['diff', '--kubeconfig', '/nowhere', '-f', '-'], {input: set(1)})).code, 5);
	t.is(cluster.control.index.version, before, 'nothing was written');
});

test('diff never shows what is in a Secret', async t => {
	const {troupe} = await open(t);
	const secret = (value: string) =>
		JSON.stringify({apiVersion: 'v1', kind: 'Secret', metadata: {name: 's'}, stringData: {a: value, b: 'same'}});
	await troupe(['apply', '-f', '-'], {input: secret('old')});
	const {code, out} = await troupe(['diff', '-f', '-'], {input: secret('new')});
	t.is(code, 1);
	t.regex(out, /^- {2}a: "?\*\*\* \(before\)"?\n\+ {2}a: "?\*\*\* \(after\)"?$/m);
	t.notRegex(out, /bmV3|b2xk|c2FtZQ/);
});

test('label and annotate set, remove, and change only when they may', async t => {
	const {cluster, troupe} = await open(t);
	for (const name of ['a', 'b']) cluster.pod(name, {metadata: {labels: {app: 'x'}}});
	const labels = (name: string) => cluster.control.index.get(`pods/default/${name}`)?.metadata.labels;
	t.is((await troupe(['label', 'pod', 'a', 'tier=front', 'app-'])).out, 'pod/a labeled\n');
	t.deepEqual(labels('a'), {tier: 'front'});
	t.is((await troupe(['label', 'pod/a', 'tier=front'])).out, 'pod/a not labeled\n');
	const taken = await troupe(['label', 'pods', 'a', 'b', 'tier=back']);
	t.deepEqual([taken.code, taken.out], [4, 'pod/b labeled\n']);
	t.is(taken.err, 'error: pod/a: tier is "front" already; --overwrite changes it\n');
	t.is((await troupe(['label', 'pods', '--all', 'tier=back', '--overwrite'])).out, 'pod/a labeled\npod/b not labeled\n');
	t.is((await troupe(['label', 'pods', '-l', 'app=x', 'tier-', '-o', 'name'])).out, 'pod/b\n');
	t.deepEqual([labels('a'), labels('b')], [{tier: 'back'}, {app: 'x'}]);
	t.is((await troupe(['label', 'pod', 'a', 'tier-'])).out, 'pod/a unlabeled\n');
	t.is((await troupe(['annotate', 'pod', 'a', 'note=two words, and = signs'])).out, 'pod/a annotated\n');
	t.deepEqual(cluster.control.index.get('pods/default/a')?.metadata.annotations, {note: 'two words, and = signs'});
	const before = cluster.control.index.version;
	t.is((await troupe(['label', 'pod', 'a', 'x=y', '--dry-run'])).out, 'pod/a labeled (dry run)\n');
	t.is(cluster.control.index.version, before);
});

test('annotate shows nothing of what apply remembers of a Secret', async t => {
	const {troupe} = await open(t);
	const secret = {data: {a: 'b2xk'}, apiVersion: 'v1', kind: 'Secret', metadata: {name: 's'}};
	await troupe(['apply', '-f', '-'], {input: JSON.stringify(secret)});
	const key = 'kubectl.kubernetes.io/last-applied-configuration';
	const {code, err} = await troupe(['annotate', 'secret', 's', `${key}=x`]);
	t.deepEqual([code, err], [4, `error: secret/s: ${key} is there already; --overwrite changes it\n`]);
});

test('label says what is wrong with its words', async t => {
	const {cluster, troupe} = await open(t);
	cluster.pod('a');
	const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
		[['pod', 'a'], 2, /label what\?/],
		[['pod', 'a', 'x=1', 'b'], 2, /"b" must be KEY=VALUE or KEY-; names come before them/],
		[['pod', 'a', 'x=1', 'x-'], 2, /the key "x" is given twice/],
		[['pod', 'a', '=1'], 2, /"=1" has no key/],
		[['pods', 'x=1'], 2, /label which pods\?/],
		[['pod', 'a', '--all', 'x=1'], 2, /give one of them/],
		[['pod', 'a', 'x=not allowed'], 1, /metadata\.labels/],
		[['pod', 'aaaa', 'x=1'], 3, /pods "aaaa" not found/],
	];
	for (const [words, code, expected] of wrong) {
		const ran = await troupe(['label', ...words]);
		t.deepEqual([ran.code, ran.out], [code, ''], `${words.join(' ')}: ${ran.err}`);
		t.regex(ran.err, expected);
	}
});

test('a dry run checks everything and changes nothing, by the cluster or without one', async t => {
	const {cluster, troupe} = await open(t);
	await troupe(['apply', '-f', '-'], {input: set(1)});
	const before = cluster.control.index.version;
	const said: readonly (readonly [readonly string[], string])[] = [
		[['apply', '-f', '-', '--dry-run'], 'replicaset.apps/web configured (dry run)\n'],
		[['apply', '-f', '-', '--dry-run=server'], 'replicaset.apps/web configured (server dry run)\n'],
		[['apply', '-f', '-', '--dry-run=client', '--kubeconfig=/nowhere'], 'replicaset.apps/web checked (dry run)\n'],
		[['create', '-f', '-', '--dry-run=client', '--kubeconfig=/nowhere'], 'replicaset.apps/web created (dry run)\n'],
		[['replace', '-f', '-', '--dry-run'], 'replicaset.apps/web replaced (dry run)\n'],
		[['replace', '-f', '-', '--force', '--dry-run'], 'replicaset.apps/web replaced (dry run)\n'],
		[['delete', '-f', '-', '--dry-run'], 'replicaset.apps "web" deleted (dry run)\n'],
		[['delete', 'rs/web', '--dry-run=client'], 'replicaset.apps "web" deleted (dry run)\n'],
		[['scale', 'rs/web', '--replicas', '9', '--dry-run'], 'replicaset.apps/web scaled (dry run)\n'],
	];
	for (const [args, out] of said) t.deepEqual(await troupe(args, {input: set(7)}), {code: 0, out, err: ''}, args.join(' '));
	const wouldBe = await troupe(['apply', '-f', '-', '--dry-run=server', '-o', 'json'], {input: set(7)});
	t.like(JSON.parse(wouldBe.out), {kind: 'ReplicaSet', spec: {replicas: 7}});
	const alone = await troupe(['create', 'secret', 's', '--from-literal=a=b', '--dry-run=client', '--kubeconfig=/nowhere', '-o', 'yaml']);
	t.is(alone.out, 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\ntype: Opaque\ndata:\n  a: Yg==\n');
	t.is((await troupe(['apply', '-f', '-', '--dry-run=client'], {input: set(7).replace('"replicas"', '"replicaz"')})).code, 1);
	t.regex((await troupe(['apply', '--dry-run', 'client', '-f', '-'], {input: set(7)})).err, /write --dry-run=client/);
	t.is(cluster.control.index.version, before);
});

test('every command that writes tells what it wrote as json, yaml or names', async t => {
	const {troupe} = await open(t);
	const two = `${set(1)}\n---\n${JSON.stringify(aPod('a'))}`;
	t.is((await troupe(['apply', '-f', '-', '-o', 'name'], {input: two})).out, 'replicaset.apps/web\npod/a\n');
	const list = JSON.parse((await troupe(['apply', '-f', '-', '-o', 'json'], {input: two})).out) as {kind: string; items: {kind: string}[]};
	t.deepEqual([list.kind, ...list.items.map(({kind}) => kind)], ['List', 'ReplicaSet', 'Pod']);
	t.regex((await troupe(['replace', '-f', '-', '-o', 'yaml'], {input: set(2)})).out, /^apiVersion: apps\/v1\nkind: ReplicaSet\n/);
	t.like(JSON.parse((await troupe(['scale', 'rs/web', '--replicas', '3', '-o', 'json'])).out), {kind: 'ReplicaSet', spec: {replicas: 3}});
	t.like(JSON.parse((await troupe(['label', 'rs/web', 'a=b', '-o', 'json'])).out), {kind: 'ReplicaSet', metadata: {labels: {a: 'b'}}});
	const gone = JSON.parse((await troupe(['delete', 'rs/web', '-o', 'json'])).out) as {metadata: object};
	t.like(gone, {apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: {name: 'web', namespace: 'default'}});
	t.deepEqual(Object.keys(gone.metadata), ['name', 'namespace', 'uid']);
	t.is((await troupe(['delete', 'pod', 'a', '-o', 'name'])).out, 'pod/a\n');
});

test('apply leaves alone what others put into lists, and removes what it put there itself', async t => {
	const {cluster, troupe} = await open(t);
	const withEnv = (env: readonly object[]) => {
		const made = aReplicaSet('web', 1);
		const template = {metadata: {labels: {app: 'web'}}, spec: {containers: [{name: 'main', image: 'x', command: ['x'], env}]}};
		return JSON.stringify({...made, spec: {...(made['spec'] as object), selector: {matchLabels: {app: 'web'}}, template}});
	};
	await troupe(['apply', '-f', '-'], {input: withEnv([{name: 'A', value: '1'}, {name: 'B', value: '2'}])}); // prettier-ignore
	const live = cluster.control.index.get('replicasets/default/web') as ReplicaSet;
	const [container] = live.spec?.template.spec.containers ?? [];
	if (live.spec === undefined || container === undefined) return t.fail('it was not applied');
	const foreign = {...container, env: [...(container.env ?? []), {name: 'THEIRS', value: '9'}]};
	const template = {...live.spec.template, spec: {...live.spec.template.spec, containers: [foreign, {...container, name: 'sidecar'}]}};
	cluster.put({...live, spec: {...live.spec, template}});
	t.is((await troupe(['apply', '-f', '-'], {input: withEnv([{name: 'A', value: '5'}])})).out, 'replicaset.apps/web configured\n');
	const {containers} = (cluster.control.index.get('replicasets/default/web') as ReplicaSet).spec?.template.spec ?? {};
	t.deepEqual(containers?.map(({name}) => name), ['main', 'sidecar']); // prettier-ignore
	t.deepEqual(containers?.[0]?.env, [{name: 'A', value: '5'}, {name: 'THEIRS', value: '9'}]); // prettier-ignore
	t.is((await troupe(['apply', '-f', '-'], {input: withEnv([{name: 'A', value: '5'}])})).out, 'replicaset.apps/web unchanged\n');
});

test('names that are steps of a path lead nowhere', async t => {
	const {cluster, troupe} = await open(t);
	cluster.pod('a');
	const before = cluster.control.index.version;
	for (const args of [
		['delete', 'pod', '..'],
		['delete', 'pod', '.', '-n', 'default'],
		['delete', 'pod', 'a', '-n', '..'],
		['delete', 'ns', '../namespaces/default'],
		['get', 'pod', 'a', '-n', '..'],
		['label', 'pod', '..', 'a=b'],
	])
		t.true([2, 3].includes((await troupe(args)).code ?? 0), args.join(' '));
	t.is(cluster.control.index.version, before);
});

test('what is not found is found elsewhere, or what was meant is', async t => {
	const {cluster, troupe} = await open(t);
	for (const name of ['hello-4xpzh', 'hello-7abcd', 'database']) cluster.pod(name);
	await troupe(['create', 'configmap', 'there', '-n', 'other']);
	const cases: readonly (readonly [readonly string[], string])[] = [
		[['get', 'pod', 'hello'], 'pods "hello" not found; did you mean "hello-4xpzh" or "hello-7abcd"?'],
		[
			['get', 'pod', 'databse', 'nothing-like-it'],
			'pods "databse" not found; did you mean "database"?\nerror: pods "nothing-like-it" not found',
		],
		[['describe', 'pod', 'databse'], 'pods "databse" not found; did you mean "database"?'],
		[['delete', 'pod', 'databse'], 'pods "databse" not found; did you mean "database"?'],
		[['label', 'pod', 'databse', 'a=b'], 'pods "databse" not found; did you mean "database"?'],
		[['get', 'cm', 'there'], 'configmaps "there" not found; it is in namespace "other": -n other'],
		[['edit', 'cm/there'], 'configmaps "there" not found; it is in namespace "other": -n other'],
		[['create', 'configmap', 'x', '-n', 'othr'], 'namespaces "othr" not found; did you mean "other"?'],
	];
	for (const [args, message] of cases)
		t.deepEqual(await troupe(args, {env: {EDITOR: 'true'}}), {code: 3, out: '', err: `error: ${message}\n`}, args.join(' '));
});
